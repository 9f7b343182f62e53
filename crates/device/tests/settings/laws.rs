//! What holds for every row and for every body.

use device::settings::{Settings, store};

use crate::bench;

#[test]
fn what_get_shows_is_accepted_and_changes_nothing() {
    let defaults = bench::patch(
        &Settings::default(),
        &bench::object(r#"{"invertedColor": false}"#),
    )
    .unwrap()
    .settings;
    let patched = bench::patch(&defaults, &bench::get(&defaults)).unwrap();
    assert_eq!(patched.settings, defaults);
    assert!(!patched.reboot_required);
}

#[test]
fn what_is_stored_is_read_back() {
    let (read, notes) = store::from_json(&store::to_json(&Settings::default()));
    assert_eq!(read, Settings::default());
    assert_eq!(notes, []);
}

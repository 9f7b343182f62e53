//! The host name that is made from the prefix.

use device::settings::Settings;

#[test]
fn host_names_are_labels() {
    let long = "x".repeat(256);
    let cut = format!("{}-a1b2c3", "x".repeat(56));
    let rows = [
        ("papertick", "papertick-a1b2c3"),
        ("Living Room!", "Living-Room-a1b2c3"),
        ("--x--", "x-a1b2c3"),
        ("", "papertick-a1b2c3"),
        ("日本", "papertick-a1b2c3"),
        (long.as_str(), cut.as_str()),
    ];
    for (prefix, expected) in rows {
        let settings = Settings {
            hostname_prefix: prefix.into(),
            ..Settings::default()
        };
        let hostname = settings.hostname("a1b2c3");
        assert_eq!(hostname, expected);
        assert!(hostname.len() <= 63);
    }
}

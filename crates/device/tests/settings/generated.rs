//! Compares generated files with the table; `UPDATE_EXPECT=1` rewrites them.

use std::{env, fs, path::Path};

use device::settings::{docs, form};

fn check(path: &str, fresh: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    if env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, fresh).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let shown = path.display();
    assert!(
        found == fresh,
        "{shown} is stale: run the tests with UPDATE_EXPECT=1 and commit it"
    );
}

#[test]
fn the_reference_page_is_fresh() {
    check("docs/settings.md", &docs::markdown());
}

#[test]
fn the_tables_of_the_web_page_are_fresh() {
    let tables = [
        ("webui/src/settings.gen.json", form::fields()),
        ("webui/src/screens.gen.json", form::screen_values()),
    ];
    for (path, table) in tables {
        let fresh = serde_json::to_string_pretty(&table).unwrap();
        check(path, &(fresh + "\n"));
    }
}

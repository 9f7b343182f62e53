//! Wiring files of real parts.

use std::{fs, path::Path};

use crate::clock::{folder, output};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wiring");

fn said(arguments: &[&str]) -> (i32, String, String) {
    let output = output(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn a_wiring_file_is_checked_with_the_host_or_alone() {
    let file = format!("{EXAMPLES}/rev-b.toml");
    let (code, told, _) = said(&["wiring", "check", &file, "--file-only"]);
    assert_eq!((code, told.as_str()), (0, "Rev B: 7 panels, no mistakes\n"));

    let file = format!("{EXAMPLES}/pi-one-panel.toml");
    let (code, told, _) = said(&["wiring", "check", &file, "--file-only"]);
    assert_eq!(code, 0);
    assert!(
        told.contains(": 1 panel, no mistakes\na clock needs 7 or 8 panels"),
        "{told}"
    );

    let folder = folder();
    let file = folder.path().join("clock.toml");
    fs::write(
        &file,
        "base = \"rev-b\"\nspi.hz = 1\n[sensor]\naddresses = [3]\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let (code, told, why) = said(&["wiring", "check", file]);
    assert_eq!((code, told.as_str()), (2, ""));
    assert!(why.contains("\n  line 2: [spi]: `hz` is 1 where"), "{why}");
    assert!(
        why.contains("\n  line 4: [sensor]: a BH1750 can be at"),
        "{why}"
    );
    let (code, told, _) = said(&["wiring", "check", file, "--json", "--file-only"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(code, 2);
    assert_eq!(told["mistakes"][0]["line"], 2);
    assert_eq!(told["mistakes"].as_array().unwrap().len(), 2);

    fs::write(file, "base = \"rev-b\"\nspi.device = \"/dev/spidev99.9\"\n").unwrap();
    for command in [
        &["wiring", "check", file][..],
        &["wiring", "test", file],
        &["run", "--wiring", file],
    ] {
        let (code, _, why) = said(command);
        assert_eq!(code, 2, "{command:?}");
        let has_gpio = Path::new("/dev/gpiochip0").exists();
        let expected = match has_gpio {
            true => "line 2: there is no /dev/spidev99.9",
            false => "this host has no GPIO",
        };
        assert!(why.contains(expected), "{why}");
        // One cause is one line below the heading.
        assert!(has_gpio || why.lines().count() == 2, "{why}");
    }
}

#[test]
fn the_unit_of_the_package_starts_what_there_is() {
    const UNIT: &str = include_str!("../../../../packaging/systemd/papertick.service");
    let start = UNIT
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let words: Vec<&str> = start.unwrap().split_whitespace().collect();
    let (code, told, why) = said(&[&words[1..], &["--help"]].concat());
    assert_eq!((code, why.as_str()), (0, ""));
    assert!(told.contains("--wiring"));
}

#[test]
fn a_wiring_file_is_drawn() {
    let file = format!("{EXAMPLES}/v8.toml");
    let (code, told, _) = said(&["wiring", "show", &file]);
    assert_eq!(code, 0);
    assert!(
        told.contains("Panel 8, gdey0213b74\n  select         exp2:6"),
        "{told}"
    );
    let folder = folder();
    let picture = folder.path().join("v8.svg");
    let (code, told, _) = said(&["wiring", "show", &file, "-o", picture.to_str().unwrap()]);
    assert_eq!((code, told.as_str()), (0, ""));
    assert!(fs::read_to_string(picture).unwrap().starts_with("<svg "));
    let (code, _, why) = said(&["wiring", "show", "/nowhere.toml"]);
    assert_eq!(code, 2);
    assert!(why.contains("/nowhere.toml cannot be read"), "{why}");
}

#[test]
fn what_excludes_each_other_is_refused() {
    let (code, _, why) = said(&["run", "--board", "v8", "--wiring", "x.toml"]);
    assert_eq!(code, 2);
    assert!(why.contains("--board and --wiring"), "{why}");
}

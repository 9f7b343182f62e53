//! Wiring files of real parts.

use std::{fs, path::Path};

use device::board::PanelFault;

use crate::clock::{folder, output};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wiring");

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = output(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn a_wiring_file_is_checked_with_or_without_the_host() {
    let file = format!("{EXAMPLES}/rev-b.toml");
    let (code, stdout, _) = run(&["wiring", "check", &file, "--file-only"]);
    assert_eq!(
        (code, stdout.as_str()),
        (0, "Rev B: 7 panels, no mistakes\n")
    );

    let folder = folder();
    let upright = folder.path().join("upright.toml");
    fs::write(
        &upright,
        "base = \"waveshare-2.13-v4\"\nevery-panel.rotation = 0\n",
    )
    .unwrap();
    let file = upright.to_str().unwrap();
    let (code, stdout, _) = run(&["wiring", "check", file, "--file-only"]);
    assert_eq!(code, 0);
    assert!(
        stdout.contains(": 1 panel, no mistakes\nthe panel is 122 px wide and 250 px high"),
        "{stdout}"
    );

    let (code, stdout, _) = run(&["wiring", "check", "Waveshare-7.5-V2", "--file-only"]);
    assert_eq!(
        (code, stdout.as_str()),
        (
            0,
            "Waveshare 7.5 in V2, since October 2023 (GDEY075T7): 1 panel, no mistakes\n"
        )
    );
    let (code, _, stderr) = run(&["wiring", "check", "waveshare-7.5"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("known boards are rev-a, "), "{stderr}");
    let (code, _, stderr) = run(&["wiring", "test", file, "-o", "x.toml"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("-o is for the name of a known board"),
        "{stderr}"
    );

    let file = folder.path().join("clock.toml");
    fs::write(
        &file,
        "base = \"rev-b\"\nspi.hz = 1\n[sensor]\naddresses = [3]\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let (code, stdout, stderr) = run(&["wiring", "check", file]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(
        stderr.contains("\n  line 2: [spi]: `hz` is 1 where"),
        "{stderr}"
    );
    assert!(
        stderr.contains("\n  line 4: [sensor]: `addresses` must be one or both"),
        "{stderr}"
    );
    let (code, stdout, _) = run(&["wiring", "check", file, "--json", "--file-only"]);
    let stdout: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 2);
    assert_eq!(stdout["mistakes"][0]["line"], 2);
    assert_eq!(stdout["mistakes"].as_array().unwrap().len(), 2);

    fs::write(file, "base = \"rev-b\"\nspi.device = \"/dev/spidev99.9\"\n").unwrap();
    for command in [
        &["wiring", "check", file][..],
        &["wiring", "test", file],
        &["run", "--wiring", file],
    ] {
        let (code, _, stderr) = run(command);
        assert_eq!(code, 2, "{command:?}");
        let has_gpio = Path::new("/dev/gpiochip0").exists();
        let expected = if has_gpio {
            "line 2: there is no /dev/spidev99.9"
        } else {
            "this host has no GPIO"
        };
        assert!(stderr.contains(expected), "{stderr}");
        // One mistake is one line below the heading.
        assert!(has_gpio || stderr.lines().count() == 2, "{stderr}");
    }
}

#[test]
fn a_computer_without_gpio_is_told_in_one_sentence() {
    if Path::new("/dev/gpiochip0").exists() {
        return;
    }
    let (code, stdout, stderr) = run(&["wiring", "detect", "--json"]);
    assert_eq!(code, 1);
    assert!(
        stdout.contains("\"error\": \"this computer has no GPIO"),
        "{stdout}"
    );
    assert_eq!(stderr.lines().count(), 1);
}

#[test]
fn the_systemd_unit_uses_existing_commands() {
    const UNIT: &str = include_str!("../../../../packaging/systemd/papertick.service");
    let start = UNIT
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let words: Vec<&str> = start.unwrap().split_whitespace().collect();
    let (code, stdout, stderr) = run(&[&words[1..], &["--help"]].concat());
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("--wiring"));
}

#[test]
fn wiring_show_draws_a_file() {
    let file = format!("{EXAMPLES}/v8.toml");
    let (code, stdout, _) = run(&["wiring", "show", &file]);
    assert_eq!(code, 0);
    assert!(
        stdout.contains("Panel 8, gdey0213b74\n  select         exp2:6"),
        "{stdout}"
    );
    let folder = folder();
    let picture = folder.path().join("v8.svg");
    let (code, stdout, _) = run(&["wiring", "show", &file, "-o", picture.to_str().unwrap()]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(fs::read_to_string(picture).unwrap().starts_with("<svg "));
    let (code, _, stderr) = run(&["wiring", "show", "/nowhere.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("/nowhere.toml cannot be read"), "{stderr}");
}

#[test]
fn the_manual_has_the_sentence_of_every_fault() {
    let manual = include_str!("../../../../docs/wiring.md");
    for fault in PanelFault::ALL {
        let line = format!("\n- `{}`: {}\n", fault.name(), fault.says());
        assert!(manual.contains(&line), "{line}");
    }
}

#[test]
fn conflicting_flags_are_refused() {
    let (code, _, stderr) = run(&["run", "--board", "v8", "--wiring", "x.toml"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("--board, --display and --wiring"),
        "{stderr}"
    );
}

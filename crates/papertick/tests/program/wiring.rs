//! Real parts, as far as they can be had here: wiring files, and the whole clock on emulated chips.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::TcpStream,
    path::Path,
};

use rustix::process::Signal;

use crate::clock::{Clock, eventually, folder, output};

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
    for (arguments, parts) in [
        (
            &["--board", "v8", "--circuit", "rev-b"][..],
            ["--board", "--circuit"],
        ),
        (
            &["--circuit", "v8", "--wiring", "x.toml"],
            ["--circuit", "--wiring"],
        ),
        (&["--circuit", "rev-c"], ["rev-c", "rev-a"]),
    ] {
        let (code, _, why) = said(&[&["run"], arguments].concat());
        assert_eq!(code, 2, "{arguments:?}");
        for part in parts {
            assert!(why.contains(part), "{arguments:?}: {why}");
        }
    }
}

/// Name of the picture of all panels, which is made of their pixels.
fn pixels(clock: &Clock) -> String {
    let mut stream = TcpStream::connect(clock.address()).unwrap();
    let request = "GET /api/panels.png HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    let tag = answer.lines().find(|line| line.starts_with("etag: "));
    tag.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Waits until every panel shows a picture and rests.
fn painted(clock: &Clock) {
    eventually("every panel shows a picture and rests", || {
        let state = clock.get("/sim/state").json();
        let panels = state["panels"].as_array().unwrap().clone();
        let rests = |panel: &serde_json::Value| panel["full"] != 0 && panel["busy"] == false;
        panels.iter().all(rests)
    });
}

#[test]
fn the_chips_of_every_board_show_what_the_simulated_board_shows() {
    for board in ["rev-a", "rev-b", "v8"] {
        let (one, other) = (folder(), folder());
        let simulated = Clock::start_with(one.path(), &["--board", board]);
        let emulated = Clock::start_with(other.path(), &["--circuit", board]);
        let text = "/api/show/text/PAPER-7";
        for clock in [&simulated, &emulated] {
            assert_eq!(clock.get(text).status, 200);
        }
        eventually("both show the text", || {
            pixels(&simulated) == pixels(&emulated)
                && emulated.get("/sim/state").json()["panels"][0]["full"] != 0
        });
        let state = emulated.get("/sim/state").json();
        assert_eq!(
            state["circuit"]["violations"],
            serde_json::json!([]),
            "{board}"
        );
        assert_eq!(state["board"], board);
        assert!(simulated.get("/sim/state").json().get("circuit").is_none());
    }
}

#[test]
fn a_clock_does_without_the_parts_that_its_wiring_leaves_out() {
    let folder = folder();
    let file = folder.path().join("bare.toml");
    let bare = "base = \"rev-b\"\nname = \"Bare\"\nstrip = \"none\"\nsensor = \"none\"\n\
        frontlight = \"none\"\nbuttons = \"none\"\n";
    fs::write(&file, bare).unwrap();
    let pi = format!("{EXAMPLES}/pi-seven-panels.toml");
    for (file, name, has_buttons) in [
        (file.to_str().unwrap(), "Bare, 7 x 2.13 in", false),
        (pi.as_str(), "Seven panels", true),
    ] {
        let data = folder.path().join(name);
        let clock = Clock::start_with(&data, &["--circuit", file]);
        let settings = clock.get("/api/settings").json();
        let hardware = settings["hwRev"].as_str().unwrap();
        assert!(hardware.starts_with(name), "{hardware}");
        assert_eq!(settings["hasLightLevel"], false);
        assert_eq!(
            clock.get("/api/lights/off").status,
            503,
            "there is no strip"
        );
        painted(&clock);
        let state = clock.get("/sim/state").json();
        assert_eq!(state["circuit"]["violations"], serde_json::json!([]));
        if has_buttons {
            clock
                .send("POST", "/sim/buttons", r#"{"press":[1],"ms":200}"#)
                .unwrap();
            eventually("the rotation is paused", || {
                clock.get("/api/status").json()["timerRunning"] == false
            });
        }
    }
}

#[test]
fn buttons_and_light_reach_the_clock_through_the_chips() {
    let folder = folder();
    let clock = Clock::start_with(folder.path(), &["--circuit", "rev-b"]);
    painted(&clock);
    let pressed = clock.send("POST", "/sim/buttons", r#"{"press":[1],"ms":200}"#);
    assert_eq!(pressed.unwrap().status, 200);
    eventually("the rotation is paused", || {
        clock.get("/api/status").json()["timerRunning"] == false
    });
    let lux = clock.send("POST", "/sim/lux", r#"{"lux": 10}"#);
    assert_eq!(lux.unwrap().status, 200);
    eventually("the light is measured", || {
        clock.get("/api/status").json()["lightLevel"] == 10.0
    });
    let (status, _) = clock.end(Signal::TERM);
    assert!(status.success());
}

#[test]
fn the_end_waits_for_the_ink_and_is_no_crash() {
    let folder = folder();
    let path = folder.path().join("said");
    let said = File::create(&path).unwrap();
    let data = folder.path().join("data");
    let clock = Clock::start_heard(&data, &["--circuit", "rev-b"], said);
    painted(&clock);
    assert_eq!(clock.get("/api/full_refresh").status, 200);
    eventually("the ink moves", || {
        clock.get("/sim/state").json()["panels"][6]["busy"] == true
    });
    let (status, _) = clock.end(Signal::TERM);
    assert!(status.success());
    let said = fs::read_to_string(path).unwrap();
    assert!(!said.contains("killed"), "{said}");
}

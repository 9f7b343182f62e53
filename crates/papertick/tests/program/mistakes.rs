//! Failures print one line and have an exit code.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, process::Stdio};

use papertick::failure::Code;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::clock::{Clock, Owned, eventually, folder, output, papertick};

/// Checks the exit code, and that standard error has one line with these parts.
fn assert_fails(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = output(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    assert!(text.starts_with("papertick: "), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    for part in parts {
        assert!(text.contains(part), "{arguments:?}: {text} lacks {part}");
    }
}

#[test]
fn the_environment_is_checked() {
    let output = papertick(&["run"])
        .env("PAPERTICK_BOARD", "toaster")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("toaster")
    );
}

#[test]
fn flags_override_the_environment() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = papertick(&["run", "--board", "v8", "--listen", "0", "--data-dir"])
        .arg(file.join("below"))
        .env("PAPERTICK_WIRING", "/nowhere.toml")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    // The first failure is the folder.
    assert!(stderr.contains("below"), "{stderr}");
    assert!(!stderr.contains("exclude"), "{stderr}");
}

#[test]
fn a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = folder();
    let data_dir = folder.path().to_str().unwrap();
    let port = address.rsplit(':').next().unwrap();
    assert_fails(
        &["run", "--listen", &address, "--data-dir", data_dir],
        5,
        &[port, "taken", "--listen"],
    );
    assert_fails(
        &["run", "--listen", "203.0.113.7:80", "--data-dir", data_dir],
        1,
        &["203.0.113.7", "--listen"],
    );
}

#[test]
fn an_unusable_data_folder() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("below");
    assert_fails(
        &[
            "run",
            "--listen",
            "0",
            "--data-dir",
            below.to_str().unwrap(),
        ],
        1,
        &[below.to_str().unwrap(), "--data-dir"],
    );
    assert_fails(
        &["run", "--listen", "0", "--data-dir", "/proc"],
        1,
        &["/proc", "--data-dir"],
    );
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // Root can write to it.
    if fs::write(locked.join("probe"), "").is_err() {
        assert_fails(
            &[
                "run",
                "--listen",
                "0",
                "--data-dir",
                locked.to_str().unwrap(),
            ],
            1,
            &["--data-dir"],
        );
    }
}

#[test]
fn a_pipe_or_a_folder_instead_of_a_file() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    for (place, what) in [(&*pipe, "a named pipe"), (folder.path(), "a folder")] {
        let place = place.to_str().unwrap();
        for flag in ["--config", "--ca-file", "--wiring"] {
            assert_fails(&["run", flag, place], 2, &[place, what]);
        }
        assert_fails(
            &["run", "--sim-networks", place],
            2,
            &[place, "it is not a file"],
        );
        assert_fails(&["wiring", "check", place], 2, &[place, what]);
        for command in [
            &["image", "show", place][..],
            &["image", "pack", "--program", place, "-o", "image"],
            &["release", place, "-o", "release"],
            &["render", "ticker", "--status", place, "-o", "p.png"],
        ] {
            assert_fails(command, 1, &[place, what]);
        }
    }
}

#[test]
fn a_second_clock_on_one_folder() {
    let folder = folder();
    let first = Clock::start(folder.path());
    let data_dir = folder.path().to_str().unwrap();
    let pid = first.supervisor().as_raw_nonzero().to_string();
    assert_fails(
        &["run", "--listen", "127.0.0.1:0", "--data-dir", data_dir],
        5,
        &["another clock", &pid, data_dir, "--data-dir"],
    );
    assert_eq!(
        first.get("/api/status").status,
        200,
        "the first one is undisturbed"
    );
}

#[test]
fn discover_without_clocks() {
    let folder = folder();
    let here = Clock::start(folder.path());
    // The clock listens only on loopback, and the search is only on loopback.
    let arguments = ["discover", "--seconds", "1", "--on", "127.0.0.1"];
    assert_fails(
        &arguments,
        3,
        &["no clock", "1 s", "--listen", "mdnsEnabled"],
    );
    let announced = &here.get("/api/status").json()["link"]["announced"];
    assert!(announced.is_null(), "{announced}");
    assert_fails(&["discover", "--on", "here"], 2, &["here", "--help"]);
}

#[test]
fn the_default_data_folder_is_in_the_state_folder_of_the_user() {
    let home = folder();
    let named = |name: &str| home.path().join(name);
    // The folder is empty.
    let data_folder_of = |variables: &[(&str, &str)]| {
        let mut command = papertick(&["passwd", "--clear"]);
        command.env("HOME", home.path()).envs(variables.to_vec());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(Code::Failed as i32));
        String::from_utf8(output.stderr).unwrap()
    };
    let own = named(".local/state/papertick");
    let state_home = named("state");
    let stderr = data_folder_of(&[]);
    assert!(stderr.contains(own.to_str().unwrap()), "{stderr}");
    let stderr = data_folder_of(&[("XDG_STATE_HOME", state_home.to_str().unwrap())]);
    assert!(
        stderr.contains(state_home.join("papertick").to_str().unwrap()),
        "{stderr}"
    );
    let stderr = data_folder_of(&[("XDG_STATE_HOME", "state")]);
    assert!(stderr.contains(own.to_str().unwrap()), "{stderr}");

    let mut demo = papertick(&["demo", "--listen", "127.0.0.1:0"]);
    demo.env("HOME", home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let demo = Owned(demo.spawn().unwrap());
    eventually("the demo has a folder", || {
        named(".local/state/papertick-demo").exists()
    });
    drop(demo);
    assert!(!own.exists());
}

#[test]
fn a_boolean_variable_can_be_false() {
    let folder = folder();
    for (word, is_on) in [("0", false), ("false", false), ("1", true)] {
        let mut command = papertick(&["run"]);
        let command = command.env("PAPERTICK_UNSIGNED_UPDATES", word);
        let clock = Clock::start_as(command, folder.path());
        let notes = clock.get("/api/status").json()["notes"].to_string();
        assert_eq!(
            notes.contains("--unsigned-updates"),
            is_on,
            "{word}: {notes}"
        );
    }
}

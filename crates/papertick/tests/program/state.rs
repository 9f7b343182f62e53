//! Acknowledged changes survive crashes.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
};

use device::settings::{Settings, store};
use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::Signal,
};
use storage::{Store, StoredFile, disk::Folder};

use crate::clock::{Clock, eventually, folder, papertick};

#[test]
fn an_access_point_password_that_cannot_be_stored_is_reported() {
    let folder = folder();
    fs::create_dir(folder.path().join("access-point")).unwrap();
    let clock = Clock::start(folder.path());
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(
        notes.contains("the password of the access point changes at each start"),
        "{notes}"
    );
}

#[test]
fn defaults_apply_until_settings_are_stored() {
    let folder = folder();
    let start = |defaults: &str| {
        let mut command = papertick(&["run"]);
        command.env("PAPERTICK_DEFAULTS", defaults);
        command.env("PAPERTICK_NOTE", "no such display\nno such zone");
        Clock::start_as(&mut command, folder.path())
    };
    let clock = start(r#"{"digitFontPx": 201, "nodeHost": 7, "holograms": true}"#);
    assert_eq!(
        (clock.setting("digitFontPx"), clock.setting("nodeHost")),
        (201.into(), "".into())
    );
    let notes = clock.get("/api/status").json()["notes"].to_string();
    for note in [
        "nodeHost had an unusable value",
        "there is no setting holograms",
        "\"no such display\"",
        "\"no such zone\"",
    ] {
        assert!(notes.contains(note), "{notes}");
    }
    clock.end(Signal::TERM);
    let clock = start("nonsense");
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(notes.contains("--defaults is not a JSON object"), "{notes}");
    assert_eq!(clock.patch(r#"{"ledBrightness": 3}"#).status, 200);
    clock.end(Signal::TERM);
    assert_eq!(start(r#"{"ledBrightness": 4}"#).setting("ledBrightness"), 3);
}

/// Stores settings as a clock would.
fn store(data_dir: &Path, settings: &Settings) {
    let (mut store, _) = Store::open(Box::new(Folder::new(data_dir)));
    let settings = store::to_json(settings);
    store.save(StoredFile::Settings, &settings).unwrap();
}

/// The setting, the flag, and whether debug lines are logged.
#[test]
fn the_setting_and_the_command_line_choose_the_log_level() {
    for (enable_debug_log, arguments, is_debug) in [
        (false, &[][..], false),
        (true, &[], true),
        (true, &["--log", "info"], false),
        (false, &["--log", "debug"], true),
    ] {
        let folder = folder();
        let settings = Settings {
            enable_debug_log,
            ..Settings::default()
        };
        store(folder.path(), &settings);
        let path = folder.path().join("log");
        let log = fs::File::create(&path).unwrap();
        let clock = Clock::start_with_stderr(folder.path(), arguments, log);
        assert_eq!(clock.get("/api/status").status, 200);
        let log = fs::read_to_string(&path).unwrap();
        let is_answer = |line: &str| line.contains("DEBUG") && line.contains("/api/status");
        let answered = log.lines().any(is_answer);
        assert_eq!(
            answered, is_debug,
            "{enable_debug_log} {arguments:?}: {log}"
        );
    }
}

#[test]
fn without_a_stored_password_the_interface_refuses_all_clients() {
    let folder = folder();
    store(
        folder.path(),
        &Settings {
            http_auth_enabled: true,
            ..Settings::default()
        },
    );
    let clock = Clock::start(folder.path());
    assert_eq!(clock.get("/api/status").status, 401);
    // `papertick:`, with an empty password.
    let empty = clock.send_with(
        "GET",
        "/api/settings",
        "Authorization: Basic cGFwZXJ0aWNrOg==",
    );
    assert_eq!(empty.unwrap().status, 401);
}

#[test]
fn a_damaged_file_is_set_aside_and_reported() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    clock.patch(r#"{"digitFontPx": 201}"#);
    clock.patch(r#"{"digitFontPx": 202}"#);
    clock.end(Signal::TERM);
    let path = folder.path().join("settings.json");
    fs::write(&path, "not what was written").unwrap();
    let clock = Clock::start(folder.path());
    assert_eq!(clock.setting("digitFontPx"), 201, "the previous value");
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(
        notes.contains("settings.json") && notes.contains("damaged-1"),
        "{notes}"
    );
    let damaged = folder.path().join("settings.json.damaged-1");
    assert_eq!(fs::read_to_string(damaged).unwrap(), "not what was written");
    assert_eq!(clock.patch(r#"{"digitFontPx": 203}"#).status, 200);
    clock.end(Signal::TERM);
    assert_eq!(Clock::start(folder.path()).setting("digitFontPx"), 203);
}

#[test]
fn lost_settings_keep_the_interface_protected() {
    type Loss = fn(&Path);
    let losses: [(&str, Loss); 3] = [
        ("damaged", |path| fs::write(path, "damaged").unwrap()),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a pipe", |path| {
            mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        }),
    ];
    for (what, lose) in losses {
        let folder = folder();
        Clock::start(folder.path()).end(Signal::TERM);
        for name in ["settings.json", "settings.json.previous"] {
            let path = folder.path().join(name);
            let _ = fs::remove_file(&path);
            lose(&path);
        }
        // The file that was set aside at the first start still protects the interface at the second.
        for start in 1..=2 {
            let clock = Clock::start(folder.path());
            for (method, path) in [("GET", "/api/status"), ("PATCH", "/api/settings")] {
                let answer = clock.send(method, path, "{}").unwrap();
                assert_eq!(answer.status, 401, "{what}, start {start}: {path}");
            }
            clock.end(Signal::TERM);
        }
    }
}

#[test]
fn a_read_only_data_folder_is_reported_and_refuses_changes() {
    // Root drops its privileges, because it can write to read-only folders.
    const NOBODY: u32 = 65_534;
    let folder = folder();
    let data_dir = folder.path().join("state");
    fs::create_dir(&data_dir).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        for path in [folder.path(), &data_dir] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let start = || {
        let mut command = papertick(&["run"]);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Clock::start_as(&mut command, &data_dir)
    };
    let allow = |folder: u32, file: u32| {
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        set(&data_dir, folder).unwrap();
        for entry in fs::read_dir(&data_dir).unwrap() {
            set(&entry.unwrap().path(), file).unwrap();
        }
    };
    let clock = start();
    assert_eq!(clock.patch(r#"{"digitFontPx": 201}"#).status, 200);
    // First while the clock runs, then at its start.
    allow(0o500, 0o400);
    assert_eq!(clock.patch(r#"{"digitFontPx": 202}"#).status, 500);
    let device = clock.device();
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("another device runs", || clock.device() != device);
    let check = |clock: Clock| {
        assert_eq!(clock.setting("digitFontPx"), 201);
        let notes = clock.get("/api/status").json()["notes"].to_string();
        assert!(notes.contains("nothing can be stored"), "{notes}");
        assert_eq!(clock.patch(r#"{"digitFontPx": 202}"#).status, 500);
        let reset = r#"{"confirm":"factory_reset"}"#;
        let reset = clock.send("POST", "/api/factory_reset", reset).unwrap();
        assert_eq!(reset.status, 500, "{}", reset.body);
        assert_eq!(clock.setting("digitFontPx"), 201);
        clock.end(Signal::TERM);
    };
    check(clock);
    check(start());
    allow(0o700, 0o600);
    let clock = start();
    assert_eq!(clock.patch(r#"{"digitFontPx": 202}"#).status, 200);
}

/// A container has another machine id after each start.
#[test]
fn the_name_of_a_clock_is_stored_when_it_first_starts() {
    let folder = folder();
    let file = folder.path().join("name-suffix");
    let name = || {
        let name = Clock::start(folder.path()).get("/api/settings").json()["hostname"].clone();
        name.as_str().unwrap().to_string()
    };
    let first = name();
    assert_eq!(
        first,
        format!("papertick-{}", fs::read_to_string(&file).unwrap())
    );
    for (stored, expected) in [("0a1b2c", "papertick-0a1b2c"), ("", &*first)] {
        fs::write(&file, stored).unwrap();
        assert_eq!(name(), expected, "{stored}");
    }
}

#[test]
fn files_with_secrets_are_readable_only_by_their_owner() {
    let folder = folder();
    let data_dir = folder.path().join("new");
    let clock = Clock::start(&data_dir);
    clock.patch(r#"{"proxyPass": "secret"}"#);
    clock.patch(r#"{"proxyPass": "secret too"}"#);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data_dir), 0o700);
    for entry in fs::read_dir(&data_dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

//! What was acknowledged survives, whatever happens to the processes.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use device::settings::{Settings, store};
use papertick::storage::{Store, disk::Folder};
use rustix::process::{Signal, kill_process};

use crate::clock::{Clock, eventually, folder};

#[test]
fn settings_survive_an_orderly_end() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    assert_eq!(clock.patch(r#"{"digitFontPx": 201}"#).status, 200);
    clock.end(Signal::TERM);
    assert_eq!(Clock::start(folder.path()).setting("digitFontPx"), 201);
}

#[test]
fn killing_at_any_time_loses_no_acknowledged_setting() {
    const ROUNDS: u64 = 8;
    let folder = folder();
    let mut acknowledged = None;
    for round in 0..ROUNDS {
        let clock = Clock::start(folder.path());
        let found = found_after(acknowledged, &clock);
        let answers = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in found + 1.. {
                    let body = format!(r#"{{"luxLightToggle": {number}}}"#);
                    match clock.send("PATCH", "/api/settings", &body) {
                        Ok(answer) if answer.status == 200 => {
                            answers.fetch_add(1, Ordering::Relaxed);
                        }
                        _ => break,
                    }
                }
            });
            eventually("changes are acknowledged", || {
                answers.load(Ordering::Relaxed) > round
            });
            thread::sleep(Duration::from_micros(round * 777));
            // Both go, in the middle of whatever they do; the first is stopped so that it does not notice.
            let (supervisor, device) = (clock.supervisor(), clock.device());
            for (pid, signal) in [
                (supervisor, Signal::STOP),
                (device, Signal::KILL),
                (supervisor, Signal::KILL),
            ] {
                kill_process(pid, signal).unwrap();
            }
        });
        acknowledged = Some(found + answers.into_inner());
    }
    let found = found_after(acknowledged, &Clock::start(folder.path()));
    assert!(found > LUX_AT_FIRST + ROUNDS * (ROUNDS + 1) / 2, "{found}");
}

/// What a fresh clock has as `luxLightToggle`.
const LUX_AT_FIRST: u64 = 128;

/// What a clock has found, which must be what was acknowledged last or the change that was under way then.
fn found_after(acknowledged: Option<u64>, clock: &Clock) -> u64 {
    let found = clock.setting("luxLightToggle").as_u64().unwrap();
    let possible = acknowledged.map_or(LUX_AT_FIRST..=LUX_AT_FIRST, |last| last..=last + 1);
    assert!(
        possible.contains(&found),
        "found {found}, not in {possible:?}"
    );
    found
}

/// Stores settings as a clock would.
fn store(data_dir: &Path, settings: &Settings) {
    let (mut store, _) = Store::open(Box::new(Folder::new(data_dir)));
    store.save_settings(&store::to_json(settings)).unwrap();
}

#[test]
fn an_interface_that_asks_for_a_password_that_was_never_stored_lets_nobody_in() {
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
    // `papertick:`, which is nobody's password.
    let empty = clock.send_with(
        "GET",
        "/api/settings",
        "Authorization: Basic cGFwZXJ0aWNrOg==",
    );
    assert_eq!(empty.unwrap().status, 401);
}

#[test]
fn a_damaged_file_is_kept_aside_and_said() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    clock.patch(r#"{"digitFontPx": 201}"#);
    clock.end(Signal::TERM);
    let path = folder.path().join("settings.json");
    fs::write(&path, "not what was written").unwrap();
    let clock = Clock::start(folder.path());
    assert_eq!(clock.setting("digitFontPx"), 180, "the default");
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(
        notes.contains("settings.json") && notes.contains("damaged-1"),
        "{notes}"
    );
    let kept = folder.path().join("settings.json.damaged-1");
    assert_eq!(fs::read_to_string(kept).unwrap(), "not what was written");
    assert_eq!(clock.patch(r#"{"digitFontPx": 202}"#).status, 200);
    clock.end(Signal::TERM);
    assert_eq!(Clock::start(folder.path()).setting("digitFontPx"), 202);
}

#[test]
fn a_damaged_file_with_a_generation_before_it_loses_only_the_last_change() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    clock.patch(r#"{"digitFontPx": 201}"#);
    clock.patch(r#"{"digitFontPx": 202}"#);
    clock.end(Signal::TERM);
    fs::write(folder.path().join("settings.json"), [0xFF; 100]).unwrap();
    assert_eq!(Clock::start(folder.path()).setting("digitFontPx"), 201);
}

#[test]
fn files_with_secrets_are_their_owners_alone() {
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

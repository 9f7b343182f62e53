//! New programs in the slots: a working one stays, a failing one is rolled back, and a clock always runs.

use std::{
    fs, io,
    net::TcpListener,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::Path,
};

use rustix::process::{Pid, Signal, kill_process};
use semver::Version;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storage::disk::Folder;
use tempfile::TempDir;
use updates::{
    record::{self, program_file},
    slots::{Factory, ImageSlot, Installed, TrialState},
};

use crate::clock::{Clock, PATIENCE, eventually, folder, is_alive};

/// Trial time in these tests, s.
const TRIAL: &[&str] = &["--trial-seconds", "1"];

/// This program with another version.
pub(crate) fn working_program() -> String {
    format!(
        "#!/bin/sh\nexec {} \"$@\"\n",
        env!("CARGO_BIN_EXE_papertick")
    )
}

/// This program, but with a script as its device.
pub(crate) fn with_device_script(instead: &str) -> String {
    let own = env!("CARGO_BIN_EXE_papertick");
    format!("#!/bin/sh\nif [ \"$1\" = device ]; then\n{instead}\nfi\nexec {own} \"$@\"\n")
}

/// A device that never shows a picture.
fn never_paints() -> String {
    let own = env!("CARGO_BIN_EXE_papertick");
    with_device_script(&format!(
        "config=$(printf %s \"$2\" | sed \"s/\\\"supervisor\\\":[0-9]*/\\\"supervisor\\\":$$/\")\n\
         {own} device \"$config\" | grep --line-buffered -v painted\n\
         exit 1"
    ))
}

/// Installs a program in a slot and makes the slot active.
pub(crate) fn install(
    data_dir: &Path,
    slot: ImageSlot,
    version: &str,
    program: &str,
    trial_state: TrialState,
) {
    fs::create_dir_all(data_dir).unwrap();
    let path = data_dir.join(program_file(slot));
    fs::write(&path, program).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    let installed = Installed {
        version: Version::parse(version).unwrap(),
        bytes: program.len() as u64,
        digest: Sha256::digest(program).into(),
        factory_build: Factory::own().build,
        trial_state,
        executions: 0,
    };
    record::change(&mut Folder::new(data_dir), |slots| {
        slots.activate(slot, installed)
    })
    .unwrap();
}

pub(crate) const NEW: TrialState = TrialState::Trial { starts: 0 };

pub(crate) fn firmware(clock: &Clock) -> Value {
    clock.get("/api/system/status").json()["firmware"].clone()
}

fn runs(clock: &Clock, running: &str, is_trial: bool) -> bool {
    let firmware = firmware(clock);
    firmware["running"] == running && firmware["trial"] == is_trial
}

/// Whether a process is that of the program of an update, which the installed one has executed.
fn is_executed(pid: Pid) -> bool {
    let variables = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap();
    String::from_utf8_lossy(&variables).contains("PAPERTICK_EXECUTION")
}

/// Executions of the program in the first slot without progress.
fn executions(data_dir: &Path) -> u64 {
    let slots = record::load(&mut Folder::new(data_dir));
    slots.get(ImageSlot::A).unwrap().executions
}

/// A data folder with a new program that works, on trial.
fn folder_with_update() -> TempDir {
    let folder = folder();
    install(
        folder.path(),
        ImageSlot::A,
        "4.9.0",
        &working_program(),
        NEW,
    );
    folder
}

#[test]
fn a_new_program_is_on_trial_until_it_has_worked() {
    let folder = folder_with_update();
    let clock = Clock::start_with(folder.path(), TRIAL);
    assert_eq!(
        firmware(&clock),
        json!({
            "running": "a",
            "version": "4.9.0",
            "trial": true,
            "lastFailure": null,
            "signed": true,
            "keys": 0,
            "managedBy": null,
        })
    );
    let device = clock.device();
    eventually("the new program works", || runs(&clock, "a", false));
    assert_eq!(clock.device(), device, "the device was not restarted");
    // Without a service manager the supervisor stays.
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("the new program answers", || {
        clock.device() != device && runs(&clock, "a", false)
    });
    assert!(!is_executed(clock.supervisor()));
    clock.end(Signal::TERM);

    let clock = Clock::start_with(folder.path(), TRIAL);
    assert!(runs(&clock, "a", false));
    assert!(is_executed(clock.supervisor()));
    eventually("the device makes progress", || {
        executions(folder.path()) == 0
    });
    let device = clock.device();
    kill_process(device, Signal::KILL).unwrap();
    eventually("another device runs", || clock.device() != device);
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(notes.contains("an unexpected end, once so far"), "{notes}");
    let device = clock.device();
    let (status, took) = clock.end(Signal::TERM);
    assert!(
        status.success() && took < PATIENCE,
        "{status} after {took:?}"
    );
    assert!(!is_alive(device));
}

#[test]
fn a_service_manager_starts_the_new_program_at_the_next_restart() {
    let folder = folder_with_update();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let start = || Clock::start_as_service(listener.try_clone().unwrap(), folder.path(), TRIAL);
    let clock = start();
    eventually("the new program works", || runs(&clock, "a", false));
    clock.send("POST", "/api/restart", "").unwrap();
    assert_eq!(clock.ended().code(), Some(75));
    let clock = start();
    assert_eq!(clock.address(), listener.local_addr().unwrap());
    assert!(runs(&clock, "a", false));
    assert!(is_executed(clock.supervisor()));
}

#[test]
fn a_failing_new_program_is_rolled_back() {
    for (program, reason) in [
        (with_device_script("exit 70"), "exit status: 70"),
        (with_device_script("exit 1"), "exit status: 1"),
        (with_device_script("kill -SEGV $$"), "SIGSEGV"),
        (
            with_device_script("echo ready; exec sleep 1000"),
            "it neither painted nor answered requests",
        ),
        (never_paints(), "it painted nothing"),
        ("no program".to_string(), "it cannot be started"),
    ] {
        for (version, running) in [("4.5.0", "a"), ("4.0.0", "factory")] {
            let folder = folder();
            if running == "a" {
                install(
                    folder.path(),
                    ImageSlot::A,
                    version,
                    &working_program(),
                    TrialState::Proven,
                );
            } else if reason.contains("painted") {
                // The slow case, with the same result.
                continue;
            }
            install(folder.path(), ImageSlot::B, "4.9.0", &program, NEW);
            let clock = Clock::start_with(folder.path(), TRIAL);
            eventually("the previous program runs again", || {
                clock.get("/api/system/status").status == 200 && runs(&clock, running, false)
            });
            let firmware = firmware(&clock);
            assert_eq!(firmware["version"], version, "{firmware}");
            let failure = firmware["lastFailure"].as_str().unwrap();
            assert!(
                failure.contains("4.9.0 failed") && failure.contains(reason),
                "{failure}"
            );
            let status = clock.get("/api/status").json();
            let notes = status["notes"].to_string();
            assert!(
                notes.contains("4.9.0 did not work") && notes.contains(reason),
                "{notes}"
            );
            assert_eq!(status["safeMode"], Value::Null);
            clock.end(Signal::TERM);
            let again = Clock::start_with(folder.path(), TRIAL);
            assert!(
                runs(&again, running, false),
                "the failed program is not tried again"
            );
        }
    }
}

#[test]
fn a_program_that_crashes_repeatedly_is_replaced_by_the_installed_one() {
    let folder = folder();
    let broken = with_device_script("exit 70");
    install(
        folder.path(),
        ImageSlot::A,
        "4.5.0",
        &broken,
        TrialState::Proven,
    );
    install(
        folder.path(),
        ImageSlot::B,
        "4.9.0",
        &broken,
        TrialState::Proven,
    );
    let clock = Clock::start_with(folder.path(), TRIAL);
    let firmware = firmware(&clock);
    assert_eq!(firmware["running"], "factory", "{firmware}");
    let failure = firmware["lastFailure"].as_str().unwrap();
    assert!(
        failure.contains("4.5.0 was set aside: it ended unexpectedly 3 times"),
        "{failure}"
    );
    let device = clock.device();
    for _ in 0..3 {
        let device = clock.device();
        kill_process(device, Signal::KILL).unwrap();
        eventually("another device runs", || clock.device() != device);
    }
    assert_eq!(clock.get("/api/status").json()["mode"], "safe-mode");

    // A restart tries it again, because the owner may have fixed the cause.
    install(
        folder.path(),
        ImageSlot::B,
        "4.9.0",
        &working_program(),
        TrialState::Proven,
    );
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("the new program runs", || {
        clock.device() != device && runs(&clock, "b", false)
    });
}

#[test]
fn a_damaged_slot_is_not_started() {
    let folder = folder();
    install(
        folder.path(),
        ImageSlot::A,
        "4.9.0",
        &working_program(),
        TrialState::Proven,
    );
    fs::write(folder.path().join(program_file(ImageSlot::A)), "x").unwrap();
    let clock = Clock::start(folder.path());
    assert!(runs(&clock, "factory", false));
    let failure = firmware(&clock)["lastFailure"].to_string();
    assert!(
        failure.contains("not the one that was installed"),
        "{failure}"
    );
}

#[test]
fn a_program_that_restarts_the_machine_repeatedly_is_rolled_back() {
    let folder = folder_with_update();
    // The trial lasts until the kill.
    let long_trial = ["--trial-seconds", "3600"];
    for start in 0..4 {
        let clock = Clock::start_with(folder.path(), &long_trial);
        assert_eq!(
            firmware(&clock)["running"],
            if start < 3 { "a" } else { "factory" },
            "{start}"
        );
        if start == 3 {
            let failure = firmware(&clock)["lastFailure"].to_string();
            assert!(failure.contains("ended 3 times"), "{failure}");
        }
        clock.kill_at_once();
    }
}

#[test]
fn after_three_failed_starts_the_installed_program_runs_itself() {
    let own = env!("CARGO_BIN_EXE_papertick");
    let folder = folder();
    install(
        folder.path(),
        ImageSlot::A,
        "4.9.0",
        &format!("#!/bin/sh\n[ $1 = run ] && exit 1\nexec {own} \"$@\"\n"),
        TrialState::Proven,
    );
    for _ in 0..3 {
        assert!(Clock::try_start(folder.path()).is_none());
    }
    let clock = Clock::start(folder.path());
    assert!(
        runs(&clock, "a", false),
        "the device still runs from the slot"
    );
    assert!(!is_executed(clock.supervisor()));
}

/// Standard error of the clock may not be read.
#[test]
fn the_installed_program_runs_if_an_update_cannot_be_executed() {
    let folder = folder();
    let slot = ImageSlot::A;
    install(
        folder.path(),
        slot,
        "4.9.0",
        &working_program(),
        TrialState::Proven,
    );
    let file = folder.path().join(program_file(slot));
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let stderr = fs::File::from(OwnedFd::from(writer));
    let clock = Clock::start_with_stderr(folder.path(), TRIAL, stderr);
    assert!(runs(&clock, "factory", false));
    let failure = firmware(&clock)["lastFailure"].to_string();
    assert!(failure.contains("cannot be started"), "{failure}");
}

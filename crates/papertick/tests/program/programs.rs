//! New programs in the slots: a working one stays, a failing one is rolled back, and a clock always runs.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::Path,
};

use rustix::process::{Pid, Signal, kill_process};
use semver::Version;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storage::disk::Folder;
use updates::{
    record::{self, program_file},
    slots::{Factory, ImageSlot, Installed, TrialState},
};

use crate::{
    clock::{Clock, PATIENCE, eventually, folder, is_alive},
    updating::UpdateRig,
};

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
        handovers: 0,
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

/// Waits until a supervisor has taken over and its device works.
pub(crate) fn wait_for_takeover(data_dir: &Path) {
    let path = data_dir.join("firmware.json");
    let is_settled = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        !text.is_empty() && !text.contains("\"handovers\":1")
    };
    eventually("the takeover is complete", is_settled);
}

fn runs(clock: &Clock, running: &str, is_trial: bool) -> bool {
    let firmware = firmware(clock);
    firmware["running"] == running && firmware["trial"] == is_trial
}

/// The script that a process runs, or else the program.
fn command_line(pid: Pid) -> String {
    let path = format!("/proc/{}/cmdline", pid.as_raw_nonzero());
    String::from_utf8(fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_new_program_is_on_trial_until_it_has_worked() {
    let folder = folder();
    install(
        folder.path(),
        ImageSlot::A,
        "4.9.0",
        &working_program(),
        NEW,
    );
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
    let (supervisor, device) = (clock.supervisor(), clock.device());
    eventually("the new program works", || runs(&clock, "a", false));
    assert_eq!(clock.device(), device, "the device was not restarted");
    assert!(!command_line(supervisor).contains("take-over"));
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("the new supervisor has taken over", || {
        command_line(supervisor).contains("take-over")
    });

    // The new supervisor has all functions.
    wait_for_takeover(folder.path());
    let device = clock.device();
    kill_process(device, Signal::KILL).unwrap();
    eventually("another device runs", || clock.device() != device);
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(notes.contains("an unexpected end, once so far"), "{notes}");
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("the new program answers", || runs(&clock, "a", false));
    let device = clock.device();
    let (status, took) = clock.end(Signal::TERM);
    assert!(
        status.success() && took < PATIENCE,
        "{status} after {took:?}"
    );
    assert!(!is_alive(device));

    // After a restart of the clock it starts directly.
    let clock = Clock::start_with(folder.path(), TRIAL);
    assert!(runs(&clock, "a", false));
    assert!(command_line(clock.supervisor()).contains("take-over"));
}

#[test]
fn a_failing_new_program_is_rolled_back() {
    for (program, reason) in [
        (with_device_script("exit 70"), "exit status: 70"),
        (with_device_script("exit 1"), "exit status: 1"),
        (with_device_script("kill -SEGV $$"), "signal: 11"),
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
    let folder = folder();
    install(
        folder.path(),
        ImageSlot::A,
        "4.9.0",
        &working_program(),
        NEW,
    );
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
fn a_failed_takeover_keeps_the_old_supervisor() {
    let own = env!("CARGO_BIN_EXE_papertick");
    for (program, expected) in [
        // The program reports that it cannot take over.
        (
            format!("#!/bin/sh\n[ $1 = take-over ] && exit 2\nexec {own} \"$@\"\n"),
            0,
        ),
        // The program reports that it can take over, and then crashes. The clock exits, but later starts work.
        (
            format!("#!/bin/sh\n[ \"$*\" = take-over ] && exit 1\nexec {own} \"$@\"\n"),
            3,
        ),
    ] {
        let folder = folder();
        install(
            folder.path(),
            ImageSlot::A,
            "4.9.0",
            &program,
            TrialState::Proven,
        );
        let mut broken = 0;
        let clock = loop {
            match Clock::try_start(folder.path()) {
                Some(clock) => break clock,
                None => broken += 1,
            }
            assert!(broken <= expected, "{broken}");
        };
        assert_eq!(broken, expected);
        assert!(
            runs(&clock, "a", false),
            "the device still runs from the slot"
        );
        assert!(!command_line(clock.supervisor()).contains("take-over"));
    }
}

/// A program that records its takeover attempts in a file.
fn counting(version: &str, takes_over: bool, counts: &Path) -> String {
    let own = env!("CARGO_BIN_EXE_papertick");
    let (counts, refusal) = (counts.display(), if takes_over { ":" } else { "exit 2" });
    format!(
        "#!/bin/sh\n[ \"$*\" = take-over ] && echo {version} >> {counts}\n[ \"$1\" = take-over ] && {refusal}\nexec {own} \"$@\"\n"
    )
}

/// The slot of the running supervisor may have a newer program.
#[test]
fn a_newer_program_in_the_same_slot_takes_over() {
    let rig = UpdateRig::new();
    let counts = rig.path().join("counts");
    let clock = rig.clock();
    for (version, takes_over) in [("4.7.0", true), ("4.8.0", false), ("4.9.0", true)] {
        let program = counting(version, takes_over, &counts);
        assert_eq!(clock.upload(&rig.image(version, &program)).status, 200);
        eventually("the new program runs", || {
            firmware(&clock)["version"] == version
        });
        eventually("the new program works", || {
            firmware(&clock)["trial"] == false
        });
        clock.send("POST", "/api/restart", "").unwrap();
        if takes_over {
            eventually("the new supervisor has taken over", || {
                fs::read_to_string(&counts)
                    .unwrap_or_default()
                    .contains(version)
            });
        }
    }
    assert_eq!(fs::read_to_string(&counts).unwrap(), "4.7.0\n4.9.0\n");
}

/// Standard error of the clock may not be read.
#[test]
fn a_failed_exec_keeps_the_old_supervisor() {
    let own = env!("CARGO_BIN_EXE_papertick");
    let folder = folder();
    let program = format!(
        "#!/bin/sh\n[ \"$2\" = --try-only ] && {{ chmod 600 \"$0\"; exit 0; }}\nexec {own} \"$@\"\n"
    );
    install(
        folder.path(),
        ImageSlot::A,
        "4.9.0",
        &program,
        TrialState::Proven,
    );
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let stderr = fs::File::from(OwnedFd::from(writer));
    let clock = Clock::start_with_stderr(folder.path(), TRIAL, stderr);
    assert!(runs(&clock, "factory", false));
    let failure = firmware(&clock)["lastFailure"].to_string();
    assert!(failure.contains("cannot be started"), "{failure}");
}

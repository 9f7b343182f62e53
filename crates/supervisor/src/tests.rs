//! The supervisor with shell scripts as devices.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{
    fs, net::TcpListener, os::unix::fs::symlink, path::Path, process::ExitCode, time::Duration,
};

use semver::Version;
use serde_json::json;
use sha2::{Digest, Sha256};
use storage::disk::Folder;
use tokio::time::sleep;
use updates::{
    record,
    slots::{EXECUTIONS_MAX, Factory, ImageSlot, Installed, Program, TrialState},
};

use crate::{
    config::{ClockConfig, OpaqueConfig},
    execution::Execution,
    limits::{LIMITS, SupervisorLimits},
    programs::{Installation, Programs},
    service_manager::Notifier,
    supervision::{SupervisedDevice, Supervisor, page},
};

fn clock(folder: &Path) -> ClockConfig {
    ClockConfig {
        data_dir: folder.to_path_buf(),
        label: "papertick",
        has_crash_dumps: false,
        last_refresh: Duration::ZERO,
        trial: None,
    }
}

/// A supervisor with short pauses whose device is a shell script; each start appends its configuration to `starts`.
fn supervisor(folder: &Path, script: &str) -> Supervisor {
    let program = folder.join("device.sh");
    let starts = folder.join("starts");
    let text = format!("echo \"$2\" >> {}\n{script}\n", starts.display());
    fs::write(folder.join("script"), text).unwrap();
    // A program that this process wrote could not be run while another test has just forked.
    let prepared = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/device.sh");
    let _ = fs::remove_file(&program);
    symlink(prepared, &program).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let installation = Installation {
        path: program,
        factory: Factory::own(),
    };
    let programs = Programs::new(folder.to_path_buf(), installation.clone());
    let own = Execution {
        program: Program::Factory,
        digest: None,
        installation,
    };
    let mut supervisor =
        Supervisor::new(listener, own, programs, clock(folder), json!({})).unwrap();
    supervisor.notifier = Notifier::default();
    // Long enough for a slow host.
    supervisor.limits = SupervisorLimits {
        beat: Duration::from_secs(60),
        stop: Duration::from_secs(60),
        pauses: [Duration::from_millis(10); 6],
        ..LIMITS
    };
    supervisor
}

/// Runs a supervisor until its device was started a number of times. Returns the configurations.
async fn starts(folder: &Path, supervisor: Supervisor, count: usize) -> Vec<OpaqueConfig> {
    tokio::select! {
        ended = supervisor.run() => panic!("it ended: {ended:?}"),
        () = started(folder, count) => {}
    }
    configurations(folder)
}

/// Waits until the device of a supervisor was started a number of times.
async fn started(folder: &Path, count: usize) {
    while configurations(folder).len() < count {
        sleep(Duration::from_millis(5)).await;
    }
}

fn configurations(folder: &Path) -> Vec<OpaqueConfig> {
    let text = fs::read_to_string(folder.join("starts")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Puts the script into the first slot, as a program of a version that is newer than the installed one.
fn install(folder: &Path, trial_state: TrialState) {
    let slot = ImageSlot::A;
    let file = folder.join(record::program_file(slot));
    let prepared = fs::canonicalize(folder.join("device.sh")).unwrap();
    let bytes = fs::read(&prepared).unwrap();
    // Written by another process, because a program that this process wrote could not be run while another test has just
    // forked.
    let copied = std::process::Command::new("cp")
        .args([&prepared, &file])
        .status();
    assert!(copied.unwrap().success());
    record::change(&mut Folder::new(folder), |slots| {
        let installed = Installed {
            version: Version::new(99, 0, 0),
            bytes: bytes.len() as u64,
            digest: Sha256::digest(&bytes).into(),
            factory_build: Factory::own().build,
            trial_state,
            executions: 0,
        };
        slots.activate(slot, installed);
    })
    .unwrap();
}

fn running(start: &OpaqueConfig) -> Program {
    start.firmware.as_ref().unwrap().running
}

#[tokio::test]
async fn a_device_on_trial_that_is_ended_from_outside_is_started_once_more() {
    let (own, factory) = (Program::Slot(ImageSlot::A), Program::Factory);
    for (signals, expected) in [
        ("kill -KILL $$", [own, own, factory]),
        ("kill -TERM $$", [own, own, factory]),
        // As `papertick device` does at a SIGTERM.
        ("exit 0", [own, own, factory]),
        ("kill -SEGV $$", [own, factory, factory]),
        ("exit 70", [own, factory, factory]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let supervisor = supervisor(folder.path(), &format!("echo ready; {signals}"));
        install(folder.path(), TrialState::Trial { starts: 0 });
        let starts = starts(folder.path(), supervisor, 3).await;
        let programs: Vec<Program> = starts[..3].iter().map(running).collect();
        assert_eq!(programs, expected, "{signals}");
        let slots = record::load(&mut Folder::new(folder.path()));
        let trial_state = slots.get(ImageSlot::A).unwrap().trial_state;
        assert_eq!(trial_state, TrialState::Failed, "{signals}");
    }
}

/// The configured time, the message of the device, and whether the device ends by itself.
#[tokio::test]
async fn a_device_whose_panels_refresh_has_longer_to_stop() {
    for (secs, ready, ends_by_itself) in [
        (0, "ready 2", false),
        (60, "ready 2", true),
        (0, "ready 2 60000", true),
        (60, "ready 2 0", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ended = folder.path().join("ended");
        let script = format!(
            "trap 'sleep 1; touch {}; exit 0' TERM; echo {ready}; while :; do sleep 0.01; done",
            ended.display()
        );
        let mut supervisor = supervisor(folder.path(), &script);
        supervisor.limits.stop = Duration::from_millis(100);
        supervisor.clock.last_refresh = Duration::from_secs(secs);
        let chosen = supervisor.programs.choose();
        let mut device = SupervisedDevice {
            process: supervisor.start(&chosen).unwrap(),
            chosen,
            cut: None,
            trial: None,
        };
        let message = device.process.messages.next().await;
        supervisor.handle(message, &mut device);
        supervisor.stop(&mut device.process).await;
        assert_eq!(ended.exists(), ends_by_itself, "{secs}, {ready}");
    }
}

#[test]
fn the_announced_address_works_in_a_browser() {
    let everywhere = "http://localhost:8080/ and port 8080 of every other address of this machine";
    for (place, expected) in [
        ("127.0.0.1:81", "http://127.0.0.1:81/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("0.0.0.0:8080", everywhere),
        ("[::]:8080", everywhere),
    ] {
        assert_eq!(page(place.parse().unwrap()), expected);
    }
}

#[tokio::test]
async fn a_device_that_makes_no_progress_is_killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = supervisor(folder.path(), "echo ready; exec sleep 1000");
    supervisor.limits.beat = Duration::from_millis(200);
    let starts = starts(folder.path(), supervisor, 2).await;
    assert_eq!((starts[0].crashes, starts[1].crashes), (0, 1));
    let note = starts[1].note.clone().unwrap();
    assert!(note.contains("no progress"), "{note}");
}

#[tokio::test]
async fn heartbeats_are_forwarded_to_the_service_manager() {
    let folder = tempfile::tempdir().unwrap();
    let beats = "echo ready; echo beat; echo beat; exit 70";
    let mut supervisor = supervisor(folder.path(), beats);
    let (notifier, manager) = Notifier::connected().unwrap();
    manager
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    supervisor.notifier = notifier;
    starts(folder.path(), supervisor, 2).await;
    let receive = || {
        let mut bytes = [0; 64];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let received = [receive(), receive(), receive()];
    assert_eq!(
        received,
        ["READY=1\nWATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"]
    );
}

#[tokio::test]
async fn a_device_that_cannot_be_started_is_tried_again_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("device.sh");
    let away = folder.path().join("away");
    // Its file is missing for a moment whenever it ends, as during an upgrade.
    let script = format!(
        "echo ready; mv {} {}; exit 75",
        program.display(),
        away.display()
    );
    let supervisor = supervisor(folder.path(), &script);
    let putting_back = async {
        loop {
            if away.exists() {
                sleep(Duration::from_millis(300)).await;
                fs::rename(&away, &program).unwrap();
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let starts = tokio::select! {
        starts = starts(folder.path(), supervisor, 3) => starts,
        () = putting_back => unreachable!(),
    };
    assert_eq!(starts[0].crashes, 0);
    // More failures than start safe mode.
    assert!(
        starts[2].crashes > LIMITS.failures as u64,
        "{:?}",
        starts[2]
    );
    assert_eq!(starts[2].safe_mode, None);
    let note = starts[2].note.clone().unwrap();
    assert!(note.contains("could not be started"), "{note}");
}

#[tokio::test]
async fn the_supervisor_ends_if_the_first_device_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = supervisor(folder.path(), "");
    fs::remove_file(folder.path().join("device.sh")).unwrap();
    let failure = supervisor.run().await.unwrap_err();
    assert!(failure.to_string().contains("did not start"), "{failure}");
}

#[tokio::test]
async fn a_requested_restart_is_not_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = supervisor(folder.path(), "echo ready; exit 75");
    let starts = starts(folder.path(), supervisor, 3).await;
    assert_eq!((starts[2].crashes, starts[2].note.clone()), (0, None));
}

/// With a service manager, a restart of the device starts the clock again if another program is to be executed.
#[tokio::test]
async fn a_restart_ends_the_supervisor_for_another_program() {
    let (trial, proven) = (TrialState::Trial { starts: 0 }, TrialState::Proven);
    let (own, factory) = (Program::Slot(ImageSlot::A), Program::Factory);
    // Service manager, program of this process and whether it is still in its slot, program in the slot, executions, end.
    for row in [
        (true, factory, true, Some(proven), 0, true),
        (true, factory, true, Some(proven), EXECUTIONS_MAX, false),
        (true, factory, true, Some(trial), 0, false),
        (true, own, true, Some(proven), 0, false),
        (true, own, false, Some(proven), 0, true),
        (true, own, true, None, 0, true),
        (false, factory, true, Some(proven), 0, false),
    ] {
        let (has_manager, program, is_current, slot, executions, ends) = row;
        let folder = tempfile::tempdir().unwrap();
        let mut supervisor = supervisor(folder.path(), "echo ready; exit 75");
        if let Some(trial_state) = slot {
            install(folder.path(), trial_state);
        }
        let slots = record::change(&mut Folder::new(folder.path()), |slots| {
            for _ in 0..executions {
                slots.count_execution(ImageSlot::A);
            }
        });
        let slots = slots.unwrap();
        let digest = slots.get(ImageSlot::A).map(|installed| installed.digest);
        supervisor.has_manager = has_manager;
        supervisor.own.program = program;
        supervisor.own.digest = digest
            .filter(|_| is_current && program != factory)
            .map(hex::encode);
        let code = tokio::select! {
            code = supervisor.run() => Some(code.unwrap()),
            () = started(folder.path(), 2) => None,
        };
        assert_eq!(code, ends.then_some(ExitCode::from(75)), "{row:?}");
    }
}

#[tokio::test]
async fn a_stuck_painter_restarts_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo ready; echo painter-stuck; exec sleep 1000";
    let starts = starts(folder.path(), supervisor(folder.path(), script), 2).await;
    let note = starts[1].note.clone().unwrap();
    assert!(note.contains("painter"), "{note}");
}

#[tokio::test]
async fn a_device_that_fails_again_and_again_runs_in_safe_mode() {
    for (script, what) in [
        ("exit 70", "before it was ready"),
        ("echo ready; exit 70", "after"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let safe = format!(
            "test $(wc -l < {}) -gt 3 && {{ echo ready; exec sleep 1000; }}; {script}",
            folder.path().join("starts").display()
        );
        let starts = starts(folder.path(), supervisor(folder.path(), &safe), 4).await;
        assert!(
            starts[..3].iter().all(|start| start.safe_mode.is_none()),
            "{what}"
        );
        let reason = starts[3].safe_mode.clone().unwrap();
        assert!(
            reason.contains("3 times") && reason.contains("70"),
            "{what}: {reason}"
        );
    }
}

/// Which of the first six devices run in safe mode if all fail, but the fourth runs another script.
async fn safe_but_for_the_fourth(
    fourth: &str,
    limits: impl FnOnce(&mut SupervisorLimits),
) -> Vec<bool> {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "echo ready; test $(wc -l < {}) = 4 && {fourth}; exit 70",
        folder.path().join("starts").display()
    );
    let mut supervisor = supervisor(folder.path(), &script);
    limits(&mut supervisor.limits);
    let starts = starts(folder.path(), supervisor, 6).await;
    let safe = starts.iter().map(|start| start.safe_mode.is_some());
    safe.take(6).collect()
}

#[tokio::test]
async fn safe_mode_ends_with_a_requested_restart() {
    let safe = safe_but_for_the_fourth("exit 75", |_| {}).await;
    assert_eq!(safe, [false, false, false, true, false, false]);
}

#[tokio::test]
async fn safe_mode_ends_by_itself_and_returns_at_the_next_failure() {
    let soon = |limits: &mut SupervisorLimits| limits.safe = Duration::from_millis(100);
    let safe = safe_but_for_the_fourth("exec sleep 1000", soon).await;
    assert_eq!(safe, [false, false, false, true, false, true]);
}

#[tokio::test]
async fn failures_with_a_long_life_between_them_are_not_in_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "echo ready; test $(wc -l < {}) = 3 && sleep 3; exit 70",
        folder.path().join("starts").display()
    );
    let mut supervisor = supervisor(folder.path(), &script);
    supervisor.limits.steady = Duration::from_secs(3);
    let starts = starts(folder.path(), supervisor, 6).await;
    let safe: Vec<bool> = starts
        .iter()
        .map(|start| start.safe_mode.is_some())
        .collect();
    assert_eq!(safe[..6], [false, false, false, false, false, true]);
    assert_eq!(starts[5].crashes, 5, "all are counted");
}

#[tokio::test]
async fn the_supervisor_ends_if_safe_mode_fails_and_no_device_was_ready() {
    let folder = tempfile::tempdir().unwrap();
    let failure = supervisor(folder.path(), "exit 70")
        .run()
        .await
        .unwrap_err();
    assert!(failure.to_string().contains("did not start"), "{failure}");
    let text = fs::read_to_string(folder.path().join("starts")).unwrap();
    assert_eq!(text.lines().count(), 4);
}

#[tokio::test]
async fn the_board_state_of_a_power_cut_is_passed_on_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "echo ready; test $(wc -l < {}) = 1 && echo power-cut 1 3200; exit 75",
        folder.path().join("starts").display()
    );
    let supervisor = supervisor(folder.path(), &script);
    let starts = starts(folder.path(), supervisor, 3).await;
    let carried: Vec<Option<&str>> = starts
        .iter()
        .map(|start| start.carried.as_deref())
        .collect();
    assert_eq!(carried[..3], [None, Some("1 3200"), None]);
}

//! Updates on disks that are full or do not allow to execute programs.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;
use updates::slots::{ImageSlot, TrialState};

use crate::{
    clock::{Clock, eventually, folder, papertick},
    needs,
    programs::{firmware, install, working_program},
    updating::{UpdateRig, facts, image_of, noise},
};

/// The program on a private disk in memory, prepared by a shell command.
fn on_a_disk(prepare: &str) -> Option<Command> {
    let is_possible = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "mount"])
        .args(["-t", "tmpfs", "none", "/tmp"])
        .stderr(Stdio::null())
        .status();
    let is_possible = is_possible.is_ok_and(|status| status.success());
    if !needs::met("a name space with mounts of its own (unshare)", is_possible) {
        return None;
    }
    let run = papertick(&["run"]);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-ec"])
        .arg(format!("{prepare}\nexec \"$@\""))
        .arg("sh")
        .arg(run.get_program())
        .args(run.get_args())
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default());
    Some(command)
}

/// Trusts the key of a rig on another disk.
fn trust(rig: &UpdateRig, command: &mut Command) {
    let key = rig.path().join("update-keys/ours.pub");
    command.arg("--update-key").arg(key);
}

fn mount(options: &str, place: &Path) -> String {
    format!("mount -t tmpfs -o {options} none '{}'", place.display())
}

fn refusal(clock: &Clock, image: &[u8]) -> (u16, Value) {
    let answer = clock.upload(image);
    (answer.status, answer.json())
}

#[test]
fn an_upload_that_fills_the_disk_is_removed() {
    let rig = UpdateRig::new();
    let place = folder();
    let Some(mut command) = on_a_disk(&mount("size=1m", place.path())) else {
        return;
    };
    trust(&rig, &mut command);
    let clock = Clock::start_as(&mut command, place.path());
    let before = clock.get("/api/status").json();
    let device = clock.device();
    let large = rig.signed(image_of(facts("4.9.0"), &noise(3 * 1024 * 1024)));
    // The image fits on the disk, but not its content.
    let compressible = rig.signed(image_of(facts("4.9.0"), &vec![0; 3 * 1024 * 1024]));
    for image in [large, compressible] {
        let (status, response) = refusal(&clock, &image);
        assert_eq!(
            (status, response["error"].as_str()),
            (500, Some("ESP_FAIL")),
            "{response}"
        );
        assert!(
            response["msg"].as_str().unwrap().contains("space"),
            "{response}"
        );
        let after = clock.get("/api/status").json();
        for member in ["mode", "data", "isOTAUpdating", "notes"] {
            assert_eq!(after[member], before[member], "{member}");
        }
        let stored = clock.patch(r#"{"digitFontPx": 203}"#);
        assert_eq!(stored.status, 200, "there is room again: {}", stored.body);
    }
    assert_eq!(clock.device(), device);
    assert_eq!(
        refusal(&clock, &rig.image("4.9.0", &working_program())).0,
        200,
        "an update that fits is accepted"
    );
    eventually("the new program runs", || {
        firmware(&clock)["version"] == "4.9.0"
    });
}

#[test]
fn a_disk_without_exec_refuses_programs() {
    let rig = UpdateRig::new();
    let place = folder();
    let Some(mut command) = on_a_disk(&mount("noexec", place.path())) else {
        return;
    };
    trust(&rig, &mut command);
    let clock = Clock::start_as(&mut command, place.path());
    let (status, response) = refusal(&clock, &rig.image("4.9.0", &working_program()));
    assert_eq!(
        (status, response["error"].as_str()),
        (500, Some("no ota partition")),
        "{response}"
    );
    assert!(
        response["msg"].as_str().unwrap().contains("noexec"),
        "{response}"
    );
    assert_eq!(firmware(&clock)["running"], "factory");
}

/// The disk was remounted without exec after the installation.
#[test]
fn a_program_that_can_no_longer_be_executed_is_replaced() {
    let before = folder();
    install(
        before.path(),
        ImageSlot::A,
        "4.9.0",
        &working_program(),
        TrialState::Proven,
    );
    let place = folder();
    let (disk, path) = (mount("mode=700", place.path()), place.path().display());
    let prepare = format!(
        "{disk}\ncp -a '{}/.' '{path}'\nmount -o remount,noexec '{path}'",
        before.path().display()
    );
    let Some(mut command) = on_a_disk(&prepare) else {
        return;
    };
    let clock = Clock::start_as(&mut command, place.path());
    let firmware = firmware(&clock);
    assert_eq!(firmware["running"], "factory", "{firmware}");
    let failure = firmware["lastFailure"].as_str().unwrap();
    assert!(
        failure.contains("4.9.0 was set aside") && failure.contains("cannot be started"),
        "{failure}"
    );
    assert_eq!(clock.get("/api/status").json()["safeMode"], Value::Null);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

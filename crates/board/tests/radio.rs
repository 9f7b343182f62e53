//! The simulated radio keeps the time and the manners of a real one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use board::{
    ports::{ProvisionError, Wifi},
    sim::{
        self, SimBoard, SimOptions,
        radio::{JOIN_TIME, REFUSE_TIME, RadioOptions, SEARCH_TIME, networks},
    },
    spec,
};
use device::{
    input::{LinkEvent, LinkFailure},
    secret::Secret,
};
use tempfile::TempDir;
use tokio::time::Instant;

const AIR: &str = r#"[
    {"ssid": "Home", "password": "correct horse", "rssi": -48},
    {"ssid": "Café", "rssi": -70},
    {"ssid": "Deaf", "password": "12345678", "fault": "timeout"},
    {"ssid": "Picky", "password": "12345678", "fault": "assoc_fail"}
]"#;

const LIMIT: Duration = Duration::from_secs(15);

/// A board with a radio, in a folder.
struct Desk {
    folder: TempDir,
    board: SimBoard,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("networks"), AIR).unwrap();
        Desk::on(folder)
    }

    /// Switches a board on that finds what is in the folder.
    fn on(folder: TempDir) -> Desk {
        let radio = RadioOptions {
            networks: folder.path().join("networks"),
            credentials: folder.path().join("wifi"),
            portal: "127.0.0.1:8080".to_string(),
        };
        let options = SimOptions {
            radio: Some(radio),
            ..SimOptions::default()
        };
        let board = sim::board(spec::find("rev-b").unwrap(), options);
        Desk { folder, board }
    }

    fn power_cycle(self) -> Desk {
        Desk::on(self.folder)
    }

    fn credentials(&self) -> PathBuf {
        self.folder.path().join("wifi")
    }

    async fn provision(&mut self, ssid: &str, password: &str) -> Result<(), ProvisionError> {
        let password = Secret::new(password);
        self.board.wifi.provision(ssid, &password, LIMIT).await
    }

    /// The next event but those of the transmit power.
    async fn event(&mut self) -> LinkEvent {
        loop {
            let event = self.board.wifi.event().await;
            if !matches!(event, LinkEvent::TxPower(_)) {
                return event;
            }
        }
    }
}

fn failed(failure: LinkFailure) -> Result<(), ProvisionError> {
    Err(ProvisionError::Failed(failure))
}

#[tokio::test(start_paused = true)]
async fn credentials_are_tried_and_only_right_ones_are_stored() {
    for (ssid, password, takes, outcome) in [
        ("Home", "wrong", REFUSE_TIME, failed(LinkFailure::Auth)),
        ("Home", "", REFUSE_TIME, failed(LinkFailure::Auth)),
        ("Nowhere", "x", SEARCH_TIME, failed(LinkFailure::NotFound)),
        ("Deaf", "12345678", LIMIT, failed(LinkFailure::Timeout)),
        (
            "Picky",
            "12345678",
            REFUSE_TIME,
            failed(LinkFailure::Association),
        ),
        ("Home", "correct horse", JOIN_TIME, Ok(())),
        ("Café", "", JOIN_TIME, Ok(())),
    ] {
        let mut desk = Desk::new();
        let begun = Instant::now();
        assert_eq!(desk.provision(ssid, password).await, outcome, "{ssid}");
        assert_eq!(begun.elapsed(), takes, "{ssid}");
        assert_eq!(desk.credentials().exists(), outcome.is_ok(), "{ssid}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_leaves_what_was_stored() {
    let mut desk = Desk::new();
    desk.provision("Home", "correct horse").await.unwrap();
    let before = fs::read(desk.credentials()).unwrap();
    assert!(desk.provision("Café", "wrong").await.is_err());
    assert_eq!(fs::read(desk.credentials()).unwrap(), before);
    let mode = fs::metadata(desk.credentials()).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[tokio::test(start_paused = true)]
async fn credentials_are_stored_after_a_power_cut_while_others_were() {
    let mut desk = Desk::new();
    let half = desk.credentials().with_extension("new");
    fs::write(&half, "{\"ssid\": \"Ho").unwrap();
    desk.provision("Home", "correct horse").await.unwrap();
    assert!(!half.exists());
    let mut desk = desk.power_cycle();
    assert_eq!(desk.event().await, LinkEvent::Credentials(true));
}

#[tokio::test(start_paused = true)]
async fn damaged_credentials_count_as_none() {
    for damaged in ["", "{", "[]", "{\"ssid\": 3}"] {
        let desk = Desk::new();
        fs::write(desk.credentials(), damaged).unwrap();
        let mut desk = desk.power_cycle();
        assert_eq!(desk.event().await, LinkEvent::Credentials(false));
    }
}

#[test]
fn files_of_networks_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("networks");
    for (text, outcome) in [
        (AIR, Ok(4)),
        ("[]", Ok(0)),
        (r#"{"networks": [{"ssid": "a"}]}"#, Ok(1)),
        (r#"[{"ssid": "a", "pw": "b", "signal": -3}]"#, Ok(1)),
        ("", Err("EOF")),
        ("{}", Err("list of networks")),
        (r#"[{"ssid": ""}]"#, Err("1 to 32 bytes")),
        (r#"[{"password": "x"}]"#, Err("ssid")),
        (r#"[{"ssid": "a", "colour": 3}]"#, Err("colour")),
        (r#"[{"ssid": "a", "fault": "moon"}]"#, Err("auth_fail")),
    ] {
        fs::write(&path, text).unwrap();
        match (networks(&path), outcome) {
            (Ok(list), Ok(count)) => assert_eq!(list.len(), count, "{text}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{text}: {error}"),
            (Ok(_), Err(_)) => panic!("{text} is accepted"),
            (Err(error), Ok(_)) => panic!("{text}: {error}"),
        }
    }
    assert!(networks(&folder.path().join("nothing")).is_err());
}

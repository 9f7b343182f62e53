//! The simulated radio has the timing and the results of a real one.
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

const NETWORKS: &str = r#"[
    {"ssid": "Home", "password": "correct horse", "rssi": -48},
    {"ssid": "Café", "rssi": -70},
    {"ssid": "Deaf", "password": "12345678", "fault": "timeout"},
    {"ssid": "Picky", "password": "12345678", "fault": "assoc_fail"}
]"#;

const LIMIT: Duration = Duration::from_secs(15);

/// A board with a simulated radio, and its folder.
struct TestBoard {
    folder: TempDir,
    board: SimBoard,
}

impl TestBoard {
    fn new() -> TestBoard {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("networks"), NETWORKS).unwrap();
        TestBoard::on(folder)
    }

    /// Starts a board with the content of a folder.
    fn on(folder: TempDir) -> TestBoard {
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
        TestBoard { folder, board }
    }

    fn power_cycle(self) -> TestBoard {
        TestBoard::on(self.folder)
    }

    fn credentials(&self) -> PathBuf {
        self.folder.path().join("wifi")
    }

    async fn provision(&mut self, ssid: &str, password: &str) -> Result<(), ProvisionError> {
        let password = Secret::new(password);
        let joined = self.board.wifi.provision(ssid, &password, LIMIT).await;
        joined.map(|_| ())
    }

    /// The next event, except those of the transmit power.
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
async fn only_correct_credentials_are_stored() {
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
        let mut board = TestBoard::new();
        let start = Instant::now();
        assert_eq!(board.provision(ssid, password).await, outcome, "{ssid}");
        assert_eq!(start.elapsed(), takes, "{ssid}");
        assert_eq!(board.credentials().exists(), outcome.is_ok(), "{ssid}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_keeps_the_stored_credentials() {
    let mut board = TestBoard::new();
    board.provision("Home", "correct horse").await.unwrap();
    let before = fs::read(board.credentials()).unwrap();
    assert!(board.provision("Café", "wrong").await.is_err());
    assert_eq!(fs::read(board.credentials()).unwrap(), before);
    let mode = fs::metadata(board.credentials()).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[tokio::test(start_paused = true)]
async fn credentials_can_be_stored_after_a_power_cut_during_a_save() {
    let mut board = TestBoard::new();
    let half = board.credentials().with_extension("new");
    fs::write(&half, "{\"ssid\": \"Ho").unwrap();
    board.provision("Home", "correct horse").await.unwrap();
    assert!(!half.exists());
    let mut board = board.power_cycle();
    assert_eq!(board.event().await, LinkEvent::Credentials(true));
}

#[tokio::test(start_paused = true)]
async fn damaged_credentials_count_as_none() {
    for damaged in ["", "{", "[]", "{\"ssid\": 3}"] {
        let board = TestBoard::new();
        fs::write(board.credentials(), damaged).unwrap();
        let mut board = board.power_cycle();
        assert_eq!(board.event().await, LinkEvent::Credentials(false));
    }
}

#[test]
fn files_of_networks_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("networks");
    for (text, outcome) in [
        (NETWORKS, Ok(4)),
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

//! A clock with a simulated radio: access point, portal, restart, network, and back.

use std::{fs, net::UdpSocket, path::PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::clock::{Answer, Clock, PATIENCE, eventually, folder};

const AIR: &str = r#"[{"ssid": "Home", "password": "correct horse", "rssi": -48}]"#;

/// A clock with a simulated radio, and its networks.
struct ProvisioningRig {
    folder: TempDir,
    clock: Clock,
}

impl ProvisioningRig {
    fn new() -> ProvisioningRig {
        ProvisioningRig::with(&[])
    }

    /// As `new`, with more arguments.
    fn with(arguments: &[&str]) -> ProvisioningRig {
        let folder = folder();
        let air = folder.path().join("air.json");
        fs::write(&air, AIR).unwrap();
        let air = ["--sim-networks", air.to_str().unwrap()];
        let arguments = [&air, arguments].concat();
        let clock = Clock::start_with(&folder.path().join("state"), &arguments);
        ProvisioningRig { folder, clock }
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        self.clock.send("POST", path, body).unwrap()
    }

    /// Sends a request to a clock that may be restarting.
    fn try_get(&self, path: &str) -> Option<Answer> {
        self.clock.send("GET", path, "").ok()
    }

    fn sim(&self) -> Value {
        self.try_get("/sim/state")
            .map_or(Value::Null, |answer| answer.json())
    }

    fn portal(&self) {
        eventually("the access point is up", || {
            self.sim()["access_point"].is_object()
        });
    }

    fn connected(&self) {
        eventually("the clock is connected", || {
            let answer = self
                .try_get("/api/status")
                .filter(|answer| answer.status == 200);
            answer.is_some_and(|answer| answer.json()["link"]["state"] == "connected")
        });
    }

    fn provision(&self) {
        self.portal();
        let body = r#"{"ssid":"Home","pw":"correct horse"}"#;
        assert_eq!(self.post("/save", body).status, 200);
        self.connected();
    }

    fn credentials(&self) -> PathBuf {
        self.folder.path().join("state/wifi")
    }
}

#[test]
fn a_new_clock_is_provisioned_and_reset() {
    let rig = ProvisioningRig::new();
    rig.portal();
    assert_eq!(rig.clock.get("/api/status").status, 404);
    let sim = rig.sim();
    let name = sim["access_point"]["ssid"].as_str().unwrap();
    assert!(name.starts_with("papertick-"), "{name}");
    let password = sim["access_point"]["password"].clone();
    assert!(rig.clock.get("/").body.contains("Home"));
    assert_eq!(rig.clock.get("/scan").json()[0]["ssid"], "Home");

    let wrong = rig.post("/save", r#"{"ssid":"Home","pw":"wrong"}"#);
    assert_eq!(
        (wrong.status, wrong.json()["code"].as_str()),
        (401, Some("auth_fail"))
    );
    let missing = rig.post("/save", r#"{"ssid":"Nowhere","pw":"x"}"#);
    assert_eq!(missing.status, 422);
    assert!(!rig.credentials().exists(), "nothing is stored on failure");

    rig.provision();
    let status = rig.clock.get("/api/status").json();
    assert_eq!(status["link"]["ssid"], "Home");
    assert_eq!(status["link"]["network"], "radio");
    assert_eq!(status["rssi"], -48);
    assert_eq!(rig.clock.setting("wifiConfigured"), true);
    assert_eq!(rig.clock.get("/").status, 200);
    assert_eq!(rig.clock.get("/scan").status, 404);

    // The network is forgotten, but the password of the access point stays.
    let hold = r#"{"action":"cycle","hold":[1],"ms":3200}"#;
    assert_eq!(rig.post("/sim/power", hold).status, 200);
    rig.portal();
    assert!(!rig.credentials().exists());
    assert_eq!(rig.sim()["access_point"]["password"], password);

    rig.provision();
    assert_eq!(
        rig.clock.setting("wifiConfigured"),
        true,
        "all else was kept"
    );
    let reset = rig.post("/api/factory_reset", r#"{"confirm":"factory_reset"}"#);
    assert_eq!(reset.status, 200);
    rig.portal();
    assert!(!rig.credentials().exists());
    assert_ne!(rig.sim()["access_point"]["password"], password);
}

#[test]
fn a_panel_is_chosen_in_the_portal() {
    let rig = ProvisioningRig::new();
    rig.portal();
    let body = r#"{"ssid":"Home","pw":"correct horse","display":"waveshare-7.5-v2"}"#;
    assert_eq!(rig.post("/save", body).status, 200);
    rig.connected();
    assert_eq!(rig.clock.setting("hasOnePanel"), true);

    // As after a later version.
    fs::write(rig.folder.path().join("state/panel"), "waveshare-7").unwrap();
    assert_eq!(rig.post("/api/restart", "").status, 200);
    eventually("the unknown choice is named", || {
        let status = rig.try_get("/api/status");
        status.is_some_and(|answer| answer.body.contains("this version does not know it"))
    });
    assert_eq!(rig.clock.setting("hasOnePanel"), false);

    let reset = rig.post("/api/factory_reset", r#"{"confirm":"factory_reset"}"#);
    assert_eq!(reset.status, 200);
    rig.portal();
    assert!(!rig.folder.path().join("state/panel").exists());
}

/// The address that the server answers for a name.
fn resolve(server: &str, name: &str) -> Vec<u8> {
    let mut question = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0".to_vec();
    for label in name.split('.') {
        question.push(u8::try_from(label.len()).unwrap());
        question.extend(label.bytes());
    }
    question.extend(b"\0\0\x01\0\x01");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(&question, server).unwrap();
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).unwrap();
    // The answer ends with the address.
    answer[length - 4..length].to_vec()
}

#[test]
fn all_names_resolve_to_the_portal_while_it_is_up() {
    let rig = ProvisioningRig::new();
    rig.portal();
    eventually("names are answered", || {
        rig.sim()["access_point"]["dns"].is_string()
    });
    let server = rig.sim()["access_point"]["dns"]
        .as_str()
        .unwrap()
        .to_string();
    for name in ["captive.apple.com", "connectivitycheck.gstatic.com", "a.b"] {
        assert_eq!(resolve(&server, name), [127, 0, 0, 1], "{name}");
    }
    rig.provision();
    UdpSocket::bind(&server).expect("the server has gone with the portal");
}

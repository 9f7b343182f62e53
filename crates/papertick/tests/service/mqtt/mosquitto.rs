//! A clock and Mosquitto: the documented access list, client certificates, a broker that restarts.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use device::settings::Settings;
use net::{dialer::Dialer, tls::Roots};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpStream, time::sleep};

use super::{OWN, Rig, settings};
use crate::needs;

/// Host name of the clock, which is also its user name.
const CLOCK: &str = "papertick-aabbcc";

/// The access list in docs/mqtt.md.
const ACCESS: &str = "\
user homeassistant
topic readwrite papertick/#
topic readwrite homeassistant/#

pattern readwrite papertick/%u/#
pattern read papertick/group/#
pattern write homeassistant/device/%u/config
pattern write homeassistant/time/%u/#
pattern read homeassistant/status
";

struct Broker {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ports that are tried.
const STARTS_MAX: usize = 5;

/// A port that is free at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Broker {
    /// A broker that is not started. `None` if a program is missing.
    fn new() -> Option<Broker> {
        let programs = [
            "mosquitto",
            "mosquitto_passwd",
            "mosquitto_pub",
            "mosquitto_sub",
        ];
        if !programs.iter().all(|name| needs::program(name).is_some()) {
            return None;
        }
        Some(Broker {
            folder: TempDir::new().unwrap(),
            port: free_port(),
            process: None,
        })
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn add_user(&self, user: &str) {
        let file = self.folder.path().join("passwd");
        let create: &[&str] = if file.exists() { &["-b"] } else { &["-b", "-c"] };
        let output = Command::new("mosquitto_passwd")
            .args(create)
            .arg(&file)
            .args([user, &format!("pass of {user}")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Starts it with these lines of configuration, in which `DIR` is its folder.
    async fn start(&mut self, lines: &str) {
        let folder = self.folder.path().display().to_string();
        let lines = lines.replace("DIR", &folder);
        for _ in 0..STARTS_MAX {
            // Without this it changes to a user that cannot read the folder.
            let text = format!(
                "user root\npersistence false\nlistener {} 127.0.0.1\n{lines}\n",
                self.port
            );
            self.write("mosquitto.conf", &text);
            if self.spawn().await {
                return;
            }
            self.port = free_port();
        }
        panic!("the broker does not start");
    }

    /// Starts it again on the same port.
    async fn restart(&mut self) {
        assert!(self.spawn().await, "the broker does not start again");
    }

    /// Starts the process and waits until it listens. Returns false if it exits, for example because its port is taken.
    #[expect(
        clippy::disallowed_methods,
        reason = "it only checks whether the port is open"
    )]
    async fn spawn(&mut self) -> bool {
        let process = Command::new("mosquitto")
            .arg("-c")
            .arg(self.folder.path().join("mosquitto.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let process = self.process.insert(process.unwrap());
        for _ in 0..200 {
            let listens = TcpStream::connect(("127.0.0.1", self.port)).await.is_ok();
            if process.try_wait().unwrap().is_some() {
                return false;
            }
            if listens {
                return true;
            }
            sleep(Duration::from_millis(50)).await;
        }
        false
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    fn client(&self, program: &str, user: &str) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(program);
        command.args([
            "-h",
            "127.0.0.1",
            "-p",
            &self.port.to_string(),
            "-V",
            "mqttv5",
        ]);
        command.args(["-u", user, "-P", &format!("pass of {user}")]);
        command
    }

    /// The retained or next message on a topic.
    async fn on(&self, topic: &str) -> Value {
        let output = self
            .client("mosquitto_sub", "homeassistant")
            .args(["-t", topic, "-C", "1", "-W", "20"])
            .output()
            .await
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = text.trim_end();
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    }

    async fn publish(&self, user: &str, topic: &str, payload: &str, more: &[&str]) {
        let output = self
            .client("mosquitto_pub", user)
            .args(["-t", topic, "-m", payload, "-q", "1"])
            .args(more)
            .output()
            .await
            .unwrap();
        drop(output);
    }
}

async fn clock(broker: &Broker, change: impl FnOnce(&mut Settings)) -> Rig {
    let mut settings = settings("127.0.0.1", broker.port);
    settings.mqtt_groups = "shop".into();
    change(&mut settings);
    Rig::new(Dialer::new(Roots::public()), settings).await
}

#[tokio::test]
async fn the_documented_access_list_is_sufficient() {
    let Some(mut broker) = Broker::new() else {
        return;
    };
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mqtt.md");
    assert!(
        fs::read_to_string(docs).unwrap().contains(ACCESS),
        "docs/mqtt.md has another access list"
    );
    broker.write("acl", ACCESS);
    for user in ["homeassistant", CLOCK, "papertick-ddeeff"] {
        broker.add_user(user);
    }
    broker
        .start("password_file DIR/passwd\nacl_file DIR/acl")
        .await;
    // Without the password the connection is refused.
    let rig = clock(&broker, |settings| settings.mqtt_user = CLOCK.into()).await;
    rig.wait_for_error("the broker refused the connection: not authorized")
        .await;
    rig.patch(json!({ "mqttPass": format!("pass of {CLOCK}") }))
        .await;
    rig.wait_until_up().await;

    let discovery = broker
        .on(&format!("homeassistant/device/{CLOCK}/config"))
        .await;
    assert_eq!(discovery["dev"]["ids"], json!([CLOCK]));
    let quiet = broker
        .on(&format!("homeassistant/time/{CLOCK}/quiet_from/config"))
        .await;
    assert_eq!(quiet["dev"]["ids"], json!([CLOCK]));
    assert_eq!(broker.on(&format!("{OWN}/status")).await, "online");
    assert_eq!(
        broker.on(&format!("{OWN}/info")).await["groups"],
        json!(["all", "shop"])
    );

    let set = |level: u32| format!(r#"{{"ledBrightness": {level}}}"#);
    broker
        .publish("homeassistant", &format!("{OWN}/set"), &set(11), &[])
        .await;
    rig.wait_for("set", |view| view.settings.stored.led_brightness == 11)
        .await;
    broker
        .publish("homeassistant", "papertick/group/shop/set", &set(12), &[])
        .await;
    rig.wait_for("set", |view| view.settings.stored.led_brightness == 12)
        .await;
    let document = format!(r#"{{"rev": "a", "settings": {}}}"#, set(13));
    broker
        .publish(
            "homeassistant",
            "papertick/group/all/desired",
            &document,
            &["-r"],
        )
        .await;
    rig.wait_for("applied", |view| view.settings.stored.led_brightness == 13)
        .await;
    // Another clock is not allowed to.
    broker
        .publish("papertick-ddeeff", &format!("{OWN}/set"), &set(99), &[])
        .await;
    broker
        .publish(
            "homeassistant",
            &format!("{OWN}/set"),
            r#"{"mowMode": true}"#,
            &[],
        )
        .await;
    let view = rig
        .wait_for("set", |view| view.settings.stored.mow_mode)
        .await;
    assert_eq!(view.settings.stored.led_brightness, 13);
    // Nothing that the clock needs was refused.
    assert_eq!(view.mqtt.as_ref().unwrap().last_error, None);
    rig.stop().await;
    assert_eq!(broker.on(&format!("{OWN}/status")).await, "offline");
}

#[tokio::test]
async fn client_certificates_work_and_the_clock_reconnects_after_a_restart() {
    let Some(mut broker) = Broker::new() else {
        return;
    };
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let issue = |name: &str, common: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, common);
        let certificate = params.signed_by(&key, &authority).unwrap();
        (certificate.pem(), key.serialize_pem())
    };
    let (server, server_key) = issue("127.0.0.1", "broker");
    let (own, own_key) = issue(CLOCK, CLOCK);
    broker.write("ca.pem", &authority.pem());
    broker.write("server.pem", &server);
    broker.write("server.key", &server_key);
    broker.write("acl", ACCESS);
    let lines = "cafile DIR/ca.pem\ncertfile DIR/server.pem\nkeyfile DIR/server.key\nrequire_certificate true\n\
                 use_identity_as_username true\nacl_file DIR/acl";
    broker.start(lines).await;

    let rig = clock(&broker, |settings| settings.mqtt_tls = true).await;
    rig.wait_for_error("UnknownIssuer").await;
    // Without line breaks, as an input field delivers it.
    let one_line = |pem: &str| pem.replace('\n', " ");
    rig.patch(json!({ "mqttCa": one_line(&authority.pem()) }))
        .await;
    rig.wait_for("without a certificate", |view| {
        view.mqtt.as_ref().is_some_and(|state| {
            let error = state.last_error.as_deref();
            let is_unknown = error.is_some_and(|error| error.contains("UnknownIssuer"));
            !state.up && state.next_try.is_some() && !is_unknown
        })
    })
    .await;
    rig.patch(json!({ "mqttCert": one_line(&own), "mqttKey": one_line(&own_key) }))
        .await;
    rig.wait_until_up().await;

    broker.kill();
    rig.wait_for("down", |view| {
        view.mqtt.as_ref().is_some_and(|state| !state.up)
    })
    .await;
    broker.restart().await;
    rig.wait_until_up().await;
    let output = tokio::process::Command::new("mosquitto_sub")
        .args([
            "-h",
            "127.0.0.1",
            "-p",
            &broker.port.to_string(),
            "-t",
            &format!("{OWN}/status"),
            "-C",
            "1",
            "-W",
            "20",
        ])
        .args(tls_of(broker.folder.path(), &own, &own_key))
        .output()
        .await
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "online",
        "{output:?}"
    );
    rig.stop().await;
}

/// Command-line options for a client certificate.
fn tls_of(folder: &Path, certificate: &str, key: &str) -> Vec<String> {
    fs::write(folder.join("own.pem"), certificate).unwrap();
    fs::write(folder.join("own.key"), key).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    [
        "--cafile",
        &file("ca.pem"),
        "--cert",
        &file("own.pem"),
        "--key",
        &file("own.key"),
    ]
    .map(ToString::to_string)
    .into()
}

//! A clock and a real broker: with an access list as the documents have it, with certificates, killed and started again.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use device::settings::Settings;
use net::{dialer::Dialer, tls::Roots};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    net::TcpStream,
    process::ChildStdout,
    time::{sleep, timeout},
};

use super::{OWN, PATIENCE, Rig, settings};
use crate::needs;

/// The name of the clock at its broker.
const CLOCK: &str = "papertick-aabbcc";

/// The access list of the documents.
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

/// A broker that runs.
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

/// A port that nobody has just now.
fn free_port() -> u16 {
    let ear = TcpListener::bind("127.0.0.1:0").unwrap();
    ear.local_addr().unwrap().port()
}

impl Broker {
    /// A folder for one; none where a program is missing.
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

    fn password(&self, user: &str) {
        let file = self.folder.path().join("passwd");
        let create: &[&str] = if file.exists() {
            &["-b"]
        } else {
            &["-b", "-c"]
        };
        let made = Command::new("mosquitto_passwd")
            .args(create)
            .arg(&file)
            .args([user, &format!("pass of {user}")])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    /// Starts it with these lines of its configuration, in which `DIR` is its folder.
    async fn start(&mut self, lines: &str) {
        let folder = self.folder.path().display().to_string();
        let lines = lines.replace("DIR", &folder);
        for _ in 0..STARTS_MAX {
            // It would else become a user who cannot read the folder.
            let text = format!(
                "user root\npersistence false\nlistener {} 127.0.0.1\n{lines}\n",
                self.port
            );
            self.write("mosquitto.conf", &text);
            if self.comes_up().await {
                return;
            }
            self.port = free_port();
        }
        panic!("the broker does not come up");
    }

    /// Starts it again, where it was.
    async fn go(&mut self) {
        assert!(self.comes_up().await, "the broker does not come up again");
    }

    /// Starts it; false if it ends at once, as it does where somebody else took its port first.
    #[expect(clippy::disallowed_methods, reason = "only to see whether it listens")]
    async fn comes_up(&mut self) -> bool {
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

    /// What stands on a topic, or comes soon.
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
async fn a_clock_has_what_the_access_list_of_the_documents_gives_it() {
    let Some(mut broker) = Broker::new() else {
        return;
    };
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mqtt.md");
    assert!(
        fs::read_to_string(docs).unwrap().contains(ACCESS),
        "the documents have another list"
    );
    broker.write("acl", ACCESS);
    for user in ["homeassistant", CLOCK, "papertick-ddeeff"] {
        broker.password(user);
    }
    broker
        .start("password_file DIR/passwd\nacl_file DIR/acl")
        .await;
    // Who is not known is not let in, and the clock says so.
    let rig = clock(&broker, |settings| settings.mqtt_user = CLOCK.into()).await;
    let is_refused = |view: &device::view::View| {
        let state = view.mqtt.as_ref();
        state.is_some_and(|state| {
            state
                .last_error
                .as_deref()
                .is_some_and(|error| error.contains("the broker refused: not authorized"))
        })
    };
    rig.until("refused", is_refused).await;
    rig.set(json!({ "mqttPass": format!("pass of {CLOCK}") }))
        .await;
    rig.up().await;

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
    rig.until("set", |view| view.settings.led_brightness == 11)
        .await;
    broker
        .publish("homeassistant", "papertick/group/shop/set", &set(12), &[])
        .await;
    rig.until("set", |view| view.settings.led_brightness == 12)
        .await;
    let wish = format!(r#"{{"rev": "a", "settings": {}}}"#, set(13));
    broker
        .publish(
            "homeassistant",
            "papertick/group/all/desired",
            &wish,
            &["-r"],
        )
        .await;
    rig.until("fulfilled", |view| view.settings.led_brightness == 13)
        .await;
    // Another clock may not.
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
    let view = rig.until("set", |view| view.settings.mow_mode).await;
    assert_eq!(view.settings.led_brightness, 13);
    // The list gives all that the clock asks for.
    assert_eq!(view.mqtt.as_ref().unwrap().last_error, None);
    rig.stop().await;
    assert_eq!(broker.on(&format!("{OWN}/status")).await, "offline");
}

#[tokio::test]
async fn certificates_are_looked_at_and_shown_and_a_broker_that_was_killed_is_found_again() {
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
    let says = |words: &'static str| {
        move |view: &device::view::View| {
            let state = view.mqtt.as_ref();
            state.is_some_and(|state| {
                state
                    .last_error
                    .as_deref()
                    .is_some_and(|error| error.contains(words))
            })
        }
    };
    rig.until("distrusted", says("UnknownIssuer")).await;
    // Without line breaks, as they come out of a form.
    let one_line = |pem: &str| pem.replace('\n', " ");
    rig.set(json!({ "mqttCa": one_line(&authority.pem()) }))
        .await;
    rig.until("without a certificate", |view| {
        view.mqtt
            .as_ref()
            .is_some_and(|state| !state.up && state.next_try.is_some())
            && !says("UnknownIssuer")(view)
    })
    .await;
    rig.set(json!({ "mqttCert": one_line(&own), "mqttKey": one_line(&own_key) }))
        .await;
    rig.up().await;

    broker.kill();
    rig.until("down", |view| {
        view.mqtt.as_ref().is_some_and(|state| !state.up)
    })
    .await;
    broker.go().await;
    rig.up().await;
    let told = tokio::process::Command::new("mosquitto_sub")
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
        String::from_utf8_lossy(&told.stdout).trim(),
        "online",
        "{told:?}"
    );
    rig.stop().await;
}

/// Somebody who listens already, and what the clock answers as he hears it.
async fn answers(broker: &Broker) -> (tokio::process::Child, Lines<BufReader<ChildStdout>>) {
    let mut listener = broker
        .client("mosquitto_sub", "homeassistant")
        .args(["-t", &format!("{OWN}/result"), "-q", "1", "-W", "60"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(listener.stdout.take().unwrap()).lines();
    let topic = format!("{OWN}/cmd/screen/next");
    loop {
        broker.publish("homeassistant", &topic, "", &[]).await;
        if let Ok(line) = timeout(Duration::from_millis(300), lines.next_line()).await {
            line.unwrap().expect("nobody listens");
            return (listener, lines);
        }
    }
}

#[tokio::test]
async fn what_is_wrong_is_answered_in_the_words_of_http_and_changes_nothing() {
    let Some(mut broker) = Broker::new() else {
        return;
    };
    broker.start("allow_anonymous true").await;
    let rig = clock(&broker, |_| {}).await;
    rig.up().await;
    let (_listener, mut answers) = answers(&broker).await;
    let before = Arc::clone(&rig.view().settings);
    let large = format!(r#"{{"id": 4, "poolWorker": "{}"}}"#, "x".repeat(17_000));
    for (topic, payload, flags, id, expected) in [
        ("cmd/show/txt", r#"{"id": 1}"#, &[][..], 1, "404 not found"),
        (
            "set",
            r#"{"ledBrightness": "x", "id": 2}"#,
            &[],
            2,
            "400 ledBrightness:bad_type",
        ),
        (
            "set",
            r#"{"ledBrightness": 999, "id": 3}"#,
            &[],
            3,
            "400 range:ledBrightness",
        ),
        ("set", &large, &[], 4, "413 too large"),
        (
            "cmd/show/text",
            r#"{"t": "HODL", "id": 5}"#,
            &["-r"],
            5,
            "409 retained",
        ),
        (
            "../group/all/cmd/factory_reset",
            r#"{"confirm": "factory_reset", "id": 6}"#,
            &[],
            6,
            "403 not for groups",
        ),
    ] {
        let topic = match topic.strip_prefix("../") {
            Some(topic) => format!("papertick/{topic}"),
            None => format!("{OWN}/{topic}"),
        };
        broker
            .publish("homeassistant", &topic, payload, flags)
            .await;
        let answer: Value = loop {
            let line = timeout(PATIENCE, answers.next_line()).await;
            let line = line.expect("no answer").unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            // Somebody may have asked for the next screen once more.
            if answer["id"] == id {
                break answer;
            }
        };
        let error = answer["error"].as_str().unwrap_or_default();
        assert_eq!(format!("{} {error}", answer["status"]), expected);
    }
    let reported = format!("{OWN}/reported");
    for (wish, rev, error) in [
        (
            r#"{"rev": "b", "settings": {"mqttPass": "planted", "mowMode": true}}"#,
            "b",
            "mqttPass:secret",
        ),
        (
            r#"{"rev": "c", "settings": {"ledBrightness": 5, "mqttPort": -1}}"#,
            "c",
            "range:mqttPort",
        ),
    ] {
        let topic = format!("{OWN}/desired");
        broker.publish("homeassistant", &topic, wish, &["-r"]).await;
        let told = async {
            loop {
                let told = broker.on(&reported).await;
                if told["error"] == error {
                    return told;
                }
            }
        };
        let told = timeout(PATIENCE, told).await.expect(error);
        assert_eq!(
            (&told["rev"], &told["applied"]),
            (&json!(rev), &json!(false))
        );
    }
    // Nobody listens to what is no topic of a clock.
    let foreign = format!("{OWN}/other/set");
    let change = r#"{"ledBrightness": 77}"#;
    broker.publish("homeassistant", &foreign, change, &[]).await;
    for (reason, count) in [("refused", 4), ("retained", 1), ("too-large", 1)] {
        rig.dropped(reason, count).await;
    }
    let view = rig.view();
    let (now, then) = (&view.settings, &before);
    assert_eq!(
        (now.led_brightness, now.mow_mode, now.mqtt_port),
        (then.led_brightness, then.mow_mode, then.mqtt_port)
    );
    assert_eq!(now.mqtt_pass, then.mqtt_pass);
    assert_ne!(view.mode, "custom");
    rig.stop().await;
}

/// Flags that show a certificate.
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

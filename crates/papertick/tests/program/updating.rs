//! Updates over HTTP: accepted and refused images, and the running clock meanwhile.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use feeds::image::{
    ImageFacts, ImageKind, Packed,
    page::{Manifest, Page},
};
use minisign::KeyPair;
use rustix::process::{Signal, kill_process};
use semver::Version;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    clock::{Answer, Clock, PATIENCE, eventually, folder, resident},
    programs::{firmware, with_device_script, working_program},
};

/// A clock that trusts one key, and the secret key.
pub(crate) struct UpdateRig {
    pub(crate) folder: tempfile::TempDir,
    pair: KeyPair,
}

impl UpdateRig {
    pub(crate) fn new() -> UpdateRig {
        let folder = folder();
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        let keys = folder.path().join("update-keys");
        fs::create_dir(&keys).unwrap();
        fs::write(keys.join("ours.pub"), pair.pk.to_box().unwrap().to_string()).unwrap();
        UpdateRig { folder, pair }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A clock with build facts, which are needed to check for releases.
    pub(crate) fn clock(&self) -> Clock {
        let clock = Clock::start_with(self.path(), &["--trial-seconds", "1"]);
        eventually("the clock knows its hardware address", || {
            let settings = clock.get("/api/settings").json();
            !settings["hostname"].as_str().unwrap().ends_with("-000000")
        });
        clock
    }

    /// The image with a signature.
    pub(crate) fn signed(&self, image: Vec<u8>) -> Vec<u8> {
        signed(image, &self.pair)
    }

    pub(crate) fn image(&self, version: &str, program: &str) -> Vec<u8> {
        self.signed(image_of(facts(version), program.as_bytes()))
    }
}

fn signed(mut image: Vec<u8>, pair: &KeyPair) -> Vec<u8> {
    let signature = minisign::sign(Some(&pair.pk), &pair.sk, image.as_slice(), None, None);
    image.extend(signature.unwrap().into_string().into_bytes());
    image
}

pub(crate) fn facts(version: &str) -> ImageFacts {
    ImageFacts {
        kind: ImageKind::Firmware,
        build_time: 0,
        board: "rev-b".to_string(),
        panel: "122x250".to_string(),
        target: updates::build::BuildFacts::own().target,
        version: Version::parse(version).unwrap(),
        commit: String::new(),
    }
}

pub(crate) fn image_of(facts: ImageFacts, content: &[u8]) -> Vec<u8> {
    Packed::new(content).image(facts).unwrap()
}

fn page(commit: &str, min_firmware: &str) -> Vec<u8> {
    let manifest = json!({ "commit": commit, "buildTime": 7, "minFirmware": min_firmware });
    let manifest = manifest.to_string().into_bytes();
    let page = Page {
        manifest: Manifest::parse(&manifest).unwrap(),
        files: [
            ("manifest.json", manifest),
            ("index.html", b"another page".to_vec()),
            ("assets/a.js", b"let a;".to_vec()),
        ]
        .map(|(name, content)| (name.to_string(), content))
        .into(),
    };
    let facts = ImageFacts {
        kind: ImageKind::Page,
        board: String::new(),
        panel: String::new(),
        target: String::new(),
        ..facts("4.0.0")
    };
    image_of(facts, &page.write().unwrap())
}

impl Clock {
    /// Sends a binary body.
    pub(crate) fn post(&self, path: &str, headers: &str, body: &[u8]) -> Answer {
        self.begin(path, headers, body.len(), body).answer()
    }

    /// Sends the head of a request and the start of its body.
    pub(crate) fn begin(
        &self,
        path: &str,
        headers: &str,
        length: usize,
        body: &[u8],
    ) -> PendingRequest {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The response may arrive before the whole body is sent.
        let _ = stream.write_all(body);
        PendingRequest(stream)
    }

    pub(crate) fn upload(&self, image: &[u8]) -> Answer {
        self.post("/upload/firmware", "", image)
    }
}

/// A request whose response was not read yet.
pub(crate) struct PendingRequest(pub(crate) TcpStream);

impl PendingRequest {
    pub(crate) fn answer(mut self) -> Answer {
        let mut bytes = Vec::new();
        // After an early response the connection may be reset.
        let _ = self.0.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        Answer {
            status: head.split_whitespace().nth(1).unwrap().parse().unwrap(),
            body: body.to_string(),
        }
    }
}

fn form(name: &str, image: &[u8]) -> (String, Vec<u8>) {
    let before = format!(
        "--abc\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--abc\r\nContent-Disposition: form-data; \
         name=\"{name}\"; filename=\"x.img\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    );
    let body = [before.as_bytes(), image, b"\r\n--abc--\r\n"].concat();
    let header = "Content-Type: multipart/form-data; boundary=abc\r\n".to_string();
    (header, body)
}

#[test]
fn two_updates_and_a_rollback() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    clock.patch(r#"{"digitFontPx": 201}"#);
    let supervisor = clock.supervisor();
    for (version, slot, path, field) in [
        ("4.8.0", "a", "/upload/firmware", None),
        ("4.9.0", "b", "/upload/firmware?sha256=", Some("file")),
        (
            "4.8.1",
            "a",
            "/upload/firmware?downgrade=true",
            Some("firmware"),
        ),
    ] {
        let image = rig.image(version, &working_program());
        let digest = hex::encode_upper(Sha256::digest(&image));
        let path = path.replace("sha256=", &format!("sha256={digest}"));
        let (header, body) = match field {
            Some(name) => form(name, &image),
            None => (String::new(), image.clone()),
        };
        let answer = clock.post(&path, &header, &body);
        assert_eq!(answer.status, 200, "{version}: {}", answer.body);
        assert_eq!(
            answer.json(),
            json!({ "result": "ok", "bytes": image.len() })
        );
        eventually("the new program runs and works", || {
            let Ok(answer) = clock.send("GET", "/api/system/status", "") else {
                return false;
            };
            let firmware = &answer.json()["firmware"];
            firmware["version"] == version && firmware["trial"] == false
        });
        assert_eq!(firmware(&clock)["running"], slot);
        assert_eq!(clock.setting("digitFontPx"), 201);
    }
    // With the same version number as before.
    assert_eq!(clock.supervisor(), supervisor);
    let notes = clock.get("/api/status").json()["notes"].clone();
    assert_eq!(notes, json!([]));
    let (status, took) = clock.end(Signal::TERM);
    assert!(
        status.success() && took < PATIENCE,
        "{status} after {took:?}"
    );
}

#[test]
fn during_a_trial_the_previous_program_is_not_replaced() {
    let rig = UpdateRig::new();
    let long_trial = ["--trial-seconds", "3600"];
    let clock = Clock::start_with(rig.path(), &long_trial);
    let image = rig.image("4.8.0", &working_program());
    assert_eq!(clock.upload(&image).status, 200);
    eventually("the new program runs", || {
        firmware(&clock)["version"] == "4.8.0"
    });
    let answer = clock.upload(&rig.image("4.9.0", &working_program()));
    assert_eq!(answer.status, 503, "{}", answer.body);
    let response = answer.json();
    assert_eq!(response["error"], "ESP_ERR_INVALID_STATE");
    let message = response["msg"].as_str().unwrap();
    assert!(
        message.contains("4.8.0") && message.contains("try again"),
        "{message}"
    );
    assert_eq!(firmware(&clock)["version"], "4.8.0");
}

#[test]
fn refused_images_change_nothing() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    let untrusted_key = KeyPair::generate_unencrypted_keypair().unwrap();
    let program = working_program();
    let good = rig.image("4.9.0", &program);
    let with = |change: fn(&mut ImageFacts)| {
        let mut facts = facts("4.9.0");
        change(&mut facts);
        rig.signed(image_of(facts, program.as_bytes()))
    };
    let unsigned = image_of(facts("4.9.0"), program.as_bytes());
    let mut forged = good.clone();
    let at = forged.len() - 40;
    forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
    let mut corrupted = good.clone();
    corrupted[530] ^= 1;
    let (header, broken_form) = form("file", &good);
    let half_form = &broken_form[..broken_form.len() - 20];
    let (_, other_form) = form("picture", &good);
    let other = "0".repeat(64);
    let invalid = "ESP_ERR_OTA_VALIDATE_FAILED";
    let cut = good[..good.len() / 3].to_vec();
    let a_page = rig.signed(page("x", "4.0.0"));
    let signed_by_untrusted_key = signed(unsigned.clone(), &untrusted_key);
    let images = [
        (with(|f| f.board = "v8".into()), invalid, "board v8"),
        (with(|f| f.panel = "9x9".into()), invalid, "panels of 9x9"),
        (with(|f| f.target = "z80".into()), invalid, "z80"),
        (with(|f| f.version.major = 3), invalid, "downgrade=true"),
        (unsigned, invalid, "not signed"),
        (signed_by_untrusted_key, invalid, "none of these keys"),
        (forged, invalid, "sign"),
        (corrupted, invalid, "changed after it was signed"),
        (vec![b'x'; 2000], invalid, "not a papertick image"),
        (cut, "ESP_ERR_INVALID_SIZE", "cut off"),
        (a_page, invalid, "/upload/webui"),
    ];
    let images = images
        .into_iter()
        .map(|(image, error, part)| (String::new(), "", image, 500, error, part));
    let mut rows: Vec<_> = images.collect();
    let sha256 = "sha256 mismatch";
    rows.extend([
        (
            format!("?sha256={other}"),
            "",
            good.clone(),
            400,
            sha256,
            "",
        ),
        ("?sha256=abc".into(), "", good.clone(), 400, sha256, ""),
        (
            String::new(),
            &header,
            half_form.to_vec(),
            500,
            "ESP_FAIL",
            "interrupted",
        ),
        (
            String::new(),
            &header,
            other_form,
            500,
            invalid,
            "named file",
        ),
        (
            String::new(),
            "",
            Vec::new(),
            411,
            "content-length required",
            "",
        ),
    ]);
    let before = clock.get("/api/status").json();
    let device = clock.device();
    for (query, headers, body, status, error, part) in rows {
        let what = format!("{error} {part}");
        let answer = clock.post(&format!("/upload/firmware{query}"), headers, &body);
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        let response = answer.json();
        assert_eq!(response["error"], error, "{what}: {response}");
        let message = response["msg"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{what}: {response}");
        let after = clock.get("/api/status").json();
        for member in ["mode", "data", "timerRunning", "isOTAUpdating", "notes"] {
            assert_eq!(after[member], before[member], "{what}: {member}");
        }
        let left: Vec<String> = fs::read_dir(rig.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".part") || name.starts_with("firmware-"))
            .collect();
        assert_eq!(left, Vec::<String>::new(), "{what}");
    }
    // The size alone is a reason.
    let sending = clock.begin("/upload/firmware", "", 100 * 1024 * 1024, b"");
    let answer = sending.answer();
    assert_eq!(
        (answer.status, answer.json()),
        (413, json!({ "error": "oversize", "max": 64 * 1024 * 1024 }))
    );
    assert_eq!(clock.device(), device, "the device was not restarted");
    assert_eq!(clock.upload(&good).status, 200, "a valid image is accepted");
}

#[test]
fn one_update_at_a_time_and_an_aborted_one_is_cleaned_up() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    let mut image = image_of(facts("4.9.0"), &noise(2 * 1024 * 1024));
    image = rig.signed(image);
    let half = &image[..image.len() / 2];
    let first = clock.begin("/upload/firmware", "", image.len(), half);
    eventually("the panels show the update", || {
        let status = clock.get("/api/status").json();
        status["isOTAUpdating"] == true && status["mode"] == "update"
    });
    let progress = || clock.get("/api/status").json()["data"].to_string();
    eventually("the panels show the progress", || progress().contains('%'));
    let second = clock.upload(&image);
    assert_eq!(
        (second.status, second.json()),
        (503, json!({ "msg": "Update already in progress" }))
    );
    let lights = clock.get("/sim/state").json()["lights"].to_string();
    drop(first);
    eventually("the upload is aborted", || {
        let status = clock.get("/api/status").json();
        status["isOTAUpdating"] == false && status["mode"] != "update"
    });
    assert_eq!(firmware(&clock)["running"], "factory", "{lights}");

    // A restart aborts it too.
    let device = clock.device();
    let cut = clock.begin("/upload/firmware", "", image.len(), half);
    eventually("the upload has started", || {
        clock.get("/api/status").json()["isOTAUpdating"] == true
    });
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("another device runs", || clock.device() != device);
    eventually("the clock answers again", || {
        clock.get("/api/status").json()["isOTAUpdating"] == false
    });
    drop(cut);
    assert!(!rig.path().join("update.part").exists());
    assert_eq!(
        clock.upload(&rig.image("4.9.0", &working_program())).status,
        200
    );
    eventually("the new program runs", || {
        firmware(&clock)["version"] == "4.9.0"
    });
}

/// The text of the panels after the label.
fn text_of(data: &Value) -> String {
    let panels = data.as_array().unwrap().iter().skip(1);
    panels.map(|panel| panel.as_str().unwrap()).collect()
}

#[test]
fn panels_and_leds_show_the_progress_of_an_update() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    clock.patch(r#"{"ledBrightness": 255}"#);
    // Larger than all buffers between two processes.
    let program = [
        working_program().as_bytes(),
        b"\nexit\n",
        &noise(4 * 1024 * 1024),
    ]
    .concat();
    let image = rig.signed(image_of(facts("4.9.0"), &program));
    let (first, rest) = image.split_at(image.len() * 6 / 10);
    let mut sending = clock.begin("/upload/firmware", "", image.len(), first);
    eventually("more than half was received", || {
        let shown = text_of(&clock.get("/api/status").json()["data"]);
        ["59%", "60%"].contains(&shown.trim())
    });
    let green = |lit: usize| -> Value {
        let pixel = |index| if index < lit { "#00FF00" } else { "#000000" };
        (0..4).map(pixel).collect()
    };
    let leds = || clock.get("/sim/state").json()["leds"].clone();
    eventually("the LEDs show the progress", || leds() == green(3));
    sending.0.write_all(rest).unwrap();
    assert_eq!(sending.answer().status, 200);
    eventually("the new program runs", || {
        firmware(&clock)["version"] == "4.9.0"
    });
}

/// Bytes that cannot be compressed.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(next).collect()
}

#[test]
fn no_key_is_trusted_by_default() {
    let rig = UpdateRig::new();
    let key = rig.path().join("update-keys/ours.pub");
    let key_folder = folder();
    let moved = key_folder.path().join("k.pub");
    fs::rename(&key, &moved).unwrap();
    let image = rig.image("4.9.0", &working_program());
    let unsigned = image_of(facts("4.9.0"), working_program().as_bytes());
    let clock = rig.clock();
    let answer = clock.upload(&image);
    let response = answer.json();
    let message = response["msg"].as_str().unwrap();
    assert_eq!(answer.status, 503, "{response}");
    assert!(
        message.contains("update-keys") && message.contains("--update-key"),
        "{response}"
    );
    clock.end(Signal::TERM);

    let named = ["--update-key", moved.to_str().unwrap()];
    let clock = Clock::start_with(rig.path(), &named);
    assert_eq!(clock.upload(&unsigned).status, 500);
    assert_eq!(firmware(&clock)["signed"], true);
    assert_eq!(firmware(&clock)["keys"], 1);
    assert_eq!(clock.upload(&image).status, 200);
    clock.end(Signal::TERM);

    let own = folder();
    let clock = Clock::start_with(own.path(), &["--unsigned-updates"]);
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(notes.contains("--unsigned-updates"), "{notes}");
    assert_eq!(firmware(&clock)["signed"], false);
    let older = image_of(facts("3.0.0"), working_program().as_bytes());
    let answer = clock.post("/upload/firmware?downgrade=true", "", &older);
    assert_eq!(
        answer.status, 500,
        "going back needs a signature: {}",
        answer.body
    );
    assert_eq!(clock.upload(&unsigned).status, 200);
}

/// Otherwise a client of the interface could replace the trusted keys.
#[test]
fn a_factory_reset_keeps_update_keys_and_the_program() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    assert_eq!(
        clock.upload(&rig.image("4.8.0", &working_program())).status,
        200
    );
    eventually("the new program works", || {
        let firmware = firmware(&clock);
        firmware["version"] == "4.8.0" && firmware["trial"] == false
    });
    clock.patch(r#"{"digitFontPx": 201}"#);
    let device = clock.device();
    let key = rig.path().join("update-keys/ours.pub");
    let before = fs::read(&key).unwrap();
    let reset = r#"{"confirm":"factory_reset"}"#;
    let answer = clock.send("POST", "/api/factory_reset", reset).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    eventually("another device runs", || clock.device() != device);
    assert_ne!(clock.setting("digitFontPx"), 201, "it was reset");
    assert_eq!(fs::read(&key).unwrap(), before);
    assert_eq!(firmware(&clock)["version"], "4.8.0");
    assert_eq!(firmware(&clock)["signed"], true);
    let unsigned = image_of(facts("4.9.0"), working_program().as_bytes());
    assert_eq!(clock.upload(&unsigned).status, 500);
    assert_eq!(
        clock.upload(&rig.image("4.9.0", &working_program())).status,
        200
    );
}

#[test]
fn a_page_is_served_at_once_and_only_with_compatible_firmware() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    let device = clock.device();
    let own = clock.get("/").body;
    let settings = clock.get("/api/settings").json();
    assert_eq!(settings["fsRev"], settings["gitRev"]);
    let refused = clock.post("/upload/webui", "", &rig.signed(page("new", "4.7.0")));
    let response = refused.json();
    assert_eq!(refused.status, 500, "{response}");
    assert!(
        response["msg"]
            .as_str()
            .unwrap()
            .contains("update the firmware first"),
        "{response}"
    );
    assert_eq!(clock.get("/").body, own);

    let image = rig.signed(page("new", "4.0.0"));
    let (header, body) = form("webui", &image);
    let third = clock.post("/upload/webui", "", &image[..image.len() / 3]);
    let end = body.len() - 20;
    let broken = clock.post("/upload/webui", &header, &body[..end]);
    for cut in [third, broken] {
        let word = cut.json()["error"].clone();
        assert_eq!((cut.status, word), (500, "truncated upload".into()));
    }
    assert_eq!(clock.get("/").body, own);
    let answer = clock.post("/upload/webui", &header, &body);
    assert_eq!(
        answer.json(),
        json!({ "result": "ok", "bytes": image.len() })
    );
    let served = |clock: &Clock| {
        let manifest = clock.get("/manifest.json").json();
        (
            clock.get("/").body,
            clock.get("/assets/a.js").body,
            manifest["commit"].clone(),
            clock.setting("fsRev"),
        )
    };
    let expected = (
        "another page".to_string(),
        "let a;".to_string(),
        Value::from("new"),
        Value::from("new"),
    );
    assert_eq!(served(&clock), expected);
    assert_eq!(clock.device(), device, "the device was not restarted");
    assert_eq!(clock.get("/api/status").json()["isOTAUpdating"], false);
    assert_eq!(
        clock.get("/docs").status,
        200,
        "the documentation still comes from the program"
    );
    clock.end(Signal::TERM);

    let clock = rig.clock();
    assert_eq!(served(&clock), expected);
    // Newer firmware, a page for it, and then a rollback of the firmware.
    let newer = clock.upload(&rig.image("4.9.0", &working_program()));
    assert_eq!(newer.status, 200);
    eventually("the new program runs", || {
        firmware(&clock)["version"] == "4.9.0"
    });
    assert_eq!(served(&clock), expected, "an older page");
    eventually("the new program works", || {
        firmware(&clock)["trial"] == false
    });
    let image = rig.signed(page("newest", "4.9.0"));
    assert_eq!(clock.post("/upload/webui", "", &image).status, 200);
    assert_eq!(clock.setting("fsRev"), "newest");
    let older = rig.image("4.5.0", &working_program());
    let answer = clock.post("/upload/firmware?downgrade=1", "", &older);
    assert_eq!(answer.status, 200, "{}", answer.body);
    eventually("the new program runs", || {
        firmware(&clock)["version"] == "4.5.0"
    });
    assert_eq!(clock.get("/").body, own, "the page inside the program");
    let settings = clock.get("/api/settings").json();
    assert_eq!(settings["fsRev"], settings["gitRev"]);
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(notes.contains("needs firmware 4.9.0"), "{notes}");
}

/// Serves files on loopback until the test ends; `/moved/` redirects to the same name without it.
pub(crate) fn serve(files: Vec<(String, Vec<u8>)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let path = head.split_whitespace().nth(1).unwrap_or_default();
            let found = files.iter().find(|(name, _)| path == format!("/{name}"));
            let answer = match (path.strip_prefix("/moved/"), found) {
                (Some(rest), _) => format!("302 Found\r\nLocation: /{rest}"),
                (None, Some(_)) => "200 OK".to_string(),
                (None, None) => "404 Not Found".to_string(),
            };
            let body = found.map_or(&[][..], |(_, body)| body);
            let head = format!(
                "HTTP/1.1 {answer}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    address
}

#[test]
fn a_clock_updates_itself_from_a_feed() {
    let rig = UpdateRig::new();
    let image = rig.image("4.9.0", &working_program());
    let target = updates::build::BuildFacts::own().target;
    let name = format!("papertick-rev-b-122x250-{target}.img");
    let digest = hex::encode(Sha256::digest(&image));
    let list = |tag: &str, name: &str| {
        let assets = json!([
            { "name": name, "browser_download_url": format!("moved/{name}") },
            { "name": format!("{name}.sha256"), "browser_download_url": format!("{name}.sha256") },
        ]);
        json!({ "tag_name": tag, "assets": assets })
            .to_string()
            .into_bytes()
    };
    let named = |name: &str, body: Vec<u8>| (name.to_string(), body);
    let place = serve(vec![
        named("new", list("v4.9.0", &name)),
        named("old", list("v4.0.0", &name)),
        named("other", list("v4.9.0", "papertick-rev-z.img")),
        named("wrong", list("v4.9.1", &name)),
        named("none", b"<html>".to_vec()),
        named(&name, image.clone()),
        named(
            &format!("{name}.sha256"),
            format!("{digest}  {name}\n").into_bytes(),
        ),
    ]);
    let clock = rig.clock();
    let device = clock.device();
    let update = || clock.send("POST", "/api/firmware/auto_update", "").unwrap();
    let unset = update();
    assert_eq!(
        (unset.status, unset.json()["error"].as_str()),
        (500, Some("ESP_ERR_INVALID_ARG"))
    );
    let from = |list: &str| {
        clock.patch(&format!(r#"{{"gitReleaseUrl": "http://{place}/{list}"}}"#));
        let answer = update();
        assert_eq!(
            (answer.status, answer.json()),
            (200, json!({ "msg": "Firmware update triggered" })),
            "{list}"
        );
    };
    let fails = |list: &str, why: &str| {
        from(list);
        eventually(why, || {
            firmware(&clock)["lastFailure"].to_string().contains(why)
        });
    };
    fails(
        "nowhere",
        "cannot fetch the list: the server responded with status 404",
    );
    fails("other", "the release has no file papertick-rev-b");
    eventually("the release is not installed", || {
        let seen = clock.get("/api/system/status").json()["release"].clone();
        seen["why"] == "no-image" && seen["taken"] == false
    });
    fails("wrong", "it is version 4.9.0, but the list says 4.9.1");
    fails("none", "the list is malformed");
    // No newer release is no failure.
    from("old");
    eventually("the list was read", || {
        let seen = clock.get("/api/system/status").json()["release"].clone();
        seen["version"] == "4.0.0" && seen["taken"] == false
    });
    let failure = firmware(&clock)["lastFailure"].to_string();
    assert!(failure.contains("the list is malformed"), "{failure}");
    assert_eq!(clock.device(), device);
    from("new");
    eventually("the new program runs", || {
        let answer = clock.send("GET", "/api/system/status", "");
        answer.is_ok_and(|answer| answer.json()["firmware"]["version"] == "4.9.0")
    });
    eventually("the new program works", || {
        let firmware = firmware(&clock);
        firmware["trial"] == false && firmware["lastFailure"] == Value::Null
    });
}

#[test]
fn a_clock_killed_during_an_update_runs_the_old_or_the_new_program() {
    let kills = std::env::var("PAPERTICK_TEST_KILLS").ok();
    let kills = kills.map_or(8, |text| text.parse().unwrap());
    let rig = UpdateRig::new();
    let mut clock = rig.clock();
    let mut running = 1;
    for round in 0..kills {
        let new = running + 1;
        let image = rig.image(&format!("4.{new}.0"), &working_program());
        let pause = Duration::from_millis(round * 37 % 700);
        let half = image.len() / 2;
        let mut sending = clock.begin("/upload/firmware", "", image.len(), &image[..half]);
        if round % 4 != 0 {
            sending.0.write_all(&image[half..]).unwrap();
        }
        thread::sleep(pause);
        clock.kill_at_once();
        let started = Instant::now();
        clock = rig.clock();
        let firmware_status = firmware(&clock);
        let version = Version::parse(firmware_status["version"].as_str().unwrap()).unwrap();
        let is_old = version.minor == running || running == 1 && version.minor == 0;
        assert!(is_old || version.minor == new, "{round}: {firmware_status}");
        assert_eq!(firmware_status["lastFailure"], Value::Null, "{round}");
        assert!(started.elapsed() < PATIENCE);
        if version.minor == new {
            running = new;
            eventually("the new program works", || {
                firmware(&clock)["trial"] == false
            });
        }
    }
    let (supervisor, device) = (clock.supervisor(), clock.device());
    let _ = (
        kill_process(device, Signal::KILL),
        supervisor,
        resident(supervisor),
    );
    eventually("the device is restarted", || clock.device() != device);
    let broken = with_device_script("exit 70");
    assert_eq!(clock.upload(&rig.image("4.999.0", &broken)).status, 200);
    eventually("the program is rolled back", || {
        let Ok(answer) = clock.send("GET", "/api/system/status", "") else {
            return false;
        };
        answer.json()["firmware"]["lastFailure"]
            .to_string()
            .contains("4.999.0")
    });
}

//! Outbound connections of the program.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    time::Duration,
};

use chain::{chain::Chain, network::Network};
use device::memory::Memory;
use feeds::p2p;
use market::{ChainSpec, now::Now};
use papertick::chain_file;
use serde_json::{Value, json};
use storage::{Store, StoredFile, disk::Folder};
use tokio_rustls::rustls::{ServerConnection, Stream};

use crate::{
    authority::authority,
    clock::{Clock, PATIENCE, eventually, folder, papertick},
    greeting::{announced, greeting},
    miner::Miner,
};

/// The first connection.
fn accepted(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut stream = None;
    eventually("a client connects", || {
        stream = listener.accept().ok();
        stream.is_some()
    });
    let (stream, _) = stream.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The next message of the Bitcoin protocol.
fn message(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = [0; p2p::HEAD_BYTES];
    stream.read_exact(&mut head).unwrap();
    let (name, length) = announced(&head);
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).unwrap();
    (name, payload)
}

#[test]
fn a_clock_starts_with_stored_chain_and_peers() {
    let folder = folder();
    let (listener, port) = listener();
    let (network, miner) = (Network::Regtest, Miner::with(3));
    let spec = ChainSpec::built_in(network);
    let mut chain = Chain::new(network, spec.anchor);
    chain.accept(&miner.headers[1..], None).unwrap();
    let memory = Memory {
        peers: vec![format!("127.0.0.1:{port}")],
        ..Memory::default()
    };
    let (mut store, _) = Store::open(Box::new(Folder::new(folder.path())));
    let content = chain_file::content(&spec, &chain);
    store.save(StoredFile::Chain, &content).unwrap();
    let now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    let memory = memory.to_json(now);
    store.save(StoredFile::Memory, &memory).unwrap();

    let _clock = Clock::start_with(folder.path(), &["--chain", "regtest"]);
    let mut stream = accepted(&listener);
    let (name, version) = message(&mut stream);
    assert_eq!(name, "version");
    stream.write_all(&greeting(network, version)).unwrap();
    let request = loop {
        let (name, payload) = message(&mut stream);
        if name == "getheaders" {
            break payload;
        }
    };
    // The locator starts before the newest block, so that a peer without newer blocks also answers.
    let before = miner.headers[2].block_hash();
    let expected = p2p::encode_getheaders(network, &[before]);
    let first = 5..5 + 32;
    assert_eq!(request[first.clone()], expected[p2p::HEAD_BYTES..][first]);
}

#[test]
fn a_clock_connects_to_a_broker_with_a_custom_ca() {
    /// First byte of a CONNECT packet.
    const CONNECT: u8 = 0x10;

    for is_tls in [false, true] {
        let folder = folder();
        let (listener, port) = listener();
        let authority = authority(&["localhost"]);
        let file = folder.path().join("ca.pem");
        fs::write(&file, &authority.root_pem).unwrap();
        let arguments = ["--ca-file", file.to_str().unwrap()];
        let clock = Clock::start_with(&folder.path().join("data"), &arguments);
        let settings = json!({
            "mqttEnabled": true, "mqttHost": "localhost", "mqttPort": port, "mqttTls": is_tls,
        });
        assert_eq!(clock.patch(&settings.to_string()).status, 200);
        let mut stream = accepted(&listener);
        let mut first = [0];
        if is_tls {
            let config = Arc::clone(authority.acceptor.config());
            let mut server = ServerConnection::new(config).unwrap();
            let mut stream = Stream::new(&mut server, &mut stream);
            stream.read_exact(&mut first).unwrap();
        } else {
            stream.read_exact(&mut first).unwrap();
        }
        assert_eq!(first, [CONNECT], "{is_tls}");
    }
}

#[test]
fn a_damaged_ca_file_does_not_prevent_the_start() {
    let folder = folder();
    let file = folder.path().join("ca.pem");
    fs::write(&file, authority(&["localhost"]).root_pem).unwrap();
    let arguments = ["--ca-file", file.to_str().unwrap()];
    let clock = Clock::start_with(&folder.path().join("data"), &arguments);
    fs::write(&file, "nothing of use").unwrap();
    let before = clock.device();
    assert_eq!(clock.send("POST", "/api/restart", "").unwrap().status, 200);
    eventually("another device", || clock.device() != before);
    let notes = clock.get("/api/status").json()["notes"].to_string();
    assert!(notes.contains("ca.pem"), "{notes}");
}

#[test]
fn a_clock_queries_the_time_server_and_a_demo_does_not() {
    let last_error =
        |clock: &Clock| clock.get("/api/status").json()["timeServer"]["lastError"].clone();
    let folder = folder();
    let clock = Clock::start(&folder.path().join("clock"));
    eventually("the clock has queried the time server", || {
        last_error(&clock).is_string()
    });

    // By then the first clock has queried the time.
    let demo = Clock::start_as(&mut papertick(&["demo"]), &folder.path().join("demo"));
    eventually("the demo has tried to connect to the relay", || {
        demo.get("/api/status").json()["sources"]["relay"]["lastError"].is_string()
    });
    assert_eq!(last_error(&demo), Value::Null);
    let history = demo.get("/api/history?currency=EUR").json();
    assert_eq!(history["values"].as_array().unwrap().len(), 145);
}

#[test]
fn allowed_origins_may_control_the_clock() {
    let folder = folder();
    let clock = Clock::start_with(folder.path(), &["--allow-origin", "http://home.example"]);
    for (origin, status) in [("home", 200), ("evil", 403)] {
        let header = format!("Origin: http://{origin}.example\r\n");
        let answer = clock.send_with("POST", "/api/full_refresh", &header);
        assert_eq!(answer.unwrap().status, status, "{origin}");
    }
}

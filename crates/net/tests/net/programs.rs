//! Connections through real proxies, if installed: tinyproxy, microsocks and Dante.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use device::{
    secret::Secret,
    sources::{Proxy, ProxyKind, Route},
};
use net::{
    dialer::{ConnectFailure, DialError, Dialer},
    http::{self, Get, HttpError, RequestLimits},
    proxy::ProxyFailure,
    tls::Roots,
    url::Url,
};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{self, Instant},
};

use crate::{needs, peers::answer_on};

const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(10),
    body_max: 1024,
};

/// Longest start of a proxy on a slow machine.
const START_MAX: Duration = Duration::from_secs(20);

/// Ports that are tried.
const STARTS_MAX: usize = 5;

/// A proxy process, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a proxy on a free port; if another process takes the port, the next one is tried.
async fn start(command: impl Fn(u16) -> Command) -> (Running, u16) {
    for _ in 0..STARTS_MAX {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let child = command(port)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut running = Running(child.unwrap());
        let place = (Ipv4Addr::LOCALHOST, port);
        let start_time = Instant::now();
        while running.0.try_wait().unwrap().is_none() {
            if TcpStream::connect(place).await.is_ok() {
                return (running, port);
            }
            assert!(
                start_time.elapsed() < START_MAX,
                "{:?} does not listen",
                command(port)
            );
            time::sleep(Duration::from_millis(10)).await;
        }
    }
    panic!("{:?} ends at once", command(0));
}

fn route(kind: ProxyKind, port: u16, user: &str, pass: &str) -> Route {
    let proxy = Proxy {
        kind,
        host: "127.0.0.1".into(),
        port,
        user: user.to_owned(),
        pass: Secret::new(pass),
        bypass: String::new(),
    };
    Route { proxy: Some(proxy) }
}

async fn fetch(route: &Route) -> Result<(), HttpError> {
    let target = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address: SocketAddr = target.local_addr().unwrap();
    let serve = tokio::spawn(async move {
        let (stream, _) = target.accept().await.unwrap();
        answer_on(stream, "200 OK", b"hello").await
    });
    let url = Url::parse(&format!("http://localhost:{}/x", address.port())).unwrap();
    let dialer = Dialer::new(Roots::public());
    let answer = http::get(&dialer, route, Get::new(url), LIMITS).await;
    serve.abort();
    assert_eq!(answer?.body, "hello");
    assert_eq!(dialer.counts().proxied, 1);
    Ok(())
}

fn refusal(fetched: Result<(), HttpError>) -> ProxyFailure {
    match fetched {
        Err(HttpError::Dial(DialError {
            failure: ConnectFailure::Proxy(refusal),
            ..
        })) => refusal,
        other => panic!("it was not refused: {other:?}"),
    }
}

#[tokio::test]
async fn microsocks_carries_socks5() {
    let Some(program) = needs::program("microsocks") else {
        return;
    };
    let microsocks = |port: u16| {
        let mut command = Command::new(&program);
        command.args(["-i", "127.0.0.1", "-p", &port.to_string()]);
        command
    };
    let (open, port) = start(microsocks).await;
    fetch(&route(ProxyKind::Socks5, port, "", ""))
        .await
        .unwrap();
    drop(open);
    let (_guarded, port) = start(|port| {
        let mut command = microsocks(port);
        command.args(["-u", "alice", "-P", "hunter2"]);
        command
    })
    .await;
    fetch(&route(ProxyKind::Socks5, port, "alice", "hunter2"))
        .await
        .unwrap();
    let refused = fetch(&route(ProxyKind::Socks5, port, "alice", "wrong")).await;
    assert_eq!(refusal(refused), ProxyFailure::LoginRefused);
    let refused = fetch(&route(ProxyKind::Socks5, port, "", "")).await;
    assert_eq!(refusal(refused), ProxyFailure::NoMethod);
}

#[tokio::test]
async fn tinyproxy_carries_http_connect() {
    let Some(program) = needs::program("tinyproxy") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (_running, port) = start(|port| {
        let file = folder.path().join("tinyproxy.conf");
        let rules = format!("Port {port}\nListen 127.0.0.1\nBasicAuth alice hunter2\n");
        fs::write(&file, rules).unwrap();
        let mut command = Command::new(&program);
        command.arg("-d").arg("-c").arg(&file);
        command
    })
    .await;
    fetch(&route(ProxyKind::HttpConnect, port, "alice", "hunter2"))
        .await
        .unwrap();
    let refused = fetch(&route(ProxyKind::HttpConnect, port, "alice", "wrong")).await;
    assert!([ProxyFailure::LoginRefused, ProxyFailure::Status(401)].contains(&refusal(refused)));
    let refused = fetch(&route(ProxyKind::HttpConnect, port, "", "")).await;
    assert_eq!(refusal(refused), ProxyFailure::LoginWanted);
}

fn dante(folder: &Path, port: u16) -> PathBuf {
    let file = folder.join("danted.conf");
    let rules = format!(
        "logoutput: stderr\ninternal: 127.0.0.1 port = {port}\nexternal: 127.0.0.1\n\
         socksmethod: none\nclientmethod: none\n\
         client pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}\n\
         socks pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}\n"
    );
    fs::write(&file, rules).unwrap();
    file
}

#[tokio::test]
async fn dante_carries_socks4_and_socks5() {
    let Some(program) = needs::program("danted") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (_running, port) = start(|port| {
        let mut command = Command::new(&program);
        command.arg("-f").arg(dante(folder.path(), port));
        command
    })
    .await;
    // Dante treats the marker address of a SOCKS4a request as a real one.
    for kind in [ProxyKind::Socks4, ProxyKind::Socks5] {
        let fetched = fetch(&route(kind, port, "", "")).await;
        assert!(fetched.is_ok(), "{kind:?}: {fetched:?}");
    }
}

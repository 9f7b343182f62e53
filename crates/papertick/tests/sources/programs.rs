//! The way out through proxies that people run, where they are installed: tinyproxy, microsocks and
//! Dante.

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
use papertick::net::{
    dialer::{DialError, Dialer, Failure},
    http::{self, Get, HttpError, Limits},
    proxy::Refusal,
    tls::Roots,
    url::Url,
};
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};

use crate::rig::answer_on;

const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    body_max: 1024,
};

/// A proxy in a process of its own, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file());
    if found.is_none() {
        eprintln!("{program} is not installed; nothing is tested with it");
    }
    found
}

async fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    listener.local_addr().unwrap().port()
}

async fn start(command: &mut Command, port: u16) -> Running {
    let running = Running(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    for _ in 0..100 {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .is_ok()
        {
            return running;
        }
        time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{command:?} does not listen");
}

fn route(kind: ProxyKind, port: u16, user: &str, pass: &str) -> Route {
    let proxy = Proxy {
        kind,
        host: "127.0.0.1".to_owned(),
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

fn refusal(fetched: Result<(), HttpError>) -> Refusal {
    match fetched {
        Err(HttpError::Dial(DialError {
            failure: Failure::Proxy(refusal),
            ..
        })) => refusal,
        other => panic!("it was not refused: {other:?}"),
    }
}

#[tokio::test]
async fn microsocks_carries_socks5() {
    let Some(program) = installed("microsocks") else {
        return;
    };
    let port = free_port().await;
    let text = port.to_string();
    let base = ["-i", "127.0.0.1", "-p", &text];
    let open = start(Command::new(&program).args(base), port).await;
    fetch(&route(ProxyKind::Socks5, port, "", ""))
        .await
        .unwrap();
    drop(open);
    let port = free_port().await;
    let text = port.to_string();
    let base = [
        "-i",
        "127.0.0.1",
        "-p",
        &text,
        "-u",
        "alice",
        "-P",
        "hunter2",
    ];
    let _guarded = start(Command::new(&program).args(base), port).await;
    fetch(&route(ProxyKind::Socks5, port, "alice", "hunter2"))
        .await
        .unwrap();
    let refused = fetch(&route(ProxyKind::Socks5, port, "alice", "wrong")).await;
    assert_eq!(refusal(refused), Refusal::LoginRefused);
    let refused = fetch(&route(ProxyKind::Socks5, port, "", "")).await;
    assert_eq!(refusal(refused), Refusal::NoMethod);
}

#[tokio::test]
async fn tinyproxy_carries_http_connect() {
    let Some(program) = installed("tinyproxy") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tinyproxy.conf");
    let port = free_port().await;
    fs::write(
        &file,
        format!("Port {port}\nListen 127.0.0.1\nBasicAuth alice hunter2\n"),
    )
    .unwrap();
    let _running = start(Command::new(program).arg("-d").arg("-c").arg(&file), port).await;
    fetch(&route(ProxyKind::HttpConnect, port, "alice", "hunter2"))
        .await
        .unwrap();
    let refused = fetch(&route(ProxyKind::HttpConnect, port, "alice", "wrong")).await;
    assert!([Refusal::LoginRefused, Refusal::Status(401)].contains(&refusal(refused)));
    let refused = fetch(&route(ProxyKind::HttpConnect, port, "", "")).await;
    assert_eq!(refusal(refused), Refusal::LoginWanted);
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
    let Some(program) = installed("danted") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let port = free_port().await;
    let file = dante(folder.path(), port);
    let _running = start(Command::new(program).arg("-f").arg(&file), port).await;
    // It takes the address that marks a SOCKS4a request for a real one.
    for kind in [ProxyKind::Socks4, ProxyKind::Socks5] {
        let fetched = fetch(&route(kind, port, "", "")).await;
        assert!(fetched.is_ok(), "{kind:?}: {fetched:?}");
    }
}

//! Connections through all kinds of proxies: bytes, names, certificates, and errors that name a step.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use device::{
    secret::Secret,
    sources::{Proxy, ProxyKind, Route},
};
use futures_util::FutureExt;
use net::{
    dialer::{BoxedStream, Destination, DialCounts, DialError, Dialer, TransportSecurity},
    http::{self, Get, RequestLimits},
    proxy_use::ProxyUse,
    resolver::NameService,
    tls::Roots,
    url::Url,
    ws::{Policy, WebSocket, WsMessage},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::mpsc,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::{accept_async, tungstenite::Message};

use crate::{
    authority::authority,
    peers::{answer_on, expect},
};

const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(10),
    body_max: 1024,
};
pub const POLICY: Policy = Policy {
    message_max: 1024,
    ping_every: Duration::from_secs(20),
    pong_timeout: Duration::from_secs(15),
};

fn proxy(kind: ProxyKind, port: u16, user: &str, pass: &str) -> Proxy {
    Proxy {
        kind,
        host: "127.0.0.1".into(),
        port,
        user: user.to_owned(),
        pass: Secret::new(pass),
        bypass: String::new(),
    }
}

fn through(proxy: Proxy) -> Route {
    Route { proxy: Some(proxy) }
}

/// Checks every byte that a client sends for a destination, and accepts.
async fn agree<S>(client: &mut S, proxy: &Proxy, host: &str, port: u16)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (user, pass) = (proxy.user.as_str(), proxy.pass.expose());
    match proxy.kind {
        ProxyKind::HttpConnect => {
            let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
            if !user.is_empty() {
                let login = BASE64_STANDARD.encode(format!("{user}:{pass}"));
                request += &format!("Proxy-Authorization: Basic {login}\r\n");
            }
            expect(client, (request + "\r\n").as_bytes()).await;
            let reply = b"HTTP/1.1 299 Connection established\r\nServer: 3proxy/0.9\r\n\r\n";
            client.write_all(reply).await.unwrap();
        }
        ProxyKind::Socks4 => {
            let request = [&[4, 1][..], &port.to_be_bytes(), &[127, 0, 0, 1, 0]].concat();
            expect(client, &request).await;
            client
                .write_all(&[0, 0x5A, 9, 9, 9, 9, 9, 9])
                .await
                .unwrap();
        }
        ProxyKind::Socks4a => {
            let address = [0, 0, 0, 1, 0];
            let request = [
                &[4, 1][..],
                &port.to_be_bytes(),
                &address,
                host.as_bytes(),
                &[0],
            ]
            .concat();
            expect(client, &request).await;
            client
                .write_all(&[0, 0x5A, 0, 0, 0, 0, 0, 0])
                .await
                .unwrap();
        }
        ProxyKind::Socks5 => {
            if user.is_empty() {
                expect(client, &[5, 1, 0]).await;
                client.write_all(&[5, 0]).await.unwrap();
            } else {
                expect(client, &[5, 1, 2]).await;
                client.write_all(&[5, 2]).await.unwrap();
                let length = |text: &str| [u8::try_from(text.len()).unwrap()];
                let login = [
                    &[1][..],
                    &length(user),
                    user.as_bytes(),
                    &length(pass),
                    pass.as_bytes(),
                ];
                expect(client, &login.concat()).await;
                client.write_all(&[1, 0]).await.unwrap();
            }
            let length = u8::try_from(host.len()).unwrap();
            let request = [
                &[5, 1, 0, 3, length][..],
                host.as_bytes(),
                &port.to_be_bytes(),
            ]
            .concat();
            expect(client, &request).await;
            client
                .write_all(&[5, 0, 0, 3, 3, b'a', b'b', b'c', 0, 80])
                .await
                .unwrap();
        }
    }
}

const KINDS: [(ProxyKind, &str, &str, &str); 7] = [
    // A name that only the proxy can resolve, for the kinds that resolve names.
    (ProxyKind::HttpConnect, "", "", "market.invalid"),
    (
        ProxyKind::HttpConnect,
        "testuser",
        "testpass",
        "market.invalid",
    ),
    (ProxyKind::Socks4, "", "", "localhost"),
    (ProxyKind::Socks4, "ignored", "ignored", "localhost"),
    (ProxyKind::Socks4a, "ignored", "ignored", "market.invalid"),
    (ProxyKind::Socks5, "", "", "market.invalid"),
    (ProxyKind::Socks5, "alice", "hunter2", "market.invalid"),
];

#[tokio::test]
async fn every_kind_of_proxy_carries_every_kind_of_connection() {
    let authority = authority(&["market.invalid", "localhost"]);
    let dialer = Dialer::new(Roots::public().and(authority.root.clone()).unwrap());
    for (kind, user, pass, host) in KINDS {
        for scheme in ["http", "https", "ws", "wss"] {
            let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let target_port = target.local_addr().unwrap().port();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let proxy = proxy(kind, listener.local_addr().unwrap().port(), user, pass);
            let route = through(proxy.clone());
            let carry = async move {
                let (mut client, _) = listener.accept().await.unwrap();
                agree(&mut client, &proxy, host, target_port).await;
                let mut server = TcpStream::connect(("127.0.0.1", target_port))
                    .await
                    .unwrap();
                // The end of either side ends the other.
                let _ = copy_bidirectional(&mut client, &mut server).await;
            };
            let acceptor = authority.acceptor.clone();
            let serve = async move {
                let (tcp, _) = target.accept().await.unwrap();
                let secured = scheme.ends_with('s') && scheme != "ws" || scheme == "wss";
                let stream: BoxedStream = if secured {
                    Box::new(acceptor.accept(tcp).await.unwrap())
                } else {
                    Box::new(tcp)
                };
                if scheme.starts_with("ws") {
                    let mut socket = accept_async(stream).await.unwrap();
                    futures_util::SinkExt::send(&mut socket, Message::text("hello"))
                        .await
                        .unwrap();
                } else {
                    answer_on(stream, "200 OK", b"hello").await;
                }
            };
            let url = Url::parse(&format!("{scheme}://{host}:{target_port}/x")).unwrap();
            let client_side = async {
                if scheme.starts_with("ws") {
                    let mut socket = WebSocket::open(&dialer, &route, &url, POLICY)
                        .await
                        .unwrap();
                    assert_eq!(
                        socket.next().await.unwrap(),
                        WsMessage::Text("hello".into())
                    );
                } else {
                    let answer = http::get(&dialer, &route, Get::new(url.clone()), LIMITS).await;
                    assert_eq!(answer.unwrap().body, "hello");
                }
            };
            let all = async { tokio::join!(tokio::spawn(carry), tokio::spawn(serve), client_side) };
            let (carried, served, ()) = timeout(Duration::from_secs(20), all).await.unwrap();
            carried.unwrap();
            served.unwrap();
        }
    }
    let proxied = u64::try_from(KINDS.len() * 4).unwrap();
    assert_eq!(
        dialer.counts(),
        DialCounts {
            direct: 0,
            proxied,
            failed: 0
        }
    );
}

async fn dial_tls(dialer: &Dialer, host: &str, acceptor: TlsAcceptor) -> Result<(), DialError> {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port();
    let serve = async move {
        let (tcp, _) = target.accept().await.unwrap();
        // The client may refuse the certificate.
        let _ = acceptor.accept(tcp).await;
    };
    let destination = Destination {
        host,
        port,
        security: TransportSecurity::Tls,
    };
    let route = Route::default();
    let (_, dialled) = tokio::join!(tokio::spawn(serve), dialer.connect(&route, destination));
    dialled.map(drop)
}

#[tokio::test]
async fn certificates_are_checked() {
    let ours = authority(&["localhost"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, &ours.root_pem).unwrap();
    let trusting = Dialer::new(Roots::public().and_file(&file).unwrap());
    let strict = Dialer::new(Roots::public());
    assert_eq!(
        dial_tls(&trusting, "localhost", ours.acceptor.clone()).await,
        Ok(())
    );
    let unknown = dial_tls(&strict, "localhost", ours.acceptor.clone())
        .await
        .unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "securing the connection to localhost: invalid peer certificate: UnknownIssuer"
    );
    let other = dial_tls(&trusting, "127.0.0.1", ours.acceptor)
        .await
        .unwrap_err();
    assert!(
        other
            .to_string()
            .starts_with("securing the connection to 127.0.0.1: invalid peer certificate"),
        "{other}"
    );
    std::fs::write(&file, "no certificate").unwrap();
    assert!(Roots::public().and_file(&file).is_err());
}

/// A reply without an end.
const OVERLONG: [u8; 9000] = [b'x'; 9000];

/// The error of a connection through a proxy that sends this reply.
async fn refused(kind: ProxyKind, user: &str, reply: &[u8]) -> String {
    attempt(kind, user, &[reply]).await.0
}

/// The error of the last of several connections with these replies, and the state of the proxy afterwards.
async fn attempt(kind: ProxyKind, user: &str, replies: &[&[u8]]) -> (String, Option<ProxyUse>) {
    let (arrive, mut arrivals) = mpsc::channel(1);
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let proxy = proxy(kind, 1080, user, "planted-password");
    let route = through(proxy.clone());
    let destination = Destination {
        host: "market.invalid",
        port: 80,
        security: TransportSecurity::Plain,
    };
    let mut text = String::new();
    for reply in replies {
        let serve = async {
            let mut client = arrivals.recv().await.unwrap().stream;
            let _ = client.write_all(reply).await;
            let _ = client.shutdown().await;
            let mut received = Vec::new();
            let _ = client.read_to_end(&mut received).await;
        };
        let (dialled, ()) = tokio::join!(dialer.connect(&route, destination), serve);
        let error = dialled.map(drop).unwrap_err();
        assert!(!format!("{error:?}").contains("planted"));
        text = error.to_string();
    }
    assert_eq!(
        dialer.counts(),
        DialCounts {
            direct: 0,
            proxied: 0,
            failed: replies.len() as u64
        }
    );
    (text, dialer.proxy_use(&proxy))
}

/// A proxy that cannot reach a destination works; one that rejects the clock, or has never replied, does not.
#[tokio::test(start_paused = true)]
async fn the_state_of_a_proxy_follows_its_replies() {
    #[rustfmt::skip]
    let rows: [(ProxyKind, &[&[u8]], bool); 8] = [
        (ProxyKind::HttpConnect, &[b"HTTP/1.1 407 Login\r\n\r\n"], false),
        (ProxyKind::HttpConnect, &[b"ICAP/1.1 200 OK\r\n\r\n"], false),
        (ProxyKind::HttpConnect, &[b"HTTP/1.1 502 Bad\r\n\r\n"], true),
        // A proxy of another kind closes the connection.
        (ProxyKind::HttpConnect, &[b""], false),
        (ProxyKind::HttpConnect, &[b"HTTP/1.1 502 Bad\r\n\r\n", b""], true),
        (ProxyKind::Socks4a, &[b""], false),
        (ProxyKind::Socks5, &[&[5, 2]], false),
        (ProxyKind::Socks5, &[&[5, 0, 5, 5, 0, 1]], true),
    ];
    for (kind, replies, works) in rows {
        let (error, state) = attempt(kind, "", replies).await;
        let state = state.unwrap();
        let expected = (!works).then_some(error);
        assert_eq!(state.error, expected, "{kind:?} {replies:?}");
        assert_eq!(state.last_success.is_some(), works, "{kind:?} {replies:?}");
    }
}

/// The error for each refusal code of a proxy.
#[tokio::test(start_paused = true)]
async fn the_reason_of_a_refusal_is_reported() {
    for (code, reason) in [
        (1, "general failure"),
        (2, "not allowed by its rules"),
        (3, "network unreachable"),
        (4, "host unreachable"),
        (5, "connection refused"),
        (6, "time to live expired"),
        (7, "command not supported"),
        (8, "address type not supported"),
        (9, "code 9"),
        (0x5B, "request rejected or failed"),
        (0x5C, "identification not reachable"),
        (0x5D, "identification mismatch"),
        (0x5E, "code 94"),
    ] {
        let (kind, reply) = match code {
            0x5B.. => (ProxyKind::Socks4a, vec![0, code, 0, 0, 0, 0, 0, 0]),
            _ => (ProxyKind::Socks5, vec![5, 0, 5, code, 0, 1]),
        };
        let error = refused(kind, "", &reply).await;
        assert_eq!(
            error,
            format!("requesting market.invalid:80 from the proxy: the proxy refuses: {reason}")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn errors_name_the_failed_step() {
    const LOGIN: &str = "logging in at the proxy: ";
    const REQUEST: &str = "requesting market.invalid:80 from the proxy: ";
    let http = ProxyKind::HttpConnect;
    let overlong = "x".repeat(256);
    #[rustfmt::skip]
    let rows: [(ProxyKind, &str, &[u8], String); 22] = [
        (http, "", b"HTTP/1.0 407 Login\r\n\r\n", format!("{REQUEST}the proxy requires a user name and password")),
        (http, "alice", b"HTTP/1.1 407 Login\r\n\r\n", format!("{REQUEST}the proxy rejected the user name and password")),
        (http, "", b"HTTP/1.1 502 Bad\r\nX: y\r\n\r\n", format!("{REQUEST}the proxy answers with status 502")),
        (http, "", b"HTTP/1.1 300 Odd\r\n\r\n", format!("{REQUEST}the proxy answers with status 300")),
        (http, "", b"ICAP/1.1 200 OK\r\n\r\n", format!("{REQUEST}the proxy does not speak this protocol")),
        (http, "", b"HTTP/1.1 20", format!("{REQUEST}unexpected end of file")),
        (http, "", &OVERLONG, format!("{REQUEST}the proxy's reply is too long")),
        (ProxyKind::Socks4a, "", &[0, 0x5B, 0, 0, 0, 0, 0, 0], format!("{REQUEST}the proxy refuses: request rejected or failed")),
        (ProxyKind::Socks4a, "", &[4, 0x5A, 0, 0, 0, 0, 0, 0], format!("{REQUEST}the proxy does not speak this protocol")),
        (ProxyKind::Socks4a, "", &[0, 0x5A, 0], format!("{REQUEST}unexpected end of file")),
        (ProxyKind::Socks5, "", &[5, 0xFF], format!("{LOGIN}the proxy supports no known login method")),
        (ProxyKind::Socks5, "", &[5, 2], format!("{LOGIN}the proxy requires a user name and password")),
        (ProxyKind::Socks5, "", &[4, 0], format!("{LOGIN}the proxy does not speak this protocol")),
        (ProxyKind::Socks5, "", &[5], format!("{LOGIN}unexpected end of file")),
        (ProxyKind::Socks5, "alice", &[5, 2, 1, 1], format!("{LOGIN}the proxy rejected the user name and password")),
        // The login has its own version number, 1.
        (ProxyKind::Socks5, "alice", &[5, 2, 5, 0], format!("{LOGIN}the proxy rejected the user name and password")),
        (ProxyKind::Socks5, "alice", &[5, 0], format!("{LOGIN}the proxy supports no known login method")),
        (
            ProxyKind::Socks5,
            &overlong,
            &[],
            format!(
                "{LOGIN}the user name or the password is longer than 255 bytes, the limit of this kind of proxy"
            ),
        ),
        (ProxyKind::Socks5, "", &[5, 0, 5, 5, 0, 1], format!("{REQUEST}the proxy refuses: connection refused")),
        (ProxyKind::Socks5, "", &[5, 0, 4, 0, 0, 1], format!("{REQUEST}the proxy does not speak this protocol")),
        (ProxyKind::Socks5, "", &[5, 0, 5, 0, 0, 2], format!("{REQUEST}the proxy does not speak this protocol")),
        (ProxyKind::Socks5, "", &[5, 0, 5, 0, 0, 4, 1], format!("{REQUEST}unexpected end of file")),
    ];
    for (kind, user, reply, expected) in rows {
        assert_eq!(
            refused(kind, user, reply).await,
            expected,
            "{kind:?} {reply:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_proxy_times_out() {
    for (kind, expected) in [
        (
            ProxyKind::HttpConnect,
            "requesting market.invalid:80 from the proxy: no answer within 10 s",
        ),
        (
            ProxyKind::Socks5,
            "logging in at the proxy: no answer within 10 s",
        ),
    ] {
        let (arrive, mut arrivals) = mpsc::channel(1);
        let dialer = Dialer::in_memory(Roots::public(), arrive);
        let route = through(proxy(kind, 1080, "", ""));
        let destination = Destination {
            host: "market.invalid",
            port: 80,
            security: TransportSecurity::Plain,
        };
        let error = dialer
            .connect(&route, destination)
            .await
            .map(drop)
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
        drop(arrivals.recv().await);
    }
}

/// A name service without any name.
#[derive(Debug)]
struct NoNames;

impl NameService for NoNames {
    fn look_up(&self, _: &str) -> io::Result<Vec<SocketAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

#[tokio::test]
async fn unreachable_places_are_named() {
    // A bound port without a listener.
    let silent = TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = silent.local_addr().unwrap().port();
    let dialer = Dialer::with_names(Roots::public(), Arc::new(NoNames));
    let closed = proxy(ProxyKind::Socks5, port, "", "");
    let unknown = Proxy {
        host: "proxy.invalid".into(),
        ..closed.clone()
    };
    let socks4 = Proxy {
        kind: ProxyKind::Socks4,
        ..closed.clone()
    };
    #[rustfmt::skip]
    let rows = [
        (Route::default(), "127.0.0.1", format!("connecting to 127.0.0.1:{port}: connection refused")),
        (Route::default(), "market.invalid", "looking up market.invalid: no address found".to_owned()),
        (through(closed), "market.invalid", format!("connecting to the proxy 127.0.0.1:{port}: connection refused")),
        (through(unknown), "market.invalid", "looking up the proxy proxy.invalid: no address found".to_owned()),
        (through(socks4.clone()), "market.invalid", "looking up market.invalid: no address found".to_owned()),
        (through(socks4), "::1", "looking up ::1: no IPv4 address found, and this kind of proxy supports no other".to_owned()),
    ];
    for (route, host, expected) in rows {
        let destination = Destination {
            host,
            port,
            security: TransportSecurity::Plain,
        };
        let error = dialer
            .connect(&route, destination)
            .await
            .map(drop)
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// Resolves every name to three addresses.
#[derive(Debug)]
struct Three;

impl NameService for Three {
    fn look_up(&self, _: &str) -> io::Result<Vec<SocketAddr>> {
        let all = [[127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]];
        Ok(all.map(|address| (address, 0).into()).into())
    }
}

#[tokio::test]
async fn a_host_is_reached_while_one_of_its_addresses_works() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let silent = socket.listen(1).unwrap();
    let place = silent.local_addr().unwrap();
    // A host whose accept queue is full does not respond.
    let mut queue: Vec<_> = (0..8)
        .map(|_| Box::pin(TcpStream::connect(place)))
        .collect();
    for waiting in &mut queue {
        let _ = waiting.as_mut().now_or_never(); // It begins.
    }
    // A bound port without a listener.
    let closed = TcpSocket::new_v4().unwrap();
    closed
        .bind(SocketAddr::from(([127, 0, 0, 2], place.port())))
        .unwrap();
    let working = TcpListener::bind(("127.0.0.3", place.port()))
        .await
        .unwrap();
    let dialer = Dialer::with_names(Roots::public(), Arc::new(Three));
    let destination = Destination {
        host: "market.example",
        port: place.port(),
        security: TransportSecurity::Plain,
    };
    let dialled = dialer.connect(&Route::default(), destination).await;
    dialled.expect("the last address works");
    let arrived = timeout(Duration::from_secs(5), working.accept()).await;
    arrived.expect("the last address is reached").unwrap();
}

/// Most bytes that both kernels buffer for a connection that is not read.
const BUFFERED_MAX: usize = 24 * 1024;

#[tokio::test]
async fn few_bytes_are_buffered() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let destination = Destination {
        host: "127.0.0.1",
        port: listener.local_addr().unwrap().port(),
        security: TransportSecurity::Plain,
    };
    let dialer = Dialer::new(Roots::public());
    let mut stream = dialer
        .connect(&Route::default(), destination)
        .await
        .unwrap();
    let mut peer = listener.accept().await.unwrap().0;
    let mut buffered = 0;
    while let Some(count) = stream.write(&[0; 1024]).now_or_never() {
        buffered += count.unwrap();
        assert!(buffered <= BUFFERED_MAX, "{buffered} bytes and more");
    }
    drop(stream);
    let mut received = Vec::new();
    peer.read_to_end(&mut received).await.unwrap();
    assert_eq!(received.len(), buffered);
}

#[tokio::test(start_paused = true)]
async fn bypassed_hosts_are_reached_directly() {
    let bypass = "*.local, 192.168.*, ,127.0.0.1".to_owned();
    let usual = Proxy {
        bypass,
        ..proxy(ProxyKind::HttpConnect, 1080, "", "")
    };
    #[rustfmt::skip]
    let rows = [
        (usual.clone(), "api.coinbase.com", "127.0.0.1:1080"),
        (usual.clone(), "clock.LOCAL", "clock.LOCAL:80"),
        (usual.clone(), "192.168.20.97", "192.168.20.97:80"),
        (Proxy { host: "".into(),..usual.clone() }, "api.coinbase.com", "api.coinbase.com:80"),
        (Proxy { port: 0, ..usual }, "api.coinbase.com", "api.coinbase.com:80"),
    ];
    for (proxy, host, expected) in rows {
        let (arrive, mut arrivals) = mpsc::channel(1);
        let dialer = Dialer::in_memory(Roots::public(), arrive);
        let route = through(proxy);
        let destination = Destination {
            host,
            port: 80,
            security: TransportSecurity::Plain,
        };
        tokio::select! {
            arrival = arrivals.recv() => assert_eq!(arrival.unwrap().place, expected),
            Ok(_) = dialer.connect(&route, destination) => {
                assert_eq!(arrivals.recv().await.unwrap().place, expected);
            }
        }
    }
}

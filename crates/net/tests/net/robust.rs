//! For any bytes from a server: a result or an error, never a panic or an endless wait.

use std::{future::Future, time::Duration};

use device::{
    secret::Secret,
    sources::{Proxy, ProxyKind, Route},
};
use net::{
    dialer::{Arrival, Destination, Dialer, TransportSecurity},
    http::{Get, RequestLimits, get},
    tls::Roots,
    url::Url,
    ws::{Policy, WebSocket},
};
use proptest::{collection::vec, prelude::*, sample::select};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
    time,
};
use tokio_tungstenite::accept_async;

const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(10),
    body_max: 256,
};

const POLICY: Policy = Policy {
    message_max: 256,
    ping_every: Duration::from_secs(20),
    pong_timeout: Duration::from_secs(15),
};

/// Longest time without a result after the last byte.
const END: Duration = Duration::from_secs(120);

/// Runs in virtual time.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime
        .unwrap()
        .block_on(async { time::timeout(END, test).await.unwrap() });
}

fn network() -> (Dialer, mpsc::Receiver<Arrival>) {
    let (arrive, arrivals) = mpsc::channel(16);
    (Dialer::in_memory(Roots::public(), arrive), arrivals)
}

/// Sends the bytes to every connection, then closes it or goes silent.
async fn send(mut arrivals: mpsc::Receiver<Arrival>, bytes: &[u8], hangs_up: bool) {
    let mut silent = Vec::new();
    while let Some(Arrival { mut stream, .. }) = arrivals.recv().await {
        let _ = stream.write_all(bytes).await;
        if !hangs_up {
            silent.push(stream);
        }
    }
}

/// A valid reply, truncated and followed by other bytes.
fn replies(good: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let start = (select(good), any::<prop::sample::Index>());
    (start, vec(any::<u8>(), 0..40)).prop_map(|((good, cut), rest)| {
        let mut reply = good[..cut.index(good.len() + 1)].to_vec();
        reply.extend(rest);
        reply
    })
}

const PROXIES: &[&[u8]] = &[
    b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n",
    b"HTTP/1.0 407 No\r\n\r\n",
    &[0, 0x5A, 0, 0, 0, 0, 0, 0],
    &[5, 0, 5, 0, 0, 3, 3, b'a', b'b', b'c', 0, 80],
    &[5, 2, 1, 0, 5, 0, 0, 4, 0, 0],
];

const ANSWERS: &[&[u8]] = &[
    b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nsome",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://other/x\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
];

const FRAMES: &[&[u8]] = &[
    &[0x81, 2, b'h', b'i', 0x02, 1, 0xC1, 0x80, 1, 0xC1],
    &[0x82, 126, 1, 0, 0, 0],
    &[0x89, 2, 1, 2, 0x8A, 0, 0x88, 2, 3, 0xE8],
    &[0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn proxies_may_send_anything(
        reply in replies(PROXIES),
        kind in select(vec![ProxyKind::HttpConnect, ProxyKind::Socks4a, ProxyKind::Socks5]),
        user in select(vec!["", "alice"]),
        hangs_up: bool,
    ) {
        run(async {
            let (dialer, arrivals) = network();
            let proxy = Proxy {
                kind,
                host: "proxy".into(),
                port: 1080,
                user: user.to_owned(),
                pass: Secret::new("planted"),
                bypass: String::new(),
            };
            let route = Route { proxy: Some(proxy) };
            let destination = Destination { host: "host", port: 80, security: TransportSecurity::Plain };
            tokio::select! {
                dialled = dialer.connect(&route, destination) => {
                    if let Err(error) = dialled {
                        assert!(!format!("{error} {error:?}").contains("planted"));
                    }
                }
                () = send(arrivals, &reply, hangs_up) => {}
            }
        });
    }

    #[test]
    fn servers_may_respond_anything(reply in replies(ANSWERS), hangs_up: bool) {
        run(async {
            let (dialer, arrivals) = network();
            let route = Route::default();
            let request = Get::new(Url::parse("http://host/").unwrap());
            tokio::select! {
                answer = get(&dialer, &route, request, LIMITS) => {
                    if let Ok(answer) = answer {
                        assert!(answer.body.len() <= LIMITS.body_max);
                    }
                }
                () = send(arrivals, &reply, hangs_up) => {}
            }
        });
    }

    #[test]
    fn sockets_may_carry_anything(bytes in replies(FRAMES), hangs_up: bool) {
        run(async {
            let (dialer, mut arrivals) = network();
            let route = Route::default();
            let url = Url::parse("ws://host/").unwrap();
            let serve = async {
                let mut stream = accept_async(arrivals.recv().await.unwrap().stream)
                    .await
                    .unwrap()
                    .into_inner();
                let _ = stream.write_all(&bytes).await;
                if !hangs_up {
                    let mut sink = Vec::new();
                    let _ = stream.read_to_end(&mut sink).await;
                }
            };
            let listen = async {
                let mut socket = WebSocket::open(&dialer, &route, &url, POLICY).await.unwrap();
                while socket.next().await.is_ok() {}
            };
            tokio::join!(serve, listen);
        });
    }

    #[test]
    fn addresses_may_be_anything(text in "\\PC*", location in "\\PC*") {
        if let Ok(url) = Url::parse(&text) {
            prop_assert_eq!(Url::parse(&url.to_string()), Ok(url.clone()));
            if let Ok(joined) = url.join(&location) {
                prop_assert_eq!(Url::parse(&joined.to_string()), Ok(joined));
            }
        }
    }
}

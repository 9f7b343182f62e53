//! HTTP with its limits: size, time, redirects, and secrets that stay with their origin.

use std::time::Duration;

use device::sources::Route;
use http::header::AUTHORIZATION;
use net::{
    dialer::{Arrival, Dialer},
    http::{Get, HttpError, HttpResponse, RequestLimits, get, open},
    tls::Roots,
    url::Url,
    ws::WebSocket,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
    time,
};

use crate::{
    authority::authority,
    peers::{answer, answer_on, first_line},
    proxy::POLICY,
};

const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(8),
    body_max: 1024,
};

fn network() -> (Dialer, mpsc::Receiver<Arrival>) {
    let (arrive, arrivals) = mpsc::channel(16);
    (Dialer::in_memory(Roots::public(), arrive), arrivals)
}

fn request(url: &str) -> Get {
    Get::new(Url::parse(url).unwrap())
}

async fn fetch(dialer: &Dialer, url: &str) -> Result<HttpResponse, HttpError> {
    get(dialer, &Route::default(), request(url), LIMITS).await
}

#[tokio::test(start_paused = true)]
async fn a_body_is_limited_for_any_length_header() {
    for head in [
        "Content-Length: 2000",
        "Transfer-Encoding: chunked",
        "Connection: close",
    ] {
        let (dialer, mut arrivals) = network();
        let serve = async {
            let mut stream = arrivals.recv().await.unwrap().stream;
            let mut request = [0; 64];
            stream.read_exact(&mut request[..20]).await.unwrap();
            let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            for _ in 0..4 {
                if head.contains("chunked") {
                    let _ = stream.write_all(b"1f4\r\n").await;
                }
                let _ = stream.write_all(&[b'x'; 500]).await;
                if head.contains("chunked") {
                    let _ = stream.write_all(b"\r\n").await;
                }
            }
        };
        let (answer, ()) = tokio::join!(fetch(&dialer, "http://example/"), serve);
        assert!(
            matches!(answer, Err(HttpError::TooLarge(1024))),
            "{head}: {answer:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_dripping_response_times_out() {
    let (dialer, mut arrivals) = network();
    let serve = async {
        let mut stream = arrivals.recv().await.unwrap().stream;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            .await
            .unwrap();
        while stream.write_all(b"x").await.is_ok() {
            time::sleep(Duration::from_secs(1)).await;
        }
    };
    let began = time::Instant::now();
    let (answer, ()) = tokio::join!(fetch(&dialer, "http://example/"), serve);
    assert!(matches!(answer, Err(HttpError::Timeout)), "{answer:?}");
    assert!(began.elapsed() <= LIMITS.timeout + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_truncated_body_is_an_error() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        "HTTP/1.1 200",
        "garbage\r\n\r\n",
        "",
    ] {
        let (dialer, mut arrivals) = network();
        let serve = async {
            let mut stream = arrivals.recv().await.unwrap().stream;
            let mut request = [0; 20];
            stream.read_exact(&mut request).await.unwrap();
            stream.write_all(reply.as_bytes()).await.unwrap();
        };
        let (answer, ()) = tokio::join!(fetch(&dialer, "http://example/"), serve);
        assert!(
            matches!(answer, Err(HttpError::Broken)),
            "{reply:?}: {answer:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_are_followed_up_to_a_cap() {
    let (dialer, mut arrivals) = network();
    let serve = async {
        let mut paths = Vec::new();
        while let Some(arrival) = arrivals.recv().await {
            let status = "302 Found\r\nLocation: ../next";
            let head = answer_on(arrival.stream, status, b"").await;
            paths.push(first_line(&head).to_owned());
        }
        paths
    };
    let client = async {
        let answer = fetch(&dialer, "http://example/a/b").await;
        drop(dialer);
        answer
    };
    let (answer, paths) = tokio::join!(client, serve);
    assert!(matches!(answer, Err(HttpError::Redirects)), "{answer:?}");
    assert_eq!(paths.len(), 6);
    assert_eq!(paths[1], "GET /a/../next HTTP/1.1");
}

#[tokio::test(start_paused = true)]
async fn only_redirect_statuses_are_followed() {
    for (status, is_followed) in [
        ("301 Moved Permanently", true),
        ("302 Found", true),
        ("303 See Other", true),
        ("307 Temporary Redirect", true),
        ("308 Permanent Redirect", true),
        ("200 OK", false),
        ("201 Created", false),
        ("300 Multiple Choices", false),
        ("305 Use Proxy", false),
    ] {
        let (dialer, mut arrivals) = network();
        let serve = async {
            let mut statuses = [status, "204 No Content"].into_iter();
            while let Some(arrival) = arrivals.recv().await {
                let status = format!("{}\r\nLocation: /next", statuses.next().unwrap());
                answer_on(arrival.stream, &status, b"").await;
            }
            statuses.count()
        };
        let client = async {
            let answer = fetch(&dialer, "http://example/").await;
            drop(dialer);
            answer
        };
        let (_, left) = tokio::join!(client, serve);
        assert_eq!(left == 0, is_followed, "{status}");
    }
}

/// From a URL, to a URL, and whether the redirect is followed.
#[tokio::test]
async fn only_tls_redirects_may_change_the_origin() {
    let authority = authority(&["one", "two"]);
    for (from, to, is_followed) in [
        ("https://one/a", "http://one/b", false),
        ("https://one/a", "http://two/b", false),
        ("https://one/a", "//two/b", true),
        ("https://one/a", "/b", true),
        ("https://one/a", "https://two/b", true),
        ("http://one/a", "/b", true),
        ("http://one/a", "http://ONE:80/b", true),
        ("http://one/a", "http://one:8080/api/restart", false),
        ("http://one/a", "http://two/b", false),
        ("http://one/a", "//two/b", false),
        ("http://one/a", "https://one/b", false),
        ("http://one/a", "https://two/b", false),
    ] {
        let (arrive, mut arrivals) = mpsc::channel(16);
        let roots = Roots::public().and(authority.root.clone()).unwrap();
        let dialer = Dialer::in_memory(roots, arrive);
        let serve = async {
            let secured = [from, to].map(|url| match Url::parse(url) {
                Ok(url) => url.scheme.is_secure(),
                Err(_) => from.starts_with("https"),
            });
            let moved = format!("302 Found\r\nLocation: {to}");
            let mut requests = 0;
            for (secured, status) in secured.into_iter().zip([moved.as_str(), "200 OK"]) {
                let Some(arrival) = arrivals.recv().await else {
                    break;
                };
                if secured {
                    let stream = authority.acceptor.accept(arrival.stream).await.unwrap();
                    answer_on(stream, status, b"there").await;
                } else {
                    answer_on(arrival.stream, status, b"there").await;
                }
                requests += 1;
            }
            requests
        };
        let client = async {
            let answer = fetch(&dialer, from).await;
            drop(dialer);
            answer
        };
        let (answer, requests) = tokio::join!(client, serve);
        match answer {
            Ok(answer) => assert_eq!(answer.body, "there", "{from} to {to}"),
            Err(HttpError::Downgrade | HttpError::OtherOrigin(_)) => {
                assert!(!is_followed, "{from} to {to}");
            }
            Err(error) => panic!("{from} to {to}: {error}"),
        }
        assert_eq!(requests, if is_followed { 2 } else { 1 }, "{from} to {to}");
    }
}

#[tokio::test]
async fn a_secret_stays_with_its_origin() {
    let authority = authority(&["example", "other"]);
    let (arrive, mut arrivals) = mpsc::channel(16);
    let roots = Roots::public().and(authority.root.clone()).unwrap();
    let dialer = Dialer::in_memory(roots, arrive);
    let serve = async {
        let mut heads = Vec::new();
        for status in [
            "301 Moved\r\nLocation: /b",
            "307 Moved\r\nLocation: https://other/c",
            "200 OK",
        ] {
            let stream = arrivals.recv().await.unwrap().stream;
            let stream = authority.acceptor.accept(stream).await.unwrap();
            heads.push(answer_on(stream, status, b"done").await);
        }
        heads
    };
    let request = request("https://example/a")
        .accepting_json()
        .with_secret(AUTHORIZATION, "planted")
        .unwrap();
    let route = Route::default();
    let (answer, heads) = tokio::join!(get(&dialer, &route, request, LIMITS), serve);
    assert_eq!(answer.unwrap().body, "done");
    let has_secret = heads.iter().map(|head| head.contains("planted"));
    assert_eq!(has_secret.collect::<Vec<_>>(), [true, true, false]);
    let other = &heads[2];
    assert!(other.contains("host: other\r\n") && other.contains("accept: application/json\r\n"));
    assert!(other.contains("user-agent: papertick/"), "{other}");
}

#[tokio::test(start_paused = true)]
async fn a_web_socket_request_has_a_user_agent() {
    let (dialer, mut arrivals) = network();
    let (url, route) = (Url::parse("ws://host/").unwrap(), Route::default());
    let opened = WebSocket::open(&dialer, &route, &url, POLICY);
    let (refused, head) = tokio::join!(opened, answer(&mut arrivals, "403 Forbidden", ""));
    assert!(refused.is_err());
    assert!(head.contains("user-agent: papertick/"), "{head}");
}

#[tokio::test(start_paused = true)]
async fn a_download_may_take_long_but_not_pause() {
    let (dialer, mut arrivals) = network();
    let serve = async {
        let mut stream = arrivals.recv().await.unwrap().stream;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            .await
            .unwrap();
        for _ in 0..60 {
            stream.write_all(b"x").await.unwrap();
            time::sleep(Duration::from_secs(5)).await;
        }
        time::sleep(Duration::from_secs(60)).await;
    };
    let load = async {
        let route = Route::default();
        let request = request("http://example/image");
        let mut download = open(&dialer, &route, request, Duration::from_secs(10))
            .await
            .unwrap();
        let mut got = 0;
        loop {
            match download.chunk().await {
                Ok(Some(chunk)) => got += chunk.len(),
                Ok(None) => panic!("it was cut short"),
                Err(error) => return (got, error),
            }
        }
    };
    let ((got, error), ()) = tokio::join!(load, serve);
    assert_eq!(got, 60);
    assert!(matches!(error, HttpError::Timeout), "{error:?}");
}

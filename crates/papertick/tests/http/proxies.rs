//! Behind a reverse proxy: trusted headers, known hosts, and the addresses of the page.

use web::proxy::PublicAccess;

use crate::{
    guards::guarded_setup,
    support::{Answer, Clock, Setup},
};

/// Requests of the tests come from this address.
const LOOPBACK: &str = "127.0.0.1";

fn access(proxies: &[&str], urls: &[&str]) -> PublicAccess {
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (access, mistakes) = PublicAccess::parse(&texts(proxies), &texts(urls));
    assert_eq!(mistakes, Vec::<String>::new());
    access
}

async fn behind(proxies: &[&str], urls: &[&str]) -> Clock {
    Clock::with(Setup {
        access: access(proxies, urls),
        ..Setup::default()
    })
    .await
}

/// Sends a request line with header lines, which may include `Host`.
async fn send(clock: &Clock, line: &str, headers: &str) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let headers: Vec<&str> = headers
        .split("\r\n")
        .filter(|line| !line.is_empty())
        .collect();
    clock.send(method, path, &headers, "").await
}

#[tokio::test]
async fn hosts_and_origins_are_those_of_the_proxy_and_the_public_urls() {
    const PUBLIC: &str = "http://umbrel.local:3711";
    let next = "POST /api/screen/next";
    let status = "GET /api/status";
    let forwarded = "X-Forwarded-Host: umbrel.local:3711\r\n";
    let https = "X-Forwarded-Host: home.example\r\nX-Forwarded-Proto: https\r\n";
    let foreign = "Origin: http://evil.example\r\n";
    let own = "Origin: http://umbrel.local:3711\r\n";
    type Texts<'a> = &'a [&'a str];
    #[rustfmt::skip]
    let rows: &[(Texts<'_>, Texts<'_>, &str, String, u16)] = &[
        (&[], &[PUBLIC], status, "Host: umbrel.local:3711\r\n".into(), 200),
        (&[], &[], status, "Host: umbrel.local:3711\r\n".into(), 403),
        (&[LOOPBACK], &[], status, forwarded.into(), 403),
        (&[LOOPBACK], &[PUBLIC], status, forwarded.into(), 200),
        // Headers from an untrusted address are ignored.
        (&["192.0.2.0/24"], &[], status, forwarded.into(), 200),
        (&[], &[], next, format!("{forwarded}{own}"), 403),
        (&[LOOPBACK], &[PUBLIC], next, format!("{forwarded}{own}"), 200),
        (&[LOOPBACK], &[PUBLIC], next, format!("{forwarded}{foreign}"), 403),
        // A proxy that rewrites the host without forwarding the original one.
        (&[], &[PUBLIC], next, own.into(), 200),
        (&[LOOPBACK], &["https://home.example"], next, format!("{https}Origin: https://home.example\r\n"), 200),
        (&[LOOPBACK], &["https://home.example"], next, format!("{https}Origin: http://home.example:8080\r\n"), 403),
        // A header that the proxy has passed on.
        (&[LOOPBACK], &[], status, format!("X-Ingress-Path: /x\r\n{forwarded}"), 403),
    ];
    for (proxies, urls, line, headers, expected) in rows {
        let clock = behind(proxies, urls).await;
        let answered = send(&clock, line, headers).await;
        assert_eq!(
            answered.status, *expected,
            "{proxies:?} {urls:?} {line} {headers}"
        );
    }
}

#[tokio::test]
async fn the_ingress_of_home_assistant_is_accepted_under_any_host() {
    let ingress =
        "X-Ingress-Path: /api/hassio_ingress/TOKEN\r\nX-Forwarded-Host: my.duckdns.org\r\n";
    let own = "Origin: https://my.duckdns.org\r\n";
    let foreign = "Origin: http://evil.example\r\n";
    for (proxies, headers, expected) in [
        (&[LOOPBACK][..], ingress.to_string(), 200),
        (&[LOOPBACK], format!("{ingress}{own}"), 200),
        (&[LOOPBACK], format!("{ingress}{foreign}"), 403),
        (&[], format!("{ingress}{own}"), 403),
    ] {
        let clock = Clock::with(Setup {
            access: PublicAccess {
                has_ingress: true,
                ..access(proxies, &[])
            },
            ..Setup::default()
        })
        .await;
        let answered = send(&clock, "POST /api/screen/next", &headers).await;
        assert_eq!(answered.status, expected, "{proxies:?} {headers}");
    }
}

#[tokio::test]
async fn the_page_is_served_below_a_prefix() {
    let clock = behind(&[LOOPBACK], &["https://home.example/clock"]).await;
    let ingress = "X-Ingress-Path: /ingress/TOKEN\r\n";
    let rows = [
        ("/clock/", "", "<base href=\"./\""),
        ("/clock/settings", "", "<base href=\"./\""),
        ("/clock/settings/display", "", "<base href=\"../\""),
        ("/settings/display", "", "<base href=\"../\""),
        ("/ingress/TOKEN/care/log", ingress, "<base href=\"../\""),
        ("/care/log", ingress, "<base href=\"../\""),
        ("/clock/docs", "", "src=\"docs.js\""),
        ("/clock/glass?live", "", "src=\"./assets/glass-"),
        ("/clock/handbook/", "", "href=\"../handbook.css\""),
        ("/clock/api/status", "", "\"data\""),
    ];
    for (path, headers, piece) in rows {
        let answered = send(&clock, &format!("GET {path}"), headers).await;
        let text = answered.text();
        assert!(
            answered.status == 200 && text.contains(piece),
            "{path}: {text}"
        );
        assert!(
            !text.contains("=\"/"),
            "{path} has an absolute address: {text}"
        );
    }
    for (path, to) in [
        ("/clock", "/clock/"),
        ("/clock?a=b", "/clock/?a=b"),
        ("/handbook", "handbook/"),
    ] {
        let answered = clock.get(path).await;
        assert_eq!(answered.status, 308, "{path}");
        assert_eq!(answered.header("location"), Some(to), "{path}");
    }
}

#[tokio::test]
async fn failed_logins_are_counted_by_the_address_of_the_client() {
    let clock = Clock::with(Setup {
        access: access(&[LOOPBACK], &[]),
        ..guarded_setup()
    })
    .await;
    let guess =
        |client: &str| format!("X-Forwarded-For: {client}\r\nAuthorization: Basic YTpi\r\n");
    // A host has a whole /64 of IPv6.
    let hosts: Vec<String> = (1..=12)
        .map(|host| format!("2001:db8::{host:x}:1"))
        .collect();
    let same = vec!["192.0.2.7".to_string(); 12];
    for (guesses, other) in [(same, "192.0.2.8"), (hosts, "2001:db8:0:1::1")] {
        let mut slowed = 0;
        for client in guesses {
            let answered = send(&clock, "GET /api/status", &guess(&client)).await;
            assert_eq!(answered.status, 401);
            slowed += usize::from(answered.header("retry-after").is_some());
        }
        assert!(slowed > 0, "the client that guesses is slowed");
        let other = send(&clock, "GET /api/status", &guess(other)).await;
        assert_eq!((other.status, other.header("retry-after")), (401, None));
    }
}

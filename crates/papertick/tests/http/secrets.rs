//! Secrets are never in responses, events or the log.

use api::openapi;
use runtime::log_lines::LogLines;
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;

use crate::{
    following::EventClient,
    guards::{basic, guarded},
    logged::Logged,
    support::{Clock, Kind, Setup},
};

const WALLET_SECRET: &str = "71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";

#[tokio::test]
async fn secrets_are_never_returned_or_logged() {
    let log_lines = LogLines::new();
    let log = Logged::from_now(LevelFilter::TRACE, &log_lines);
    let clock = Clock::with(Setup {
        device: Kind::Real,
        log: log_lines,
        ..Setup::default()
    })
    .await;
    let uri = format!(
        "nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4\
         ?relay=wss%3A%2F%2Frelay.example&secret={WALLET_SECRET}"
    );
    let secrets = [
        ("httpAuthPass", "horse-staple-1"),
        ("otaPass", "horse-staple-2"),
        ("proxyPass", "horse-staple-3"),
        ("miningPoolUser", "horse-staple-4"),
        ("nwcUri", uri.as_str()),
    ];
    let mut body = json!({ "miningPoolName": "viabtc", "proxyHost": "proxy.example" });
    for (key, secret) in secrets {
        body[key] = secret.into();
    }
    let mut follower = EventClient::of(&clock).await;
    let answer = clock
        .json("PATCH", "/api/settings", &body.to_string())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(clock.post("/api/screen/next").await.status, 200);

    let mut seen = vec![("log".to_string(), String::new())];
    for _ in 0..3 {
        let (name, data) = follower.frame().await;
        seen.push((name, data));
    }
    let api = openapi::document();
    for (path, item) in api["paths"].as_object().unwrap() {
        let reads = item.get("get").is_some_and(|get| get["deprecated"] != true);
        if reads && path != "/events" && !path.contains('{') {
            let answer = clock.get(path).await;
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            seen.push((path.clone(), text));
        }
    }
    assert!(seen.len() > 15, "{} documents", seen.len());
    let own_log = seen.iter().find(|(path, _)| path == "/api/log").unwrap();
    assert!(own_log.1.contains("answered"), "{}", own_log.1);
    seen[0].1 = log.lines().concat();
    assert!(seen[0].1.contains("answered"), "{}", seen[0].1);
    for (place, text) in &seen {
        for secret in ["horse-staple", WALLET_SECRET, "argon2id"] {
            assert!(!text.contains(secret), "{place} has {secret}");
        }
    }

    let settings = clock.get("/api/settings").await.json();
    for (key, _) in secrets {
        assert!(settings.get(key).is_none(), "{key}");
        assert_eq!(settings[format!("{key}Set")], true, "{key}");
    }
    let masked = settings["nwcUriMasked"].as_str().unwrap();
    assert!(masked.contains("b889ff5b"), "{masked}");
}

#[tokio::test]
async fn failed_logins_are_logged_without_the_password() {
    let log = Logged::from_now(LevelFilter::TRACE, &LogLines::new());
    let clock = guarded().await;
    for pair in ["satoshi:guess-one", "guess-two:guess-three"] {
        let header = basic(pair);
        let answer = clock.send("GET", "/api/status", &[&header], "").await;
        assert_eq!(answer.status, 401);
    }
    let log = log.lines().concat();
    assert_eq!(log.matches("sign-in refused").count(), 2, "{log}");
    assert!(log.contains("client=127.0.0.1"), "{log}");
    for tried in ["guess", "Authorization", "Basic", "Z3Vlc3M"] {
        assert!(!log.contains(tried), "{log}");
    }
}

//! Access control: credentials, pages of other sites, foreign host names.

use std::sync::Arc;

use api::openapi;
use argon2::{
    Argon2, Params,
    password_hash::{PasswordHasher, SaltString},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use board::sim::{self, SimOptions};
use device::{
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    settings::{Settings, TEXT_MAX},
};
use serde_json::json;

use crate::support::{Clock, Kind, Setup};

pub(crate) fn hash(password: &str) -> PasswordHash {
    let salt = SaltString::encode_b64(b"sixteen bytes 16").unwrap();
    // The cheapest parameters, because these tests are not about hashing.
    let argon2 = Argon2::from(Params::new(Params::MIN_M_COST, 1, 1, None).unwrap());
    let hash = argon2.hash_password(password.as_bytes(), &salt).unwrap();
    PasswordHash::new(hash.to_string())
}

pub(crate) fn basic(pair: &str) -> String {
    format!("Authorization: Basic {}", BASE64_STANDARD.encode(pair))
}

pub(crate) fn guarded_setup() -> Setup {
    Setup {
        settings: Settings {
            http_auth_enabled: true,
            http_auth_user: "satoshi".into(),
            http_auth_pass: hash("correct horse"),
            ..Settings::default()
        },
        ..Setup::default()
    }
}

pub(crate) async fn guarded() -> Clock {
    Clock::with(guarded_setup()).await
}

#[tokio::test]
async fn metrics_can_be_public_and_nothing_else() {
    let clock = guarded().await;
    for (open, status) in [(false, 401), (true, 200), (false, 401)] {
        clock.change(|view| {
            view.settings.active = Arc::new(Settings {
                metrics_open: open,
                ..(*view.settings.active).clone()
            });
        });
        assert_eq!(clock.get("/metrics").await.status, status, "{open}");
        assert_eq!(clock.get("/api/status").await.status, 401, "{open}");
    }
}

#[tokio::test]
async fn everything_except_the_page_requires_credentials() {
    let clock = guarded().await;
    let guarded = [
        "GET /api/status",
        "GET /api/settings",
        "GET /api/settings/export",
        "POST /api/settings/import",
        "GET /api/log",
        "PATCH /api/settings",
        "POST /api/screen/next",
        "GET /api/restart",
        "GET /api/panels.png",
        "GET /api/panels/0.png",
        "GET /api/frame.png",
        "GET /api/frame.bmp",
        "GET /events",
        "GET /metrics",
        "POST /upload/firmware",
        "POST /upload/webui",
        "GET /api/nothing",
        "DELETE /api/status",
    ];
    for request in guarded {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = clock.send(method, path, &[], "").await;
        assert_eq!(answer.status, 401, "{request}");
        assert_eq!(answer.json()["error"], "unauthorized", "{request}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(
            challenge.starts_with("Basic realm=\"papertick\""),
            "{challenge}"
        );
        // The page has its own sign-in form. With a known scheme the browser would show a dialog first.
        let answer = clock.send(method, path, &["X-Sign-In: form"], "").await;
        assert_eq!(answer.status, 401, "{request}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert_eq!(challenge, "Form realm=\"papertick\"", "{request}");
    }
    for path in [
        "/",
        "/manifest.json",
        "/docs",
        "/glass?live",
        "/openapi.json",
        "/healthz",
        "/readyz",
        "/api/widget",
    ] {
        assert_eq!(clock.get(path).await.status, 200, "{path}");
    }
    let right = basic("satoshi:correct horse");
    assert_eq!(
        clock.send("GET", "/api/status", &[&right], "").await.status,
        200
    );
    let wrong = basic("satoshi:wrong");
    assert_eq!(
        clock.send("GET", "/api/status", &[&wrong], "").await.status,
        401
    );
}

/// All credentials that can be stored can be used, so that no owner is locked out.
#[tokio::test]
async fn the_longest_credentials_work() {
    let clock = Clock::real().await;
    let (user, password) = ("ü".repeat(TEXT_MAX / 2), "p:".repeat(TEXT_MAX / 2));
    let body = json!({ "httpAuthEnabled": true, "httpAuthUser": user, "httpAuthPass": password });
    let answer = clock
        .json("PATCH", "/api/settings", &body.to_string())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let stored = clock.view.borrow().settings.stored.as_ref().clone();
    let restarted = Clock::with(Setup {
        settings: stored,
        ..Setup::default()
    })
    .await;
    let right = basic(&format!("{user}:{password}"));
    let answer = restarted.send("GET", "/api/status", &[&right], "").await;
    assert_eq!(answer.status, 200);
    let longer = basic(&format!("{user}:{password}:"));
    let answer = restarted.send("GET", "/api/status", &[&longer], "").await;
    assert_eq!(answer.status, 401);
}

/// With an empty user the password is enough, whatever name a browser sends.
#[tokio::test]
async fn without_a_stored_user_the_password_is_enough() {
    let clock = Clock::with(Setup {
        settings: Settings {
            http_auth_enabled: true,
            http_auth_user: String::new(),
            http_auth_pass: hash("secret"),
            ..Settings::default()
        },
        ..Setup::default()
    })
    .await;
    for (pair, status) in [
        (":secret", 200),
        ("papertick:secret", 200),
        (":", 401),
        (":wrong", 401),
        ("secret:", 401),
    ] {
        let answer = clock.send("GET", "/api/status", &[&basic(pair)], "").await;
        assert_eq!(answer.status, status, "{pair}");
    }
}

#[tokio::test]
async fn wrong_passwords_are_delayed_and_the_right_one_is_not() {
    let clock = guarded().await;
    let status_with =
        async |pair: &str| clock.send("GET", "/api/status", &[&basic(pair)], "").await;
    for guess in 0..5 {
        let answer = status_with(&format!("satoshi:{guess}")).await;
        assert_eq!(answer.status, 401, "{guess}");
        assert_eq!(answer.json()["error"], "unauthorized", "{guess}");
        assert!(answer.header("www-authenticate").is_some(), "{guess}");
        let later = answer.header("retry-after");
        assert_eq!(later, (guess >= 3).then_some("1"), "{guess}");
    }
    assert_eq!(status_with("satoshi:correct horse").await.status, 200);
}

#[tokio::test]
async fn credentials_are_those_stored_at_the_start() {
    let clock = Clock::start().await;
    clock.change(|view| {
        let settings = Settings {
            http_auth_enabled: true,
            http_auth_pass: hash("new"),
            ..(*view.settings.stored).clone()
        };
        view.settings.stored = settings.into();
    });
    assert_eq!(clock.get("/api/status").await.status, 200);
}

#[tokio::test]
async fn a_generated_password_is_required_and_shown_until_the_first_sign_in() {
    let clock = Clock::with(Setup {
        device: Kind::Real,
        generated_password: Some(GeneratedPassword {
            password: Secret::new("made up"),
            hash: hash("made up"),
            reason: GenerationReason::SettingsLost,
        }),
        ..Setup::default()
    })
    .await;
    for pair in ["papertick:", "papertick:wrong"] {
        let answer = clock
            .send("GET", "/api/status", &[&basic(pair)], "")
            .await
            .status;
        assert_eq!(answer, 401, "{pair}");
    }
    assert_eq!(clock.get("/api/settings").await.status, 401);
    assert!(clock.view.borrow().shows_password);

    let right = basic("papertick:made up");
    let first = clock.send("GET", "/api/status", &[&right], "").await;
    assert_eq!(first.status, 200);
    let second = clock.send("GET", "/api/status", &[&right], "").await;
    assert!(!clock.view.borrow().shows_password);
    for answer in [first, second] {
        assert!(!answer.text().contains("made up"), "{}", answer.text());
    }
}

/// The panels of a simulated clock are visible only on its page.
#[tokio::test]
async fn a_simulated_clock_shows_its_generated_password_publicly() {
    let start = async |bench: bool, is_generated: bool| {
        let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
        Clock::with(Setup {
            device: Kind::Real,
            bench: bench.then_some(board.bench),
            settings: Settings {
                http_auth_enabled: true,
                http_auth_pass: PasswordHash::new(if is_generated { "" } else { "a hash" }),
                ..Settings::default()
            },
            generated_password: is_generated.then(|| GeneratedPassword {
                password: Secret::new("made up"),
                hash: hash("made up"),
                reason: GenerationReason::SettingsLost,
            }),
            ..Setup::default()
        })
        .await
    };
    for (bench, is_generated, status) in [(true, true, 200), (true, false, 401), (false, true, 401)]
    {
        let clock = start(bench, is_generated).await;
        let case = format!("simulated: {bench}, generated: {is_generated}");
        for path in ["/api/panels.png?scale=2", "/api/panels/0.png"] {
            assert_eq!(clock.get(path).await.status, status, "{path}, {case}");
        }
        for path in [
            "/api/status",
            "/api/settings",
            "/events",
            "/api/preview/ws",
            "/api/log",
        ] {
            assert_eq!(clock.get(path).await.status, 401, "{path}, {case}");
        }
    }
    // After the sign-in the password is hidden, and the panels are protected.
    let clock = start(true, true).await;
    let right = basic("papertick:made up");
    assert_eq!(
        clock.send("GET", "/api/status", &[&right], "").await.status,
        200
    );
    assert_eq!(clock.get("/api/panels.png").await.status, 401);
}

#[tokio::test]
async fn uploads_have_their_own_password() {
    let settings = Settings {
        http_auth_enabled: true,
        http_auth_pass: hash("control"),
        ota_pass: hash("upload"),
        ..Settings::default()
    };
    let clock = Clock::with(Setup {
        settings,
        ..Setup::default()
    })
    .await;
    let status = async |pair: &str| {
        let header = basic(pair);
        clock
            .send(
                "POST",
                "/upload/firmware",
                &[&header, "Content-Length: 1"],
                "x",
            )
            .await
            .status
    };
    assert_eq!(status("anybody:upload").await, 503);
    assert_eq!(status("papertick:control").await, 401);
    let header = basic("anybody:upload");
    assert_eq!(
        clock
            .send("GET", "/api/status", &[&header], "")
            .await
            .status,
        401
    );
}

#[tokio::test]
async fn pages_of_other_sites_change_nothing() {
    let mut clock = Clock::with(Setup {
        allow_origins: vec!["http://localhost:5173".into()],
        ..Setup::default()
    })
    .await;
    let own = format!("Origin: http://{}", clock.address);
    let rows = [
        ("POST", "Origin: http://evil.example", 403),
        ("POST", "Origin: null", 403),
        ("POST", "Sec-Fetch-Site: cross-site", 403),
        ("GET", "Origin: http://evil.example", 403),
        ("GET", "Sec-Fetch-Site: cross-site", 403),
        ("POST", own.as_str(), 200),
        ("POST", "Origin: http://localhost:5173", 200),
        ("POST", "Sec-Fetch-Site: same-origin", 200),
        ("POST", "X-Nothing: 1", 200),
    ];
    for (method, mark, status) in rows {
        let answer = clock.send(method, "/api/full_refresh", &[mark], "").await;
        assert_eq!(answer.status, status, "{method} {mark}");
        match status {
            200 => drop(clock.next_request().await),
            _ => assert_eq!(answer.json()["error"], "cross-site request"),
        }
    }
    assert_eq!(request_to_device(&mut clock), None, "refused requests");
}

/// All operations that change something, including uploads and deprecated GETs.
#[tokio::test]
async fn pages_of_other_sites_cannot_use_changing_operations() {
    let mut clock = Clock::start().await;
    let api = openapi::document();
    let mut tried = 0;
    for (path, item) in api["paths"].as_object().unwrap() {
        for method in ["POST", "PATCH", "DELETE"] {
            let operation = &item[method.to_lowercase()];
            // Operations of the access point have their own test.
            if operation.is_null() || operation["tags"][0] == "Access point" {
                continue;
            }
            for mark in ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"] {
                let answer = clock
                    .send(method, path, &[mark, "Content-Length: 1"], "x")
                    .await;
                assert_eq!(answer.status, 403, "{method} {path} {mark}");
                assert_eq!(answer.json()["error"], "cross-site request", "{path}");
            }
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried} operations");
    assert_eq!(request_to_device(&mut clock), None, "refused requests");
}

const BROWSER: &str = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0";

/// All deprecated GETs that change something, with a path parameter, and their summaries.
fn older_gets() -> Vec<(String, String)> {
    let api = openapi::document();
    let mut gets = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        let operation = &item["get"];
        if operation["deprecated"] != true {
            continue;
        }
        let path = match path.split_once('{') {
            Some(("/api/lights/" | "/api/lights/color/", _)) => path.replace("{color}", "FF8800"),
            Some((before, rest)) => format!("{before}7{}", rest.split_once('}').unwrap().1),
            None => path.clone(),
        };
        gets.push((path, operation["summary"].as_str().unwrap().to_string()));
    }
    assert!(gets.len() > 15, "{gets:?}");
    gets
}

/// The request that has reached the device.
fn request_to_device(clock: &mut Clock) -> Option<String> {
    let request = clock.requests.try_recv().ok()?;
    Some(format!("{request:?}"))
}

/// Over plain HTTP, requests of other sites may have no header that shows their origin.
#[tokio::test]
async fn a_get_of_a_browser_changes_nothing_unless_our_page_sends_it() {
    let mut clock = Clock::with(Setup {
        allow_origins: vec!["http://localhost:5173".into()],
        ..Setup::default()
    })
    .await;
    let own_page = format!("Referer: http://{}/", clock.address);
    let own_origin = format!("Origin: http://{}", clock.address);
    let unmarked = ["X-Nothing: 1", "Sec-Fetch-Site: none"];
    let foreign = [
        "Referer: http://evil.example/",
        "Sec-Fetch-Site: cross-site",
    ];
    let ours = [
        own_page.as_str(),
        own_origin.as_str(),
        "Sec-Fetch-Site: same-origin",
        "Referer: http://localhost:5173/page",
        "Origin: http://localhost:5173",
    ];
    for (path, summary) in older_gets() {
        for mark in unmarked {
            let answer = clock.send("GET", &path, &[BROWSER, mark], "").await;
            assert_eq!(answer.status, 403, "{path} {mark}");
            let (page, button) = (answer.text(), format!("<button>{summary}</button>"));
            assert!(page.contains(&button) && page.contains(&path), "{page}");
            // Without it some browsers do not send the origin of a form.
            assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
            let form = "<form method=\"post\" action=\"?pressed\">";
            assert!(page.contains(form), "{page}");
            let policy = answer.header("content-security-policy").unwrap();
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
            assert_eq!(
                answer.header("content-type"),
                Some("text/html; charset=utf-8")
            );
        }
        for mark in foreign {
            let answer = clock.send("GET", &path, &[BROWSER, mark], "").await;
            assert_eq!(
                answer.json()["error"],
                "cross-site request",
                "{path} {mark}"
            );
        }
        assert_eq!(request_to_device(&mut clock), None, "{path}");

        // Requests of programs, of our page, and of the button are accepted.
        let expected = clock.get(&path).await.status;
        let expected_request = request_to_device(&mut clock);
        for mark in ours {
            let answer = clock.send("GET", &path, &[BROWSER, mark], "").await;
            assert_eq!(answer.status, expected, "{path} {mark}");
            assert_eq!(
                request_to_device(&mut clock),
                expected_request,
                "{path} {mark}"
            );
        }
        let pressed = format!("{path}?pressed");
        for (mark, status) in [
            (own_origin.as_str(), expected),
            ("Origin: null", 403),
            ("Origin: http://evil.example", 403),
        ] {
            let sent = [BROWSER, mark, "Content-Length: 0"];
            let answer = clock.send("POST", &pressed, &sent, "").await;
            assert_eq!(answer.status, status, "{path} {mark}");
            let expected = expected_request.clone().filter(|_| status != 403);
            assert_eq!(request_to_device(&mut clock), expected, "{path} {mark}");
        }
    }
    let plain = clock.send("POST", "/api/show/screen/7", &[], "").await;
    assert_eq!(plain.status, 405, "the deprecated request is a GET");

    // Each of these headers alone identifies a browser. Programs send none of them, and no browser sends all.
    for mark in [
        "Accept: text/html,application/xhtml+xml",
        "Accept: image/avif,image/webp,*/*;q=0.8",
        "Sec-Fetch-Dest: image",
        "Sec-GPC: 1",
        "User-Agent: Opera/9.80 (X11; Linux x86_64)",
        "User-Agent: AppleCoreMedia/1.0.0.21A329 (iPhone)",
        "User-Agent: stagefright/1.2 (Linux;Android 14)",
        "User-Agent: x Mozilla/5.0",
    ] {
        let answer = clock.send("GET", "/api/restart", &[mark], "").await;
        assert_eq!(answer.status, 403, "{mark}");
        assert_eq!(request_to_device(&mut clock), None, "{mark}");
    }
    let python = [
        "Accept: application/json, text/html",
        "User-Agent: aiohttp/3.13",
    ];
    let node = ["Accept: */*", "Sec-Fetch-Mode: cors", "User-Agent: node"];
    for program in [&python[..], &node] {
        let answer = clock.send("GET", "/api/restart", program, "").await;
        assert_eq!(answer.status, 200, "{program:?}");
    }
}

/// The result page has the result and a link back.
#[tokio::test]
async fn the_button_leads_to_a_result_page() {
    let clock = Clock::real().await;
    let origin = format!("Origin: http://{}", clock.address);
    for (path, status, text) in [
        ("/api/full_refresh", 200, "Refresh all panels fully."),
        (
            "/api/show/screen/99",
            400,
            "Show a screen: unknown screen id.",
        ),
        ("/api/show/currency/XYZ7", 404, "currency not active."),
    ] {
        let path = format!("{path}?pressed");
        let sent = [BROWSER, &origin, "Content-Length: 0"];
        let answer = clock.send("POST", &path, &sent, "").await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(
            answer.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        let title = if status == 200 { "<h1>Done</h1>" } else { "<h1>Not done</h1>" };
        let depth = path.matches('/').count() - 1;
        let link = format!("<a href=\"{}\">", "../".repeat(depth));
        for part in [title, text, &link] {
            assert!(answer.text().contains(part), "{path}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn the_page_with_the_button_shows_any_path() {
    let clock = Clock::start().await;
    let path = "/api/show/text/\"'{{path}}&";
    let answer = clock.send("GET", path, &[BROWSER], "").await;
    assert_eq!(answer.status, 403);
    let page = answer.text();
    assert!(
        page.contains("<code>/api/show/text/&quot;&#39;{{path}}&amp;</code>"),
        "{page}"
    );
}

#[tokio::test]
async fn only_allowed_origins_may_read() {
    let clock = Clock::with(Setup {
        allow_origins: vec!["http://localhost:5173".into()],
        ..Setup::default()
    })
    .await;
    let allowed = clock
        .send("GET", "/api/status", &["Origin: http://localhost:5173"], "")
        .await;
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        Some("http://localhost:5173")
    );
    // A cached response of one origin is not used for another one.
    for path in ["/openapi.json", "/api/panels/0.png"] {
        for headers in [&["Origin: http://localhost:5173"][..], &[]] {
            let answer = clock.send("GET", path, headers, "").await;
            let vary = answer.headers.iter().filter(|(name, _)| name == "vary");
            let vary: Vec<_> = vary.map(|(_, value)| value.as_str()).collect();
            let vary = vary.join(", ");
            assert!(vary.contains("Origin"), "{path} {headers:?}: {vary}");
        }
    }
    let other = clock
        .send("GET", "/api/status", &["Origin: http://evil.example"], "")
        .await;
    assert_eq!(
        (other.status, other.header("access-control-allow-origin")),
        (200, None)
    );

    let preflight_headers = [
        "Origin: http://localhost:5173",
        "Access-Control-Request-Method: PATCH",
    ];
    let preflight = clock
        .send("OPTIONS", "/api/settings", &preflight_headers, "")
        .await;
    assert_eq!(preflight.status, 204);
    let allowed = |what: &str| {
        let header = preflight.header(&format!("access-control-allow-{what}"));
        let words = header.unwrap().split(", ").map(str::to_owned);
        words.collect::<std::collections::BTreeSet<_>>()
    };
    for method in ["GET", "POST", "PATCH", "DELETE"] {
        assert!(allowed("methods").contains(method), "{method}");
    }
    for header in [
        "Content-Type",
        "Authorization",
        "If-Match",
        "If-None-Match",
        "X-Sign-In",
    ] {
        assert!(allowed("headers").contains(header), "{header}");
    }
    let preflight_headers = [
        "Origin: http://evil.example",
        "Access-Control-Request-Method: PATCH",
    ];
    assert_eq!(
        clock
            .send("OPTIONS", "/api/settings", &preflight_headers, "")
            .await
            .status,
        403
    );
}

/// Another site could misuse clicks in a frame (clickjacking).
#[tokio::test]
async fn only_allowed_origins_may_frame_the_page() {
    for (allowed, ancestors) in [
        (&[][..], "frame-ancestors 'self'"),
        (
            &["http://home.example:8123".to_string()],
            "frame-ancestors 'self' http://home.example:8123",
        ),
    ] {
        let clock = Clock::with(Setup {
            allow_origins: allowed.to_vec(),
            ..Setup::default()
        })
        .await;
        for path in [
            "/",
            "/settings",
            "/settings/quiet",
            "/docs",
            "/docs.js",
            "/glass?live",
        ] {
            let answer = clock.get(path).await;
            let policy = answer.header("content-security-policy").unwrap();
            assert!(policy.ends_with(ancestors), "{path}: {policy}");
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            assert!(!answer.text().contains("<style"), "{path}");
        }
    }
}

/// A page can rebind its own name to the clock's address (DNS rebinding), and send any User-Agent.
#[tokio::test]
async fn a_request_with_a_foreign_host_name_is_refused() {
    let mut clock = Clock::start().await;
    let agents = [BROWSER, "User-Agent: x", "Accept: */*"];
    let rows = [
        ("evil.example", false),
        ("papertick-a1b2c3.local", true),
        ("papertick-a1b2c3.fritz.box:8080", true),
        ("localhost:8080", true),
        ("127.0.0.1", true),
        ("clock:8080", true),
    ];
    for (host, passes) in rows {
        for agent in agents {
            for path in [
                "/api/settings",
                "/",
                "/events",
                "/api/preview/ws",
                "/nothing",
                "/api/restart",
            ] {
                let request = format!(
                    "HEAD {path} HTTP/1.1\r\nHost: {host}\r\n{agent}\r\nConnection: close\r\n\r\n"
                );
                let status = clock.raw(request.as_bytes()).await.status;
                assert_eq!(status != 403, passes, "{path} of {host}, {agent}: {status}");
            }
        }
    }
    let request =
        "GET /api/restart HTTP/1.1\r\nHost: evil.example:8080\r\nConnection: close\r\n\r\n";
    let refused = clock.raw(request.as_bytes()).await;
    let reason = refused.json()["error"].to_string();
    assert!(
        reason.contains("--public-url http://evil.example:8080"),
        "{reason}"
    );
    assert_eq!(request_to_device(&mut clock), None);
}

/// Servers and proxies could disagree about the target or the end of such a request.
#[tokio::test]
async fn an_ambiguous_request_is_refused() {
    let clock = Clock::start().await;
    #[rustfmt::skip]
    let rows = [
        ("/healthz HTTP/1.1", "Host: clock\r\n", 200),
        ("/healthz HTTP/1.1", "Host: clock\r\nHost: clock\r\n", 400),
        ("/healthz HTTP/1.1", "Host: clock\r\nHost: evil.example\r\n", 400),
        ("/healthz HTTP/1.1", "Host: cl\u{f6}ck\r\n", 400),
        ("/healthz HTTP/1.1", "", 400),
        ("/healthz HTTP/1.0", "", 200),
        ("http://clock/healthz HTTP/1.1", "Host: clock\r\n", 200),
        ("http://CLOCK:80/healthz HTTP/1.1", "Host: clock\r\n", 200),
        ("http://evil.example/healthz HTTP/1.1", "Host: clock\r\n", 400),
        ("http://clock:81/healthz HTTP/1.1", "Host: clock\r\n", 400),
        ("http://me@clock/healthz HTTP/1.1", "Host: clock\r\n", 400),
        ("http://clock/healthz HTTP/1.1", "", 400),
        ("http://clock/healthz HTTP/1.0", "", 400),
        ("/healthz HTTP/1.1", "Host: clock\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400),
        ("/healthz HTTP/1.1", "Host: clock\r\nContent-Length: x\r\n", 400),
    ];
    for (target, headers, status) in rows {
        let request = format!("GET {target}\r\n{headers}Connection: close\r\n\r\n");
        let answer = clock.raw(request.as_bytes()).await;
        assert_eq!(answer.status, status, "{target} {headers}");
    }
}

//! The portal of the access point: what it serves, and the results of attempts to join.

use std::{net::Ipv4Addr, time::Duration};

use board::{
    ports::{ProvisionError, Wifi, WifiNetwork},
    sim::{self, SimOptions},
};
use device::{
    input::{LinkEvent, LinkFailure},
    output::{AccessPoint, WifiPlan},
    secret::Secret,
};
use runtime::inbox::inbox;
use tokio::sync::{mpsc, watch};
use wifi::{TRY_LIMIT, chosen_panel};

use crate::support::{Answer, Clock, Setup};

/// A radio with a fixed result that records its credentials.
struct Puppet {
    networks: Vec<WifiNetwork>,
    outcome: Result<Option<String>, ProvisionError>,
    attempts: mpsc::Sender<(String, Secret, Duration)>,
}

impl Wifi for Puppet {
    async fn event(&mut self) -> LinkEvent {
        std::future::pending().await
    }

    async fn follow(&mut self, _plan: &WifiPlan) {}

    async fn scan(&mut self) -> Vec<WifiNetwork> {
        self.networks.clone()
    }

    async fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> Result<Option<String>, ProvisionError> {
        let attempt = (ssid.to_string(), password.clone(), limit);
        self.attempts.send(attempt).await.unwrap();
        self.outcome.clone()
    }

    async fn forget(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// A clock in access point mode. Its radio returns the same result for every attempt.
pub(crate) struct Portal {
    pub(crate) clock: Clock,
    attempts: mpsc::Receiver<(String, Secret, Duration)>,
    /// Inputs of the driver; it would end without this receiver.
    _inbox_drain: tokio::task::JoinHandle<()>,
    _plan: watch::Sender<WifiPlan>,
}

impl Portal {
    /// A portal whose radio joins every network.
    pub(crate) async fn new() -> Portal {
        Portal::with(Ok(Some("192.0.2.7".to_string()))).await
    }

    async fn with(outcome: Result<Option<String>, ProvisionError>) -> Portal {
        Portal::offering(outcome, false).await
    }

    async fn offering(
        outcome: Result<Option<String>, ProvisionError>,
        offers_panels: bool,
    ) -> Portal {
        let (attempts, received) = mpsc::channel(4);
        let network = |ssid: &str, rssi, secured| WifiNetwork {
            ssid: ssid.to_string(),
            rssi,
            secured,
        };
        let puppet = Puppet {
            networks: vec![
                network("Café {{script}}<b>\"'&", -70, false),
                network("Home", -48, true),
            ],
            outcome,
            attempts,
        };
        let (radio, orders) = wifi::radio();
        let (inbox, mut messages) = inbox();
        let plan = watch::Sender::new(WifiPlan {
            attempts: 0,
            access_point: None,
            tx_power: None,
        });
        tokio::spawn(wifi::run(
            puppet,
            plan.subscribe(),
            orders,
            Ipv4Addr::UNSPECIFIED.into(),
            inbox,
        ));
        let inbox_drain = tokio::spawn(async move { while messages.recv().await.is_some() {} });
        plan.send_modify(|plan| {
            plan.access_point = Some(AccessPoint {
                ssid: "papertick-ABCD".to_string(),
                password: Secret::new("hunter22"),
            });
        });
        let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
        let setup = Setup {
            radio,
            offers_panels,
            bench: Some(board.bench),
            ..Setup::default()
        };
        let clock = Clock::with(setup).await;
        clock.change(|view| {
            view.link.portal = Some("192.168.4.1".to_string());
            view.link.state = "access-point";
        });
        Portal {
            clock,
            attempts: received,
            _inbox_drain: inbox_drain,
            _plan: plan,
        }
    }

    async fn save(&self, body: &str) -> Answer {
        self.clock.json("POST", "/save", body).await
    }

    async fn form(&self, body: &str, accept: &str) -> Answer {
        let length = format!("Content-Length: {}", body.len());
        let headers = [
            "Content-Type: application/x-www-form-urlencoded",
            &length,
            accept,
        ];
        self.clock.send("POST", "/save", &headers, body).await
    }
}

#[tokio::test]
async fn only_the_portal_is_served() {
    let portal = Portal::new().await;
    for path in ["/", "/scan", "/api/scan", "/healthz", "/readyz"] {
        assert_eq!(portal.clock.get(path).await.status, 200, "{path}");
    }
    for request in [
        "GET /api/status",
        "GET /api/settings",
        "PATCH /api/settings",
        "POST /api/restart",
        "POST /api/factory_reset",
        "GET /api/panels.png",
        "POST /upload/firmware",
        "GET /events",
        "GET /api/nothing",
        "POST /nothing",
    ] {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = portal.clock.send(method, path, &[], "").await;
        assert_eq!(answer.status, 404, "{request}");
        assert_eq!(answer.json()["error"], "not found", "{request}");
    }
    let answer = portal.clock.send("DELETE", "/scan", &[], "").await;
    assert_eq!(answer.status, 405);
    assert_eq!(answer.header("allow"), Some("GET, HEAD"));
}

#[tokio::test]
async fn with_a_network_there_is_no_portal() {
    let clock = Clock::start().await;
    for request in ["GET /scan", "POST /save", "GET /api/scan", "POST /api/wifi"] {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = clock.send(method, path, &[], "").await;
        assert_eq!(answer.status, 404, "{request}");
    }
    assert!(!clock.get("/").await.text().contains("Choose a network"));
}

/// A page that resolves its name to the clock must not read the password on the panels or the networks in range.
#[tokio::test]
async fn a_page_of_another_site_reads_nothing_by_dns_rebinding() {
    let portal = Portal::new().await;
    for path in ["/sim/state", "/sim/panels.png", "/scan", "/api/scan"] {
        for (host, agent, status) in [
            ("evil.example", "Mozilla/5.0", 403),
            ("192.168.4.1", "Mozilla/5.0", 200),
            ("papertick-a1b2c3.local", "Mozilla/5.0", 200),
            ("evil.example", "curl/8.15.0", 403),
        ] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n"
            );
            let answer = portal.clock.raw(request.as_bytes()).await;
            assert_eq!(answer.status, status, "{path} {host} {agent}");
        }
    }
}

/// Captive portal probes of common systems: path and host name.
const PROBES: &[(&str, &str)] = &[
    ("connectivitycheck.gstatic.com", "/generate_204"),
    ("clients3.google.com", "/gen_204"),
    ("captive.apple.com", "/hotspot-detect.html"),
    ("www.apple.com", "/library/test/success.html"),
    ("www.msftconnecttest.com", "/connecttest.txt"),
    ("www.msftconnecttest.com", "/redirect"),
    ("www.msftncsi.com", "/ncsi.txt"),
    ("detectportal.firefox.com", "/success.txt?ipv4"),
    ("detectportal.firefox.com", "/canonical.html"),
    ("nmcheck.gnome.org", "/check_network_status.txt"),
    ("network-test.debian.org", "/nm"),
    ("fireoscaptiveportal.com", "/generate_204"),
    ("neverssl.com", "/online"),
    ("example.org", "/docs"),
];

#[tokio::test]
async fn captive_portal_probes_are_redirected() {
    let portal = Portal::new().await;
    let browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0";
    for (host, path) in PROBES {
        for agent in [browser, "User-Agent: CaptiveNetworkSupport"] {
            let host = format!("Host: {host}");
            let answer = portal.clock.send("GET", path, &[&host, agent], "").await;
            assert_eq!(answer.status, 302, "{host} {path}");
            assert_eq!(answer.header("location"), Some("http://192.168.4.1/"));
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }
}

#[tokio::test]
async fn other_host_names_are_redirected_to_the_portal() {
    let portal = Portal::new().await;
    let request = "GET / HTTP/1.1\r\nHost: neverssl.com\r\nUser-Agent: Mozilla/5.0 (Android 16)\r\nConnection: close\r\n\r\n";
    let answer = portal.clock.raw(request.as_bytes()).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, Some("http://192.168.4.1/"))
    );
}

#[tokio::test]
async fn the_page_lists_the_networks_and_loads_nothing_else() {
    let portal = Portal::new().await;
    let answer = portal.clock.get("/").await;
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'sha256-"));
    let page = answer.text();
    assert!(
        page.contains("value=\"Home\" checked"),
        "the strongest network is selected"
    );
    assert!(page.contains("Caf\u{e9} {{script}}&lt;b&gt;&quot;&#39;&amp;"));
    for part in [
        "<small>strong · password</small>",
        "<small>fair · open</small>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("action=\"/save?lang=en\"") && page.contains("name=\"pw\""));
    // The page has the address of the clock, and loads no other files.
    let rest = page.replace("http://papertick-a1b2c3.local:8080/", "");
    assert!(!rest.contains("http://") && !rest.contains("https://"));
    let rest = page.replace("Caf\u{e9} {{script}}", "");
    assert!(!rest.contains("{{"), "all placeholders are replaced");
}

#[tokio::test]
async fn the_panel_can_be_chosen_with_the_network() {
    let joined = Ok(Some("192.0.2.7".to_string()));
    let portal = Portal::offering(joined, true).await;
    let page = portal.clock.get("/").await;
    assert!(
        page.text()
            .contains("<option value=\"waveshare-7.5-v2\">Waveshare 7.5 in V2, since October 2023 (GDEY075T7)</option>")
    );

    let folder = portal.clock.folder.path();
    let chosen = || chosen_panel::read(folder).unwrap();
    for (body, expected) in [
        (
            "ssid=Home&display=waveshare-7.5-v2",
            Some("waveshare-7.5-v2"),
        ),
        ("ssid=Home", Some("waveshare-7.5-v2")),
        ("ssid=Home&display=", None),
        ("ssid=Home&display=inky-what", Some("inky-what")),
    ] {
        assert_eq!(portal.form(body, "Accept: */*").await.status, 200, "{body}");
        assert_eq!(chosen(), expected, "{body}");
    }
    let unknown = portal
        .save(r#"{"ssid":"Home","display":"waveshare-4.2"}"#)
        .await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]),
        (400, &"display unknown".into())
    );
    assert_eq!(chosen(), Some("inky-what"));
    let page = portal.clock.get("/").await;
    assert!(
        page.text()
            .contains("<option value=\"inky-what\" selected>")
    );
}

#[tokio::test]
async fn an_attempt_that_fails_changes_no_panel() {
    let portal = Portal::offering(Err(ProvisionError::Failed(LinkFailure::Auth)), true).await;
    let answer = portal
        .save(r#"{"ssid":"Home","display":"inky-what"}"#)
        .await;
    assert_eq!(answer.status, 401);
    assert_eq!(
        chosen_panel::read(portal.clock.folder.path()).unwrap(),
        None
    );
}

#[tokio::test]
async fn strangers_at_an_open_access_point_press_no_buttons() {
    let portal = Portal::new().await;
    for (is_open, status) in [(false, 200), (true, 404)] {
        portal.clock.change(|view| view.link.is_open = is_open);
        let page = portal.clock.get("/").await;
        let warns = page.text().contains("This Wi-Fi has no password");
        assert_eq!(warns, is_open);
        for path in ["/sim/state", "/sim/panels.png"] {
            assert_eq!(portal.clock.get(path).await.status, status, "{path}");
        }
        let press = r#"{"press":[1],"ms":1}"#;
        let answer = portal.clock.json("POST", "/sim/buttons", press).await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn the_panel_of_the_start_configuration_cannot_be_changed() {
    let portal = Portal::new().await;
    let page = portal.clock.get("/").await;
    assert!(!page.text().contains("<select") && !page.text().contains("no password"));
    let answer = portal
        .save(r#"{"ssid":"Home","display":"inky-what"}"#)
        .await;
    let error = "display cannot be chosen: the start configuration names the panels";
    assert_eq!(
        (answer.status, &answer.json()["error"]),
        (400, &error.into())
    );
}

#[tokio::test]
async fn the_page_has_the_result_of_the_last_attempt() {
    let portal = Portal::new().await;
    portal
        .clock
        .change(|view| view.link.failure = Some(LinkFailure::Auth.name()));
    let page = portal.clock.get("/").await;
    let text = page.text();
    let message = "The last attempt failed: the password is wrong.";
    let (before, _) = text.split_once(message).unwrap();
    let element = &before[before.rfind('<').unwrap()..];
    assert!(!element.contains("hidden"), "{element}");
}

#[tokio::test]
async fn the_scan_lists_the_strongest_first() {
    let portal = Portal::new().await;
    for path in ["/scan", "/api/scan"] {
        let answer = portal.clock.get(path).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(
            answer.json(),
            serde_json::json!([
                { "ssid": "Home", "rssi": -48, "secured": true, "secure": true },
                { "ssid": "Café {{script}}<b>\"'&", "rssi": -70, "secured": false, "secure": false },
            ])
        );
    }
}

#[tokio::test]
async fn right_credentials_are_stored() {
    #[rustfmt::skip]
    let rows = [
        ("/save", "application/json", r#"{"ssid":"Home","pw":"s p&c=1"}"#),
        ("/api/wifi", "application/json", r#"{"ssid":"Home","pw":"s p&c=1"}"#),
        ("/save", "text/plain", r#"{"ssid":"Home","pw":"s p&c=1"}"#),
        ("/api/wifi", "application/x-www-form-urlencoded", "ssid=Home&pw=s+p%26c%3D1"),
        ("/save", "application/x-www-form-urlencoded", "ssid=&other=Home&pw=s+p%26c%3D1"),
    ];
    for (path, content_type, body) in rows {
        let mut portal = Portal::new().await;
        let content_type = format!("Content-Type: {content_type}");
        let length = format!("Content-Length: {}", body.len());
        let headers = [content_type.as_str(), &length];
        let answer = portal.clock.send("POST", path, &headers, body).await;
        assert_eq!(answer.status, 200, "{body}");
        let expected = serde_json::json!({ "ok": true, "ip": "192.0.2.7" });
        assert_eq!(answer.json(), expected, "{body}");
        let (ssid, password, limit) = portal.attempts.recv().await.unwrap();
        assert_eq!((&*ssid, password.expose()), ("Home", "s p&c=1"), "{body}");
        assert_eq!(limit, TRY_LIMIT);
    }
}

#[tokio::test]
async fn a_network_key_in_hex_is_accepted() {
    let key = "0123456789abcdef".repeat(4);
    let body = serde_json::json!({ "ssid": "Home", "pw": key });
    let mut portal = Portal::new().await;
    assert_eq!(portal.save(&body.to_string()).await.status, 200);
    let (_, password, _) = portal.attempts.recv().await.unwrap();
    assert_eq!(password.expose(), key);
}

#[tokio::test]
async fn an_open_network_needs_no_password() {
    // The longest name has 32 bytes.
    let longest = "é".repeat(16);
    for (name, rest) in [
        ("Café", ""),
        ("Café", r#","pw":"""#),
        ("Café", r#","pw":null"#),
        (&longest, ""),
    ] {
        let body = format!(r#"{{"ssid":"{name}"{rest}}}"#);
        let mut portal = Portal::new().await;
        assert_eq!(portal.save(&body).await.status, 200, "{body}");
        let (ssid, password, _) = portal.attempts.recv().await.unwrap();
        assert_eq!((&*ssid, password.is_empty()), (name, true));
    }
}

#[tokio::test]
async fn wrong_credentials_are_answered_with_the_reason() {
    #[rustfmt::skip]
    let rows = [
        (LinkFailure::NotFound, 422, "no_ap_found", 201, "no network of that name is in reach"),
        (LinkFailure::Auth, 401, "auth_fail", 202, "the password is wrong"),
        (LinkFailure::Association, 422, "assoc_fail", 203, "the network refused the clock"),
        (LinkFailure::Handshake, 401, "handshake_timeout", 204, "the network broke the handshake off, most often over a wrong password"),
        (LinkFailure::Connection, 422, "connection_fail", 205, "the connection was lost"),
        (LinkFailure::Timeout, 422, "timeout", 0, "the network did not answer in time"),
        (LinkFailure::Lost, 422, "lost", 0, "the network was lost"),
    ];
    for (failure, status, code, reason, words) in rows {
        let portal = Portal::with(Err(ProvisionError::Failed(failure))).await;
        let answer = portal.save(r#"{"ssid":"Home","pw":"x"}"#).await;
        assert_eq!(answer.status, status, "{code}");
        let body = answer.json();
        assert_eq!(body["ok"], false, "{code}");
        assert_eq!(body["code"], code);
        assert_eq!(body["reason"], reason, "{code}");
        assert_eq!(body["error"], words);
    }
}

#[tokio::test]
async fn credentials_that_cannot_be_stored_are_reported() {
    let portal = Portal::with(Err(ProvisionError::NotStored("disk full".to_string()))).await;
    let answer = portal.save(r#"{"ssid":"Home","pw":"x"}"#).await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.json()["code"], "not_stored");
}

#[tokio::test]
async fn bad_bodies_are_refused_and_never_tried() {
    let long = format!(r#"{{"ssid":"Home","pw":"{}"}}"#, "x".repeat(600));
    let long_name = format!(r#"{{"ssid":"{}"}}"#, "x".repeat(33));
    let long_password = format!(r#"{{"ssid":"a","pw":"{}"}}"#, "x".repeat(65));
    let mut portal = Portal::new().await;
    for (body, error) in [
        ("", "invalid body"),
        ("{", "invalid body"),
        ("[]", "invalid body"),
        ("\"Home\"", "invalid body"),
        (&long, "invalid body"),
        (r#"{"ssid":3}"#, "invalid body"),
        (r#"{"ssid":"a","pw":3}"#, "invalid body"),
        ("{}", "ssid required"),
        (r#"{"ssid":""}"#, "ssid required"),
        (r#"{"ssid":null}"#, "ssid required"),
        (r#"{"pw":"x"}"#, "ssid required"),
        (&long_name, "ssid invalid"),
        (r#"{"ssid":"a\u0000"}"#, "ssid invalid"),
        (&long_password, "pw invalid"),
        (r#"{"ssid":"a","pw":"a\nb"}"#, "pw invalid"),
    ] {
        let answer = portal.save(body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"], error, "{body}");
    }
    for body in ["pw=x", "ssid=&other=", "nothing"] {
        let answer = portal.form(body, "Accept: */*").await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"], "ssid required", "{body}");
    }
    assert!(
        portal.attempts.try_recv().is_err(),
        "the radio attempts no connection"
    );
}

#[tokio::test]
async fn a_browser_without_scripts_gets_pages() {
    const HTML: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";
    let portal = Portal::new().await;
    let answer = portal.form("ssid=Home&pw=x", HTML).await;
    assert_eq!(answer.status, 200);
    for address in ["papertick-a1b2c3.local", "192.0.2.7"] {
        let address = format!("<b>http://{address}:8080/</b>");
        assert!(answer.text().contains(&address), "{address}");
    }

    let portal = Portal::with(Err(ProvisionError::Failed(LinkFailure::Auth))).await;
    let answer = portal.form("ssid=Home&pw=x", HTML).await;
    assert_eq!(answer.status, 401);
    assert!(
        answer
            .text()
            .contains("That did not work: the password is wrong.")
    );
    assert!(
        answer.text().contains("<form"),
        "the form can be sent again"
    );

    let answer = portal.form("pw=x", HTML).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("ssid required"));
}

#[tokio::test]
async fn the_page_has_the_later_address_in_the_language_of_the_browser() {
    let portal = Portal::with(Err(ProvisionError::Failed(LinkFailure::Auth))).await;
    let german = "Accept-Language: de-AT,en;q=0.7";
    for (path, accepted, title) in [
        ("/", "Accept-Language: fr", "Choose a network"),
        ("/", german, "Netzwerk wählen"),
        ("/?lang=nl", german, "Kies een netwerk"),
        ("/?lang=es", "Accept: */*", "Elige una red"),
        ("/?lang=xx", german, "Netzwerk wählen"),
    ] {
        let answer = portal.clock.send("GET", path, &[accepted], "").await;
        let text = answer.text();
        assert!(text.contains(title), "{path} {accepted}");
        assert!(
            text.contains("http://papertick-a1b2c3.local:8080/"),
            "{path}"
        );
        assert!(text.contains("id=\"show\""), "{path}");
        for code in ["en", "de", "nl", "es"] {
            let link = format!("href=\"/?lang={code}\" lang=\"{code}\"");
            assert!(text.contains(&link), "{path} {code}");
        }
    }
    let body = r#"{"ssid":"Home","pw":"x"}"#;
    let plain = portal.save(body).await.json();
    let german = portal
        .clock
        .json("POST", "/save?lang=de", body)
        .await
        .json();
    assert_eq!(plain["error"], "the password is wrong");
    assert_eq!(german["error"], "das Passwort ist falsch");
    assert_eq!(plain["code"], german["code"]);
}

#[tokio::test]
async fn a_page_of_another_site_cannot_join_a_network() {
    let mut portal = Portal::new().await;
    let body = r#"{"ssid":"Evil","pw":"12345678"}"#;
    let length = format!("Content-Length: {}", body.len());
    let headers = ["Origin: http://evil.example", length.as_str()];
    let answer = portal.clock.send("POST", "/save", &headers, body).await;
    assert_eq!(answer.status, 403);
    // A foreign name that resolves to the clock.
    let headers = [
        "Host: evil.example",
        "Origin: http://evil.example",
        length.as_str(),
    ];
    let answer = portal.clock.send("POST", "/save", &headers, body).await;
    assert_eq!(answer.status, 403);
    assert!(portal.attempts.try_recv().is_err());
}

#[tokio::test]
async fn without_a_radio_nothing_is_tried() {
    let clock = Clock::start().await;
    clock.change(|view| view.link.portal = Some("192.168.4.1".to_string()));
    let answer = clock.json("POST", "/save", r#"{"ssid":"Home"}"#).await;
    assert_eq!(answer.status, 503);
    assert_eq!(clock.get("/scan").await.text(), "[]");
}

//! Typed access to settings.

use device::{
    secret::Secret,
    settings::Settings,
    sources::{self, ProxyProtocol, ProxySettings, RouteSettings},
};

fn with_proxy(kind: u32) -> Settings {
    Settings {
        proxy_enabled: true,
        proxy_type: kind,
        proxy_host: "proxy.lan".into(),
        proxy_port: 3128,
        proxy_user: "me".into(),
        proxy_pass: Secret::new("pw"),
        proxy_bypass: "*.lan".into(),
        ..Settings::default()
    }
}

fn route(kind: ProxyProtocol, user: &str, pass: &str) -> RouteSettings {
    RouteSettings {
        proxy: Some(ProxySettings {
            kind,
            host: "proxy.lan".into(),
            port: 3128,
            user: user.into(),
            pass: Secret::new(pass),
            bypass: "*.lan".into(),
        }),
    }
}

#[test]
fn the_route_follows_the_proxy_settings() {
    assert_eq!(sources::route(&with_proxy(0)), RouteSettings::default());
    assert_eq!(
        sources::route(&with_proxy(1)),
        route(ProxyProtocol::HttpConnect, "me", "pw")
    );
    assert_eq!(
        sources::route(&with_proxy(2)),
        route(ProxyProtocol::Socks4, "", "")
    );
    assert_eq!(
        sources::route(&with_proxy(3)),
        route(ProxyProtocol::Socks4a, "", "")
    );
    assert_eq!(
        sources::route(&with_proxy(4)),
        route(ProxyProtocol::Socks5, "me", "pw")
    );
    let off = Settings {
        proxy_enabled: false,
        ..with_proxy(1)
    };
    assert_eq!(sources::route(&off), RouteSettings::default());
}

#[test]
fn host_names_are_labels() {
    let long = "x".repeat(256);
    let cut = format!("{}-a1b2c3", "x".repeat(56));
    let rows = [
        ("papertick", "papertick-a1b2c3"),
        ("Living Room!", "Living-Room-a1b2c3"),
        ("--x--", "x-a1b2c3"),
        ("", "papertick-a1b2c3"),
        ("日本", "papertick-a1b2c3"),
        (long.as_str(), cut.as_str()),
    ];
    for (prefix, expected) in rows {
        let settings = Settings {
            hostname_prefix: prefix.into(),
            ..Settings::default()
        };
        let hostname = settings.hostname("a1b2c3");
        assert_eq!(hostname, expected);
        assert!(hostname.len() <= 63);
    }
}

#[test]
fn names_that_lead_nowhere_have_a_stand_in() {
    let settings = Settings {
        tz_string: "Mars/Olympus".into(),
        font_name: "dejavu".into(),
        mining_pool_name: "gone".into(),
        nostr_zap_pubkey: "AB".repeat(32),
        ..Settings::default()
    };
    assert_eq!(
        (
            settings.zone().name(),
            settings.font().id(),
            settings.pool()
        ),
        ("UTC", "antonio", None)
    );
    assert_eq!(settings.zap_recipients(), ["ab".repeat(32)]);
    let fresh = Settings::default();
    assert_eq!(
        (fresh.zone().name(), fresh.pool().unwrap().id),
        ("Europe/Amsterdam", "noderunners")
    );
}

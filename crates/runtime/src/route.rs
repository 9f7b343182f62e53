//! The route of outbound connections, from the settings to the dialer.

use device::sources;
use net::route::{Proxy, ProxyKind, ProxyPassword, Route};

/// Converts the route settings to those of the dialer.
pub fn route(settings: &sources::RouteSettings) -> Route {
    let proxy = settings.proxy.as_ref().map(|proxy| Proxy {
        kind: match proxy.kind {
            sources::ProxyProtocol::HttpConnect => ProxyKind::HttpConnect,
            sources::ProxyProtocol::Socks4 => ProxyKind::Socks4,
            sources::ProxyProtocol::Socks4a => ProxyKind::Socks4a,
            sources::ProxyProtocol::Socks5 => ProxyKind::Socks5,
        },
        host: proxy.host.expose().to_owned(),
        label: proxy.host.to_string(),
        port: proxy.port,
        user: proxy.user.clone(),
        pass: ProxyPassword::new(proxy.pass.expose()),
        bypass: proxy.bypass.clone(),
    });
    Route { proxy }
}

#[cfg(test)]
mod tests {
    use device::secret::Secret;

    use super::*;

    #[test]
    fn each_kind_of_proxy_is_converted() {
        for (settings, kind) in [
            (sources::ProxyProtocol::HttpConnect, ProxyKind::HttpConnect),
            (sources::ProxyProtocol::Socks4, ProxyKind::Socks4),
            (sources::ProxyProtocol::Socks4a, ProxyKind::Socks4a),
            (sources::ProxyProtocol::Socks5, ProxyKind::Socks5),
        ] {
            let proxy = sources::ProxySettings {
                kind: settings,
                host: "me:planted@proxy".into(),
                port: 9050,
                user: "alice".to_string(),
                pass: Secret::new("planted"),
                bypass: "*.local,10.*".to_string(),
            };
            let route = route(&sources::RouteSettings { proxy: Some(proxy) });
            let expected = Proxy {
                kind,
                host: "me:planted@proxy".to_string(),
                label: "me:***@proxy".to_string(),
                port: 9050,
                user: "alice".to_string(),
                pass: ProxyPassword::new("planted"),
                bypass: "*.local,10.*".to_string(),
            };
            assert!(!format!("{route:?}").contains("planted"), "{route:?}");
            assert_eq!(route.proxy, Some(expected));
        }
        assert_eq!(
            route(&sources::RouteSettings { proxy: None }),
            Route::default()
        );
    }
}

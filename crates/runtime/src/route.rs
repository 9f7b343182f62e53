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

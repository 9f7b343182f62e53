//! The route of outbound connections: direct, or through a proxy.

use alloc::string::String;

use crate::{
    secret::{Endpoint, Secret},
    settings::Settings,
};

/// The route of outbound connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The proxy; `None` to connect directly.
    pub proxy: Option<Proxy>,
}

impl Route {
    /// The route that the settings configure.
    pub fn of(settings: &Settings) -> Route {
        let kind = match settings.proxy_type {
            1 => ProxyKind::HttpConnect,
            2 => ProxyKind::Socks4,
            3 => ProxyKind::Socks4a,
            4 => ProxyKind::Socks5,
            _ => return Route::default(),
        };
        let Ok(port) = u16::try_from(settings.proxy_port) else {
            return Route::default();
        };
        if !settings.proxy_enabled || settings.proxy_host.is_empty() {
            return Route::default();
        }
        // SOCKS4 and SOCKS4a have no password. Without it, a change of the setting reconnects nothing.
        let (user, pass) = match kind {
            ProxyKind::Socks4 | ProxyKind::Socks4a => Default::default(),
            ProxyKind::HttpConnect | ProxyKind::Socks5 => {
                (settings.proxy_user.clone(), settings.proxy_pass.clone())
            }
        };
        Route {
            proxy: Some(Proxy {
                kind,
                host: settings.proxy_host.clone(),
                port,
                user,
                pass,
                bypass: settings.proxy_bypass.clone(),
            }),
        }
    }
}

/// An outbound proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its protocol.
    pub kind: ProxyKind,
    /// Its host.
    pub host: Endpoint,
    /// Its port.
    pub port: u16,
    /// User name; empty for none.
    pub user: String,
    /// Password.
    pub pass: Secret,
    /// Hosts that are reached directly, as the owner wrote them.
    pub bypass: String,
}

/// The protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP CONNECT.
    HttpConnect,
    /// SOCKS4; names are resolved here.
    Socks4,
    /// SOCKS4a; the proxy resolves names.
    Socks4a,
    /// SOCKS5; the proxy resolves names.
    Socks5,
}

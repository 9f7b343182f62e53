//! The route of a connection: direct, or through a proxy.

use std::fmt;

/// The route of outbound connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The proxy. `None` for direct connections.
    pub proxy: Option<Proxy>,
}

/// An outbound proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its protocol.
    pub kind: ProxyKind,
    /// Its host.
    pub host: String,
    /// The host in error messages, without a password that may be part of it.
    pub label: String,
    /// Its port.
    pub port: u16,
    /// User name; empty for none.
    pub user: String,
    /// Password.
    pub pass: ProxyPassword,
    /// Hosts that are connected directly: globs separated by commas.
    pub bypass: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The host as written may contain a password.
        f.debug_struct("Proxy")
            .field("kind", &self.kind)
            .field("host", &self.label)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("pass", &self.pass)
            .field("bypass", &self.bypass)
            .finish()
    }
}

/// Protocol of a proxy.
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

/// The password of a proxy. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ProxyPassword(String);

impl ProxyPassword {
    /// Stores a password.
    pub fn new(text: impl Into<String>) -> ProxyPassword {
        ProxyPassword(text.into())
    }

    /// The password, only for the proxy.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProxyPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyPassword(***)")
    }
}

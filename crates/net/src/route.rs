//! Which way a connection takes: straight, or through a proxy.

use std::fmt;

/// The way outbound connections take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The proxy; none connects directly.
    pub proxy: Option<Proxy>,
}

/// An outbound proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Protocol spoken to it.
    pub kind: ProxyKind,
    /// Its host.
    pub host: String,
    /// What errors call its host: the host, without a password that may have been written into it.
    pub label: String,
    /// Its port.
    pub port: u16,
    /// User name; empty for none.
    pub user: String,
    /// Password.
    pub pass: ProxyPassword,
    /// Hosts that are reached directly: globs with commas between them.
    pub bypass: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The host as it was written may hold a password.
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

/// Protocol spoken to a proxy.
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
    /// Keeps a password.
    pub fn new(text: impl Into<String>) -> ProxyPassword {
        ProxyPassword(text.into())
    }

    /// The password, for the proxy alone.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProxyPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyPassword(***)")
    }
}

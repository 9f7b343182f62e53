//! URLs of upstreams, reduced to what a dialer needs: scheme, host, port and path.

use std::fmt;

/// Protocol and transport security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    /// HTTP through TLS.
    Https,
    /// A plain WebSocket.
    Ws,
    /// A WebSocket through TLS.
    Wss,
}

impl Scheme {
    const ALL: [Scheme; 4] = [Scheme::Http, Scheme::Https, Scheme::Ws, Scheme::Wss];

    /// The scheme as written before `://`.
    pub fn word(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Ws => "ws",
            Scheme::Wss => "wss",
        }
    }

    /// Returns whether it uses TLS.
    pub fn is_secure(self) -> bool {
        match self {
            Scheme::Http | Scheme::Ws => false,
            Scheme::Https | Scheme::Wss => true,
        }
    }

    /// The default port.
    pub fn default_port(self) -> u16 {
        if self.is_secure() { 443 } else { 80 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub scheme: Scheme,
    /// Host name or address; an IPv6 address without its brackets.
    pub host: String,
    pub port: u16,
    /// Path and query; starts with a slash.
    pub path: String,
}

/// Why a text is not a usable URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// The scheme is missing or not supported.
    #[error("the address has no supported scheme")]
    Scheme,
    /// The host is missing or invalid.
    #[error("the address has no host")]
    Host,
    /// It contains a user name.
    #[error("the address contains a user name or password, which are not supported")]
    Login,
    /// The port is not a number from 1 to 65535.
    #[error("the address has no usable port")]
    Port,
    /// The path contains bytes that are not allowed in a request, such as spaces.
    #[error("the address has a path that cannot be requested")]
    Path,
}

impl Url {
    /// Parses an absolute URL; a fragment is dropped.
    ///
    /// # Errors
    /// A part is missing or invalid.
    pub fn parse(text: &str) -> Result<Url, BadUrl> {
        let (word, rest) = text.split_once("://").ok_or(BadUrl::Scheme)?;
        let scheme = Scheme::ALL
            .into_iter()
            .find(|scheme| scheme.word().eq_ignore_ascii_case(word))
            .ok_or(BadUrl::Scheme)?;
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(BadUrl::Login);
        }
        let (host, port) = split_authority(authority)?;
        let port = port.unwrap_or(scheme.default_port());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadUrl::Path);
        }
        Ok(Url {
            scheme,
            host: host.to_owned(),
            port,
            path,
        })
    }

    /// Host and port as in a `Host` header: the port only if it is not the default.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            bracketed(&self.host).into_owned()
        } else {
            format!("{}:{}", bracketed(&self.host), self.port)
        }
    }

    /// Scheme, host and port, as text.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme.word(), self.authority())
    }

    /// Returns whether both have the same scheme, host and port.
    pub fn same_origin(&self, other: &Url) -> bool {
        self.scheme == other.scheme
            && self.host.eq_ignore_ascii_case(&other.host)
            && self.port == other.port
    }

    /// Resolves a `Location` header.
    ///
    /// # Errors
    /// The result is invalid.
    pub fn join(&self, location: &str) -> Result<Url, BadUrl> {
        let location = location.trim();
        if location.contains("://") {
            return Url::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            return Url::parse(&format!("{}://{rest}", self.scheme.word()));
        }
        let path = if location.starts_with('/') {
            location.to_owned()
        } else {
            let plain = self.path.split('?').next().unwrap_or("/");
            let folder = plain.rfind('/').map_or("/", |slash| &plain[..=slash]);
            format!("{folder}{location}")
        };
        Url::parse(&format!("{}{path}", self.origin()))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.origin(), self.path)
    }
}

/// Splits `host`, `host:port`, `[v6]` and `[v6]:port`.
///
/// # Errors
/// The host is missing, or the port is invalid.
pub fn split_authority(authority: &str) -> Result<(&str, Option<u16>), BadUrl> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(BadUrl::Host)?;
            match after {
                "" => (host, None),
                _ => (host, Some(after.strip_prefix(':').ok_or(BadUrl::Port)?)),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let fit = |byte: u8| byte.is_ascii_graphic() && !b"@\\/?#[]<>\"".contains(&byte);
    if host.is_empty() || !host.bytes().all(fit) {
        return Err(BadUrl::Host);
    }
    let port = port.map(parse_port).transpose()?;
    Ok((host, port))
}

/// Brackets an IPv6 address; other hosts are unchanged.
pub fn bracketed(host: &str) -> std::borrow::Cow<'_, str> {
    if host.contains(':') { format!("[{host}]").into() } else { host.into() }
}

fn parse_port(text: &str) -> Result<u16, BadUrl> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if digits && port > 0 => Ok(port),
        Ok(_) | Err(_) => Err(BadUrl::Port),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn urls_are_parsed() {
        #[rustfmt::skip]
        let rows = [
            ("wss://relay.damus.io", "wss relay.damus.io 443 /"),
            ("wss://mempool.space/api/v1/ws", "wss mempool.space 443 /api/v1/ws"),
            ("https://api.coinbase.com/v2/time?x=1", "https api.coinbase.com 443 /v2/time?x=1"),
            ("https://example.com:8443/foo", "https example.com 8443 /foo"),
            ("http://[::1]:8080/x#part", "http ::1 8080 /x"),
            ("HTTP://Host?x=1", "http Host 80 /?x=1"),
        ];
        for (text, expected) in rows {
            let url = Url::parse(text).unwrap();
            let parts = format!(
                "{} {} {} {}",
                url.scheme.word(),
                url.host,
                url.port,
                url.path
            );
            assert_eq!(parts, expected, "{text}");
        }
    }

    #[test]
    fn invalid_urls_are_refused() {
        let rows = [
            ("", BadUrl::Scheme),
            ("ws.example.com", BadUrl::Scheme),
            ("ftp://example.com", BadUrl::Scheme),
            ("wss:///api", BadUrl::Host),
            ("https://user:pass@example.com/", BadUrl::Login),
            ("https://user@example.com/", BadUrl::Login),
            ("http://exa mple/", BadUrl::Host),
            ("http://example:0/", BadUrl::Port),
            ("http://example:+80/", BadUrl::Port),
            ("http://example:65536/", BadUrl::Port),
            ("http://example/a b", BadUrl::Path),
            ("http://example/a\r\nHost: x", BadUrl::Path),
        ];
        for (text, expected) in rows {
            assert_eq!(Url::parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn redirects_are_resolved() {
        let from = Url::parse("https://a.example:8443/x/y?q=1").unwrap();
        let rows = [
            ("http://b.example/z", "http://b.example/z"),
            ("//b.example/z", "https://b.example/z"),
            ("/z?k=v", "https://a.example:8443/z?k=v"),
            ("z", "https://a.example:8443/x/z"),
        ];
        for (location, expected) in rows {
            assert_eq!(from.join(location).unwrap().to_string(), expected);
        }
    }
}

//! Reverse proxies in front of the clock: client address, host and path of a request.
//!
//! Headers of a proxy are trusted only if the connection comes from a trusted address. The proxy must set them itself,
//! because it forwards the client's headers that it does not set.

use std::{fmt::Write as _, net::IpAddr, str::FromStr};

use api::operations;
use device::settings::kinds::hosts;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Uri,
    header::{FORWARDED, HOST},
    uri::PathAndQuery,
};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const INGRESS_PATH: HeaderName = HeaderName::from_static("x-ingress-path");

/// Longest path prefix in bytes.
const PREFIX_MAX: usize = 256;

/// Most public URLs and most address ranges of proxies.
pub const ENTRIES_MAX: usize = 32;

/// A range of addresses, such as `172.16.0.0/12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    network: IpAddr,
    bits: u32,
}

/// An address under which browsers reach the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    /// Scheme, host and port, in lower case.
    pub origin: String,
    /// Path without a slash at the end; empty for `/`.
    pub prefix: String,
}

/// How browsers reach the clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicAccess {
    /// Addresses of trusted proxies.
    pub proxies: Vec<AddressRange>,
    /// Addresses under which browsers reach the clock.
    pub urls: Vec<PublicUrl>,
    /// Home Assistant runs this program: it has authenticated requests with its ingress header. Other proxies pass on
    /// the header of a browser.
    pub has_ingress: bool,
}

/// Address under which a client reaches the clock, without a slash at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseUrl(pub String);

/// Where a request comes from, after the headers of trusted proxies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSource {
    pub client: IpAddr,
    /// The request comes through the Home Assistant ingress, which authenticates; any host name is accepted.
    pub is_ingress: bool,
    /// Address under which the client reaches the clock, without a slash at the end.
    pub base: BaseUrl,
    /// Where to redirect to, if the path is the prefix without the slash at the end.
    pub redirect: Option<String>,
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<AddressRange, String> {
        let mistake = || format!("`{text}` is not an address or a range such as 172.16.0.0/12");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let network: IpAddr = address.parse().map_err(|_| mistake())?;
        let bits_max = if network.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => bits_max,
            Some(bits) => bits.parse().map_err(|_| mistake())?,
        };
        (bits <= bits_max)
            .then_some(AddressRange { network, bits })
            .ok_or_else(mistake)
    }
}

impl AddressRange {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.network, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differing = network.to_bits() ^ address.to_bits();
                differing.leading_zeros() >= self.bits
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differing = network.to_bits() ^ address.to_bits();
                differing.leading_zeros() >= self.bits
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicUrl, String> {
        let mistake = |why: &str| format!("`{text}` is not a public URL: {why}");
        let uri: Uri = text
            .parse()
            .map_err(|_| mistake("write it as https://home.example/clock"))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) =
            (uri.scheme_str(), uri.authority())
        else {
            return Err(mistake("it must begin with http:// or https://"));
        };
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(mistake("it must have no user name and no query"));
        }
        if !hosts::is_host(authority.as_str()) {
            return Err(mistake("its host or its port is invalid"));
        }
        let prefix = prefix(uri.path()).ok_or_else(|| {
            mistake("its path is too long, or has characters that a path cannot have")
        })?;
        if is_own_path(&prefix) {
            return Err(mistake("the clock itself has addresses below this path"));
        }
        let authority = authority.as_str().to_ascii_lowercase();
        Ok(PublicUrl {
            origin: format!("{scheme}://{}", without_default_port(scheme, &authority)),
            prefix,
        })
    }
}

impl PublicAccess {
    /// Parses addresses of proxies and public URLs. Malformed ones are skipped; the second part has their errors.
    pub fn parse(proxies: &[String], urls: &[String]) -> (PublicAccess, Vec<String>) {
        let mut mistakes = Vec::new();
        let access = PublicAccess {
            proxies: parsed("--trusted-proxy", proxies, &mut mistakes),
            urls: parsed("--public-url", urls, &mut mistakes),
            has_ingress: false,
        };
        (access, mistakes)
    }

    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.urls.iter().map(|url| url.origin.as_str())
    }

    /// Applies the headers of a trusted proxy: afterwards `Host` is the host that the browser used, and the path has no
    /// prefix.
    pub fn apply<B>(&self, request: &mut Request<B>, peer: IpAddr) -> RequestSource {
        let is_proxy = self.is_trusted(peer);
        let mut source = RequestSource {
            client: peer,
            is_ingress: false,
            base: BaseUrl::default(),
            redirect: None,
        };
        let mut prefixes: Vec<String> = Vec::new();
        let mut scheme = None;
        if is_proxy {
            let headers = request.headers();
            let ingress = last(headers, &INGRESS_PATH);
            source.is_ingress = self.has_ingress && ingress.is_some();
            let in_headers = ingress.into_iter().chain(last(headers, &FORWARDED_PREFIX));
            prefixes.extend(in_headers.filter_map(prefix));
            let forwarded = Forwarding::parse(headers, |address| self.is_trusted(address));
            source.client = forwarded.client.unwrap_or(peer);
            scheme = forwarded.scheme;
            if let Some(host) = forwarded
                .host
                .and_then(|host| HeaderValue::from_str(&host).ok())
            {
                request.headers_mut().insert(HOST, host);
            }
        }
        let forwarded_prefix = prefixes.first().cloned();
        prefixes.extend(self.urls.iter().map(|url| url.prefix.clone()));
        let path = request.uri().path();
        let in_path = prefixes.iter().find(|prefix| begins_with(path, prefix));
        let prefix = in_path.cloned().or(forwarded_prefix).unwrap_or_default();
        source.base = self.base(request.headers(), scheme.as_deref(), &prefix);
        source.redirect = strip(request, &prefixes);
        source
    }

    /// The public URL with the host of a request, else the address of the request itself.
    fn base(&self, headers: &HeaderMap, scheme: Option<&str>, prefix: &str) -> BaseUrl {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.unwrap_or_default().to_ascii_lowercase();
        let of_host = |url: &&PublicUrl| {
            let authority = url.origin.split_once("://").map(|(_, authority)| authority);
            authority == Some(host.as_str())
        };
        BaseUrl(match self.urls.iter().find(of_host) {
            Some(url) if url.prefix.is_empty() => format!("{}{prefix}", url.origin),
            Some(url) => format!("{}{}", url.origin, url.prefix),
            None => format!("{}://{host}{prefix}", scheme.unwrap_or("http")),
        })
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|range| range.contains(address))
    }
}

/// Client and host of a request as proxies report them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Forwarding {
    client: Option<IpAddr>,
    scheme: Option<String>,
    host: Option<String>,
}

impl Forwarding {
    /// Parses the headers `X-Forwarded-*` or, if there are none, `Forwarded`.
    fn parse(headers: &HeaderMap, is_trusted: impl Fn(IpAddr) -> bool) -> Forwarding {
        let has_x_forwarded = [FORWARDED_FOR, FORWARDED_HOST, FORWARDED_PROTO]
            .iter()
            .any(|name| headers.contains_key(name));
        if !has_x_forwarded {
            return Forwarding::parse_standard(headers, is_trusted);
        }
        let clients: Vec<IpAddr> = items(headers, &FORWARDED_FOR)
            .map_while(node_address)
            .collect();
        let scheme = known_scheme(last(headers, &FORWARDED_PROTO));
        let host = last(headers, &FORWARDED_HOST);
        Forwarding {
            client: outermost(&clients, is_trusted).map(|at| clients[at]),
            host: host.map(|host| public_host(scheme.as_deref(), host)),
            scheme,
        }
    }

    /// Parses `Forwarded` (RFC 7239): one element per proxy, the nearest proxy last.
    fn parse_standard(headers: &HeaderMap, is_trusted: impl Fn(IpAddr) -> bool) -> Forwarding {
        let elements: Vec<&str> = items(headers, &FORWARDED).collect();
        let clients: Vec<IpAddr> = elements
            .iter()
            .map_while(|element| node_address(parameter(element, "for")?))
            .collect();
        // The element of the outermost trusted proxy, which the client has connected to.
        let at = match outermost(&clients, is_trusted) {
            Some(at) => at,
            None if elements.is_empty() => return Forwarding::default(),
            None => 0,
        };
        let element = elements[at];
        let scheme = known_scheme(parameter(element, "proto"));
        let host = parameter(element, "host");
        Forwarding {
            client: clients.get(at).copied(),
            host: host.map(|host| public_host(scheme.as_deref(), host)),
            scheme,
        }
    }
}

/// The host that a client has connected to, in lower case.
fn public_host(scheme: Option<&str>, host: &str) -> String {
    without_default_port(scheme.unwrap_or("http"), host).to_ascii_lowercase()
}

/// The scheme, if it is one that a client of the clock can use; `http` if the proxy sets none.
fn known_scheme(scheme: Option<&str>) -> Option<String> {
    let scheme = scheme.unwrap_or("http").to_ascii_lowercase();
    ["http", "https"]
        .contains(&scheme.as_str())
        .then_some(scheme)
}

/// Whether a path is below a prefix that is not empty.
fn begins_with(path: &str, prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    !prefix.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Index of the first address that is not a trusted proxy, or of the last one if all are. The nearest one is first.
fn outermost(clients: &[IpAddr], is_trusted: impl Fn(IpAddr) -> bool) -> Option<usize> {
    let untrusted = clients.iter().position(|address| !is_trusted(*address));
    untrusted.or(clients.len().checked_sub(1))
}

/// Items of a list header in reverse order.
fn items<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values: Vec<&str> = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let items = values.into_iter().rev().flat_map(|value| value.rsplit(','));
    items.map(str::trim)
}

/// The last item of a list header; the nearest proxy wrote it.
fn last<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    items(headers, name).find(|item| !item.is_empty())
}

/// A parameter of an element of `Forwarded`, without quotes.
fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches('"'))
}

/// Address of a node, such as `192.0.2.7`, `192.0.2.7:4711` or `[2001:db8::7]:4711`.
fn node_address(node: &str) -> Option<IpAddr> {
    let in_brackets_or_with_port = || hosts::split(node)?.0.parse().ok();
    node.parse().ok().or_else(in_brackets_or_with_port)
}

/// Removes the first matching prefix from the path. If the path is the prefix without a slash, returns the address to
/// redirect to, because relative links of the page need the slash at the end.
fn strip<B>(request: &mut Request<B>, prefixes: &[String]) -> Option<String> {
    let target = request.uri().path_and_query()?.clone();
    let prefixes = prefixes.iter().filter(|prefix| !prefix.is_empty());
    let mut rest = prefixes.filter_map(|prefix| {
        let rest = target.path().strip_prefix(prefix.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then_some((prefix, rest))
    });
    let (prefix, rest) = rest.next()?;
    let mut query = String::new();
    if let Some(text) = target.query() {
        let _ = write!(query, "?{text}");
    }
    if rest.is_empty() && matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(format!("{prefix}/{query}"));
    }
    let path = if rest.is_empty() { "/" } else { rest };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(format!("{path}{query}")).ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    None
}

/// Normalises a path prefix: one slash at the start and none at the end; empty for `/`. `None` if it is not valid.
fn prefix(path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-._~%/".contains(letter);
    let is_prefix = path.is_empty() || (path.starts_with('/') && !path.starts_with("//"));
    let fits = path.len() <= PREFIX_MAX && path.chars().all(is_allowed);
    let climbs = path.split('/').any(|segment| matches!(segment, "." | ".."));
    (is_prefix && fits && !climbs).then(|| path.to_string())
}

/// Whether the clock serves addresses below this path.
fn is_own_path(prefix: &str) -> bool {
    let first = |path: &str| path.split('/').nth(1).unwrap_or_default().to_string();
    let own = operations::all().flat_map(|operation| operation.endpoints.iter());
    !prefix.is_empty()
        && own
            .into_iter()
            .any(|endpoint| first(endpoint.path) == first(prefix))
}

/// Host and port without the default port of the scheme.
pub(super) fn without_default_port<'a>(scheme: &str, authority: &'a str) -> &'a str {
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    authority.strip_suffix(default_port).unwrap_or(authority)
}

fn parsed<T: FromStr<Err = String>>(
    flag: &str,
    texts: &[String],
    mistakes: &mut Vec<String>,
) -> Vec<T> {
    let mut values = Vec::new();
    for text in texts.iter().filter(|text| !text.trim().is_empty()) {
        match text.trim().parse() {
            Ok(_) if values.len() == ENTRIES_MAX => {
                mistakes.push(format!(
                    "{flag}: `{text}` is one too many, at most {ENTRIES_MAX}"
                ));
            }
            Ok(value) => values.push(value),
            Err(mistake) => mistakes.push(format!("{flag}: {mistake}")),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const PROXY: &str = "172.18.0.2";

    fn access() -> PublicAccess {
        let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (access, mistakes) = PublicAccess::parse(
            &texts(&["172.16.0.0/12", "fd00::/8", "10.0.0.1"]),
            &texts(&[
                "https://Home.example:443/clock/",
                "http://umbrel.local:3711",
            ]),
        );
        assert_eq!(mistakes, Vec::<String>::new());
        PublicAccess {
            has_ingress: true,
            ..access
        }
    }

    /// A request with these headers, from an address: client, host, path, ingress, redirect.
    fn applied(peer: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let mut request = Request::builder()
            .uri(path)
            .header("host", "127.0.0.1:8080");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(()).unwrap();
        let source = access().apply(&mut request, peer.parse().unwrap());
        let host = request.headers()[HOST].to_str().unwrap().to_string();
        let ingress = if source.is_ingress { " ingress" } else { "" };
        let redirect = source
            .redirect
            .map(|to| format!(" -> {to}"))
            .unwrap_or_default();
        format!(
            "{} {host} {}{ingress}{redirect}",
            source.client,
            request.uri()
        )
    }

    #[test]
    fn headers_count_from_trusted_addresses_only() {
        type Headers<'a> = &'a [(&'a str, &'a str)];
        #[rustfmt::skip]
        let rows: &[(&str, &str, Headers<'_>, &str)] = &[
            (PROXY, "/api/status", &[], "172.18.0.2 127.0.0.1:8080 /api/status"),
            (
                PROXY,
                "/",
                &[
                    ("x-forwarded-for", "192.0.2.7"),
                    ("x-forwarded-host", "Home.example:443"),
                    ("x-forwarded-proto", "https"),
                ],
                "192.0.2.7 home.example /",
            ),
            (
                "192.0.2.9",
                "/",
                &[
                    ("x-forwarded-for", "192.0.2.7"),
                    ("x-forwarded-host", "home.example"),
                    ("x-ingress-path", "/x"),
                ],
                "192.0.2.9 127.0.0.1:8080 /",
            ),
            // The proxy appends the client's address to the header that the client sent.
            (PROXY, "/", &[("x-forwarded-for", "198.51.100.1, 192.0.2.7")], "192.0.2.7 127.0.0.1:8080 /"),
            (PROXY, "/", &[("x-forwarded-for", "192.0.2.7, 10.0.0.1, 172.18.0.3")], "192.0.2.7 127.0.0.1:8080 /"),
            (PROXY, "/", &[("x-forwarded-for", "nonsense")], "172.18.0.2 127.0.0.1:8080 /"),
            (PROXY, "/", &[("x-forwarded-for", "[2001:db8::7]:4711")], "2001:db8::7 127.0.0.1:8080 /"),
            ("::ffff:172.18.0.2", "/", &[("x-forwarded-for", "192.0.2.7:80")], "192.0.2.7 127.0.0.1:8080 /"),
            (
                "fd12::1",
                "/",
                &[(
                    "forwarded",
                    "for=198.51.100.1;host=evil.example, for=\"[2001:db8::7]\";proto=https;host=\"home.example:443\", for=10.0.0.1;host=inner",
                )],
                "2001:db8::7 home.example /",
            ),
            (
                PROXY,
                "/",
                &[("forwarded", "for=\"192.0.2.7:_port\";proto=HTTPS;host=home.example:443")],
                "192.0.2.7 home.example /",
            ),
            (PROXY, "/", &[("forwarded", "for=2001:db8::7;proto=wss;host=home.example:80")], "2001:db8::7 home.example /"),
            (PROXY, "/", &[("forwarded", "for=_hidden;host=home.example")], "172.18.0.2 home.example /"),
            (
                PROXY,
                "/api/hassio_ingress/TOKEN/api/status?a=b",
                &[("x-ingress-path", "/api/hassio_ingress/TOKEN")],
                "172.18.0.2 127.0.0.1:8080 /api/status?a=b ingress",
            ),
            (PROXY, "/api/status", &[("x-ingress-path", "/api/hassio_ingress/TOKEN")], "172.18.0.2 127.0.0.1:8080 /api/status ingress"),
            (PROXY, "/x/y", &[("x-forwarded-prefix", "/x/")], "172.18.0.2 127.0.0.1:8080 /y"),
            (PROXY, "/xy", &[("x-forwarded-prefix", "/x")], "172.18.0.2 127.0.0.1:8080 /xy"),
            (PROXY, "/x/y", &[("x-forwarded-prefix", "//x")], "172.18.0.2 127.0.0.1:8080 /x/y"),
            ("192.0.2.9", "/clock/settings", &[], "192.0.2.9 127.0.0.1:8080 /settings"),
            ("192.0.2.9", "/clock?a", &[], "192.0.2.9 127.0.0.1:8080 /clock?a -> /clock/?a"),
            ("192.0.2.9", "/clocks", &[], "192.0.2.9 127.0.0.1:8080 /clocks"),
        ];
        for (peer, path, headers, expected) in rows {
            assert_eq!(
                applied(peer, path, headers),
                *expected,
                "{peer} {path} {headers:?}"
            );
        }
    }

    #[test]
    fn malformed_entries_are_reported_and_skipped() {
        let rows = [
            (
                "10.0.0.0/33",
                "`10.0.0.0/33` is not an address or a range such as 172.16.0.0/12",
            ),
            (
                "proxy.lan",
                "`proxy.lan` is not an address or a range such as 172.16.0.0/12",
            ),
        ];
        for (text, mistake) in rows {
            let (access, mistakes) = PublicAccess::parse(&[text.into(), "10.0.0.1".into()], &[]);
            assert_eq!(
                (access.proxies.len(), mistakes),
                (1, vec![format!("--trusted-proxy: {mistake}")])
            );
        }
        #[rustfmt::skip]
        let rows = [
            ("home.example", "it must begin with http:// or https://"),
            ("ftp://home.example", "it must begin with http:// or https://"),
            ("https://me@home.example", "it must have no user name and no query"),
            ("https://home.example/?a", "it must have no user name and no query"),
            ("https://*.home.example", "its host or its port is invalid"),
            ("https://home..example", "its host or its port is invalid"),
            ("https://home.example:99999", "its host or its port is invalid"),
            ("https://home.example:", "its host or its port is invalid"),
            ("https://home.example/a/../b", "its path is too long, or has characters that a path cannot have"),
            ("https://home.example/api", "the clock itself has addresses below this path"),
        ];
        for (text, why) in rows {
            let (_, mistakes) = PublicAccess::parse(&[], &[text.into()]);
            assert_eq!(
                mistakes,
                [format!("--public-url: `{text}` is not a public URL: {why}")]
            );
        }
    }
}

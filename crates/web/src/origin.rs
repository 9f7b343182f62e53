//! Protection against pages of other sites (CSRF and DNS rebinding).
//!
//! `Origin`, `Sec-Fetch-Site` and `Referer` show which site sends a request; only browsers send these headers.
//! `Host` is the name that the client used. A page can point its own DNS name to the clock's address and can set any
//! `User-Agent`, so requests for unknown DNS names are refused from all clients.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Version,
    header::{
        ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
        ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, HOST, ORIGIN, REFERER, USER_AGENT,
        VARY,
    },
};
use net::url::split_authority;

use super::{
    proxy::{BaseUrl, PublicAccess, without_default_port},
    response::{self, Response},
};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Parts of the `User-Agent` of browsers and of their media players.
const BROWSER_AGENTS: &[&str] = &["Mozilla/", "Opera/", "AppleCoreMedia", "stagefright"];

/// Domains of home networks in which the name of the machine is accepted.
///
/// The clock's own name is accepted in every domain. The name of a machine can be guessed, so it is not.
const HOME_DOMAINS: &[&str] = &[
    "local",
    "lan",
    "home",
    "home.arpa",
    "internal",
    "localdomain",
    "fritz.box",
];

/// Content security policy of the page: it may load files of this origin only.
const PAGE_POLICY: &str = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'";

/// The content security policy of the page. Only allowed origins may show the page in a frame, because another site
/// could trick a visitor into clicking in it.
pub fn page_policy(allowed_origins: &[String]) -> HeaderValue {
    let ancestors = allowed_origins.join(" ");
    HeaderValue::from_str(format!("{PAGE_POLICY}; frame-ancestors 'self' {ancestors}").trim_end())
        .unwrap_or(HeaderValue::from_static("frame-ancestors 'none'"))
}

/// The site whose page sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The clock's own page, or a page of an allowed origin.
    Allowed,
    /// A page of another site.
    Foreign,
    /// No header shows it: not a browser, or a browser that does not send the headers.
    Unknown,
}

/// Host names of the clock, and origins of other sites that may control it.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    /// Allowed origins in lower case.
    allowed: Vec<String>,
    /// Origins of the clock's own public URLs.
    public: Vec<String>,
    /// Name of the machine, in lower case.
    machine: String,
}

impl Sites {
    /// Takes the origins that the owner allows and the clock's public URLs.
    pub fn new(allowed: &[String], access: &PublicAccess) -> Sites {
        let machine = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .to_ascii_lowercase();
        Sites {
            allowed: allowed
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
                .collect(),
            public: access.origins().map(str::to_string).collect(),
            machine,
        }
    }

    /// Whether the host of a request is an address or a known name. `hostname` is the name of the clock.
    pub fn is_own_host(&self, headers: &HeaderMap, hostname: &str) -> bool {
        let Some(host) = text(headers, &HOST) else {
            return true;
        };
        let host = host.to_ascii_lowercase();
        let name = without_port(&host).trim_end_matches('.');
        self.is_known(name, hostname)
    }

    fn is_known(&self, name: &str, hostname: &str) -> bool {
        // Names with a single label, such as `localhost`, are resolved in the local network.
        let Some((label, domain)) = name.split_once('.') else {
            return true;
        };
        is_address(name)
            || label == hostname.to_ascii_lowercase()
            || name == self.machine
            || (label == self.machine && HOME_DOMAINS.contains(&domain))
            || self.allows_name(name)
    }

    fn allows_name(&self, name: &str) -> bool {
        let origins = self.allowed.iter().chain(&self.public);
        let mut names = origins.map(|origin| authority(origin));
        names.any(|authority| without_port(authority) == name)
    }

    /// The site whose page sends a request.
    pub fn sender(&self, headers: &HeaderMap, method: &Method) -> Sender {
        let host = text(headers, &HOST)
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is_own = |origin: &str| {
            let origin = origin.to_ascii_lowercase();
            let is_host = !host.is_empty() && authority(&origin) == host;
            is_host || self.public.contains(&origin)
        };
        let referer = text(headers, &REFERER).filter(|_| *method == Method::GET);
        let referer = referer.map(origin_of);
        let allowed = match (
            text(headers, &ORIGIN),
            text(headers, &SEC_FETCH_SITE),
            referer,
        ) {
            (Some(origin), _, _) => is_own(origin) || self.allows(origin),
            (None, Some("same-origin"), _) => true,
            // Typed, a bookmark, or the end of redirects over other sites.
            (None, Some("none"), _) => return Sender::Unknown,
            (None, Some(_), referer) => referer.is_some_and(|referer| self.allows(referer)),
            // Over plain HTTP browsers send only `Referer` with an image or a link of another site.
            (None, None, Some(referer)) => is_own(referer) || self.allows(referer),
            (None, None, None) => return Sender::Unknown,
        };
        if allowed { Sender::Allowed } else { Sender::Foreign }
    }

    fn allows(&self, origin: &str) -> bool {
        self.allowed.contains(&origin.to_ascii_lowercase())
    }

    /// The origin of a request if the owner allows it to read responses.
    pub fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let known = origin.to_str().is_ok_and(|origin| self.allows(origin));
        known.then(|| origin.clone())
    }

    /// Whether responses depend on the origin.
    pub fn any_allowed(&self) -> bool {
        !self.allowed.is_empty()
    }
}

/// Refuses a request that does not name exactly one host (RFC 9112, section 3.2).
///
/// Servers and proxies could disagree about the host of such a request.
pub fn ambiguous_host<B>(request: &Request<B>) -> Option<Response> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (_, Some(_)) => return Some(response::bad_request("more than one Host header")),
        (None, None) if request.version() >= Version::HTTP_11 => {
            return Some(response::bad_request("Host header missing"));
        }
        (host, None) => host,
    };
    let host = match host.map(HeaderValue::to_str) {
        Some(Err(_)) => return Some(response::bad_request("bad Host header")),
        Some(Ok(host)) => Some(host),
        None => None,
    };
    let scheme = request.uri().scheme_str().unwrap_or("http");
    let normalised = |host: &str| without_default_port(scheme, host).to_ascii_lowercase();
    let differs =
        |target: &http::uri::Authority| host.map(normalised) != Some(normalised(target.as_str()));
    request
        .uri()
        .authority()
        .is_some_and(differs)
        .then(|| response::bad_request("Host header and request target differ"))
}

/// The refusal of a request for an unknown host; has the address of the clock that the client used.
pub fn unknown_host(base: &BaseUrl) -> Response {
    refusal(&format!(
        "unknown host name: to use it for the clock, start the clock with --public-url {}",
        base.0
    ))
}

/// Refuses a request of another site's page.
pub fn cross_site() -> Response {
    refusal("cross-site request")
}

/// Lets a page of an allowed origin read a response.
pub fn allow_reading(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

/// The response to a CORS preflight request; `allowed_origin` is its origin if the owner allows it.
pub fn preflight(allowed_origin: Option<HeaderValue>) -> Response {
    let Some(origin) = allowed_origin else {
        return cross_site();
    };
    let mut response = response::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    let fixed = HeaderValue::from_static;
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        fixed("GET, POST, PATCH, DELETE, OPTIONS"),
    );
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        fixed("Content-Type, Authorization, If-Match, If-None-Match, X-Sign-In"),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, fixed("600"));
    allow_reading(&mut response, origin);
    response
}

fn refusal(reason: &str) -> Response {
    response::error(StatusCode::FORBIDDEN, reason)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers
        .get(name)
        .map(|value| value.to_str().unwrap_or_default())
}

/// Whether a browser sends a request, for a page, an image or a media element.
pub fn is_browser(headers: &HeaderMap) -> bool {
    let is_named = text(headers, &USER_AGENT)
        .is_some_and(|agent| BROWSER_AGENTS.iter().any(|word| agent.contains(word)));
    let accept = text(headers, &ACCEPT).unwrap_or_default();
    // The `fetch` of Node.js sends `Sec-Fetch-Mode`, but no other header of a browser.
    let is_mark = |name: &str| name.starts_with("sec-") && name != "sec-fetch-mode";
    is_named
        || accept.starts_with("text/html")
        || accept.starts_with("image/")
        || headers.keys().any(|name| is_mark(name.as_str()))
}

/// Host and port of an origin, without the default port of its scheme.
fn authority(origin: &str) -> &str {
    let (scheme, authority) = origin.split_once("://").unwrap_or_default();
    without_default_port(scheme, authority)
}

/// The origin at the start of a URL.
fn origin_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    &url[..end]
}

fn without_port(host: &str) -> &str {
    split_authority(host).map_or(host, |(name, _)| name)
}

fn is_address(name: &str) -> bool {
    name.parse::<Ipv4Addr>().is_ok() || name.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn headers(rows: &[(&str, &str)]) -> HeaderMap {
        let row = |(name, value): &(&str, &str)| {
            (
                HeaderName::try_from(*name).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            )
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn headers_show_the_site_of_a_request() {
        let allowed = ["http://localhost:5173".to_string()];
        let sites = Sites::new(&allowed, &PublicAccess::default());
        let host = ("host", "192.0.2.7:8080");
        let allowed_page = ("referer", "http://localhost:5173/");
        let own_page = ("referer", "http://192.0.2.7:8080/api");
        let cross_site = ("sec-fetch-site", "cross-site");
        let rows: &[(&[(&str, &str)], Sender)] = &[
            (&[], Sender::Unknown),
            (&[("origin", "http://192.0.2.7:8080")], Sender::Allowed),
            (&[("origin", "http://localhost:5173")], Sender::Allowed),
            (&[("origin", "http://192.0.2.7")], Sender::Foreign),
            (&[("origin", "http://evil.example")], Sender::Foreign),
            (&[("origin", "null")], Sender::Foreign),
            (&[("origin", "")], Sender::Foreign),
            (&[("sec-fetch-site", "same-origin")], Sender::Allowed),
            (&[("sec-fetch-site", "none")], Sender::Unknown),
            (&[("sec-fetch-site", "none"), own_page], Sender::Unknown),
            (&[("sec-fetch-site", "same-site")], Sender::Foreign),
            (&[cross_site], Sender::Foreign),
            (&[cross_site, allowed_page], Sender::Allowed),
            // A link of the clock's own page that was redirected over another site.
            (&[cross_site, own_page], Sender::Foreign),
            (&[own_page], Sender::Allowed),
            (&[allowed_page], Sender::Allowed),
            (&[("referer", "http://evil.example/page")], Sender::Foreign),
            (&[("referer", "")], Sender::Foreign),
        ];
        for (site_headers, sender) in rows {
            let request = headers(&[&[host], *site_headers].concat());
            let actual = sites.sender(&request, &Method::GET);
            assert_eq!(actual, *sender, "{site_headers:?}");
        }
    }

    #[test]
    fn a_default_port_may_be_left_out() {
        let sites = Sites::new(&[], &PublicAccess::default());
        let request = headers(&[
            ("host", "papertick-a1b2c3.local"),
            ("origin", "http://papertick-a1b2c3.local"),
        ]);
        assert_eq!(sites.sender(&request, &Method::POST), Sender::Allowed);
    }

    #[test]
    fn addresses_and_own_names_are_known_hosts() {
        let allowed = [
            "http://clock.example".to_string(),
            "https://tls.example:8443".to_string(),
        ];
        let sites = Sites {
            machine: "shelf".into(),
            ..Sites::new(&allowed, &PublicAccess::default())
        };
        let rows = [
            ("192.0.2.7", true),
            ("192.0.2.7:8080", true),
            ("[2001:db8::7]:8080", true),
            ("[::1]", true),
            ("localhost:8080", true),
            ("papertick:8080", true),
            ("papertick-a1b2c3", true),
            ("papertick-a1b2c3.local", true),
            ("papertick-a1b2c3.local.", true),
            ("PAPERTICK-A1B2C3.local:8080", true),
            ("papertick-a1b2c3.fritz.box", true),
            ("papertick-a1b2c3.home.example", true),
            ("shelf", true),
            ("shelf.local", true),
            ("shelf.example", false),
            ("clock.example", true),
            ("clock.example:8080", true),
            ("tls.example", true),
            ("evil.example", false),
            ("evil.example:8080", false),
            ("papertick-a1b2c3-evil.example", false),
            ("evil.papertick-a1b2c3.local", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("sub.clock.example", false),
        ];
        for (host, known) in rows {
            for agent in ["Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0"] {
                let request = headers(&[("host", host), ("user-agent", agent)]);
                for hostname in ["papertick-a1b2c3", "Papertick-A1B2C3"] {
                    let is_own = sites.is_own_host(&request, hostname);
                    assert_eq!(is_own, known, "{host} of {hostname}, {agent}");
                }
            }
        }
    }
}

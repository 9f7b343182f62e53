//! Keeps pages of other sites from acting through their visitors' browsers.
//!
//! A browser marks its requests: `Origin` and `Sec-Fetch-Site` say from which site one comes, `Host` says under which
//! name it believes to talk to us. Clients that are not browsers send no such marks and notice nothing.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_MAX_AGE, HOST, ORIGIN, REFERER, USER_AGENT, VARY,
    },
};

use super::answer::{self, Response};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Domains of home networks under which the clock's own name is found.
const HOME_DOMAINS: &[&str] = &[
    "local",
    "lan",
    "home",
    "home.arpa",
    "internal",
    "localdomain",
    "fritz.box",
];

/// What the page may load: only what comes from here.
const PAGE_LOADS: &str = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'";

/// The policy that the page is sent with: a frame lets another site guide a visitor's clicks, so that only those
/// whose pages may control the clock may put it in one.
pub(crate) fn page_policy(allowed_origins: &[String]) -> HeaderValue {
    let framed_by = allowed_origins.join(" ");
    HeaderValue::from_str(format!("{PAGE_LOADS}; frame-ancestors 'self' {framed_by}").trim_end())
        .unwrap_or(HeaderValue::from_static("frame-ancestors 'none'"))
}

/// Whose page sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    /// Ours, or one whose origin the owner allows.
    Ours,
    /// One of another site.
    Foreign,
    /// Nothing tells: no browser, or one that hides it.
    Unsaid,
}

/// The names the clock goes by, and the other sites that may act on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sites {
    /// Origins as browsers write them, in lower case.
    allowed: Vec<String>,
    /// Name of the host the program runs on, in lower case.
    machine: String,
}

impl Sites {
    /// Knows the origins that the owner allows.
    pub(crate) fn new(allowed: &[String]) -> Sites {
        let machine = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .to_ascii_lowercase();
        Sites {
            allowed: allowed
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
                .collect(),
            machine,
        }
    }

    /// Refuses a browser that believes to talk to a name that is not ours: its page may be anybody's.
    pub(crate) fn rebound(&self, headers: &HeaderMap, hostname: &str) -> Option<Response> {
        let host = text(headers, &HOST)?;
        if !is_browser(headers) || is_address(without_port(host)) {
            return None;
        }
        let host = host.to_ascii_lowercase();
        let fine = self.is_ours(without_port(&host), hostname) || self.is_allowed_host(&host);
        (!fine).then(|| {
            refusal(&format!(
                "host not known: for the clock to go by this name, start it with --allow-origin and its address as the browser shows it, such as http://{host}"
            ))
        })
    }

    fn is_ours(&self, name: &str, hostname: &str) -> bool {
        let name = name.trim_end_matches('.');
        if name == "localhost" || name.ends_with(".localhost") {
            return true;
        }
        let (label, domain) = name.split_once('.').unwrap_or((name, ""));
        let known = label == hostname.to_ascii_lowercase() || label == self.machine;
        (known && (domain.is_empty() || HOME_DOMAINS.contains(&domain))) || name == self.machine
    }

    fn is_allowed_host(&self, host: &str) -> bool {
        self.allowed.iter().any(|origin| authority(origin) == host)
    }

    /// Tells whose page sends a request.
    pub(crate) fn sender(&self, headers: &HeaderMap, method: &Method) -> Sender {
        let host = text(headers, &HOST)
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is_ours =
            |origin: &str| !host.is_empty() && authority(&origin.to_ascii_lowercase()) == host;
        let referer = text(headers, &REFERER).filter(|_| *method == Method::GET);
        let referer = referer.map(origin_of);
        let ours = match (
            text(headers, &ORIGIN),
            text(headers, &SEC_FETCH_SITE),
            referer,
        ) {
            (Some(origin), _, _) => is_ours(origin) || self.allows(origin),
            (None, Some("same-origin"), _) => true,
            // Typed or kept by the visitor, or the end of a way that led over other sites.
            (None, Some("none"), _) => return Sender::Unsaid,
            (None, Some(_), referer) => referer.is_some_and(|referer| self.allows(referer)),
            // Over plain HTTP a browser marks a picture or a link of another site with nothing else.
            (None, None, Some(referer)) => is_ours(referer) || self.allows(referer),
            (None, None, None) => return Sender::Unsaid,
        };
        if ours { Sender::Ours } else { Sender::Foreign }
    }

    fn allows(&self, origin: &str) -> bool {
        self.allowed.contains(&origin.to_ascii_lowercase())
    }

    /// The origin of a request, if the owner allows it to read our answers.
    pub(crate) fn reader(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let known = origin.to_str().is_ok_and(|origin| self.allows(origin));
        known.then(|| origin.clone())
    }

    /// Whether answers differ by origin at all.
    pub(crate) fn any_allowed(&self) -> bool {
        !self.allowed.is_empty()
    }
}

/// Refuses what a page of another site asks for.
pub(crate) fn cross_site() -> Response {
    refusal("cross-site request")
}

/// Lets the page of an allowed origin read an answer.
pub(crate) fn admit(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

/// Answers the question a browser asks before it sends a change for a page of another site.
pub(crate) fn preflight(reader: Option<HeaderValue>) -> Response {
    let Some(origin) = reader else {
        return cross_site();
    };
    let mut response = answer::empty(StatusCode::NO_CONTENT);
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
    admit(&mut response, origin);
    response
}

fn refusal(reason: &str) -> Response {
    answer::error(StatusCode::FORBIDDEN, reason)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers
        .get(name)
        .map(|value| value.to_str().unwrap_or_default())
}

/// Browsers tell where a request comes from, or at least call themselves browsers.
fn is_browser(headers: &HeaderMap) -> bool {
    [ORIGIN, SEC_FETCH_SITE, REFERER]
        .iter()
        .any(|mark| headers.contains_key(mark))
        || is_called_browser(headers)
}

/// Whether a client calls itself what all browsers call themselves.
pub(crate) fn is_called_browser(headers: &HeaderMap) -> bool {
    text(headers, &USER_AGENT).is_some_and(|agent| agent.starts_with("Mozilla/"))
}

/// Host and port of an origin, without the port that is the scheme's own.
fn authority(origin: &str) -> &str {
    let (scheme, authority) = origin.split_once("://").unwrap_or(("", ""));
    let own_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    authority.strip_suffix(own_port).unwrap_or(authority)
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
    if host.starts_with('[') {
        return host
            .split_once(']')
            .map_or(host, |(address, _)| &address[1..]);
    }
    host.split_once(':').map_or(host, |(name, _)| name)
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
    fn marks_tell_whose_page_sends_a_request() {
        let allowed = ["http://localhost:5173".to_string()];
        let sites = Sites::new(&allowed);
        let host = ("host", "192.0.2.7:8080");
        let allowed_page = ("referer", "http://localhost:5173/");
        let own_page = ("referer", "http://192.0.2.7:8080/api");
        let cross_site = ("sec-fetch-site", "cross-site");
        let rows: &[(&[(&str, &str)], Sender)] = &[
            (&[], Sender::Unsaid),
            (&[("origin", "http://192.0.2.7:8080")], Sender::Ours),
            (&[("origin", "http://localhost:5173")], Sender::Ours),
            (&[("origin", "http://192.0.2.7")], Sender::Foreign),
            (&[("origin", "http://evil.example")], Sender::Foreign),
            (&[("origin", "null")], Sender::Foreign),
            (&[("origin", "")], Sender::Foreign),
            (&[("sec-fetch-site", "same-origin")], Sender::Ours),
            (&[("sec-fetch-site", "none")], Sender::Unsaid),
            (&[("sec-fetch-site", "none"), own_page], Sender::Unsaid),
            (&[("sec-fetch-site", "same-site")], Sender::Foreign),
            (&[cross_site], Sender::Foreign),
            (&[cross_site, allowed_page], Sender::Ours),
            // A link of ours that led over another site.
            (&[cross_site, own_page], Sender::Foreign),
            (&[own_page], Sender::Ours),
            (&[allowed_page], Sender::Ours),
            (&[("referer", "http://evil.example/page")], Sender::Foreign),
            (&[("referer", "")], Sender::Foreign),
        ];
        for (marks, sender) in rows {
            let request = headers(&[&[host], *marks].concat());
            let told = sites.sender(&request, &Method::GET);
            assert_eq!(told, *sender, "{marks:?}");
        }
    }

    #[test]
    fn a_default_port_may_be_left_out() {
        let sites = Sites::new(&[]);
        let request = headers(&[
            ("host", "papertick-a1b2c3.local"),
            ("origin", "http://papertick-a1b2c3.local"),
        ]);
        assert_eq!(sites.sender(&request, &Method::POST), Sender::Ours);
    }

    #[test]
    fn browsers_must_know_us_by_a_name_of_ours() {
        let allowed = ["http://clock.example".to_string()];
        let sites = Sites {
            machine: "shelf".into(),
            ..Sites::new(&allowed)
        };
        let rows = [
            ("192.0.2.7", true),
            ("192.0.2.7:8080", true),
            ("[2001:db8::7]:8080", true),
            ("localhost:8080", true),
            ("papertick-a1b2c3.local", true),
            ("PAPERTICK-A1B2C3.local:8080", true),
            ("papertick-a1b2c3", true),
            ("papertick-a1b2c3.fritz.box", true),
            ("papertick-a1b2c3.lan", true),
            ("papertick-a1b2c3.home:8080", true),
            ("papertick-a1b2c3.home.arpa", true),
            ("papertick-a1b2c3.internal", true),
            ("papertick-a1b2c3.localdomain", true),
            ("shelf.local", true),
            ("clock.example", true),
            ("evil.example", false),
            ("papertick-a1b2c3.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
        ];
        for (host, passes) in rows {
            let browser = headers(&[
                ("host", host),
                ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)"),
            ]);
            for hostname in ["papertick-a1b2c3", "Papertick-A1B2C3"] {
                let refused = sites.rebound(&browser, hostname);
                assert_eq!(refused.is_none(), passes, "{host} of {hostname}");
            }
            let program = headers(&[
                ("host", host),
                ("user-agent", "HomeAssistant/2026.11 aiohttp/3.13"),
            ]);
            assert!(
                sites.rebound(&program, "papertick-a1b2c3").is_none(),
                "{host}"
            );
        }
    }
}

//! The portal: the page on which the clock's network is chosen while it is an access point.
//!
//! The page works without scripts; `portal.html` is its frame, `portal.js` spares whoever has scripts the waiting.

use std::{fmt::Write, sync::LazyLock};

use api::{operation::ProgramOperation, operations::path_of};
use board::ports::{Unprovisioned, WifiNetwork};
use device::{input::LinkFailure, secret::Secret, view::View};
use http::{
    HeaderMap, HeaderValue, Request, StatusCode, Uri,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    },
};
use serde_json::json;
use wifi::NotProvisioned;

use super::{
    answer::{self, Response},
    call::{Call, Received},
    html::{self, escaped},
    parse::network_credentials,
    portal_words::{self, LANGUAGES, PortalTexts},
    state::ServerState,
    unread::Unread,
};

/// Largest body, bytes.
const BODY_MAX: usize = 512;

/// Longest name of a network, bytes.
const SSID_MAX: usize = 32;

/// Longest password, bytes; one of that length is a key in hex.
const PASSWORD_MAX: usize = 64;

/// What paths begin with that are not for people who look for the internet, besides that of the event stream.
const OPERATIONS: &[&str] = &["/api/", "/upload/", "/sim/"];

const PAGE: &str = include_str!("portal.html");
const SCRIPT: &str = include_str!("portal.js");

/// What the page may load: nothing but the one style and the one script in it.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let (style, script) = (html::source(html::style(PAGE)), html::source(SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src {style}; script-src {script}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// What the page says above the form.
enum Say<'a> {
    /// Nothing went wrong.
    Nothing,
    /// Something did.
    Problem(&'a str),
    /// The credentials were stored.
    Stored,
}

/// Shows the page to whoever looks at it, and leads whoever looks for the internet there; operations are not here.
pub(super) async fn look(state: &ServerState, request: &Request<Unread>) -> Response {
    let path = request.uri().path();
    let events = path_of(ProgramOperation::Events);
    let mut others = OPERATIONS.iter().copied().chain([events]);
    if others.any(|prefix| path.starts_with(prefix)) {
        return answer::not_found();
    }
    let view = state.view();
    let is_here = path == "/"
        && state
            .sites
            .rebound(request.headers(), &view.hostname)
            .is_none();
    let place = view.link.portal.as_deref().unwrap_or_default();
    let location = HeaderValue::from_str(&format!("http://{place}/"));
    match (is_here, location) {
        (true, _) | (false, Err(_)) => {
            let words = language(request.uri(), request.headers());
            form(state, &view, words).await
        }
        (false, Ok(location)) => {
            let mut response = answer::empty(StatusCode::FOUND);
            let headers = response.headers_mut();
            headers.insert(LOCATION, location);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    }
}

/// The language of a page.
fn language(uri: &Uri, headers: &HeaderMap) -> &'static PortalTexts {
    let accepted = headers.get(ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    portal_words::chosen(uri.query(), accepted)
}

/// The page.
async fn form(state: &ServerState, view: &View, words: &PortalTexts) -> Response {
    let failure = view.link.failure.and_then(LinkFailure::parse);
    match failure {
        Some(failure) => {
            let why = words.failure(failure);
            let problem = words.failed_before.replace("{why}", why);
            page(state, StatusCode::OK, words, Say::Problem(&problem)).await
        }
        None => page(state, StatusCode::OK, words, Say::Nothing).await,
    }
}

/// Networks in reach.
pub async fn scan(call: Call) -> Response {
    let networks = call.state.services.radio.networks().await;
    // Pages of two generations ask in two words whether a password is needed.
    let network = |network: &WifiNetwork| {
        json!({
            "ssid": network.ssid,
            "rssi": network.rssi,
            "secured": network.secured,
            "secure": network.secured,
        })
    };
    answer::json(&networks.iter().map(network).collect::<Vec<_>>())
}

/// Tries credentials and stores them if they are right.
pub async fn save(mut call: Call) -> Response {
    let page_words = wants_page(&call).then(|| language(&call.parts.uri, call.headers()));
    let (ssid, password) = match (credentials(&mut call).await, page_words) {
        (Ok(credentials), _) => credentials,
        (Err(problem), Some(words)) => {
            let say = Say::Problem(problem);
            return page(&call.state, StatusCode::BAD_REQUEST, words, say).await;
        }
        (Err(problem), None) => return answer::bad_request(problem),
    };
    let outcome = call.state.services.radio.provision(ssid, password).await;
    let Err(failure) = outcome else {
        return match page_words {
            Some(words) => page(&call.state, StatusCode::OK, words, Say::Stored).await,
            None => answer::json(&json!({ "ok": true })),
        };
    };
    if let Some(words) = page_words {
        let why = explained(&failure, words);
        let problem = words.failed.replace("{why}", why);
        let say = Say::Problem(&problem);
        return page(&call.state, status_of(&failure), words, say).await;
    }
    let (code, reason) = match &failure {
        NotProvisioned::Tried(Unprovisioned::Failed(failure)) => (failure.name(), failure.number()),
        NotProvisioned::Tried(Unprovisioned::NotStored(_)) => ("not_stored", 0),
        NotProvisioned::Busy => ("busy", 0),
        NotProvisioned::Gone => ("unknown", 0),
    };
    // Programs get the reason in English and as a code; the page of a browser asks for its language.
    let words = match call.parts.uri.query() {
        Some(_) => language(&call.parts.uri, call.headers()),
        None => &LANGUAGES[0],
    };
    let error = explained(&failure, words);
    let body = json!({ "ok": false, "error": error, "code": code, "reason": reason });
    answer::json_with(status_of(&failure), &body)
}

/// Why credentials were not stored.
fn explained(failure: &NotProvisioned, words: &PortalTexts) -> &'static str {
    match failure {
        NotProvisioned::Tried(Unprovisioned::Failed(failure)) => words.failure(*failure),
        NotProvisioned::Tried(Unprovisioned::NotStored(_)) => words.not_stored,
        NotProvisioned::Busy => words.busy,
        NotProvisioned::Gone => words.restarting,
    }
}

fn status_of(failure: &NotProvisioned) -> StatusCode {
    match failure {
        NotProvisioned::Tried(Unprovisioned::Failed(failure)) => status_of_link(*failure),
        NotProvisioned::Tried(Unprovisioned::NotStored(_)) => StatusCode::INTERNAL_SERVER_ERROR,
        NotProvisioned::Busy | NotProvisioned::Gone => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn status_of_link(failure: LinkFailure) -> StatusCode {
    match failure {
        LinkFailure::Auth | LinkFailure::Handshake => StatusCode::UNAUTHORIZED,
        LinkFailure::Lost
        | LinkFailure::NotFound
        | LinkFailure::Association
        | LinkFailure::Connection
        | LinkFailure::Timeout => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Reads name and password from a form or from JSON.
async fn credentials(call: &mut Call) -> Result<(String, Secret), &'static str> {
    const BAD_BODY: &str = "invalid body";
    let Received::Whole(body) = call.body(BODY_MAX).await else {
        return Err(BAD_BODY);
    };
    let (ssid, password) = network_credentials(&body).ok_or(BAD_BODY)?;
    let is_control = |text: &str| text.chars().any(char::is_control);
    if ssid.is_empty() {
        return Err("ssid required");
    }
    if ssid.len() > SSID_MAX || is_control(&ssid) {
        return Err("ssid invalid");
    }
    if password.expose().len() > PASSWORD_MAX || is_control(password.expose()) {
        return Err("pw invalid");
    }
    Ok((ssid, password))
}

/// A browser that sent a form wants a page; everybody else wants JSON.
fn wants_page(call: &Call) -> bool {
    let sent_form = call
        .header(CONTENT_TYPE)
        .is_some_and(|content_type| content_type.contains("form"));
    sent_form
        && call
            .header(ACCEPT)
            .is_some_and(|accept| accept.contains("text/html"))
}

async fn page(
    state: &ServerState,
    status: StatusCode,
    words: &PortalTexts,
    say: Say<'_>,
) -> Response {
    let hostname = &state.view().hostname;
    let networks = &state.services.radio;
    let body = match say {
        Say::Stored => stored(words, hostname),
        Say::Nothing => form_of(words, hostname, &networks.networks().await, ""),
        Say::Problem(problem) => form_of(words, hostname, &networks.networks().await, problem),
    };
    let html = PAGE
        .replace("{{lang}}", words.code)
        .replace("{{body}}", &body)
        .replace("{{script}}", SCRIPT);
    let mut response = answer::bytes(
        HeaderValue::from_static("text/html; charset=utf-8"),
        html.into(),
    );
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    response
}

fn stored(words: &PortalTexts, hostname: &str) -> String {
    let PortalTexts {
        connected, joins, ..
    } = words;
    format!(
        "<h1>{connected}</h1><p>{joins} {}</p>",
        place(words, hostname)
    )
}

/// Where the clock is found once it is in the network.
fn place(words: &PortalTexts, hostname: &str) -> String {
    let hostname = escaped(hostname);
    let router = words
        .router
        .replace("{host}", &format!("<b>{hostname}</b>"));
    format!("<b>http://{hostname}.local/</b>. {router}")
}

fn form_of(words: &PortalTexts, hostname: &str, networks: &[WifiNetwork], problem: &str) -> String {
    let PortalTexts {
        code,
        choose,
        in_reach,
        another,
        password,
        show,
        connect,
        again,
        afterwards,
        ..
    } = words;
    let mut html = format!("<h1>{choose}</h1>");
    let hidden = if problem.is_empty() { " hidden" } else { "" };
    // Writing into a text cannot fail.
    let _ = write!(
        html,
        "<p id=\"problem\" role=\"alert\"{hidden}>{}</p><form id=\"form\" method=\"post\" action=\"{action}?lang={code}\"{texts}><fieldset id=\"networks\"><legend>{in_reach}</legend>",
        escaped(problem),
        action = path_of(ProgramOperation::Join),
        texts = texts(words),
    );
    for (place, network) in networks.iter().enumerate() {
        let checked = if place == 0 { " checked" } else { "" };
        let lock = match network.secured {
            true => words.secured,
            false => words.open,
        };
        let _ = write!(
            html,
            "<label><input type=\"radio\" name=\"ssid\" value=\"{name}\"{checked}><span>{name}</span><small>{bars} · {lock}</small></label>",
            name = escaped(&network.ssid),
            bars = words.bars[bars(network.rssi)],
        );
    }
    let checked = if networks.is_empty() { " checked" } else { "" };
    let _ = write!(
        html,
        "<label><input type=\"radio\" name=\"ssid\" value=\"\"{checked}><span><input name=\"other\" maxlength=\"32\" placeholder=\"{another}\" aria-label=\"{another}\" autocapitalize=\"none\" autocorrect=\"off\" spellcheck=\"false\"></span></label></fieldset><label class=\"pw\">{password} <input name=\"pw\" type=\"password\" maxlength=\"64\" autocomplete=\"off\"></label><label class=\"show\" hidden><input id=\"show\" type=\"checkbox\">{show}</label><button id=\"go\">{connect}</button> <a href=\"/?lang={code}\">{again}</a></form><p>{afterwards} {place}</p><template id=\"done\">{done}</template><nav>",
        place = place(words, hostname),
        done = stored(words, hostname),
    );
    for PortalTexts { code, language, .. } in &LANGUAGES {
        let current = if *code == words.code {
            " aria-current=\"true\""
        } else {
            ""
        };
        let _ = write!(
            html,
            "<a href=\"/?lang={code}\" lang=\"{code}\"{current}>{language}</a> "
        );
    }
    html.push_str("</nav>");
    html
}

/// The texts that the script shows, as attributes of the form.
fn texts(words: &PortalTexts) -> String {
    let [strong, good, fair, weak] = words.bars;
    let texts = [
        ("trying", words.trying),
        ("choose", words.choose_first),
        ("away", words.no_answer),
        ("failed", words.failed),
        ("secured", words.secured),
        ("open", words.open),
        ("strong", strong),
        ("good", good),
        ("fair", fair),
        ("weak", weak),
    ];
    let attribute = |(name, text): (&str, &str)| format!(" data-{name}=\"{}\"", escaped(text));
    texts.into_iter().map(attribute).collect()
}

/// Strength of a signal, 0 for the best.
fn bars(rssi: i32) -> usize {
    match rssi {
        -55.. => 0,
        -67..-55 => 1,
        -78..-67 => 2,
        ..-78 => 3,
    }
}

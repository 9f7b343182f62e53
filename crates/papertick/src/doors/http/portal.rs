//! The portal: the page on which the clock's network is chosen while it is an access point.
//!
//! The page works without scripts; `portal.html` is its frame, `portal.js` spares whoever has scripts the waiting.

use std::{fmt::Write, sync::LazyLock};

use board::ports::{Network, Unprovisioned};
use device::{input::LinkFailure, secret::Secret, view::View};
use http::{
    HeaderValue, Request, StatusCode,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION},
};
use interface::{operation::Service, operations::path_of};
use serde_json::json;

use super::{
    answer::{self, Response},
    call::{Call, Received},
    html::{self, escaped},
    parse::network_credentials,
    state::State,
    unread::Unread,
};
use wifi::NotProvisioned;

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
pub(super) async fn look(state: &State, request: &Request<Unread>) -> Response {
    let path = request.uri().path();
    let events = path_of(Service::Events);
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
        (true, _) | (false, Err(_)) => form(state, &view).await,
        (false, Ok(location)) => {
            let mut response = answer::empty(StatusCode::FOUND);
            let headers = response.headers_mut();
            headers.insert(LOCATION, location);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    }
}

/// The page.
async fn form(state: &State, view: &View) -> Response {
    let failure = view.link.failure.and_then(LinkFailure::parse);
    match failure {
        Some(failure) => {
            let problem = format!("The last attempt failed: {}.", words(failure));
            page(state, StatusCode::OK, Say::Problem(&problem)).await
        }
        None => page(state, StatusCode::OK, Say::Nothing).await,
    }
}

/// Networks in reach.
pub(crate) async fn scan(call: Call) -> Response {
    let networks = call.state.services.radio.networks().await;
    // Pages of two generations ask in two words whether a password is needed.
    let network = |network: &Network| {
        json!({
            "ssid": network.ssid,
            "rssi": network.rssi,
            "secured": network.secured,
            "secure": network.secured,
        })
    };
    answer::json(&networks.iter().map(network).collect())
}

/// Tries credentials and stores them if they are right.
pub(crate) async fn save(mut call: Call) -> Response {
    let (ssid, password) = match credentials(&mut call).await {
        Ok(credentials) => credentials,
        Err(problem) if wants_page(&call) => {
            return page(&call.state, StatusCode::BAD_REQUEST, Say::Problem(problem)).await;
        }
        Err(problem) => return answer::bad_request(problem),
    };
    let outcome = call.state.services.radio.provision(ssid, password).await;
    let (status, error, code, reason) = match &outcome {
        Ok(()) if wants_page(&call) => return page(&call.state, StatusCode::OK, Say::Stored).await,
        Ok(()) => return answer::json(&json!({ "ok": true })),
        Err(NotProvisioned::Tried(Unprovisioned::Failed(failure))) => (
            status_of(*failure),
            words(*failure),
            failure.name(),
            failure.number(),
        ),
        Err(NotProvisioned::Tried(Unprovisioned::NotStored(_))) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "the clock could not store the password",
            "not_stored",
            0,
        ),
        Err(NotProvisioned::Busy) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "another attempt is under way",
            "busy",
            0,
        ),
        Err(NotProvisioned::Gone) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the clock is restarting",
            "unknown",
            0,
        ),
    };
    if wants_page(&call) {
        let problem = format!("That did not work: {error}.");
        return page(&call.state, status, Say::Problem(&problem)).await;
    }
    let body = json!({ "ok": false, "error": error, "code": code, "reason": reason });
    answer::json_with(status, &body)
}

fn status_of(failure: LinkFailure) -> StatusCode {
    match failure {
        LinkFailure::Auth | LinkFailure::Handshake => StatusCode::UNAUTHORIZED,
        LinkFailure::Lost
        | LinkFailure::NotFound
        | LinkFailure::Association
        | LinkFailure::Connection
        | LinkFailure::Timeout => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

fn words(failure: LinkFailure) -> &'static str {
    match failure {
        LinkFailure::Lost => "the network was lost",
        LinkFailure::NotFound => "no network of that name is in reach",
        LinkFailure::Auth => "the password is wrong",
        LinkFailure::Association => "the network refused the clock",
        LinkFailure::Handshake => {
            "the network broke the handshake off, most often over a wrong password"
        }
        LinkFailure::Connection => "the connection broke off",
        LinkFailure::Timeout => "the network did not answer in time",
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

async fn page(state: &State, status: StatusCode, say: Say<'_>) -> Response {
    let networks = &state.services.radio;
    let body = match say {
        Say::Stored => stored(&state.view().hostname),
        Say::Nothing => form_of(&networks.networks().await, ""),
        Say::Problem(problem) => form_of(&networks.networks().await, problem),
    };
    let html = PAGE
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

fn stored(hostname: &str) -> String {
    format!(
        "<h1>Connected</h1><p>The clock restarts and joins the network by itself. Go back to your own network and find it at <b>http://{}.local/</b>.</p>",
        escaped(hostname)
    )
}

fn form_of(networks: &[Network], problem: &str) -> String {
    let mut html = String::from("<h1>Choose a network</h1>");
    let hidden = if problem.is_empty() { " hidden" } else { "" };
    // Writing into a text cannot fail.
    let _ = write!(
        html,
        "<p id=\"problem\" role=\"alert\"{hidden}>{}</p><form id=\"form\" method=\"post\" action=\"{action}\"><fieldset id=\"networks\"><legend>Networks in reach</legend>",
        escaped(problem),
        action = path_of(Service::Join),
    );
    for (place, network) in networks.iter().enumerate() {
        let checked = if place == 0 { " checked" } else { "" };
        let lock = if network.secured {
            " · password"
        } else {
            " · open"
        };
        let _ = write!(
            html,
            "<label><input type=\"radio\" name=\"ssid\" value=\"{name}\"{checked}><span>{name}</span><small>{bars}{lock}</small></label>",
            name = escaped(&network.ssid),
            bars = bars(network.rssi),
        );
    }
    let checked = if networks.is_empty() { " checked" } else { "" };
    let _ = write!(
        html,
        "<label><input type=\"radio\" name=\"ssid\" value=\"\"{checked}><span><input name=\"other\" maxlength=\"32\" placeholder=\"Another network\" aria-label=\"Name of another network\" autocapitalize=\"none\" autocorrect=\"off\" spellcheck=\"false\"></span></label></fieldset><label class=\"pw\">Password <input name=\"pw\" type=\"password\" maxlength=\"64\" autocomplete=\"off\"></label><button id=\"go\">Connect</button> <a href=\"/\">Look again</a></form>"
    );
    html
}

/// Strength of a signal as people read it.
fn bars(rssi: i32) -> &'static str {
    match rssi {
        -55.. => "strong",
        -67..-55 => "good",
        -78..-67 => "fair",
        ..-78 => "weak",
    }
}

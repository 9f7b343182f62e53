//! The portal: the page to choose a Wi-Fi network while the clock is an access point.
//!
//! The page works without scripts. `portal.html` is the template; with `portal.js` it shows progress without a reload.

use std::{fmt::Write, sync::LazyLock};

use api::documents::access_point::{Joined, Network, Networks, NotJoined};
use board::{
    ports::{ProvisionError, WifiNetwork},
    wiring,
};
use device::{input::LinkFailure, secret::Secret, view::View};
use http::{
    HeaderMap, HeaderValue, Request, StatusCode, Uri,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    },
};
use tokio::task::spawn_blocking;
use wifi::{
    ProvisionFailure,
    chosen_panel::{self, PanelChoice},
};

use super::{
    call::{Call, ReceivedBody},
    html::{self, escaped},
    parse::network_credentials,
    portal_texts::{self, LANGUAGES, PortalTexts},
    response::{self, Response},
    services::Services,
    state::ServerState,
    unread_body::UnreadBody,
};

/// Port that browsers use without one in the address.
const HTTP_PORT: u16 = 80;

/// Largest body, bytes.
const BODY_MAX: usize = 512;

/// Longest name of a network, bytes.
const SSID_MAX: usize = 32;

/// Longest password, bytes. A password of this length is a key in hex.
const PASSWORD_MAX: usize = 64;

/// Path prefixes of operations; unknown ones get 404 instead of a redirect to the portal.
const OPERATION_PREFIXES: &[&str] = &["/api/", "/upload/", "/sim/", "/events"];

const PAGE: &str = include_str!("portal.html");
const SCRIPT: &str = include_str!("portal.js");

/// Content security policy of the page: its inline style and script, and requests to this origin.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let (style, script) = (html::source(html::style(PAGE)), html::source(SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src {style}; script-src {script}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

enum PageContent<'a> {
    Form,
    FormWithError(&'a str),
    /// The message that the clock joins the network, with its address there.
    Stored(Option<&'a str>),
}

/// Shows the page at `/` of the clock's own names, and redirects all other requests there.
///
/// Devices that test for internet access then open the page. Unknown operations get 404.
pub(super) async fn page_or_redirect(
    state: &ServerState,
    request: &Request<UnreadBody>,
) -> Response {
    let path = request.uri().path();
    if OPERATION_PREFIXES
        .iter()
        .any(|prefix| path.starts_with(prefix))
    {
        return response::not_found();
    }
    let view = state.view();
    let is_page = path == "/" && state.sites.is_own_host(request.headers(), &view.hostname);
    let address = view.link.portal.as_deref().unwrap_or_default();
    let location = HeaderValue::from_str(&format!("http://{address}/"));
    match (is_page, location) {
        (true, _) | (false, Err(_)) => {
            let texts = language(request.uri(), request.headers());
            form_page(state, &view, texts).await
        }
        (false, Ok(location)) => {
            let mut response = response::empty(StatusCode::FOUND);
            let headers = response.headers_mut();
            headers.insert(LOCATION, location);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    }
}

fn language(uri: &Uri, headers: &HeaderMap) -> &'static PortalTexts {
    let accepted = headers.get(ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    portal_texts::texts_for(uri.query(), accepted)
}

/// The form, with the reason if the last attempt to join a network failed.
async fn form_page(state: &ServerState, view: &View, texts: &PortalTexts) -> Response {
    let failure = view.link.failure.and_then(LinkFailure::parse);
    match failure {
        Some(failure) => {
            let why = texts.failure(failure);
            let error = texts.failed_before.replace("{why}", why);
            let content = PageContent::FormWithError(&error);
            page(state, StatusCode::OK, texts, content).await
        }
        None => page(state, StatusCode::OK, texts, PageContent::Form).await,
    }
}

/// Networks in range.
pub async fn scan(call: Call) -> Response {
    let networks = call.state.services.radio.networks().await;
    let network = |network: &WifiNetwork| Network {
        ssid: network.ssid.clone(),
        rssi: network.rssi,
        secured: network.secured,
        secure: network.secured,
    };
    response::json(&Networks(networks.iter().map(network).collect()))
}

/// Tries to join a network and stores the credentials if that works.
pub async fn join(mut call: Call) -> Response {
    let page_texts = wants_page(&call).then(|| language(&call.parts.uri, call.headers()));
    let (ssid, password, panel) = match (credentials(&mut call).await, page_texts) {
        (Ok(credentials), _) => credentials,
        (Err(error), Some(texts)) => {
            let content = PageContent::FormWithError(error);
            return page(&call.state, StatusCode::BAD_REQUEST, texts, content).await;
        }
        (Err(error), None) => return response::bad_request(error),
    };
    let services = &call.state.services;
    let data_dir = services.data_dir.clone();
    let panel = panel.map(|name| PanelChoice { data_dir, name });
    let result = services.radio.provision(ssid, password, panel).await;
    let failure = match (result, page_texts) {
        (Ok(ip), Some(texts)) => {
            let content = PageContent::Stored(ip.as_deref());
            return page(&call.state, StatusCode::OK, texts, content).await;
        }
        (Ok(ip), None) => return response::json(&Joined { ok: true, ip }),
        (Err(failure), _) => failure,
    };
    if let Some(texts) = page_texts {
        let error = texts.failed.replace("{why}", reason_text(&failure, texts));
        let content = PageContent::FormWithError(&error);
        return page(&call.state, status_of(&failure), texts, content).await;
    }
    let (code, reason) = match &failure {
        ProvisionFailure::Tried(ProvisionError::Failed(failure)) => {
            (failure.name(), failure.number())
        }
        ProvisionFailure::Tried(ProvisionError::NotStored(_)) => ("not_stored", 0),
        ProvisionFailure::Busy => ("busy", 0),
        ProvisionFailure::Gone => ("unknown", 0),
    };
    // Programs get the reason as a code and in English; the script of the page sends its language in the query.
    let texts = match call.parts.uri.query() {
        Some(_) => language(&call.parts.uri, call.headers()),
        None => &LANGUAGES[0],
    };
    let body = NotJoined {
        ok: false,
        error: reason_text(&failure, texts).into(),
        code,
        reason,
    };
    response::json_with(status_of(&failure), &body)
}

/// Why credentials were not stored.
fn reason_text(failure: &ProvisionFailure, texts: &PortalTexts) -> &'static str {
    match failure {
        ProvisionFailure::Tried(ProvisionError::Failed(failure)) => texts.failure(*failure),
        ProvisionFailure::Tried(ProvisionError::NotStored(_)) => texts.not_stored,
        ProvisionFailure::Busy => texts.busy,
        ProvisionFailure::Gone => texts.restarting,
    }
}

fn status_of(failure: &ProvisionFailure) -> StatusCode {
    match failure {
        ProvisionFailure::Tried(ProvisionError::Failed(failure)) => status_of_link(*failure),
        ProvisionFailure::Tried(ProvisionError::NotStored(_)) => StatusCode::INTERNAL_SERVER_ERROR,
        ProvisionFailure::Busy | ProvisionFailure::Gone => StatusCode::SERVICE_UNAVAILABLE,
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

/// Reads the network name, the password and the panel from a form or from JSON. An empty panel is none.
async fn credentials(call: &mut Call) -> Result<(String, Secret, Option<String>), &'static str> {
    const BAD_BODY: &str = "invalid body";
    let ReceivedBody::Complete(body) = call.body(BODY_MAX).await else {
        return Err(BAD_BODY);
    };
    let received = network_credentials(&body).ok_or(BAD_BODY)?;
    let (ssid, password) = (received.ssid.unwrap_or_default(), received.pw);
    let named = received.display.as_deref().filter(|name| !name.is_empty());
    if let Some(name) = named {
        if !call.state.services.offers_panels {
            return Err("display cannot be chosen: the start configuration names the panels");
        }
        if chosen_panel::find(name).is_none() {
            return Err("display unknown");
        }
    }
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
    let panel = received
        .display
        .filter(|_| call.state.services.offers_panels);
    Ok((ssid, password, panel))
}

/// Whether the response is a page: a browser sent a form. All other clients get JSON.
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
    texts: &PortalTexts,
    content: PageContent<'_>,
) -> Response {
    let ip = match content {
        PageContent::Stored(ip) => ip,
        PageContent::Form | PageContent::FormWithError(_) => None,
    };
    let place = address_html(texts, &state.view(), state.services.port, ip);
    let body = match content {
        PageContent::Stored(_) => stored_html(texts, &place),
        PageContent::Form => form_html(texts, &place, state, "").await,
        PageContent::FormWithError(error) => form_html(texts, &place, state, error).await,
    };
    let html = PAGE
        .replace("{{lang}}", texts.code)
        .replace("{{script}}", SCRIPT)
        // Last, because the name of a network can look like a placeholder.
        .replace("{{body}}", &body);
    let mut response = response::bytes(response::HTML, html.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    response
}

fn stored_html(texts: &PortalTexts, place: &str) -> String {
    let PortalTexts {
        connected, joins, ..
    } = texts;
    format!("<h1>{connected}</h1><p>{joins} {place}</p>")
}

/// Where the clock answers after it has joined the network: by its name if it is announced, and by its address, which
/// the router knows until the clock has joined.
fn address_html(texts: &PortalTexts, view: &View, port: u16, ip: Option<&str>) -> String {
    let hostname = escaped(&view.hostname);
    let port = match port {
        HTTP_PORT => String::new(),
        port => format!(":{port}"),
    };
    let domain = if view.settings.active.mdns_enabled { ".local" } else { "" };
    let by_address = match ip {
        Some(ip) if ip.contains(':') => format!("<b>http://[{ip}]{port}/</b>"),
        Some(ip) => format!("<b>http://{ip}{port}/</b>"),
        None => texts
            .router
            .replace("{host}", &format!("<b>{hostname}</b>"))
            .replace("{port}", &port),
    };
    format!("<b>http://{hostname}{domain}{port}/</b>. <span data-ip=\"{port}\">{by_address}</span>")
}

async fn form_html(texts: &PortalTexts, place: &str, state: &ServerState, error: &str) -> String {
    let services = &state.services;
    let PortalTexts {
        code,
        choose,
        in_reach,
        another,
        password,
        no_password,
        show,
        connect,
        again,
        afterwards,
        ..
    } = texts;
    let networks = services.radio.networks().await;
    let mut html = format!("<h1>{choose}</h1>");
    if state.view().link.is_open {
        html.push_str(&format!("<p>{no_password}</p>"));
    }
    let panels = panels_html(texts, services).await;
    let hidden = if error.is_empty() { " hidden" } else { "" };
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<p id=\"problem\" role=\"alert\"{hidden}>{}</p><form id=\"form\" method=\"post\" action=\"/save?lang={code}\"{attributes}><fieldset id=\"networks\"><legend>{in_reach}</legend>",
        escaped(error),
        attributes = text_attributes(texts),
    );
    for (index, network) in networks.iter().enumerate() {
        let checked = if index == 0 { " checked" } else { "" };
        let lock = if network.secured { texts.secured } else { texts.open };
        let _ = write!(
            html,
            "<label><input type=\"radio\" name=\"ssid\" value=\"{name}\"{checked}><span>{name}</span><small>{bars} · {lock}</small></label>",
            name = escaped(&network.ssid),
            bars = texts.bars[bars(network.rssi)],
        );
    }
    let checked = if networks.is_empty() { " checked" } else { "" };
    let _ = write!(
        html,
        "<label><input type=\"radio\" name=\"ssid\" value=\"\"{checked}><span><input name=\"other\" maxlength=\"32\" placeholder=\"{another}\" aria-label=\"{another}\" autocapitalize=\"none\" autocorrect=\"off\" spellcheck=\"false\"></span></label></fieldset><label class=\"pw\">{password} <input name=\"pw\" type=\"password\" maxlength=\"64\" autocomplete=\"off\"></label><label class=\"show\" hidden><input id=\"show\" type=\"checkbox\">{show}</label>{panels}<button id=\"go\">{connect}</button> <a href=\"/?lang={code}\">{again}</a></form><p>{afterwards} {place}</p><template id=\"done\">{done}</template><nav>",
        done = stored_html(texts, place),
    );
    for PortalTexts { code, language, .. } in &LANGUAGES {
        let current = if *code == texts.code { " aria-current=\"true\"" } else { "" };
        let _ = write!(
            html,
            "<a href=\"/?lang={code}\" lang=\"{code}\"{current}>{language}</a> "
        );
    }
    html.push_str("</nav>");
    html
}

/// The list of panels, if the portal offers it.
async fn panels_html(texts: &PortalTexts, services: &Services) -> String {
    let PortalTexts {
        panel,
        no_panel,
        panel_hint,
        ..
    } = texts;
    if !services.offers_panels {
        return String::new();
    }
    let data_dir = services.data_dir.clone();
    let chosen = spawn_blocking(move || chosen_panel::read(&data_dir)).await;
    // A file that cannot be read is replaced by the next choice.
    let chosen = chosen.ok().and_then(Result::ok).flatten();
    let mut html = format!(
        "<label class=\"pw\">{panel} <select name=\"display\"><option value=\"\">{no_panel}</option>"
    );
    let wirings = wiring::displays().filter_map(|id| Some((id, wiring::base(id)?)));
    for (id, wiring) in wirings {
        let selected = if chosen == Some(id) { " selected" } else { "" };
        let name = escaped(&wiring.name);
        html.push_str(&format!("<option value=\"{id}\"{selected}>{name}</option>"));
    }
    html + "</select></label><p>" + panel_hint + "</p>"
}

/// The texts that the script shows, as attributes of the form.
fn text_attributes(texts: &PortalTexts) -> String {
    let [strong, good, fair, weak] = texts.bars;
    let pairs = [
        ("trying", texts.trying),
        ("choose", texts.choose_first),
        ("away", texts.no_answer),
        ("failed", texts.failed),
        ("secured", texts.secured),
        ("open", texts.open),
        ("strong", strong),
        ("good", good),
        ("fair", fair),
        ("weak", weak),
    ];
    let attribute = |(name, text): (&str, &str)| format!(" data-{name}=\"{}\"", escaped(text));
    pairs.into_iter().map(attribute).collect()
}

/// Index of a signal strength, 0 for the best.
fn bars(rssi: i32) -> usize {
    match rssi {
        -55.. => 0,
        -67..-55 => 1,
        -78..-67 => 2,
        ..-78 => 3,
    }
}

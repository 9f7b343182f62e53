//! `/glass`: only the clock, for other screens.
//!
//! A browser with modules gets the live page, which loads itself again with `live` in its address. For all other browsers
//! the same document is one picture, and a header reloads it when the picture can have changed.

use std::time::Duration;

use api::device_call::refusal_answer;

use http::{
    HeaderName,
    header::{CONTENT_SECURITY_POLICY, USER_AGENT},
};

use super::{
    call::Call,
    canvas,
    confirmation::error_text,
    html, pages,
    parse::percent_encode,
    response::{self, Response},
};

/// Parts of the `User-Agent` of e-readers.
const READERS: &[&str] = &["Kindle", "Kobo", "tolino", "PocketBook", "NOOK"];

/// Size of a picture for an e-reader if none is requested, px.
const READER_SIZE: (u32, u32) = (600, 800);

/// Least time between two loads without scripts: an e-reader flashes black at each.
const RELOAD_MIN: Duration = Duration::from_secs(60);

/// Time until the browser loads the address again, s.
const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// Parameters of the address that are passed on to the picture besides its size.
const PASSED_ON: [&str; 5] = ["rotate", "depth", "layout", "dark", "screen"];

/// `GET /glass`. A browser gets errors as a page.
pub async fn page(call: Call) -> Response {
    let link = html::is_wanted(call.headers()).then(|| html::link_back(call.parts.uri.path()));
    match (document(call).await, link) {
        (Ok(document), _) => document,
        (Err(refusal), None) => refusal,
        (Err(refusal), Some(link)) => {
            let reason = html::escaped(&error_text(refusal.body()));
            let content = format!("<p>{reason}.</p>\n{link}");
            html::notice(refusal.status(), "This screen cannot be shown", &content)
        }
    }
}

async fn document(call: Call) -> Result<Response, Response> {
    let bad_request = |reason: String| response::bad_request(&reason);
    let content = canvas::content(&call).map_err(bad_request)?;
    let spec = canvas::spec(&call, size(&call)).map_err(bad_request)?;
    let Some(document) = pages::glass() else {
        return Err(response::not_found());
    };
    if call.query("live").is_some() {
        return Ok(document.response(call.headers(), &call.state.policy));
    }
    let frame = canvas::compose(&call.state, content, spec.layout)
        .map_err(|refusal| response::from_answer(refusal_answer(refusal)))?;
    let mut address = format!(
        "api/frame.png?width={}&amp;height={}",
        spec.width, spec.height
    );
    for name in PASSED_ON {
        if let Some(value) = call.query(name) {
            address = format!("{address}&amp;{name}={}", percent_encode(&value));
        }
    }
    let (width, height) = (spec.width, spec.height);
    let picture =
        format!("<img src=\"{address}\" width=\"{width}\" height=\"{height}\" alt=\"The clock\">");
    let reload = frame.changes.expected().max(RELOAD_MIN);
    let mut response = response::bytes(response::HTML, document.replaced("<!--still-->", &picture));
    let headers = response.headers_mut();
    headers.insert(REFRESH, reload.as_secs().into());
    headers.insert(CONTENT_SECURITY_POLICY, call.state.policy.clone());
    Ok(response)
}

/// Size of the picture if none is requested.
fn size(call: &Call) -> (u32, u32) {
    let agent = call.header(USER_AGENT).unwrap_or_default();
    if READERS.iter().any(|reader| agent.contains(reader)) {
        READER_SIZE
    } else {
        canvas::SIZE
    }
}

//! A browser's GET that changes something: nothing tells who sends it, so a person has to press a button.
//!
//! A page of another site can make its visitors' browsers send a GET that carries no mark, by a picture, a frame or a
//! fetch. Such a GET gets a page whose button sends the same as a POST, which browsers do mark.

use std::sync::LazyLock;

use http::{
    HeaderValue, Method, StatusCode,
    header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY},
    uri::Uri,
};

use interface::operation::Operation;

use super::{
    answer::{self, Response},
    html::{self, escaped},
    parse::query_value,
};

/// What the button adds to the query.
const PRESSED: &str = "pressed";

const PAGE: &str = include_str!("press.html");

/// What the page may do: look as it does, and send its form.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = html::source(html::style(PAGE));
    let policy = format!(
        "default-src 'none'; style-src {style}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Whether a request was sent by the button.
pub(crate) fn is_pressed(method: &Method, uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    *method == Method::POST && query_value(query, PRESSED).is_some()
}

/// The page with the button.
pub(crate) fn page(operation: &Operation, uri: &Uri) -> Response {
    // The path comes last: what a client wrote into it is looked at no more.
    let html = PAGE
        .replace("{{summary}}", &escaped(operation.summary))
        .replace("{{pressed}}", PRESSED)
        .replace("{{path}}", &escaped(uri.path()));
    let content_type = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = answer::bytes(content_type, html.into());
    *response.status_mut() = StatusCode::FORBIDDEN;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    // Without it some browsers would not mark what the button sends.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

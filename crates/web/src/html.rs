//! Small HTML pages without scripts, and helpers for pages and their content security policies.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ACCEPT, CONTENT_SECURITY_POLICY, REFERRER_POLICY},
};
use sha2::{Digest, Sha256};

use super::response::{self, Response};

/// Template of a page with a title and content.
const NOTICE: &str = include_str!("notice.html");

/// Content security policy of such a page: its own style and forms to this origin.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = source(style(NOTICE));
    let policy = format!(
        "default-src 'none'; style-src {style}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// The root of the clock relative to a path. Relative, because a proxy may serve the clock below an unknown prefix.
pub fn root(path: &str) -> String {
    match path.matches('/').count() {
        0 | 1 => "./".into(),
        depth => "../".repeat(depth - 1),
    }
}

/// A link from a path to the main page.
pub fn link_back(path: &str) -> String {
    format!("<p><a href=\"{}\">Back to the clock</a></p>", root(path))
}

/// Whether the client prefers HTML.
pub fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("text/html"))
}

/// A page with a title (text) and content (HTML).
pub fn notice(status: StatusCode, title: &str, content: &str) -> Response {
    // The content is inserted last, so that placeholders in text of a client are not replaced.
    let html = NOTICE
        .replace("{{title}}", &escaped(title))
        .replace("{{content}}", content);
    let content_type = response::HTML;
    let mut response = response::bytes(content_type, html.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    // Without it some browsers send no `Origin` or `Referer` with the form.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// The source expression of an inline style or script in a content security policy.
pub fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The inline style of a page; empty if there is none.
pub fn style(page: &str) -> &str {
    let style = page
        .split_once("<style>")
        .and_then(|(_, rest)| rest.split_once("</style>"));
    style.map_or("", |(style, _)| style)
}

/// Escapes a text for HTML content and attributes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_the_text_between_its_tags() {
        assert_eq!(
            style("<head><style>\np { margin: 0 }\n</style></head>"),
            "\np { margin: 0 }\n"
        );
        assert_eq!(style("<head></head>"), "");
    }

    #[test]
    fn a_source_is_the_digest_that_browsers_compute() {
        // SHA-256 of the empty string.
        assert_eq!(
            source(""),
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        );
    }
}

//! Small pages without scripts, and what goes into a page and its policy.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ACCEPT, CONTENT_SECURITY_POLICY, REFERRER_POLICY},
};
use sha2::{Digest, Sha256};

use super::answer::{self, Response};

/// A page with a title and some content.
const NOTICE: &str = include_str!("notice.html");

/// What such a page may do: look as it does, and send a form.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = source(style(NOTICE));
    let policy = format!(
        "default-src 'none'; style-src {style}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// The root of the clock relative to a path: a proxy may serve the clock below a prefix that it does not tell.
pub fn root(path: &str) -> String {
    match path.matches('/').count() {
        0 | 1 => "./".into(),
        depth => "../".repeat(depth - 1),
    }
}

/// A link from a path to the page of the clock.
pub fn link_back(path: &str) -> String {
    format!("<p><a href=\"{}\">Back to the clock</a></p>", root(path))
}

/// Whether a browser asks for something that it shows as a page.
pub fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("text/html"))
}

/// Answers with a page of a title, as text, and some content, as HTML.
pub fn notice(status: StatusCode, title: &str, content: &str) -> Response {
    // The content comes last: what a client wrote into it is not searched for placeholders.
    let html = NOTICE
        .replace("{{title}}", &escaped(title))
        .replace("{{content}}", content);
    let content_type = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = answer::bytes(content_type, html.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    // Without it some browsers would not mark what a button sends.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// What a policy names a style or a script by that stands in the page itself.
pub fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The one style that stands in a page; nothing if there is none.
pub fn style(page: &str) -> &str {
    let style = page
        .split_once("<style>")
        .and_then(|(_, rest)| rest.split_once("</style>"));
    style.map_or("", |(style, _)| style)
}

/// A text as it may stand anywhere in a page.
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
    fn a_style_is_all_that_stands_between_its_tags() {
        assert_eq!(
            style("<head><style>\np { margin: 0 }\n</style></head>"),
            "\np { margin: 0 }\n"
        );
        assert_eq!(style("<head></head>"), "");
    }

    #[test]
    fn a_source_is_what_browsers_compute() {
        // The digest of no bytes at all, as RFC 6234's programs print it, in base64.
        assert_eq!(
            source(""),
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        );
    }
}

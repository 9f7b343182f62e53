//! Texts put into pages, and what a page may hold of its own.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// What a policy names a style or a script by that stands in the page itself.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The one style that stands in a page; nothing if there is none.
pub(crate) fn style(page: &str) -> &str {
    let style = page
        .split_once("<style>")
        .and_then(|(_, rest)| rest.split_once("</style>"));
    style.map_or("", |(style, _)| style)
}

/// A text as it may stand anywhere in a page.
pub(crate) fn escaped(text: &str) -> String {
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

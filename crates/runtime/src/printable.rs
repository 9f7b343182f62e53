//! Text from outside the program (a clock, a file, the local network), made safe for a terminal.

use std::fmt::Write as _;

/// Replaces every character that a terminal could act on by its JSON escape, such as `\u001b`; lines and tabs stay.
///
/// A JSON document stays a JSON document with the same meaning, because such characters occur only in its strings.
pub fn printable(text: &str) -> String {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// The same for a text that must stay on one line.
pub fn one_line(text: &str) -> String {
    escaped(text, |_| false)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if !is_unsafe(character) || stays(character) {
            printable.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(printable, "\\u{:04x}", u32::from(character));
        }
    }
    printable
}

/// C0, DEL and C1 control a terminal; the others change the direction of the text around them.
fn is_unsafe(character: char) -> bool {
    let turns_text = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns_text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, expected) in [
            ("BTC/USD ₿ 21\tok\n", "BTC/USD ₿ 21\tok\n"),
            ("\x1b]0;x\x07", "\\u001b]0;x\\u0007"),
            ("\u{9b}2J\u{7f}\r", "\\u009b2J\\u007f\\u000d"),
            ("a\u{202e}b", "a\\u202eb"),
        ] {
            assert_eq!(printable(text), expected);
        }
        assert_eq!(one_line("a\nb"), "a\\u000ab");
    }

    #[test]
    fn a_document_keeps_its_meaning() {
        let document = json!({ "a\u{9b}": "\x1b\x07\u{85}\n" });
        let read: Value =
            serde_json::from_str(&printable(&format!("{document:#}"))).unwrap_or_default();
        assert_eq!(read, document);
    }
}

//! Mistakes in a wiring file, in words for whoever wrote it.

use std::fmt;

/// Something in a wiring file that must be mended before it can be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Line on which it stands, the first is 1; none if it is about the whole.
    pub line: Option<usize>,
    /// What is wrong and what to write instead, in words for people.
    pub what: String,
}

impl Mistake {
    /// A mistake on a line.
    ///
    /// Control characters that the file brought with it stand as they would be written.
    pub fn at(line: Option<usize>, what: String) -> Mistake {
        let what = match what.contains(char::is_control) {
            true => what.escape_debug().to_string(),
            false => what,
        };
        Mistake { line, what }
    }

    pub(super) fn is_about(&self, section: &str, key: &str) -> bool {
        self.what
            .strip_prefix(section)
            .is_some_and(|rest| rest.contains(&format!("`{key}`")))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "line {line}: {}", self.what),
            None => formatter.write_str(&self.what),
        }
    }
}

//! Mistakes in a wiring file, for its author.

use std::fmt;

/// A mistake in a wiring file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Line number, starting at 1; `None` if it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong and what to write instead.
    pub what: String,
}

impl Mistake {
    /// A mistake on a line. Control characters from the file are escaped.
    pub fn at(line: Option<usize>, what: String) -> Mistake {
        let what = if what.contains(char::is_control) {
            what.escape_debug().to_string()
        } else {
            what
        };
        Mistake { line, what }
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

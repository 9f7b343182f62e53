//! What the program says to whoever started it, where there is no log.

use std::io::{self, Write};

use crate::printable::printable;

/// Says a line.
pub fn say(message: &str) {
    // Nobody may be there to read it, which is no reason to stop.
    let _ = writeln!(io::stderr(), "papertick: {}", printable(message));
}

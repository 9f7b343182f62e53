//! Messages on the standard error, for commands without a log.

use std::io::{self, Write};

use crate::printable::printable;

pub fn print_error(message: &str) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(io::stderr(), "papertick: {}", printable(message));
}

//! Writing to the standard output.

use std::{
    io::{self, ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use runtime::printable::printable;
use serde_json::json;

use crate::failure::Failure;

/// Whether anything was written.
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Prints text, made safe for a terminal.
///
/// # Errors
/// It cannot be written.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(printable(text).as_bytes())
}

/// Writes bytes as they are.
///
/// # Errors
/// They cannot be written.
pub fn write(bytes: &[u8]) -> Result<(), Failure> {
    check(try_write(bytes))
}

/// Writes bytes at once; an error of kind `BrokenPipe` if the reader has closed its end.
pub(crate) fn try_write(bytes: &[u8]) -> io::Result<()> {
    IS_WRITTEN.store(true, Ordering::Relaxed);
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}

/// The failure of a write. A closed pipe is not a failure.
pub(crate) fn check(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "cannot write to standard output: {error}"
        ))),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a failure as a JSON document, unless the command has printed one already.
pub fn print_failure(failure: &Failure) {
    if !IS_WRITTEN.load(Ordering::Relaxed) {
        let document = json!({ "error": failure.message });
        // The failure itself is reported on standard error.
        let _ = print(&format!("{document:#}\n"));
    }
}

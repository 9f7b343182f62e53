//! Writing to the standard output.

use std::io::{self, ErrorKind, Write};

use runtime::printable::printable;

use crate::failure::Failure;

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
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}

/// The failure of a write. A reader that closes its end is none.
pub(crate) fn check(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "cannot write to standard output: {error}"
        ))),
        Ok(()) | Err(_) => Ok(()),
    }
}

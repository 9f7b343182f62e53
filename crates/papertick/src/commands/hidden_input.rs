//! Prompts for secrets on the terminal.

use std::{
    fs::{File, OpenOptions},
    io,
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Reads a typed or pasted line without showing it.
///
/// # Errors
/// There is no terminal, or it is gone.
pub(crate) fn prompt(text: &str) -> io::Result<String> {
    // Hides the input before the prompt is printed, because people may type at once.
    let _guard = EchoGuard::new();
    rpassword::prompt_password(text)
}

/// Disables the echo of the terminal; dropping it restores the echo.
struct EchoGuard {
    terminal: File,
    before: Termios,
}

impl EchoGuard {
    fn new() -> Option<EchoGuard> {
        let terminal = OpenOptions::new().read(true).open("/dev/tty").ok()?;
        let before = tcgetattr(&terminal).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Now, &hidden).ok()?;
        Some(EchoGuard { terminal, before })
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

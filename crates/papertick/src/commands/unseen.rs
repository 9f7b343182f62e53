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
pub(crate) fn ask(question: &str) -> io::Result<String> {
    // The question is the sign to type: what comes right after it is not to be shown either.
    let _hidden = Hidden::begin();
    rpassword::prompt_password(question)
}

/// A terminal that does not show what is typed; it shows it again when this is dropped.
struct Hidden {
    terminal: File,
    before: Termios,
}

impl Hidden {
    fn begin() -> Option<Hidden> {
        let terminal = OpenOptions::new().read(true).open("/dev/tty").ok()?;
        let before = tcgetattr(&terminal).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Now, &hidden).ok()?;
        Some(Hidden { terminal, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

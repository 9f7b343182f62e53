//! The clock that a command controls, and the credentials for it.

use std::{
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use device::secret::Secret;
use net::{
    dialer::Dialer,
    url::{Scheme, Url},
};
use storage::disk::read_text;

use super::{ClientLogin, ClockClient};
use crate::{
    commands::{files::cannot_read, unseen},
    config::roots,
    failure::Failure,
};

/// Where a clock is unless something else is said.
pub(crate) const HERE: &str = "http://127.0.0.1:8080";

/// Variable with the password of the clock.
const PASSWORD: &str = "PAPERTICK_PASSWORD";

/// Largest file with a password, bytes.
const SECRET_FILE_MAX: u64 = 4 * 1024;

/// What a certificate or a key in PEM form has in its first line.
const PEM_BEGIN: &str = "-----BEGIN ";

/// Word for the standard input in the place of a file.
const STDIN: &str = "-";

// The address of the clock and the credentials. A doc comment here would replace the help of every command that has
// these flags.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClockTarget {
    /// The clock: an address such as papertick-1a2b3c.local:8080 or https://clock.example [default: http://127.0.0.1:8080]
    #[arg(
        long,
        env = "PAPERTICK_HOST",
        value_name = "URL",
        global = true,
        help_heading = "Which clock"
    )]
    pub(crate) host: Option<String>,

    /// Name to sign in with [default: papertick]
    #[arg(
        long,
        env = "PAPERTICK_USER",
        value_name = "NAME",
        global = true,
        help_heading = "Which clock"
    )]
    user: Option<String>,

    /// File with the password, - for the standard input; PAPERTICK_PASSWORD holds it as well, and else it is asked for
    #[arg(
        long,
        env = "PAPERTICK_PASSWORD_FILE",
        value_name = "FILE",
        global = true,
        help_heading = "Which clock"
    )]
    password_file: Option<PathBuf>,

    /// Certificates of authorities that are trusted beside the public ones
    #[arg(
        long,
        env = "PAPERTICK_CA_FILE",
        value_name = "FILE.pem",
        global = true,
        help_heading = "Which clock"
    )]
    ca_file: Option<PathBuf>,
}

impl ClockTarget {
    /// A client of the clock.
    ///
    /// # Errors
    /// What was said of it cannot be.
    pub(crate) fn client(&self) -> Result<ClockClient, Failure> {
        let host = self.host.as_deref().unwrap_or(HERE);
        let password = secret(PASSWORD, self.password_file.as_deref())?;
        let account = ClientLogin {
            user: self.user.clone().unwrap_or_else(|| "papertick".into()),
            password,
        };
        let dialer = Dialer::for_uploads(roots(self.ca_file.as_deref())?);
        ClockClient::new(address("--host", host)?, account, dialer)
    }
}

/// Parses the address of a clock, the value of a flag. The scheme is http by default.
///
/// # Errors
/// It is no address of a clock.
pub(crate) fn address(flag: &str, text: &str) -> Result<Url, Failure> {
    let about = |what: String| {
        Failure::usage(format!(
            "{flag} {text}: {what}; say it like 192.168.1.7:8080 or http://papertick-1a2b3c.local:8080"
        ))
    };
    let whole = match text.contains("://") {
        true => text.to_string(),
        false => format!("http://{text}"),
    };
    let url = Url::parse(&whole).map_err(|error| about(error.to_string()))?;
    match url.scheme {
        Scheme::Http | Scheme::Https => {}
        Scheme::Ws | Scheme::Wss => return Err(about("a clock speaks http or https".into())),
    }
    match url.path.as_str() {
        "/" => Ok(url),
        path => Err(about(format!("`{path}` is too much"))),
    }
}

/// A secret from a file, or else from the environment; none if neither has one.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn secret(variable: &str, file: Option<&Path>) -> Result<Option<Secret>, Failure> {
    if let Some(path) = file {
        return from_file(path).map(Some);
    }
    let value = std::env::var(variable).ok();
    Ok(value.filter(|value| !value.is_empty()).map(Secret::new))
}

/// A secret from a file: its first line, or all of it where that is in PEM form.
///
/// # Errors
/// It cannot be read.
pub(crate) fn from_file(path: &Path) -> Result<Secret, Failure> {
    let unread = |error: io::Error| cannot_read(path, &error);
    let text = if path == Path::new(STDIN) {
        let mut text = String::new();
        let mut input = io::stdin().lock().take(SECRET_FILE_MAX);
        input.read_to_string(&mut text).map_err(unread)?;
        text
    } else {
        read_text(path, SECRET_FILE_MAX).map_err(unread)?
    };
    Ok(Secret::new(secret_in(&text)))
}

/// The secret in the text of a file.
fn secret_in(text: &str) -> &str {
    match text.contains(PEM_BEGIN) {
        true => text.trim(),
        false => text.lines().next().unwrap_or_default(),
    }
}

/// Prompts for a secret without showing it. `None` without a terminal.
pub(crate) fn typed(question: &str) -> Option<Secret> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let text = unseen::ask(question).ok()?;
    Some(Secret::new(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;
    use crate::failure::Code;

    #[test]
    fn clocks_are_named_in_short_or_in_full() {
        for (text, expected) in [
            ("127.0.0.1:8080", "http 127.0.0.1 8080"),
            ("clock.local", "http clock.local 80"),
            ("http://[::1]:81/", "http ::1 81"),
            ("https://clock.example", "https clock.example 443"),
        ] {
            let url = address("--host", text).unwrap();
            let told = format!("{} {} {}", url.scheme.word(), url.host, url.port);
            assert_eq!(told, expected);
        }
        for (text, part) in [
            ("", "no host"),
            ("http://me:pw@clock", "user name"),
            ("http://clock/api", "`/api` is too much"),
            ("ws://clock", "http or https"),
            ("clock:99999", "port"),
        ] {
            let failure = address("--host", text).unwrap_err();
            assert_eq!(failure.code, Code::Usage, "{text}");
            assert!(failure.message.contains(part), "{failure}");
        }
    }
}

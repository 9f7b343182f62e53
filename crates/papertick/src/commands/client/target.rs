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
    commands::{files::cannot_read, hidden_input},
    config::roots,
    failure::Failure,
};

/// Default address of a clock.
pub(crate) const DEFAULT_HOST: &str = "http://127.0.0.1:8080";

/// Variable with the password of the clock.
const PASSWORD: &str = "PAPERTICK_PASSWORD";

/// Largest file with a password, bytes.
const SECRET_FILE_MAX: u64 = 4 * 1024;

/// Start of the first line of a PEM file.
const PEM_BEGIN: &str = "-----BEGIN ";

/// File name for standard input.
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

    /// File with the password, - for standard input; the default is PAPERTICK_PASSWORD, or else a prompt
    #[arg(
        long,
        env = "PAPERTICK_PASSWORD_FILE",
        value_name = "FILE",
        global = true,
        help_heading = "Which clock"
    )]
    password_file: Option<PathBuf>,

    /// CA certificates to trust in addition to the public ones
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
    /// A flag has a mistake.
    pub(crate) fn client(&self) -> Result<ClockClient, Failure> {
        let host = self.host.as_deref().unwrap_or(DEFAULT_HOST);
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
            "{flag} {text}: {what}; examples are 192.168.1.7:8080 and http://papertick-1a2b3c.local:8080"
        ))
    };
    let full = if text.contains("://") { text.to_string() } else { format!("http://{text}") };
    let url = Url::parse(&full).map_err(|error| about(error.to_string()))?;
    match url.scheme {
        Scheme::Http | Scheme::Https => {}
        Scheme::Ws | Scheme::Wss => return Err(about("the scheme is not http or https".into())),
    }
    match url.path.split_once('?') {
        None => Ok(url),
        Some((_, query)) => Err(about(format!("`?{query}` must be left out"))),
    }
}

/// A secret from a file, or else from the environment. `None` if neither has one.
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

/// A secret from a file: the first line, or the whole text if it is PEM.
///
/// # Errors
/// It cannot be read.
pub(crate) fn from_file(path: &Path) -> Result<Secret, Failure> {
    let failure = |error: io::Error| cannot_read(path, &error);
    let text = if path == Path::new(STDIN) {
        let mut text = String::new();
        let mut input = io::stdin().lock().take(SECRET_FILE_MAX);
        input.read_to_string(&mut text).map_err(failure)?;
        text
    } else {
        read_text(path, SECRET_FILE_MAX).map_err(failure)?
    };
    Ok(Secret::new(secret_in(&text)))
}

/// The secret in the text of a file.
fn secret_in(text: &str) -> &str {
    if text.contains(PEM_BEGIN) {
        text.trim()
    } else {
        text.lines().next().unwrap_or_default()
    }
}

/// Prompts for a secret without showing it. `None` without a terminal.
pub(crate) fn prompt_secret(prompt: &str) -> Option<Secret> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let text = hidden_input::prompt(prompt).ok()?;
    Some(Secret::new(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;
    use crate::failure::Code;

    #[test]
    fn addresses_may_lack_the_scheme() {
        for (text, expected) in [
            ("127.0.0.1:8080", "http 127.0.0.1 8080"),
            ("clock.local", "http clock.local 80"),
            ("http://[::1]:81/", "http ::1 81"),
            ("https://clock.example", "https clock.example 443"),
        ] {
            let url = address("--host", text).unwrap();
            let parsed = format!("{} {} {}", url.scheme.word(), url.host, url.port);
            assert_eq!(parsed, expected);
        }
        for (text, part) in [
            ("", "no host"),
            ("http://me:pw@clock", "user name"),
            ("http://clock/?a=b", "`?a=b` must be left out"),
            ("ws://clock", "http or https"),
            ("clock:99999", "port"),
        ] {
            let failure = address("--host", text).unwrap_err();
            assert_eq!(failure.code, Code::Usage, "{text}");
            assert!(failure.message.contains(part), "{failure}");
        }
    }
}

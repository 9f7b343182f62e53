//! Shared by all sources of headers: the address of a node, submitting headers, and the failure of a bad chain.

use std::{fmt, time::Duration};

use chain::{Header, rules::HeaderRefusal};
use device::secret::Endpoint;
use feeds::malformed::Malformed;
use market::{HeadersReach, HeadersReply, ProofOrigin};
use net::url::{BadUrl, split_authority};
use runtime::inbox::Stopped;

use super::{SourceContext, session::SessionEnd};

/// Pause after a node has sent headers that break the rules.
pub const BAD_NODE_PAUSE: Duration = Duration::from_secs(10 * 60);

/// Host and port of a node: the configured port, else the one in the host, else the default.
///
/// # Errors
/// The host is invalid.
pub fn place(host: &Endpoint, set: u16, usual: u16) -> Result<(&str, u16), BadUrl> {
    let host = host.expose();
    // Owners paste URLs from a browser.
    let host = host.split_once("://").map_or(host, |(_, rest)| rest);
    let host = host.trim_end_matches('/');
    if host.contains('@') {
        return Err(BadUrl::Login);
    }
    let (host, written) = split_authority(host)?;
    let port = match set {
        0 => written.unwrap_or(usual),
        set => set,
    };
    Ok((host, port))
}

/// The end of a session after a response that cannot be parsed.
pub fn bad_answer(malformed: Malformed) -> SessionEnd {
    SessionEnd::because(format!("invalid answer ({malformed})"))
}

impl SourceContext {
    /// Submits headers to the device and waits for the verdict. An empty list asks for the current state.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn submit_headers(
        &self,
        place: u8,
        headers: Vec<Header>,
        reach: HeadersReach,
    ) -> Result<HeadersReply, Stopped> {
        let origin = ProofOrigin {
            source: self.id,
            place,
        };
        self.shared
            .inbox
            .submit_headers(origin, headers, reach)
            .await
    }
}

impl From<WrongHeaders> for SessionEnd {
    fn from(wrong: WrongHeaders) -> SessionEnd {
        SessionEnd::Failed {
            reason: wrong.to_string(),
            retry_after: Some(BAD_NODE_PAUSE),
        }
    }
}

/// Why a chain could not be followed to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongHeaders {
    /// Its headers break the rules.
    Broken(HeaderRefusal),
    /// Its blocks do not connect to a known one.
    Elsewhere,
    /// It returns no headers for heights that it claims to have.
    Nothing,
}

impl fmt::Display for WrongHeaders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongHeaders::Broken(refusal) => write!(formatter, "a header breaks the rules: {refusal}"),
            WrongHeaders::Elsewhere => formatter.write_str(
                "its blocks do not connect to the known ones: it follows another chain, or is far behind",
            ),
            WrongHeaders::Nothing => formatter.write_str("it does not return the headers up to its newest block"),
        }
    }
}

/// Returns whether the headers connect to the chain.
///
/// # Errors
/// A header breaks a rule.
pub fn is_settled(reply: &HeadersReply) -> Result<bool, WrongHeaders> {
    match reply.refused {
        Some(refusal) if refusal.is_fault() => Err(WrongHeaders::Broken(refusal)),
        Some(HeaderRefusal::Unconnected) => Ok(false),
        Some(_) | None => Ok(true),
    }
}

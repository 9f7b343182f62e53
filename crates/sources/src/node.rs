//! What all that have headers need: where a node is, how headers are handed in, and what becomes of one that leads astray.

use std::time::Duration;

use chain::Header;
use device::secret::Endpoint;
use feeds::malformed::Malformed;
use market::{HeadersReach, Judged, ProofOrigin};
use net::url::{BadUrl, split_authority};
use runtime::inbox::Stopped;

use super::{SourceContext, by_height::Astray, poll::Missed, session::SessionEnd};

/// Time for which a node is left alone whose headers break the rules.
pub const LEFT_ALONE: Duration = Duration::from_secs(10 * 60);

/// Host and port of a node: the port that is set, else the one that stands behind the host, else the usual one.
///
/// # Errors
/// The host is none.
pub fn place(host: &Endpoint, set: u16, usual: u16) -> Result<(&str, u16), BadUrl> {
    let host = host.expose();
    // People paste what their browser shows.
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

/// An answer that was asked for and makes no sense.
pub fn useless(malformed: Malformed) -> SessionEnd {
    SessionEnd::because(format!("the answer makes no sense ({malformed})"))
}

impl SourceContext {
    /// Hands headers to the device and waits for what came of them; none of them asks what is kept.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn judge(
        &self,
        place: u8,
        headers: Vec<Header>,
        reach: HeadersReach,
    ) -> Result<Judged, Stopped> {
        let origin = ProofOrigin {
            source: self.id,
            place,
        };
        self.shared.inbox.judge(origin, headers, reach).await
    }
}

impl From<Astray> for SessionEnd {
    fn from(astray: Astray) -> SessionEnd {
        SessionEnd::Failed {
            reason: astray.to_string(),
            retry_after: Some(LEFT_ALONE),
        }
    }
}

impl From<Astray> for Missed {
    fn from(astray: Astray) -> Missed {
        Missed {
            retry_after: Some(LEFT_ALONE),
            ..Missed::because(astray)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_where_its_owner_says() {
        for (host, set, expected) in [
            ("node.local", 0, Ok(("node.local", 8333))),
            ("node.local:18444", 0, Ok(("node.local", 18_444))),
            ("node.local:18444", 7, Ok(("node.local", 7))),
            ("tcp://node.local/", 7, Ok(("node.local", 7))),
            ("[2001:db8::7]", 0, Ok(("2001:db8::7", 8333))),
            ("[2001:db8::7]:7", 0, Ok(("2001:db8::7", 7))),
            ("me:secret@node.local", 0, Err(BadUrl::Login)),
            ("", 0, Err(BadUrl::Host)),
            ("node.local:x", 0, Err(BadUrl::Port)),
        ] {
            let host = Endpoint::new(host);
            assert_eq!(place(&host, set, 8333), expected, "{host}");
        }
    }
}

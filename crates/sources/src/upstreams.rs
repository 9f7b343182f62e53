//! Public addresses, and their replacements from the command line.

use std::collections::BTreeMap;

use chain::network::Network;
use device::settings::pools;
use feeds::{exchange, p2p, relay};
use market::{source_id::SourceId, venues};
use net::url::{BadUrl, Url, split_authority};

pub const TIME_SERVER: &str = "pool.ntp.org";

pub const TIME_PORT: u16 = 123;

/// Names that can be replaced, in addition to those of the venues and the ids of the pools.
const NAMES: [&str; 4] = ["relay", "exchange", "sntp", SEEDS];

/// Common name of all DNS seeds.
const SEEDS: &str = "seeds";

/// Replacements of public addresses.
#[derive(Debug, Clone, Default)]
pub struct Upstreams {
    replaced: BTreeMap<String, String>,
}

/// A replacement that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUpstream {
    /// It is not `NAME=URL`.
    #[error("`{0}` is not NAME=URL")]
    Form(String),
    /// There is no such name.
    #[error(
        "no upstream is called `{0}`; there are relay, exchange, sntp, seeds, the names of the venues and the ids of the pools"
    )]
    Name(String),
    /// The address cannot be used.
    #[error("upstream `{name}`: {error}")]
    Url {
        name: String,
        /// What is wrong.
        error: BadUrl,
    },
}

fn is_host_or_nothing(text: &str) -> Result<(), BadUrl> {
    match text {
        "" => Ok(()),
        host => split_authority(host).map(drop),
    }
}

impl Upstreams {
    /// Adds a replacement, `NAME=URL`. For `sntp` it is `NAME=HOST:PORT`, with an optional `udp://`; for `seeds` a
    /// host, or an empty value to query no seed.
    ///
    /// # Errors
    /// The name is unknown or the address cannot be used.
    pub fn replace(&mut self, assignment: &str) -> Result<(), BadUpstream> {
        let (name, value) = assignment
            .split_once('=')
            .ok_or_else(|| BadUpstream::Form(assignment.to_owned()))?;
        let is_known = NAMES.contains(&name) || venues::named(name).is_some();
        if !is_known && pools::find(name).is_none() {
            return Err(BadUpstream::Name(name.to_owned()));
        }
        let checked = if name == SEEDS {
            is_host_or_nothing(value).map(|()| value.to_owned())
        } else if name == "sntp" {
            let place = value.strip_prefix("udp://").unwrap_or(value);
            split_authority(place).map(|_| place.to_owned())
        } else {
            Url::parse(value).map(|_| value.to_owned())
        };
        let checked = checked.map_err(|error| BadUpstream::Url {
            name: name.to_owned(),
            error,
        })?;
        self.replaced.insert(name.to_ascii_lowercase(), checked);
        Ok(())
    }

    /// Socket URL of the public relay or its replacement.
    pub fn relay(&self) -> String {
        self.socket("relay", relay::PUBLIC_URL)
    }

    /// Socket URL of the exchange or its replacement.
    pub fn exchange(&self) -> String {
        self.socket("exchange", exchange::URL)
    }

    /// DNS seeds of the public peers.
    pub fn seeds(&self, network: Network) -> Vec<&str> {
        match self.replaced.get(SEEDS).map(String::as_str) {
            Some("") => Vec::new(),
            Some(host) => vec![host],
            None => p2p::seeds(network).to_vec(),
        }
    }

    /// Socket URL of a venue or its replacement.
    pub fn venue(&self, source: SourceId, public: &str) -> String {
        self.socket(source.name(), public)
    }

    /// Host and port of the time server.
    pub fn time_server(&self) -> (String, u16) {
        let place = self
            .replaced
            .get("sntp")
            .map_or(TIME_SERVER, String::as_str);
        let (host, port) = split_authority(place).unwrap_or((TIME_SERVER, None));
        (host.to_owned(), port.unwrap_or(TIME_PORT))
    }

    /// The URL of a pool's request on the pool's server or its replacement.
    ///
    /// # Errors
    /// The request's URL is invalid.
    pub fn pool(&self, id: &str, request: &str) -> Result<Url, BadUrl> {
        let url = Url::parse(request)?;
        match self.replaced.get(&id.to_ascii_lowercase()) {
            Some(replacement) => Ok(Url {
                path: url.path,
                ..Url::parse(replacement)?
            }),
            None => Ok(url),
        }
    }

    /// A replacement without a path keeps the original path.
    fn socket(&self, name: &str, public: &str) -> String {
        let Some(replacement) = self.replaced.get(name) else {
            return public.to_owned();
        };
        match (Url::parse(replacement), Url::parse(public)) {
            (Ok(url), Ok(public)) if url.path == "/" => Url {
                path: public.path,
                ..url
            }
            .to_string(),
            _ => replacement.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_keep_the_path_unless_they_have_one() {
        let mut upstreams = Upstreams::default();
        assert_eq!(upstreams.relay(), relay::PUBLIC_URL);
        upstreams.replace("relay=ws://127.0.0.1:8765").unwrap();
        upstreams.replace("exchange=ws://127.0.0.1:9/own").unwrap();
        upstreams.replace("ocean=http://127.0.0.1:8").unwrap();
        upstreams.replace("sntp=127.0.0.1:1123").unwrap();
        assert_eq!(upstreams.relay(), "ws://127.0.0.1:8765/api/v2/ws");
        assert_eq!(upstreams.exchange(), "ws://127.0.0.1:9/own");
        assert_eq!(upstreams.time_server(), ("127.0.0.1".to_owned(), 1123));
        let pool = upstreams
            .pool("ocean", "https://api.ocean.xyz/v1/statsnap/me")
            .unwrap();
        assert_eq!(pool.to_string(), "http://127.0.0.1:8/v1/statsnap/me");
    }

    #[test]
    fn replacements_that_cannot_be_used_are_named() {
        let rows = [
            ("relay", "`relay` is not NAME=URL"),
            (
                "rely=ws://x",
                "no upstream is called `rely`; there are relay, exchange, sntp, seeds, the names of the venues and the ids of the pools",
            ),
            (
                "relay=example.com",
                "upstream `relay`: the address has no supported scheme",
            ),
            ("sntp=", "upstream `sntp`: the address has no host"),
        ];
        for (assignment, expected) in rows {
            let error = Upstreams::default().replace(assignment).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}

//! Mining pools: each is one row with a request and a parser.
//!
//! The settings' side of the table, with the ids in the same order, is [`device::settings::pools`].

use std::fmt;

use device::secret::Secret;
use market::{PoolStats, now::UtcTime};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

pub use crate::refusal::shortened;
use crate::{malformed::Malformed, refusal};

pub mod logo;

mod parsers;

use logo::LogoSpec;

/// Largest response, bytes; lists of workers are the longest.
pub const BODY_MAX: usize = 256 * 1024;

/// Parses a response without an error.
type Parser = fn(&Value) -> Result<PoolStats, Malformed>;

#[derive(Debug)]
pub struct MiningPool {
    pub id: &'static str,
    /// URL of the user's figures.
    address: Address,
    /// URL of the whole pool's figures, if offered.
    global_url: Option<&'static str>,
    /// Header for the user field, which then is a key.
    key_header: Option<&'static str>,
    parser: Parser,
    /// Logo, if there is one.
    pub logo: Option<LogoSpec>,
}

/// URL of the user's figures.
#[derive(Debug, Clone, Copy)]
enum Address {
    /// The same for all users; the key identifies the user.
    Fixed(&'static str),
    User(&'static str),
    /// Path prefix of the user on the self-hosted pool.
    LocalUser(&'static str),
    /// Prefix of the worker, and prefix of the first day.
    WorkerSince(&'static str, &'static str),
}

const fn pool(id: &'static str, address: Address, parser: Parser) -> MiningPool {
    MiningPool {
        id,
        address,
        global_url: None,
        key_header: None,
        parser,
        logo: None,
    }
}

/// All pools, in the order of the settings.
pub static POOLS: &[MiningPool] = &[
    MiningPool {
        logo: Some(logo::square("ocean.bin")),
        ..pool(
            "ocean",
            Address::User("https://api.ocean.xyz/v1/statsnap/"),
            parsers::ocean,
        )
    },
    MiningPool {
        global_url: Some("https://pool.noderunners.network/api/v1/pool"),
        logo: Some(logo::square("noderunners.bin")),
        ..pool(
            "noderunners",
            Address::User("https://pool.noderunners.network/api/v1/users/"),
            parsers::ckpool,
        )
    },
    MiningPool {
        global_url: Some("https://pool.satoshiradio.nl/api/v1/pool"),
        ..pool(
            "satoshi_radio",
            Address::User("https://pool.satoshiradio.nl/api/v1/users/"),
            parsers::ckpool,
        )
    },
    MiningPool {
        key_header: Some("Pool-Auth-Token"),
        logo: Some(logo::BRAIINS),
        ..pool(
            "braiins",
            Address::Fixed("https://pool.braiins.com/accounts/profile/json/btc/"),
            parsers::braiins,
        )
    },
    pool(
        "public_pool",
        Address::User("https://public-pool.io:40557/api/client/"),
        parsers::public_pool,
    ),
    pool(
        "local_public_pool",
        Address::LocalUser("/api/client/"),
        parsers::public_pool,
    ),
    MiningPool {
        logo: Some(logo::square("gobrrr.bin")),
        ..pool(
            "gobrrr_pool",
            Address::User("https://pool.gobrrr.me/api/client/"),
            parsers::public_pool,
        )
    },
    pool(
        "ckpool",
        Address::User("https://solo.ckpool.org/users/"),
        parsers::ckpool,
    ),
    pool(
        "eu_ckpool",
        Address::User("https://eusolo.ckpool.org/users/"),
        parsers::ckpool,
    ),
    pool(
        "nerdminers_org",
        Address::User("https://pool.nerdminers.org/users/"),
        parsers::ckpool,
    ),
    pool(
        "nerdminer_io",
        Address::User("https://pool.nerdminer.io/users/"),
        parsers::ckpool,
    ),
    MiningPool {
        key_header: Some("X-API-KEY"),
        ..pool(
            "foundry_usa",
            Address::WorkerSince(
                "https://api.foundryusapool.com/v2/earnings/",
                "?coin=BTC&startDateUnixMs=",
            ),
            parsers::foundry,
        )
    },
    MiningPool {
        key_header: Some("X-API-KEY"),
        ..pool(
            "viabtc",
            Address::Fixed("https://www.viabtc.com/res/openapi/v1/hashrate?coin=BTC"),
            parsers::viabtc,
        )
    },
];

/// Finds a pool by its id, ignoring ASCII case.
pub fn find(id: &str) -> Option<&'static MiningPool> {
    POOLS.iter().find(|pool| pool.id.eq_ignore_ascii_case(id))
}

/// The account of the owner at a mining pool and what to request.
#[derive(Debug, Clone, Copy)]
pub struct PoolAccount<'a> {
    /// Primary identifier or key.
    pub user: &'a Secret,
    /// Secondary identifier.
    pub worker: &'a str,
    /// Figures of the whole pool, if offered.
    pub global: bool,
    /// Host and port of the self-hosted pool.
    pub local_host: &'a str,
    /// The time, once known.
    pub now: Option<UtcTime>,
}

/// A GET request to a mining pool.
#[derive(Clone, PartialEq, Eq)]
pub struct PoolRequest {
    pub url: String,
    /// Headers in addition to `Accept: application/json`.
    pub headers: Vec<(&'static str, Secret)>,
}

impl fmt::Debug for PoolRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // After a change from a pool with keys to one without, the key is in the path for a while.
        let host = self.url.split('/').nth(2).unwrap_or_default();
        formatter
            .debug_struct("PoolRequest")
            .field("host", &host)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingField {
    /// The user field is empty.
    User,
    /// The user field cannot be used in a header.
    Key,
    /// The worker field is empty.
    Worker,
    /// The host of the self-hosted pool is empty.
    Host,
    /// The time is not known yet.
    Time,
}

impl fmt::Display for MissingField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            MissingField::User => "no user is set for the pool",
            MissingField::Key => "the key of the pool contains invalid characters",
            MissingField::Worker => "no worker is set for the pool",
            MissingField::Host => "no host is set for the pool",
            MissingField::Time => "the time is not known yet",
        })
    }
}

/// Period before now of the requested daily figures, ms.
const SINCE_MS: i64 = 2 * 24 * 60 * 60 * 1000;

impl MiningPool {
    /// The request for the figures.
    ///
    /// # Errors
    /// A setting is missing, or the time is unknown.
    pub fn request(&self, account: PoolAccount<'_>) -> Result<PoolRequest, MissingField> {
        if let Some(url) = self.global_url.filter(|_| account.global) {
            return Ok(PoolRequest {
                url: url.to_owned(),
                headers: Vec::new(),
            });
        }
        let headers = match self.key_header {
            Some(name) => vec![(name, key(account.user)?)],
            None => Vec::new(),
        };
        Ok(PoolRequest {
            url: self.address.url(account)?,
            headers,
        })
    }

    /// Parses a response. A figure that it lacks is unknown. The words of a refusal are complete: mask secrets in them, then
    /// shorten them.
    ///
    /// # Errors
    /// The body is too long or not JSON, or a field is invalid.
    pub fn body(&self, body: &[u8]) -> Result<PoolStats, Malformed> {
        if body.len() > BODY_MAX {
            return Err(Malformed("too-long"));
        }
        let answer: Value = serde_json::from_slice(body).map_err(|_| Malformed("json"))?;
        match stated_refusal(&answer) {
            Some(words) => Ok(PoolStats::refused(words.into())),
            None => (self.parser)(&answer),
        }
    }

    /// Why the pool refuses the user, in its own words, from a response with an error status.
    pub fn refusal(&self, body: &[u8]) -> Option<String> {
        let answer: Value = serde_json::from_slice(body).ok()?;
        let words = stated_refusal(&answer).or(answer["message"].as_str())?;
        Some(words.into())
    }

    /// Returns whether a status says that the pool does not know the user, or refuses the key.
    pub fn refuses(&self, account: PoolAccount<'_>, status: u16) -> bool {
        match status {
            401 | 403 => self.key_header.is_some(),
            404 => !account.global || self.global_url.is_none(),
            _ => false,
        }
    }
}

/// The reason in an `error` that is a text or an object.
fn stated_refusal(answer: &Value) -> Option<&str> {
    let error = &answer["error"];
    let is_stated = error.is_object() || error.as_str().is_some_and(|words| !words.is_empty());
    is_stated.then(|| refusal::full(error))
}

impl Address {
    fn url(self, account: PoolAccount<'_>) -> Result<String, MissingField> {
        let user = || segment(account.user.expose()).ok_or(MissingField::User);
        match self {
            Address::Fixed(url) => Ok(url.to_owned()),
            Address::User(before) => Ok(format!("{before}{}", user()?)),
            Address::LocalUser(path) => {
                let host = account
                    .local_host
                    .trim()
                    .trim_start_matches("http://")
                    .trim_end_matches('/');
                let host = segment(host).ok_or(MissingField::Host)?;
                Ok(format!("http://{host}{path}{}", user()?))
            }
            Address::WorkerSince(before, after) => {
                let worker = segment(account.worker).ok_or(MissingField::Worker)?;
                let since = account
                    .now
                    .ok_or(MissingField::Time)?
                    .unix_ms
                    .saturating_sub(SINCE_MS);
                Ok(format!("{before}{worker}{after}{since}"))
            }
        }
    }
}

/// The user field as a header value.
fn key(user: &Secret) -> Result<Secret, MissingField> {
    let text = user.expose().trim();
    if text.is_empty() {
        return Err(MissingField::User);
    }
    let is_key = text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_key { Ok(Secret::new(text)) } else { Err(MissingField::Key) }
}

/// Bytes that end a path or that a path cannot carry. `/` and `%` stay as the owner wrote them.
const NOT_IN_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'?')
    .add(b'#')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A setting as a path segment; characters that would end the path are escaped.
fn segment(text: &str) -> Option<String> {
    let segment = utf8_percent_encode(text.trim(), NOT_IN_PATH).to_string();
    (!segment.is_empty()).then_some(segment)
}

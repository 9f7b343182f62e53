//! Parts of the status: connections, sources, panels, the network, sentences.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::time::Duration;

use device::{
    board::PanelFault,
    refresh::Refresh,
    settings::data_source,
    spoken::{Sentence, SentenceValue},
    view::{LinkState, SourceState, View},
};
use market::source_id::SourceId;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::schema::Word;

/// Which connections are up, in the groups of older clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Connections {
    /// The source of prices.
    pub price: bool,
    /// The source of blocks.
    pub blocks: bool,
    /// The relay.
    #[serde(rename = "V2")]
    pub v2: bool,
    /// Nostr, for data or zaps.
    pub nostr: bool,
    /// The wallet.
    pub nwc: bool,
}

/// State of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// Whether the connection works.
    pub up: bool,
    /// Time since the last useful message, s; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub age_sec: Option<u64>,
    /// Last error, as a text for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub last_error: Option<String>,
    /// Time until the next attempt, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub next_try_sec: Option<u64>,
    /// Number of dropped messages, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<&'static str, u64>,
}

/// State of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PanelStatus {
    /// Time since the last refresh, s; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub age_sec: Option<u64>,
    /// Kind of the last refresh; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Word<Refresh>")]
    pub refresh: Option<Word<Refresh>>,
    /// Partial refreshes since the last full one.
    pub partials: u32,
    /// Partial refreshes after which a full one is due, at the next quiet moment; 0 for no limit.
    pub partials_max: u32,
    /// Refreshes since the start.
    pub refreshes: PanelRefreshes,
    /// Fault of the panel; null without a fault.
    pub fault: Option<Word<PanelFault>>,
    /// Failed refreshes since the last successful one.
    pub failures: u32,
    /// Time until the next attempt, s; absent if none is scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub next_try_sec: Option<u64>,
}

/// Refreshes of a panel since the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PanelRefreshes {
    /// Full ones.
    pub full: u32,
    /// Partial ones.
    pub partial: u32,
    /// Failed ones.
    pub failed: u32,
    /// Time since the last full one, s; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub full_age_sec: Option<u64>,
    /// Duration of the last full one, ms; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub full_ms: Option<u64>,
    /// Duration of the last partial one, ms; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub partial_ms: Option<u64>,
}

/// A panel with a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PanelFailure {
    /// Index of the panel; 0 is the leftmost.
    pub panel: usize,
    /// Fault of the panel.
    pub fault: Word<PanelFault>,
    /// What happened and what to do, as sentences for people.
    pub says: &'static str,
    /// Failed refreshes since the last successful one.
    pub failures: u32,
}

/// The network of the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkStatus {
    /// `idle`, `connecting`, `connected`, `disconnected` or `access-point`.
    pub state: &'static str,
    /// Manager of the network: `radio` if the clock manages it.
    #[schemars(extend("enum" = ["host", "radio"]))]
    pub network: &'static str,
    /// Name of the network; empty on a wire.
    pub ssid: String,
    /// IP address; empty if there is none.
    pub ip: String,
    /// Strength of the radio signal, dBm; 0 when not joined.
    pub rssi: i32,
    /// Last error; null while joined.
    pub failure: Option<&'static str>,
    /// Host name that is announced on the local network; null if the clock is not announced.
    pub announced: Option<String>,
}

/// An English sentence in its parts, for translation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Phrase {
    /// The sentence, with `{name}` where a value belongs.
    pub words: &'static str,
    /// The values by name.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, PhraseValue>")]
    pub values: Vec<(&'static str, PhraseValue)>,
}

/// A value in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PhraseValue {
    /// A text that is not translated.
    Text(String),
    /// A number.
    Number {
        /// Digits, with decimals after a dot.
        number: String,
    },
    /// A sentence.
    Phrase(Phrase),
}

impl Connections {
    /// The connections of a view.
    pub fn of(view: &View) -> Connections {
        let up = |id: SourceId| view.sources.get(&id).is_some_and(|state| state.up);
        let relay = up(SourceId::Relay);
        let (price, blocks) = match view.settings.active.data_source {
            data_source::EXPLORER => (up(SourceId::Exchange) || relay, up(SourceId::Explorer)),
            data_source::NOSTR => (up(SourceId::Nostr), up(SourceId::Nostr)),
            _ => (relay, relay),
        };
        Connections {
            price,
            blocks,
            v2: relay,
            nostr: up(SourceId::Nostr) || up(SourceId::Zaps),
            nwc: view.settings.active.nwc_enabled && up(SourceId::Wallet),
        }
    }
}

impl SourceStatus {
    /// The status of a source at an uptime.
    pub fn of(state: &SourceState, uptime: Duration) -> SourceStatus {
        let next_try = state.next_try.map(|at| at.saturating_sub(uptime));
        SourceStatus {
            up: state.up,
            age_sec: state
                .last_success
                .map(|at| uptime.saturating_sub(at).as_secs()),
            last_error: state.last_error.clone(),
            next_try_sec: next_try.map(|left| left.as_secs()),
            dropped: state.dropped.clone(),
        }
    }
}

impl PanelFailure {
    /// The panels with a fault, leftmost first.
    pub fn all(panels: &[PanelStatus]) -> Vec<PanelFailure> {
        let panels = panels.iter().enumerate();
        let failure = |(panel, status): (usize, &PanelStatus)| {
            let failures = status.failures;
            status.fault.map(|fault| PanelFailure {
                panel,
                fault,
                says: fault.0.says(),
                failures,
            })
        };
        panels.filter_map(failure).collect()
    }
}

impl From<&LinkState> for LinkStatus {
    fn from(link: &LinkState) -> LinkStatus {
        LinkStatus {
            state: link.state,
            network: if link.managed { "radio" } else { "host" },
            ssid: link.ssid.clone(),
            ip: link.ip.clone(),
            rssi: link.rssi,
            failure: link.failure,
            announced: link.announced.clone(),
        }
    }
}

impl From<&Sentence> for Phrase {
    fn from(sentence: &Sentence) -> Phrase {
        let value = |(name, value): &(&'static str, SentenceValue)| {
            let value = match value {
                SentenceValue::Text(text) => PhraseValue::Text(text.clone()),
                SentenceValue::Number(number) => PhraseValue::Number {
                    number: number.clone(),
                },
                SentenceValue::Phrase(sentence) => PhraseValue::Phrase(sentence.into()),
            };
            (*name, value)
        };
        Phrase {
            words: sentence.words.template(),
            values: sentence.values.iter().map(value).collect(),
        }
    }
}

/// Serializes pairs as an object, in their order.
fn as_map<S: Serializer>(
    values: &[(&'static str, PhraseValue)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(name, value)| (name, value)))
}

//! Quality of the values in the status, and the claims of each source.

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use device::view::View;
use market::{
    Datum, Fee, HeightState, JudgedQuote, PriceState, PriceTruth, QuoteVerdict, TimeState, Tip,
    heights::Claimed,
    source_id::SourceId,
    units::{Currency, Price},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Surroundings,
    values::{amount, price_state},
};
use crate::schema::Word;

/// Quality of the values, and the claims of each source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TruthStatus {
    /// The block height.
    pub height: HeightStatus,
    /// The fee rate.
    pub fee: FeeStatus,
    /// Prices by currency.
    pub prices: BTreeMap<String, PriceStatus>,
    /// The time.
    pub time: TimeStatus,
}

/// Quality of the block height.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeightStatus {
    /// State of the value.
    pub state: Word<HeightState>,
    /// Why the value is doubtful, since when and until when, in English; absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub says: Option<String>,
    /// Name of the chain; `demo` if the blocks are invented.
    pub chain: &'static str,
    /// Height of the anchor, a block that is trusted without proof; null without an anchor.
    pub anchor: Option<u32>,
    /// Height of the best proven block; null if no block is proven.
    pub proven: Option<u32>,
    /// Hash of the best proven block.
    pub tip_hash: Option<String>,
    /// Time in the header of the best proven block, s since 1970-01-01 UTC.
    pub tip_time: Option<u32>,
    /// Work of the chain up to the best proven block, 64 hexadecimal digits.
    pub chain_work: Option<String>,
    /// Public peers that have proven a block.
    pub peers: usize,
    /// Sources that have the best proven block.
    pub agreeing: usize,
    /// Reorganisations since the start.
    pub reorgs: u32,
    /// Depth of the last reorganisation, blocks.
    pub last_reorg_depth: u32,
    /// The newest proven block of each source.
    pub proofs: Vec<ProvenHeight>,
    /// Heights that sources claim.
    pub claimed: Vec<ClaimedHeight>,
    /// Age of the best proven block, s; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub tip_age_sec: Option<u64>,
}

/// A block that a source has proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProvenHeight {
    /// The source.
    pub source: Word<SourceId>,
    /// Height of the block.
    pub value: u32,
    /// Hash of the block.
    pub hash: String,
}

/// A height that a source claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimedHeight {
    /// The source.
    pub source: Word<SourceId>,
    /// The height.
    pub value: u32,
    /// Time since the source first claimed it, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub age_sec: Option<u64>,
}

/// Quality of the fee rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeeStatus {
    /// Whether the fee rate is fresh.
    #[schemars(extend("enum" = [PriceState::Single.name(), PriceState::Stale.name()]))]
    pub state: &'static str,
    /// Source of the fee rate; null if no fee rate is known.
    pub source: Option<Word<SourceId>>,
}

/// Quality of a price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PriceStatus {
    /// State of the value.
    pub state: Word<PriceState>,
    /// Why the value is doubtful, since when and until when, in English; absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub says: Option<String>,
    /// Source of the price.
    pub source: Word<SourceId>,
    /// The quotes of this run; absent if there are none.
    #[serde(flatten)]
    pub quotes: Option<PriceQuotes>,
}

/// All quotes of a price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceQuotes {
    /// The price that is shown.
    pub shown: String,
    /// Time for which the price has been single or disputed, s; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub doubted_sec: Option<u64>,
    /// Difference between the highest and the lowest counted quote, per mille; null for fewer than two quotes.
    pub spread_permille: Option<u64>,
    /// All quotes, refused ones included.
    pub voices: Vec<PriceQuote>,
}

/// A price that a source quotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceQuote {
    /// The source.
    pub source: Word<SourceId>,
    /// The price.
    pub value: String,
    /// Time since it was quoted, s.
    pub age_sec: u64,
    /// Whether it counts.
    pub verdict: Word<QuoteVerdict>,
}

/// Quality of the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimeStatus {
    /// State of the value.
    pub state: Word<TimeState>,
    /// Earliest possible time by the newest blocks, s since 1970-01-01 UTC; null if too few blocks are known.
    pub earliest: Option<u32>,
}

impl TruthStatus {
    /// Quality of the values in a view.
    pub(super) fn of(view: &View, surroundings: &Surroundings) -> TruthStatus {
        let fee = view
            .market
            .current_fee(view.settings.active.fee_precision())
            .map(Fee::datum);
        let prices = view.market.prices.iter();
        let price = |(currency, price): (&Currency, &Datum<Price>)| {
            let status = PriceStatus::of(view, *currency, price, surroundings.uptime);
            (currency.code().to_owned(), status)
        };
        TruthStatus {
            height: HeightStatus::of(view, surroundings),
            fee: FeeStatus {
                state: view.truth.fee.name(),
                source: fee.map(|fee| Word(fee.source)),
            },
            prices: prices.map(price).collect(),
            time: TimeStatus {
                state: Word(view.truth.time.state),
                earliest: view.truth.time.earliest,
            },
        }
    }
}

impl HeightStatus {
    fn of(view: &View, surroundings: &Surroundings) -> HeightStatus {
        let truth = &view.truth;
        let claim = |claimed: &Claimed| {
            let age = claimed.seen.age_at(surroundings.uptime);
            ClaimedHeight {
                source: Word(claimed.source),
                value: claimed.height,
                age_sec: age.map(|age| age.as_secs()),
            }
        };
        let proof = |(source, tip): &(SourceId, Tip)| ProvenHeight {
            source: Word(*source),
            value: tip.height,
            hash: tip.hash.to_string(),
        };
        let proven = truth.proven.as_ref();
        // The timestamp of a block may be ahead of the wall clock; the age is then 0.
        let tip_age = proven
            .zip(surroundings.utc)
            .map(|(tip, utc)| utc.unix_secs() - i64::from(tip.time));
        HeightStatus {
            state: Word(truth.height),
            says: None,
            chain: truth.chain,
            anchor: truth.anchor,
            proven: proven.map(|tip| tip.height),
            tip_hash: proven.map(|tip| tip.hash.to_string()),
            tip_time: proven.map(|tip| tip.time),
            chain_work: truth.work.map(|work| format!("{work:x}")),
            peers: truth.peers(),
            agreeing: truth.agreeing(),
            reorgs: truth.reorganisations.count,
            last_reorg_depth: truth.reorganisations.last_depth,
            proofs: truth.proofs.iter().map(proof).collect(),
            claimed: truth.claims.iter().map(claim).collect(),
            tip_age_sec: tip_age.map(|age| u64::try_from(age).unwrap_or_default()),
        }
    }
}

impl PriceStatus {
    fn of(view: &View, currency: Currency, price: &Datum<Price>, uptime: Duration) -> PriceStatus {
        let truth = view.truth.prices.get(&currency);
        let quotes = |truth: &PriceTruth| PriceQuotes {
            shown: amount(price.value),
            doubted_sec: truth
                .doubted
                .map(|since| uptime.saturating_sub(since).as_secs()),
            spread_permille: truth.spread_permille,
            voices: truth
                .quotes
                .iter()
                .map(|quote| PriceQuote::of(quote, uptime))
                .collect(),
        };
        PriceStatus {
            state: Word(price_state(view, currency)),
            says: None,
            source: Word(price.source),
            quotes: truth.map(quotes),
        }
    }
}

impl PriceQuote {
    fn of(quote: &JudgedQuote, uptime: Duration) -> PriceQuote {
        PriceQuote {
            source: Word(quote.source),
            value: amount(quote.price),
            age_sec: quote.seen.age_at(uptime).unwrap_or_default().as_secs(),
            verdict: Word(quote.verdict),
        }
    }
}

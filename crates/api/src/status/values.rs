//! The newest values in the status.

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    string::{String, ToString},
};
use core::time::Duration;

use device::view::View;
use market::{
    Datum, Fee, PriceState, Seen,
    source_id::SourceId,
    units::{Currency, FeeRate, Price, fixed},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::Word;

/// The newest values of the market; absent if not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketStatus {
    /// Block height.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub height: Option<MarketValue>,
    /// Fee rate, sat/vB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub fee_rate: Option<MarketValue>,
    /// Prices of one bitcoin, by currency.
    #[serde(flatten)]
    pub prices: BTreeMap<String, MarketValue>,
}

/// The newest values of the owner's own sources; absent if not known or if the source is switched off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FigureValues {
    /// Hashrate at the pool, hashes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub pool_hashrate: Option<MarketValue>,
    /// Earnings at the pool, sats a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub pool_earnings: Option<MarketValue>,
    /// Workers at the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub pool_workers: Option<MarketValue>,
    /// Hashrate of the miner, hashes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub miner_hashrate: Option<MarketValue>,
    /// Best difficulty of the miner.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub miner_best: Option<MarketValue>,
    /// Balance of the wallet, sats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MarketValue")]
    pub wallet_balance: Option<MarketValue>,
}

/// A value with its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketValue {
    /// The value.
    pub value: Quantity,
    /// Source of the value.
    pub source: Word<SourceId>,
    /// Age of the value, s; absent for a value of an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub age_sec: Option<u64>,
    /// Whether the value was received in an earlier run.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub earlier_run: bool,
    /// State of the value, as in `truth`; absent for figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub state: Option<&'static str>,
}

/// A number, or a text if it has decimals or may be large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Quantity {
    /// An integer.
    Number(u64),
    /// Digits, with decimals after a dot.
    Text(String),
}

impl MarketStatus {
    /// The values of a view; with their ages at an uptime.
    pub(super) fn of(view: &View, uptime: Duration) -> MarketStatus {
        let (market, truth) = (&view.market, &view.truth);
        let height = market.height.as_ref().map(|height| {
            MarketValue::of(height, Quantity::Number(height.value.into()), uptime)
                .with_state(truth.height.name())
        });
        let fee_rate = market
            .current_fee(view.settings.active.fee_precision())
            .map(Fee::datum)
            .map(|fee| {
                let rate = Quantity::Text(fee_rate(view, fee.value));
                MarketValue::of(fee, rate, uptime).with_state(truth.fee.name())
            });
        let price = |(currency, price): (&Currency, &Datum<Price>)| {
            let value = MarketValue::of(price, Quantity::Text(amount(price.value)), uptime);
            let value = value.with_state(price_state(view, *currency).name());
            (currency.code().to_owned(), value)
        };
        MarketStatus {
            height,
            fee_rate,
            prices: market.prices.iter().map(price).collect(),
        }
    }
}

impl FigureValues {
    /// The values of a view; with their ages at an uptime.
    pub(super) fn of(view: &View, uptime: Duration) -> FigureValues {
        let mut figures = FigureValues::default();
        let number = Quantity::Number;
        if let Some(pool) = view.market.pool.as_ref().map(|pool| &pool.datum) {
            let stats = &pool.value;
            let value = |quantity| Some(MarketValue::of(pool, quantity, uptime));
            let hashrate = stats.hashrate.map(|rate| rate.0.to_string());
            figures.pool_hashrate = hashrate.and_then(|text| value(Quantity::Text(text)));
            figures.pool_earnings = stats.daily.and_then(|sats| value(number(sats.0)));
            figures.pool_workers = stats.workers.and_then(|count| value(number(count.into())));
        }
        if let Some(miner) = view.market.miner.as_ref().map(|miner| &miner.datum) {
            let stats = &miner.value;
            let value = |text| MarketValue::of(miner, Quantity::Text(text), uptime);
            figures.miner_hashrate = stats.hashrate.map(|rate| value(rate.0.to_string()));
            figures.miner_best = stats.best_difficulty.clone().map(value);
        }
        let balance = view.market.balance.as_ref().map(|balance| &balance.datum);
        figures.wallet_balance =
            balance.map(|balance| MarketValue::of(balance, number(balance.value.sats().0), uptime));
        figures
    }
}

impl MarketValue {
    fn of<T>(datum: &Datum<T>, value: Quantity, uptime: Duration) -> MarketValue {
        let is_earlier = matches!(datum.seen, Seen::Before(_));
        let age = datum.seen.age_at(uptime);
        MarketValue {
            value,
            source: Word(datum.source),
            age_sec: age.map(|age| age.as_secs()),
            earlier_run: is_earlier,
            state: None,
        }
    }

    fn with_state(mut self, state: &'static str) -> MarketValue {
        self.state = Some(state);
        self
    }
}

/// State of a price; one without a quote in this run is stale.
pub(super) fn price_state(view: &View, currency: Currency) -> PriceState {
    let truth = view.truth.prices.get(&currency);
    truth.map_or(PriceState::Stale, |truth| truth.state)
}

/// A fee rate as a text, with the decimals of the settings.
pub(super) fn fee_rate(view: &View, rate: FeeRate) -> String {
    let decimals = if view.settings.active.block_fee_dec { 2 } else { 0 };
    fixed(rate.micros, decimals)
}

/// A price as a text.
pub(crate) fn amount(price: Price) -> String {
    let decimals = if price.micros < SMALL_PRICE_MICROS { 6 } else { 2 };
    fixed(price.micros, decimals)
}

/// Prices below this have all their decimals, millionths of the currency's unit.
const SMALL_PRICE_MICROS: u64 = 1_000_000;

//! Metrics of the shown values and of their reliability.

use device::view::View;
use market::{
    Datum, Fee, HeightState, PriceState, Seen, TimeState, heights::Claimed, now::Now, units::MICRO,
};

use super::{
    format::{MetricsWriter, flag, label, labels, unlabelled},
    unix_seconds,
};

/// Writes the shown values and their reliability.
pub(super) fn write(metrics: &mut MetricsWriter, view: &View, now: Now) {
    values(metrics, view, now);
    states(metrics, view);
    evidence(metrics, view);
}

fn values(metrics: &mut MetricsWriter, view: &View, now: Now) {
    let height = view.market.height.as_ref();
    metrics.gauge(
        "block_height",
        "",
        "Height of the chain tip.",
        height.map(|height| (String::new(), f64::from(height.value))),
    );
    metrics.gauge(
        "height_timestamp",
        "seconds",
        "When the height was last received, s since 1970-01-01 UTC.",
        height.and_then(|height| Some((String::new(), received(height, now)?))),
    );
    metrics.gauge(
        "price",
        "",
        "Price of one bitcoin.",
        view.market.prices.iter().map(|(currency, price)| {
            let price = price.value.micros as f64 / MICRO as f64;
            (label("currency", currency.code()), price)
        }),
    );
    let fee = view
        .market
        .current_fee(view.settings.active.fee_precision());
    let fee = fee.map(Fee::datum);
    metrics.gauge(
        "fee_rate",
        "",
        "Fee rate, sat/vB.",
        fee.map(|fee| (String::new(), fee.value.micros as f64 / MICRO as f64)),
    );
    metrics.gauge(
        "stale",
        "",
        "1 if a shown value is too old.",
        unlabelled(flag(view.stale)),
    );
    metrics.gauge(
        "disputed",
        "",
        "1 if sources disagree about a shown value.",
        unlabelled(flag(view.disputed)),
    );
}

/// When a value was last received, s since 1970-01-01 UTC; `None` if the time is unknown.
fn received<T>(datum: &Datum<T>, now: Now) -> Option<f64> {
    match datum.seen {
        Seen::Before(then) => Some(then?.unix_ms as f64 / 1e3),
        Seen::At(uptime) => unix_seconds(uptime, now),
        Seen::Aged { reported, age } => Some(unix_seconds(reported, now)? - age.as_secs_f64()),
    }
}

/// Writes one flag per value and state.
fn states(metrics: &mut MetricsWriter, view: &View) {
    let truth = &view.truth;
    let heights = HeightState::ALL.map(|state| {
        let labels = labels([("value", "height"), ("state", state.name())]);
        (labels, flag(state == truth.height))
    });
    let price_states = |value: &str, current: PriceState| {
        PriceState::ALL.map(|state| {
            let labels = labels([("value", value), ("state", state.name())]);
            (labels, flag(state == current))
        })
    };
    let fees = price_states("fee", truth.fee);
    let prices = view.market.prices.keys().flat_map(|currency| {
        let price = truth.prices.get(currency);
        let current = price.map_or(PriceState::Stale, |price| price.state);
        price_states(currency.code(), current)
    });
    let times = TimeState::ALL.map(|state| {
        let labels = labels([("value", "time"), ("state", state.name())]);
        (labels, flag(state == truth.time.state))
    });
    metrics.gauge(
        "truth",
        "",
        "State of a value: 1 for the current state, 0 for the others.",
        heights.into_iter().chain(fees).chain(prices).chain(times),
    );
}

/// Writes what the states are based on: spreads, proofs and claims.
fn evidence(metrics: &mut MetricsWriter, view: &View) {
    let truth = &view.truth;
    let spreads = truth.prices.iter().filter_map(|(currency, price)| {
        let spread = price.spread_permille? as f64 / 1000.0;
        Some((label("currency", currency.code()), spread))
    });
    metrics.gauge(
        "price_spread",
        "ratio",
        "Difference of the highest and the lowest valid quote, relative to the lowest.",
        spreads,
    );
    metrics.gauge(
        "proven_height",
        "",
        "Height of the best block with verified proof of work.",
        truth
            .proven
            .map(|tip| (String::new(), f64::from(tip.height))),
    );
    metrics.gauge(
        "proof_peers",
        "",
        "Public peers that have proven a block.",
        unlabelled(truth.peers() as f64),
    );
    metrics.counter(
        "reorganisations",
        "Chain reorganisations since the start.",
        unlabelled(f64::from(truth.reorganisations.count)),
    );
    let lead = |claimed: &Claimed| {
        let proven = truth.proven?.height;
        let lead = f64::from(claimed.height) - f64::from(proven);
        Some((label("source", claimed.source.name()), lead))
    };
    metrics.gauge(
        "claim_lead_blocks",
        "",
        "Blocks that a source claims beyond the proven height.",
        truth.claims.iter().filter_map(lead),
    );
}

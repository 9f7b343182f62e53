//! Fee rate of the next block.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    Scene,
    day::{self, Moving},
    decimal, row, words,
};
use crate::{
    cells::Cell,
    history::Series,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Tile},
};
use market::{
    Fee,
    units::{FeeRate, MICRO, SATS_PER_BTC},
};

/// Unit of the figure, and its shortest label.
const UNIT: &str = "sat/vB";

const FEE_RATE: SentenceTemplate =
    SentenceTemplate::new("The fee rate is {rate} sats per virtual byte.");
const FEE_RATE_BELOW: SentenceTemplate =
    SentenceTemplate::new("The fee rate is less than {rate} sats per virtual byte.");
const FEE_RATE_UNKNOWN: SentenceTemplate = SentenceTemplate::new("The fee rate is not known yet.");

/// Size of a usual payment, one input and two outputs, vB.
const PAYMENT_VB: u32 = 140;

/// Characters of a rate that a tile has room for.
const TILE_WIDTH: usize = 8;

/// The rate with its unit on the last panel; a shared dot is on the panel of the whole part, as in `12.`.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let width = scene.panels.saturating_sub(2);
    let text = (scene.fee())
        .map(|fee| text(fee, scene, width))
        .unwrap_or_default();
    let number = if scene.settings.decimal_share_dot {
        row::merged(&text)
    } else {
        row::digits(&text)
    };
    let unit = Cell::unit("sat", "vB");
    row::with_unit(Cell::label("FEE", "RATE"), number, unit, scene.panels)
}

/// The rate, and what a usual payment costs by it.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let Some(fee) = scene.fee() else {
        return Tile::unknown(["Fees"]);
    };
    let mut forms = Vec::from([text(fee, scene, TILE_WIDTH), whole(fee.datum().value)]);
    forms.dedup();
    let figure = |form: String| Figure::number(spoken::grouped(&form)).with_unit(UNIT);
    let cost = scene.fresh_price().map(|price| {
        let micros = u128::from(fee.datum().value.micros) * u128::from(PAYMENT_VB);
        let cost = micros.saturating_mul(price.micros.into()) / u128::from(MICRO * SATS_PER_BTC);
        words::money(scene.currency, cost)
    });
    let cost = cost.map(|cost| {
        [
            format!("{cost} for a usual payment"),
            format!("{cost} a payment"),
            cost,
        ]
    });
    let tile = Tile::new(["Fees", UNIT], forms.into_iter().map(figure).collect())
        .line(cost.into_iter().flatten());
    let micros = fee.datum().value.micros;
    day::add(tile, Moving::Value, Series::Fee, micros, scene)
}

/// The rate.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let text = match scene.fee() {
        None => return FEE_RATE_UNKNOWN.into(),
        Some(fee) => text(fee, scene, scene.panels.saturating_sub(2)),
    };
    match text.strip_prefix('<') {
        Some(limit) => FEE_RATE_BELOW.with("rate", spoken::number(limit)),
        None => FEE_RATE.with("rate", spoken::number(text)),
    }
}

fn text(fee: Fee<'_>, scene: &Scene<'_>, width: usize) -> String {
    match fee {
        Fee::Precise(fee) if scene.settings.block_fee_dec => precise(fee.datum.value, width),
        Fee::Precise(fee) | Fee::Whole(fee) => whole(fee.datum.value),
    }
}

/// A rate with two decimals below 10 sat/vB, `<0.01` for one that they cannot show; above if it is not whole and there is room.
pub fn precise(fee: FeeRate, width: usize) -> String {
    let hundredth = MICRO / 100;
    let round_up = fee.micros % hundredth >= hundredth / 2;
    let hundredths = fee.micros / hundredth + u64::from(round_up);
    if hundredths >= 1000 && hundredths.is_multiple_of(100) {
        return (hundredths / 100).to_string();
    }
    let text = match hundredths {
        0 => "<0.01".into(),
        _ => decimal::rounded(hundredths.into(), 100, 2),
    };
    if text.len() <= width { text } else { whole(fee) }
}

/// A rate without decimals, `<1` for one that would be rounded to 0.
fn whole(fee: FeeRate) -> String {
    match decimal::rounded(fee.micros.into(), MICRO.into(), 0) {
        zero if zero == "0" => "<1".into(),
        text => text,
    }
}

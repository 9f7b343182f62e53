//! Fee rate of the next block.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use super::{Scene, decimal, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};
use market::{
    Fee,
    units::{FeeRate, MICRO},
};

const FEE_RATE: SentenceTemplate =
    SentenceTemplate::new("The fee rate is {rate} sats per virtual byte.");
const FEE_RATE_BELOW: SentenceTemplate =
    SentenceTemplate::new("The fee rate is less than {rate} sats per virtual byte.");
const FEE_RATE_UNKNOWN: SentenceTemplate = SentenceTemplate::new("The fee rate is not known yet.");

/// The rate with its unit on the last panel; a shared dot is on the panel of the whole part, as in `12.`.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let text = scene.fee().map(|fee| text(fee, scene)).unwrap_or_default();
    let number = if scene.settings.decimal_share_dot {
        row::merged(&text)
    } else {
        row::digits(&text)
    };
    let unit = Cell::unit("sat", "vB");
    row::with_unit(Cell::label("FEE", "RATE"), number, unit, scene.panels)
}

/// The rate.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let text = match scene.fee() {
        None => return FEE_RATE_UNKNOWN.into(),
        Some(fee) => text(fee, scene),
    };
    match text.strip_prefix('<') {
        Some(limit) => FEE_RATE_BELOW.with("rate", spoken::number(limit)),
        None => FEE_RATE.with("rate", spoken::number(text)),
    }
}

fn text(fee: Fee<'_>, scene: &Scene<'_>) -> String {
    match fee {
        Fee::Precise(fee) if scene.settings.block_fee_dec => {
            precise(fee.datum.value, scene.panels.saturating_sub(2))
        }
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

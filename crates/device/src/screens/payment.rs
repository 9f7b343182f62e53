//! A payment into or out of the wallet.

use alloc::vec::Vec;

use super::{Scene, amount, row, signs};
use crate::{
    cells::{Cell, Icon},
    settings::Settings,
    spoken::{Sentence, SentenceTemplate},
    tile::Tile,
};
use market::{Direction, Payment, units::SATS_PER_BTC};

const PAYMENT_RECEIVED: SentenceTemplate = SentenceTemplate::new("A payment of {amount} came in.");
const PAYMENT_SENT: SentenceTemplate = SentenceTemplate::new("A payment of {amount} went out.");

/// The amount after an arrow in its direction; without a direction it counts as received.
///
/// From one bitcoin on it has four decimals if they fit.
pub fn cells(payment: &Payment, settings: &Settings, panels: usize) -> Vec<Cell> {
    let (label, icon) = match payment.direction {
        Some(Direction::Received) => ("RECV", Icon::ArrowDownBold),
        Some(Direction::Sent) => ("PAID", Icon::ArrowUpBold),
        None => ("RECV", Icon::LightningBolt),
    };
    let width = panels.saturating_sub(2);
    let sats = payment.amount.sats();
    let bitcoin = amount::bitcoin(sats, 4);
    if sats.0 >= SATS_PER_BTC && bitcoin.len() <= width {
        return amount::frame(label, icon, row::digits(&bitcoin), None, panels);
    }
    let number = amount::satoshis(Some(payment.amount), width);
    amount::frame(
        label,
        icon,
        row::digits(&number),
        signs::satoshi_marker(settings),
        panels,
    )
}

/// The amount after its icon, below its direction, and its worth.
pub fn tile(payment: &Payment, scene: &Scene<'_>) -> Tile {
    let (labels, icon) = match payment.direction {
        Some(Direction::Received) => (["Received", "Came in"], Icon::ArrowDownBold),
        Some(Direction::Sent) => (["Paid", "Paid"], Icon::ArrowUpBold),
        None => (["Received", "Came in"], Icon::LightningBolt),
    };
    let figures = amount::figures(Some(payment.amount), Some(icon), scene.settings);
    Tile::new(labels, figures).line(amount::worth(payment.amount, scene))
}

/// The amount and its direction.
pub fn sentence(payment: &Payment) -> Sentence {
    let words = match payment.direction {
        Some(Direction::Received) | None => PAYMENT_RECEIVED,
        Some(Direction::Sent) => PAYMENT_SENT,
    };
    words.with("amount", amount::spoken(payment.amount))
}

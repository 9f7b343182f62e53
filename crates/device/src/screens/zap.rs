//! The notice of a zap.

use alloc::{format, string::String, vec::Vec};

use super::{amount, row, signs};
use crate::{
    cells::{Cell, Icon},
    market::Zap,
    settings::Settings,
};

/// The amount behind a lightning bolt; the sender's message is never shown.
pub fn cells(zap: &Zap, settings: &Settings, panels: usize) -> Vec<Cell> {
    let number = amount::satoshis(Some(zap.amount), panels.saturating_sub(2));
    let marker = signs::satoshi_marker(settings);
    amount::frame(
        "ZAP",
        Icon::LightningBolt,
        row::digits(&number),
        marker,
        panels,
    )
}

/// The amount.
pub fn sentence(zap: &Zap) -> String {
    format!("A zap of {} came in.", amount::spoken(zap.amount))
}

//! Balance of the wallet.

use alloc::vec::Vec;

use super::{Scene, amount, row, signs, suffix};
use crate::{
    cells::{Cell, Icon},
    spoken::{Sentence, SentenceTemplate},
    tile::Tile,
};
use market::units::{SATS_PER_BTC, Sats};

const BALANCE: SentenceTemplate = SentenceTemplate::new("The wallet holds {amount}.");
const BALANCE_UNKNOWN: SentenceTemplate =
    SentenceTemplate::new("The balance of the wallet is not known yet.");

const LABEL: &str = "BAL";

/// Satoshis below one bitcoin, bitcoin with four decimals from one on, `?` if unknown.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let balance = scene.market.balance.as_ref();
    let balance = balance.map(|balance| balance.datum.value);
    match balance {
        Some(balance) if balance.sats().0 >= SATS_PER_BTC => {
            in_bitcoin(balance.sats(), scene.panels)
        }
        Some(_) | None => {
            let number = amount::satoshis(balance, scene.panels.saturating_sub(2));
            let marker = signs::satoshi_marker(scene.settings);
            beside_icon(row::digits(&number), marker, scene.panels)
        }
    }
}

/// The balance in full and its worth.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let balance = scene.market.balance.as_ref();
    let balance = balance.map(|balance| balance.datum.value);
    Tile::new(["Wallet"], amount::figures(balance, None, scene.settings)).line(
        balance
            .map(|balance| amount::worth(balance, scene))
            .unwrap_or_default(),
    )
}

/// The balance in full.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let balance = scene.market.balance.as_ref();
    match balance.map(|balance| balance.datum.value) {
        Some(balance) => BALANCE.with("amount", amount::spoken(balance)),
        None => BALANCE_UNKNOWN.into(),
    }
}

/// Makes room step by step: the dot shares a panel, the icon is dropped, then decimals.
fn in_bitcoin(balance: Sats, panels: usize) -> Vec<Cell> {
    let number = amount::bitcoin(balance, 4);
    let width = panels.saturating_sub(2);
    for cells in [row::digits(&number), row::folded(&number)] {
        if cells.len() <= width {
            return beside_icon(cells, None, panels);
        }
    }
    let width = panels.saturating_sub(1);
    let cells = [4, 3, 2, 1, 0]
        .into_iter()
        .map(|decimals| row::folded(&amount::bitcoin(balance, decimals)))
        .find(|cells| cells.len() <= width)
        .unwrap_or_else(|| row::folded(&suffix::suffixed(balance.0 / SATS_PER_BTC, width)));
    row::labelled(Cell::Word(LABEL.into()), cells, panels)
}

fn beside_icon(number: Vec<Cell>, marker: Option<Cell>, panels: usize) -> Vec<Cell> {
    amount::frame(LABEL, Icon::LightningBolt, number, marker, panels)
}

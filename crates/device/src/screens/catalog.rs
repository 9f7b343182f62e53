//! The table of screens: a screen is one row and one function.

use alloc::vec::Vec;

use super::Scene;
use crate::cells::{self, Cell};

/// A row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Id on the wire.
    pub id: u16,
    /// Name for people.
    pub name: &'static str,
    /// Rotation shows it on a fresh device.
    pub on_by_default: bool,
    /// One slot per active currency.
    pub per_currency: bool,
    /// Feature that must be on.
    pub needs: Needs,
    /// Makes the cells, one per panel.
    pub cells: fn(&Scene<'_>) -> Vec<Cell>,
}

/// Feature that must be on for a screen to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// None.
    Nothing,
    /// Pool statistics.
    Pool,
    /// Pool statistics of a pool with a daily figure.
    PoolEarnings,
    /// The miner.
    Miner,
    /// The wallet.
    Wallet,
}

const fn screen(id: u16, name: &'static str, cells: fn(&Scene<'_>) -> Vec<Cell>) -> Screen {
    Screen {
        id,
        name,
        on_by_default: true,
        per_currency: false,
        needs: Needs::Nothing,
        cells,
    }
}

fn blank(scene: &Scene<'_>) -> Vec<Cell> {
    cells::blank(scene.panels)
}

/// All screens, in the order in which a fresh device lists them.
pub static SCREENS: &[Screen] = &[
    screen(0, "Block Height", blank),
    screen(3, "Time", blank),
    screen(4, "Halving countdown", blank),
    screen(6, "Block Fee Rate", blank),
    Screen { per_currency: true, ..screen(10, "Sats per dollar", blank) },
    Screen { per_currency: true, ..screen(20, "Ticker", blank) },
    Screen { per_currency: true, ..screen(30, "Market Cap", blank) },
    screen(40, "Bitcoin Supply", blank),
    Screen { needs: Needs::Pool, ..screen(70, "Mining Pool Hashrate", blank) },
    Screen { needs: Needs::PoolEarnings, ..screen(71, "Mining Pool Earnings", blank) },
    Screen { needs: Needs::Miner, ..screen(80, "Miner Hashrate", blank) },
    Screen { needs: Needs::Miner, ..screen(81, "Miner Best Difficulty", blank) },
    Screen { on_by_default: false, needs: Needs::Wallet, ..screen(90, "Wallet Balance", blank) },
];

/// Looks up a screen by its id.
pub fn find(id: u16) -> Option<&'static Screen> {
    SCREENS.iter().find(|screen| screen.id == id)
}

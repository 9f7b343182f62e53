//! The table of screens: a screen is one row and one function.

use alloc::{string::String, vec::Vec};

use super::{
    Scene, block_height, clock, fee_rate, halving, market_cap, miner_best_difficulty,
    miner_hashrate, pool_earnings, pool_hashrate, price_change, proof, sats_per_currency, supply,
    ticker, wallet_balance,
};
use crate::{cells::Cell, settings::Settings, spoken::Sentence, tile::Tile};

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
    /// Returns whether its feature is on.
    pub is_available: fn(&Settings) -> bool,
    /// What its cells depend on besides the settings.
    pub depends_on: &'static [Dependency],
    /// Makes the cells, one per panel.
    pub cells: fn(&Scene<'_>) -> Vec<Cell>,
    /// The cells as a sentence, for screen readers.
    pub sentence: fn(&Scene<'_>) -> Sentence,
    /// The same as words, a figure and a graph, without marks.
    pub tile: fn(&Scene<'_>) -> Tile,
}

impl Screen {
    /// Its name as one word for command lines, such as `block-height`.
    pub fn word(&self) -> String {
        self.name.to_ascii_lowercase().replace(' ', "-")
    }
}

/// Something a screen depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependency {
    /// Local time, by the minute.
    Time,
    /// Height of the chain tip.
    Height,
    /// Price in the currency of the slot.
    Price,
    /// Fee rate, with the precision of the settings.
    Fee,
    /// Figures of the mining pool.
    Pool,
    /// Figures of the miner.
    Miner,
    /// Balance of the wallet.
    Balance,
}

impl Dependency {
    /// Its id in the data of the page.
    pub fn id(self) -> &'static str {
        match self {
            Dependency::Time => "time",
            Dependency::Height => "height",
            Dependency::Price => "price",
            Dependency::Fee => "fee",
            Dependency::Pool => "pool",
            Dependency::Miner => "miner",
            Dependency::Balance => "balance",
        }
    }

    /// Returns whether every clock should have it: chain or prices.
    pub fn is_of_chain_or_prices(self) -> bool {
        match self {
            Dependency::Height | Dependency::Price | Dependency::Fee => true,
            Dependency::Time | Dependency::Pool | Dependency::Miner | Dependency::Balance => false,
        }
    }
}

const fn screen(
    id: u16,
    name: &'static str,
    depends_on: &'static [Dependency],
    cells: fn(&Scene<'_>) -> Vec<Cell>,
    sentence: fn(&Scene<'_>) -> Sentence,
    tile: fn(&Scene<'_>) -> Tile,
) -> Screen {
    Screen {
        id,
        name,
        on_by_default: true,
        per_currency: false,
        is_available: always,
        depends_on,
        cells,
        sentence,
        tile,
    }
}

/// All screens in default order; adjacent ones with a currency alternate.
///
/// Ids from 900 on are not part of the interface. They are listed only if the owner enables them, so that clients that
/// list all other screens have listed all.
pub static SCREENS: &[Screen] = &[
    screen(
        0,
        "Block Height",
        &[Dependency::Height],
        block_height::cells,
        block_height::sentence,
        block_height::tile,
    ),
    screen(
        3,
        "Time",
        &[Dependency::Time],
        clock::cells,
        clock::sentence,
        clock::tile,
    ),
    screen(
        4,
        "Halving countdown",
        &[Dependency::Height],
        halving::cells,
        halving::sentence,
        halving::tile,
    ),
    screen(
        40,
        "Bitcoin Supply",
        &[Dependency::Height],
        supply::cells,
        supply::sentence,
        supply::tile,
    ),
    Screen {
        is_available: with_proof,
        ..screen(
            900,
            "Proof of the height",
            &[Dependency::Height, Dependency::Time],
            proof::cells,
            proof::sentence,
            proof::tile,
        )
    },
    Screen {
        is_available: with_pool,
        ..screen(
            70,
            "Mining Pool Hashrate",
            &[Dependency::Pool],
            pool_hashrate::cells,
            pool_hashrate::sentence,
            pool_hashrate::tile,
        )
    },
    Screen {
        is_available: with_pool_earnings,
        ..screen(
            71,
            "Mining Pool Earnings",
            &[Dependency::Pool],
            pool_earnings::cells,
            pool_earnings::sentence,
            pool_earnings::tile,
        )
    },
    Screen {
        is_available: with_miner,
        ..screen(
            80,
            "Miner Hashrate",
            &[Dependency::Miner],
            miner_hashrate::cells,
            miner_hashrate::sentence,
            miner_hashrate::tile,
        )
    },
    Screen {
        is_available: with_miner,
        ..screen(
            81,
            "Miner Best Difficulty",
            &[Dependency::Miner],
            miner_best_difficulty::cells,
            miner_best_difficulty::sentence,
            miner_best_difficulty::tile,
        )
    },
    Screen {
        on_by_default: false,
        is_available: with_wallet,
        ..screen(
            90,
            "Wallet Balance",
            &[Dependency::Balance],
            wallet_balance::cells,
            wallet_balance::sentence,
            wallet_balance::tile,
        )
    },
    Screen {
        per_currency: true,
        ..screen(
            10,
            "Sats per dollar",
            &[Dependency::Price],
            sats_per_currency::cells,
            sats_per_currency::sentence,
            sats_per_currency::tile,
        )
    },
    Screen {
        per_currency: true,
        ..screen(
            20,
            "Ticker",
            &[Dependency::Price],
            ticker::cells,
            ticker::sentence,
            ticker::tile,
        )
    },
    Screen {
        per_currency: true,
        ..screen(
            30,
            "Market Cap",
            &[Dependency::Price, Dependency::Height],
            market_cap::cells,
            market_cap::sentence,
            market_cap::tile,
        )
    },
    Screen {
        per_currency: true,
        is_available: with_change,
        ..screen(
            901,
            "Price in a day",
            &[Dependency::Price],
            price_change::cells,
            price_change::sentence,
            price_change::tile,
        )
    },
    screen(
        6,
        "Block Fee Rate",
        &[Dependency::Fee],
        fee_rate::cells,
        fee_rate::sentence,
        fee_rate::tile,
    ),
];

fn always(_: &Settings) -> bool {
    true
}

fn with_proof(settings: &Settings) -> bool {
    settings.proof_screen
}

fn with_change(settings: &Settings) -> bool {
    settings.change_screen
}

fn with_pool(settings: &Settings) -> bool {
    settings.mining_pool_stats
}

/// Pools that publish a daily figure.
fn with_pool_earnings(settings: &Settings) -> bool {
    with_pool(settings) && settings.pool().is_some_and(|pool| pool.earnings)
}

fn with_miner(settings: &Settings) -> bool {
    settings.miner_enabled
}

fn with_wallet(settings: &Settings) -> bool {
    settings.nwc_enabled
}

/// What these screens depend on, each once.
pub fn dependencies(ids: impl Iterator<Item = u16>) -> Vec<Dependency> {
    let mut facts = Vec::new();
    for fact in ids.filter_map(find).flat_map(|screen| screen.depends_on) {
        if !facts.contains(fact) {
            facts.push(*fact);
        }
    }
    facts
}

/// Looks up a screen by its id.
pub fn find(id: u16) -> Option<&'static Screen> {
    SCREENS.iter().find(|screen| screen.id == id)
}

/// Ids of the screens that the rotation of a fresh device skips.
pub fn hidden_at_first() -> Vec<u16> {
    let hidden = SCREENS.iter().filter(|screen| !screen.on_by_default);
    hidden.map(|screen| screen.id).collect()
}

//! The content of the panels: the catalogue of screens and the function behind each.
//!
//! Reading order: `scene` (the input of a screen) and `catalog`; then the screens of the rotation, the layers that
//! cover it, and the number formats.

pub mod catalog;
pub mod scene;

pub mod block_height;
pub mod clock;
pub mod fee_rate;
pub mod halving;
pub mod market_cap;
pub mod miner_best_difficulty;
pub mod miner_hashrate;
pub mod pool_earnings;
pub mod pool_hashrate;
pub mod price_change;
pub mod proof;
pub mod sats_per_currency;
pub mod supply;
pub mod ticker;
pub mod wallet_balance;

pub mod custom;
pub mod debug;
pub mod erasing;
pub mod no_data;
pub mod payment;
pub mod provisioning;
pub mod safe_mode;
pub mod sign_in;
pub mod splash;
pub mod update;
pub mod zap;

pub mod amount;
pub mod day;
pub mod decimal;
pub mod hashrate;
pub mod issuance;
pub mod miner;
pub mod mining_pool;
pub mod price_layout;
pub mod prose;
pub mod row;
pub mod signs;
pub mod suffix;
pub mod words;

pub use catalog::{SCREENS, Screen};
pub use scene::Scene;

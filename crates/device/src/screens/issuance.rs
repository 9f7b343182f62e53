//! Derived from the height: bitcoin in existence, blocks until the subsidy halves.

use market::units::SATS_PER_BTC;

/// Blocks with the same subsidy.
pub const ERA_BLOCKS: u32 = 210_000;

const FIRST_SUBSIDY_SATS: u64 = 50 * SATS_PER_BTC;

/// Eras with a subsidy; the next halving leaves less than a satoshi.
const ERAS: u32 = 33;

/// Blocks until the next halving, 1..=210000; the whole next era on the block of a halving.
pub fn blocks_to_halving(height: u32) -> u32 {
    ERA_BLOCKS - height % ERA_BLOCKS
}

/// Satoshis mined in `height` blocks.
pub fn mined_sats(height: u32) -> u64 {
    let era = height / ERA_BLOCKS;
    let whole_eras: u64 = (0..era.min(ERAS))
        .map(|era| u64::from(ERA_BLOCKS) * subsidy(era))
        .sum();
    whole_eras + u64::from(height % ERA_BLOCKS) * subsidy(era)
}

/// Whole bitcoin mined in `height` blocks, rounded down.
pub fn mined_btc(height: u32) -> u64 {
    mined_sats(height) / SATS_PER_BTC
}

fn subsidy(era: u32) -> u64 {
    FIRST_SUBSIDY_SATS.checked_shr(era).unwrap_or(0)
}

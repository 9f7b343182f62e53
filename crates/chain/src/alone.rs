//! Checks a single header without its predecessors: it must carry the work that its height requires.

use bitcoin::{BlockHash, block::Header};

use crate::{
    anchor::{self, Anchor},
    network::{Network, PERIOD},
    rules::{self, Difficulty, HeaderRefusal},
};

/// Checks a header against the easiest difficulty that its network can have at a height, and against the clock.
///
/// `height` is the sender's claim. A false height gains nothing, because it costs the work of a true one.
///
/// # Errors
/// It has less work than any block of that height, or breaks a rule that needs no other block.
pub fn check(
    network: Network,
    anchor: &Anchor,
    header: &Header,
    height: u32,
    now: Option<u32>,
) -> Result<BlockHash, HeaderRefusal> {
    let difficulty = Difficulty::of(network, header)?;
    let hash = difficulty.hash(header)?;
    rules::future(header, now)?;
    rules::version(network, height, header)?;
    let after = height
        .checked_sub(anchor.next)
        .ok_or(HeaderRefusal::Unconnected)?;
    let from = anchor::target(anchor.bits).ok_or(HeaderRefusal::WrongBits)?;
    let easiest = match network.easy_after() {
        None => rules::easiest(network, from, after / PERIOD),
        // Testnet4 allows a minimum-difficulty block at any height.
        Some(_) => network.limit(),
    };
    if difficulty.is_easier_than(easiest) {
        return Err(HeaderRefusal::WrongBits);
    }
    Ok(hash)
}

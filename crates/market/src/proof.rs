//! The headers of one source, checked: each has the work that its height must have taken, and they are linked.
//!
//! What links to a header that was checked cannot name a height that is not its own. Headers that link to nothing
//! prove their work; that they are at their height is as good as a claim.

use alloc::{collections::VecDeque, vec::Vec};

use chain::{
    BlockHash, Header, alone, anchor::Anchor, chain::REORG_MAX, network::Network,
    rules::HeaderRefusal,
};

use super::voices::Tip;
use crate::now::UtcTime;

/// Most headers that are looked at in one message.
pub const HEADERS_AT_ONCE_MAX: usize = 64;

/// A chain, and what is taken for granted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainSpec {
    /// Whose rules it keeps.
    pub network: Network,
    /// Where a check begins.
    pub anchor: Anchor,
}

impl ChainSpec {
    /// The chain of a network, with the anchor that each release brings.
    pub fn built_in(network: Network) -> ChainSpec {
        ChainSpec {
            network,
            anchor: Anchor::built_in(network),
        }
    }
}

/// Hashes of linked headers of a source, oldest first, up to this height.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeaderRun {
    height: u32,
    hashes: VecDeque<BlockHash>,
}

/// What headers have shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// They go on from what was checked before; the newest block by then.
    Linked(Tip),
    /// They link to nothing: their newest block is at its height if the height can be believed.
    Loose(Tip, HeaderRun),
    /// They are known.
    Known,
}

impl HeaderRun {
    /// Takes headers that follow each other, the newest of them at a height.
    ///
    /// # Errors
    /// One of them breaks a rule, or is at another height than it must be.
    pub fn hear(
        &mut self,
        chain: &ChainSpec,
        height: u32,
        headers: &[Header],
        utc: Option<UtcTime>,
    ) -> Result<Shown, HeaderRefusal> {
        let skipped = headers.len().saturating_sub(HEADERS_AT_ONCE_MAX);
        let headers = &headers[skipped..];
        let Some(newest) = headers.last() else {
            return Ok(Shown::Known);
        };
        let hashes = check(chain, height, headers, utc)?;
        let tip = Tip {
            height,
            hash: hashes[hashes.len() - 1],
            time: newest.time,
        };
        // The newest that is known, and what comes after it.
        let first = height - (headers.len() as u32 - 1);
        for (at, header) in headers.iter().enumerate().rev() {
            let own = first + at as u32;
            let Some(parent) = self.height_of(&header.prev_blockhash) else {
                continue;
            };
            if parent + 1 != own {
                return Err(HeaderRefusal::Unconnected);
            }
            // Among chains as long as each other the one that was heard first counts.
            if height <= self.height {
                return Ok(Shown::Known);
            }
            let stay = self.hashes.len() - (self.height - parent) as usize;
            self.hashes.truncate(stay);
            self.extend(&hashes[at..], height);
            return Ok(Shown::Linked(tip));
        }
        if let Some(known) = self.height_of(&tip.hash) {
            return match known == height {
                true => Ok(Shown::Known),
                false => Err(HeaderRefusal::Unconnected),
            };
        }
        let mut run = HeaderRun::default();
        run.extend(&hashes, height);
        Ok(Shown::Loose(tip, run))
    }

    fn extend(&mut self, hashes: &[BlockHash], height: u32) {
        self.hashes.extend(hashes);
        let beyond = self.hashes.len().saturating_sub(REORG_MAX as usize);
        self.hashes.drain(..beyond);
        self.height = height;
    }

    /// Height of a block that was checked.
    fn height_of(&self, hash: &BlockHash) -> Option<u32> {
        let back = self.hashes.iter().rev().position(|known| known == hash)?;
        self.height.checked_sub(u32::try_from(back).ok()?)
    }
}

/// The hashes of headers that follow each other, each with the work of its height.
fn check(
    chain: &ChainSpec,
    height: u32,
    headers: &[Header],
    utc: Option<UtcTime>,
) -> Result<Vec<BlockHash>, HeaderRefusal> {
    let now = utc.and_then(|utc| u32::try_from(utc.unix_secs()).ok());
    let mut hashes: Vec<BlockHash> = Vec::with_capacity(headers.len());
    for (header, after) in headers.iter().zip((0..headers.len() as u32).rev()) {
        let own = height
            .checked_sub(after)
            .ok_or(HeaderRefusal::Unconnected)?;
        let hash = alone::check(chain.network, &chain.anchor, header, own, now)?;
        if hashes
            .last()
            .is_some_and(|last| *last != header.prev_blockhash)
        {
            return Err(HeaderRefusal::Unconnected);
        }
        hashes.push(hash);
    }
    Ok(hashes)
}

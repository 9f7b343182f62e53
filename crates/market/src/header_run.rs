//! Headers of one source that do not link to the chain.
//!
//! Each header has the work that its height requires. A header that links to a checked one has a proven height; the height
//! of one that links to none is a claim.

use alloc::{collections::VecDeque, vec::Vec};

use chain::{BlockHash, Header, alone, chain::REORG_MAX, rules::HeaderRefusal};

use crate::{header_chain::ChainSpec, height_proof::Tip, now::UtcTime};

/// Largest number of headers that are checked in one message; older ones are ignored.
const RUN_HEADERS_MAX: usize = 64;

/// Hashes of linked headers, oldest first; `height` is that of the last one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeaderRun {
    height: u32,
    hashes: VecDeque<BlockHash>,
}

/// Result of adding headers to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunChange {
    /// They were added: they link to the run. This is its newest block.
    Linked(Tip),
    /// They do not link to the run and were not added. Their newest block, and the run that they would start.
    Unlinked(Tip, HeaderRun),
    /// They are known.
    Known,
}

impl HeaderRun {
    /// Adds linked headers, oldest first; `height` is the reported height of the last one.
    ///
    /// # Errors
    /// A header breaks a rule, or its height contradicts the run.
    pub fn add(
        &mut self,
        chain: &ChainSpec,
        height: u32,
        headers: &[Header],
        utc: Option<UtcTime>,
    ) -> Result<RunChange, HeaderRefusal> {
        let skipped = headers.len().saturating_sub(RUN_HEADERS_MAX);
        let headers = &headers[skipped..];
        let Some(newest) = headers.last() else {
            return Ok(RunChange::Known);
        };
        let hashes = check(chain, height, headers, utc)?;
        let tip = Tip {
            height,
            hash: hashes[hashes.len() - 1],
            time: newest.time,
        };
        // The last header whose parent is in the run.
        let first = height - (headers.len() as u32 - 1);
        for (at, header) in headers.iter().enumerate().rev() {
            let own = first + at as u32;
            let Some(parent) = self.height_of(&header.prev_blockhash) else {
                continue;
            };
            if parent + 1 != own {
                return Err(HeaderRefusal::Unconnected);
            }
            // Of two branches of the same length the first one counts.
            if height <= self.height {
                return Ok(RunChange::Known);
            }
            let kept = self.hashes.len() - (self.height - parent) as usize;
            self.hashes.truncate(kept);
            self.extend(&hashes[at..], height);
            return Ok(RunChange::Linked(tip));
        }
        if let Some(known) = self.height_of(&tip.hash) {
            return if known == height {
                Ok(RunChange::Known)
            } else {
                Err(HeaderRefusal::Unconnected)
            };
        }
        let mut run = HeaderRun::default();
        run.extend(&hashes, height);
        Ok(RunChange::Unlinked(tip, run))
    }

    fn extend(&mut self, hashes: &[BlockHash], height: u32) {
        self.hashes.extend(hashes);
        let excess = self.hashes.len().saturating_sub(REORG_MAX as usize);
        self.hashes.drain(..excess);
        self.height = height;
    }

    /// Height of a block of the run.
    fn height_of(&self, hash: &BlockHash) -> Option<u32> {
        let back = self.hashes.iter().rev().position(|known| known == hash)?;
        self.height.checked_sub(u32::try_from(back).ok()?)
    }
}

/// Checks that headers are linked and have the work of their heights; returns their hashes.
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

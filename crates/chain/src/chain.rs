//! A chain of headers from an anchor, and the choice between two competing branches.
//!
//! Stores only the headers needed to validate the next ones: the current period, and those a reorganisation may
//! replace.

use alloc::{collections::VecDeque, vec::Vec};

use bitcoin::{BlockHash, CompactTarget, Work, block::Header};

use crate::{
    anchor::{Anchor, genesis, no_work},
    network::{Network, PERIOD},
    rules::{self, Difficulty, HeaderRefusal, MEDIAN_OF},
};

/// Deepest reorganisation that is supported, blocks.
pub const REORG_MAX: u32 = 144;

/// Most headers that a chain stores.
pub const HEADERS_MAX: usize = (PERIOD + REORG_MAX) as usize;

/// Consecutive hashes at the start of a locator; after them the steps double.
const LOCATOR_DENSE: u32 = 10;

/// A chain of valid headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    network: Network,
    /// The block before the first stored header: the end of a period.
    base: Anchor,
    headers: VecDeque<Header>,
    /// Hash of the newest block.
    tip: BlockHash,
    /// Work up to and including the newest block.
    work: Work,
    /// Difficulty of the newest block, cached because the next one usually has the same. `None` without a block.
    difficulty: Option<Difficulty>,
}

/// How headers changed the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainChange {
    /// All headers were known.
    Known,
    /// This many blocks were appended.
    Longer(u32),
    /// This many blocks were replaced by a branch with more work.
    Reorganised(u32),
    /// A valid branch with no more work than the current one; the chain is unchanged.
    Weaker,
}

/// Why a header was refused. The headers before it are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidHeader {
    /// Index of the refused header.
    pub index: usize,
    /// The broken rule.
    pub rule: HeaderRefusal,
    /// How the headers before it changed the chain.
    pub change: ChainChange,
}

impl Chain {
    /// A chain without blocks after an anchor; an anchor before the genesis block adds that block.
    pub fn new(network: Network, anchor: Anchor) -> Chain {
        let mut chain = Chain::after(network, anchor);
        if anchor.next == 0 {
            // The genesis block is always valid.
            let _ = chain.push(&genesis(network), None);
        }
        chain
    }

    fn after(network: Network, anchor: Anchor) -> Chain {
        Chain {
            network,
            base: anchor,
            headers: room(),
            tip: anchor.hash,
            work: anchor.work,
            difficulty: None,
        }
    }

    /// The network.
    pub fn network(&self) -> Network {
        self.network
    }

    /// The block before the first stored header.
    pub fn base(&self) -> Anchor {
        self.base
    }

    /// The stored headers, oldest first.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = &Header> {
        self.headers.iter()
    }

    /// Hash of the newest block.
    pub fn tip(&self) -> BlockHash {
        self.tip
    }

    /// The newest header. `None` if there is only the anchor, of which only the hash is known.
    pub fn newest(&self) -> Option<&Header> {
        self.headers.back()
    }

    /// Height of the newest block. `None` before the genesis block.
    pub fn height(&self) -> Option<u32> {
        self.next_height().checked_sub(1)
    }

    /// Work up to and including the newest block.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Median time past, Unix seconds; later blocks must be after it. `None` if too few headers are stored.
    pub fn median_time(&self) -> Option<u32> {
        if self.base.next > 0 && self.headers.len() < MEDIAN_OF {
            return None;
        }
        rules::median(self.headers.iter().rev().map(|header| header.time))
    }

    /// The hash of a stored block, or of the anchor.
    pub fn hash(&self, height: u32) -> Option<BlockHash> {
        let next = height.checked_add(1)?;
        if next == self.next_height() {
            return Some(self.tip);
        }
        let at = next.checked_sub(self.base.next)?;
        self.headers
            .get(usize::try_from(at).ok()?)
            .map(|header| header.prev_blockhash)
    }

    /// Height of the block after a stored one, or after the anchor.
    pub fn height_after(&self, hash: &BlockHash) -> Option<u32> {
        let place = u32::try_from(self.find(hash)?).ok()?;
        Some(self.base.next + place)
    }

    /// A block locator: hashes, newest first, in growing steps. A peer finds the last common block by them.
    pub fn locator(&self) -> Vec<BlockHash> {
        let mut hashes = Vec::new();
        let mut step = 1;
        let mut at = self.height();
        while let Some(hash) = at.and_then(|height| self.hash(height)) {
            hashes.push(hash);
            if hashes.len() >= LOCATOR_DENSE as usize {
                step *= 2;
            }
            at = at.and_then(|height| height.checked_sub(step));
        }
        let oldest = match self.base.next {
            0 => self.hash(0),
            _ => Some(self.base.hash),
        };
        if hashes.last() != oldest.as_ref() {
            hashes.extend(oldest);
        }
        hashes
    }

    /// Adds consecutive headers that follow a stored block. The branch with most work wins; of equal ones, the first
    /// received. `now` is Unix seconds; `None` if the time is unknown.
    ///
    /// # Errors
    /// A header breaks a rule. The headers before it are accepted.
    pub fn accept(
        &mut self,
        headers: &[Header],
        now: Option<u32>,
    ) -> Result<ChainChange, InvalidHeader> {
        let Some(first) = headers.first() else {
            return Ok(ChainChange::Known);
        };
        let unconnected = |index| InvalidHeader {
            index,
            rule: HeaderRefusal::Unconnected,
            change: ChainChange::Known,
        };
        let parent = self
            .find(&first.prev_blockhash)
            .ok_or_else(|| unconnected(0))?;
        // A peer starts its reply at the last common block, or somewhat before it.
        let known = headers
            .iter()
            .zip(self.headers.range(parent..))
            .take_while(|(received, stored)| received == stored)
            .count();
        let (fork, new) = (parent + known, &headers[known..]);
        if new.is_empty() {
            return Ok(ChainChange::Known);
        }
        // There is only one genesis block.
        if fork == 0 && self.base.next == 0 {
            return Err(unconnected(known));
        }
        let (valid, broken_rule, change) = self.add(fork, new, now);
        match broken_rule {
            None => Ok(change),
            Some(rule) => Err(InvalidHeader {
                index: known + valid,
                rule,
                change,
            }),
        }
    }

    /// Adds headers at a fork position if that gives more work. Returns how many are valid, the rule that the next one
    /// breaks, and the change.
    fn add(
        &mut self,
        fork: usize,
        headers: &[Header],
        now: Option<u32>,
    ) -> (usize, Option<HeaderRefusal>, ChainChange) {
        let count = |blocks| u32::try_from(blocks).unwrap_or(u32::MAX);
        let replaced = self.headers.len() - fork;
        if replaced == 0 {
            let (taken, refusal) = self.append(headers, now);
            let news = match taken {
                0 => ChainChange::Known,
                taken => ChainChange::Longer(count(taken)),
            };
            return (taken, refusal, news);
        }
        let mut other = self.before_index(fork);
        let (taken, refusal) = other.append(headers, now);
        let news = if other.work > self.work {
            *self = other;
            ChainChange::Reorganised(count(replaced))
        } else if taken > 0 {
            ChainChange::Weaker
        } else {
            ChainChange::Known
        };
        (taken, refusal, news)
    }

    /// Appends headers one by one. Returns how many were appended, and the rule that the next one breaks.
    fn append(&mut self, headers: &[Header], now: Option<u32>) -> (usize, Option<HeaderRefusal>) {
        for (at, header) in headers.iter().enumerate() {
            if let Err(why) = self.push(header, now) {
                return (at, Some(why));
            }
        }
        (headers.len(), None)
    }

    /// Appends a valid header.
    ///
    /// # Errors
    /// It breaks a rule; nothing has changed.
    fn push(&mut self, header: &Header, now: Option<u32>) -> Result<(), HeaderRefusal> {
        if header.prev_blockhash != self.tip {
            return Err(HeaderRefusal::Unconnected);
        }
        let difficulty = match self.difficulty {
            Some(difficulty) if difficulty.is_of(header) => difficulty,
            Some(_) | None => Difficulty::of(self.network, header)?,
        };
        let hash = difficulty.hash(header)?;
        if header.bits != self.bits_after(header) {
            return Err(HeaderRefusal::WrongBits);
        }
        let times = self.headers.iter().rev().map(|header| header.time);
        // The times before the anchor are unknown.
        let has_all_times = self.base.next == 0 || self.headers.len() >= MEDIAN_OF;
        if has_all_times && !rules::is_after_median(header.time, times) {
            return Err(HeaderRefusal::TooOld);
        }
        let height = self.next_height();
        rules::timewarp(self.network, height, header, self.headers.back())?;
        // The order of these checks is that of Bitcoin Core, so both name the same broken rule. A header that is only
        // early is no fault of its sender.
        rules::future(header, now)?;
        rules::version(self.network, height, header)?;
        self.headers.push_back(*header);
        self.tip = hash;
        self.work = self.work + difficulty.work;
        self.difficulty = Some(difficulty);
        self.forget();
        Ok(())
    }

    /// The difficulty required of the next block.
    fn bits_after(&self, next: &Header) -> CompactTarget {
        let Some(last) = self.headers.back() else {
            return self.base.bits;
        };
        if self.next_height().is_multiple_of(PERIOD) {
            return match self.headers.len().checked_sub(PERIOD as usize) {
                Some(first) => rules::retarget(self.network, &self.headers[first], last),
                // Only networks with a fixed difficulty may have an anchor within a period.
                None => last.bits,
            };
        }
        if let Some(easy) = rules::easy(self.network, next, last) {
            return easy;
        }
        if self.network.easy_after().is_none() {
            return last.bits;
        }
        // A minimum-difficulty block does not change the difficulty of the others.
        let limit = self.network.limit().to_compact_lossy();
        let since = (self.next_height() - 1) % PERIOD + 1;
        let period = self.headers.iter().rev().take(since as usize);
        let first = period
            .clone()
            .next_back()
            .map_or(self.base.bits, |first| first.bits);
        period
            .map(|header| header.bits)
            .find(|bits| *bits != limit)
            .unwrap_or(first)
    }

    /// Drops the oldest period once no rule needs it.
    fn forget(&mut self) {
        if self.headers.len() < HEADERS_MAX {
            return;
        }
        // A chain that starts within a period has a shorter first one.
        let rest = PERIOD - self.base.next % PERIOD;
        let forgotten = self.headers.drain(..rest as usize);
        let work = self.base.work + work(forgotten);
        if let Some(first) = self.headers.front() {
            self.base = Anchor {
                next: self.base.next + rest,
                hash: first.prev_blockhash,
                bits: first.bits,
                work,
            };
        }
    }

    /// The chain before the header at an index.
    fn before_index(&self, place: usize) -> Chain {
        let removed = self.headers.range(place..).copied();
        let mut headers = room();
        headers.extend(self.headers.range(..place));
        Chain {
            tip: self.headers[place].prev_blockhash,
            work: self.work - work(removed),
            difficulty: place
                .checked_sub(1)
                .and_then(|newest| Difficulty::of(self.network, &self.headers[newest]).ok()),
            headers,
            ..*self
        }
    }

    /// Index after the block with this hash.
    fn find(&self, hash: &BlockHash) -> Option<usize> {
        if *hash == self.tip {
            return Some(self.headers.len());
        }
        let place = self
            .headers
            .iter()
            .rev()
            .position(|header| header.prev_blockhash == *hash)?;
        Some(self.headers.len() - 1 - place)
    }

    fn next_height(&self) -> u32 {
        self.base.next + u32::try_from(self.headers.len()).unwrap_or(u32::MAX)
    }
}

/// Reserves room for all headers at once: growth by doubling would reserve nearly twice as much.
fn room() -> VecDeque<Header> {
    VecDeque::with_capacity(HEADERS_MAX)
}

/// Sum of the work. Caches the last result, because most headers have the same difficulty and each needs a long
/// division.
fn work(headers: impl Iterator<Item = Header>) -> Work {
    let mut last = None;
    headers.fold(no_work(), |sum, header| {
        let work = match last {
            Some((bits, work)) if bits == header.bits => work,
            Some(_) | None => header.work(),
        };
        last = Some((header.bits, work));
        sum + work
    })
}

const _: () = assert!(MEDIAN_OF <= REORG_MAX as usize);

#[cfg(test)]
mod tests {
    use alloc::vec;

    use bitcoin::{TxMerkleNode, block::Version, hashes::Hash};

    use super::*;

    /// Minimum difficulty of the test networks, and a harder one.
    const EASY: u32 = 0x1d00_ffff;
    const HARD: u32 = 0x1c00_ffff;

    /// A chain of headers without proof of work, from times and difficulties.
    fn unmined(network: Network, next: u32, blocks: &[(u32, u32)]) -> Chain {
        let anchor = Anchor {
            next,
            hash: BlockHash::all_zeros(),
            bits: CompactTarget::from_consensus(HARD),
            work: Work::from_be_bytes([0; 32]),
        };
        let headers = blocks
            .iter()
            .map(|(time, bits)| unmined_header(*time, *bits));
        Chain {
            headers: headers.collect(),
            ..Chain::after(network, anchor)
        }
    }

    fn unmined_header(time: u32, bits: u32) -> Header {
        Header {
            version: Version::from_consensus(4),
            prev_blockhash: BlockHash::all_zeros(),
            merkle_root: TxMerkleNode::all_zeros(),
            time,
            bits: CompactTarget::from_consensus(bits),
            nonce: 0,
        }
    }

    fn required_bits(chain: &Chain, time: u32) -> u32 {
        chain.bits_after(&unmined_header(time, 0)).to_consensus()
    }

    #[test]
    fn testnet4_allows_an_easy_block_after_twenty_minutes() {
        let chain = unmined(Network::Testnet4, 0, &[(0, HARD), (600, HARD)]);
        assert_eq!(required_bits(&chain, 600 + 1200), HARD);
        assert_eq!(required_bits(&chain, 600 + 1201), EASY);
        // The one after it is as hard as the one before it.
        let chain = unmined(
            Network::Testnet4,
            0,
            &[(0, HARD), (1201, EASY), (2402, EASY)],
        );
        assert_eq!(required_bits(&chain, 2500), HARD);
        // Not farther back than the period goes.
        let chain = unmined(Network::Testnet4, PERIOD, &[(1201, EASY), (2402, EASY)]);
        assert_eq!(required_bits(&chain, 2500), EASY);
        let blocks = [(0, HARD), (1201, EASY), (2402, EASY)];
        let chain = unmined(Network::Testnet4, PERIOD - 1, &blocks);
        assert_eq!(required_bits(&chain, 2500), EASY);
        for network in [Network::Main, Network::Signet] {
            let chain = unmined(network, 0, &[(0, HARD)]);
            assert_eq!(required_bits(&chain, 1201), HARD, "{network:?}");
        }
        let chain = unmined(Network::Testnet4, PERIOD, &[]);
        assert_eq!(required_bits(&chain, 0), HARD, "the bits of the anchor");
    }

    #[test]
    fn difficulty_follows_the_time_that_a_period_took() {
        let fair = 2015 * 600;
        for (took, easier) in [
            (fair, 2015.0 / 2016.0),
            (2 * 14 * 86_400, 2.0),
            (8 * 14 * 86_400, 4.0),
            (14 * 86_400 / 2, 0.5),
            (60, 0.25),
        ] {
            let mut blocks = vec![(1_000_000, HARD); PERIOD as usize];
            blocks[2015].0 += took;
            let chain = unmined(Network::Signet, PERIOD, &blocks);
            let before = CompactTarget::from_consensus(HARD);
            let after = chain.bits_after(&unmined_header(0, 0));
            let ratio = bitcoin::Target::from(before).difficulty_float()
                / bitcoin::Target::from(after).difficulty_float();
            assert!((ratio / easier - 1.0).abs() < 0.000_1, "{took}: {ratio}");
        }
        // A period that ended before it began took no time.
        let mut blocks = vec![(1_000_000, HARD); PERIOD as usize];
        blocks[2015].0 = 0;
        let chain = unmined(Network::Signet, PERIOD, &blocks);
        assert_eq!(required_bits(&chain, 0), 0x1b3f_ffc0);
    }

    #[test]
    fn testnet4_retargets_from_the_first_block_of_a_period() {
        let mut blocks = vec![(0, HARD); PERIOD as usize];
        blocks[2015] = (14 * 86_400, EASY);
        assert_eq!(
            required_bits(&unmined(Network::Testnet4, PERIOD, &blocks), 0),
            HARD
        );
        blocks[0].1 = 0x1b00_ffff;
        let chain = unmined(Network::Testnet4, PERIOD, &blocks);
        assert_eq!(required_bits(&chain, 0), 0x1b00_ffff);
        assert_eq!(
            required_bits(&unmined(Network::Signet, PERIOD, &blocks), 0),
            0x1d00_ffff
        );
    }

    #[test]
    fn only_testnet4_limits_how_early_a_period_starts() {
        let before = unmined_header(10_000, HARD);
        for (network, height, time, is_taken) in [
            (Network::Testnet4, PERIOD, 9_400, true),
            (Network::Testnet4, PERIOD, 9_399, false),
            (Network::Testnet4, PERIOD + 1, 0, true),
            (Network::Main, PERIOD, 0, true),
            (Network::Signet, PERIOD, 0, true),
        ] {
            let header = unmined_header(time, HARD);
            let received = rules::timewarp(network, height, &header, Some(&before));
            assert_eq!(received.is_ok(), is_taken, "{network:?} {height} {time}");
        }
    }
}

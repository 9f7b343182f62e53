//! A chain of headers from an anchor, and which of two chains is the better one.
//!
//! Only the headers that the next ones are judged by are kept: the running period, and those that may be replaced.

use alloc::{collections::VecDeque, vec::Vec};

use bitcoin::{BlockHash, CompactTarget, Work, block::Header};

use crate::{
    anchor::{Anchor, genesis, nothing},
    network::{Network, PERIOD},
    rules::{self, Difficulty, HeaderRefusal, MEDIAN_OF},
};

/// Blocks that may be replaced by others at once.
pub const REORG_MAX: u32 = 144;

/// Most headers that a chain keeps.
pub const HEADERS_MAX: usize = (PERIOD + REORG_MAX) as usize;

/// Hashes of a locator that follow each other; the others are ever farther apart.
const LOCATOR_DENSE: u32 = 10;

/// A chain of headers, each of which keeps the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    network: Network,
    /// What lies before the headers: the end of a period.
    base: Anchor,
    headers: VecDeque<Header>,
    /// The newest block.
    tip: BlockHash,
    /// Work up to and including the newest block.
    work: Work,
    /// That of the newest block, for the next one is most often as hard; none without a block.
    difficulty: Option<Difficulty>,
}

/// How headers changed the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainChange {
    /// Nothing: they are known.
    Known,
    /// So many blocks came.
    Longer(u32),
    /// Others took the place of so many blocks.
    Reorganised(u32),
    /// They are another end of the chain with no more work than this one; nothing was kept.
    Weaker,
}

/// Why headers are not taken; those before it are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Which of them.
    pub at: usize,
    /// Why.
    pub why: HeaderRefusal,
    /// What those before it have changed.
    pub news: ChainChange,
}

impl Chain {
    /// The chain of nothing after an anchor; where that lies before the first block of all, of that block.
    pub fn new(network: Network, anchor: Anchor) -> Chain {
        let mut chain = Chain::after(network, anchor);
        if anchor.next == 0 {
            // Its own rules it keeps.
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

    /// What lies before the headers that are kept.
    pub fn base(&self) -> Anchor {
        self.base
    }

    /// The headers that are kept, oldest first.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = &Header> {
        self.headers.iter()
    }

    /// Hash of the newest block.
    pub fn tip(&self) -> BlockHash {
        self.tip
    }

    /// The newest header; none if there is only the anchor, of which nothing but its hash is known.
    pub fn newest(&self) -> Option<&Header> {
        self.headers.back()
    }

    /// Height of the newest block; none before the first block of all.
    pub fn height(&self) -> Option<u32> {
        self.next_height().checked_sub(1)
    }

    /// Work up to and including the newest block.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The middle time of the newest blocks, Unix seconds: any later block is after it. None if too few are known.
    pub fn median_time(&self) -> Option<u32> {
        if self.base.next > 0 && self.headers.len() < MEDIAN_OF {
            return None;
        }
        rules::median(self.headers.iter().rev().map(|header| header.time))
    }

    /// The hash of a block that is kept, or of the anchor.
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

    /// Height of a block that comes after one that is kept, or after the anchor.
    pub fn height_after(&self, hash: &BlockHash) -> Option<u32> {
        let place = u32::try_from(self.find(hash)?).ok()?;
        Some(self.base.next + place)
    }

    /// Some of its hashes, newest first and ever farther apart: by them somebody else finds the last block in common.
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

    /// Takes headers that follow each other and a block that is kept; the end with most work counts, and among equals the
    /// one that was heard first. `now` is the time, Unix seconds; none if nobody knows.
    ///
    /// # Errors
    /// One of them breaks a rule. What comes before it counts.
    pub fn hear(&mut self, headers: &[Header], now: Option<u32>) -> Result<ChainChange, Refused> {
        let Some(first) = headers.first() else {
            return Ok(ChainChange::Known);
        };
        let unconnected = |at| Refused {
            at,
            why: HeaderRefusal::Unconnected,
            news: ChainChange::Known,
        };
        let parent = self
            .find(&first.prev_blockhash)
            .ok_or_else(|| unconnected(0))?;
        // Whoever answers begins with the last block in common, or somewhat before it.
        let known = headers
            .iter()
            .zip(self.headers.range(parent..))
            .take_while(|(heard, kept)| heard == kept)
            .count();
        let (fork, news) = (parent + known, &headers[known..]);
        if news.is_empty() {
            return Ok(ChainChange::Known);
        }
        // The first block of all is the one there is.
        if fork == 0 && self.base.next == 0 {
            return Err(unconnected(known));
        }
        let (taken, refusal, news) = self.take(fork, news, now);
        match refusal {
            None => Ok(news),
            Some(why) => Err(Refused {
                at: known + taken,
                why,
                news,
            }),
        }
    }

    /// Puts headers at a place where that makes the better chain; tells how many keep the rules, why the next one does
    /// not, and what has changed.
    fn take(
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
        let mut other = self.cut(fork);
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

    /// Appends headers, one by one; tells how many were taken, and why the next one was not.
    fn append(&mut self, headers: &[Header], now: Option<u32>) -> (usize, Option<HeaderRefusal>) {
        for (at, header) in headers.iter().enumerate() {
            if let Err(why) = self.push(header, now) {
                return (at, Some(why));
            }
        }
        (headers.len(), None)
    }

    /// Appends a header that keeps all rules.
    ///
    /// # Errors
    /// It does not; nothing has changed.
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
        // Of what came before the anchor nothing is known.
        let knows_enough = self.base.next == 0 || self.headers.len() >= MEDIAN_OF;
        if knows_enough && !rules::is_after_median(header.time, times) {
            return Err(HeaderRefusal::TooOld);
        }
        let height = self.next_height();
        rules::timewarp(self.network, height, header, self.headers.back())?;
        // Of two broken rules the one is named that other nodes name: who is only early is no liar.
        rules::future(header, now)?;
        rules::version(self.network, height, header)?;
        self.headers.push_back(*header);
        self.tip = hash;
        self.work = self.work + difficulty.work;
        self.difficulty = Some(difficulty);
        self.forget();
        Ok(())
    }

    /// The difficulty that the next block must have.
    fn bits_after(&self, next: &Header) -> CompactTarget {
        let Some(last) = self.headers.back() else {
            return self.base.bits;
        };
        if self.next_height().is_multiple_of(PERIOD) {
            return match self.headers.len().checked_sub(PERIOD as usize) {
                Some(first) => rules::retarget(self.network, &self.headers[first], last),
                // Only where difficulty never changes does a check begin elsewhere.
                None => last.bits,
            };
        }
        if let Some(easy) = rules::easy(self.network, next, last) {
            return easy;
        }
        if self.network.easy_after().is_none() {
            return last.bits;
        }
        // An easy block leaves the difficulty of the others as it was.
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

    /// Forgets the oldest period when nothing is judged by it any more.
    fn forget(&mut self) {
        if self.headers.len() < HEADERS_MAX {
            return;
        }
        // A check that began in the middle of a period has a shorter one first.
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

    /// The chain as it was before the header at a place, and all after it.
    fn cut(&self, place: usize) -> Chain {
        let gone = self.headers.range(place..).copied();
        let mut headers = room();
        headers.extend(self.headers.range(..place));
        Chain {
            tip: self.headers[place].prev_blockhash,
            work: self.work - work(gone),
            difficulty: place
                .checked_sub(1)
                .and_then(|newest| Difficulty::of(self.network, &self.headers[newest]).ok()),
            headers,
            ..*self
        }
    }

    /// Place after the block of a hash.
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

/// Room for as many headers as a chain keeps: grown step by step it would be for twice as many.
fn room() -> VecDeque<Header> {
    VecDeque::with_capacity(HEADERS_MAX)
}

/// The work of headers. What a difficulty takes is a long division, and most are as hard as the one before.
fn work(headers: impl Iterator<Item = Header>) -> Work {
    let mut last = None;
    headers.fold(nothing(), |sum, header| {
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

    /// Bits of the networks for tests at their easiest, and harder ones.
    const EASY: u32 = 0x1d00_ffff;
    const HARD: u32 = 0x1c00_ffff;

    /// A chain of blocks that nobody has mined: times and difficulties.
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

    fn wanted(chain: &Chain, time: u32) -> u32 {
        chain.bits_after(&unmined_header(time, 0)).to_consensus()
    }

    #[test]
    fn a_test_network_takes_an_easy_block_after_twenty_minutes() {
        let chain = unmined(Network::Testnet4, 0, &[(0, HARD), (600, HARD)]);
        assert_eq!(wanted(&chain, 600 + 1200), HARD);
        assert_eq!(wanted(&chain, 600 + 1201), EASY);
        // The one after it is as hard as the one before it.
        let chain = unmined(
            Network::Testnet4,
            0,
            &[(0, HARD), (1201, EASY), (2402, EASY)],
        );
        assert_eq!(wanted(&chain, 2500), HARD);
        // Not farther back than the period goes.
        let chain = unmined(Network::Testnet4, PERIOD, &[(1201, EASY), (2402, EASY)]);
        assert_eq!(wanted(&chain, 2500), EASY);
        let blocks = [(0, HARD), (1201, EASY), (2402, EASY)];
        let chain = unmined(Network::Testnet4, PERIOD - 1, &blocks);
        assert_eq!(wanted(&chain, 2500), EASY);
        for network in [Network::Main, Network::Signet] {
            let chain = unmined(network, 0, &[(0, HARD)]);
            assert_eq!(wanted(&chain, 1201), HARD, "{network:?}");
        }
        let chain = unmined(Network::Testnet4, PERIOD, &[]);
        assert_eq!(wanted(&chain, 0), HARD, "what the anchor says");
    }

    #[test]
    fn the_work_of_blocks_is_that_of_each() {
        assert_eq!(work(core::iter::empty()), nothing());
        for bits in [
            [HARD, HARD, HARD, HARD],
            [HARD, EASY, HARD, EASY],
            [EASY, HARD, HARD, EASY],
        ] {
            let headers = bits.map(|bits| unmined_header(0, bits));
            let each = headers.map(|header| header.work());
            assert_eq!(
                work(headers.into_iter()),
                each.into_iter().fold(nothing(), |sum, work| sum + work),
                "{bits:x?}"
            );
        }
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
        assert_eq!(wanted(&chain, 0), 0x1b3f_ffc0);
    }

    #[test]
    fn one_network_counts_from_the_first_block_of_a_period() {
        let mut blocks = vec![(0, HARD); PERIOD as usize];
        blocks[2015] = (14 * 86_400, EASY);
        assert_eq!(
            wanted(&unmined(Network::Testnet4, PERIOD, &blocks), 0),
            HARD
        );
        blocks[0].1 = 0x1b00_ffff;
        let chain = unmined(Network::Testnet4, PERIOD, &blocks);
        assert_eq!(wanted(&chain, 0), 0x1b00_ffff);
        assert_eq!(
            wanted(&unmined(Network::Signet, PERIOD, &blocks), 0),
            0x1d00_ffff
        );
    }

    #[test]
    fn one_network_begins_no_period_long_before_the_last_has_ended() {
        let before = unmined_header(10_000, HARD);
        for (network, height, time, is_taken) in [
            (Network::Testnet4, PERIOD, 9_400, true),
            (Network::Testnet4, PERIOD, 9_399, false),
            (Network::Testnet4, PERIOD + 1, 0, true),
            (Network::Main, PERIOD, 0, true),
            (Network::Signet, PERIOD, 0, true),
        ] {
            let header = unmined_header(time, HARD);
            let heard = rules::timewarp(network, height, &header, Some(&before));
            assert_eq!(heard.is_ok(), is_taken, "{network:?} {height} {time}");
        }
    }
}

//! Data as literals and matches.

/// How far back a match can be, bytes.
const WINDOW: usize = 32 * 1024;

/// Least distance of a match, for decoders that copy four bytes at a time.
const DISTANCE_MIN: usize = 4;

/// Lengths of a match. Three bytes are possible, but save next to nothing.
const LENGTH_MIN: usize = 4;
const LENGTH_MAX: usize = 258;

/// Greatest distance of a match of the least length; a farther one is longer than its literals.
const NEAR: usize = 1024;

/// Places that are compared for a match; more save about a percent.
const COMPARED_MAX: usize = 8;

/// A longer match is taken without a look at the next place.
const LONG: usize = 32;

/// A match is within a run if it is longer; only its first places are remembered.
const RUN: usize = 128;
const RUN_REMEMBERED: usize = 16;

/// Bits of a hash of four bytes.
const HASH_BITS: u32 = 15;

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Literal(u8),
    /// A repetition of earlier bytes.
    Match {
        /// Number of bytes.
        length: u16,
        /// How far back they are, bytes.
        distance: u16,
    },
}

pub(super) struct Matcher<'a> {
    data: &'a [u8],
    at: usize,
    /// The match at this place, if it is known already.
    found: Option<(usize, usize)>,
    /// The place after the newest one with each hash; 0 if there is none.
    newest: Vec<u32>,
    /// For each place in the window, what `newest` was before.
    before: Vec<u32>,
}

impl Matcher<'_> {
    /// At the start of the data.
    pub(super) fn new(data: &[u8]) -> Matcher<'_> {
        Matcher {
            data,
            at: 0,
            found: None,
            newest: vec![0; 1 << HASH_BITS],
            before: vec![0; WINDOW],
        }
    }

    /// The next token. `None` at the end of the data.
    pub(super) fn next(&mut self) -> Option<Token> {
        let byte = *self.data.get(self.at)?;
        let (length, distance) = match self.found.take() {
            Some(found) => found,
            None => self.longest(self.at),
        };
        self.remember(self.at);
        self.at += 1;
        if length < LENGTH_MIN {
            return Some(Token::Literal(byte));
        }
        if length < LONG {
            let next = self.longest(self.at);
            if next.0 > length {
                self.found = Some(next);
                return Some(Token::Literal(byte));
            }
        }
        let remembered = if length < RUN { length } else { RUN_REMEMBERED };
        for place in self.at..self.at + remembered - 1 {
            self.remember(place);
        }
        self.at += length - 1;
        Some(Token::Match {
            length: length as u16,
            distance: distance as u16,
        })
    }

    /// Length and distance of the longest match at a place; the nearest one of equal ones. Zeros if there is none.
    fn longest(&self, at: usize) -> (usize, usize) {
        let mut best = (0, 0);
        let Some(hash) = self.hash(at) else {
            return best;
        };
        let ahead = &self.data[at..self.data.len().min(at + LENGTH_MAX)];
        let mut next = self.newest[hash];
        for _ in 0..COMPARED_MAX {
            let Some(from) = (next as usize).checked_sub(1) else {
                break;
            };
            let distance = at - from;
            if distance >= WINDOW {
                break;
            }
            let can_be_longer = self.data[from + best.0] == ahead[best.0];
            if distance >= DISTANCE_MIN && can_be_longer {
                let length = common(&self.data[from..], ahead);
                if length > best.0 {
                    best = (length, distance);
                }
                if length == ahead.len() {
                    break;
                }
            }
            next = self.before[from % WINDOW];
        }
        match best {
            (..LENGTH_MIN, _) | (LENGTH_MIN, NEAR..) => (0, 0),
            found => found,
        }
    }

    fn remember(&mut self, place: usize) {
        if let Some(hash) = self.hash(place) {
            self.before[place % WINDOW] = self.newest[hash];
            self.newest[hash] = place as u32 + 1;
        }
    }

    /// Hash of the four bytes at a place. `None` at the end of the data.
    fn hash(&self, place: usize) -> Option<usize> {
        const GOLDEN: u32 = 0x9E37_79B1;
        let word = u32::from_le_bytes(*self.data.get(place..)?.first_chunk()?);
        Some((word.wrapping_mul(GOLDEN) >> (u32::BITS - HASH_BITS)) as usize)
    }
}

/// How many bytes are equal at the start of both.
fn common(one: &[u8], other: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    let words = one.chunks_exact(WORD).zip(other.chunks_exact(WORD));
    let equal = words.take_while(|(one, other)| one == other).count() * WORD;
    let rest = one[equal..].iter().zip(&other[equal..]);
    equal + rest.take_while(|(one, other)| one == other).count()
}

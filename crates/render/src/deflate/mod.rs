//! Compression of pictures for any PNG decoder, as zlib and DEFLATE (RFC 1950 and 1951).
//!
//! PNGdec, which many displays use, copies four bytes at a time. Near the start of a row and of its input buffer it does so
//! even if a match overlaps itself, so a match has a distance of at least four here. Other libraries have no such option.
//! `matches` finds them, `huffman` makes the codes.

mod huffman;
mod matches;

use self::{
    huffman::{code_lengths, codes},
    matches::{Matcher, Token},
};

/// Tokens with the same codes.
const BLOCK: usize = 32 * 1024;

/// Codes of literals and lengths, of distances, and of lengths of codes.
const LITERALS: usize = 286;
const DISTANCES: usize = 30;
const LENGTHS_OF_CODES: usize = 19;

/// Code that ends a block. Those of lengths follow.
const END: usize = 256;

/// Longest code of a symbol, and of a length of a code, bits.
const CODE_MAX: u8 = 15;
const LENGTH_CODE_MAX: u8 = 7;

/// Least length of a match with each code, and the number of bits in which the rest follows.
const MATCH_LENGTHS: [(u16, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

const LENGTHS_ORDER: [usize; LENGTHS_OF_CODES] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Bits, least significant first.
struct BitWriter {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl BitWriter {
    fn put(&mut self, value: u32, bits: u32) {
        self.pending |= u64::from(value) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }
}

/// A code, how many bits of a rest follow it, and the rest.
type Coded = (usize, u32, u32);

/// Compresses data as zlib.
pub fn zlib(data: &[u8]) -> Vec<u8> {
    let mut output = BitWriter {
        // DEFLATE with a window of 32 KiB.
        bytes: Vec::from([0x78, 0x9C]),
        pending: 0,
        count: 0,
    };
    let mut matcher = Matcher::new(data);
    let mut tokens = Vec::with_capacity(BLOCK);
    loop {
        let token = matcher.next();
        let is_last = token.is_none();
        tokens.extend(token);
        if is_last || tokens.len() == BLOCK {
            write_block(&tokens, is_last, &mut output);
            tokens.clear();
        }
        if is_last {
            break;
        }
    }
    // Whole bytes.
    output.put(0, 7);
    let mut file = output.bytes;
    file.extend(adler32(data).to_be_bytes());
    file
}

fn write_block(tokens: &[Token], is_last: bool, output: &mut BitWriter) {
    let (mut literals, mut distances) = ([0; LITERALS], [0; DISTANCES]);
    literals[END] = 1;
    for token in tokens {
        match *token {
            Token::Literal(byte) => literals[usize::from(byte)] += 1,
            Token::Match { length, distance } => {
                literals[length_code(length).0] += 1;
                distances[distance_code(distance).0] += 1;
            }
        }
    }
    // A block has at least one code of a distance.
    distances[0] = distances[0].max(1);
    let literals = code_lengths(&literals, CODE_MAX);
    let distances = code_lengths(&distances, CODE_MAX);
    output.put(u32::from(is_last), 1);
    // Codes of its own.
    output.put(2, 2);
    write_code_lengths(&literals, &distances, output);
    let (literals, distances) = (codes(&literals), codes(&distances));
    let mut put = |codes: &[(u32, u32)], (code, bits, rest): Coded| {
        let (value, length) = codes[code];
        output.put(value, length);
        output.put(rest, bits);
    };
    for token in tokens {
        match *token {
            Token::Literal(byte) => put(&literals, (byte.into(), 0, 0)),
            Token::Match { length, distance } => {
                put(&literals, length_code(length));
                put(&distances, distance_code(distance));
            }
        }
    }
    put(&literals, (END, 0, 0));
}

/// Writes the lengths of all codes. Runs of unused codes are short; others are rare.
fn write_code_lengths(literals: &[u8], distances: &[u8], output: &mut BitWriter) {
    let all = [literals, distances].concat();
    let mut coded: Vec<Coded> = Vec::new();
    for run in all.chunk_by(|one, next| one == next) {
        let (value, mut rest) = (run[0], run.len());
        while rest > 0 {
            let (code, length) = match (value, rest) {
                (0, 11..) => ((18, 7, rest.min(138) as u32 - 11), rest.min(138)),
                (0, 3..) => ((17, 3, rest as u32 - 3), rest),
                _ => ((value.into(), 0, 0), 1),
            };
            coded.push(code);
            rest -= length;
        }
    }
    let mut counts = [0; LENGTHS_OF_CODES];
    for (code, ..) in &coded {
        counts[*code] += 1;
    }
    let lengths = code_lengths(&counts, LENGTH_CODE_MAX);
    let codes = codes(&lengths);
    output.put((LITERALS - 257) as u32, 5);
    output.put((DISTANCES - 1) as u32, 5);
    output.put((LENGTHS_OF_CODES - 4) as u32, 4);
    for code in LENGTHS_ORDER {
        output.put(lengths[code].into(), 3);
    }
    for (code, bits, rest) in coded {
        let (value, length) = codes[code];
        output.put(value, length);
        output.put(rest, bits);
    }
}

fn length_code(length: u16) -> Coded {
    let code = MATCH_LENGTHS.partition_point(|(least, _)| *least <= length) - 1;
    let (least, bits) = MATCH_LENGTHS[code];
    (END + 1 + code, bits, u32::from(length - least))
}

/// Four distances have codes of their own, then two codes each double the distance.
fn distance_code(distance: u16) -> Coded {
    let distance = u32::from(distance) - 1;
    if distance < 4 {
        return (distance as usize, 0, 0);
    }
    let bits = distance.ilog2() - 1;
    let code = 2 * bits + (distance >> bits);
    (code as usize, bits, distance & ((1 << bits) - 1))
}

/// Checksum of zlib.
fn adler32(data: &[u8]) -> u32 {
    const BASE: u32 = 65_521;
    // So many bytes do not overflow the sums.
    const CHUNK: usize = 5_552;
    let (mut low, mut high) = (1, 0);
    for chunk in data.chunks(CHUNK) {
        for byte in chunk {
            low += u32::from(*byte);
            high += low;
        }
        low %= BASE;
        high %= BASE;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    /// A decoder that copies four bytes at a time at any distance, as PNGdec does in some places.
    struct Decoder<'a> {
        bytes: &'a [u8],
        at: usize,
        output: Vec<u8>,
    }

    impl Decoder<'_> {
        fn bits(&mut self, count: u32) -> usize {
            (0..count).fold(0, |value, place| {
                let bit = self.bytes[self.at / 8] >> (self.at % 8) & 1;
                self.at += 1;
                value | usize::from(bit) << place
            })
        }

        fn symbol(&mut self, lengths: &[u8]) -> usize {
            let codes = codes(lengths);
            let (mut value, mut length) = (0, 0);
            loop {
                value |= (self.bits(1) as u32) << length;
                length += 1;
                let found = codes.iter().position(|code| *code == (value, length));
                if let Some(symbol) = found {
                    return symbol;
                }
            }
        }

        fn code_lengths(&mut self) -> Vec<u8> {
            assert_eq!((self.bits(5), self.bits(5), self.bits(4)), (29, 29, 15));
            let mut lengths = [0; LENGTHS_OF_CODES];
            for code in LENGTHS_ORDER {
                lengths[code] = self.bits(3) as u8;
            }
            let mut all = Vec::new();
            while all.len() < LITERALS + DISTANCES {
                let unused = match self.symbol(&lengths) {
                    17 => self.bits(3) + 3,
                    18 => self.bits(7) + 11,
                    length => {
                        all.push(length as u8);
                        0
                    }
                };
                all.resize(all.len() + unused, 0);
            }
            all
        }

        fn copy(&mut self, length: usize, distance: usize) {
            let end = self.output.len() + length;
            while self.output.len() < end {
                let from = self.output.len() - distance;
                let four = [0, 1, 2, 3].map(|place| {
                    let not_written = 0xA5;
                    *self.output.get(from + place).unwrap_or(&not_written)
                });
                self.output.extend(four);
            }
            self.output.truncate(end);
        }

        fn decode(mut self) -> Vec<u8> {
            loop {
                let is_last = self.bits(1) == 1;
                assert_eq!(self.bits(2), 2);
                let all = self.code_lengths();
                let (literals, distances) = all.split_at(LITERALS);
                loop {
                    match self.symbol(literals) {
                        END => break,
                        byte @ ..END => self.output.push(byte as u8),
                        code => {
                            let (least, bits) = MATCH_LENGTHS[code - END - 1];
                            let length = usize::from(least) + self.bits(bits);
                            let code = self.symbol(distances);
                            let distance = match code {
                                0..4 => code + 1,
                                _ => {
                                    let bits = code as u32 / 2 - 1;
                                    ((2 + code % 2) << bits) + self.bits(bits) + 1
                                }
                            };
                            self.copy(length, distance);
                        }
                    }
                }
                if is_last {
                    return self.output;
                }
            }
        }
    }

    fn check(data: &[u8]) {
        let file = zlib(data);
        let decoder = Decoder {
            bytes: &file[2..],
            at: 0,
            output: Vec::new(),
        };
        assert!(decoder.decode() == data, "{} bytes", data.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Runs, periods of some bytes, and noise.
        #[test]
        fn decoders_that_copy_four_bytes_at_a_time_get_the_data(
            parts in vec((vec(0..4_u8, 1..6), 1..300_usize), 0..40),
            noise in vec(any::<u8>(), 0..300),
        ) {
            let mut data: Vec<u8> = noise.clone();
            for (period, times) in parts {
                data.extend(period.repeat(times));
            }
            data.extend(noise);
            check(&data);
        }
    }

    /// More tokens than a block has, matches at all distances, and codes that would be too long.
    #[test]
    fn blocks_and_codes_are_bounded() {
        let mut random = 1_u32;
        let noise = (0..BLOCK + 9_000).map(|_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        });
        let noise: Vec<u8> = noise.collect();
        check(&[&noise[..], &noise[9_000..], &noise[..40]].concat());
        // The number of each byte is a Fibonacci number.
        let (mut count, mut before) = (1, 1);
        let mut skewed: Vec<u8> = Vec::new();
        for byte in 0..22_u8 {
            skewed.extend((0..count).map(|place| byte | (place as u8 & 7) << 5));
            (count, before) = (count + before, count);
        }
        check(&skewed);
    }
}

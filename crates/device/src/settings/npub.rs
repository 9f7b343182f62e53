//! Public keys as people pass them on: `npub1` and bech32 (NIP-19, BIP 173).

use alloc::{string::String, vec::Vec};
use core::fmt::Write;

/// Human-readable part of a public key.
const PREFIX: &str = "npub";

/// Letters of bech32, in the order of the five bits that they stand for.
const LETTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// Letters of the checksum.
const CHECKSUM_LETTERS: usize = 6;

/// Letters of a whole key: its prefix, the 1 between, 256 bits in groups of five, the checksum.
pub(super) const LENGTH: usize = PREFIX.len() + 1 + (KEY_BYTES * 8).div_ceil(5) + CHECKSUM_LETTERS;

/// Rows of the checksum's generator.
const GENERATOR: [u32; 5] = [
    0x3b6a_57b2,
    0x2650_8e6d,
    0x1ea1_19fa,
    0x3d42_33dd,
    0x2a14_62b3,
];

/// The key as 64 lower-case hex digits; none if the text is no such key.
pub(super) fn hex_of(text: &str) -> Option<String> {
    let is_one_case = |is_other: fn(&u8) -> bool| !text.bytes().any(|byte| is_other(&byte));
    if text.len() != LENGTH
        || !(is_one_case(u8::is_ascii_uppercase) || is_one_case(u8::is_ascii_lowercase))
    {
        return None;
    }
    let text = text.to_ascii_lowercase();
    let letters = text.strip_prefix(PREFIX)?.strip_prefix('1')?;
    let groups: Vec<u8> = letters.bytes().map(group).collect::<Option<_>>()?;
    if checksum(&groups) != 1 {
        return None;
    }
    hex(&groups[..groups.len() - CHECKSUM_LETTERS])
}

/// The five bits that a letter stands for.
fn group(letter: u8) -> Option<u8> {
    let place = LETTERS.iter().position(|known| *known == letter)?;
    u8::try_from(place).ok()
}

/// The checksum over the prefix and the groups, which is 1 where all is well.
fn checksum(groups: &[u8]) -> u32 {
    let high = PREFIX.bytes().map(|byte| byte >> 5);
    let low = PREFIX.bytes().map(|byte| byte & 31);
    let all = high.chain([0]).chain(low).chain(groups.iter().copied());
    all.fold(1, |sum, group| {
        let sums = ((sum & 0x01FF_FFFF) << 5) ^ u32::from(group);
        (0..5)
            .filter(|bit| (sum >> (25 + bit)) & 1 == 1)
            .fold(sums, |sums, bit| sums ^ GENERATOR[bit])
    })
}

/// Groups of five bits as hex digits of four; the bits left over must be zero.
fn hex(groups: &[u8]) -> Option<String> {
    let mut digits = String::with_capacity(2 * KEY_BYTES);
    let (mut waiting, mut count) = (0_u32, 0);
    for group in groups {
        waiting = (waiting << 5) | u32::from(*group);
        count += 5;
        while count >= 4 && digits.len() < 2 * KEY_BYTES {
            count -= 4;
            let _ = write!(digits, "{:x}", waiting >> count);
            waiting &= (1 << count) - 1;
        }
    }
    (waiting == 0).then_some(digits)
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString};

    use super::*;

    /// The pair of NIP-19.
    const NPUB: &str = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
    const HEX: &str = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";

    #[test]
    fn keys_are_read() {
        assert_eq!(NPUB.len(), LENGTH);
        assert_eq!(hex_of(NPUB).as_deref(), Some(HEX));
        assert_eq!(hex_of(&NPUB.to_uppercase()).as_deref(), Some(HEX));
        let other = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6";
        let expected = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d";
        assert_eq!(hex_of(other).as_deref(), Some(expected));
    }

    #[test]
    fn other_texts_are_no_keys() {
        let mut texts = alloc::vec![
            String::new(),
            HEX.to_string(),
            NPUB[1..].to_string(),
            format!("{NPUB}q"),
            NPUB.replace("npub1", "nsec1"),
            NPUB.replace("npub1", "Npub1"),
            format!("nostr:{NPUB}"),
            format!("{}é", &NPUB[..LENGTH - 2]),
        ];
        // One wrong letter is always found.
        for place in "npub1".len()..LENGTH {
            for letter in ["q", "p", "b"] {
                let mut text = NPUB.to_string();
                text.replace_range(place..=place, letter);
                if text != NPUB {
                    texts.push(text);
                }
            }
        }
        for text in texts {
            assert_eq!(hex_of(&text), None, "{text}");
        }
    }
}

//! Public keys in bech32: `npub1` (NIP-19, BIP 173).

use alloc::{string::String, vec::Vec};

use bech32::{Bech32, Hrp, primitives::decode::CheckedHrpstring};

/// Human-readable part of a public key.
const PREFIX: Hrp = Hrp::parse_unchecked("npub");

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// The key as 64 lower-case hex digits. `None` if the text is no such key.
pub(super) fn hex_of(text: &str) -> Option<String> {
    let key = CheckedHrpstring::new::<Bech32>(text).ok()?;
    key.validate_segwit_padding().ok()?;
    let bytes: Vec<u8> = key.byte_iter().collect();
    (key.hrp() == PREFIX && bytes.len() == KEY_BYTES).then(|| hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString};

    use super::*;

    /// The example of NIP-19.
    const NPUB: &str = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
    const HEX: &str = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";

    #[test]
    fn keys_are_read() {
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
            format!("{}é", &NPUB[..NPUB.len() - 2]),
        ];
        // One wrong letter is always detected.
        for place in "npub1".len()..NPUB.len() {
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

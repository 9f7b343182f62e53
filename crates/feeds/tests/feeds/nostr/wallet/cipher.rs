//! The ciphers, with the complete official NIP-44 vectors.

use device::secret::Secret;
use feeds::{
    malformed::Malformed,
    nostr::wallet::cipher::{Cipher, EncryptedChannel, Nip44},
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::{AUTHOR, SECRET};
use crate::support::{fixture, hex, unhex};

fn vectors(group: &str, name: &str) -> Value {
    let mut vectors: Value = serde_json::from_slice(&fixture("nostr/nip44.vectors.json")).unwrap();
    vectors["v2"][group][name].take()
}

fn rows(group: &str, name: &str) -> Vec<Value> {
    let Value::Array(rows) = vectors(group, name) else {
        panic!("{group} {name}");
    };
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap()
}

fn bytes(row: &Value, name: &str) -> [u8; 32] {
    unhex(text(row, name)).try_into().unwrap()
}

fn public_key(secret: &str) -> String {
    feeds::nostr::event::Signer::new(&Secret::new(secret))
        .unwrap()
        .author()
}

#[test]
fn conversation_keys() {
    for row in rows("valid", "get_conversation_key") {
        let cipher = Nip44::between(&Secret::new(text(&row, "sec1")), text(&row, "pub2")).unwrap();
        assert_eq!(
            hex(cipher.conversation_key()),
            text(&row, "conversation_key")
        );
    }
    for row in rows("invalid", "get_conversation_key") {
        let secret = Secret::new(text(&row, "sec1"));
        assert!(
            Nip44::between(&secret, text(&row, "pub2")).is_none(),
            "{row}"
        );
        assert!(
            EncryptedChannel::new(&secret, text(&row, "pub2")).is_none(),
            "{row}"
        );
    }
}

#[test]
fn padded_lengths() {
    let official = rows("valid", "calc_padded_len");
    let official = official
        .iter()
        .map(|row| (row[0].as_u64().unwrap(), row[1].as_u64().unwrap()));
    // The last row is a text that is one byte too long.
    let official = official.filter(|(length, _)| *length < 65_536);
    let more = [(1, 32), (2, 32), (65_535, 65_536)];
    let cipher = Nip44::with_key([1; 32]);
    for (length, padded) in official.chain(more) {
        let payload = cipher
            .encrypt(&"x".repeat(usize::try_from(length).unwrap()), &[2; 32])
            .unwrap();
        // The payload has version, nonce, length, padded text and tag.
        assert_eq!(
            base64_bytes(&payload).len() as u64,
            1 + 32 + 2 + padded + 32,
            "{length}"
        );
    }
}

#[test]
fn texts_and_payloads() {
    for row in rows("valid", "encrypt_decrypt") {
        let (first, second) = (
            Secret::new(text(&row, "sec1")),
            Secret::new(text(&row, "sec2")),
        );
        let there = EncryptedChannel::new(&first, &public_key(second.expose())).unwrap();
        let back = EncryptedChannel::new(&second, &public_key(first.expose())).unwrap();
        let key = Nip44::between(&first, &public_key(second.expose())).unwrap();
        assert_eq!(hex(key.conversation_key()), text(&row, "conversation_key"));
        let payload = there.encrypt(
            Cipher::Nip44,
            text(&row, "plaintext"),
            &bytes(&row, "nonce"),
        );
        assert_eq!(payload.as_deref(), Ok(text(&row, "payload")));
        let plain = back.decrypt(Cipher::Nip44, text(&row, "payload"));
        assert_eq!(plain.as_deref(), Ok(text(&row, "plaintext")));
    }
}

#[test]
fn long_texts() {
    for row in rows("valid", "encrypt_decrypt_long_msg") {
        let repeat = usize::try_from(row["repeat"].as_u64().unwrap()).unwrap();
        let plain = text(&row, "pattern").repeat(repeat);
        assert_eq!(hex(&Sha256::digest(&plain)), text(&row, "plaintext_sha256"));
        let cipher = Nip44::with_key(bytes(&row, "conversation_key"));
        let payload = cipher.encrypt(&plain, &bytes(&row, "nonce")).unwrap();
        assert_eq!(hex(&Sha256::digest(&payload)), text(&row, "payload_sha256"));
        assert_eq!(cipher.decrypt(&payload), Ok(plain));
    }
}

#[test]
fn lengths_that_cannot_be_encrypted() {
    for length in rows("invalid", "encrypt_msg_lengths") {
        let plain = "x".repeat(usize::try_from(length.as_u64().unwrap()).unwrap());
        assert_eq!(
            Nip44::with_key([1; 32]).encrypt(&plain, &[0; 32]),
            Err(Malformed("length"))
        );
    }
}

#[test]
fn payloads_that_cannot_be_decrypted() {
    for row in rows("invalid", "decrypt") {
        let reason = match text(&row, "note") {
            "unknown encryption version" | "unknown encryption version 0" => "version",
            "invalid base64" => "base64",
            "invalid MAC" | "invalid padding" => "cipher-text",
            _ => "too-short",
        };
        let cipher = Nip44::with_key(bytes(&row, "conversation_key"));
        assert_eq!(
            cipher.decrypt(text(&row, "payload")),
            Err(Malformed(reason)),
            "{row}"
        );
    }
    for (length, reason) in [(87_472, "version"), (87_476, "too-long")] {
        assert_eq!(
            Nip44::with_key([1; 32]).decrypt(&"A".repeat(length)),
            Err(Malformed(reason)),
            "{length}"
        );
    }
}

#[test]
fn the_older_cipher_decrypts_its_own_messages() {
    let wallet = format!("{:064x}", 2);
    let there = EncryptedChannel::new(&Secret::new(SECRET), &public_key(&wallet)).unwrap();
    let back = EncryptedChannel::new(&Secret::new(wallet), AUTHOR).unwrap();
    for plain in ["a", "{}", "sixteen bytes...", &"ü".repeat(700)] {
        let payload = there.encrypt(Cipher::Nip04, plain, &[9; 32]).unwrap();
        let (sealed, start) = payload.split_once("?iv=").unwrap();
        assert_eq!(base64_bytes(start), [9; 16]);
        assert_eq!(base64_bytes(sealed).len() % 16, 0);
        assert_eq!(back.decrypt(Cipher::Nip04, &payload).as_deref(), Ok(plain));
    }
    for payload in [
        "",
        "?iv=",
        "AAAA",
        "AAAA?iv=AAAA",
        "!!!!?iv=AAAAAAAAAAAAAAAAAAAAAA==",
    ] {
        assert_eq!(
            back.decrypt(Cipher::Nip04, payload),
            Err(Malformed("cipher-text")),
            "{payload}"
        );
    }
    for (length, reason) in [(87_472, "cipher-text"), (87_473, "too-long")] {
        let payload = "A".repeat(length);
        assert_eq!(
            back.decrypt(Cipher::Nip04, &payload),
            Err(Malformed(reason)),
            "{length}"
        );
    }
}

fn base64_bytes(text: &str) -> Vec<u8> {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.decode(text).unwrap()
}

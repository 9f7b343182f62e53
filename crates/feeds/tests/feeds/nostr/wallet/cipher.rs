//! The ciphers, with the complete official NIP-44 vectors.

use ::nostr::{
    key::{PublicKey, SecretKey},
    nips::{nip04, nip44},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use chacha20::{
    ChaCha20,
    cipher::{KeyIvInit, StreamCipher},
};
use device::secret::Secret;
use feeds::{
    malformed::Malformed,
    nostr::wallet::{
        cipher::{Cipher, EncryptedChannel},
        keys::shared_secret,
        nip44::{Nip44, padded_len},
    },
};
use hmac::{Hmac, Mac};
use proptest::prelude::*;
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

/// NIP-44 for a secret key and a peer's key.
fn cipher(secret: &Secret, peer: &str) -> Option<Nip44> {
    shared_secret(secret, peer).map(|shared| Nip44::new(&shared))
}

#[test]
fn conversation_keys() {
    for row in rows("valid", "get_conversation_key") {
        let cipher = cipher(&Secret::new(text(&row, "sec1")), text(&row, "pub2")).unwrap();
        assert_eq!(
            hex(cipher.conversation_key()),
            text(&row, "conversation_key")
        );
    }
    for row in rows("invalid", "get_conversation_key") {
        let secret = Secret::new(text(&row, "sec1"));
        assert!(cipher(&secret, text(&row, "pub2")).is_none(), "{row}");
        assert!(
            EncryptedChannel::new(&secret, text(&row, "pub2")).is_none(),
            "{row}"
        );
    }
}

#[test]
fn message_keys() {
    let group = vectors("valid", "get_message_keys");
    let cipher = Nip44::with_key(bytes(&group, "conversation_key"));
    let rows = group["keys"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let keys = cipher.message_keys(&bytes(row, "nonce"));
        assert_eq!(hex(keys.chacha_key()), text(row, "chacha_key"));
        assert_eq!(hex(keys.chacha_nonce()), text(row, "chacha_nonce"));
        assert_eq!(hex(keys.mac_key()), text(row, "hmac_key"));
    }
}

#[test]
fn padded_lengths() {
    let official = rows("valid", "calc_padded_len");
    let official = official.iter().map(|row| {
        let [length, padded] = [0, 1].map(|at| row[at].as_u64().unwrap());
        (length, padded)
    });
    let more = [(1, 32), (2, 32), (257, 320), (65_535, 65_536)];
    let cipher = Nip44::with_key([1; 32]);
    for (length, padded) in official.chain(more) {
        let length = usize::try_from(length).unwrap();
        assert_eq!(padded_len(length) as u64, padded, "{length}");
        // One official text is one byte too long to be encrypted.
        let Ok(payload) = cipher.encrypt(&"x".repeat(length), &[2; 32]) else {
            assert_eq!(length, 65_536);
            continue;
        };
        // The payload has version, nonce, length, padded text and MAC.
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
        let key = cipher(&first, &public_key(second.expose())).unwrap();
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

/// A payload with a correct MAC and any padded text.
fn authenticated(cipher: &Nip44, padded: &[u8]) -> String {
    let nonce = [3; 32];
    let keys = cipher.message_keys(&nonce);
    let mut encrypted = padded.to_vec();
    ChaCha20::new(keys.chacha_key().into(), keys.chacha_nonce().into())
        .apply_keystream(&mut encrypted);
    let mac = Hmac::<sha2::Sha256>::new_from_slice(keys.mac_key())
        .unwrap()
        .chain_update(nonce)
        .chain_update(&encrypted)
        .finalize();
    let parts: [&[u8]; 4] = [&[2], &nonce, &encrypted, &mac.into_bytes()];
    BASE64_STANDARD.encode(parts.concat())
}

#[test]
fn lengths_and_padding_are_checked() {
    let cipher = Nip44::with_key([1; 32]);
    let wrong = Err(Malformed("cipher-text"));
    #[rustfmt::skip]
    let rows = [
        (1, b'x', 32, Ok("x".to_owned())),
        (32, b'x', 32, Ok("x".repeat(32))),
        (1, 0xff, 32, Err(Malformed("utf-8"))),
        (0, b'x', 32, wrong.clone()),
        (33, b'x', 32, wrong.clone()),
        (1, b'x', 33, wrong.clone()),
        (1, b'x', 64, wrong.clone()),
        (u16::MAX, b'x', 64, wrong),
    ];
    for (length, byte, padded, expected) in rows {
        let text = [&length.to_be_bytes()[..], &vec![byte; padded]].concat();
        let payload = authenticated(&cipher, &text);
        assert_eq!(cipher.decrypt(&payload), expected, "{length} in {padded}");
    }
}

#[test]
fn a_changed_payload_is_refused() {
    let cipher = Nip44::with_key([1; 32]);
    let content = base64_bytes(&cipher.encrypt("a", &[2; 32]).unwrap());
    for at in 1..content.len() {
        let mut changed = content.clone();
        changed[at] ^= 1;
        assert_eq!(
            cipher.decrypt(&BASE64_STANDARD.encode(changed)),
            Err(Malformed("cipher-text")),
            "{at}"
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
    for length in [0, 65_536] {
        let plain = "x".repeat(length);
        assert_eq!(
            there.encrypt(Cipher::Nip04, &plain, &[9; 32]),
            Err(Malformed("length")),
            "{length}"
        );
    }
    let longest = "x".repeat(65_535);
    let payload = there.encrypt(Cipher::Nip04, &longest, &[9; 32]).unwrap();
    assert_eq!(back.decrypt(Cipher::Nip04, &payload), Ok(longest));
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

#[test]
fn secrets_are_not_printed() {
    let secret = Secret::new(SECRET);
    let shared = shared_secret(&secret, AUTHOR).unwrap();
    let cipher = Nip44::new(&shared);
    let channel = EncryptedChannel::new(&secret, AUTHOR).unwrap();
    let keys = cipher.message_keys(&[1; 32]);
    let printed = format!("{shared:?} {cipher:?} {keys:?} {channel:?}");
    let secrets: [&[u8]; 4] = [
        shared.expose(),
        cipher.conversation_key(),
        keys.chacha_key(),
        keys.mac_key(),
    ];
    for secret in secrets {
        let numbers = format!("{:?}", &secret[..4]);
        let numbers = numbers.trim_matches(['[', ']']);
        assert!(!printed.contains(numbers), "{printed}");
        assert!(!printed.contains(&hex(secret)), "{printed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn another_library_exchanges_messages(plain in ".{1,200}", noise in any::<[u8; 32]>()) {
        let wallet = format!("{:064x}", 2);
        let channel = EncryptedChannel::new(&Secret::new(SECRET), &public_key(&wallet)).unwrap();
        let their_key = SecretKey::parse(&wallet).unwrap();
        let our_key = PublicKey::parse(AUTHOR).unwrap();

        let payload = channel.encrypt(Cipher::Nip44, &plain, &noise).unwrap();
        prop_assert_eq!(&nip44::decrypt(&their_key, &our_key, payload).unwrap(), &plain);
        let payload = nip44::encrypt(&their_key, &our_key, &plain, nip44::Version::V2).unwrap();
        prop_assert_eq!(&channel.decrypt(Cipher::Nip44, &payload).unwrap(), &plain);

        let payload = channel.encrypt(Cipher::Nip04, &plain, &noise).unwrap();
        prop_assert_eq!(&nip04::decrypt(&their_key, &our_key, payload).unwrap(), &plain);
        let payload = nip04::encrypt(&their_key, &our_key, &plain).unwrap();
        prop_assert_eq!(&channel.decrypt(Cipher::Nip04, &payload).unwrap(), &plain);
    }
}

fn base64_bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).unwrap()
}

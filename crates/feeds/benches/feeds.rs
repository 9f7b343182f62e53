//! Frames per second of each parser, and the cost of verification beyond the signature itself.
#![allow(clippy::unwrap_used)]

use std::{fs, hint::black_box, path::Path};

use device::secret::Secret;
use divan::{Bencher, counter::ItemsCount};
use feeds::{
    exchange, explorer, miner,
    nostr::{
        bolt11,
        event::{NostrEvent, VerifiedEvent, key},
        frame::{self, RelayMessage},
        wallet::cipher::{Cipher, EncryptedChannel},
    },
    pools, relay,
};
use secp256k1::{Secp256k1, VerifyOnly, XOnlyPublicKey, schnorr::Signature};

fn main() {
    divan::main();
}

#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn fixture(name: &str) -> Vec<u8> {
    file(&format!("tests/fixtures/{name}"))
}

fn seed(name: &str) -> Vec<u8> {
    file(&format!("../../fuzz/seeds/{name}"))
}

/// Parsers of whole messages: each iteration reads one.
mod parse {
    use super::*;

    fn read<T>(bencher: Bencher<'_, '_>, message: &[u8], parser: impl Fn(&[u8]) -> T + Sync) {
        bencher
            .counter(ItemsCount::new(1usize))
            .bench(|| parser(black_box(message)));
    }

    #[divan::bench(args = ["relay/frame-2", "relay/frame-4", "relay/frame-5", "relay/frame-6"])]
    fn relay_frame(bencher: Bencher<'_, '_>, name: &str) {
        read(bencher, &seed(name), |bytes| {
            relay::frame(bytes, true).unwrap()
        });
    }

    #[divan::bench]
    fn explorer_snapshot(bencher: Bencher<'_, '_>) {
        read(bencher, &fixture("explorer/snapshot.json"), |bytes| {
            explorer::frame(bytes, true).unwrap()
        });
    }

    #[divan::bench]
    fn exchange_ticker(bencher: Bencher<'_, '_>) {
        read(bencher, &fixture("exchange/ticker.json"), |bytes| {
            exchange::frame(bytes).unwrap()
        });
    }

    #[divan::bench(args = ["noderunners", "public_pool", "ocean", "braiins", "foundry_usa", "viabtc"])]
    fn pool_body(bencher: Bencher<'_, '_>, id: &str) {
        let pool = pools::find(id).unwrap();
        read(bencher, &fixture(&format!("pools/{id}.json")), |bytes| {
            pool.body(bytes).unwrap()
        });
    }

    #[divan::bench]
    fn miner_body(bencher: Bencher<'_, '_>) {
        read(bencher, &fixture("miner/info.json"), |bytes| {
            miner::body(bytes).unwrap()
        });
    }

    #[divan::bench]
    fn nostr_message(bencher: Bencher<'_, '_>) {
        read(bencher, &seed("nostr/event"), |bytes| {
            frame::message(bytes).unwrap()
        });
    }

    #[divan::bench]
    fn bolt11_amount(bencher: Bencher<'_, '_>) {
        let invoice = String::from_utf8(seed("bolt11/coffee")).unwrap();
        read(bencher, invoice.as_bytes(), |_| {
            bolt11::amount(black_box(&invoice)).unwrap()
        });
    }
}

/// Verification of an event: complete, and only the signature.
mod verify {
    use super::*;

    fn event() -> NostrEvent {
        let Ok(RelayMessage::Event { event, .. }) = frame::message(&seed("nostr/event")) else {
            panic!("the seed is an event");
        };
        event
    }

    /// Key, id and signature of the event as bytes.
    fn parts() -> ([u8; 32], [u8; 32], [u8; 64]) {
        let event = event();
        let (front, back) = event.sig.split_at(64);
        let signature = [key(front).unwrap(), key(back).unwrap()].concat();
        (
            key(&event.pubkey).unwrap(),
            key(&event.id).unwrap(),
            signature.try_into().unwrap(),
        )
    }

    #[divan::bench]
    fn event_of_a_relay(bencher: Bencher<'_, '_>) {
        bencher
            .counter(ItemsCount::new(1usize))
            .with_inputs(event)
            .bench_values(|event| VerifiedEvent::verify(event).unwrap());
    }

    #[divan::bench]
    fn signature_from_bytes_by_libsecp256k1(bencher: Bencher<'_, '_>) {
        let (key, id, signature) = parts();
        let curve: Secp256k1<VerifyOnly> = Secp256k1::verification_only();
        bencher.counter(ItemsCount::new(1usize)).bench(|| {
            let key = XOnlyPublicKey::from_slice(black_box(&key)).unwrap();
            let signature = Signature::from_slice(black_box(&signature)).unwrap();
            curve
                .verify_schnorr(&signature, black_box(&id), &key)
                .unwrap();
        });
    }

    #[divan::bench]
    fn signature_with_a_read_key_by_libsecp256k1(bencher: Bencher<'_, '_>) {
        let (key, id, signature) = parts();
        let curve: Secp256k1<VerifyOnly> = Secp256k1::verification_only();
        let key = XOnlyPublicKey::from_slice(&key).unwrap();
        let signature = Signature::from_slice(&signature).unwrap();
        bencher.counter(ItemsCount::new(1usize)).bench(|| {
            curve
                .verify_schnorr(black_box(&signature), black_box(&id), black_box(&key))
                .unwrap();
        });
    }
}

/// Messages of a wallet.
mod wallet {
    use super::*;

    const SECRET: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
    const WALLET: &str = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";

    #[divan::bench(args = [Cipher::Nip44, Cipher::Nip04])]
    fn decrypt(bencher: Bencher<'_, '_>, cipher: Cipher) {
        let channel = EncryptedChannel::new(&Secret::new(SECRET), WALLET).unwrap();
        let text = r#"{"result_type":"get_balance","result":{"balance":10000}}"#;
        let payload = channel.encrypt(cipher, text, &[1; 32]).unwrap();
        bencher
            .counter(ItemsCount::new(1usize))
            .bench(|| channel.decrypt(cipher, black_box(&payload)).unwrap());
    }
}

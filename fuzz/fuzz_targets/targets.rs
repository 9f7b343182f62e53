//! The fuzzed parsers: one function for each, with assertions that must hold for any bytes.
//!
//! The fuzz targets call these with input of libFuzzer. The tests of `feeds` call them with mutated seeds, so that
//! `cargo test` notices a broken parser without a fuzzer.

use std::{io::Cursor, time::Duration};

use chain::network::Network;
use device::{secret::Secret, settings::pairing::PairingUri};
use feeds::{
    electrum, exchange, explorer,
    image::{Image, ImageHeader, SIGNATURES_MAX, Signature, VerifyingKey, page::Page},
    malformed::Malformed,
    miner,
    multipart::{FormEvent, Multipart},
    nostr::{
        bolt11,
        data::DataFeed,
        event::{NostrEvent, Signer, VerifiedEvent},
        frame::{self, RelayMessage},
        wallet::{
            cipher::{Cipher, EncryptedChannel},
            message::{self, WalletMethod},
            reaction::StepRandomness,
            session::WalletSession,
        },
        zap::{ShownZaps, ZapFeed},
    },
    p2p, pools, relay, release,
    venues::VenueSession,
};
use market::{
    MinerStats, Observation, Zap,
    now::{Now, UtcTime},
    units::{FeeRate, MICRO, Price, Sats},
    venues::VENUES,
};
use sha2::{Digest, Sha256};

pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("relay", relay_frame),
    ("relay_bodies", relay_bodies),
    ("explorer", explorer_frame),
    ("exchange", exchange_frame),
    ("electrum", electrum_line),
    ("p2p", p2p_message),
    ("venues", venue_frames),
    ("nostr", nostr_message),
    ("nostr_event", nostr_event),
    ("bolt11", invoice),
    ("wallet_message", wallet_message),
    ("wallet_payload", wallet_payload),
    ("wallet_session", wallet_session),
    ("pairing", pairing),
    ("pools", pool_body),
    ("miner", miner_body),
    ("release", release_feed),
    ("multipart", form),
    ("image", image),
    ("signature", signature),
    ("page", page),
];

/// Calls a target by its name.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("the target is in the table");
    target(bytes);
}

const SECRET: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
const AUTHOR: &str = "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659";
const WALLET: &str = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";

const NOW: Now = Now {
    uptime: Duration::from_secs(60),
    utc: Some(UtcTime {
        unix_ms: 1_714_000_200_000,
    }),
};

/// Checks that parsed observations are within the bounds that the core relies on.
fn assert_plausible(observations: Result<Vec<Observation>, Malformed>) {
    for observation in observations.unwrap_or_default() {
        match observation {
            Observation::Price(_, price) | Observation::Quote { price, .. } => {
                assert!(price.micros > 0 && price.micros <= (Price::MAX_UNITS + 1) * MICRO);
            }
            Observation::Fee(rate) => {
                assert!(
                    rate.micros % MICRO == 0 && rate.micros <= (FeeRate::MAX_SAT_VB + 1) * MICRO
                );
            }
            Observation::PreciseFee(rate) => {
                assert!(rate.micros <= (FeeRate::MAX_SAT_VB + 1) * MICRO)
            }
            Observation::Headers { headers, .. } => assert!(!headers.is_empty()),
            Observation::Block(_)
            | Observation::Pool(_)
            | Observation::Miner(_)
            | Observation::PoolLogo(_)
            | Observation::Zap(_)
            | Observation::Payment(_)
            | Observation::Balance(_)
            | Observation::Currencies(_)
            | Observation::Complaint(_)
            | Observation::Dropped(..)
            | Observation::Peers(_)
            | Observation::PeerDisconnected(_)
            | Observation::PollFailed
            | Observation::Connection(_) => {}
        }
    }
}

fn relay_frame(bytes: &[u8]) {
    assert_plausible(relay::frame(bytes, true));
    assert_plausible(relay::frame(bytes, false));
}

fn relay_bodies(bytes: &[u8]) {
    let _ = relay::last_block(bytes);
    let currencies = relay::currencies(bytes).unwrap_or_default();
    assert!(currencies.len() <= relay::CURRENCIES_BODY_MAX);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let url = relay::currencies_url(text);
        assert!(url.is_none_or(|url| url.starts_with("http")));
    }
}

fn explorer_frame(bytes: &[u8]) {
    assert_plausible(explorer::frame(bytes, true));
    assert_plausible(explorer::frame(bytes, false));
    assert_plausible(explorer::tip_body(bytes));
    assert_plausible(explorer::projected_body(bytes, true));
}

fn electrum_line(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        match electrum::line(line) {
            Ok(electrum::ElectrumMessage::Answer(_, answer)) => {
                if let Ok(headers) = electrum::headers(&answer) {
                    assert!(headers.len() <= electrum::HEADERS_AT_ONCE as usize);
                }
                let _ = electrum::tip(&answer);
                assert_plausible(electrum::fees(&answer, true));
            }
            Ok(electrum::ElectrumMessage::Refused(_, words)) => {
                assert!(words.chars().count() <= 120)
            }
            Ok(electrum::ElectrumMessage::Tip(..) | electrum::ElectrumMessage::Nothing)
            | Err(_) => {}
        }
    }
}

fn p2p_message(bytes: &[u8]) {
    let network = Network::Main;
    if let Some((head, payload)) = bytes.split_first_chunk::<{ p2p::HEAD_BYTES }>()
        && let Ok(head) = p2p::head(network, head)
    {
        assert!(head.length <= p2p::PAYLOAD_MAX);
        assert!(!head.is_of_use() || head.length <= p2p::PARSED_MAX);
        let _ = p2p::message(&head, payload);
    }
    // With a valid head, because random bytes do not have a valid checksum.
    for command in ["version", "verack", "ping", "headers", "inv", "other"] {
        let message = p2p::encode(network, command, bytes);
        if let Some((head, payload)) = message.split_first_chunk::<{ p2p::HEAD_BYTES }>()
            && let Ok(head) = p2p::head(network, head)
            && let Ok(p2p::Message::Headers(headers)) = p2p::message(&head, payload)
        {
            assert!(headers.len() <= p2p::HEADERS_MAX);
        }
    }
}

fn exchange_frame(bytes: &[u8]) {
    assert_plausible(exchange::frame(bytes));
}

/// The first byte selects the venue; each line is a message of one session.
fn venue_frames(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let venue = &VENUES[usize::from(*first) % VENUES.len()];
    let Some(mut venue) = VenueSession::of(venue.source) else {
        return;
    };
    for line in rest.split(|byte| *byte == b'\n') {
        assert_plausible(venue.frame(line));
    }
}

fn nostr_message(bytes: &[u8]) {
    if let Ok(RelayMessage::Event { event, .. }) = frame::message(bytes) {
        // A parsed event can be encoded, and parsing it again gives the same event.
        let again = frame::publish(&event).replacen("[\"EVENT\",", "[\"EVENT\",\"s\",", 1);
        let Ok(RelayMessage::Event { event: read, .. }) = frame::message(again.as_bytes()) else {
            panic!("{again}");
        };
        assert_eq!(read, event);
        accept_event(event);
    }
}

/// The bytes are the content and tags of an event with a valid signature.
fn nostr_event(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split('\n');
    let kind = if parts.next() == Some("zap") { 9735 } else { 30078 };
    let content = parts.next().unwrap_or_default().to_owned();
    let tags: Vec<Vec<&str>> = parts.map(|tag| tag.split('\t').collect()).collect();
    let tags: Vec<&[&str]> = tags.iter().map(Vec::as_slice).collect();
    let signer = Signer::new(&Secret::new(SECRET)).expect("the key is valid");
    accept_event(signer.sign(1_714_000_100, kind, &tags, content, &[1; 32]));
}

fn accept_event(event: NostrEvent) {
    let Ok(event) = VerifiedEvent::verify(event) else {
        return;
    };
    let mut data = DataFeed::new(AUTHOR).expect("the key is valid");
    assert_plausible(data.accept(&event));
    let zaps = ZapFeed::new(&[AUTHOR]).expect("the key is valid");
    let accepted = zaps.accept(&event, NOW.utc, &mut ShownZaps::default());
    if let Ok(Some(Zap { amount, message })) = accepted {
        assert!(amount >= Sats(1) && message.chars().count() <= 512);
    }
}

fn invoice(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = bolt11::amount(&text);
    // Random bytes do not have a valid checksum, so it is added.
    let amount: String = text
        .chars()
        .filter(|letter| letter.is_ascii_digit() || "munp".contains(*letter))
        .collect();
    let readable = format!("lnbc{amount}");
    if let Ok(known) = bolt11::amount(&with_checksum(&readable)) {
        assert_eq!(known.is_none(), amount.is_empty(), "{readable}");
        let digits: u128 = amount
            .trim_end_matches(char::is_alphabetic)
            .parse()
            .unwrap_or(0);
        let picos = match amount.chars().last() {
            Some('p') => 1,
            Some('n') => 1_000,
            Some('u') => 1_000_000,
            Some('m') => 1_000_000_000,
            _ => 1_000_000_000_000,
        };
        let expected = digits * picos / 10;
        assert_eq!(
            known.map_or(0, |msats| u128::from(msats.0)),
            expected,
            "{readable}"
        );
    }
}

/// A text with the checksum of BIP-173.
fn with_checksum(readable: &str) -> String {
    const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    let step = |sum: u32, value: u8| {
        let next = (sum & 0x1FF_FFFF) << 5 ^ u32::from(value);
        [
            0x3B6A_57B2,
            0x2650_8E6D,
            0x1EA1_19FA,
            0x3D42_33DD,
            0x2A14_62B3,
        ]
        .iter()
        .enumerate()
        .filter(|(bit, _)| sum >> (25 + bit) & 1 == 1)
        .fold(next, |next, (_, generator)| next ^ generator)
    };
    let high = readable.bytes().map(|byte| byte >> 5);
    let low = readable.bytes().map(|byte| byte & 31);
    let sum = high.chain([0]).chain(low).chain([0; 6]).fold(1, step) ^ 1;
    let letter = |place: u32| char::from(ALPHABET[(sum >> (5 * (5 - place)) & 31) as usize]);
    let checksum: String = (0..6).map(letter).collect();
    format!("{readable}1{checksum}")
}

fn wallet_message(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = message::notification(&text);
    for method in [WalletMethod::GetBalance, WalletMethod::ListTransactions] {
        if let Ok(Ok(result)) = message::reply(method, &text) {
            let _ = message::balance(&result);
            assert!(message::transactions(&result).len() <= message::TRANSACTIONS_MAX);
        }
    }
}

fn channel() -> EncryptedChannel {
    EncryptedChannel::new(&Secret::new(SECRET), WALLET).expect("the keys are valid")
}

fn wallet_payload(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let channel = channel();
    for cipher in [Cipher::Nip44, Cipher::Nip04] {
        let _ = channel.decrypt(cipher, &text);
        if let Ok(payload) = channel.encrypt(cipher, &text, &[1; 32]) {
            assert_eq!(channel.decrypt(cipher, &payload).as_deref(), Ok(&*text));
        }
    }
}

/// Each line is one message: of the relay if it starts with `[`, otherwise of the wallet.
fn wallet_session(bytes: &[u8]) {
    let uri = format!("nostr+walletconnect://{WALLET}?relay=ws://r&secret={SECRET}");
    let pairing = PairingUri::parse(&uri).expect("the pairing is valid");
    let mut session =
        WalletSession::new(&pairing, Duration::from_secs(60)).expect("the keys are valid");
    let secret = Secret::new(format!("{:064x}", 2));
    let wallet = Signer::new(&secret).expect("the key is valid");
    let channel = EncryptedChannel::new(&secret, AUTHOR).expect("the keys are valid");
    let mut now = NOW;
    session.connected(now);
    let mut request_id = String::new();
    for (line, text) in (1..=16u8).zip(String::from_utf8_lossy(bytes).lines()) {
        now.uptime += Duration::from_secs(20);
        let noise = StepRandomness {
            cipher: [line; 32],
            signature: [line; 32],
        };
        let message = if text.starts_with('[') {
            frame::message(text.as_bytes()).unwrap_or(RelayMessage::Other)
        } else {
            let (word, text) = text.split_once(' ').unwrap_or((text, ""));
            let (kind, cipher) = match word {
                "info" => (13194, None),
                "reply" => (23195, Some(Cipher::Nip44)),
                "old" => (23196, Some(Cipher::Nip04)),
                _ => (23197, Some(Cipher::Nip44)),
            };
            let encrypted =
                cipher.and_then(|cipher| channel.encrypt(cipher, text, &[line; 32]).ok());
            let tags: &[&[&str]] = &[
                &["p", AUTHOR],
                &["e", &request_id],
                &["encryption", "nip44_v2"],
            ];
            let content = encrypted.unwrap_or_else(|| text.to_owned());
            RelayMessage::Event {
                subscription: String::new(),
                event: wallet.sign(1_714_000_100, kind, tags, content, &[line; 32]),
            }
        };
        let step = session.receive(message, now, &noise);
        let polled = session.poll(now, &noise);
        let sent: Vec<String> = step.send.into_iter().chain(polled.send).collect();
        assert!(sent.len() <= 2 && step.observations.len() <= message::TRANSACTIONS_MAX);
        for request in sent {
            assert!(!request.contains(SECRET));
            request_id = request.split('"').nth(5).unwrap_or_default().to_owned();
        }
    }
}

fn pairing(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(pairing) = PairingUri::parse(&text) {
        assert!(
            !pairing
                .masked()
                .to_ascii_lowercase()
                .contains(pairing.secret.expose())
        );
        let _ = WalletSession::new(&pairing, Duration::from_secs(60));
    }
}

fn pool_body(bytes: &[u8]) {
    for pool in pools::POOLS {
        let _ = pool.body(bytes);
        if let Some(logo) = pool.logo {
            let _ = logo.read(pool.id, bytes);
        }
    }
}

fn miner_body(bytes: &[u8]) {
    if let Ok(MinerStats {
        best_difficulty: Some(best),
        ..
    }) = miner::body(bytes)
    {
        assert!(!best.is_empty() && best.len() <= 64);
    }
}

/// A form is parsed equally in pieces of any size; the first byte is the size.
fn form(bytes: &[u8]) {
    let Some((step, bytes)) = bytes.split_first() else {
        return;
    };
    let read = |step: usize| {
        let mut form = Multipart::new("multipart/form-data; boundary=x").expect("it is a form");
        let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
        for chunk in bytes.chunks(step) {
            form.push(chunk);
            while let Some(piece) = form.next_event()? {
                match piece {
                    FormEvent::Part(name) => parts.push((name, Vec::new())),
                    FormEvent::Data(data) => parts.last_mut().expect("one began").1.extend(data),
                    FormEvent::End => return Ok::<_, feeds::malformed::Malformed>((parts, true)),
                }
            }
        }
        Ok((parts, false))
    };
    let whole = read(bytes.len().max(1));
    // With small pieces a form that is too long is refused earlier.
    if let (Ok(whole), Ok(parts)) = (whole, read(usize::from(*step).max(1))) {
        assert_eq!(whole, parts);
    }
}

fn release_feed(bytes: &[u8]) {
    let _ = release::checksum(bytes);
    for release in release::feed(bytes).into_iter().flatten() {
        if let Some(version) = release.version() {
            assert!(!release::is_newer(&version, &version));
        }
        assert!(
            release
                .assets
                .iter()
                .all(|asset| asset.url.starts_with("http") || !asset.url.contains("://"))
        );
    }
}

/// Unpacking an image gives exactly the content that its head describes, or an error. Also tested with valid checksums.
fn image(bytes: &[u8]) {
    if let Ok(mut image) = Image::open(Cursor::new(bytes)) {
        let head = image.head().clone();
        assert_eq!(head.encode().unwrap()[..], bytes[..ImageHeader::BYTES]);
        assert!(head.signed_bytes() <= bytes.len() as u64);
        let _ = image.verify(&[]).unwrap_err();
        check_unpack(image);
    }
    // The first two bytes as the length of the content, and the rest as a payload with a valid digest.
    let Some((length, payload)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let Ok(seed) = Image::open(Cursor::new(IMAGE)) else {
        unreachable!("the seed is whole")
    };
    let mut head = seed.head().clone();
    head.payload_bytes = payload.len() as u64;
    head.payload_digest = Sha256::digest(payload).into();
    head.content_bytes = u64::from(u16::from_le_bytes(*length));
    if let Ok(encoded) = head.encode() {
        let image = [&encoded[..], payload].concat();
        check_unpack(Image::open(Cursor::new(&image)).unwrap());
    }
}

/// An image that was signed by minisign.
const IMAGE: &[u8] = include_bytes!("../seeds/image/firmware.img");

fn check_unpack<B: AsRef<[u8]>>(mut image: Image<Cursor<B>>) {
    let mut content = Vec::new();
    let unpacked = image.unpack(&mut content);
    let expected = image.head().content_bytes;
    assert!(content.len() as u64 <= expected);
    if unpacked.is_ok() {
        assert_eq!(content.len() as u64, expected);
        assert_eq!(Sha256::digest(&content)[..], image.head().content_digest);
    }
}

fn signature(bytes: &[u8]) {
    if let Ok(signatures) = Signature::parse_all(bytes) {
        assert!(signatures.len() <= SIGNATURES_MAX);
        let text: String = signatures.iter().map(Signature::text).collect();
        let again = Signature::parse_all(text.as_bytes()).unwrap();
        let ids = |signatures: &[Signature]| -> Vec<_> {
            signatures.iter().map(Signature::key_id).collect()
        };
        assert_eq!(ids(&signatures), ids(&again));
    }
    if let Some(key) = std::str::from_utf8(bytes)
        .ok()
        .and_then(VerifyingKey::parse)
    {
        assert_eq!(key.id().to_string().len(), 16);
    }
}

fn page(bytes: &[u8]) {
    if let Ok(page) = Page::parse(bytes) {
        for name in page.files.keys() {
            assert!(!name.starts_with('/') && !name.split('/').any(|part| part == ".."));
        }
        assert_eq!(Page::parse(&page.write().unwrap()).unwrap(), page);
    }
}

//! The Bitcoin P2P protocol, as far as headers need it.
//!
//! A message is a header of fixed size and a payload. [`head`] decides whether the payload is needed before it is read;
//! everything except version, verack, ping, headers and inv is skipped.

use chain::{BlockHash, HEADER_BYTES, Header, header, network::Network};
use sha2::{Digest, Sha256};

use crate::malformed::Malformed;

/// Bytes of a message header.
pub const HEAD_BYTES: usize = 24;

/// Most headers of one message.
pub const HEADERS_MAX: usize = 2000;

/// Largest payload that is parsed, bytes: the count, and the headers, each with an empty transaction count.
pub const PARSED_MAX: usize = 3 + HEADERS_MAX * (HEADER_BYTES + 1);

/// Largest payload that is allowed, bytes.
pub const PAYLOAD_MAX: usize = 4_000_000;

/// Most hashes of a locator.
pub const LOCATOR_MAX: usize = 101;

/// Protocol version of this client.
const PROTOCOL: u32 = 70_016;

/// Oldest protocol version with announcements by headers.
const PROTOCOL_MIN: u32 = 70_012;

/// Service bits of a peer with blocks: all of them, or the newest.
const HAS_BLOCKS: u64 = 1 | 1 << 10;

/// Largest version payload, bytes: 86 and the user agent.
const VERSION_MAX: usize = 1024;

/// Inventory types of a block, without and with witness.
const BLOCKS: [u32; 2] = [2, 2 | 1 << 30];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// The handshake of the peer.
    Version,
    /// Our handshake was accepted.
    Verack,
    /// Keep-alive.
    Ping,
    Headers,
    Inv,
    /// Anything else.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader {
    pub kind: MessageKind,
    /// Bytes of the payload.
    pub length: usize,
    checksum: [u8; 4],
}

impl MessageHeader {
    /// Returns whether the payload is needed; otherwise it is skipped.
    pub fn is_of_use(&self) -> bool {
        match self.kind {
            MessageKind::Version
            | MessageKind::Verack
            | MessageKind::Ping
            | MessageKind::Headers => true,
            // An inventory is only a hint.
            MessageKind::Inv => self.length <= PARSED_MAX,
            MessageKind::Other => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The handshake of the peer.
    Version(Version),
    /// Our handshake was accepted.
    Verack,
    /// Keep-alive, to be answered with the same nonce.
    Ping([u8; 8]),
    /// Consecutive headers, oldest first.
    Headers(Vec<Header>),
    Block,
    /// An inventory without a block.
    Nothing,
}

/// The handshake of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    protocol: u32,
    services: u64,
}

impl Version {
    /// Returns whether the peer has blocks and announces them by headers.
    pub fn is_of_use(&self) -> bool {
        self.protocol >= PROTOCOL_MIN && self.services & HAS_BLOCKS != 0
    }
}

/// The default port of a network.
pub fn port(network: Network) -> u16 {
    match network {
        Network::Main => 8333,
        Network::Testnet4 => 48_333,
        Network::Signet => 38_333,
        Network::Regtest => 18_444,
    }
}

/// DNS seeds of a network.
pub fn seeds(network: Network) -> &'static [&'static str] {
    match network {
        Network::Main => &[
            "seed.bitcoin.sipa.be",
            "dnsseed.bluematt.me",
            "seed.bitcoin.jonasschnelli.ch",
            "seed.btc.petertodd.net",
            "seed.bitcoin.sprovoost.nl",
            "dnsseed.emzy.de",
            "seed.bitcoin.wiz.biz",
            "seed.mainnet.achownodes.xyz",
        ],
        Network::Testnet4 => &[
            "seed.testnet4.bitcoin.sprovoost.nl",
            "seed.testnet4.wiz.biz",
        ],
        Network::Signet => &[
            "seed.signet.bitcoin.sprovoost.nl",
            "seed.signet.achownodes.xyz",
        ],
        Network::Regtest => &[],
    }
}

/// Parses a message header.
///
/// # Errors
/// It belongs to another network, or its payload is too large.
pub fn head(network: Network, bytes: &[u8; HEAD_BYTES]) -> Result<MessageHeader, Malformed> {
    let (magic, rest) = bytes.split_at(4);
    let (command, rest) = rest.split_at(12);
    let (length, checksum) = rest.split_at(4);
    if magic != magic_of(network) {
        return Err(Malformed("network"));
    }
    let name = command.split(|byte| *byte == 0).next().unwrap_or_default();
    let kind = match name {
        b"version" => MessageKind::Version,
        b"verack" => MessageKind::Verack,
        b"ping" => MessageKind::Ping,
        b"headers" => MessageKind::Headers,
        b"inv" => MessageKind::Inv,
        _ => MessageKind::Other,
    };
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    let max = match kind {
        MessageKind::Version => VERSION_MAX,
        MessageKind::Verack => 0,
        MessageKind::Ping => 8,
        MessageKind::Headers => PARSED_MAX,
        MessageKind::Inv | MessageKind::Other => PAYLOAD_MAX,
    };
    if length > max {
        return Err(Malformed("too-long"));
    }
    Ok(MessageHeader {
        kind,
        length,
        checksum: [checksum[0], checksum[1], checksum[2], checksum[3]],
    })
}

/// Parses a message of a needed kind.
///
/// # Errors
/// The payload does not match its header or its kind.
pub fn message(head: &MessageHeader, payload: &[u8]) -> Result<Message, Malformed> {
    if payload.len() != head.length || checksum(payload) != head.checksum {
        return Err(Malformed("checksum"));
    }
    match head.kind {
        MessageKind::Version => version(payload).ok_or(Malformed("version")),
        MessageKind::Verack => Ok(Message::Verack),
        MessageKind::Ping => payload
            .try_into()
            .map(Message::Ping)
            .map_err(|_| Malformed("ping")),
        MessageKind::Headers => headers(payload).ok_or(Malformed("headers")),
        MessageKind::Inv => Ok(if has_block(payload).ok_or(Malformed("inv"))? {
            Message::Block
        } else {
            Message::Nothing
        }),
        MessageKind::Other => Ok(Message::Nothing),
    }
}

/// Encodes `version`: a client that wants no transactions and serves nothing.
pub fn encode_version(network: Network, unix_secs: i64, nonce: u64, agent: &str) -> Vec<u8> {
    let no_address = [0; 26];
    let mut payload = Vec::new();
    payload.extend(PROTOCOL.to_le_bytes());
    payload.extend(0_u64.to_le_bytes());
    payload.extend(unix_secs.to_le_bytes());
    payload.extend(no_address);
    payload.extend(no_address);
    payload.extend(nonce.to_le_bytes());
    let agent = &agent.as_bytes()[..agent.len().min(usize::from(u8::MAX) - 3)];
    payload.push(u8::try_from(agent.len()).unwrap_or_default());
    payload.extend(agent);
    // Our own height, and whether we want transactions.
    payload.extend(0_u32.to_le_bytes());
    payload.push(0);
    encode(network, "version", &payload)
}

/// Encodes `verack`.
pub fn encode_verack(network: Network) -> Vec<u8> {
    encode(network, "verack", &[])
}

/// Encodes `sendheaders`: announce new blocks by headers.
pub fn encode_sendheaders(network: Network) -> Vec<u8> {
    encode(network, "sendheaders", &[])
}

/// Encodes `pong`.
pub fn encode_pong(network: Network, number: [u8; 8]) -> Vec<u8> {
    encode(network, "pong", &number)
}

/// Encodes `getheaders`; the locator has the newest hash first.
pub fn encode_getheaders(network: Network, locator: &[BlockHash]) -> Vec<u8> {
    let locator = &locator[..locator.len().min(LOCATOR_MAX)];
    let mut payload = PROTOCOL.to_le_bytes().to_vec();
    payload.push(u8::try_from(locator.len()).unwrap_or_default());
    for hash in locator {
        payload.extend(AsRef::<[u8]>::as_ref(hash));
    }
    // No stop hash: as many headers as possible.
    payload.extend([0; 32]);
    encode(network, "getheaders", &payload)
}

/// Encodes a message; its command has at most twelve letters.
pub fn encode(network: Network, command: &str, payload: &[u8]) -> Vec<u8> {
    let mut name = [0; 12];
    for (place, letter) in name.iter_mut().zip(command.bytes()) {
        *place = letter;
    }
    let length = u32::try_from(payload.len()).unwrap_or_default();
    [
        &magic_of(network)[..],
        &name,
        &length.to_le_bytes(),
        &checksum(payload),
        payload,
    ]
    .concat()
}

fn magic_of(network: Network) -> [u8; 4] {
    match network {
        Network::Main => [0xF9, 0xBE, 0xB4, 0xD9],
        Network::Testnet4 => [0x1C, 0x16, 0x3F, 0x28],
        Network::Signet => [0x0A, 0x03, 0xCF, 0x40],
        Network::Regtest => [0xFA, 0xBF, 0xB5, 0xDA],
    }
}

fn checksum(payload: &[u8]) -> [u8; 4] {
    let digest: [u8; 32] = Sha256::digest(Sha256::digest(payload)).into();
    [digest[0], digest[1], digest[2], digest[3]]
}

fn version(payload: &[u8]) -> Option<Message> {
    let (protocol, rest) = payload.split_first_chunk::<4>()?;
    let (services, _) = rest.split_first_chunk::<8>()?;
    Some(Message::Version(Version {
        protocol: u32::from_le_bytes(*protocol),
        services: u64::from_le_bytes(*services),
    }))
}

fn headers(payload: &[u8]) -> Option<Message> {
    let (count, rest) = count(payload)?;
    let (entries, rest) = rest.as_chunks::<{ HEADER_BYTES + 1 }>();
    if count > HEADERS_MAX as u64 || count != entries.len() as u64 || !rest.is_empty() {
        return None;
    }
    let read = |entry: &[u8; HEADER_BYTES + 1]| match entry.split_last() {
        // The transaction count of a header is 0.
        Some((0, bytes)) => header(bytes),
        Some(_) | None => None,
    };
    let mut headers = Vec::with_capacity(entries.len());
    for entry in entries {
        headers.push(read(entry)?);
    }
    Some(Message::Headers(headers))
}

/// Returns whether an inventory has a block. `None` if it cannot be parsed.
fn has_block(payload: &[u8]) -> Option<bool> {
    let (count, rest) = count(payload)?;
    let (entries, rest) = rest.as_chunks::<36>();
    if count != entries.len() as u64 || !rest.is_empty() {
        return None;
    }
    let is_block = |entry: &[u8; 36]| {
        let kind = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        BLOCKS.contains(&kind)
    };
    Some(entries.iter().any(is_block))
}

/// Parses a minimal compact size; returns it and the remaining bytes.
fn count(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let (count, least, rest) = match first {
        0xFD => {
            let (count, rest) = rest.split_first_chunk::<2>()?;
            (u16::from_le_bytes(*count).into(), 0xFD, rest)
        }
        0xFE => {
            let (count, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*count).into(), 0x1_0000, rest)
        }
        0xFF => {
            let (count, rest) = rest.split_first_chunk::<8>()?;
            (u64::from_le_bytes(*count), 0x1_0000_0000, rest)
        }
        small => (u64::from(*small), 0, rest),
    };
    (count >= least).then_some((count, rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    fn read(network: Network, bytes: &[u8]) -> Result<Message, Malformed> {
        let (first, payload) = bytes.split_first_chunk::<HEAD_BYTES>().unwrap();
        let head = head(network, first)?;
        if head.is_of_use() { message(&head, payload) } else { Ok(Message::Nothing) }
    }

    fn genesis(network: Network) -> Header {
        chain::anchor::genesis(network)
    }

    // Messages captured from the network.
    const VERACK: &str = "f9beb4d976657261636b000000000000000000005df6e0e2";
    const VERSION: &str = "f9beb4d976657273696f6e0000000000640000003b648d5a\
        62ea0000010000000000000011b2d05000000000\
        010000000000000000000000000000000000ffff000000000000\
        010000000000000000000000000000000000ffff000000000000\
        3b2eb35d8ce617650f2f5361746f7368693a302e372e322fc03e0300";

    fn bytes(digits: &str) -> Vec<u8> {
        let digits: String = digits.split_whitespace().collect();
        hex::decode(digits).unwrap()
    }

    #[test]
    fn messages_of_the_network_are_read() {
        let main = Network::Main;
        assert_eq!(read(main, &bytes(VERACK)), Ok(Message::Verack));
        let old = Version {
            protocol: 60_002,
            services: 1,
        };
        assert_eq!(read(main, &bytes(VERSION)), Ok(Message::Version(old)));
    }

    #[test]
    fn needed_messages_are_parsed_and_others_skipped() {
        for network in Network::ALL {
            let header = genesis(network);
            let entry = [&chain::bytes(&header)[..], &[0]].concat();
            let most = [&[0xFD, 0xD0, 0x07][..], &entry.repeat(HEADERS_MAX)].concat();
            assert_eq!(most.len(), PARSED_MAX);
            let item = |kind: u32| [&[1][..], &kind.to_le_bytes(), &[7; 32]].concat();
            let rows = [
                ("verack", vec![], Message::Verack),
                ("ping", vec![7; 8], Message::Ping([7; 8])),
                ("headers", vec![0], Message::Headers(vec![])),
                (
                    "headers",
                    [&[1], &entry[..]].concat(),
                    Message::Headers(vec![header]),
                ),
                ("headers", most, Message::Headers(vec![header; HEADERS_MAX])),
                ("inv", item(2), Message::Block),
                ("inv", item(0x4000_0002), Message::Block),
                ("inv", item(1), Message::Nothing),
                ("sendheaders", vec![], Message::Nothing),
                ("addrv2", vec![1, 2, 3], Message::Nothing),
            ];
            for (command, payload, expected) in rows {
                let message = encode(network, command, &payload);
                assert_eq!(read(network, &message), Ok(expected), "{command}");
            }
        }
    }

    /// The payload of a message after its header was checked.
    fn payload_after_head(network: Network, command: &[u8; 12], message: &[u8]) -> Vec<u8> {
        let (first, payload) = message.split_first_chunk::<HEAD_BYTES>().unwrap();
        assert_eq!(first[..4], magic_of(network));
        assert_eq!(&first[4..16], command);
        assert_eq!(first[16..20], (payload.len() as u32).to_le_bytes());
        assert_eq!(first[20..], checksum(payload));
        payload.to_vec()
    }

    #[test]
    fn encoded_messages_have_the_form_of_the_network() {
        let main = Network::Main;
        assert_eq!(encode_verack(main), bytes(VERACK));
        for network in Network::ALL {
            let message = encode_version(network, 0x50d0_b211, 0x6517_e68c_5db3_2e3b, "/x:1/");
            let payload = payload_after_head(network, b"version\0\0\0\0\0", &message);
            let no_address = "00".repeat(26);
            let expected = format!(
                "80110100 0000000000000000 11b2d05000000000 {no_address} {no_address}
                 3b2eb35d8ce61765 05 2f783a312f 00000000 00"
            );
            assert_eq!(payload, bytes(&expected));
            let message = encode_sendheaders(network);
            assert!(payload_after_head(network, b"sendheaders\0", &message).is_empty());
            let pong = encode_pong(network, [7; 8]);
            assert_eq!(
                payload_after_head(network, b"pong\0\0\0\0\0\0\0\0", &pong),
                [7; 8]
            );
            let hash = genesis(network).block_hash();
            for locator_length in [0, 1, LOCATOR_MAX, LOCATOR_MAX + 9] {
                let message = encode_getheaders(network, &vec![hash; locator_length]);
                let payload = payload_after_head(network, b"getheaders\0\0", &message);
                let sent = locator_length.min(LOCATOR_MAX);
                assert_eq!(payload[..5], [0x80, 0x11, 1, 0, sent as u8]);
                assert_eq!(payload.len(), 5 + 32 * sent + 32);
                let genesis: &[u8] = hash.as_ref();
                assert!(
                    payload[5..5 + 32 * sent]
                        .chunks(32)
                        .all(|hash| hash == genesis)
                );
                assert_eq!(payload[5 + 32 * sent..], [0; 32]);
            }
        }
        // The user agent is limited too.
        let message = encode_version(main, 0, 0, &"x".repeat(9999));
        assert!(matches!(read(main, &message), Ok(Message::Version(_))));
        // A longer one would need a longer length field.
        assert_eq!(message[HEAD_BYTES + 80], 252);
    }

    #[test]
    fn a_broken_limit_is_found_in_the_header() {
        let network = Network::Main;
        let with = |command: &str, length: u32| {
            let mut bytes = encode(network, command, &[]);
            bytes[16..20].copy_from_slice(&length.to_le_bytes());
            let bytes: [u8; HEAD_BYTES] = bytes.try_into().unwrap();
            head(network, &bytes).map(|head| head.is_of_use())
        };
        let too_long = Err(Malformed("too-long"));
        for (command, length, expected) in [
            ("headers", 162_003, Ok(true)),
            ("headers", 162_004, too_long),
            ("version", 1024, Ok(true)),
            ("version", 1025, too_long),
            ("verack", 0, Ok(true)),
            ("verack", 1, too_long),
            ("ping", 8, Ok(true)),
            ("ping", 9, too_long),
            ("inv", 162_003, Ok(true)),
            ("inv", 162_004, Ok(false)),
            ("inv", 4_000_001, too_long),
            ("block", 4_000_000, Ok(false)),
            ("block", 4_000_001, too_long),
            ("block", u32::MAX, too_long),
        ] {
            assert_eq!(with(command, length), expected, "{command} {length}");
        }
        let other: [u8; HEAD_BYTES] = encode(Network::Signet, "verack", &[]).try_into().unwrap();
        assert_eq!(head(network, &other), Err(Malformed("network")));
    }

    #[test]
    fn an_invalid_payload_is_refused() {
        let network = Network::Main;
        let header = chain::bytes(&genesis(network));
        let one = [&[1][..], &header, &[0]].concat();
        let rows: [(&str, Vec<u8>, &'static str); 12] = [
            ("version", vec![0; 11], "version"),
            ("ping", vec![0; 7], "ping"),
            ("headers", vec![], "headers"),
            ("headers", one[..81].to_vec(), "headers"),
            ("headers", [&one[..], &[0]].concat(), "headers"),
            ("headers", [&[2], &one[1..]].concat(), "headers"),
            // With a transaction.
            ("headers", [&one[..81], &[1]].concat(), "headers"),
            // A count that is not minimal.
            ("headers", [&[0xFD, 1, 0], &one[1..]].concat(), "headers"),
            (
                "headers",
                [&[0xFE, 1, 0, 0, 0], &one[1..]].concat(),
                "headers",
            ),
            ("headers", vec![0xFF, 0xFF], "headers"),
            ("inv", vec![1], "inv"),
            ("inv", [&[2][..], &[0; 36]].concat(), "inv"),
        ];
        for (command, payload, reason) in rows {
            let bytes = encode(network, command, &payload);
            assert_eq!(
                read(network, &bytes),
                Err(Malformed(reason)),
                "{command} {payload:?}"
            );
        }
        let mut bytes = encode(network, "headers", &one);
        assert!(read(network, &bytes).is_ok());
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        assert_eq!(read(network, &bytes), Err(Malformed("checksum")));
    }

    #[test]
    fn a_usable_peer_has_blocks_and_a_recent_version() {
        for (protocol, services, expected) in [
            (70_016, 1, true),
            (70_012, 1 << 10, true),
            (70_011, 1, false),
            (70_016, 0, false),
            (70_016, 8, false),
            (u32::MAX, u64::MAX, true),
        ] {
            let version = Version { protocol, services };
            assert_eq!(version.is_of_use(), expected, "{version:?}");
        }
    }
}

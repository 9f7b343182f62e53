//! Where validation starts: a known block, and the difficulty of the block after it.

use core::str::FromStr;

use bitcoin::{
    BlockHash, CompactTarget, Target, Work, block::Header, constants::genesis_block, hashes::Hash,
};

use crate::network::{Network, PERIOD};

// The newest end of a period on which two independent lists agree; checked for a newer one before each release.
/// Height after the built-in anchor of the main network.
const MAIN_NEXT: u32 = 953568;

/// Hash of the anchor in internal byte order (printed hashes are reversed).
const MAIN_HASH: [u8; 32] = [
    0x5d, 0xdc, 0x01, 0xc0, 0xe9, 0x5e, 0x62, 0x7c, 0xa9, 0x7a, 0x52, 0x80, 0xf7, 0x7b, 0x86, 0xf4,
    0xbe, 0x69, 0x21, 0xe7, 0x15, 0xb3, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
];

/// Difficulty of the period after the anchor.
const MAIN_BITS: u32 = 0x170240c3;

/// Work up to and including the anchor, most significant byte first.
const MAIN_WORK: [u8; 32] = [
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x01, 0x2f, 0xa7, 0xec, 0xf8, 0xd5, 0x70, 0x5e, 0x35, 0x6f, 0xd4, 0xa6, 0x80,
];

/// A block that is trusted without a check: the last one of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Height of the block after it, which is the number of blocks up to and including it.
    pub next: u32,
    /// Its hash.
    pub hash: BlockHash,
    /// The difficulty of the block after it.
    pub bits: CompactTarget,
    /// Work of all blocks up to and including it. Zero for a configured anchor; then only the work after it counts.
    pub work: Work,
}

/// Why a text is not an anchor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAnchor {
    /// It has another form.
    #[error("it has to be HEIGHT:HASH:BITS, such as 953567:0000…:170240c3")]
    Form,
    /// Difficulty does not change after that block.
    #[error(
        "{0} is not the end of a period: such a height is one less than a multiple of {PERIOD}"
    )]
    Height(u32),
    /// No block can have this hash.
    #[error(
        "`{0}` is not a block hash: 64 hexadecimal digits, and small enough for its difficulty"
    )]
    Hash(alloc::string::String),
    /// The difficulty is invalid, or easier than the network allows.
    #[error("`{0}` is not a difficulty of this network: 8 hexadecimal digits, as in the header")]
    Bits(alloc::string::String),
}

impl Anchor {
    /// The anchor that is built into this release.
    pub fn built_in(network: Network) -> Anchor {
        match network {
            Network::Main => Anchor {
                next: MAIN_NEXT,
                hash: BlockHash::from_byte_array(MAIN_HASH),
                bits: CompactTarget::from_consensus(MAIN_BITS),
                work: Work::from_be_bytes(MAIN_WORK),
            },
            Network::Testnet4 | Network::Signet | Network::Regtest => {
                Anchor::before_genesis(network)
            }
        }
    }

    /// The state before the genesis block.
    pub fn before_genesis(network: Network) -> Anchor {
        let genesis = genesis(network);
        Anchor {
            next: 0,
            hash: genesis.prev_blockhash,
            bits: genesis.bits,
            work: no_work(),
        }
    }

    /// Parses `HEIGHT:HASH:BITS`, with hash and bits in hexadecimal as explorers print them.
    ///
    /// # Errors
    /// It has another form, or names a block where validation cannot start.
    pub fn parse(text: &str, network: Network) -> Result<Anchor, BadAnchor> {
        let mut parts = text.split(':');
        let (Some(height), Some(hash), Some(bits), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(BadAnchor::Form);
        };
        let is_number = !height.is_empty() && height.bytes().all(|byte| byte.is_ascii_digit());
        let height: u32 = height
            .parse()
            .ok()
            .filter(|_| is_number)
            .ok_or(BadAnchor::Form)?;
        let next = height.checked_add(1).ok_or(BadAnchor::Height(height))?;
        if network.retargets() && !next.is_multiple_of(PERIOD) {
            return Err(BadAnchor::Height(height));
        }
        let is_hex = bits.len() == 8 && bits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = u32::from_str_radix(bits, 16)
            .ok()
            .filter(|_| is_hex)
            .map(CompactTarget::from_consensus)
            .filter(|bits| target(*bits).is_some_and(|target| target <= network.limit()))
            .ok_or_else(|| BadAnchor::Bits(bits.into()))?;
        let hash = BlockHash::from_str(hash)
            .ok()
            // Difficulty changes by at most a factor of four, so a typing error in the bits makes the hash too large.
            .filter(|hash| {
                let target = Target::from_compact(bits);
                target.max_transition_threshold_unchecked() < target
                    || target.max_transition_threshold_unchecked().is_met_by(*hash)
            })
            .ok_or_else(|| BadAnchor::Hash(hash.into()))?;
        Ok(Anchor {
            next,
            hash,
            bits,
            work: no_work(),
        })
    }

    /// Height of the block.
    pub fn height(&self) -> Option<u32> {
        self.next.checked_sub(1)
    }
}

/// The genesis block of a network.
pub fn genesis(network: Network) -> Header {
    genesis_block(network.params()).header
}

/// Decodes compact bits. `None` if the target is negative, zero or longer than 256 bits.
pub(crate) fn target(bits: CompactTarget) -> Option<Target> {
    let consensus = bits.to_consensus();
    let (size, sign, mantissa) = (
        consensus >> 24,
        consensus & 0x0080_0000,
        consensus & 0x007F_FFFF,
    );
    let size_max = match mantissa {
        0x0001_0000.. => 32,
        0x0000_0100.. => 33,
        _ => 34,
    };
    let target = Target::from_compact(bits);
    (sign == 0 && size <= size_max && target != Target::ZERO).then_some(target)
}

/// Zero work.
pub(crate) fn no_work() -> Work {
    Work::from_be_bytes([0; 32])
}

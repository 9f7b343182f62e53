//! Where a check begins: a block that is known, and the difficulty of the one after it.

use core::str::FromStr;

use bitcoin::{
    BlockHash, CompactTarget, Target, Work, block::Header, constants::genesis_block, hashes::Hash,
};

use crate::network::{Network, PERIOD};

// The newest end of a period that two independent lists name; each release looks for a newer one.
/// Height after the anchor of the main network.
const MAIN_NEXT: u32 = 953568;

/// Its hash, in the order in which it is hashed.
const MAIN_HASH: [u8; 32] = [
    0x5d, 0xdc, 0x01, 0xc0, 0xe9, 0x5e, 0x62, 0x7c, 0xa9, 0x7a, 0x52, 0x80, 0xf7, 0x7b, 0x86, 0xf4,
    0xbe, 0x69, 0x21, 0xe7, 0x15, 0xb3, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
];

/// Difficulty of the period after it.
const MAIN_BITS: u32 = 0x170240c3;

/// Work up to and including it, most significant byte first.
const MAIN_WORK: [u8; 32] = [
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x01, 0x2f, 0xa7, 0xec, 0xf8, 0xd5, 0x70, 0x5e, 0x35, 0x6f, 0xd4, 0xa6, 0x80,
];

/// A block that is taken for granted: the last one of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Blocks up to and including it: the height of the one after it.
    pub next: u32,
    /// Its hash.
    pub hash: BlockHash,
    /// The difficulty of the block after it.
    pub bits: CompactTarget,
    /// The work of all blocks up to and including it; of those after it alone where nobody said.
    pub work: Work,
}

/// Why a text names no anchor.
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
    /// The hash is that of no block.
    #[error(
        "`{0}` is no hash of a block: 64 hexadecimal digits, and small enough for its difficulty"
    )]
    Hash(alloc::string::String),
    /// The difficulty is none, or easier than the network takes.
    #[error("`{0}` is no difficulty of this network: 8 hexadecimal digits, as in the header")]
    Bits(alloc::string::String),
}

impl Anchor {
    /// The one that each release brings.
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

    /// What lies before the first block of all.
    pub fn before_genesis(network: Network) -> Anchor {
        let genesis = genesis(network);
        Anchor {
            next: 0,
            hash: genesis.prev_blockhash,
            bits: genesis.bits,
            work: nothing(),
        }
    }

    /// Reads `HEIGHT:HASH:BITS`, hash and bits in hexadecimal as they are printed everywhere.
    ///
    /// # Errors
    /// It has another form, or names a block after which a check cannot begin.
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
            // Difficulty changes by a factor of four at most, so that a slip in any of the digits is noticed.
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
            work: nothing(),
        })
    }

    /// Height of the block.
    pub fn height(&self) -> Option<u32> {
        self.next.checked_sub(1)
    }
}

/// The first block of a network.
pub fn genesis(network: Network) -> Header {
    genesis_block(network.params()).header
}

/// The target that a difficulty means; none if it is negative, nothing, or has more digits than there are.
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

/// No work at all.
pub(crate) fn nothing() -> Work {
    Work::from_be_bytes([0; 32])
}

//! Where market data comes from: the values of `dataSource`.

/// The relay that everybody uses.
pub const PUBLIC_RELAY: u32 = 0;

/// An explorer for blocks and fees, an exchange or a relay of the owner's for prices.
pub const EXPLORER: u32 = 1;

/// Events of an author on Nostr.
pub const NOSTR: u32 = 2;

/// A relay of the owner's.
pub const CUSTOM_RELAY: u32 = 3;

/// What each of them is called, in the order of their numbers.
pub(super) const NAMES: &[&str] = &[
    "public relay",
    "explorer and exchange",
    "Nostr",
    "custom relay",
];

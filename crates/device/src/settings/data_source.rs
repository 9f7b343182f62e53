//! Sources of market data: the values of `dataSource`.

/// The public relay.
pub const PUBLIC_RELAY: u32 = 0;

/// An explorer for blocks and fees; prices from an exchange or an own relay.
pub const EXPLORER: u32 = 1;

/// Events of an author on Nostr.
pub const NOSTR: u32 = 2;

/// An own relay.
pub const CUSTOM_RELAY: u32 = 3;

/// Names, in the order of the numbers.
pub(super) const NAMES: &[&str] = &[
    "public relay",
    "explorer and exchange",
    "Nostr",
    "custom relay",
];

//! Nostr Wallet Connect: balance and payments of a wallet over a relay.
//!
//! Both sides publish encrypted events. A *request* of this client gets a *reply*, and the wallet reports payments in
//! *notifications*. Start with `session`.

pub mod cipher;
pub mod keys;
pub mod message;
pub mod nip04;
pub mod nip44;
pub mod reaction;
pub mod session;

/// Kind of the event with the capabilities of a wallet.
pub const INFO: u16 = 13194;

pub const REQUEST: u16 = 23194;

/// Kind of replies.
pub const REPLY: u16 = 23195;

/// Kind of notifications with NIP-04.
pub const NOTIFICATION_NIP04: u16 = 23196;

/// Kind of notifications with NIP-44.
pub const NOTIFICATION_NIP44: u16 = 23197;

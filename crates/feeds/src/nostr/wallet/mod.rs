//! Nostr Wallet Connect: a wallet tells its balance and its payments over a relay.
//!
//! Both sides write encrypted events to each other. A *request* of ours is answered by a *reply*,
//! and the wallet tells of payments in *notifications*. Read on with `session`.

pub mod cipher;
pub mod message;
pub mod reaction;
pub mod session;

/// Kind of the event in which a wallet says what it can do.
pub const INFO: u16 = 13194;

/// Kind of requests.
pub const REQUEST: u16 = 23194;

/// Kind of replies.
pub const REPLY: u16 = 23195;

/// Kind of notifications in the older cipher.
pub const NOTIFICATION_NIP04: u16 = 23196;

/// Kind of notifications in the newer cipher.
pub const NOTIFICATION_NIP44: u16 = 23197;

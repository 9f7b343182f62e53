//! Nostr: events on relays, which carry market data, zap receipts and the wallet's messages.
//!
//! A relay is not trusted: it receives a [`frame::Filter`], and its events are claims until id and signature are
//! verified. [`event::VerifiedEvent`] is the type of verified events.

pub mod event;
pub mod frame;

pub mod bolt11;
pub mod data;
pub mod recent;
pub mod zap;

pub mod wallet;

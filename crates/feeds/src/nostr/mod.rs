//! Nostr: events on relays, which carry market data, zap receipts and the wallet's messages.
//!
//! A relay is a stranger: it is asked with a [`frame::Filter`], and what it sends is a claim until
//! its id and signature were checked. [`event::VerifiedEvent`] is the type of checked events, and
//! every effect starts from one.

pub mod event;
pub mod frame;

pub mod bolt11;
pub mod data;
pub mod recent;
pub mod zap;

pub mod wallet;

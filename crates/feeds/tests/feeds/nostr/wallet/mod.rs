//! The wallet: ciphers, messages, and whole conversations.

mod cipher;
mod message;
mod session;

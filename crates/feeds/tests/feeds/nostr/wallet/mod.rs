//! The wallet: ciphers, messages, and complete sessions.

mod cipher;
mod message;
mod session;

//! Drivers of the parts of real boards, on the traits of embedded-hal: they know neither Linux nor the emulated
//! circuit, only buses and lines.
//!
//! None of them waits: what takes time is said as a moment to come back at, so that one thread serves a whole bus.

pub mod bh1750;
pub mod mcp23017;
pub mod pca9685;
pub mod ssd1680;
pub mod ws2812;

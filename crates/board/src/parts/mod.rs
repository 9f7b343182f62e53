//! Drivers of real parts, by the traits of embedded-hal, so that they run on Linux and on the emulated circuit.
//!
//! No driver waits. It returns the moment at which it must be called again, so that one thread serves a whole bus.

pub mod bh1750;
pub mod epaper;
pub mod inky;
pub mod mcp23017;
pub mod pca9685;
pub mod ws2812;

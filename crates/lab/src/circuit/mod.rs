//! An emulated circuit: nets and chips that respond to drivers as real ones do.
//!
//! It is made from a wiring, like a real board, and implements the traits of embedded-hal. If a driver does what a data sheet
//! forbids, the circuit records a *violation*. Time passes by itself ([`Flow::Live`]) or only with transfers on the buses
//! ([`Flow::Stepped`]). Transfers take their time in both cases.
//!
//! As on a real host, a line can be opened once, and floats when it is closed.
//!
//! `nets` are the wires, one file per chip, `state` is all of them. `handle` is the circuit for tests, `hardware` the buses and
//! lines for the drivers.

mod bh1750;
mod handle;
mod hardware;
mod mcp23017;
mod nets;
mod panel;
mod pca9685;
mod state;
mod strip;
mod violations;

pub use handle::{Circuit, Flow};
pub use hardware::{CircuitI2c, CircuitInput, CircuitOutput, CircuitSpi, InUse, Unanswered};
pub use panel::PanelCondition;
pub use state::I2cCondition;
pub use violations::VIOLATIONS_MAX;

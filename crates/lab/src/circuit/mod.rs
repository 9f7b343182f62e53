//! The emulated circuit: nets and chips that answer the bytes of the drivers as the real ones would.
//!
//! It is made from a wiring, like a real board, and hands out the objects of embedded-hal. What a chip's maker forbids
//! is a *violation*, collected for whoever asks. Time passes by itself ([`Flow::Live`]) or only with what is done on
//! the buses ([`Flow::Stepped`]); what a bus does takes its time either way.
//!
//! Its host is as strict as a real one: a line is opened once, and floats from the moment at which it is let go.
//!
//! `nets` are the wires, one file per chip, `state` is all of them; `handle` is what others have of it, `hands` is what
//! the drivers hold.

mod bh1750;
mod handle;
mod hands;
mod mcp23017;
mod nets;
mod pca9685;
mod ssd1680;
mod state;
mod strip;
mod violations;

pub use handle::{Circuit, Flow};
pub use hands::{CircuitI2c, CircuitInput, CircuitOutput, CircuitSpi, InUse, Unanswered};
pub use ssd1680::PanelCondition;
pub use state::I2cCondition;
pub use violations::VIOLATIONS_MAX;

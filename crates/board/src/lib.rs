//! The hardware: ports (traits), the table of boards, the drivers of real parts, the simulated board.

pub mod assembly;
pub mod host;
pub mod linux;
pub mod moments;
pub mod parts;
pub mod ports;
pub mod sim;
pub mod spec;
pub mod wiring;

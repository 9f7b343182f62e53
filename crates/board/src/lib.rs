//! What the hardware offers: ports (traits), the table of boards, the simulated board.

pub mod ports;
pub mod spec;

pub mod sim;

//! What the hardware offers: ports (traits), the table of boards, the numbers of their chips, the
//! simulated board.

pub mod chips;
pub mod host;
pub mod ports;
pub mod spec;

pub mod sim;

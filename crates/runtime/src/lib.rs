//! What every task of the program runs on: the clock, named tasks, the queue into the device, the picture of the panels and the log.

pub mod clock;
pub mod glass;
pub mod host;
pub mod inbox;
pub mod log_lines;
pub mod outage;
pub mod patience;
pub mod printable;
pub mod route;
pub mod standard_error;
pub mod tasks;
pub mod waits;

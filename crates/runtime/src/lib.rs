//! Services that all tasks use: clock, named tasks, the inbox of the device, the panel snapshot and the log.

pub mod clock;
pub mod host;
pub mod inbox;
pub mod log_lines;
pub mod outage;
pub mod panels;
pub mod printable;
pub mod standard_error;
pub mod tasks;
pub mod time_budget;
pub mod waits;

//! The daemon: main loop, tasks, HTTP, storage, wiring.

pub mod inbox;

pub mod clock;
pub mod glass;
pub mod net;
pub mod tasks;

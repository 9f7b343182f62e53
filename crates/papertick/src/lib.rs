//! The daemon: main loop, tasks, HTTP, storage, wiring.

pub mod inbox;

pub mod glass;

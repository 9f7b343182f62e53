//! Drivers: each applies one output of the device to one part of the board, or reports the inputs of one part.
//!
//! `painter` drives the panels, `lights` the strip and the frontlight. `captive_dns` is the DNS server of the simulated
//! access point, `advert` announces the clock by mDNS. `senses` reports the buttons and the light sensor, `host` the
//! memory of the machine.
//!
//! **Invariant:** a port is owned by one driver.

pub mod painter;

pub mod lights;

pub mod captive_dns;

pub mod advert;

pub mod senses;

pub mod host;

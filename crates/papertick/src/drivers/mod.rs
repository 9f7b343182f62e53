//! Drivers: each follows one level of the device and makes one part of the board so, or reports what a part says.
//!
//! `painter` drives the panels, `lights` the strip and the frontlight, `wifi` the radio, `names` answers on its access point,
//! `advert` announces the clock;
//! `senses` reports buttons and light, `host` reports what the machine can say of itself.
//!
//! **Invariant:** a port is owned by one driver.

pub mod painter;

pub mod lights;

pub mod captive_dns;

pub mod advert;

pub mod senses;

pub mod host;

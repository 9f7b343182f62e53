//! Drivers: each follows one level of the device and makes one part of the board so, or reports what a part says.
//!
//! **Invariant:** a port is owned by one driver.

pub mod painter;

//! Doors: the ways by which clients reach the clock.
//!
//! A door carries requests and answers, and guards itself; what can be asked, and what is answered, is the same at each.

pub mod http;
pub mod mqtt;

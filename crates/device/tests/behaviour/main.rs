//! What the clock does, input by input and moment by moment: its lights, its buttons, what it does by itself.
//!
//! No test here hands it a tick but at the moment for which it asked; so a deadline that is missing is seen.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod buttons;
mod deadlines;
mod film;
mod lights;
mod state;
mod world;

//! Updates: where new programs and pages are put, and which program runs.
//!
//! The *installed program* is the one that the owner or a package put on the machine; it is the factory image and is
//! never touched. New programs go to two *slots* in the data folder, one of which is *active*.
//! A new program is on *trial* until it has shown that it works; if it does not, the one before it runs again.
//!
//! `slots` decides which program runs, `record` keeps that on the disk; `judge` says which images are taken,
//! `depot` receives, verifies and installs them, and `installer` does that beside everything else the clock does;
//! `watcher` looks at the list of releases and has `fetcher` bring what is taken of it; `newest` is how others ask for that.
//!
//! **Invariant:** the one pointer to the active slot moves only after its program is whole, verified and durable;
//! a slot whose bytes are not those that were verified is never started.

pub mod answers;
pub mod build;
pub mod depot;
mod fetcher;
pub mod installer;
pub mod judge;
pub mod keys;
pub mod newest;
pub mod page;
pub mod record;
pub mod slots;
pub mod told;
pub mod watcher;

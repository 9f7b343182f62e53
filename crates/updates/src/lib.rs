//! Updates of the program and the web page.
//!
//! The *installed program* (factory image) was put on the machine by the owner or a package and is never changed.
//! New programs are written to two *slots* in the data folder; one slot is *active*.
//! A new program is on *trial* until it has shown that it works. If it fails, the previous program runs again.
//!
//! `slots` decides which program runs; `record` stores the slots on the disk.
//! `policy` decides which images are accepted; `image_store` receives, verifies and activates them; `installer` does
//! that on a separate thread.
//! `watcher` checks the list of releases and `fetcher` downloads a release; `newest` requests an update on demand.
//!
//! **Invariant:** a slot becomes active only after its program is complete, verified and durable. A slot whose file
//! differs from the verified content is never started.

pub mod answers;
pub mod build;
mod fetcher;
pub mod image_store;
pub mod installer;
pub mod keys;
pub mod newest;
mod page;
pub mod policy;
pub mod record;
pub mod slots;
pub mod status;
pub mod watcher;

//! What the panels show: the catalogue of screens and the function behind each.

pub mod catalog;
pub mod scene;

pub use catalog::{SCREENS, Screen};
pub use scene::Scene;

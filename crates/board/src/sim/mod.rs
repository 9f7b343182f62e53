//! The simulated board: panels, buttons, light and network.
//!
//! `options` are its options, `board` combines the parts.
//! `wires` has the signals that the simulated parts and the bench share, `parts` implements the ports, `network` and `radio`
//! that of the network. `bench` presses the buttons and reads the signals.

mod bench;
mod board;
mod network;
mod options;
mod parts;
pub mod radio;
mod wires;

pub use api::documents::bench::SimFault;
pub use bench::{Bench, BenchError, PRESS_MAX};
pub use board::{SimBoard, SimOptions, board};
pub use network::SimWifi;
pub use options::{FULL_REFRESH, PARTIAL_REFRESH, PanelTiming, PowerCycle};
pub use parts::{SimButtons, SimFrontlight, SimPanels, SimSensor, SimStrip};

//! The simulated board: honest panels, scripted buttons, light and network.
//!
//! `options` is what can be chosen about it, `board` puts it together.
//! `wires` is what the simulated parts and the bench share, `parts` implements the ports on it, `network` and `radio`
//! that of the network; `bench` is the hand of the person at the table.

mod bench;
mod board;
mod network;
mod options;
mod parts;
pub mod radio;
mod wires;

pub use bench::{
    AccessPointState, Bench, BenchError, BenchPanelState, BenchState, PRESS_MAX, PowerState,
};
pub use board::{SimBoard, SimOptions, board};
pub use network::SimWifi;
pub use options::{FULL_REFRESH, PARTIAL_REFRESH, PanelTiming, PowerCycle, SimFault};
pub use parts::{SimButtons, SimFrontlight, SimPanels, SimSensor, SimStrip};

//! The simulated board: honest panels, scripted buttons, light and network.
//!
//! `options` is what can be chosen about it, `board` puts it together.
//! `wires` is what the simulated parts and the bench share, `parts` implements the ports on it, `network` and `radio`
//! that of the network; `bench` is the hand of the person at the table, `hand` lets it act on an
//! emulated circuit.

mod bench;
mod board;
mod hand;
mod network;
mod options;
mod parts;
pub mod radio;
mod wires;

pub use bench::{
    AccessPointState, Bench, BenchError, BenchPanelState, BenchState, CircuitState, PRESS_MAX,
    PowerState,
};
pub use board::{SimBoard, SimOptions, board};
pub use hand::{BenchDriver, CircuitBoard, board_on_circuit};
pub use network::SimWifi;
pub use options::{FULL_REFRESH, PARTIAL_REFRESH, PanelTiming, PowerCycle, SimFault};
pub use parts::{SimButtons, SimFrontlight, SimPanels, SimSensor, SimStrip};

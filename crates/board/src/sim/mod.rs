//! The simulated board: honest panels, scripted buttons, light and network.
//!
//! `wires` is what the simulated parts and the bench share, `parts` implements the ports on it, `network` and `radio`
//! that of the network; `bench` is the hand of the person at the table, `hand` lets it act on an
//! emulated circuit.

mod bench;
mod hand;
mod network;
mod parts;
pub mod radio;
mod wires;

use std::{sync::Arc, time::Duration};

use device::board::BoardSpec;

pub use bench::{
    AccessPointState, Bench, BenchError, BenchState, CircuitState, PRESS_MAX, PanelState,
    PowerCycle, PowerState,
};
pub use hand::{CircuitBoard, Hand, board_on_circuit};
pub use network::SimWifi;
pub use parts::{SimButtons, SimFrontlight, SimPanels, SimSensor, SimStrip};
use radio::RadioOptions;
use wires::Wires;

use crate::parts::ssd1680::MODELS;

/// Time a full refresh takes: that of the usual panel.
pub const FULL_REFRESH: Duration = MODELS[0].times.full;

/// Time a partial refresh takes: that of the usual panel, with switching its supply on and off.
pub const PARTIAL_REFRESH: Duration = MODELS[0].times.whole_partial();

/// How fast the simulated panels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PanelTiming {
    /// As slow as paper.
    #[default]
    Real,
    /// At once.
    Instant,
}

impl PanelTiming {
    /// The timings and their words on the command line.
    pub const NAMED: &[(&str, PanelTiming)] = &[
        ("real", PanelTiming::Real),
        ("instant", PanelTiming::Instant),
    ];

    /// Word for the timing.
    pub fn name(self) -> &'static str {
        match self {
            PanelTiming::Real => "real",
            PanelTiming::Instant => "instant",
        }
    }
}

/// What goes wrong with a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SimFault {
    /// Nothing.
    #[default]
    None,
    /// It never becomes idle again.
    BusyStuck,
}

impl SimFault {
    /// The faults and their words on the bench.
    pub const NAMED: &[(&str, SimFault)] = &[
        ("none", SimFault::None),
        ("busy-stuck", SimFault::BusyStuck),
    ];

    /// Looks up a fault by its word.
    pub fn parse(word: &str) -> Option<SimFault> {
        Self::NAMED
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, fault)| *fault)
    }

    /// Word for the fault.
    pub fn name(self) -> &'static str {
        match self {
            SimFault::None => "none",
            SimFault::BusyStuck => "busy-stuck",
        }
    }
}

/// How a simulated board starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimOptions {
    /// How fast the panels are.
    pub timing: PanelTiming,
    /// Buttons that somebody holds while the power comes on.
    pub held: PowerCycle,
    /// Its radio; without one it uses the host's network.
    pub radio: Option<RadioOptions>,
}

/// A simulated board, taken apart: one port per task, and the bench.
#[derive(Debug)]
pub struct SimBoard {
    /// Its panels.
    pub panels: SimPanels,
    /// Its LED strip.
    pub strip: SimStrip,
    /// Its frontlight, on boards with one.
    pub frontlight: Option<SimFrontlight>,
    /// Its light sensor, on boards with one.
    pub sensor: Option<SimSensor>,
    /// Its buttons.
    pub buttons: SimButtons,
    /// Its network.
    pub wifi: SimWifi,
    /// The hand at the table.
    pub bench: Bench,
}

/// Makes a simulated board and switches it on.
pub fn board(spec: &BoardSpec, options: SimOptions) -> SimBoard {
    let wires = Arc::new(Wires::new(*spec, &options));
    SimBoard {
        panels: SimPanels::new(Arc::clone(&wires)),
        strip: SimStrip::new(Arc::clone(&wires)),
        frontlight: spec
            .frontlight
            .then(|| SimFrontlight::new(Arc::clone(&wires))),
        sensor: spec
            .light_sensor
            .then(|| SimSensor::new(Arc::clone(&wires))),
        buttons: SimButtons::new(Arc::clone(&wires)),
        wifi: SimWifi::new(&wires, options.radio),
        bench: Bench::new(wires),
    }
}

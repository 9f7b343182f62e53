//! A simulated board and its options.

use std::sync::Arc;

use device::board::BoardSpec;

use super::{
    Bench, PanelTiming, PowerCycle, SimButtons, SimFrontlight, SimPanels, SimSensor, SimStrip,
    SimWifi, radio::RadioOptions, wires::Wires,
};
use crate::parts::epaper::Times;

/// How a simulated board starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimOptions {
    /// How fast the panels are.
    pub timing: PanelTiming,
    /// How long real panels take; `None` for those of the default panel.
    pub times: Option<&'static Times>,
    /// Buttons that are held at power-on.
    pub held: PowerCycle,
    /// Its radio; `None` for the network of the host.
    pub radio: Option<RadioOptions>,
}

/// A simulated board: one port per task, and the bench.
#[derive(Debug)]
pub struct SimBoard {
    pub panels: SimPanels,
    pub strip: SimStrip,
    pub frontlight: Option<SimFrontlight>,
    pub sensor: Option<SimSensor>,
    pub buttons: SimButtons,
    pub wifi: SimWifi,
    pub bench: Bench,
}

/// Starts a simulated board.
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

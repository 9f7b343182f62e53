//! The ports of a board, simulated or real.

use board::{
    assembly::{AssembledBoard, assemble},
    linux::Linux,
    sim::{
        self, Bench, SimBoard, SimButtons, SimFrontlight, SimOptions, SimPanels, SimSensor,
        SimStrip, SimWifi,
    },
    wiring::{self, Care},
};
use tokio::time::Instant;

use crate::{
    buses::BusExecution,
    config::{PartsKind, RunConfig},
};

pub(super) struct PortSet<P, S, F, L, B> {
    pub(super) panels: P,
    pub(super) strip: Option<S>,
    pub(super) frontlight: Option<F>,
    pub(super) sensor: Option<L>,
    pub(super) buttons: Option<B>,
}

/// The ports of a simulated board.
pub(super) type SimPorts = PortSet<SimPanels, SimStrip, SimFrontlight, SimSensor, SimButtons>;

/// The ports of a simulated board, or of one of real parts.
pub(super) enum Ports {
    Simulated(Box<SimPorts>),
    Assembled(AssembledBoard, BusExecution),
}

pub(super) struct Board {
    pub(super) ports: Ports,
    pub(super) care: Care,
    pub(super) wifi: SimWifi,
    pub(super) bench: Option<Bench>,
}

impl Board {
    pub(super) fn new(run: &RunConfig, options: SimOptions) -> Result<Board, String> {
        let spec = run.board();
        match &run.parts {
            PartsKind::Simulated => {
                let display = spec.canvas.and_then(|_| wiring::base(spec.id));
                let times = display.as_ref().map(|wiring| &wiring.panels[0].model.times);
                let care = display.as_ref().map_or(Care::NONE, |wiring| wiring.care);
                let board = sim::board(&spec, SimOptions { times, ..options });
                Ok(Board::simulated(board, care))
            }
            PartsKind::Wired(_) => {
                let wiring = run.wiring().ok_or("the wiring has mistakes")?;
                let parts = assemble(&Linux(Instant::now()), &wiring)?;
                Ok(Board {
                    ports: Ports::Assembled(parts, BusExecution::Threads),
                    care: wiring.care,
                    // The network is simulated or the host's; no other part of this simulated board is used.
                    wifi: sim::board(&spec, options).wifi,
                    bench: None,
                })
            }
        }
    }

    fn simulated(board: SimBoard, care: Care) -> Board {
        let ports = PortSet {
            panels: board.panels,
            strip: Some(board.strip),
            frontlight: board.frontlight,
            sensor: board.sensor,
            buttons: Some(board.buttons),
        };
        Board {
            ports: Ports::Simulated(Box::new(ports)),
            care,
            wifi: board.wifi,
            bench: Some(board.bench),
        }
    }
}

//! The bench of an emulated circuit: the hand at the table touches its lines, and its eyes see its glass.

use std::sync::Arc;

use device::board::BoardSpec;
use render::Bitmap;
use tokio::time::Instant;

use super::{
    Bench, BenchPanelState, SimButtons, SimFault, SimOptions, SimWifi, bench::Circuits,
    wires::Wires,
};
use crate::{
    assembly::{AssembledBoard, assemble},
    circuit::{Circuit, Flow, PanelCondition},
    parts::mcp23017::LineLevel,
    ports::Buttons,
    wiring::{ButtonsWiring, Side, Wiring},
};

/// A board on an emulated circuit, taken apart.
#[derive(Debug)]
pub struct CircuitBoard {
    /// Its parts.
    pub parts: AssembledBoard,
    /// Its network.
    pub wifi: SimWifi,
    /// The hand at the table.
    pub bench: Bench,
    /// What the hand does to the circuit; nothing happens unless it is run.
    pub hand: BenchDriver,
}

/// Puts a board together on an emulated circuit of this wiring, and switches it on.
///
/// # Errors
/// The wiring names what is not there; what, in words for people.
pub fn board_on_circuit(
    spec: &BoardSpec,
    options: SimOptions,
    wiring: &Wiring,
) -> Result<CircuitBoard, String> {
    let circuit = Circuit::new(wiring, Flow::Live);
    let wires = Arc::new(Wires::new(*spec, options.timing, options.held));
    // The finger is there before the first look at the buttons.
    let held = wires.buttons.borrow().mask(Instant::now());
    press(&circuit, wiring.buttons.as_ref(), held);
    let hand = BenchDriver {
        wires: Arc::clone(&wires),
        circuit: circuit.clone(),
        wiring: wiring.clone(),
    };
    Ok(CircuitBoard {
        parts: assemble(&circuit, wiring)?,
        wifi: SimWifi::new(&wires, options.radio),
        bench: Bench::on_circuit(wires, circuit, wiring),
        hand,
    })
}

/// Follows the hand at the table.
#[derive(Debug)]
pub struct BenchDriver {
    wires: Arc<Wires>,
    circuit: Circuit,
    wiring: Wiring,
}

impl BenchDriver {
    /// Does to the circuit what the hand does at the bench, for ever.
    pub async fn run(self) {
        let BenchDriver {
            wires,
            circuit,
            wiring,
        } = self;
        let mut buttons = SimButtons::new(Arc::clone(&wires));
        let mut light = wires.millilux.subscribe();
        let mut panels = wires.panels.subscribe();
        loop {
            tokio::select! {
                edge = buttons.edge() => press(&circuit, wiring.buttons.as_ref(), edge.down),
                changed = light.changed() => match changed {
                    Ok(()) => circuit.set_millilux(*light.borrow_and_update()),
                    Err(_) => return,
                },
                changed = panels.changed() => match changed {
                    Ok(()) => for (panel, wire) in panels.borrow_and_update().iter().enumerate() {
                        let condition = match wire.fault {
                            SimFault::None => PanelCondition::Healthy,
                            SimFault::BusyStuck => PanelCondition::StuckBusy,
                        };
                        if circuit.condition(panel) != condition {
                            circuit.set_condition(panel, condition);
                        }
                    },
                    Err(_) => return,
                },
            }
        }
    }
}

/// Puts fingers on the buttons that are down, a bit each, and on no others.
fn press(circuit: &Circuit, buttons: Option<&ButtonsWiring>, down: u8) {
    let lines = buttons.into_iter().flat_map(|buttons| &buttons.lines);
    for (button, line) in lines.enumerate() {
        let finger = match down >> button & 1 {
            0 => LineLevel::High,
            _ => LineLevel::Low,
        };
        circuit.touch(line, finger);
    }
}

impl Circuits {
    pub(super) fn new(circuit: Circuit, wiring: &Wiring) -> Circuits {
        Circuits {
            circuit,
            panels: wiring.panels.len(),
            begins: wiring
                .strip
                .as_ref()
                .map_or(Side::Left, |strip| strip.begins),
        }
    }

    pub(super) fn panels(&self) -> Vec<BenchPanelState> {
        let state = |panel: usize| {
            let (full, partial) = self.circuit.refreshes(panel);
            let condition = self.circuit.condition(panel);
            BenchPanelState {
                full,
                partial,
                busy: self.circuit.is_refreshing(panel) || condition == PanelCondition::StuckBusy,
                fault: match condition {
                    PanelCondition::StuckBusy => SimFault::BusyStuck.name(),
                    PanelCondition::Healthy
                    | PanelCondition::Silent
                    | PanelCondition::Absent
                    | PanelCondition::Slow
                    | PanelCondition::PingPong => SimFault::None.name(),
                },
            }
        };
        (0..self.panels).map(state).collect()
    }

    pub(super) fn leds(&self) -> Vec<String> {
        let mut colours = self.circuit.leds();
        match self.begins {
            Side::Left => {}
            Side::Right => colours.reverse(),
        }
        colours.iter().map(|colour| colour.hex()).collect()
    }

    pub(super) fn duties(&self) -> Vec<u16> {
        let mut duties = self.circuit.duties();
        duties.truncate(self.panels);
        duties
    }

    pub(super) fn shown(&self, panel: usize) -> Option<Arc<Bitmap>> {
        self.circuit.glass(panel).map(Arc::new)
    }
}

//! A board of emulated chips with the driver of its panels, in virtual time.

use std::time::Duration;

use board::{
    assembly::{ExpanderBus, PanelWorker},
    ports::Outcome,
    wiring::{self, Wiring},
};
use device::{board::PanelFault, refresh::Refresh};
use lab::circuit::{Circuit, Flow};
use render::Bitmap;

pub struct Rig {
    /// Size of each panel.
    size: (u16, u16),
    pub circuit: Circuit,
    pub worker: PanelWorker<Circuit>,
}

/// The wiring of a known board.
pub fn wiring(name: &str) -> Wiring {
    wiring::base(name).unwrap()
}

/// A picture that differs from those of other numbers in many pixels.
pub fn picture((width, height): (u16, u16), number: u32) -> Bitmap {
    Bitmap::from_ink(width, height, |x, y| {
        let place = u32::from(x / 6) * 7_919 + u32::from(y / 6) * 104_729 + number * 1_299_721;
        place.wrapping_mul(2_654_435_761) >> 30 == 0
    })
}

impl Rig {
    pub fn new(wiring: &Wiring) -> Rig {
        Rig::on(Circuit::new(wiring, Flow::Stepped), wiring)
    }

    /// A driver on an existing circuit.
    pub fn on(circuit: Circuit, wiring: &Wiring) -> Rig {
        let wire = ExpanderBus::open(&circuit, wiring).unwrap();
        let worker = PanelWorker::open(circuit.clone(), wire, wiring).unwrap();
        Rig {
            size: wiring.panels[0].size(),
            circuit,
            worker,
        }
    }

    pub fn show(&mut self, panel: usize, number: u32, refresh: Refresh) -> Result<(), PanelFault> {
        let picture = picture(self.size, number);
        self.worker.show(panel, &picture, refresh)
    }

    /// Shows a picture on each panel, in parallel. Returns the outcomes in the order of their ends.
    pub fn show_all(&mut self, first: u32, refresh: Refresh) -> Vec<(usize, Outcome)> {
        for panel in 0..self.worker.count() {
            self.show(panel, first + panel as u32, refresh).unwrap();
        }
        self.run()
    }

    /// Advances the time until the driver reports the last panel as complete; returns the moment before that.
    pub fn run_until_shown(&mut self) -> Duration {
        let mut shown = 0;
        loop {
            let now = self.circuit.now();
            let (ended, wake) = self.worker.poll();
            shown += ended.len();
            if shown == self.worker.count() {
                return now;
            }
            let edge = self.circuit.next_change().filter(|_| wake.on_edge);
            let next = wake.at.into_iter().chain(edge).min().unwrap();
            self.circuit.advance(next);
        }
    }

    /// Advances the time until the driver is idle.
    pub fn run(&mut self) -> Vec<(usize, Outcome)> {
        self.run_until(Duration::MAX)
    }

    /// Advances the time until a moment, or until the driver is idle.
    pub fn run_until(&mut self, end: Duration) -> Vec<(usize, Outcome)> {
        let mut outcomes = Vec::new();
        loop {
            let (ended, wake) = self.worker.poll();
            outcomes.extend(ended);
            let Some(mut at) = wake.at else {
                return outcomes;
            };
            if wake.on_edge
                && let Some(edge) = self.circuit.next_change()
            {
                at = at.min(edge);
            }
            if at >= end {
                self.circuit.advance(end);
                return outcomes;
            }
            self.circuit.advance(at);
        }
    }

    pub fn assert_shows(&self, panel: usize, number: u32) {
        let glass = self.circuit.glass(panel).unwrap();
        assert!(
            glass == picture(self.size, number),
            "panel {panel} does not show picture {number}"
        );
    }

    pub fn assert_no_violations(&self) {
        assert_eq!(self.circuit.violations(), Vec::<String>::new());
    }
}

//! The simulated parts: each implements one port on the shared wires.

use std::{sync::Arc, time::Duration};

use device::{board::PanelFault, input::Sensed, lights::Rgb, refresh::Refresh};
use render::Bitmap;
use tokio::{sync::watch, time::Instant};

use super::{
    PanelTiming,
    wires::{ButtonContacts, PanelWire, Wires},
};
use crate::{
    moments::until,
    ports::{BUSY_LIMIT, ButtonEdge, Buttons, Frontlight, LedStrip, LightSensor, Outcome, Panels},
};

#[derive(Debug)]
pub struct SimPanels {
    wires: Arc<Wires>,
    changes: watch::Receiver<Vec<PanelWire>>,
    refreshing: Vec<Option<Refresh>>,
}

impl SimPanels {
    pub(super) fn new(wires: Arc<Wires>) -> SimPanels {
        SimPanels {
            changes: wires.panels.subscribe(),
            refreshing: vec![None; wires.spec.panel_count()],
            wires,
        }
    }

    fn duration(&self, refresh: Refresh) -> Duration {
        match (self.wires.timing, refresh) {
            (PanelTiming::Instant, Refresh::Full | Refresh::Partial) => Duration::ZERO,
            (PanelTiming::Real, Refresh::Full) => self.wires.times.full,
            (PanelTiming::Real, Refresh::Partial) => self.wires.times.whole_partial(),
        }
    }

    /// Panels that have become idle, and when the next one will.
    fn poll(&mut self, now: Instant) -> (Vec<usize>, Option<Instant>) {
        let mut idle = Vec::new();
        let mut next: Option<Instant> = None;
        let wires = self.changes.borrow_and_update();
        for (panel, wire) in wires.iter().enumerate() {
            if self.refreshing[panel].is_none() {
                continue;
            }
            if !wire.busy(now) {
                idle.push(panel);
            } else if let Some(at) = wire.idle_at() {
                next = Some(next.map_or(at, |earlier| earlier.min(at)));
            }
        }
        (idle, next)
    }
}

impl Panels for SimPanels {
    fn count(&self) -> usize {
        self.wires.spec.panel_count()
    }

    fn refresh_limit(&self) -> Duration {
        BUSY_LIMIT.max(2 * self.wires.times.full)
    }

    async fn start(
        &mut self,
        panel: usize,
        frame: &Arc<Bitmap>,
        refresh: Refresh,
    ) -> Result<(), PanelFault> {
        let now = Instant::now();
        let done = now + self.duration(refresh);
        let mut outcome = Err(PanelFault::Bus);
        self.wires.panels.send_modify(|wires| {
            let Some(wire) = wires.get_mut(panel) else {
                return;
            };
            let is_idle = wire.idle_at().is_none_or(|at| at <= now);
            if self.refreshing[panel].is_some() || !is_idle {
                outcome = Err(PanelFault::StartedBusy);
                return;
            }
            wire.start(Arc::clone(frame), done);
            match refresh {
                Refresh::Full => wire.full += 1,
                Refresh::Partial => wire.partial += 1,
            }
            outcome = Ok(());
        });
        if outcome.is_ok() {
            self.refreshing[panel] = Some(refresh);
        }
        outcome
    }

    async fn idle(&mut self) -> Vec<(usize, Outcome)> {
        loop {
            let (idle, next) = self.poll(Instant::now());
            if !idle.is_empty() {
                return idle
                    .into_iter()
                    .filter_map(|panel| Some((panel, Ok(self.refreshing[panel].take()?))))
                    .collect();
            }
            tokio::select! {
                () = until(next) => {}
                _ = self.changes.changed() => {}
            }
        }
    }
}

/// Simulated LED strip.
#[derive(Debug)]
pub struct SimStrip {
    wires: Arc<Wires>,
}

impl SimStrip {
    pub(super) fn new(wires: Arc<Wires>) -> SimStrip {
        SimStrip { wires }
    }
}

impl LedStrip for SimStrip {
    async fn show(&mut self, colours: &[Rgb]) {
        self.wires.strip.send_replace(colours.to_vec());
    }
}

#[derive(Debug)]
pub struct SimFrontlight {
    wires: Arc<Wires>,
}

impl SimFrontlight {
    pub(super) fn new(wires: Arc<Wires>) -> SimFrontlight {
        SimFrontlight { wires }
    }
}

impl Frontlight for SimFrontlight {
    async fn set(&mut self, duties: &[u16]) {
        self.wires.frontlight.send_replace(duties.to_vec());
    }
}

/// Simulated light sensor.
#[derive(Debug)]
pub struct SimSensor {
    wires: Arc<Wires>,
}

impl SimSensor {
    pub(super) fn new(wires: Arc<Wires>) -> SimSensor {
        SimSensor { wires }
    }
}

impl LightSensor for SimSensor {
    async fn read(&mut self) -> Sensed {
        match *self.wires.millilux.borrow() {
            Some(millilux) => Sensed::Millilux(millilux),
            None => Sensed::Absent,
        }
    }
}

#[derive(Debug)]
pub struct SimButtons {
    wires: Arc<Wires>,
    contacts: watch::Receiver<ButtonContacts>,
    /// Number of the next edge.
    next: u64,
}

impl SimButtons {
    pub(super) fn new(wires: Arc<Wires>) -> SimButtons {
        SimButtons {
            contacts: wires.buttons.subscribe(),
            wires,
            next: 0,
        }
    }
}

impl Buttons for SimButtons {
    async fn edge(&mut self) -> ButtonEdge {
        loop {
            self.wires
                .buttons
                .send_if_modified(|contacts| contacts.release_held(Instant::now()));
            let (edge, held_until) = {
                let contacts = self.contacts.borrow_and_update();
                (contacts.edge(self.next), contacts.held_until())
            };
            if let Some((edge, next)) = edge {
                self.next = next;
                return edge;
            }
            tokio::select! {
                () = until(held_until) => {}
                _ = self.contacts.changed() => {}
            }
        }
    }
}

//! Drives the panels on their bus: polls each panel, resets them, and delays the starts of refreshes.
//!
//! It never waits by itself. Each poll returns when the next one is needed.

use std::{sync::Arc, time::Duration};

use render::Bitmap;

use device::{board::PanelFault, refresh::Refresh};

use super::{ExpanderBus, Hardware, InputLine, OutputLine};
use crate::{
    parts::{
        epaper::{PanelBus, PanelDriver, PanelImage, PollResult, sequence::RESET_PULSE},
        mcp23017::LineLevel,
    },
    ports::Outcome,
    wiring::{Pull, Wiring, WiringLine},
};

/// Poll interval of busy lines on an expander.
const EXPANDER_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Poll interval of busy lines with edge detection, in case an edge was lost.
const SAFETY_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The panels of a board on their bus.
pub struct PanelWorker<H: Hardware> {
    hardware: H,
    wire: Option<ExpanderBus<H>>,
    bus: PanelBus<H::Spi, OutputLine<H>>,
    places: Vec<PanelPlace<H>>,
    resets: Vec<ResetLine<H>>,
    /// The supply line of the panels, which is driven until it is dropped.
    _power: Vec<OutputLine<H>>,
    /// When the last refresh started.
    started: Option<Duration>,
    /// The panels must be cleared before the end.
    must_clear: bool,
    /// Its only panel was sent to deep sleep.
    is_asleep: bool,
}

struct PanelPlace<H: Hardware> {
    panel: PanelDriver<OutputLine<H>, InputLine<H>>,
    /// Index of its reset line.
    reset: usize,
    stagger: Duration,
    health: PanelHealth,
    /// A frame that waits for the end of a reset.
    pending: Option<(Arc<PanelImage>, Refresh)>,
    /// It waits for its busy line.
    is_waiting: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PanelHealth {
    Good,
    /// It needs a reset, because it has failed or was never reset.
    NeedsReset,
}

struct ResetLine<H: Hardware> {
    output: OutputLine<H>,
    phase: ResetPhase,
}

/// Progress of a hardware reset of the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResetPhase {
    /// No reset is under way.
    Idle,
    /// It waits until its panels are idle.
    Waiting,
    /// The index of the current level, and when the next one is due.
    Pulse(usize, Duration),
}

const PULSE: [LineLevel; 3] = [LineLevel::High, LineLevel::Low, LineLevel::High];

/// When a worker needs the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wake {
    /// At this moment at the latest, if any.
    pub at: Option<Duration>,
    /// Also at an edge of a busy line.
    pub on_edge: bool,
}

impl Wake {
    fn no_later_than(&mut self, moment: Duration) {
        self.at = Some(self.at.map_or(moment, |at| at.min(moment)));
    }
}

impl<H: Hardware> PanelWorker<H> {
    /// Opens the bus and the lines of the panels. The first polls reset the panels.
    ///
    /// # Errors
    /// Something cannot be opened; what and why, as a text for people.
    pub fn open(
        hardware: H,
        wire: Option<ExpanderBus<H>>,
        wiring: &Wiring,
    ) -> Result<PanelWorker<H>, String> {
        let high =
            |line: &WiringLine| OutputLine::open(&hardware, wire.as_ref(), line, LineLevel::High);
        let power = wiring
            .spi
            .power
            .iter()
            .map(high)
            .collect::<Result<_, _>>()?;
        // No panel is selected before all lines have their levels.
        let mut selects = Vec::new();
        for panel in &wiring.panels {
            selects.push(high(&panel.select)?);
        }
        let mut lines: Vec<&WiringLine> = Vec::new();
        let mut places = Vec::new();
        for (panel, select) in wiring.panels.iter().zip(selects) {
            let known = lines.iter().position(|line| **line == panel.reset);
            let reset = known.unwrap_or(lines.len());
            if known.is_none() {
                lines.push(&panel.reset);
            }
            // A line that nothing drives reads as idle.
            let bias = match panel.model.busy() {
                LineLevel::High => Pull::Down,
                LineLevel::Low => Pull::Up,
            };
            let busy = InputLine::open(&hardware, wire.as_ref(), &panel.busy, bias)?;
            places.push(PanelPlace {
                panel: PanelDriver::new(panel.setup(), select, busy),
                reset,
                stagger: panel.stagger,
                health: PanelHealth::NeedsReset,
                pending: None,
                is_waiting: false,
            });
        }
        let command = high(&wiring.spi.command)?;
        let spi = hardware
            .spi(&wiring.spi.device, wiring.spi.hz)
            .map_err(|error| format!("{}: {error}", wiring.spi.device))?;
        let mut resets = Vec::new();
        for line in lines {
            resets.push(ResetLine {
                output: high(line)?,
                phase: ResetPhase::Idle,
            });
        }
        let mut worker = PanelWorker {
            hardware,
            wire,
            bus: PanelBus::new(spi, command),
            places,
            resets,
            _power: power,
            started: None,
            must_clear: wiring.clear_at_stop,
            is_asleep: false,
        };
        // A refresh of an earlier run ends first.
        for place in &mut worker.places {
            place.panel.wait_until_idle();
        }
        for reset in &mut worker.resets {
            reset.phase = ResetPhase::Waiting;
        }
        Ok(worker)
    }

    pub fn hardware(&self) -> &H {
        &self.hardware
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }

    pub fn is_refreshing(&self) -> bool {
        self.places
            .iter()
            .any(|place| place.pending.is_some() || place.panel.is_refreshing())
    }

    /// Accepts a frame for a panel. A panel that has failed is reset first, and then gets a full refresh.
    ///
    /// # Errors
    /// There is no such panel, or it refreshes.
    pub fn show(
        &mut self,
        panel: usize,
        bitmap: &Bitmap,
        refresh: Refresh,
    ) -> Result<(), PanelFault> {
        let place = self.places.get_mut(panel).ok_or(PanelFault::Bus)?;
        if place.pending.is_some() || place.panel.is_refreshing() {
            return Err(PanelFault::StartedBusy);
        }
        let setup = place.panel.setup();
        let frame = Arc::new(PanelImage::new(bitmap, setup.model, setup.rotation));
        place.pending = Some((frame, refresh));
        if place.health == PanelHealth::NeedsReset {
            let reset = place.reset;
            self.start_reset(reset);
        }
        Ok(())
    }

    /// Does what is due; returns the outcomes of refreshes, and when the next poll is needed.
    pub fn poll(&mut self) -> (Vec<(usize, Outcome)>, Wake) {
        if let Some(wire) = &self.wire {
            wire.clear_cache();
        }
        let (mut outcomes, mut wake) = (Vec::new(), Wake::default());
        for reset in 0..self.resets.len() {
            self.poll_reset(reset, &mut wake);
        }
        for index in 0..self.places.len() {
            if let Some(outcome) = self.poll_panel(index, &mut wake) {
                outcomes.push((index, outcome));
            }
        }
        if (0..self.resets.len()).any(|reset| self.can_reset(reset)) {
            wake.no_later_than(self.hardware.now());
        }
        (outcomes, wake)
    }

    /// Waits until the busy signal of a panel ends; forever if no panel waits for one with edge detection.
    pub async fn edge(&mut self) {
        let waiting = self
            .places
            .iter_mut()
            .filter(|place| place.is_waiting)
            .map(|place| {
                let busy = place.panel.setup().model.busy();
                Box::pin(place.panel.busy_line().leave(busy))
            });
        let waiting: Vec<_> = waiting.collect();
        if waiting.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(waiting).await;
    }

    /// Prepares the end of the program; returns whether it may end now.
    ///
    /// Clears the panels if the wiring says so.
    /// A panel that is alone goes to deep sleep. Those of a board of several keep their registers, as its makers do.
    pub fn can_end(&mut self) -> bool {
        if self.is_refreshing() {
            return false;
        }
        if std::mem::take(&mut self.must_clear) {
            for panel in 0..self.places.len() {
                let place = &self.places[panel];
                if place.health == PanelHealth::Good {
                    let setup = place.panel.setup();
                    let (width, height) = setup.rotation.size(setup.model);
                    // Another panel may have failed meanwhile; the end does not wait for it.
                    let _ = self.show(panel, &Bitmap::paper(width, height), Refresh::Full);
                }
            }
            return false;
        }
        let [place] = self.places.as_mut_slice() else {
            return true;
        };
        if place.panel.is_preparing() {
            place.panel.reset_for_other();
        }
        if place.panel.is_working() {
            return false;
        }
        // A panel that has failed may be powered, which only a reset ends.
        if place.health == PanelHealth::NeedsReset {
            let reset = place.reset;
            self.start_reset(reset);
            return false;
        }
        if !self.is_asleep {
            self.is_asleep = true;
            place.panel.sleep();
            return false;
        }
        true
    }

    fn start_reset(&mut self, reset: usize) {
        if self.resets[reset].phase != ResetPhase::Idle {
            return;
        }
        self.resets[reset].phase = ResetPhase::Waiting;
        for place in self.on_line(reset) {
            // A failed refresh and a wait end first.
            if place.panel.is_preparing() {
                place.panel.reset_for_other();
            }
        }
    }

    fn on_line(&mut self, reset: usize) -> impl Iterator<Item = &mut PanelPlace<H>> {
        self.places
            .iter_mut()
            .filter(move |place| place.reset == reset)
    }

    /// Returns whether a reset waits and its panels are idle.
    fn can_reset(&self, reset: usize) -> bool {
        self.resets[reset].phase == ResetPhase::Waiting
            && !self
                .places
                .iter()
                .any(|place| place.reset == reset && place.panel.is_working())
    }

    fn poll_reset(&mut self, reset: usize, wake: &mut Wake) {
        let now = self.hardware.now();
        match self.resets[reset].phase {
            ResetPhase::Idle => {}
            ResetPhase::Waiting => {
                if self.can_reset(reset) {
                    self.pulse(reset, 0, wake);
                }
            }
            ResetPhase::Pulse(_, until) if now < until => wake.no_later_than(until),
            ResetPhase::Pulse(level, _) if level + 1 < PULSE.len() => {
                self.pulse(reset, level + 1, wake)
            }
            ResetPhase::Pulse(..) => {
                self.resets[reset].phase = ResetPhase::Idle;
                for place in self.on_line(reset) {
                    match place.health {
                        PanelHealth::Good => place.panel.reset_for_other(),
                        PanelHealth::NeedsReset => place.panel.reset(),
                    }
                    place.health = PanelHealth::Good;
                }
            }
        }
    }

    fn pulse(&mut self, reset: usize, level: usize, wake: &mut Wake) {
        let line = &mut self.resets[reset];
        // If the line fails, so will its panels.
        if line.output.set(PULSE[level]).is_err() {
            tracing::debug!(reset, "cannot set a reset line");
        }
        let until = self.hardware.now() + RESET_PULSE;
        self.resets[reset].phase = ResetPhase::Pulse(level, until);
        wake.no_later_than(until);
    }

    /// Polls a panel until it waits for something.
    fn poll_panel(&mut self, index: usize, wake: &mut Wake) -> Option<Outcome> {
        let place = &mut self.places[index];
        match self.resets[place.reset].phase {
            ResetPhase::Idle => {
                if let Some((frame, refresh)) = place.pending.take()
                    && let Err(fault) = place.panel.show(frame, refresh)
                {
                    return Some(Err(fault));
                }
            }
            // Refreshes on the line end first. The reset discards preparations.
            ResetPhase::Waiting => {
                if place.panel.is_preparing() {
                    place.panel.reset_for_other();
                }
            }
            ResetPhase::Pulse(..) => return None,
        }
        // Preparations for the next frame wait until no panel refreshes.
        if self.places[index].panel.is_preparing() && self.is_refreshing() {
            return None;
        }
        loop {
            let now = self.hardware.now();
            let place = &mut self.places[index];
            place.is_waiting = false;
            if place.panel.is_about_to_refresh() {
                if let Some(earliest) = self.started.map(|started| started + place.stagger)
                    && now < earliest
                {
                    wake.no_later_than(earliest);
                    return None;
                }
                self.started = Some(now);
            }
            let was_refreshing = place.panel.is_refreshing();
            match place.panel.poll(&mut self.bus, now) {
                PollResult::More => {}
                PollResult::At(moment) => {
                    wake.no_later_than(moment);
                    return None;
                }
                PollResult::Idle(limit) => {
                    let interval = if place.panel.busy_line().has_edges() {
                        SAFETY_POLL_INTERVAL
                    } else {
                        EXPANDER_POLL_INTERVAL
                    };
                    place.is_waiting = true;
                    wake.on_edge = true;
                    wake.no_later_than(limit.min(now + interval));
                    return None;
                }
                PollResult::Rest => return None,
                PollResult::Shown(refresh) => {
                    // The preparations that have waited can start.
                    wake.no_later_than(now);
                    return Some(Ok(refresh));
                }
                PollResult::Failed(fault) => {
                    self.failed(index, wake);
                    // A panel that is alone may be powered, which only a reset ends.
                    let is_powered = matches!(fault, PanelFault::BusyStuck | PanelFault::Bus);
                    if was_refreshing && is_powered && self.places.len() == 1 {
                        let reset = self.places[index].reset;
                        self.start_reset(reset);
                    }
                    return was_refreshing.then_some(Err(fault));
                }
            }
        }
    }

    fn failed(&mut self, index: usize, wake: &mut Wake) {
        wake.no_later_than(self.hardware.now());
        // The cause may be a loss of power, which the expanders had too.
        if let Some(wire) = &self.wire {
            wire.forget();
        }
        self.places[index].health = PanelHealth::NeedsReset;
    }
}

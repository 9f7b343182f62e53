//! Serves the bus of the panels: gives each panel its turns, pulls reset lines, keeps the starts apart.
//!
//! It never waits by itself; it says when it wants to be asked again, and on which edges.

use std::{sync::Arc, time::Duration};

use render::Bitmap;

use device::{board::PanelFault, refresh::Refresh};

use super::{ExpanderBus, Hardware, InputLine, OutputLine};
use crate::{
    parts::{
        mcp23017::LineLevel,
        ssd1680::{PanelBus, PanelDriver, PanelFrame, PollResult, sequence::RESET_PULSE},
    },
    ports::Outcome,
    wiring::{Pull, Wiring, WiringLine},
};

/// Time between two looks at the busy lines of an expander.
const EXPANDER_LOOK: Duration = Duration::from_millis(10);

/// Time between two looks at busy lines whose edges are waited for, in case one was lost.
const SAFETY_LOOK: Duration = Duration::from_millis(250);

/// The panels of a board on their bus.
pub struct PanelWorker<H: Hardware> {
    hardware: H,
    wire: Option<ExpanderBus<H>>,
    bus: PanelBus<H::Spi, OutputLine<H>>,
    places: Vec<PanelPlace<H>>,
    resets: Vec<ResetLine<H>>,
    /// The supply of the panels, which nobody drives once it is dropped.
    _power: Vec<OutputLine<H>>,
    /// When the ink of a panel began to move last.
    started: Option<Duration>,
}

struct PanelPlace<H: Hardware> {
    panel: PanelDriver<OutputLine<H>, InputLine<H>>,
    /// Which of the reset lines.
    reset: usize,
    stagger: Duration,
    health: Health,
    /// A picture that waits until the reset line is done.
    pending: Option<(Arc<PanelFrame>, Refresh)>,
    /// It waits for its busy line.
    is_waiting: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    /// It does what it is told.
    Good,
    /// It was not reset since it failed, or since the start.
    Reset,
}

struct ResetLine<H: Hardware> {
    output: OutputLine<H>,
    phase: ResetPhase,
}

/// Progress of a hardware reset of the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResetPhase {
    Rest,
    /// It waits until its panels are idle.
    Settling,
    /// Its levels so far, and when the next one comes.
    Pulse(usize, Duration),
}

/// Levels of a reset.
const PULSE: [LineLevel; 3] = [LineLevel::High, LineLevel::Low, LineLevel::High];

/// When a worker wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wake {
    /// At this moment at the latest; never by itself if none.
    pub at: Option<Duration>,
    /// Also when one of the busy lines with edges falls.
    pub on_edge: bool,
}

impl Wake {
    fn no_later_than(&mut self, moment: Duration) {
        self.at = Some(self.at.map_or(moment, |at| at.min(moment)));
    }
}

impl<H: Hardware> PanelWorker<H> {
    /// Opens the bus and the lines of the panels, and resets them with the first turns.
    ///
    /// # Errors
    /// Something is not to be had; what and why, in words for people.
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
        // Nobody listens before all lines are what they should be.
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
            let busy = InputLine::open(&hardware, wire.as_ref(), &panel.busy, Pull::Down)?;
            places.push(PanelPlace {
                panel: PanelDriver::new(panel.setup.clone(), select, busy),
                reset,
                stagger: panel.stagger,
                health: Health::Reset,
                pending: None,
                is_waiting: false,
            });
        }
        let mut resets = Vec::new();
        for line in lines {
            resets.push(ResetLine {
                output: high(line)?,
                phase: ResetPhase::Rest,
            });
        }
        let command = high(&wiring.spi.command)?;
        let spi = hardware
            .spi(&wiring.spi.device, wiring.spi.hz)
            .map_err(|error| format!("{}: {error}", wiring.spi.device))?;
        let mut worker = PanelWorker {
            hardware,
            wire,
            bus: PanelBus::new(spi, command),
            places,
            resets,
            _power: power,
            started: None,
        };
        // A refresh that an earlier run began ends first.
        for place in &mut worker.places {
            place.panel.settle();
        }
        for reset in &mut worker.resets {
            reset.phase = ResetPhase::Settling;
        }
        Ok(worker)
    }

    /// What it runs on.
    pub fn hardware(&self) -> &H {
        &self.hardware
    }

    /// Number of panels.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Tells whether the ink of any panel moves, or is about to.
    pub fn is_refreshing(&self) -> bool {
        self.places
            .iter()
            .any(|place| place.pending.is_some() || place.panel.is_refreshing())
    }

    /// Takes a picture for a panel; a panel that failed is reset first, and then refreshed in full.
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
        let frame = Arc::new(PanelFrame::new(bitmap, setup.model, setup.rotation));
        place.pending = Some((frame, refresh));
        if place.health == Health::Reset {
            let reset = place.reset;
            self.begin_reset(reset);
        }
        Ok(())
    }

    /// Does what there is to do now; tells what became of refreshes, and when to come back.
    pub fn turn(&mut self) -> (Vec<(usize, Outcome)>, Wake) {
        if let Some(wire) = &self.wire {
            wire.begin_round();
        }
        let (mut outcomes, mut wake) = (Vec::new(), Wake::default());
        for reset in 0..self.resets.len() {
            self.turn_reset(reset, &mut wake);
        }
        for index in 0..self.places.len() {
            if let Some(outcome) = self.turn_panel(index, &mut wake) {
                outcomes.push((index, outcome));
            }
        }
        if (0..self.resets.len()).any(|reset| self.is_settled(reset)) {
            wake.no_later_than(self.hardware.now());
        }
        (outcomes, wake)
    }

    /// Waits until a busy line with edges falls; for ever if no panel is waited for.
    pub async fn edge(&mut self) {
        let waiting = self
            .places
            .iter_mut()
            .filter(|place| place.is_waiting)
            .map(|place| Box::pin(place.panel.busy_line().leave(LineLevel::High)));
        let waiting: Vec<_> = waiting.collect();
        if waiting.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(waiting).await;
    }

    fn begin_reset(&mut self, reset: usize) {
        if self.resets[reset].phase != ResetPhase::Rest {
            return;
        }
        self.resets[reset].phase = ResetPhase::Settling;
        for place in self.on_line(reset) {
            if !place.panel.is_refreshing() {
                place.panel.disturbed();
            }
        }
    }

    fn on_line(&mut self, reset: usize) -> impl Iterator<Item = &mut PanelPlace<H>> {
        self.places
            .iter_mut()
            .filter(move |place| place.reset == reset)
    }

    fn is_settled(&self, reset: usize) -> bool {
        self.resets[reset].phase == ResetPhase::Settling
            && !self
                .places
                .iter()
                .any(|place| place.reset == reset && place.panel.is_working())
    }

    fn turn_reset(&mut self, reset: usize, wake: &mut Wake) {
        let now = self.hardware.now();
        match self.resets[reset].phase {
            ResetPhase::Rest => {}
            ResetPhase::Settling => {
                if self.is_settled(reset) {
                    self.pulse(reset, 0, wake);
                }
            }
            ResetPhase::Pulse(_, until) if now < until => wake.no_later_than(until),
            ResetPhase::Pulse(level, _) if level + 1 < PULSE.len() => {
                self.pulse(reset, level + 1, wake)
            }
            ResetPhase::Pulse(..) => {
                self.resets[reset].phase = ResetPhase::Rest;
                for place in self.on_line(reset) {
                    match place.health {
                        Health::Good => place.panel.disturbed(),
                        Health::Reset => place.panel.woken(),
                    }
                    place.health = Health::Good;
                }
            }
        }
    }

    fn pulse(&mut self, reset: usize, level: usize, wake: &mut Wake) {
        let line = &mut self.resets[reset];
        // A line that does not answer shows when its panels do not.
        if line.output.set(PULSE[level]).is_err() {
            tracing::debug!(reset, "reset line does not answer");
        }
        let until = self.hardware.now() + RESET_PULSE;
        self.resets[reset].phase = ResetPhase::Pulse(level, until);
        wake.no_later_than(until);
    }

    /// Gives a panel turns until it waits for something.
    fn turn_panel(&mut self, index: usize, wake: &mut Wake) -> Option<Outcome> {
        let place = &mut self.places[index];
        match self.resets[place.reset].phase {
            ResetPhase::Rest => {
                if let Some((frame, refresh)) = place.pending.take()
                    && let Err(fault) = place.panel.show(frame, refresh)
                {
                    return Some(Err(fault));
                }
            }
            // Refreshes on the line end first; what is prepared would be lost.
            ResetPhase::Settling => {
                if place.panel.is_preparing() {
                    place.panel.disturbed();
                }
            }
            ResetPhase::Pulse(..) => return None,
        }
        // What has time until the next picture makes way for pictures.
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
            match place.panel.turn(&mut self.bus, now) {
                PollResult::More => {}
                PollResult::At(moment) => {
                    wake.no_later_than(moment);
                    return None;
                }
                PollResult::Idle(limit) => {
                    let look = match place.panel.busy_line().has_edges() {
                        true => SAFETY_LOOK,
                        false => EXPANDER_LOOK,
                    };
                    place.is_waiting = true;
                    wake.on_edge = true;
                    wake.no_later_than(limit.min(now + look));
                    return None;
                }
                PollResult::Rest => return None,
                PollResult::Shown(refresh) => {
                    // Then come the preparations for the next one, of this panel and of those that made way.
                    wake.no_later_than(now);
                    return Some(Ok(refresh));
                }
                PollResult::Failed(fault) => {
                    self.failed(index, wake);
                    return was_refreshing.then_some(Err(fault));
                }
            }
        }
    }

    fn failed(&mut self, index: usize, wake: &mut Wake) {
        wake.no_later_than(self.hardware.now());
        // Whatever is behind the failure may have lost its power meanwhile.
        if let Some(wire) = &self.wire {
            wire.forget();
        }
        self.places[index].health = Health::Reset;
    }
}

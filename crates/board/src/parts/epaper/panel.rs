//! The driver of one panel: sends its sequences, watches its busy line, and knows the picture it shows.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use embedded_hal::{
    digital::{InputPin, OutputPin},
    spi::SpiBus,
};

use device::{board::PanelFault, refresh::Refresh};

use super::{
    PanelBus, PanelImage, Setup,
    sequence::{self, PanelStep, REFRESH_MIN, RISE_INTERVAL, RISE_LIMIT},
};
use crate::parts::mcp23017::LineLevel;

/// When a panel must be polled next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollResult {
    /// At once.
    More,
    /// At this moment, or when its busy signal ends.
    Idle(Duration),
    /// At this moment.
    At(Duration),
    /// The refresh has ended, and the panel shows the picture.
    Shown(Refresh),
    /// It has failed and needs a hardware reset.
    Failed(PanelFault),
    /// Nothing to do.
    Rest,
}

/// The driver of one panel. Times are durations since a fixed origin.
#[derive(Debug)]
pub struct PanelDriver<C, B> {
    setup: Setup,
    select: C,
    busy: B,
    steps: VecDeque<PanelStep>,
    wait: Wait,
    purpose: SequencePurpose,
    /// The picture on the panel; `None` if it is unknown.
    shown: Option<Arc<PanelImage>>,
}

/// What the queued steps are for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SequencePurpose {
    /// None, or waiting only.
    None,
    /// Preparing the next partial refresh.
    Preparing,
    /// The next partial refresh is prepared.
    Prepared,
    /// The refresh that is under way.
    Refreshing(Arc<PanelImage>, Refresh),
}

/// What the next step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    No,
    /// A moment.
    Until(Duration),
    /// The panel to be idle, until this moment.
    Idle(Duration),
    /// The panel to be busy, until the first moment; has the next look for it.
    Busy(Duration, Duration),
    /// The start of the busy signal after the start of a refresh at this moment, and the next look for it.
    Rise(Duration, Duration),
    /// The end of the busy signal after the start of a refresh at this moment.
    Fall(Duration),
}

impl<C: OutputPin, B: InputPin> PanelDriver<C, B> {
    /// A panel in an unknown state. It needs a hardware reset first.
    pub fn new(setup: Setup, select: C, busy: B) -> PanelDriver<C, B> {
        PanelDriver {
            setup,
            select,
            busy,
            steps: VecDeque::new(),
            wait: Wait::No,
            purpose: SequencePurpose::None,
            shown: None,
        }
    }

    /// How it is mounted.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns whether it has steps or waits.
    pub fn is_working(&self) -> bool {
        self.wait != Wait::No || !self.steps.is_empty()
    }

    /// Returns whether a refresh is under way or queued.
    pub fn is_refreshing(&self) -> bool {
        matches!(self.purpose, SequencePurpose::Refreshing(..))
    }

    /// Returns whether it only prepares its next refresh.
    pub fn is_preparing(&self) -> bool {
        self.purpose == SequencePurpose::Preparing
    }

    /// Returns whether its next step starts a refresh.
    pub fn is_about_to_refresh(&self) -> bool {
        self.wait == Wait::No && matches!(self.steps.front(), Some(PanelStep::Activate(..)))
    }

    pub fn busy_line(&mut self) -> &mut B {
        &mut self.busy
    }

    /// Returns whether its busy line says so.
    ///
    /// # Errors
    /// The line cannot be read.
    pub fn is_busy(&mut self) -> Result<bool, PanelFault> {
        let is_busy = match self.setup.model.busy() {
            LineLevel::High => self.busy.is_high(),
            LineLevel::Low => self.busy.is_low(),
        };
        is_busy.map_err(|_| PanelFault::Bus)
    }

    /// Waits until it is idle, because a reset must not interrupt a refresh of an earlier run.
    pub fn wait_until_idle(&mut self) {
        let limit = self.setup.model.earlier_refresh_limit();
        self.start(SequencePurpose::None, [PanelStep::Idle(limit)]);
    }

    /// Starts deep sleep. Only a reset ends it.
    pub fn sleep(&mut self) {
        self.start(SequencePurpose::None, sequence::sleep(&self.setup));
    }

    /// Starts again after a reset; the picture on the panel is unknown.
    pub fn reset(&mut self) {
        self.shown = None;
        self.start(
            SequencePurpose::None,
            [PanelStep::Idle(sequence::RESET_LIMIT)],
        );
    }

    /// Starts again after a reset that was for another panel. This panel has lost its registers, but shows its picture.
    pub fn reset_for_other(&mut self) {
        self.start(SequencePurpose::None, []);
    }

    /// Queues a refresh. It is a full one if the picture on the panel is unknown.
    ///
    /// # Errors
    /// A refresh is under way.
    pub fn show(&mut self, frame: Arc<PanelImage>, refresh: Refresh) -> Result<(), PanelFault> {
        let (refresh, shown) = match (self.setup.model.refresh(refresh), &self.shown) {
            (Refresh::Partial, Some(shown)) => (Refresh::Partial, Some(shown)),
            (Refresh::Full | Refresh::Partial, _) => (Refresh::Full, None),
        };
        match (&self.purpose, shown) {
            (SequencePurpose::Refreshing(..), _) => return Err(PanelFault::StartedBusy),
            // The preparation continues.
            (SequencePurpose::Preparing | SequencePurpose::Prepared, Some(_)) => {}
            (SequencePurpose::Preparing | SequencePurpose::Prepared, None) => self.steps.clear(),
            (SequencePurpose::None, Some(shown)) => {
                self.steps.extend(sequence::prepare(&self.setup, shown));
            }
            (SequencePurpose::None, None) => {}
        }
        self.steps.extend(match shown {
            Some(shown) => sequence::partial(&self.setup, shown, &frame),
            None => sequence::full(&self.setup, &frame),
        });
        self.purpose = SequencePurpose::Refreshing(frame, refresh);
        Ok(())
    }

    /// Does one step.
    pub fn poll<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut PanelBus<S, D>,
        now: Duration,
    ) -> PollResult {
        match self.try_poll(bus, now) {
            Ok(result) => result,
            Err(fault) => {
                self.shown = None;
                let steps = sequence::after_failure(&self.setup, fault);
                self.start(SequencePurpose::None, steps);
                PollResult::Failed(fault)
            }
        }
    }

    fn start(&mut self, purpose: SequencePurpose, steps: impl Into<VecDeque<PanelStep>>) {
        self.purpose = purpose;
        self.steps = steps.into();
        self.wait = Wait::No;
    }

    fn try_poll<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut PanelBus<S, D>,
        now: Duration,
    ) -> Result<PollResult, PanelFault> {
        match self.wait {
            Wait::No => self.step(bus, now),
            Wait::Until(moment) if now < moment => Ok(PollResult::At(moment)),
            Wait::Until(_) => self.end_wait(),
            Wait::Idle(limit) => match self.is_busy()? {
                false => self.end_wait(),
                true if now >= limit => Err(PanelFault::BusyStuck),
                true => Ok(PollResult::Idle(limit)),
            },
            Wait::Busy(_, look) | Wait::Rise(_, look) if now < look => Ok(PollResult::At(look)),
            Wait::Busy(limit, look) => match self.is_busy()? {
                true => self.end_wait(),
                false if now >= limit => Err(PanelFault::NotRefreshed),
                false => {
                    self.wait = Wait::Busy(limit, look + RISE_INTERVAL);
                    Ok(PollResult::More)
                }
            },
            Wait::Rise(since, look) => match self.is_busy()? {
                true => {
                    self.wait = Wait::Fall(since);
                    Ok(PollResult::Idle(since + self.setup.model.busy_limit()))
                }
                false if now >= since + RISE_LIMIT => Err(PanelFault::NotRefreshed),
                false => {
                    self.wait = Wait::Rise(since, look + RISE_INTERVAL);
                    Ok(PollResult::More)
                }
            },
            Wait::Fall(since) => {
                let limit = since + self.setup.model.busy_limit();
                match self.is_busy()? {
                    true if now >= limit => Err(PanelFault::BusyStuck),
                    true => Ok(PollResult::Idle(limit)),
                    false if now < since + REFRESH_MIN => Err(PanelFault::NotRefreshed),
                    false if now > since + self.slow_limit() => Err(PanelFault::Slow),
                    false => self.end_wait(),
                }
            }
        }
    }

    /// Time after which the refresh under way is too slow.
    fn slow_limit(&self) -> Duration {
        let refresh = match &self.purpose {
            SequencePurpose::Refreshing(_, refresh) => *refresh,
            SequencePurpose::None | SequencePurpose::Preparing | SequencePurpose::Prepared => {
                Refresh::Full
            }
        };
        self.setup.model.slow_limit(refresh, self.setup.full)
    }

    fn end_wait(&mut self) -> Result<PollResult, PanelFault> {
        self.wait = Wait::No;
        Ok(PollResult::More)
    }

    fn step<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut PanelBus<S, D>,
        now: Duration,
    ) -> Result<PollResult, PanelFault> {
        let Some(step) = self.steps.pop_front() else {
            return Ok(self.ended());
        };
        match step {
            PanelStep::Pause(time) => self.wait = Wait::Until(now + time),
            PanelStep::Busy => self.wait = Wait::Busy(now + RISE_LIMIT, now + RISE_INTERVAL),
            PanelStep::Idle(limit) => self.wait = Wait::Idle(now + limit),
            PanelStep::Send(command, parameters) => {
                bus.send(&mut self.select, command, &parameters)?;
            }
            PanelStep::Picture(command, frame, form) => {
                bus.send(&mut self.select, command, &frame.plane(&form))?
            }
            PanelStep::Activate(command, parameters) => {
                bus.send(&mut self.select, command, parameters)?;
                self.wait = Wait::Rise(now, now + RISE_INTERVAL);
            }
        }
        if self.steps.is_empty() && self.purpose == SequencePurpose::Preparing {
            self.purpose = SequencePurpose::Prepared;
        }
        Ok(PollResult::More)
    }

    /// All steps are done. If they were a refresh, the preparation of the next one starts.
    fn ended(&mut self) -> PollResult {
        let SequencePurpose::Refreshing(frame, refresh) = &self.purpose else {
            return PollResult::Rest;
        };
        let (frame, refresh) = (Arc::clone(frame), *refresh);
        self.start(
            SequencePurpose::Preparing,
            sequence::prepare(&self.setup, &frame),
        );
        self.shown = Some(frame);
        PollResult::Shown(refresh)
    }
}

//! One panel on the bus: sends its sequences, watches its busy line, knows what is on its glass.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use embedded_hal::{
    digital::{InputPin, OutputPin},
    spi::SpiBus,
};

use device::{board::PanelFault, refresh::Refresh};

use super::{
    PanelBus, PanelFrame, Setup,
    sequence::{self, PanelStep, REFRESH_MAX, REFRESH_MIN, RISE_LIMIT, command},
};

/// When a panel must be polled next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollResult {
    /// Another turn at once.
    More,
    /// Another turn at this moment, or when its busy line falls.
    Idle(Duration),
    /// Another turn at this moment.
    At(Duration),
    /// The refresh has ended, and the picture is on the glass.
    Shown(Refresh),
    /// It did not do what it was told; it needs a hard reset.
    Failed(PanelFault),
    /// Nothing to do.
    Rest,
}

/// Driver of one panel. Times are durations since any fixed origin.
#[derive(Debug)]
pub struct PanelDriver<C, B> {
    setup: Setup,
    select: C,
    busy: B,
    steps: VecDeque<PanelStep>,
    wait: Wait,
    job: SequencePurpose,
    /// What is on the glass; none if nobody knows.
    shown: Option<Arc<PanelFrame>>,
}

/// What the queued steps are for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SequencePurpose {
    /// For nothing that lasts.
    None,
    /// For the next partial refresh.
    Preparing,
    /// They were for the next partial refresh, and are done.
    Prepared,
    /// For the refresh that is under way.
    Refreshing(Arc<PanelFrame>, Refresh),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    No,
    Until(Duration),
    /// Until it is idle, or has been busy for too long.
    Idle(Duration),
    /// The refresh was started then; the busy line must be up soon.
    Rise(Duration),
    /// The refresh was started then; the busy line must fall.
    Fall(Duration),
}

impl<C: OutputPin, B: InputPin> PanelDriver<C, B> {
    /// A panel of which nothing is known: it needs a hard reset first.
    pub fn new(setup: Setup, select: C, busy: B) -> PanelDriver<C, B> {
        PanelDriver {
            setup,
            select,
            busy,
            steps: VecDeque::new(),
            wait: Wait::No,
            job: SequencePurpose::None,
            shown: None,
        }
    }

    /// How it is mounted.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Tells whether it does something.
    pub fn is_working(&self) -> bool {
        self.wait != Wait::No || !self.steps.is_empty()
    }

    /// Tells whether a refresh is under way or waits for its turn.
    pub fn is_refreshing(&self) -> bool {
        matches!(self.job, SequencePurpose::Refreshing(..))
    }

    /// Tells whether it only prepares its next refresh.
    pub fn is_preparing(&self) -> bool {
        self.job == SequencePurpose::Preparing
    }

    /// Tells whether its next step starts the ink moving.
    pub fn is_about_to_refresh(&self) -> bool {
        self.wait == Wait::No && self.steps.front() == Some(&PanelStep::Activate)
    }

    /// Its busy line.
    pub fn busy_line(&mut self) -> &mut B {
        &mut self.busy
    }

    /// Tells whether its busy line is up.
    ///
    /// # Errors
    /// The line cannot be read.
    pub fn is_busy(&mut self) -> Result<bool, PanelFault> {
        self.busy.is_high().map_err(|_| PanelFault::Bus)
    }

    /// Waits until it is idle, before its reset line is touched: what runs must not be cut off.
    pub fn settle(&mut self) {
        self.begin(
            SequencePurpose::None,
            [PanelStep::Idle(sequence::RESET_LIMIT)],
        );
    }

    /// Begins anew after its reset line was pulled: nothing that was known of it holds any more.
    pub fn woken(&mut self) {
        self.shown = None;
        self.begin(
            SequencePurpose::None,
            [PanelStep::Idle(sequence::RESET_LIMIT)],
        );
    }

    /// Takes note that the reset line was pulled for another panel's sake, while this one did not refresh: registers
    /// are lost, pictures are not.
    pub fn disturbed(&mut self) {
        self.begin(SequencePurpose::None, []);
    }

    /// Takes a picture, to be refreshed as soon as it is idle; without knowledge of the glass in full.
    ///
    /// # Errors
    /// A refresh is under way.
    pub fn show(&mut self, frame: Arc<PanelFrame>, refresh: Refresh) -> Result<(), PanelFault> {
        let refresh = match (refresh, &self.shown) {
            (Refresh::Partial, Some(_)) => Refresh::Partial,
            (Refresh::Full | Refresh::Partial, _) => Refresh::Full,
        };
        match (&self.job, refresh, &self.shown) {
            (SequencePurpose::Refreshing(..), _, _) => return Err(PanelFault::StartedBusy),
            // What is begun is finished first.
            (SequencePurpose::Preparing | SequencePurpose::Prepared, Refresh::Partial, _) => {}
            (SequencePurpose::None, Refresh::Partial, Some(shown)) => {
                self.steps.extend(sequence::prepare(&self.setup, shown));
            }
            (SequencePurpose::None, Refresh::Partial | Refresh::Full, _) => {}
            (SequencePurpose::Preparing | SequencePurpose::Prepared, Refresh::Full, _) => {
                self.steps.clear()
            }
        }
        self.steps.extend(match refresh {
            Refresh::Full => sequence::full(&self.setup, &frame),
            Refresh::Partial => sequence::partial(&frame),
        });
        self.job = SequencePurpose::Refreshing(frame, refresh);
        Ok(())
    }

    /// Does one step.
    pub fn turn<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut PanelBus<S, D>,
        now: Duration,
    ) -> PollResult {
        match self.try_turn(bus, now) {
            Ok(turn) => turn,
            Err(fault) => {
                self.shown = None;
                self.begin(SequencePurpose::None, []);
                PollResult::Failed(fault)
            }
        }
    }

    fn begin(&mut self, job: SequencePurpose, steps: impl Into<VecDeque<PanelStep>>) {
        self.job = job;
        self.steps = steps.into();
        self.wait = Wait::No;
    }

    fn try_turn<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut PanelBus<S, D>,
        now: Duration,
    ) -> Result<PollResult, PanelFault> {
        match self.wait {
            Wait::No => self.step(bus, now),
            Wait::Until(moment) if now < moment => Ok(PollResult::At(moment)),
            Wait::Until(_) => self.go_on(),
            Wait::Idle(limit) => match self.is_busy()? {
                false => self.go_on(),
                true if now >= limit => Err(PanelFault::BusyStuck),
                true => Ok(PollResult::Idle(limit)),
            },
            Wait::Rise(since) if now < since + RISE_LIMIT => Ok(PollResult::At(since + RISE_LIMIT)),
            Wait::Rise(since) => {
                if !self.is_busy()? {
                    return Err(PanelFault::NotRefreshed);
                }
                self.wait = Wait::Fall(since);
                Ok(PollResult::Idle(since + REFRESH_MAX))
            }
            Wait::Fall(since) => match self.is_busy()? {
                true if now >= since + REFRESH_MAX => Err(PanelFault::BusyStuck),
                true => Ok(PollResult::Idle(since + REFRESH_MAX)),
                false if now < since + REFRESH_MIN => Err(PanelFault::NotRefreshed),
                false => Ok(self.ended()),
            },
        }
    }

    fn go_on(&mut self) -> Result<PollResult, PanelFault> {
        self.wait = Wait::No;
        Ok(PollResult::More)
    }

    fn step<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut PanelBus<S, D>,
        now: Duration,
    ) -> Result<PollResult, PanelFault> {
        let Some(step) = self.steps.pop_front() else {
            return Ok(PollResult::Rest);
        };
        match step {
            PanelStep::Pause(time) => self.wait = Wait::Until(now + time),
            PanelStep::Idle(limit) => self.wait = Wait::Idle(now + limit),
            PanelStep::Send(command, parameters) => {
                bus.send(&mut self.select, command, &parameters)?;
            }
            PanelStep::Picture(command, frame) => {
                bus.send(&mut self.select, command, frame.bytes())?
            }
            PanelStep::Activate => {
                bus.send(&mut self.select, command::ACTIVATE, &[])?;
                self.wait = Wait::Rise(now);
            }
        }
        if self.steps.is_empty() && self.job == SequencePurpose::Preparing {
            self.job = SequencePurpose::Prepared;
        }
        Ok(PollResult::More)
    }

    /// The refresh has ended: what can be sent before the next picture is known is sent in the pause.
    fn ended(&mut self) -> PollResult {
        let SequencePurpose::Refreshing(frame, refresh) =
            std::mem::replace(&mut self.job, SequencePurpose::None)
        else {
            return PollResult::Rest;
        };
        self.begin(
            SequencePurpose::Preparing,
            sequence::prepare(&self.setup, &frame),
        );
        self.shown = Some(frame);
        PollResult::Shown(refresh)
    }
}

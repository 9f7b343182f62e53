//! One panel on the bus: sends its sequences, watches its busy line, knows what is on its glass.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use embedded_hal::{
    digital::{InputPin, OutputPin},
    spi::SpiBus,
};

use device::{board::PanelFault, refresh::Refresh};

use super::{
    Bus, Frame, Setup,
    sequence::{self, REFRESH_MAX, REFRESH_MIN, RISE_LIMIT, Step, command},
};

/// What a panel wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
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

/// One panel; moments are times since any one origin.
#[derive(Debug)]
pub struct Panel<C, B> {
    setup: Setup,
    select: C,
    busy: B,
    steps: VecDeque<Step>,
    wait: Wait,
    job: Job,
    /// What is on the glass; none if nobody knows.
    shown: Option<Arc<Frame>>,
}

/// What the steps are for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Job {
    /// For nothing that lasts.
    None,
    /// For the next partial refresh.
    Preparing,
    /// They were for the next partial refresh, and are done.
    Prepared,
    /// For the refresh that is under way.
    Refreshing(Arc<Frame>, Refresh),
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

impl<C: OutputPin, B: InputPin> Panel<C, B> {
    /// A panel of which nothing is known: it needs a hard reset first.
    pub fn new(setup: Setup, select: C, busy: B) -> Panel<C, B> {
        Panel {
            setup,
            select,
            busy,
            steps: VecDeque::new(),
            wait: Wait::No,
            job: Job::None,
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
        matches!(self.job, Job::Refreshing(..))
    }

    /// Tells whether it only prepares its next refresh.
    pub fn is_preparing(&self) -> bool {
        self.job == Job::Preparing
    }

    /// Tells whether its next step starts the ink moving.
    pub fn is_about_to_refresh(&self) -> bool {
        self.wait == Wait::No && self.steps.front() == Some(&Step::Activate)
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
        self.begin(Job::None, [Step::Idle(sequence::RESET_LIMIT)]);
    }

    /// Begins anew after its reset line was pulled: nothing that was known of it holds any more.
    pub fn woken(&mut self) {
        self.shown = None;
        self.begin(Job::None, [Step::Idle(sequence::RESET_LIMIT)]);
    }

    /// Takes note that the reset line was pulled for another panel's sake, while this one did not refresh: registers
    /// are lost, pictures are not.
    pub fn disturbed(&mut self) {
        self.begin(Job::None, []);
    }

    /// Takes a picture, to be refreshed as soon as it is idle; without knowledge of the glass in full.
    ///
    /// # Errors
    /// A refresh is under way.
    pub fn show(&mut self, frame: Arc<Frame>, refresh: Refresh) -> Result<(), PanelFault> {
        let refresh = match (refresh, &self.shown) {
            (Refresh::Partial, Some(_)) => Refresh::Partial,
            (Refresh::Full | Refresh::Partial, _) => Refresh::Full,
        };
        match (&self.job, refresh, &self.shown) {
            (Job::Refreshing(..), _, _) => return Err(PanelFault::StartedBusy),
            // What is begun is finished first.
            (Job::Preparing | Job::Prepared, Refresh::Partial, _) => {}
            (Job::None, Refresh::Partial, Some(shown)) => {
                self.steps.extend(sequence::prepare(&self.setup, shown));
            }
            (Job::None, Refresh::Partial | Refresh::Full, _) => {}
            (Job::Preparing | Job::Prepared, Refresh::Full, _) => self.steps.clear(),
        }
        self.steps.extend(match refresh {
            Refresh::Full => sequence::full(&self.setup, &frame),
            Refresh::Partial => sequence::partial(&frame),
        });
        self.job = Job::Refreshing(frame, refresh);
        Ok(())
    }

    /// Does one step.
    pub fn turn<S: SpiBus, D: OutputPin>(&mut self, bus: &mut Bus<S, D>, now: Duration) -> Turn {
        match self.try_turn(bus, now) {
            Ok(turn) => turn,
            Err(fault) => {
                self.shown = None;
                self.begin(Job::None, []);
                Turn::Failed(fault)
            }
        }
    }

    fn begin(&mut self, job: Job, steps: impl Into<VecDeque<Step>>) {
        self.job = job;
        self.steps = steps.into();
        self.wait = Wait::No;
    }

    fn try_turn<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut Bus<S, D>,
        now: Duration,
    ) -> Result<Turn, PanelFault> {
        match self.wait {
            Wait::No => self.step(bus, now),
            Wait::Until(moment) if now < moment => Ok(Turn::At(moment)),
            Wait::Until(_) => self.go_on(),
            Wait::Idle(limit) => match self.is_busy()? {
                false => self.go_on(),
                true if now >= limit => Err(PanelFault::BusyStuck),
                true => Ok(Turn::Idle(limit)),
            },
            Wait::Rise(since) if now < since + RISE_LIMIT => Ok(Turn::At(since + RISE_LIMIT)),
            Wait::Rise(since) => {
                if !self.is_busy()? {
                    return Err(PanelFault::NotRefreshed);
                }
                self.wait = Wait::Fall(since);
                Ok(Turn::Idle(since + REFRESH_MAX))
            }
            Wait::Fall(since) => match self.is_busy()? {
                true if now >= since + REFRESH_MAX => Err(PanelFault::BusyStuck),
                true => Ok(Turn::Idle(since + REFRESH_MAX)),
                false if now < since + REFRESH_MIN => Err(PanelFault::NotRefreshed),
                false => Ok(self.ended()),
            },
        }
    }

    fn go_on(&mut self) -> Result<Turn, PanelFault> {
        self.wait = Wait::No;
        Ok(Turn::More)
    }

    fn step<S: SpiBus, D: OutputPin>(
        &mut self,
        bus: &mut Bus<S, D>,
        now: Duration,
    ) -> Result<Turn, PanelFault> {
        let Some(step) = self.steps.pop_front() else {
            return Ok(Turn::Rest);
        };
        match step {
            Step::Pause(time) => self.wait = Wait::Until(now + time),
            Step::Idle(limit) => self.wait = Wait::Idle(now + limit),
            Step::Send(command, parameters) => {
                bus.send(&mut self.select, command, &parameters)?;
            }
            Step::Picture(command, frame) => bus.send(&mut self.select, command, frame.bytes())?,
            Step::Activate => {
                bus.send(&mut self.select, command::ACTIVATE, &[])?;
                self.wait = Wait::Rise(now);
            }
        }
        if self.steps.is_empty() && self.job == Job::Preparing {
            self.job = Job::Prepared;
        }
        Ok(Turn::More)
    }

    /// The refresh has ended: what can be sent before the next picture is known is sent in the pause.
    fn ended(&mut self) -> Turn {
        let Job::Refreshing(frame, refresh) = std::mem::replace(&mut self.job, Job::None) else {
            return Turn::Rest;
        };
        self.begin(Job::Preparing, sequence::prepare(&self.setup, &frame));
        self.shown = Some(frame);
        Turn::Shown(refresh)
    }
}

//! The painter: draws the newest picture on the panels.
//!
//! A paint starts a refresh of all panels that need one, and ends when these are idle. Pictures that arrive meanwhile
//! replace each other; the newest is painted next.
//! A requested full refresh is a growing counter in the picture, so that it is not lost with a skipped picture.
//! The end of a paint is reported with the serial number of the picture, because the newest may be another one by then.
//!
//! A panel that fails is *faulty*, and the others go on without it. A panel that stayed busy too long is painted again
//! when it becomes idle, any other one is retried with growing pauses.
//!
//! Partial refreshes leave ghosts. Therefore a panel gets a full refresh after a number of them, and after some time
//! (`Care`), in the next quiet moment: a change of screen, the quiet hours, a dark room, or after it has been idle for a
//! while; at the latest at twice these limits.

use std::{sync::Arc, time::Duration};

use board::{
    moments::until,
    ports::{Outcome, Panels},
    wiring::Care,
};
use device::{
    board::PanelFault,
    cells::Picture,
    input::{Finished, Input},
    refresh::Refresh,
};
use render::{Bitmap, BoardPainter};
use runtime::{
    inbox::Inbox,
    panels::{PanelsSnapshot, RefreshRecord},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout_at},
};

/// Timeout of a paint, as a multiple of the timeout of a refresh.
pub const STEP_FACTOR: u32 = 2;

/// Time from the first failure of a panel to the retry; doubles with each further failure.
pub const RETRY_MIN: Duration = Duration::from_secs(5);

/// Longest time between two retries of a panel.
pub const RETRY_MAX: Duration = Duration::from_secs(5 * 60);

/// Idle time of a panel before a full refresh without a new picture.
pub const IDLE_BEFORE_REFRESH: Duration = Duration::from_secs(60);

/// Time without partial refreshes after one that did nothing or was slow: it is too cold for them.
pub const NO_PARTIALS: Duration = Duration::from_secs(60 * 60);

/// Time before the first picture of a panel that must rest after it: the first values arrive meanwhile.
pub const FIRST_VALUES: Duration = Duration::from_secs(10);

/// How often a cleaning turns a panel black and white.
pub const CLEANING_ROUNDS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaintProgress {
    /// It has painted nothing yet.
    NotStarted,
    Waiting,
    /// It is driving the panels; has the deadline.
    Painting(Instant),
}

impl PaintProgress {
    /// Whether the deadline has passed.
    pub fn is_stuck(self) -> bool {
        match self {
            PaintProgress::NotStarted | PaintProgress::Waiting => false,
            PaintProgress::Painting(deadline) => Instant::now() >= deadline,
        }
    }
}

/// Configuration and channels of the painter.
pub struct PainterConfig<P> {
    pub panels: P,
    pub renderer: BoardPainter,
    /// When the panels need a full refresh.
    pub care: Care,
    pub pictures: watch::Receiver<Picture>,
    /// What the panels show.
    pub glass: watch::Sender<Arc<PanelsSnapshot>>,
    pub progress: watch::Sender<PaintProgress>,
    /// For the ends of paints.
    pub inbox: Inbox,
}

/// Paints the pictures until their sender or the device is gone.
pub async fn run<P: Panels>(config: PainterConfig<P>) {
    let PainterConfig {
        panels,
        renderer,
        care,
        mut pictures,
        glass,
        progress,
        inbox,
    } = config;
    if !care.interval.is_zero() {
        sleep(FIRST_VALUES).await;
    }
    let mut painter = PainterTask::new(panels, renderer, care, glass);
    loop {
        let picture = pictures.borrow_and_update().clone();
        let steps =
            STEP_FACTOR + if painter.must_clean(&picture) { 2 * CLEANING_ROUNDS } else { 0 };
        let limit = painter.panels.refresh_limit() * steps;
        progress.send_replace(PaintProgress::Painting(Instant::now() + limit));
        painter.paint(&picture).await;
        progress.send_replace(PaintProgress::Waiting);
        let painted = Input::Finished(Finished::Painted(picture.serial));
        if inbox.send(painted).await.is_err() {
            return;
        }
        if painter.has_recovered_panel() {
            continue;
        }
        let next_due = painter.next_due();
        tokio::select! {
            changed = pictures.changed() => if changed.is_err() {
                return;
            },
            ended = painter.panels.idle() => painter.refreshes_ended(&ended),
            () = until(next_due) => {}
        }
    }
}

struct PainterTask<P> {
    panels: P,
    renderer: BoardPainter,
    care: Care,
    glass: PanelsSnapshot,
    publish: watch::Sender<Arc<PanelsSnapshot>>,
    states: Vec<PanelState>,
    /// Counters of the last painted picture. `None` before the first.
    painted: Option<RefreshCounters>,
    /// A full refresh is not noticed now.
    is_quiet: bool,
}

#[derive(Debug, Clone, Default)]
struct PanelState {
    /// The last bitmap sent to the panel. `None` if unknown.
    sent: Option<Arc<Bitmap>>,
    /// The sent bitmap contains a password.
    sent_password: bool,
    /// The bitmap of the last completed refresh contains a password.
    shows_password: bool,
    refresh: RefreshState,
    /// When partial refreshes are tried again.
    no_partials_until: Option<Instant>,
    fault: Option<PanelFault>,
    /// Failures since the last completed refresh.
    failures: u32,
    /// Time of the next retry.
    retry_at: Option<Instant>,
    /// Partial refreshes since the last full one.
    partials: u32,
    /// Refreshes since the start.
    refreshes: RefreshRecord,
    /// Kind and start of the last refresh. A refresh after a start or a failure begins with a reset and is not timed.
    started: Option<(Refresh, Option<Instant>)>,
    /// End of the last refresh.
    idle_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RefreshState {
    /// No refresh is in progress.
    #[default]
    Idle,
    /// A refresh is in progress.
    Refreshing,
    /// A refresh exceeds its timeout.
    Stuck,
}

/// Refreshes requested so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RefreshCounters {
    full_refreshes: u64,
    repaints: u64,
    cleanings: u64,
}

impl<P: Panels> PainterTask<P> {
    fn new(
        panels: P,
        renderer: BoardPainter,
        care: Care,
        publish: watch::Sender<Arc<PanelsSnapshot>>,
    ) -> PainterTask<P> {
        let mut glass = PanelsSnapshot::clone(&publish.borrow());
        for panel in &mut glass.panels {
            panel.partials_max = care.partials_max;
        }
        PainterTask {
            states: vec![PanelState::default(); panels.count()],
            panels,
            renderer,
            care,
            glass,
            publish,
            painted: None,
            is_quiet: false,
        }
    }

    /// Whether a cleaning was requested after the last painted picture.
    fn must_clean(&self, picture: &Picture) -> bool {
        // A panel that must rest is not cleaned: each of its refreshes does that.
        let is_new = self
            .painted
            .is_some_and(|before| before.cleanings < picture.cleanings);
        is_new && self.care.interval.is_zero()
    }

    /// Turns all panels black and white.
    async fn clean(&mut self) {
        for _ in 0..CLEANING_ROUNDS {
            for is_ink in [true, false] {
                for panel in 0..self.states.len() {
                    let bitmap = &self.glass.panels[panel].bitmap;
                    let (width, height) = (bitmap.width(), bitmap.height());
                    let solid = Arc::new(Bitmap::from_ink(width, height, |_, _| is_ink));
                    if self.states[panel].can_refresh() {
                        self.start(panel, solid, Refresh::Full).await;
                    }
                }
                self.wait().await;
            }
        }
    }

    /// Paints the panels that differ, and waits until they are idle.
    async fn paint(&mut self, picture: &Picture) {
        self.is_quiet = picture.is_quiet;
        if self.must_clean(picture) {
            self.clean().await;
        }
        let requested = self.requested_refresh(picture);
        for panel in 0..self.states.len() {
            let frame = Arc::new(self.renderer.paint(picture, panel));
            let state = &self.states[panel];
            if let Some(refresh) = state.refresh_for(&frame, requested, &self.care, self.is_quiet) {
                self.states[panel].sent_password = picture.shows_password;
                self.start(panel, frame, refresh).await;
            }
        }
        self.wait().await;
    }

    /// The refresh of all panels that the counters request. `None` if only panels that differ are painted.
    fn requested_refresh(&mut self, picture: &Picture) -> Option<Refresh> {
        let counters = RefreshCounters {
            full_refreshes: picture.full_refreshes,
            repaints: picture.repaints,
            cleanings: picture.cleanings,
        };
        match self.painted.replace(counters) {
            None => Some(Refresh::Full),
            Some(before) if before.full_refreshes < counters.full_refreshes => Some(Refresh::Full),
            Some(before) if before.repaints < counters.repaints => Some(Refresh::Partial),
            Some(_) => None,
        }
    }

    async fn start(&mut self, panel: usize, frame: Arc<Bitmap>, refresh: Refresh) {
        let state = &mut self.states[panel];
        let is_timed = state.idle_since.is_some() && state.failures == 0;
        state.started = Some((refresh, is_timed.then(Instant::now)));
        let result = self.panels.start(panel, &frame, refresh).await;
        let state = &mut self.states[panel];
        match result {
            Ok(()) => {
                state.sent = Some(frame);
                state.refresh = RefreshState::Refreshing;
            }
            Err(fault) => state.failed(panel, fault),
        }
    }

    /// Waits until the panels are idle, publishes each one that becomes idle, and gives up on the others after a timeout.
    async fn wait(&mut self) {
        let deadline = Instant::now() + self.panels.refresh_limit();
        while self.states.iter().any(PanelState::is_refreshing) {
            match timeout_at(deadline, self.panels.idle()).await {
                Ok(ended) => self.refreshes_ended(&ended),
                Err(_) => break,
            }
        }
        let mut stuck = false;
        for (panel, state) in self
            .states
            .iter_mut()
            .enumerate()
            .filter(|(_, state)| state.is_refreshing())
        {
            tracing::warn!(panel, "panel stays busy, continuing without it");
            state.sent = None;
            state.shows_password |= state.sent_password;
            state.fault = Some(PanelFault::BusyStuck);
            state.refreshes.failed = state.refreshes.failed.saturating_add(1);
            state.refresh = RefreshState::Stuck;
            stuck = true;
        }
        let faults_differ = self
            .states
            .iter()
            .zip(&self.glass.panels)
            .any(|(state, shown)| (state.fault, state.failures) != (shown.fault, shown.failures));
        if stuck || faults_differ {
            self.publish(&[]);
        }
    }

    /// Handles the results of refreshes, and publishes the panels.
    fn refreshes_ended(&mut self, ended: &[(usize, Outcome)]) {
        let mut shown = Vec::new();
        for (panel, result) in ended {
            let Some(state) = self.states.get_mut(*panel) else {
                continue;
            };
            let before = std::mem::take(&mut state.refresh);
            match result {
                Ok(refresh) => {
                    if state.recovered() {
                        tracing::info!(panel, "panel works again");
                    }
                    // A panel that was stuck shows an older picture than the others.
                    if before != RefreshState::Stuck {
                        state.completed(*refresh);
                        shown.push((*panel, *refresh));
                    }
                }
                Err(fault) => state.failed(*panel, *fault),
            }
        }
        self.publish(&shown);
    }

    fn publish(&mut self, shown: &[(usize, Refresh)]) {
        self.glass.generation += 1;
        for (panel, refresh) in shown {
            let glass = &mut self.glass.panels[*panel];
            if let Some(sent) = &self.states[*panel].sent {
                glass.bitmap = Arc::clone(sent);
            }
            glass.painted = self.glass.generation;
            glass.refresh = *refresh;
            glass.since = self.states[*panel].idle_since;
            glass.partials = self.states[*panel].partials;
        }
        for (glass, state) in self.glass.panels.iter_mut().zip(&self.states) {
            let may_show = state.sent_password && state.is_refreshing();
            glass.shows_password = state.shows_password || may_show;
            glass.refreshes = state.refreshes;
            glass.fault = state.fault;
            glass.failures = state.failures;
            glass.retry_at = state.retry_at;
        }
        self.publish.send_replace(Arc::new(self.glass.clone()));
    }

    /// Whether a panel has recovered and needs the picture.
    fn has_recovered_panel(&self) -> bool {
        self.states
            .iter()
            .any(|state| state.sent.is_none() && state.fault.is_none())
    }

    /// Time of the next retry or full refresh of a panel. `None` if only a new picture starts a refresh.
    fn next_due(&self) -> Option<Instant> {
        let times = self.states.iter();
        times
            .filter_map(|state| state.due_at(&self.care, self.is_quiet))
            .min()
    }
}

impl PanelState {
    /// Whether a refresh can start now.
    fn can_refresh(&self) -> bool {
        let now = Instant::now();
        self.refresh == RefreshState::Idle && self.retry_at.is_none_or(|retry_at| retry_at <= now)
    }

    /// The refresh that the panel needs to show a frame. `None` if it shows the frame already, or cannot refresh now.
    fn refresh_for(
        &self,
        frame: &Bitmap,
        requested: Option<Refresh>,
        care: &Care,
        is_quiet: bool,
    ) -> Option<Refresh> {
        if !self.can_refresh() {
            return None;
        }
        let now = Instant::now();
        if self.rests_until(care).is_some_and(|until| now < until) {
            return None;
        }
        // A panel that must rest refreshes fully each time, but not for a picture that it shows.
        let requested = requested.filter(|_| care.interval.is_zero());
        let is_idle = self.full_due_at(care, is_quiet).is_some_and(|at| at <= now);
        let refresh = match &self.sent {
            None => Refresh::Full,
            Some(sent) if requested.is_none() && **sent == *frame => {
                return is_idle.then_some(Refresh::Full);
            }
            // A request is a change of screen.
            Some(_) if is_idle || self.owes_full(care, if requested.is_some() { 1 } else { 2 }) => {
                Refresh::Full
            }
            Some(_) => requested.unwrap_or(Refresh::Partial),
        };
        let is_cold = self.no_partials_until.is_some_and(|until| now < until);
        let is_full = is_cold || !care.interval.is_zero();
        Some(if is_full { Refresh::Full } else { refresh })
    }

    /// Time of the next retry or full refresh without a new picture. `None` if there is none.
    fn due_at(&self, care: &Care, is_quiet: bool) -> Option<Instant> {
        if self.refresh != RefreshState::Idle {
            return None;
        }
        let rests_until = self
            .rests_until(care)
            .filter(|until| Instant::now() < *until);
        let due = self.retry_at.or_else(|| self.full_due_at(care, is_quiet));
        rests_until.or(due)
    }

    /// End of the least time between two refreshes.
    fn rests_until(&self, care: &Care) -> Option<Instant> {
        let since = self.idle_since.filter(|_| !care.interval.is_zero());
        Some(since? + care.interval)
    }

    /// Time of the next full refresh without a new picture.
    fn full_due_at(&self, care: &Care, is_quiet: bool) -> Option<Instant> {
        let wait = if is_quiet { Duration::ZERO } else { IDLE_BEFORE_REFRESH };
        let idle_until = self.idle_since? + wait;
        let by_count = care.partials_max > 0 && self.partials >= care.partials_max;
        if by_count {
            return Some(idle_until);
        }
        let full_at = self
            .refreshes
            .full_at
            .filter(|_| !care.full_every.is_zero())?;
        Some(idle_until.max(full_at + care.full_every))
    }

    /// Whether a full refresh is due for so many times the limits.
    fn owes_full(&self, care: &Care, times: u32) -> bool {
        let by_count =
            care.partials_max > 0 && self.partials >= care.partials_max.saturating_mul(times);
        let by_time = !care.full_every.is_zero()
            && self
                .refreshes
                .full_at
                .is_some_and(|full_at| full_at.elapsed() >= times * care.full_every);
        by_count || by_time
    }

    fn completed(&mut self, refresh: Refresh) {
        let now = Instant::now();
        self.idle_since = Some(now);
        self.shows_password = self.sent_password;
        let started_at = self.started.and_then(|(_, at)| at);
        self.refreshes.add(refresh, started_at.map(|at| now - at));
        match refresh {
            Refresh::Full => self.partials = 0,
            Refresh::Partial => self.partials = self.partials.saturating_add(1),
        }
    }

    /// Records a failure, and schedules the retry.
    fn failed(&mut self, panel: usize, fault: PanelFault) {
        let wait = RETRY_MIN
            .saturating_mul(1 << self.failures.min(16))
            .min(RETRY_MAX);
        let again_in_secs = wait.as_secs();
        let (fault_name, says) = (fault.name(), fault.says());
        tracing::warn!(
            panel,
            fault = fault_name,
            again_in_secs,
            "panel failed: {says}"
        );
        self.sent = None;
        self.fault = Some(fault);
        // It may show the picture nevertheless.
        self.shows_password |= self.sent_password;
        let is_partial = matches!(self.started, Some((Refresh::Partial, _)));
        if is_partial && matches!(fault, PanelFault::NotRefreshed | PanelFault::Slow) {
            self.no_partials_until = Some(Instant::now() + NO_PARTIALS);
        }
        self.failures = self.failures.saturating_add(1);
        self.refreshes.failed = self.refreshes.failed.saturating_add(1);
        self.retry_at = Some(Instant::now() + wait);
    }

    /// Records that the panel works; returns whether it failed before.
    fn recovered(&mut self) -> bool {
        self.failures = 0;
        self.retry_at = None;
        self.fault.take().is_some()
    }

    fn is_refreshing(&self) -> bool {
        self.refresh == RefreshState::Refreshing
    }
}

//! The one painter: makes the panels show the newest picture.
//!
//! A paint starts all panels that need it and ends when all of them are idle; pictures that come meanwhile
//! replace each other, and the newest is next.
//! A refresh asked for is a counter in the picture that only grows, so it is not lost with a picture that is skipped.
//! The end of a paint is reported with the serial number of the picture: the newest may be another one by then.
//!
//! A panel that does not do what it is told is *faulty*: the others go on without it. One that stayed busy for too
//! long is painted anew once its line says idle, any other is tried again in growing intervals.
//!
//! Partial refreshes leave ghosts, so a panel gets a full one after some of them, and after some time (`Care`): when it
//! has rested for a while, or at the latest when twice as much is due.

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
use render::Bitmap;
use runtime::{glass::DisplaySnapshot, inbox::Inbox};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// How much longer than its panels may be busy a step of the painter may take.
pub const STEP_FACTOR: u32 = 2;

/// Time after which a panel that failed is tried again; twice as long after each further failure.
pub const RETRY_MIN: Duration = Duration::from_secs(5);

/// Longest time between two tries of a panel that fails.
pub const RETRY_MAX: Duration = Duration::from_secs(5 * 60);

/// Idle time before a panel gets a full refresh without a new picture.
pub const QUIET: Duration = Duration::from_secs(60);

/// Progress of the painter, for the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaintProgress {
    /// It has painted nothing yet.
    Begun,
    /// It waits for a picture.
    Waiting,
    /// It drives the panels, until then at the latest.
    Painting(Instant),
}

impl PaintProgress {
    /// Tells whether the painter has taken too long.
    pub fn is_stuck(self) -> bool {
        match self {
            PaintProgress::Begun | PaintProgress::Waiting => false,
            PaintProgress::Painting(until) => Instant::now() >= until,
        }
    }
}

/// What the painter is given.
#[derive(Debug)]
pub struct Canvas<P> {
    /// The panels.
    pub panels: P,
    /// Width of a panel as its viewer sees it, px.
    pub width: u16,
    /// Height of a panel as its viewer sees it, px.
    pub height: u16,
    /// How the panels are looked after.
    pub care: Care,
    /// What the panels should show.
    pub pictures: watch::Receiver<Picture>,
    /// What they show.
    pub glass: watch::Sender<Arc<DisplaySnapshot>>,
    /// What the painter does.
    pub progress: watch::Sender<PaintProgress>,
    /// Where the end of a paint is reported.
    pub inbox: Inbox,
}

/// Follows the pictures until their sender or the device is gone.
pub async fn run<P: Panels>(canvas: Canvas<P>) {
    let Canvas {
        panels,
        width,
        height,
        care,
        mut pictures,
        glass,
        progress,
        inbox,
    } = canvas;
    let mut painter = PainterTask::new(panels, render::Painter::new(width, height), care, glass);
    loop {
        let picture = pictures.borrow_and_update().clone();
        let limit = painter.panels.refresh_limit() * STEP_FACTOR;
        progress.send_replace(PaintProgress::Painting(Instant::now() + limit));
        painter.paint(&picture).await;
        progress.send_replace(PaintProgress::Waiting);
        let painted = Input::Finished(Finished::Painted(picture.serial));
        if inbox.send(painted).await.is_err() {
            return;
        }
        if painter.owes() {
            continue;
        }
        tokio::select! {
            changed = pictures.changed() => if changed.is_err() {
                return;
            },
            ended = painter.panels.idle() => painter.settle(&ended),
            () = until(painter.places.iter().filter_map(|place| place.due(&care)).min()) => {}
        }
    }
}

struct PainterTask<P> {
    panels: P,
    renderer: render::Painter,
    care: Care,
    glass: DisplaySnapshot,
    publish: watch::Sender<Arc<DisplaySnapshot>>,
    places: Vec<PaintedPanel>,
    /// Counters of the picture that was painted last; none before the first.
    painted: Option<Counters>,
}

/// What the painter knows of one panel.
#[derive(Debug, Clone, Default)]
struct PaintedPanel {
    /// The last bitmap sent to the panel. `None` if unknown.
    told: Option<Arc<Bitmap>>,
    /// A password is in that.
    tells_password: bool,
    /// A password is in what it showed last.
    shows_password: bool,
    ink: Ink,
    fault: Option<PanelFault>,
    /// Failures since it last showed a picture.
    failures: u32,
    /// When it is tried again.
    retry_at: Option<Instant>,
    /// Partial refreshes since the last full one.
    partials: u32,
    /// When its last full refresh ended.
    full_at: Option<Instant>,
    /// When its last refresh ended.
    rests_since: Option<Instant>,
}

/// What the ink of a panel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Ink {
    /// It is still.
    #[default]
    Rests,
    /// A refresh runs.
    Refreshing,
    /// A refresh takes longer than its timeout.
    Stuck,
}

/// The refreshes asked for so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters {
    full_refreshes: u64,
    repaints: u64,
}

impl<P: Panels> PainterTask<P> {
    fn new(
        panels: P,
        renderer: render::Painter,
        care: Care,
        publish: watch::Sender<Arc<DisplaySnapshot>>,
    ) -> PainterTask<P> {
        let glass = DisplaySnapshot::clone(&publish.borrow());
        PainterTask {
            places: vec![PaintedPanel::default(); panels.count()],
            panels,
            renderer,
            care,
            glass,
            publish,
            painted: None,
        }
    }

    /// Paints what differs and waits until it is on the paper.
    async fn paint(&mut self, picture: &Picture) {
        let all = self.all_panels(picture);
        for panel in 0..self.places.len() {
            let frame = Arc::new(self.renderer.paint(picture, panel));
            let place = &self.places[panel];
            if let Some(refresh) = place.refresh_for(&frame, all, &self.care) {
                self.places[panel].tells_password = picture.shows_password;
                self.start(panel, frame, refresh).await;
            }
        }
        self.wait().await;
    }

    /// The refresh that all panels need because of the counters; none if each is looked at by itself.
    fn all_panels(&mut self, picture: &Picture) -> Option<Refresh> {
        let counters = Counters {
            full_refreshes: picture.full_refreshes,
            repaints: picture.repaints,
        };
        match self.painted.replace(counters) {
            None => Some(Refresh::Full),
            Some(before) if before.full_refreshes < counters.full_refreshes => Some(Refresh::Full),
            Some(before) if before.repaints < counters.repaints => Some(Refresh::Partial),
            Some(_) => None,
        }
    }

    async fn start(&mut self, panel: usize, frame: Arc<Bitmap>, refresh: Refresh) {
        let outcome = self.panels.start(panel, &frame, refresh).await;
        let place = &mut self.places[panel];
        match outcome {
            Ok(()) => {
                place.told = Some(frame);
                place.ink = Ink::Refreshing;
            }
            Err(fault) => place.failed(panel, fault),
        }
    }

    /// Waits until the panels are idle, publishes each that becomes idle, and gives up on the others after a timeout.
    async fn wait(&mut self) {
        let deadline = Instant::now() + self.panels.refresh_limit();
        while self.places.iter().any(PaintedPanel::is_awaited) {
            match timeout_at(deadline, self.panels.idle()).await {
                Ok(idle) => self.settle(&idle),
                Err(_) => break,
            }
        }
        let mut stuck = false;
        for (panel, place) in self
            .places
            .iter_mut()
            .enumerate()
            .filter(|(_, place)| place.is_awaited())
        {
            tracing::warn!(panel, "panel stays busy, going on without it");
            place.told = None;
            place.fault = Some(PanelFault::BusyStuck);
            place.ink = Ink::Stuck;
            stuck = true;
        }
        let faults_differ = self
            .places
            .iter()
            .zip(&self.glass.panels)
            .any(|(place, shown)| (place.fault, place.failures) != (shown.fault, shown.failures));
        if stuck || faults_differ {
            self.publish(&[]);
        }
    }

    /// Takes note of what became of refreshes.
    fn settle(&mut self, ended: &[(usize, Outcome)]) {
        let mut shown = Vec::new();
        for (panel, outcome) in ended {
            let Some(place) = self.places.get_mut(*panel) else {
                continue;
            };
            let ink = std::mem::take(&mut place.ink);
            match outcome {
                Ok(refresh) => {
                    if place.recovered() {
                        tracing::info!(panel, "panel is back");
                    }
                    // What it shows is older than what the others were told meanwhile.
                    if ink != Ink::Stuck {
                        place.shown(*refresh);
                        shown.push((*panel, *refresh));
                    }
                }
                Err(fault) => place.failed(*panel, *fault),
            }
        }
        self.publish(&shown);
    }

    fn publish(&mut self, shown: &[(usize, Refresh)]) {
        self.glass.generation += 1;
        for (panel, refresh) in shown {
            let glass = &mut self.glass.panels[*panel];
            if let Some(told) = &self.places[*panel].told {
                glass.bitmap = Arc::clone(told);
            }
            glass.painted = self.glass.generation;
            glass.refresh = *refresh;
            glass.since = self.places[*panel].rests_since;
            glass.partials = self.places[*panel].partials;
        }
        for (glass, place) in self.glass.panels.iter_mut().zip(&self.places) {
            let may_show = place.tells_password && place.ink == Ink::Refreshing;
            glass.shows_password = place.shows_password || may_show;
            glass.fault = place.fault;
            glass.failures = place.failures;
            glass.retry_at = place.retry_at;
        }
        self.publish.send_replace(Arc::new(self.glass.clone()));
    }

    /// Tells whether a panel came back and waits for its picture.
    fn owes(&self) -> bool {
        self.places
            .iter()
            .any(|place| place.told.is_none() && place.fault.is_none())
    }
}

impl PaintedPanel {
    /// The refresh this panel needs to show a frame; none if it shows it, or cannot.
    fn refresh_for(&self, frame: &Bitmap, all: Option<Refresh>, care: &Care) -> Option<Refresh> {
        let now = Instant::now();
        if self.ink != Ink::Rests || self.retry_at.is_some_and(|retry_at| now < retry_at) {
            return None;
        }
        let is_due = self.cared_at(care).is_some_and(|due| due <= now);
        match &self.told {
            None => Some(Refresh::Full),
            Some(told) if all.is_none() && **told == *frame => is_due.then_some(Refresh::Full),
            Some(_) if is_due || self.is_overdue(care) => Some(Refresh::Full),
            Some(_) => Some(all.unwrap_or(Refresh::Partial)),
        }
    }

    /// When the painter must look at it by itself; none if never.
    fn due(&self, care: &Care) -> Option<Instant> {
        if self.ink != Ink::Rests {
            return None;
        }
        self.retry_at.or_else(|| self.cared_at(care))
    }

    /// Time of the next full refresh without a new picture, if nothing else happens until then.
    fn cared_at(&self, care: &Care) -> Option<Instant> {
        let quiet = self.rests_since? + QUIET;
        let by_count = care.partials_max > 0 && self.partials >= care.partials_max;
        if by_count {
            return Some(quiet);
        }
        let full_at = self.full_at.filter(|_| !care.full_every.is_zero())?;
        Some(quiet.max(full_at + care.full_every))
    }

    /// Tells whether a full refresh is due that cannot wait for a quiet moment any more.
    fn is_overdue(&self, care: &Care) -> bool {
        let by_count =
            care.partials_max > 0 && self.partials >= care.partials_max.saturating_mul(2);
        let by_time = !care.full_every.is_zero()
            && self
                .full_at
                .is_some_and(|full_at| full_at.elapsed() >= 2 * care.full_every);
        by_count || by_time
    }

    fn shown(&mut self, refresh: Refresh) {
        let now = Instant::now();
        self.rests_since = Some(now);
        self.shows_password = self.tells_password;
        match refresh {
            Refresh::Full => {
                self.partials = 0;
                self.full_at = Some(now);
            }
            Refresh::Partial => self.partials = self.partials.saturating_add(1),
        }
    }

    fn failed(&mut self, panel: usize, fault: PanelFault) {
        let wait = RETRY_MIN
            .saturating_mul(1 << self.failures.min(16))
            .min(RETRY_MAX);
        let again_in_secs = wait.as_secs();
        tracing::warn!(panel, fault = fault.name(), again_in_secs, "panel fails");
        self.told = None;
        self.fault = Some(fault);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = Some(Instant::now() + wait);
    }

    /// Takes note that it does as it is told; tells whether it did not before.
    fn recovered(&mut self) -> bool {
        self.failures = 0;
        self.retry_at = None;
        self.fault.take().is_some()
    }

    fn is_awaited(&self) -> bool {
        self.ink == Ink::Refreshing
    }
}

//! The one painter: makes the panels show the newest picture.
//!
//! A paint starts all panels that need it and ends when all of them are idle; pictures that come meanwhile
//! replace each other, and the newest is next.
//! A refresh asked for is a counter in the picture that only grows, so it is not lost with a picture that is skipped.
//! The end of a paint is reported with the serial number of the picture: the newest may be another one by then.
//!
//! A panel that stays busy for too long is *faulty*: the others go on without it, and it is painted anew once its
//! line says idle.

use std::{sync::Arc, time::Duration};

use board::ports::{PanelFault, Panels, Refresh};
use device::{
    cells::Picture,
    input::{Finished, Input},
};
use render::Bitmap;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use crate::{glass::Glass, inbox::Inbox};

/// Time after which a busy panel is taken for faulty; a full refresh in the cold takes half of it.
pub const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// Time after which a step of the painter is taken for stuck; none takes longer than a panel may be busy.
pub const STEP_LIMIT: Duration = Duration::from_secs(2 * BUSY_LIMIT.as_secs());

/// What the painter does, for whoever watches over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It waits for a picture.
    Waiting,
    /// It drives the panels, since then.
    Painting(Instant),
}

impl Step {
    /// Tells whether the painter has taken too long.
    pub fn is_stuck(self) -> bool {
        match self {
            Step::Waiting => false,
            Step::Painting(since) => since.elapsed() >= STEP_LIMIT,
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
    /// What the panels should show.
    pub pictures: watch::Receiver<Picture>,
    /// What they show.
    pub glass: watch::Sender<Arc<Glass>>,
    /// What the painter does.
    pub step: watch::Sender<Step>,
    /// Where the end of a paint is reported.
    pub inbox: Inbox,
}

/// Follows the pictures until their sender or the device is gone.
pub async fn run<P: Panels>(canvas: Canvas<P>) {
    let Canvas {
        panels,
        width,
        height,
        mut pictures,
        glass,
        step,
        inbox,
    } = canvas;
    let mut painter = Painter::new(panels, render::Painter::new(width, height), glass);
    loop {
        let picture = pictures.borrow_and_update().clone();
        step.send_replace(Step::Painting(Instant::now()));
        painter.paint(&picture).await;
        step.send_replace(Step::Waiting);
        let painted = Input::Finished(Finished::Painted(picture.serial));
        if inbox.tell(painted).await.is_err() {
            return;
        }
        if painter.owes() {
            continue;
        }
        tokio::select! {
            changed = pictures.changed() => if changed.is_err() {
                return;
            },
            idle = painter.panels.idle() => painter.settle(&idle),
        }
    }
}

struct Painter<P> {
    panels: P,
    renderer: render::Painter,
    glass: Glass,
    publish: watch::Sender<Arc<Glass>>,
    places: Vec<Place>,
    /// Counters of the picture that was painted last; none before the first.
    painted: Option<Counters>,
}

/// What the painter knows of one panel.
#[derive(Debug, Clone, Default)]
struct Place {
    /// What the panel was last told to show; none if nobody knows.
    told: Option<Arc<Bitmap>>,
    /// The refresh that runs, or that got stuck.
    refreshing: Option<Refresh>,
    fault: Option<PanelFault>,
}

/// The refreshes asked for so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters {
    full_refreshes: u64,
    repaints: u64,
}

impl<P: Panels> Painter<P> {
    fn new(panels: P, renderer: render::Painter, publish: watch::Sender<Arc<Glass>>) -> Painter<P> {
        let glass = Glass::clone(&publish.borrow());
        Painter {
            places: vec![Place::default(); panels.count()],
            panels,
            renderer,
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
            if let Some(refresh) = self.places[panel].refresh_for(&frame, all) {
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
                place.refreshing = Some(refresh);
                place.fault = None;
            }
            Err(fault) => {
                tracing::warn!(panel, fault = fault.name(), "panel took no frame");
                place.told = None;
                place.fault = Some(fault);
            }
        }
    }

    /// Waits until the panels are idle, publishing as they become so, and gives up on those that do not.
    async fn wait(&mut self) {
        let deadline = Instant::now() + BUSY_LIMIT;
        while self.places.iter().any(Place::is_awaited) {
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
            stuck = true;
        }
        let faults_differ = self
            .places
            .iter()
            .zip(&self.glass.panels)
            .any(|(place, shown)| place.fault != shown.fault);
        if stuck || faults_differ {
            self.publish(&[]);
        }
    }

    /// Takes note of panels that are idle again.
    fn settle(&mut self, idle: &[usize]) {
        let mut shown = Vec::new();
        for panel in idle {
            let Some(place) = self.places.get_mut(*panel) else {
                continue;
            };
            let refresh = place.refreshing.take();
            if place.fault.take().is_some() {
                tracing::info!(panel, "panel is back");
                continue;
            }
            shown.extend(refresh.map(|refresh| (*panel, refresh)));
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
        }
        for (glass, place) in self.glass.panels.iter_mut().zip(&self.places) {
            glass.fault = place.fault;
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

impl Place {
    /// The refresh this panel needs to show a frame; none if it shows it, or cannot.
    fn refresh_for(&self, frame: &Bitmap, all: Option<Refresh>) -> Option<Refresh> {
        if self.refreshing.is_some() {
            return None;
        }
        match &self.told {
            None => Some(Refresh::Full),
            Some(told) if all.is_none() && **told == *frame => None,
            Some(_) => Some(all.unwrap_or(Refresh::Partial)),
        }
    }

    fn is_awaited(&self) -> bool {
        self.refreshing.is_some() && self.fault.is_none()
    }
}

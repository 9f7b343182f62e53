//! What the simulated parts and the bench share, one watch per kind of signal.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use device::{board::BoardSpec, lights::Rgb, output::AccessPoint};
use render::Bitmap;
use tokio::{sync::watch, time::Instant};

use super::{PanelTiming, PowerCycle, SimFault};
use crate::ports::ButtonEdge;

/// Light in the room until somebody changes it, thousandths of a lux.
const MILLILUX_AT_START: u32 = 80_000;

/// All signals of the board.
#[derive(Debug)]
pub(super) struct Wires {
    pub(super) spec: BoardSpec,
    pub(super) timing: PanelTiming,
    pub(super) panels: watch::Sender<Vec<PanelWire>>,
    pub(super) strip: watch::Sender<Vec<Rgb>>,
    pub(super) frontlight: watch::Sender<Vec<u16>>,
    pub(super) millilux: watch::Sender<Option<u32>>,
    pub(super) buttons: watch::Sender<Fingers>,
    pub(super) link_up: watch::Sender<bool>,
    /// Name of the network that the radio has joined.
    pub(super) network: watch::Sender<Option<String>>,
    pub(super) access_point: watch::Sender<Option<AccessPoint>>,
    /// Where names are answered while the radio is an access point.
    pub(super) names: watch::Sender<Option<SocketAddr>>,
    pub(super) power: watch::Sender<Option<PowerCycle>>,
}

impl Wires {
    pub(super) fn new(spec: BoardSpec, timing: PanelTiming, held: PowerCycle) -> Wires {
        let paper = Arc::new(Bitmap::paper(spec.panel_width, spec.panel_height));
        Wires {
            spec,
            timing,
            panels: watch::Sender::new(vec![PanelWire::new(paper); spec.panels]),
            strip: watch::Sender::new(vec![Rgb::BLACK; spec.leds]),
            frontlight: watch::Sender::new(vec![0; if spec.frontlight { spec.panels } else { 0 }]),
            millilux: watch::Sender::new(spec.light_sensor.then_some(MILLILUX_AT_START)),
            buttons: watch::Sender::new(Fingers::new(held, Instant::now())),
            link_up: watch::Sender::new(true),
            network: watch::Sender::new(None),
            access_point: watch::Sender::new(None),
            names: watch::Sender::new(None),
            power: watch::Sender::new(None),
        }
    }
}

/// Number of buttons.
pub(super) const BUTTONS: usize = 4;

/// Edges that are kept for whoever reads them.
const EDGES_MAX: usize = 64;

/// Fingers on the buttons, and the edges they made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingers {
    /// How many fingers are on each button: two clients may press the same one.
    down: [u32; BUTTONS],
    /// Buttons held since the power came on.
    hold: Option<Hold>,
    /// The newest edges; never empty.
    edges: VecDeque<ButtonEdge>,
    /// Edges that were there before these.
    forgotten: u64,
}

/// Buttons held until a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hold {
    mask: u8,
    until: Instant,
}

impl Fingers {
    /// Fingers that hold buttons as the power comes on, or none.
    fn new(held: PowerCycle, now: Instant) -> Fingers {
        let hold = (!held.held.is_zero()).then(|| Hold {
            mask: held.mask,
            until: now + held.held,
        });
        let down = hold.map_or(0, |hold| hold.mask);
        Fingers {
            down: [0; BUTTONS],
            hold,
            edges: [ButtonEdge { down, at: now }].into(),
            forgotten: 0,
        }
    }

    /// A bit per button that is down.
    pub(super) fn mask(&self, now: Instant) -> u8 {
        let pressed = self
            .down
            .iter()
            .enumerate()
            .filter(|(_, fingers)| **fingers > 0)
            .fold(0, |mask, (button, _)| mask | (1 << button));
        let held = self
            .hold
            .filter(|hold| now < hold.until)
            .map_or(0, |hold| hold.mask);
        pressed | held
    }

    /// Puts a finger on each of these buttons.
    pub(super) fn press(&mut self, mask: u8, now: Instant) {
        self.change(mask, now, |fingers| fingers.saturating_add(1));
    }

    /// Takes a finger off each of these buttons.
    pub(super) fn release(&mut self, mask: u8, now: Instant) {
        self.change(mask, now, |fingers| fingers.saturating_sub(1));
    }

    /// When the buttons held since the power came on are let go; none if they are.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.hold.map(|hold| hold.until)
    }

    /// Lets go of the buttons held since the power came on, if it is time; tells whether it is.
    pub(super) fn let_go(&mut self, now: Instant) -> bool {
        let Some(hold) = self.hold.take_if(|hold| hold.until <= now) else {
            return false;
        };
        self.note(hold.until);
        true
    }

    /// The edge of this number, counted from 0, or the oldest that is kept after it; with the number of the next.
    pub(super) fn edge(&self, number: u64) -> Option<(ButtonEdge, u64)> {
        let number = number.max(self.forgotten);
        let place = usize::try_from(number - self.forgotten).ok()?;
        Some((*self.edges.get(place)?, number + 1))
    }

    fn change(&mut self, mask: u8, now: Instant, change: impl Fn(u32) -> u32) {
        self.let_go(now);
        for (button, fingers) in self.down.iter_mut().enumerate() {
            if mask & (1 << button) != 0 {
                *fingers = change(*fingers);
            }
        }
        self.note(now);
    }

    fn note(&mut self, at: Instant) {
        let down = self.mask(at);
        if self.edges.back().is_some_and(|newest| newest.down == down) {
            return;
        }
        self.edges.push_back(ButtonEdge { down, at });
        if self.edges.len() > EDGES_MAX {
            self.edges.pop_front();
            self.forgotten += 1;
        }
    }
}

/// One panel.
#[derive(Debug, Clone)]
pub(super) struct PanelWire {
    /// What the paper showed before the refresh that runs.
    before: Arc<Bitmap>,
    /// What it was last told to show.
    frame: Arc<Bitmap>,
    /// End of the last refresh; none if it never refreshed.
    done: Option<Instant>,
    pub(super) fault: SimFault,
    pub(super) full: u64,
    pub(super) partial: u64,
}

impl PanelWire {
    fn new(paper: Arc<Bitmap>) -> PanelWire {
        PanelWire {
            before: Arc::clone(&paper),
            frame: paper,
            done: None,
            fault: SimFault::None,
            full: 0,
            partial: 0,
        }
    }

    pub(super) fn begin(&mut self, frame: Arc<Bitmap>, done: Instant) {
        self.before = std::mem::replace(&mut self.frame, frame);
        self.done = Some(done);
    }

    /// Tells whether the ink still moves, or the line says so.
    pub(super) fn busy(&self, now: Instant) -> bool {
        match self.fault {
            SimFault::BusyStuck => true,
            SimFault::None => self.done.is_some_and(|done| now < done),
        }
    }

    /// When it becomes idle by itself; none if never.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        match self.fault {
            SimFault::BusyStuck => None,
            SimFault::None => self.done,
        }
    }

    /// What is on the paper.
    pub(super) fn shown(&self, now: Instant) -> &Arc<Bitmap> {
        if self.done.is_some_and(|done| now < done) {
            &self.before
        } else {
            &self.frame
        }
    }
}

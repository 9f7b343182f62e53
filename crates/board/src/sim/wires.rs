//! The signals that the simulated parts and the bench share, one watch channel each.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use device::{board::BoardSpec, lights::Rgb, output::AccessPoint};
use render::Bitmap;
use tokio::{sync::watch, time::Instant};

use super::{PanelTiming, PowerCycle, SimFault, SimOptions};
use crate::{
    parts::epaper::{MODELS, Times},
    ports::ButtonEdge,
};

/// Initial light, thousandths of a lux.
const MILLILUX_AT_START: u32 = 80_000;

/// All signals of the board.
#[derive(Debug)]
pub(super) struct Wires {
    pub(super) spec: BoardSpec,
    pub(super) timing: PanelTiming,
    pub(super) times: &'static Times,
    pub(super) panels: watch::Sender<Vec<PanelWire>>,
    pub(super) strip: watch::Sender<Vec<Rgb>>,
    pub(super) frontlight: watch::Sender<Vec<u16>>,
    pub(super) millilux: watch::Sender<Option<u32>>,
    pub(super) buttons: watch::Sender<ButtonContacts>,
    pub(super) link_up: watch::Sender<bool>,
    /// Name of the network that the radio has joined.
    pub(super) network: watch::Sender<Option<String>>,
    pub(super) access_point: watch::Sender<Option<AccessPoint>>,
    /// Address of the name server while the radio is an access point.
    pub(super) names: watch::Sender<Option<SocketAddr>>,
    pub(super) power: watch::Sender<Option<PowerCycle>>,
}

impl Wires {
    pub(super) fn new(spec: BoardSpec, options: &SimOptions) -> Wires {
        let (width, height) = spec.panel_size();
        let paper = Arc::new(Bitmap::paper(width, height));
        Wires {
            spec,
            timing: options.timing,
            times: options.times.unwrap_or(&MODELS[0].times),
            panels: watch::Sender::new(vec![PanelWire::new(paper); spec.panel_count()]),
            strip: watch::Sender::new(vec![Rgb::BLACK; spec.leds]),
            frontlight: watch::Sender::new(vec![
                0;
                if spec.frontlight {
                    spec.panel_count()
                } else {
                    0
                }
            ]),
            millilux: watch::Sender::new(spec.light_sensor.then_some(MILLILUX_AT_START)),
            buttons: watch::Sender::new(ButtonContacts::new(options.held, Instant::now())),
            link_up: watch::Sender::new(true),
            network: watch::Sender::new(None),
            access_point: watch::Sender::new(None),
            names: watch::Sender::new(None),
            power: watch::Sender::new(None),
        }
    }
}

pub(super) const BUTTONS: usize = 4;

/// Largest number of stored edges.
const EDGES_MAX: usize = 64;

/// The buttons, and the edges of their contacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ButtonContacts {
    /// Number of presses of each button: two clients may press the same one.
    down: [u32; BUTTONS],
    /// Buttons held since power-on.
    hold: Option<Hold>,
    /// The newest edges; never empty.
    edges: VecDeque<ButtonEdge>,
    /// Number of edges that were dropped before them.
    dropped: u64,
}

/// Buttons held until a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hold {
    mask: u8,
    until: Instant,
}

impl ButtonContacts {
    /// The buttons at power-on, some of them held.
    fn new(held: PowerCycle, now: Instant) -> ButtonContacts {
        let hold = (!held.held.is_zero()).then(|| Hold {
            mask: held.mask,
            until: now + held.held,
        });
        let down = hold.map_or(0, |hold| hold.mask);
        ButtonContacts {
            down: [0; BUTTONS],
            hold,
            edges: [ButtonEdge { down, at: now }].into(),
            dropped: 0,
        }
    }

    /// The buttons that are down, one bit each.
    pub(super) fn mask(&self, now: Instant) -> u8 {
        let pressed = self
            .down
            .iter()
            .enumerate()
            .filter(|(_, presses)| **presses > 0)
            .fold(0, |mask, (button, _)| mask | (1 << button));
        let held = self
            .hold
            .filter(|hold| now < hold.until)
            .map_or(0, |hold| hold.mask);
        pressed | held
    }

    /// Presses these buttons.
    pub(super) fn press(&mut self, mask: u8, now: Instant) {
        self.change(mask, now, |presses| presses.saturating_add(1));
    }

    pub(super) fn release(&mut self, mask: u8, now: Instant) {
        self.change(mask, now, |presses| presses.saturating_sub(1));
    }

    /// When the buttons held since power-on are released; `None` if they are.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.hold.map(|hold| hold.until)
    }

    /// Releases the buttons held since power-on if that is due; returns whether it was.
    pub(super) fn release_held(&mut self, now: Instant) -> bool {
        let Some(hold) = self.hold.take_if(|hold| hold.until <= now) else {
            return false;
        };
        self.record(hold.until);
        true
    }

    /// The edge with this number, or the oldest stored one after it, and the number of the next. The first edge is 0.
    pub(super) fn edge(&self, number: u64) -> Option<(ButtonEdge, u64)> {
        let number = number.max(self.dropped);
        let place = usize::try_from(number - self.dropped).ok()?;
        Some((*self.edges.get(place)?, number + 1))
    }

    fn change(&mut self, mask: u8, now: Instant, change: impl Fn(u32) -> u32) {
        self.release_held(now);
        for (button, presses) in self.down.iter_mut().enumerate() {
            if mask & (1 << button) != 0 {
                *presses = change(*presses);
            }
        }
        self.record(now);
    }

    fn record(&mut self, at: Instant) {
        let down = self.mask(at);
        if self.edges.back().is_some_and(|newest| newest.down == down) {
            return;
        }
        self.edges.push_back(ButtonEdge { down, at });
        if self.edges.len() > EDGES_MAX {
            self.edges.pop_front();
            self.dropped += 1;
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct PanelWire {
    /// The picture before the running refresh.
    before: Arc<Bitmap>,
    /// The newest picture.
    frame: Arc<Bitmap>,
    /// End of the last refresh; `None` before the first.
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

    pub(super) fn start(&mut self, frame: Arc<Bitmap>, done: Instant) {
        self.before = std::mem::replace(&mut self.frame, frame);
        self.done = Some(done);
    }

    /// Returns whether it refreshes, or its busy line is stuck.
    pub(super) fn busy(&self, now: Instant) -> bool {
        match self.fault {
            SimFault::BusyStuck => true,
            SimFault::None => self.done.is_some_and(|done| now < done),
        }
    }

    /// When it becomes idle; `None` if never.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        match self.fault {
            SimFault::BusyStuck => None,
            SimFault::None => self.done,
        }
    }

    pub(super) fn shown(&self, now: Instant) -> &Arc<Bitmap> {
        if self.done.is_some_and(|done| now < done) {
            &self.before
        } else {
            &self.frame
        }
    }
}

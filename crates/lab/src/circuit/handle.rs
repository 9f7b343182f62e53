//! A circuit, as those who hold it see it.

use std::{
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use device::lights::Rgb;
use render::Bitmap;
use tokio::{sync::watch, time::Instant};

use super::{I2cCondition, PanelCondition, ssd1680, state::SimCircuit};
use board::{
    parts::mcp23017::LineLevel,
    wiring::{Wiring, WiringLine},
};

/// How time passes in a circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// By what happens on the buses, and when it is told to.
    Stepped,
    /// With the clock of the runtime.
    Live,
}

/// A circuit; clones are the same one.
#[derive(Debug, Clone)]
pub struct Circuit {
    shared: Arc<CircuitShared>,
}

/// State that all clones of a circuit handle share.
#[derive(Debug)]
struct CircuitShared {
    #[expect(
        clippy::disallowed_types,
        reason = "the traits of embedded-hal let drivers on several threads act on one circuit"
    )]
    state: std::sync::Mutex<SimCircuit>,
    /// Moment at which the power came on, while time passes by itself.
    origin: Option<Instant>,
    /// Counts what anybody did, for those who wait for a level.
    changes: watch::Sender<u64>,
}

impl Circuit {
    /// Switches the power of a circuit on.
    pub fn new(wiring: &Wiring, flow: Flow) -> Circuit {
        let origin = match flow {
            Flow::Stepped => None,
            Flow::Live => Some(Instant::now()),
        };
        #[expect(clippy::disallowed_types, reason = "as the field says")]
        let state = std::sync::Mutex::new(SimCircuit::new(wiring));
        Circuit {
            shared: Arc::new(CircuitShared {
                state,
                origin,
                changes: watch::Sender::new(0),
            }),
        }
    }

    /// Time since the power came on.
    pub fn now(&self) -> Duration {
        self.lock().now()
    }

    /// Moment of the runtime's clock that a time since power-on is.
    pub fn moment(&self, time: Duration) -> Option<Instant> {
        self.shared.origin.map(|origin| origin + time)
    }

    /// Lets time pass until a moment, if it is not over.
    pub fn advance(&self, to: Duration) {
        self.change(|state| state.advance(to));
    }

    /// When a level changes by itself next, if nobody does anything.
    pub fn next_change(&self) -> Option<Duration> {
        self.lock().next_change()
    }

    /// Counts what anybody does.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// What the glass of a panel shows, as its viewer sees it; none if there is no such panel.
    pub fn glass(&self, panel: usize) -> Option<Bitmap> {
        self.lock().panel(panel).map(ssd1680::Ssd1680Chip::glass)
    }

    /// Largest number of partial refreshes that a pixel of a panel has been through since its last full one.
    pub fn ghosts(&self, panel: usize) -> u32 {
        self.lock()
            .panel(panel)
            .map_or(0, ssd1680::Ssd1680Chip::ghosts)
    }

    /// Full and partial refreshes of a panel since power-on.
    pub fn refreshes(&self, panel: usize) -> (u64, u64) {
        self.lock()
            .panel(panel)
            .map_or((0, 0), ssd1680::Ssd1680Chip::refreshes)
    }

    /// Tells whether the ink of a panel moves.
    pub fn is_refreshing(&self, panel: usize) -> bool {
        self.lock()
            .panel(panel)
            .is_some_and(ssd1680::Ssd1680Chip::is_updating)
    }

    /// Breaks a panel, or mends it.
    pub fn set_condition(&self, panel: usize, condition: PanelCondition) {
        self.change(|state| state.set_condition(panel, condition));
    }

    /// Condition of a panel.
    pub fn condition(&self, panel: usize) -> PanelCondition {
        self.lock()
            .panel(panel)
            .map_or(PanelCondition::Absent, ssd1680::Ssd1680Chip::condition)
    }

    /// Pulls an expander out, by its name.
    pub fn unplug(&self, expander: &str) {
        self.change(|state| state.plug(expander, false));
    }

    /// Puts an expander in; it is as new.
    pub fn plug(&self, expander: &str) {
        self.change(|state| state.plug(expander, true));
    }

    /// Pulls the driver of the frontlight out.
    pub fn unplug_frontlight(&self) {
        self.change(|state| state.plug_frontlight(false));
    }

    /// Puts the driver of the frontlight in; it is as new.
    pub fn plug_frontlight(&self) {
        self.change(|state| state.plug_frontlight(true));
    }

    /// Lets the I2C bus hang, or frees it.
    pub fn set_i2c(&self, condition: I2cCondition) {
        self.change(|state| state.i2c = condition);
    }

    /// Changes the light in the room, thousandths of a lux; none takes the sensor away.
    pub fn set_millilux(&self, millilux: Option<u32>) {
        self.change(|state| state.set_millilux(millilux));
    }

    /// Puts a finger on a line, which connects it to ground, or takes it off.
    pub fn touch(&self, line: &WiringLine, finger: LineLevel) {
        self.change(|state| state.touch(line, finger));
    }

    /// Level of a line, on the far side of its inverter if there is one.
    pub fn level(&self, line: &WiringLine) -> LineLevel {
        self.lock().level(line)
    }

    /// What the LEDs show, in the order of their chain.
    pub fn leds(&self) -> Vec<Rgb> {
        self.lock().leds()
    }

    /// Duties that the frontlight's LEDs see, in the order of the outputs.
    pub fn duties(&self) -> Vec<u16> {
        self.lock().duties()
    }

    /// What was done to chips that their makers forbid, oldest first.
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations()
    }

    /// Does something to the circuit, and tells those who wait for a level.
    pub(super) fn change<T>(&self, act: impl FnOnce(&mut SimCircuit) -> T) -> T {
        let outcome = act(&mut self.lock());
        self.shared
            .changes
            .send_modify(|count| *count = count.wrapping_add(1));
        outcome
    }

    /// The state as it is by now.
    pub(super) fn lock(&self) -> MutexGuard<'_, SimCircuit> {
        let mut state = self
            .shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(origin) = self.shared.origin {
            state.advance(origin.elapsed());
        }
        state
    }
}

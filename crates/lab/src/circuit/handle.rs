//! A circuit, for tests.

use std::{
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use device::lights::Rgb;
use render::Bitmap;
use tokio::{sync::watch, time::Instant};

use super::{I2cCondition, PanelCondition, panel::PanelChip, state::SimCircuit};
use board::{
    parts::mcp23017::LineLevel,
    wiring::{Wiring, WiringLine},
};

/// How time passes in a circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// With transfers on the buses, and by [`Circuit::advance`].
    Stepped,
    /// With the clock of the runtime.
    Live,
}

/// A circuit. Clones are the same circuit.
#[derive(Debug, Clone)]
pub struct Circuit {
    shared: Arc<CircuitShared>,
}

/// State that all clones of a circuit handle share.
#[derive(Debug)]
struct CircuitShared {
    state: std::sync::Mutex<SimCircuit>,
    /// Moment of power-on, if time passes by itself.
    origin: Option<Instant>,
    /// Counts changes, for tasks that wait for a level.
    changes: watch::Sender<u64>,
}

impl Circuit {
    /// Switches the power of a circuit on.
    pub fn new(wiring: &Wiring, flow: Flow) -> Circuit {
        let origin = match flow {
            Flow::Stepped => None,
            Flow::Live => Some(Instant::now()),
        };
        let state = std::sync::Mutex::new(SimCircuit::new(wiring));
        Circuit {
            shared: Arc::new(CircuitShared {
                state,
                origin,
                changes: watch::Sender::new(0),
            }),
        }
    }

    /// Time since power-on.
    pub fn now(&self) -> Duration {
        self.lock().now()
    }

    /// Converts a time since power-on; `None` if time does not pass by itself.
    pub fn moment(&self, time: Duration) -> Option<Instant> {
        self.shared.origin.map(|origin| origin + time)
    }

    /// Advances time to a moment, if that is in the future.
    pub fn advance(&self, to: Duration) {
        self.change(|state| state.advance(to));
    }

    /// When a level changes next without an action.
    pub fn next_change(&self) -> Option<Duration> {
        self.lock().next_change()
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// The picture on a panel; `None` if there is no such panel.
    pub fn glass(&self, panel: usize) -> Option<Bitmap> {
        self.lock().panel(panel).map(PanelChip::glass)
    }

    /// Largest number of partial refreshes of a pixel of a panel since its last full one.
    pub fn ghosts(&self, panel: usize) -> u32 {
        self.lock().panel(panel).map_or(0, PanelChip::ghosts)
    }

    /// Full and partial refreshes of a panel since power-on.
    pub fn refreshes(&self, panel: usize) -> (u64, u64) {
        self.lock()
            .panel(panel)
            .map_or((0, 0), PanelChip::refreshes)
    }

    pub fn is_refreshing(&self, panel: usize) -> bool {
        self.lock().panel(panel).is_some_and(PanelChip::is_updating)
    }

    /// Returns whether a panel is in deep sleep.
    pub fn is_asleep(&self, panel: usize) -> bool {
        self.lock().panel(panel).is_some_and(PanelChip::is_asleep)
    }

    pub fn set_condition(&self, panel: usize, condition: PanelCondition) {
        self.change(|state| state.set_condition(panel, condition));
    }

    pub fn condition(&self, panel: usize) -> PanelCondition {
        self.lock()
            .panel(panel)
            .map_or(PanelCondition::Absent, PanelChip::condition)
    }

    /// Unplugs an expander, by its name.
    pub fn unplug(&self, expander: &str) {
        self.change(|state| state.plug(expander, false));
    }

    /// Plugs an expander in, with its registers at their defaults.
    pub fn plug(&self, expander: &str) {
        self.change(|state| state.plug(expander, true));
    }

    pub fn unplug_frontlight(&self) {
        self.change(|state| state.plug_frontlight(false));
    }

    /// Plugs the driver of the frontlight in, with its registers at their defaults.
    pub fn plug_frontlight(&self) {
        self.change(|state| state.plug_frontlight(true));
    }

    /// Sets the condition of the I2C bus.
    pub fn set_i2c(&self, condition: I2cCondition) {
        self.change(|state| state.i2c = condition);
    }

    /// Changes the light, thousandths of a lux; `None` removes the sensor.
    pub fn set_millilux(&self, millilux: Option<u32>) {
        self.change(|state| state.set_millilux(millilux));
    }

    /// Presses the button on a line, which connects it to ground (`Low`), or releases it (`High`).
    pub fn touch(&self, line: &WiringLine, button: LineLevel) {
        self.change(|state| state.press(line, button));
    }

    /// Level of a line, after its inverter if there is one.
    pub fn level(&self, line: &WiringLine) -> LineLevel {
        self.lock().level(line)
    }

    /// Colours of the LEDs, in their order.
    pub fn leds(&self) -> Vec<Rgb> {
        self.lock().leds()
    }

    /// Duties of the LEDs of the frontlight, in the order of the outputs.
    pub fn duties(&self) -> Vec<u16> {
        self.lock().duties()
    }

    /// Violations of data sheets, oldest first.
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations()
    }

    /// Records the commands to the panels from now on.
    pub fn record(&self) {
        self.lock().commands = Some(Vec::new());
    }

    /// The recorded commands to the panels, with their data.
    pub fn commands(&self) -> Vec<(u8, Vec<u8>)> {
        self.lock().commands.clone().unwrap_or_default()
    }

    /// Changes the circuit and notifies the tasks that wait for a level.
    pub(super) fn change<T>(&self, act: impl FnOnce(&mut SimCircuit) -> T) -> T {
        let outcome = act(&mut self.lock());
        self.shared
            .changes
            .send_modify(|count| *count = count.wrapping_add(1));
        outcome
    }

    /// Locks the state, advanced to now.
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

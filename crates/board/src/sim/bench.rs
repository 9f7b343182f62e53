//! The bench: presses buttons, changes the light and the network, and reads the signals of a simulated board.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use api::documents::bench::{
    AccessPointState, BenchLink, BenchPanelState, BenchSignals, PowerState, SimFault,
};
use device::board::BoardSpec;
use render::Bitmap;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    PowerCycle,
    wires::{BUTTONS, Wires},
};

/// Longest time that a button can be held.
pub const PRESS_MAX: Duration = Duration::from_secs(60);

/// Time between the request of a power cut and the cut, so that the response is sent.
const CUT_DELAY: Duration = Duration::from_millis(100);

/// Controls a simulated board and reads its signals. Clones control the same board.
#[derive(Debug, Clone)]
pub struct Bench {
    wires: Arc<Wires>,
}

/// Why the bench refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchError {
    /// The board has no button with that number; the first is 1.
    NoButton(u64),
    /// The board has no panel with that index; the first is 0.
    NoPanel(usize),
    /// A button cannot be held for so long.
    TooLong,
    /// The board has no light sensor.
    NoSensor,
}

impl std::fmt::Display for BenchError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BenchError::NoButton(button) => {
                write!(formatter, "no button {button}: buttons are 1 to {BUTTONS}")
            }
            BenchError::NoPanel(panel) => write!(formatter, "no panel {panel}"),
            BenchError::TooLong => {
                write!(
                    formatter,
                    "buttons can be held for {} s at most",
                    PRESS_MAX.as_secs()
                )
            }
            BenchError::NoSensor => formatter.write_str("the board has no light sensor"),
        }
    }
}

impl std::error::Error for BenchError {}

/// Releases the buttons when dropped, also when the client disconnects during a press.
struct ReleaseGuard<'a> {
    wires: &'a Wires,
    mask: u8,
}

impl Drop for ReleaseGuard<'_> {
    fn drop(&mut self) {
        self.wires
            .buttons
            .send_modify(|contacts| contacts.release(self.mask, Instant::now()));
    }
}

impl Bench {
    pub(super) fn new(wires: Arc<Wires>) -> Bench {
        Bench { wires }
    }

    pub fn board(&self) -> &BoardSpec {
        &self.wires.spec
    }

    /// All signals right now.
    pub fn state(&self) -> BenchSignals {
        let now = Instant::now();
        let wires = &self.wires;
        let panels = wires.panels.borrow();
        let mask = wires.buttons.borrow().mask(now);
        BenchSignals {
            board: wires.spec.id,
            panel_timing: wires.timing.name(),
            panels: panels
                .iter()
                .map(|panel| BenchPanelState {
                    full: panel.full,
                    partial: panel.partial,
                    busy: panel.busy(now),
                    fault: panel.fault,
                })
                .collect(),
            leds: wires
                .strip
                .borrow()
                .iter()
                .map(|colour| colour.hex())
                .collect(),
            frontlight: wires.frontlight.borrow().clone(),
            buttons: (1..=4)
                .filter(|button| mask & (1 << (button - 1)) != 0)
                .collect(),
            lux: wires
                .millilux
                .borrow()
                .map(|millilux| f64::from(millilux) / 1000.0),
            link: if *wires.link_up.borrow() { BenchLink::Up } else { BenchLink::Down },
            network: wires.network.borrow().clone(),
            access_point: wires.access_point.borrow().as_ref().map(|access_point| {
                AccessPointState {
                    ssid: access_point.ssid.clone(),
                    password: access_point.password.expose().to_string(),
                    dns: wires.names.borrow().map(|place| place.to_string()),
                }
            }),
            power: if wires.power.borrow().is_some() {
                PowerState::Cycling
            } else {
                PowerState::On
            },
        }
    }

    /// Sets the address of the name server while the radio is an access point.
    pub fn set_names(&self, place: Option<SocketAddr>) {
        self.wires.names.send_replace(place);
    }

    /// The picture on a panel right now.
    ///
    /// # Errors
    /// No such panel.
    pub fn shown(&self, panel: usize) -> Result<Arc<Bitmap>, BenchError> {
        let panels = self.wires.panels.borrow();
        let wire = panels.get(panel).ok_or(BenchError::NoPanel(panel))?;
        Ok(Arc::clone(wire.shown(Instant::now())))
    }

    /// Presses buttons together and releases them after a time. The first button is 1.
    ///
    /// # Errors
    /// No such button, or held for too long.
    pub async fn press(&self, buttons: &[u64], hold: Duration) -> Result<(), BenchError> {
        let mask = mask_of(buttons)?;
        if hold > PRESS_MAX {
            return Err(BenchError::TooLong);
        }
        if mask == 0 {
            return Ok(());
        }
        self.wires
            .buttons
            .send_modify(|contacts| contacts.press(mask, Instant::now()));
        let release = ReleaseGuard {
            wires: &self.wires,
            mask,
        };
        sleep(hold).await;
        drop(release);
        Ok(())
    }

    /// Changes the light, thousandths of a lux; `None` removes the sensor.
    ///
    /// # Errors
    /// The board has no sensor.
    pub fn set_millilux(&self, millilux: Option<u32>) -> Result<(), BenchError> {
        if !self.wires.spec.light_sensor {
            return Err(BenchError::NoSensor);
        }
        self.wires.millilux.send_replace(millilux);
        Ok(())
    }

    /// Plugs the network in or unplugs it.
    pub fn set_link(&self, up: bool) {
        self.wires.link_up.send_replace(up);
    }

    /// Sets the fault of a panel. The first panel is 0.
    ///
    /// # Errors
    /// No such panel.
    pub fn set_fault(&self, panel: usize, fault: SimFault) -> Result<(), BenchError> {
        if panel >= self.wires.spec.panel_count() {
            return Err(BenchError::NoPanel(panel));
        }
        self.wires
            .panels
            .send_modify(|panels| panels[panel].fault = fault);
        Ok(())
    }

    /// Cuts the power and restores it, with buttons held for a while after that.
    ///
    /// # Errors
    /// No such button, or held for too long.
    pub fn cycle_power(&self, buttons: &[u64], held: Duration) -> Result<(), BenchError> {
        let mask = mask_of(buttons)?;
        if held > PRESS_MAX {
            return Err(BenchError::TooLong);
        }
        self.wires
            .power
            .send_replace(Some(PowerCycle { mask, held }));
        Ok(())
    }

    /// Waits for a power cut. The caller must then end the board at once.
    pub async fn power_cut(&self) -> PowerCycle {
        let mut power = self.wires.power.subscribe();
        let cycle = match power.wait_for(Option::is_some).await {
            Ok(cycle) => *cycle,
            Err(_) => None,
        };
        match cycle {
            Some(cycle) => {
                sleep(CUT_DELAY).await;
                cycle
            }
            None => std::future::pending().await,
        }
    }

    /// Receivers of the colours of the strip and the duties of the frontlight.
    pub fn lights(
        &self,
    ) -> (
        watch::Receiver<Vec<device::lights::Rgb>>,
        watch::Receiver<Vec<u16>>,
    ) {
        (
            self.wires.strip.subscribe(),
            self.wires.frontlight.subscribe(),
        )
    }
}

fn mask_of(buttons: &[u64]) -> Result<u8, BenchError> {
    let mut mask = 0;
    for button in buttons {
        let pin = button.checked_sub(1).filter(|pin| *pin < BUTTONS as u64);
        mask |= 1 << pin.ok_or(BenchError::NoButton(*button))?;
    }
    Ok(mask)
}

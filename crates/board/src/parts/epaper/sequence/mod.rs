//! The steps of refreshes, for each family of controllers.
//!
//! Both planes are written before every refresh, the old one with the picture on the panel, because it is not documented
//! reliably whether a controller copies the new plane to the old one. To send a large plane takes more than a twentieth of a
//! partial refresh, so its new plane gets the picture on the panel during the preparation, and for the refresh only the rows
//! that change.

pub mod colour;
pub mod ssd16xx;
pub mod uc8179;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use device::board::PanelFault;

use super::{Family, PanelImage, PlaneForm, Setup};

pub const RESET_PULSE: Duration = Duration::from_millis(20);

/// Time that a controller needs after a reset command.
pub const SETTLE: Duration = Duration::from_millis(10);

/// Longest time that a controller is busy with anything but a refresh.
pub const RESET_LIMIT: Duration = Duration::from_secs(5);

/// Interval of the looks for the start of the busy signal after a refresh was started.
pub const RISE_INTERVAL: Duration = Duration::from_millis(20);

/// Time within which the busy signal must start after a refresh was started.
pub const RISE_LIMIT: Duration = Duration::from_millis(200);

/// Shortest refresh. A controller that ends sooner had no waveform for the temperature and did nothing.
pub const REFRESH_MIN: Duration = Duration::from_millis(150);

/// Time between the start of deep sleep and the end of the supply.
pub const SLEEP_SETTLE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelStep {
    Pause(Duration),
    /// Waits until the controller is busy, at most for [`RISE_LIMIT`].
    Busy,
    /// Waits until the controller is idle, at most for this time.
    Idle(Duration),
    /// Sends a command and its parameters.
    Send(u8, Vec<u8>),
    /// Sends a command and a picture.
    Picture(u8, Arc<PanelImage>, PlaneForm),
    /// Starts the refresh with this command and its parameters.
    Activate(u8, &'static [u8]),
}

/// Steps of a full refresh. They set all registers, so that their state before does not matter.
pub fn full(setup: &Setup, new: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    match &setup.model.family {
        Family::Ssd16xx(controller) => ssd16xx::full(controller, setup, new),
        Family::Uc8179(registers) => uc8179::full(registers, setup, new),
        Family::Colour(registers) => colour::full(registers, setup, new),
    }
}

/// Steps of a partial refresh that do not depend on the new picture, so that they can be sent before it is known.
pub fn prepare(setup: &Setup, shown: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    match &setup.model.family {
        Family::Ssd16xx(controller) => ssd16xx::prepare(controller, setup, shown),
        Family::Uc8179(registers) => uc8179::prepare(registers, setup, shown),
        Family::Colour(_) => VecDeque::new(),
    }
}

/// The other steps of a partial refresh, after [`prepare`].
pub fn partial(setup: &Setup, shown: &PanelImage, new: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    match &setup.model.family {
        Family::Ssd16xx(controller) => ssd16xx::partial(controller, setup, shown, new),
        Family::Uc8179(_) => uc8179::partial(setup, shown, new),
        Family::Colour(registers) => colour::full(registers, setup, new),
    }
}

/// Time that a command about the supply takes at most, to wait for if its busy signal does not arrive.
const SUPPLY_SETTLE: Duration = Duration::from_millis(500);

/// Steps after a failed refresh, which switch the supply off if the controller does not do that by itself.
pub fn after_failure(setup: &Setup, fault: PanelFault) -> VecDeque<PanelStep> {
    let off: &[u8] = match (&setup.model.family, fault) {
        // A panel that is busy cannot be switched off, only reset.
        (_, PanelFault::BusyStuck | PanelFault::StartedBusy | PanelFault::Bus) => {
            return VecDeque::new();
        }
        // The refresh may run although its busy signal does not arrive; nothing may interrupt it.
        (Family::Ssd16xx(_), PanelFault::NotRefreshed) => {
            return [PanelStep::Pause(2 * setup.model.times.full)].into();
        }
        (Family::Ssd16xx(_), PanelFault::Slow) => return VecDeque::new(),
        (Family::Uc8179(_), _) => &[],
        (Family::Colour(_), _) => &[0x00],
    };
    // The busy signal of the supply may not arrive either.
    let settle = PanelStep::Pause(SUPPLY_SETTLE);
    let mut steps = VecDeque::from([settle.clone()]);
    steps.extend(uc8179::power(uc8179::command::POWER_OFF, off));
    steps.push_back(settle);
    steps
}

/// Steps to deep sleep.
pub fn sleep(setup: &Setup) -> VecDeque<PanelStep> {
    let mut steps = match &setup.model.family {
        Family::Ssd16xx(_) => ssd16xx::sleep(),
        Family::Uc8179(_) => uc8179::sleep(),
        Family::Colour(_) => colour::sleep(),
    };
    steps.push_back(PanelStep::Pause(SLEEP_SETTLE));
    steps
}

fn send(command: u8, parameters: &[u8]) -> PanelStep {
    PanelStep::Send(command, parameters.to_vec())
}

fn send_all(registers: super::Registers) -> impl Iterator<Item = PanelStep> {
    let registers = registers.iter();
    registers.map(|(command, parameters)| send(*command, parameters))
}

//! The command sequences of refreshes.
//!
//! Both banks are written before every refresh, the old one with the picture on the panel, because it is not documented
//! reliably whether the controller copies the new bank to the old one.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::{FullWaveform, PanelImage, Setup};

pub const RESET_PULSE: Duration = Duration::from_millis(20);

/// Time that a controller needs after a reset command.
pub const SETTLE: Duration = Duration::from_millis(10);

/// Longest time that a controller is busy with a reset.
pub const RESET_LIMIT: Duration = Duration::from_secs(5);

/// Time within which the busy line must rise after a refresh was started.
pub const RISE_LIMIT: Duration = Duration::from_millis(20);

/// Shortest refresh. A controller that ends sooner had no waveform for the temperature and did nothing.
pub const REFRESH_MIN: Duration = Duration::from_millis(100);

/// Longest refresh. In the cold it takes twice as long as usual.
pub const REFRESH_MAX: Duration = Duration::from_secs(10);

pub mod command {
    /// Sets the number of lines and their order.
    pub const DRIVER_OUTPUT: u8 = 0x01;
    /// Sets the direction of the address counters.
    pub const ENTRY_MODE: u8 = 0x11;
    /// Resets all registers, but not the banks.
    pub const SOFTWARE_RESET: u8 = 0x12;
    pub const TEMPERATURE_SENSOR: u8 = 0x18;
    pub const TEMPERATURE: u8 = 0x1A;
    /// Runs the sequence of [`UPDATE_SEQUENCE`].
    pub const ACTIVATE: u8 = 0x20;
    /// Sets how pixels follow from the banks.
    pub const UPDATE_CONTROL: u8 = 0x21;
    /// Sets what [`ACTIVATE`] does.
    pub const UPDATE_SEQUENCE: u8 = 0x22;
    /// Writes the bank of the new picture.
    pub const WRITE_NEW: u8 = 0x24;
    /// Writes the bank of the old picture.
    pub const WRITE_OLD: u8 = 0x26;
    /// Sets what the border does.
    pub const BORDER: u8 = 0x3C;
    /// Sets the first and last byte of the window.
    pub const WINDOW_X: u8 = 0x44;
    /// Sets the first and last line of the window.
    pub const WINDOW_Y: u8 = 0x45;
    /// Sets the byte at which writing starts.
    pub const COUNTER_X: u8 = 0x4E;
    /// Sets the line at which writing starts.
    pub const COUNTER_Y: u8 = 0x4F;
}

/// Sequences of [`command::UPDATE_SEQUENCE`].
pub mod update {
    /// Full refresh: supply on, temperature, waveform, supply off.
    pub const FULL: u8 = 0xF7;
    /// Full refresh with the waveform for the written temperature.
    pub const FAST_FULL: u8 = 0xD7;
    /// Partial refresh: supply on, temperature, waveform, supply off.
    pub const PARTIAL: u8 = 0xFF;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelStep {
    Pause(Duration),
    /// Waits until the controller is idle, at most for this time.
    Idle(Duration),
    /// Sends a command and its parameters.
    Send(u8, Vec<u8>),
    /// Sends a command and a whole picture.
    Picture(u8, Arc<PanelImage>),
    /// Starts the refresh.
    Activate,
}

/// Steps of a full refresh. They reset the registers first, so that their state before does not matter.
pub fn full(setup: &Setup, new: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([
        PanelStep::Idle(RESET_LIMIT),
        PanelStep::Send(command::SOFTWARE_RESET, Vec::new()),
        PanelStep::Pause(SETTLE),
        PanelStep::Idle(RESET_LIMIT),
    ]);
    steps.extend(registers(setup, Border::Driven));
    steps.extend(picture(setup, command::WRITE_OLD, new));
    steps.extend(picture(setup, command::WRITE_NEW, new));
    match setup.full {
        FullWaveform::Measured => {
            steps.push_back(PanelStep::Send(
                command::UPDATE_SEQUENCE,
                vec![update::FULL],
            ));
        }
        FullWaveform::Warm => {
            steps.push_back(PanelStep::Send(command::TEMPERATURE, vec![HUNDRED_DEGREES]));
            steps.push_back(PanelStep::Send(
                command::UPDATE_SEQUENCE,
                vec![update::FAST_FULL],
            ));
        }
    }
    steps.push_back(PanelStep::Activate);
    steps
}

/// Steps of a partial refresh that do not depend on the new picture, so that they can be sent before it is known.
pub fn prepare(setup: &Setup, shown: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(registers(setup, Border::Resting));
    steps.extend(picture(setup, command::WRITE_OLD, shown));
    steps.push_back(PanelStep::Send(
        command::UPDATE_SEQUENCE,
        vec![update::PARTIAL],
    ));
    steps.extend(window(setup));
    steps
}

/// The other steps of a partial refresh, after [`prepare`].
pub fn partial(new: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    [
        PanelStep::Idle(RESET_LIMIT),
        PanelStep::Picture(command::WRITE_NEW, Arc::clone(new)),
        PanelStep::Activate,
    ]
    .into()
}

/// A temperature with a short waveform.
const HUNDRED_DEGREES: u8 = 0x64;

#[derive(Debug, Clone, Copy)]
enum Border {
    /// It follows the waveform.
    Driven,
    /// It keeps its colour.
    Resting,
}

fn registers(setup: &Setup, border: Border) -> [PanelStep; 4] {
    let [low, high] = (setup.model.height - 1).to_le_bytes();
    let border = match border {
        Border::Driven => 0x05,
        Border::Resting => 0x80,
    };
    [
        PanelStep::Send(command::DRIVER_OUTPUT, vec![low, high, 0x00]),
        PanelStep::Send(command::BORDER, vec![border]),
        // The panel uses the middle columns of the controller.
        PanelStep::Send(command::UPDATE_CONTROL, vec![0x00, 0x80]),
        PanelStep::Send(command::TEMPERATURE_SENSOR, vec![0x80]),
    ]
}

fn picture(setup: &Setup, bank: u8, frame: &Arc<PanelImage>) -> Vec<PanelStep> {
    let mut steps = window(setup).to_vec();
    steps.push(PanelStep::Picture(bank, Arc::clone(frame)));
    steps
}

/// Sets the window to the whole panel, and the counters to its first byte.
fn window(setup: &Setup) -> [PanelStep; 5] {
    let first = setup.x_offset;
    let [low, high] = (setup.model.height - 1).to_le_bytes();
    [
        PanelStep::Send(command::ENTRY_MODE, vec![0x03]),
        PanelStep::Send(
            command::WINDOW_X,
            vec![first, first + super::STRIDE as u8 - 1],
        ),
        PanelStep::Send(command::WINDOW_Y, vec![0x00, 0x00, low, high]),
        PanelStep::Send(command::COUNTER_X, vec![first]),
        PanelStep::Send(command::COUNTER_Y, vec![0x00, 0x00]),
    ]
}

//! SSD1680 and its larger siblings.

use std::{collections::VecDeque, sync::Arc};

use super::{PanelStep, RESET_LIMIT, SETTLE, send, send_all};
use crate::parts::epaper::{FullWaveform, PanelImage, PlaneForm, Registers, Setup, Ssd16xx};

pub mod command {
    /// Sets the number of lines and their order.
    pub const DRIVER_OUTPUT: u8 = 0x01;
    pub const DEEP_SLEEP: u8 = 0x10;
    /// Sets the direction of the address counters.
    pub const ENTRY_MODE: u8 = 0x11;
    /// Resets all registers, but not the planes.
    pub const SOFTWARE_RESET: u8 = 0x12;
    pub const TEMPERATURE: u8 = 0x1A;
    /// Runs the sequence of [`UPDATE_SEQUENCE`].
    pub const ACTIVATE: u8 = 0x20;
    /// Sets how pixels follow from the planes.
    pub const UPDATE_CONTROL: u8 = 0x21;
    /// Sets what [`ACTIVATE`] does.
    pub const UPDATE_SEQUENCE: u8 = 0x22;
    /// Writes the plane of the new picture.
    pub const WRITE_NEW: u8 = 0x24;
    /// Writes the plane of the old picture.
    pub const WRITE_OLD: u8 = 0x26;
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

pub(super) fn full(
    controller: &Ssd16xx,
    setup: &Setup,
    new: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([
        PanelStep::Idle(RESET_LIMIT),
        send(command::SOFTWARE_RESET, &[]),
        PanelStep::Pause(SETTLE),
        PanelStep::Idle(RESET_LIMIT),
    ]);
    steps.extend(registers(controller, setup, controller.full));
    steps.extend(picture(setup, command::WRITE_OLD, new));
    steps.extend(picture(setup, command::WRITE_NEW, new));
    let warm = controller.warm.filter(|_| setup.full == FullWaveform::Warm);
    let sequence = if warm.is_some() { update::FAST_FULL } else { update::FULL };
    steps.extend(warm.map(|temperature| send(command::TEMPERATURE, temperature)));
    steps.push_back(send(command::UPDATE_SEQUENCE, &[sequence]));
    steps.push_back(PanelStep::Activate(command::ACTIVATE));
    steps
}

pub(super) fn prepare(
    controller: &Ssd16xx,
    setup: &Setup,
    shown: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(registers(controller, setup, controller.partial));
    steps.extend(picture(setup, command::WRITE_OLD, shown));
    steps.push_back(send(command::UPDATE_SEQUENCE, &[update::PARTIAL]));
    steps.extend(window(setup));
    steps
}

pub(super) fn partial(new: &Arc<PanelImage>) -> VecDeque<PanelStep> {
    [
        PanelStep::Idle(RESET_LIMIT),
        PanelStep::Picture(command::WRITE_NEW, Arc::clone(new), PlaneForm::Whole),
        PanelStep::Activate(command::ACTIVATE),
    ]
    .into()
}

pub(super) fn sleep() -> VecDeque<PanelStep> {
    [
        PanelStep::Idle(RESET_LIMIT),
        send(command::DEEP_SLEEP, &[0x01]),
    ]
    .into()
}

fn registers(
    controller: &Ssd16xx,
    setup: &Setup,
    registers: Registers,
) -> impl Iterator<Item = PanelStep> {
    let [low, high] = (setup.model.height - 1).to_le_bytes();
    let lines = send(command::DRIVER_OUTPUT, &[low, high, controller.line_order]);
    [lines].into_iter().chain(send_all(registers))
}

fn picture(setup: &Setup, plane: u8, frame: &Arc<PanelImage>) -> Vec<PanelStep> {
    let mut steps = window(setup).to_vec();
    steps.push(PanelStep::Picture(
        plane,
        Arc::clone(frame),
        PlaneForm::Whole,
    ));
    steps
}

/// Sets the window to the whole panel, and the counters to its first byte.
fn window(setup: &Setup) -> [PanelStep; 5] {
    let first = setup.x_offset;
    let last = first + setup.model.width.div_ceil(8) as u8 - 1;
    let [low, high] = (setup.model.height - 1).to_le_bytes();
    [
        send(command::ENTRY_MODE, &[0x03]),
        send(command::WINDOW_X, &[first, last]),
        send(command::WINDOW_Y, &[0x00, 0x00, low, high]),
        send(command::COUNTER_X, &[first]),
        send(command::COUNTER_Y, &[0x00, 0x00]),
    ]
}

//! UC8179 and GD7965.
//!
//! The supply is on only during a refresh, because a panel that stays powered fades. In all modes 1 is white, so that a plane
//! means the same to the next refresh; Waveshare changes that for partial refreshes. The whole panel is refreshed each time,
//! because the waveform and not the window decides how long it takes.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::{PanelStep, RESET_LIMIT, send, send_all};
use crate::parts::epaper::{FullWaveform, PanelImage, PlaneForm, Registers, Setup};

pub mod command {
    /// Sets where waveforms come from.
    pub const PANEL: u8 = 0x00;
    pub const POWER_OFF: u8 = 0x02;
    pub const POWER_ON: u8 = 0x04;
    /// Needs [`DEEP_SLEEP_CHECK`](super::DEEP_SLEEP_CHECK).
    pub const DEEP_SLEEP: u8 = 0x07;
    /// Writes the plane of the old picture.
    pub const WRITE_OLD: u8 = 0x10;
    pub const REFRESH: u8 = 0x12;
    /// Writes the plane of the new picture.
    pub const WRITE_NEW: u8 = 0x13;
    /// Sets which temperature sensor is used.
    pub const SENSOR: u8 = 0x41;
    /// Sets the border and the meaning of the planes.
    pub const DATA_INTERVAL: u8 = 0x50;
    /// Sets width and height.
    pub const SIZE: u8 = 0x61;
    /// The next commands are about a window.
    pub const PARTIAL_IN: u8 = 0x91;
    pub const PARTIAL_OUT: u8 = 0x92;
    /// Sets the window.
    pub const WINDOW: u8 = 0x90;
    /// Sets whether the temperature is that of [`TEMPERATURE`].
    pub const CASCADE: u8 = 0xE0;
    /// Sets the temperature.
    pub const TEMPERATURE: u8 = 0xE5;
}

/// Temperatures, in degrees, at which the panel has its special waveforms.
pub mod waveform {
    pub const FAST_FULL: u8 = 0x5A;
    pub const PARTIAL: u8 = 0x6E;
}

/// The parameter of [`command::DEEP_SLEEP`].
pub const DEEP_SLEEP_CHECK: u8 = 0xA5;

/// Time in which the supply is surely off.
const OFF: Duration = Duration::from_millis(200);

/// Time after which the busy signal of a command has started.
const BUSY_STARTS: Duration = Duration::from_millis(10);

pub(super) fn full(
    registers: Registers,
    setup: &Setup,
    new: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(all_registers(registers, setup));
    // The border follows the waveform.
    steps.push_back(send(command::DATA_INTERVAL, &[0x29, 0x07]));
    steps.extend(match setup.full {
        FullWaveform::Measured => [
            send(command::CASCADE, &[0x00]),
            send(command::SENSOR, &[0x00]),
        ],
        FullWaveform::Warm => temperature(waveform::FAST_FULL),
    });
    // Waveshare: each pixel counts as changed, so that each is driven.
    steps.push_back(picture(command::WRITE_OLD, new, PlaneForm::Inverse));
    steps.push_back(picture(command::WRITE_NEW, new, PlaneForm::Whole));
    steps.extend(refresh());
    steps
}

pub(super) fn prepare(
    registers: Registers,
    setup: &Setup,
    shown: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(all_registers(registers, setup));
    // The border rests.
    steps.push_back(send(command::DATA_INTERVAL, &[0xA9, 0x07]));
    steps.extend(temperature(waveform::PARTIAL));
    for plane in [command::WRITE_OLD, command::WRITE_NEW] {
        steps.push_back(picture(plane, shown, PlaneForm::Whole));
    }
    steps
}

pub(super) fn partial(
    setup: &Setup,
    shown: &PanelImage,
    new: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let rows = shown.changed_rows(new);
    let bounds = [0, setup.model.width - 1, rows.start, rows.end - 1];
    // The last byte: lines outside of the window are driven, too.
    let window = [bounds.map(u16::to_be_bytes).concat(), vec![0x01]].concat();
    let mut steps = VecDeque::from([
        PanelStep::Idle(RESET_LIMIT),
        send(command::PARTIAL_IN, &[]),
        send(command::WINDOW, &window),
        picture(command::WRITE_NEW, new, PlaneForm::Rows(rows)),
        send(command::PARTIAL_OUT, &[]),
    ]);
    steps.extend(refresh());
    steps
}

pub(super) fn sleep() -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([
        PanelStep::Idle(RESET_LIMIT),
        send(command::DATA_INTERVAL, &[0xF7]),
    ]);
    steps.extend(power(command::POWER_OFF, &[]));
    // Its busy signal may not arrive.
    steps.push_back(PanelStep::Pause(OFF));
    steps.push_back(send(command::DEEP_SLEEP, &[DEEP_SLEEP_CHECK]));
    steps
}

fn all_registers(registers: Registers, setup: &Setup) -> impl Iterator<Item = PanelStep> {
    // Black and white, with the waveforms of the panel, and no window.
    let own = [
        send(command::PANEL, &[0x1F]),
        size(setup),
        send(command::PARTIAL_OUT, &[]),
    ];
    send_all(registers).chain(own)
}

pub(super) fn size(setup: &Setup) -> PanelStep {
    let (width, height) = (setup.model.width, setup.model.height);
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    send(command::SIZE, &size)
}

fn temperature(degrees: u8) -> [PanelStep; 2] {
    [
        send(command::CASCADE, &[0x02]),
        send(command::TEMPERATURE, &[degrees]),
    ]
}

fn picture(plane: u8, frame: &Arc<PanelImage>, form: PlaneForm) -> PanelStep {
    PanelStep::Picture(plane, Arc::clone(frame), form)
}

/// Shows the new picture.
fn refresh() -> Vec<PanelStep> {
    let mut steps = power(command::POWER_ON, &[]).to_vec();
    steps.push(PanelStep::Activate(command::REFRESH, &[]));
    steps.extend(power(command::POWER_OFF, &[]));
    steps
}

/// Switches the supply. If the panel gives no busy signal while it switches on, the following refresh is not started.
pub(super) fn power(code: u8, parameters: &[u8]) -> [PanelStep; 3] {
    let started = match code {
        command::POWER_ON => PanelStep::Busy,
        _ => PanelStep::Pause(BUSY_STARTS),
    };
    [
        send(code, parameters),
        started,
        PanelStep::Idle(RESET_LIMIT),
    ]
}

//! SSD1680 and its larger siblings.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use super::{PanelStep, RESET_LIMIT, SETTLE, send, send_all};
use crate::parts::epaper::{
    ChipCount, FullWaveform, LineEnd, PanelImage, PlaneForm, Registers, Setup, Ssd16xx, XUnit,
};

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
    /// Added to a command about a plane for the second of two controllers.
    pub const SECOND: u8 = 0x80;
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

/// Size of a plane, bytes, above which partial refreshes write only the rows that change.
const LARGE_PLANE: usize = 32 * 1024;

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
    steps.extend(picture(controller, setup, command::WRITE_OLD, new));
    steps.extend(picture(controller, setup, command::WRITE_NEW, new));
    let sequence = match setup.full {
        FullWaveform::Measured => update::FULL,
        FullWaveform::Warm => {
            steps.push_back(send(command::TEMPERATURE, controller.warm));
            update::FAST_FULL
        }
    };
    steps.push_back(send(command::UPDATE_SEQUENCE, &[sequence]));
    steps.push_back(PanelStep::Activate(command::ACTIVATE, &[]));
    steps
}

pub(super) fn prepare(
    controller: &Ssd16xx,
    setup: &Setup,
    shown: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(registers(controller, setup, controller.partial));
    steps.extend(picture(controller, setup, command::WRITE_OLD, shown));
    if has_large_plane(controller, setup) {
        steps.extend(picture(controller, setup, command::WRITE_NEW, shown));
    }
    steps.push_back(send(command::UPDATE_SEQUENCE, &[update::PARTIAL]));
    steps.extend(chips(controller, setup).flat_map(|chip| chip.window(controller, setup)));
    steps
}

pub(super) fn partial(
    controller: &Ssd16xx,
    setup: &Setup,
    shown: &PanelImage,
    new: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    for mut chip in chips(controller, setup) {
        if has_large_plane(controller, setup) {
            let rows = shown.changed_rows(new);
            steps.extend(chip.lines(controller, setup, &rows));
            chip.form = PlaneForm::Rows(rows);
        }
        steps.push_back(chip.plane(command::WRITE_NEW, new));
    }
    steps.push_back(PanelStep::Activate(command::ACTIVATE, &[]));
    steps
}

pub(super) fn sleep() -> VecDeque<PanelStep> {
    [
        PanelStep::Idle(RESET_LIMIT),
        send(command::DEEP_SLEEP, &[0x01]),
    ]
    .into()
}

/// Returns whether partial refreshes write only the rows that change. Two controllers need the whole window at a refresh.
fn has_large_plane(controller: &Ssd16xx, setup: &Setup) -> bool {
    let row = usize::from(setup.model.width.div_ceil(8));
    controller.chips == ChipCount::One && row * usize::from(setup.model.height) > LARGE_PLANE
}

fn registers(
    controller: &Ssd16xx,
    setup: &Setup,
    registers: Registers,
) -> impl Iterator<Item = PanelStep> {
    let [low, high] = (setup.model.height - 1).to_le_bytes();
    let lines = controller
        .line_order
        .map(|order| send(command::DRIVER_OUTPUT, &[low, high, order]));
    lines.into_iter().chain(send_all(registers))
}

fn picture(
    controller: &Ssd16xx,
    setup: &Setup,
    plane: u8,
    frame: &Arc<PanelImage>,
) -> impl Iterator<Item = PanelStep> {
    chips(controller, setup).flat_map(move |chip| {
        let mut steps = chip.window(controller, setup).to_vec();
        steps.push(chip.plane(plane, frame));
        steps
    })
}

/// One of the controllers of a panel.
#[derive(Debug, Clone)]
struct Chip {
    /// Added to its commands.
    offset: u8,
    /// Its first and last byte of a row, in the order of the picture.
    x: (u8, u8),
    form: PlaneForm,
}

/// The controllers of a panel, leftmost first.
fn chips(controller: &Ssd16xx, setup: &Setup) -> impl Iterator<Item = Chip> + use<> {
    let row = usize::from(setup.model.width.div_ceil(8));
    let last = controller.row_bytes - 1;
    let chips = match controller.chips {
        ChipCount::One => vec![Chip {
            offset: 0,
            x: (setup.x_offset, setup.x_offset + row as u8 - 1),
            form: PlaneForm::Whole,
        }],
        // Both have the byte in the middle, of which each shows a half. The second one counts from the right.
        ChipCount::Two => vec![
            Chip {
                offset: 0,
                x: (0, last),
                form: PlaneForm::Columns(0..row.div_ceil(2)),
            },
            Chip {
                offset: command::SECOND,
                x: (last, 0),
                form: PlaneForm::Columns(row / 2..row),
            },
        ],
    };
    chips.into_iter()
}

impl Chip {
    /// Sets the window to the whole panel, and the counters to its first byte.
    fn window(&self, controller: &Ssd16xx, setup: &Setup) -> [PanelStep; 5] {
        let counts_up = controller.begins == LineEnd::First;
        let mode = u8::from(self.x.0 <= self.x.1) | u8::from(counts_up) << 1;
        let column = |byte: u8, bit: u16| match controller.x_unit {
            XUnit::Bytes => vec![byte],
            XUnit::Pixels => (u16::from(byte) * 8 + bit).to_le_bytes().to_vec(),
        };
        let window_x = [column(self.x.0, 0), column(self.x.1, 7)].concat();
        let [window_y, counter_y] = self.lines(controller, setup, &(0..setup.model.height));
        let send = |command: u8, parameters: &[u8]| send(command + self.offset, parameters);
        [
            send(command::ENTRY_MODE, &[mode]),
            send(command::WINDOW_X, &window_x),
            window_y,
            send(command::COUNTER_X, &column(self.x.0, 0)),
            counter_y,
        ]
    }

    /// Sets the lines of the window to some rows of the picture, and the counter to the first of them.
    fn lines(&self, controller: &Ssd16xx, setup: &Setup, rows: &Range<u16>) -> [PanelStep; 2] {
        let line = |row: u16| match controller.begins {
            LineEnd::First => row,
            LineEnd::Last => setup.model.height - 1 - row,
        };
        let [first, last] = [rows.start, rows.end - 1].map(|row| line(row).to_le_bytes());
        [
            send(command::WINDOW_Y + self.offset, &[first, last].concat()),
            // Waveshare starts at 0 on some panels, which is not in a window that begins with the last line.
            send(command::COUNTER_Y + self.offset, &first),
        ]
    }

    fn plane(self, plane: u8, frame: &Arc<PanelImage>) -> PanelStep {
        PanelStep::Picture(plane + self.offset, Arc::clone(frame), self.form)
    }
}

//! The registers and memory banks of the controller.

use board::parts::ssd1680::{LINES_MAX, ROW_BYTES};

pub(super) const ROW: usize = ROW_BYTES as usize;
const LINES: usize = LINES_MAX as usize;

/// One of the two memories of the controller.
#[derive(Debug)]
pub(super) struct Bank {
    pub(super) bytes: Vec<u8>,
    /// Bytes that were written since power-on.
    pub(super) written: Vec<bool>,
}

impl Bank {
    /// A bank with the content of power-on.
    pub(super) fn new(noise: &mut PowerOnNoise) -> Bank {
        Bank {
            bytes: (0..ROW * LINES).map(|_| noise.byte()).collect(),
            written: vec![false; ROW * LINES],
        }
    }

    pub(super) fn store(&mut self, (x, y): (u8, u16), byte: u8) {
        let at = usize::from(y) * ROW + usize::from(x);
        if let (Some(stored), Some(written)) = (self.bytes.get_mut(at), self.written.get_mut(at)) {
            *stored = byte;
            *written = true;
        }
    }

    /// Returns whether a bit of a byte is ink.
    pub(super) fn is_ink(&self, (at, bit): (usize, u8)) -> bool {
        self.bytes[at] >> bit & 1 == 0
    }
}

/// Pseudorandom content of a memory bank after power-on.
pub(super) struct PowerOnNoise(pub(super) u32);

impl PowerOnNoise {
    pub(super) fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 11) as u8
    }
}

/// The registers, which a reset sets to their defaults.
#[derive(Debug, Clone)]
pub(super) struct Registers {
    pub(super) lines: u16,
    pub(super) entry: u8,
    pub(super) is_shifted: bool,
    pub(super) sequence: Option<u8>,
    pub(super) has_temperature: bool,
    pub(super) window_x: (u8, u8),
    pub(super) window_y: (u16, u16),
    pub(super) counter: (u8, u16),
}

impl Registers {
    pub(super) const DEFAULT: Registers = Registers {
        lines: LINES_MAX,
        entry: 0x03,
        is_shifted: false,
        sequence: None,
        has_temperature: false,
        window_x: (0, ROW_BYTES - 1),
        window_y: (0, LINES_MAX - 1),
        counter: (0, 0),
    };

    /// Number of bytes in the window.
    pub(super) fn window_bytes(&self) -> usize {
        let width = usize::from(self.window_x.1.saturating_sub(self.window_x.0)) + 1;
        let height = usize::from(self.window_y.1.saturating_sub(self.window_y.0)) + 1;
        width * height
    }

    /// Advances the address counters within the window, first in bytes and then in lines.
    pub(super) fn advance_counter(&mut self) {
        let (x_up, y_up) = (self.entry & 1 != 0, self.entry & 2 != 0);
        let (x_first, x_last) = self.window_x;
        let (y_first, y_last) = self.window_y;
        let (x, y) = self.counter;
        let row_end = if x_up { x_last } else { x_first };
        if x != row_end {
            self.counter.0 = if x_up { x.wrapping_add(1) } else { x.wrapping_sub(1) };
            return;
        }
        let end = if y_up { y_last } else { y_first };
        let next = match (y == end, y_up) {
            (true, true) => y_first,
            (true, false) => y_last,
            (false, true) => y.wrapping_add(1),
            (false, false) => y.wrapping_sub(1),
        };
        self.counter = (if x_up { x_first } else { x_last }, next);
    }
}

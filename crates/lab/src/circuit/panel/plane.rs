//! The memories of controllers.

/// One of the two memories of a controller, each for a picture.
#[derive(Debug)]
pub(super) struct Plane {
    bytes: Vec<u8>,
    /// Bytes that were written since power-on.
    written: Vec<bool>,
}

impl Plane {
    /// A plane with the content of power-on.
    pub(super) fn new(bytes: usize, noise: &mut PowerOnNoise) -> Plane {
        Plane {
            bytes: (0..bytes).map(|_| noise.byte()).collect(),
            written: vec![false; bytes],
        }
    }

    pub(super) fn store(&mut self, at: usize, byte: u8) {
        if let (Some(stored), Some(written)) = (self.bytes.get_mut(at), self.written.get_mut(at)) {
            *stored = byte;
            *written = true;
        }
    }

    /// Copies a byte of another plane.
    pub(super) fn copy(&mut self, at: usize, from: &Plane) {
        self.bytes[at] = from.bytes[at];
        self.written[at] = from.written[at];
    }

    /// Loses its content.
    pub(super) fn lose(&mut self) {
        self.written.fill(false);
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// A bit of a byte.
    pub(super) fn bit(&self, (at, bit): (usize, u8)) -> bool {
        self.bytes[at] >> bit & 1 != 0
    }

    pub(super) fn is_written(&self, at: usize) -> bool {
        self.written[at]
    }
}

/// Pseudorandom content of a plane after power-on.
pub(super) struct PowerOnNoise(pub(super) u32);

impl PowerOnNoise {
    pub(super) fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 11) as u8
    }
}

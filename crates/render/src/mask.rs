//! Ink as rows of 64-bit words, with the operations that painting needs.

/// Half of the greatest coverage.
pub(crate) const HALF: u8 = 128;

/// A one-bit shape: rows of words, most significant bit leftmost, 1 is ink.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Mask {
    width: i32,
    height: i32,
    stride: usize,
    words: Vec<u64>,
}

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Mask {
    /// A shape without ink.
    pub(crate) fn new(width: i32, height: i32) -> Mask {
        let (width, height) = (width.max(0), height.max(0));
        let stride = (width as usize).div_ceil(64);
        Mask {
            width,
            height,
            stride,
            words: vec![0; stride * height as usize],
        }
    }

    /// The pixels of an 8-bit coverage that are at least half covered.
    pub(crate) fn from_coverage(coverage: &[u8], width: i32, height: i32) -> Mask {
        Mask::covered(coverage, width, height, HALF)
    }

    /// The pixels of an 8-bit coverage at or above a threshold.
    pub(crate) fn covered(coverage: &[u8], width: i32, height: i32, least: u8) -> Mask {
        let mut mask = Mask::new(width, height);
        if mask.width == 0 {
            return mask;
        }
        let rows = coverage.chunks_exact(mask.width as usize);
        for (words, row) in mask.words.chunks_exact_mut(mask.stride).zip(rows) {
            for (x, _) in row.iter().enumerate().filter(|(_, cover)| **cover >= least) {
                words[x / 64] |= 1 << (63 - x % 64);
            }
        }
        mask
    }

    pub(crate) fn width(&self) -> i32 {
        self.width
    }

    pub(crate) fn height(&self) -> i32 {
        self.height
    }

    /// The rows, top to bottom; the bits beyond the width are 0.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(self.stride.max(1))
    }

    /// Size in memory, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Inks one pixel. Does nothing outside.
    pub(crate) fn set(&mut self, x: i32, y: i32) {
        if (0..self.width).contains(&x) && (0..self.height).contains(&y) {
            self.words[y as usize * self.stride + x as usize / 64] |= 1 << (63 - x % 64);
        }
    }

    /// Returns whether a pixel is ink. There is no ink outside.
    pub(crate) fn get(&self, x: i32, y: i32) -> bool {
        (0..self.width).contains(&x)
            && (0..self.height).contains(&y)
            && self.words[y as usize * self.stride + x as usize / 64] >> (63 - x % 64) & 1 == 1
    }

    /// Inks a rectangle, clipped.
    pub(crate) fn fill(&mut self, area: Area) {
        self.each_word(area, |word, bits| *word |= bits);
    }

    /// Removes the ink of a rectangle, clipped.
    pub(crate) fn clear(&mut self, area: Area) {
        self.each_word(area, |word, bits| *word &= !bits);
    }

    /// Inverts a rectangle, clipped.
    pub(crate) fn invert(&mut self, area: Area) {
        self.each_word(area, |word, bits| *word ^= bits);
    }

    pub(crate) fn invert_all(&mut self) {
        self.invert(Area {
            x: 0,
            y: 0,
            width: self.width,
            height: self.height,
        });
    }

    fn each_word(&mut self, area: Area, change: impl Fn(&mut u64, u64)) {
        let (left, right) = (area.x.max(0), (area.x + area.width).min(self.width));
        let (top, bottom) = (area.y.max(0), (area.y + area.height).min(self.height));
        if left >= right || top >= bottom {
            return;
        }
        for y in top as usize..bottom as usize {
            for index in left as usize / 64..=(right as usize - 1) / 64 {
                let bits = span(left - index as i32 * 64, right - index as i32 * 64);
                change(&mut self.words[y * self.stride + index], bits);
            }
        }
    }

    /// Adds the ink of another shape, clipped.
    pub(crate) fn blit(&mut self, other: &Mask, x: i32, y: i32) {
        self.combine(other, x, y, |word, ink| *word |= ink);
    }

    /// Inverts the pixels at which another shape has ink, clipped.
    pub(crate) fn flip(&mut self, other: &Mask, x: i32, y: i32) {
        self.combine(other, x, y, |word, ink| *word ^= ink);
    }

    fn combine(&mut self, other: &Mask, x: i32, y: i32, change: impl Fn(&mut u64, u64)) {
        if self.width <= 0 {
            return;
        }
        let (word_shift, bit_shift) = (x.div_euclid(64), x.rem_euclid(64) as u32);
        let last = self.stride as i32 - 1;
        let tail = span(0, self.width - last * 64);
        for (row, source) in (y..).zip(other.rows()) {
            if !(0..self.height).contains(&row) {
                continue;
            }
            let start = row as usize * self.stride;
            let target = &mut self.words[start..start + self.stride];
            for (index, &word) in (word_shift..).zip(source) {
                if (0..=last).contains(&index) {
                    change(&mut target[index as usize], word >> bit_shift);
                }
                if bit_shift > 0 && (0..=last).contains(&(index + 1)) {
                    change(&mut target[(index + 1) as usize], word << (64 - bit_shift));
                }
            }
            target[last as usize] &= tail;
        }
    }

    /// The shape rotated 90 degrees counter-clockwise: a pixel at (x, y) moves to (y, width - 1 - x).
    pub(crate) fn turned(&self) -> Mask {
        let mut turned = Mask::new(self.height, self.width);
        let mut block = [0u64; 64];
        for block_row in (0..self.height as usize).step_by(64) {
            for block_column in 0..self.stride {
                for (y, row) in block.iter_mut().enumerate() {
                    let start = (block_row + y) * self.stride;
                    *row = self.words.get(start + block_column).copied().unwrap_or(0);
                }
                transpose(&mut block);
                for (x, column) in block.iter().enumerate() {
                    let lx = block_column * 64 + x;
                    if lx < self.width as usize {
                        let row = self.width as usize - 1 - lx;
                        turned.words[row * turned.stride + block_row / 64] = *column;
                    }
                }
            }
        }
        turned
    }

    /// The smallest rectangle around all ink; `None` without ink.
    pub(crate) fn ink(&self) -> Option<Area> {
        let inked = |row: &[u64]| row.iter().any(|word| *word != 0);
        let top = self.rows().position(inked)?;
        let bottom = self
            .rows()
            .enumerate()
            .filter(|(_, row)| inked(row))
            .last()?
            .0;
        let (mut left, mut right) = (i32::MAX, i32::MIN);
        for row in self.rows() {
            for (index, word) in (0..).zip(row).filter(|(_, word)| **word != 0) {
                left = left.min(index * 64 + word.leading_zeros() as i32);
                right = right.max(index * 64 + 63 - word.trailing_zeros() as i32);
            }
        }
        Some(Area {
            x: left,
            y: top as i32,
            width: right - left + 1,
            height: (bottom - top) as i32 + 1,
        })
    }

    /// Returns whether any pixel of a rectangle is ink.
    pub(crate) fn any(&self, area: Area) -> bool {
        (area.y..area.y + area.height)
            .any(|y| (area.x..area.x + area.width).any(|x| self.get(x, y)))
    }

    /// The part of the shape within a rectangle.
    pub(crate) fn cropped(&self, area: Area) -> Mask {
        let mut part = Mask::new(area.width, area.height);
        part.blit(self, -area.x, -area.y);
        part
    }
}

/// The bits of a word from `left` up to but not including `right`, both counted from its left end.
fn span(left: i32, right: i32) -> u64 {
    let from = |at: i32| match at {
        ..=0 => u64::MAX,
        1..=63 => u64::MAX >> at,
        64.. => 0,
    };
    from(left) & !from(right)
}

/// Transposes a square of 64 x 64 bits, by halves.
fn transpose(block: &mut [u64; 64]) {
    let mut half = 32;
    let mut mask = 0x0000_0000_FFFF_FFFF_u64;
    while half > 0 {
        let mut row = 0;
        while row < 64 {
            let swap = (block[row] ^ (block[row + half] >> half)) & mask;
            block[row] ^= swap;
            block[row + half] ^= swap << half;
            row = (row + half + 1) & !half;
        }
        half /= 2;
        mask ^= mask << half;
    }
}

//! The marks of values that are less than good.

use market::mark::Mark;

use crate::mask::{Area, Mask};

/// Side of the mark, px.
const SIDE: i32 = 15;

/// White around the mark, px.
const EDGE: i32 = 5;

/// Rows of a mark, the leftmost pixel most significant.
type Rows = [u16; SIDE as usize];

/// A ring: one voice, and nothing in it.
const RING: Rows = [
    0b000001111100000,
    0b000111111111000,
    0b001110000011100,
    0b011000000000110,
    0b011000000000110,
    0b110000000000011,
    0b110000000000011,
    0b110000000000011,
    0b110000000000011,
    0b110000000000011,
    0b011000000000110,
    0b011000000000110,
    0b001110000011100,
    0b000111111111000,
    0b000001111100000,
];

/// An unequal sign: voices say different things.
const UNEQUAL: Rows = [
    0b000000000001100,
    0b000000000011000,
    0b000000000011000,
    0b000000000110000,
    0b011111111111110,
    0b011111111111110,
    0b000000001100000,
    0b000000011000000,
    0b000000110000000,
    0b011111111111110,
    0b011111111111110,
    0b000001100000000,
    0b000011000000000,
    0b000011000000000,
    0b000110000000000,
];

/// A clock face at five past twelve.
const CLOCK: Rows = [
    0b000001111100000,
    0b000111111111000,
    0b001110000011100,
    0b011000010000110,
    0b011000010000110,
    0b110000010000011,
    0b110000010000011,
    0b110000011111011,
    0b110000011111011,
    0b110000000000011,
    0b011000000000110,
    0b011000000000110,
    0b001110000011100,
    0b000111111111000,
    0b000001111100000,
];

/// The drawing of a mark.
fn rows(mark: Mark) -> &'static Rows {
    match mark {
        Mark::Alone => &RING,
        Mark::Disputed => &UNEQUAL,
        Mark::Stale => &CLOCK,
    }
}

/// Adds the mark in the first corner that has no ink, the upper right one first.
pub(crate) fn add(mark: Mark, panel: &mut Mask) {
    let (right, lower) = (panel.width() - EDGE - SIDE, panel.height() - EDGE - SIDE);
    let corners = [(right, EDGE), (EDGE, EDGE), (right, lower), (EDGE, lower)];
    let free = corners.into_iter().find(|&(x, y)| !panel.any(around(x, y)));
    let (x, y) = free.unwrap_or(corners[0]);
    panel.clear(around(x, y));
    for (dy, row) in (0..).zip(rows(mark)) {
        for dx in (0..SIDE).filter(|dx| row >> (SIDE - 1 - dx) & 1 == 1) {
            panel.set(x + dx, y + dy);
        }
    }
}

/// The mark with its white.
fn around(x: i32, y: i32) -> Area {
    Area {
        x: x - 3,
        y: y - 3,
        width: SIDE + 6,
        height: SIDE + 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: i32 = 122;
    const HEIGHT: i32 = 250;

    /// A panel with ink on these pixels.
    fn panel(ink: &[(i32, i32)]) -> Mask {
        let mut panel = Mask::new(WIDTH, HEIGHT);
        ink.iter().for_each(|&(x, y)| panel.set(x, y));
        panel
    }

    /// Upper left pixel of the mark on a panel; panics if anything else is on it than the mark and what was.
    fn place(mark: Mark, before: &[(i32, i32)]) -> (i32, i32) {
        let mut after = panel(before);
        add(mark, &mut after);
        let corners = [5, 102].map(|x| [5, 230].map(|y| (x, y)));
        let drawn = |(left, top): (i32, i32)| {
            let mut expected = panel(before);
            expected.clear(Area {
                x: left - 3,
                y: top - 3,
                width: 21,
                height: 21,
            });
            for (y, row) in rows(mark).iter().enumerate() {
                for (x, ink) in format!("{row:015b}").chars().enumerate() {
                    if ink == '1' {
                        expected.set(left + x as i32, top + y as i32);
                    }
                }
            }
            expected == after
        };
        let found: Vec<_> = corners
            .concat()
            .into_iter()
            .filter(|at| drawn(*at))
            .collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0]
    }

    #[test]
    fn the_mark_goes_to_the_first_corner_without_ink() {
        let (upper_right, upper_left) = ((102, 5), (5, 5));
        let (lower_right, lower_left) = ((102, 230), (5, 230));
        // A corner ends three pixels from the mark on every side.
        for (ink, expected) in [
            (&[][..], upper_right),
            (&[(110, 12)], upper_left),
            (&[(99, 2)], upper_left),
            (&[(119, 22)], upper_left),
            (&[(98, 12), (110, 1), (120, 12), (110, 23)], upper_right),
            (&[(110, 12), (12, 12)], lower_right),
            (&[(110, 12), (2, 22)], lower_right),
            (&[(110, 12), (23, 2)], upper_left),
            (&[(110, 12), (12, 12), (110, 247)], lower_left),
            (&[(110, 12), (12, 12), (110, 248)], lower_right),
        ] {
            for mark in Mark::ALL {
                assert_eq!(place(mark, ink), expected, "{mark:?} {ink:?}");
            }
        }
    }

    #[test]
    fn without_a_free_corner_the_mark_clears_the_first() {
        let ink = [(110, 12), (12, 12), (110, 240), (12, 240)];
        assert_eq!(place(Mark::Stale, &ink), (102, 5));
    }
}

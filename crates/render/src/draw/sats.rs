//! The satoshi symbol, in sixteen drawings of our own.
//!
//! All are three bars with strokes above and below, in different styles.
//! Lengths are whole pixels, so that all bars of a drawing have one thickness.

use zeno::{Command, Fill, PathBuilder, Transform};

use super::PanelCanvas;
use crate::mask::Mask;

/// Units per side of the square in which the symbol is designed.
const SIDE: f32 = 24.0;

/// Side of that square for digits of 180 px, px.
const PX_PER_DIGIT: f32 = 130.0 / 180.0;

/// Length of a stroke, units.
const STROKE: f32 = 3.8;

/// One drawing.
struct Drawing {
    /// Thickness of bars and strokes, units.
    weight: f32,
    /// Its ends are round.
    round: bool,
    /// Slant to the right, run over rise.
    slant: f32,
    /// Lengths of the bars relative to the longest, top to bottom.
    bars: [f32; 3],
    strokes: Strokes,
    frame: SatsFrame,
}

enum Strokes {
    /// One above, one below.
    One,
    /// Two above, two below.
    Two,
    Through,
    /// One above, one below, and the bars joined to an S.
    Joined,
    /// One above, one below, and a white one through all bars.
    Cut,
}

/// Frame around the satoshi symbol.
#[derive(Clone, Copy, PartialEq)]
enum SatsFrame {
    None,
    Ring,
    Disc,
    Block,
}

const PLAIN: Drawing = Drawing {
    weight: 2.7,
    round: false,
    slant: 0.0,
    bars: [1.0, 1.0, 1.0],
    strokes: Strokes::One,
    frame: SatsFrame::None,
};

static DRAWINGS: [Drawing; 16] = [
    Drawing {
        weight: 1.6,
        ..PLAIN
    },
    Drawing {
        weight: 3.2,
        ..PLAIN
    },
    Drawing {
        round: true,
        strokes: Strokes::Cut,
        ..PLAIN
    },
    Drawing {
        weight: 3.2,
        round: true,
        bars: [1.0, 0.75, 0.5],
        ..PLAIN
    },
    Drawing {
        slant: 0.21,
        ..PLAIN
    },
    Drawing {
        weight: 1.6,
        round: true,
        slant: 0.21,
        ..PLAIN
    },
    Drawing {
        bars: [1.0, 0.55, 1.0],
        ..PLAIN
    },
    PLAIN,
    Drawing {
        bars: [0.6, 1.0, 0.6],
        ..PLAIN
    },
    Drawing {
        bars: [0.5, 0.75, 1.0],
        round: true,
        ..PLAIN
    },
    Drawing {
        strokes: Strokes::Joined,
        ..PLAIN
    },
    Drawing {
        strokes: Strokes::Through,
        ..PLAIN
    },
    Drawing {
        strokes: Strokes::Two,
        ..PLAIN
    },
    Drawing {
        frame: SatsFrame::Ring,
        ..PLAIN
    },
    Drawing {
        frame: SatsFrame::Disc,
        ..PLAIN
    },
    Drawing {
        frame: SatsFrame::Block,
        ..PLAIN
    },
];

/// Dimensions of the satoshi symbol in whole pixels.
struct SatsMetrics {
    /// Thickness of bars and strokes.
    thick: i32,
    stroke: i32,
    /// Gap between bars, and between bars and strokes.
    gap: i32,
    /// Length of the longest bar; odd if the thickness is odd, so that strokes are centred.
    width: i32,
}

impl PanelCanvas<'_> {
    /// The satoshi symbol in the variant of the style, matching the digits in size.
    pub(super) fn sats(&self) -> Mask {
        let drawing = &DRAWINGS[usize::from(self.style.sats_variant) % DRAWINGS.len()];
        let room = self.room();
        let mut side = self
            .scale
            .drawing(self.style.digit_px.clamp(80, 220) as f32 * PX_PER_DIGIT);
        let mut ink = draw(drawing, side);
        while side > 1.0 && (ink.width() > room.width || ink.height() > room.height) {
            side -= self.scale.step() as f32;
            ink = draw(drawing, side);
        }
        self.centre(&ink)
    }
}

fn draw(drawing: &Drawing, side: f32) -> Mask {
    let framed = drawing.frame != SatsFrame::None;
    let symbol = SatsMetrics::new(drawing, if framed { side * 0.66 } else { side });
    let mut path = Vec::new();
    symbol.outline(drawing, &mut path);
    let frame = frame(drawing.frame, &symbol, side);
    let lean = Transform::new(1.0, 0.0, -drawing.slant, 1.0, 0.0, 0.0);
    let solid = rasterize(&path, Fill::NonZero, lean);
    let Some(frame) = frame else {
        return solid;
    };
    let mut ink = rasterize(&frame, Fill::EvenOdd, Transform::IDENTITY);
    let (x, y) = (
        (ink.width() - solid.width()) / 2,
        (ink.height() - solid.height()) / 2,
    );
    ink.flip(&solid, x, y);
    ink
}

impl SatsMetrics {
    fn new(drawing: &Drawing, side: f32) -> SatsMetrics {
        let px = |units: f32| ((units * side / SIDE).round() as i32).max(1);
        let thick = px(drawing.weight);
        let gap = px((22.0 - 2.0 * STROKE - 3.0 * drawing.weight) / 4.0);
        SatsMetrics {
            thick,
            stroke: px(STROKE),
            gap,
            width: even_with(px(15.0), thick),
        }
    }

    fn height(&self) -> i32 {
        2 * self.stroke + 3 * self.thick + 4 * self.gap
    }

    /// Adds bars and strokes, the middle of the symbol at the origin.
    fn outline(&self, drawing: &Drawing, path: &mut Vec<Command>) {
        let mut piece = |x: i32, y: i32, width: i32, height: i32| {
            let radius = if drawing.round { width.min(height) as f32 / 2.0 } else { 0.0 };
            // Twice the coordinates are whole even where the middle is between two pixels.
            let at = (x as f32 / 2.0, y as f32 - self.height() as f32 / 2.0);
            path.add_round_rect(at, width as f32, height as f32, radius, radius);
        };
        let pitch = self.thick + self.gap;
        let first = self.stroke + self.gap;
        for (row, length) in (0..).zip(drawing.bars) {
            let width = even_with((self.width as f32 * length).round() as i32, self.thick);
            let y = first + row * pitch;
            match drawing.strokes {
                Strokes::Cut => {
                    let half = (width - self.gap) / 2;
                    piece(-width, y, half, self.thick);
                    piece(width - 2 * half, y, half, self.thick);
                }
                Strokes::One | Strokes::Two | Strokes::Through | Strokes::Joined => {
                    piece(-width, y, width, self.thick)
                }
            }
        }
        let last = self.height() - self.stroke;
        match drawing.strokes {
            Strokes::One | Strokes::Cut => {
                piece(-self.thick, 0, self.thick, self.stroke);
                piece(-self.thick, last, self.thick, self.stroke);
            }
            Strokes::Two => {
                for x in [-self.width / 2 - self.thick, self.width / 2 - self.thick] {
                    piece(x, 0, self.thick, self.stroke);
                    piece(x, last, self.thick, self.stroke);
                }
            }
            Strokes::Through => piece(-self.thick, 0, self.thick, self.height()),
            Strokes::Joined => {
                piece(-self.thick, 0, self.thick, self.stroke);
                piece(-self.thick, last, self.thick, self.stroke);
                piece(-self.width, first, self.thick, pitch + self.thick);
                piece(
                    self.width - 2 * self.thick,
                    first + pitch,
                    self.thick,
                    pitch + self.thick,
                );
            }
        }
    }
}

/// The smallest length not below this one with the same parity as another.
fn even_with(length: i32, other: i32) -> i32 {
    length + (length + other).rem_euclid(2)
}

/// The outline of a frame, its middle at the origin.
fn frame(frame: SatsFrame, symbol: &SatsMetrics, side: f32) -> Option<Vec<Command>> {
    let size = even_with((22.0 * side / SIDE).round() as i32, symbol.thick) as f32;
    let mut path = Vec::new();
    match frame {
        SatsFrame::None => return None,
        SatsFrame::Ring => {
            let ring = (1.6 * side / SIDE).round().max(1.0);
            path.add_circle((0.0, 0.0), size / 2.0);
            path.add_circle((0.0, 0.0), size / 2.0 - ring);
        }
        SatsFrame::Disc => {
            path.add_circle((0.0, 0.0), size / 2.0);
        }
        SatsFrame::Block => {
            let radius = size / 6.0;
            path.add_round_rect((-size / 2.0, -size / 2.0), size, size, radius, radius);
        }
    }
    Some(path)
}

/// The ink of a path, cropped.
fn rasterize(path: &[Command], fill: Fill, transform: Transform) -> Mask {
    // The straight edges are whole pixels apart; half a pixel off, they would all be blurred.
    let bounds = zeno::bounds(path, fill, Some(transform));
    let (coverage, place) = zeno::Mask::new(path)
        .style(fill)
        .transform(Some(transform.then_translate(-bounds.min.x, -bounds.min.y)))
        .render();
    let mask = Mask::from_coverage(&coverage, place.width as i32, place.height as i32);
    mask.ink()
        .map(|area| mask.cropped(area))
        .unwrap_or_default()
}

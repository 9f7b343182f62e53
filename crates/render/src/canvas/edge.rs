//! The line around a cell, with round corners.

use super::pixels::Tones;
use crate::{canvas::Depth, mask::Area};

/// Ink of the line where there are greys, of 255.
const LINE: f32 = 96.0;

/// How the line around each cell of a canvas is drawn.
pub(super) struct CellEdge {
    /// Thickness of the line, px.
    thick: i32,
    radius: i32,
    line: u8,
    /// Grey of the upper left corner, `radius` rows of as many pixels.
    corner: Vec<u8>,
}

impl CellEdge {
    pub(super) fn new(thick: i32, radius: i32, tones: Tones) -> CellEdge {
        let most = match tones.depth {
            Depth::One => 255.0,
            Depth::Two | Depth::Four | Depth::Eight => LINE,
        };
        let covered = |distance: f32, radius: f32| (radius - distance + 0.5).clamp(0.0, 1.0);
        let pixels = (0..radius).flat_map(|y| (0..radius).map(move |x| (x, y)));
        let corner = pixels.map(|(x, y)| {
            let from_middle = |at: i32| (radius - at) as f32 - 0.5;
            let distance = from_middle(x).hypot(from_middle(y));
            let ring =
                covered(distance, radius as f32) - covered(distance, (radius - thick) as f32);
            let ring = if tones.depth == Depth::One { ring.round() } else { ring };
            tones.grey((ring * most) as u8)
        });
        CellEdge {
            thick,
            radius,
            line: tones.grey(most as u8),
            corner: corner.collect(),
        }
    }

    /// Draws the part of the line around a cell that is in one row of the canvas.
    pub(super) fn draw_row(&self, area: Area, y: i32, row: &mut [u8]) {
        let from_edge = (y - area.y).min(area.y + area.height - 1 - y);
        let (left, right) = (
            area.x.max(0) as usize,
            (area.x + area.width).max(0) as usize,
        );
        let Some(cell) = row.get_mut(left..right).filter(|_| from_edge >= 0) else {
            return;
        };
        let width = cell.len();
        let (thick, radius) = (self.thick as usize, self.radius as usize);
        if from_edge < self.radius && width >= 2 * radius {
            let start = from_edge as usize * radius;
            let corner = &self.corner[start..start + radius];
            cell[..radius].copy_from_slice(corner);
            let mirrored = cell[width - radius..].iter_mut().rev();
            mirrored.zip(corner).for_each(|(to, from)| *to = *from);
            if from_edge < self.thick {
                cell[radius..width - radius].fill(self.line);
            }
        } else if from_edge < self.thick {
            cell.fill(self.line);
        } else {
            cell[..thick.min(width)].fill(self.line);
            cell[width.saturating_sub(thick)..].fill(self.line);
        }
    }
}

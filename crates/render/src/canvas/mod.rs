//! A picture on one canvas of any size, for screens that are no row of panels.
//!
//! `grid` has the places of the cells, `edge` the line around them, `pixels` turns ink into grey.

mod edge;
mod grid;
mod pixels;

use std::sync::Arc;

use device::cells::{Cell, Picture, Style};
use market::mark::Mark;

use self::{
    edge::CellEdge,
    grid::Grid,
    pixels::{Pixels, Tones},
};
use crate::{
    draw::{self, Letters, PanelCanvas, PixelScale},
    faces,
    mask::{Area, Mask},
    text::{Room, Typesetter},
};

pub use device::canvas::{CanvasSpec, Depth, HEIGHTS, Layout, Turn, WIDTHS};

/// Largest size of cached cells, bytes. All cells of ten pictures of 1872x1404 px need about this much.
const CELL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Counted for each cached cell besides its pixels, bytes.
const CELL_OVERHEAD: usize = 1024;

/// Largest size of cached glyphs, bytes: the digits of one font on the largest canvas.
const GLYPH_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Area up to which a cell is drawn at four times its size to be averaged, px. Larger ones are drawn at twice their size.
const FINE_AREA_MAX: i32 = 100_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    /// Width, px.
    pub width: u32,
    /// Height, px.
    pub height: u32,
    /// Bits per pixel.
    pub depth: Depth,
    /// Rows of whole bytes, top to bottom, most significant bits leftmost, 0 is black.
    pub rows: Vec<u8>,
}

impl Canvas {
    /// Bytes per row.
    pub fn stride(&self) -> usize {
        (self.width as usize * self.depth.bits() as usize).div_ceil(8)
    }
}

/// Paints pictures on canvases of any size.
///
/// It caches the cells of all sizes, so that a changed digit costs one cell. The cache is bounded.
pub struct CanvasPainter {
    type_: Typesetter,
    cached: Vec<CachedCell>,
    cached_bytes: usize,
    paints: u64,
}

/// A drawn cell.
struct CachedCell {
    key: CellKey,
    pixels: Arc<Pixels>,
    used: u64,
}

/// Everything that the pixels of a cell depend on.
#[derive(Clone, PartialEq)]
struct CellKey {
    width: i32,
    height: i32,
    /// Pixels of the mask along each side of a pixel.
    samples: i32,
    tones: Tones,
    turn: Turn,
    content: CellContent,
}

/// What is drawn in an area of a canvas.
#[derive(Clone, PartialEq)]
enum CellContent {
    Cell {
        cell: Cell,
        scale: PixelScale,
        style: Style,
        mark: Option<Mark>,
        letters: Option<Letters>,
    },
    Caption(String),
}

/// Pixels at a place of the delivered canvas.
struct Placed {
    x: usize,
    y: usize,
    pixels: Arc<Pixels>,
}

impl Default for CanvasPainter {
    fn default() -> CanvasPainter {
        CanvasPainter::new()
    }
}

impl CanvasPainter {
    /// A painter that has cached nothing.
    pub fn new() -> CanvasPainter {
        CanvasPainter {
            type_: Typesetter::with_glyph_bytes(GLYPH_BYTES_MAX),
            cached: Vec::new(),
            cached_bytes: 0,
            paints: 0,
        }
    }

    /// Paints a picture, with a caption below the cells if there is room for it.
    pub fn paint(&mut self, picture: &Picture, caption: &str, spec: &CanvasSpec) -> Canvas {
        self.paints += 1;
        self.type_.next_panel();
        let width = spec.width.clamp(*WIDTHS.start(), *WIDTHS.end());
        let height = spec.height.clamp(*HEIGHTS.start(), *HEIGHTS.end());
        let upright = if is_across(spec.turn) {
            (height as i32, width as i32)
        } else {
            (width as i32, height as i32)
        };
        let style = Style {
            inverted: spec.dark.unwrap_or(picture.style.inverted),
            ..picture.style.clone()
        };
        let tones = Tones {
            depth: spec.depth,
            dark: style.inverted,
        };
        let grid = Grid::new(upright, spec.layout, &picture.cells, !caption.is_empty());
        let samples = samples(spec.depth, &grid);
        let edge = CellEdge::new(grid.line, grid.radius, tones);
        let letters = self.letters(picture, &style, &grid, samples);
        let mut placed = Vec::new();
        let mut put = |painter: &mut CanvasPainter, area: Area, content: CellContent| {
            let pixels = painter.pixels(CellKey {
                width: area.width,
                height: area.height,
                samples,
                tones,
                turn: spec.turn,
                content,
            });
            let target = turned_area(spec.turn, area, upright);
            placed.push(Placed {
                x: target.x as usize + pixels.left,
                y: target.y as usize + pixels.top,
                pixels,
            });
        };
        let mark_at = grid.cells.first().map(|(index, _)| *index);
        for &(index, area) in &grid.cells {
            let cell = &picture.cells[index];
            let content = CellContent::Cell {
                cell: cell.clone(),
                scale: grid.scale(area, samples),
                style: style.clone(),
                mark: picture.mark.filter(|_| mark_at == Some(index)),
                letters: letters.filter(|_| letter(cell).is_some()),
            };
            put(self, grid.inside(area), content);
        }
        if let Some(area) = grid.caption {
            put(self, area, CellContent::Caption(caption.to_owned()));
        }
        let edges: Vec<Area> = grid
            .cells
            .iter()
            .map(|(_, area)| area)
            .chain(&grid.empty)
            .map(|area| turned_area(spec.turn, *area, upright))
            .collect();
        Canvas {
            width,
            height,
            depth: spec.depth,
            rows: compose((width, height), tones, &edge, &edges, &placed),
        }
    }

    /// The common size of the large letters of the picture, if it has any.
    fn letters(
        &mut self,
        picture: &Picture,
        style: &Style,
        grid: &Grid,
        samples: i32,
    ) -> Option<Letters> {
        let texts = picture.cells.iter().filter_map(letter);
        texts.clone().next()?;
        let (_, area) = *grid.cells.last()?;
        let inside = grid.inside(area);
        let letters = PanelCanvas {
            width: inside.width * samples,
            height: inside.height * samples,
            scale: grid.scale(area, samples),
            style,
            type_: &mut self.type_,
        }
        .letters(texts);
        Some(letters)
    }

    /// The pixels of a cell, from the cache or drawn.
    fn pixels(&mut self, key: CellKey) -> Arc<Pixels> {
        let used = self.paints;
        if let Some(cached) = self.cached.iter_mut().find(|cached| cached.key == key) {
            cached.used = used;
            return cached.pixels.clone();
        }
        let mask = self.draw(&key);
        let pixels = Arc::new(Pixels::new(
            &mask,
            key.samples as usize,
            key.tones,
            match key.content {
                CellContent::Cell { .. } => 255,
                CellContent::Caption(_) => key.tones.caption_ink(),
            },
            key.turn,
        ));
        self.cached_bytes += cost(&pixels);
        self.cached.push(CachedCell {
            key,
            pixels: pixels.clone(),
            used,
        });
        while self.cached_bytes > CELL_BYTES_MAX {
            self.drop_oldest();
        }
        pixels
    }

    fn draw(&mut self, key: &CellKey) -> Mask {
        let samples = key.samples;
        let (width, height) = (key.width * samples, key.height * samples);
        match &key.content {
            CellContent::Cell {
                cell,
                scale,
                style,
                mark,
                letters,
            } => {
                let mut mask = PanelCanvas {
                    width,
                    height,
                    scale: *scale,
                    style,
                    type_: &mut self.type_,
                }
                .cell(cell, *letters);
                if let Some(mark) = mark {
                    draw::mark::add(*mark, &mut mask, *scale);
                }
                mask
            }
            CellContent::Caption(text) => self.caption(text, width, height),
        }
    }

    /// A line of text in the middle.
    fn caption(&mut self, text: &str, width: i32, height: i32) -> Mask {
        // The line of the font is as high as the area.
        let half_px = 2 * height.max(1) as u32;
        let room = Room { width, height };
        let run = self.type_.cut(faces::plain(), half_px, room, text);
        let letters = self.type_.run(faces::plain(), half_px, "Hg");
        let top = (height - letters.height()) / 2 + letters.above - run.above;
        let mut mask = Mask::new(width, height);
        mask.blit(
            &run.mask,
            (width - run.width()) / 2,
            top.clamp(0, (height - run.height()).max(0)),
        );
        mask
    }

    fn drop_oldest(&mut self) {
        let ages = self.cached.iter().enumerate();
        let oldest = ages.min_by_key(|(_, cached)| cached.used);
        match oldest.map(|(index, _)| index) {
            Some(index) => {
                let dropped = self.cached.swap_remove(index);
                self.cached_bytes -= cost(&dropped.pixels);
            }
            None => self.cached_bytes = 0,
        }
    }
}

/// Size of a cached cell, bytes.
fn cost(pixels: &Pixels) -> usize {
    CELL_OVERHEAD + pixels.grey.len()
}

/// Pixels of a mask along each side of a pixel.
fn samples(depth: Depth, grid: &Grid) -> i32 {
    let area = grid.usual.0 * grid.usual.1;
    match depth {
        Depth::One => 1,
        Depth::Two | Depth::Four | Depth::Eight if area > FINE_AREA_MAX => 2,
        Depth::Two | Depth::Four | Depth::Eight => 4,
    }
}

/// The text of a large letter.
fn letter(cell: &Cell) -> Option<&str> {
    if let Cell::Letter(text) = cell { Some(text) } else { None }
}

/// All rows, packed.
fn compose(
    (width, height): (u32, u32),
    tones: Tones,
    edge: &CellEdge,
    edges: &[Area],
    placed: &[Placed],
) -> Vec<u8> {
    let bits = tones.depth.bits() as usize;
    let stride = (width as usize * bits).div_ceil(8);
    let mut rows = Vec::with_capacity(stride * height as usize);
    // Whole bytes of any depth.
    let paper = tones.paper();
    let mut row = vec![paper; (width as usize).next_multiple_of(8)];
    for y in 0..height as usize {
        row.fill(paper);
        for area in edges {
            edge.draw_row(*area, y as i32, &mut row);
        }
        for Placed { x, y: top, pixels } in placed {
            let source = y.checked_sub(*top).and_then(|y| pixels.row(y));
            let target = row.get_mut(*x..*x + pixels.width);
            if let (Some(source), Some(target)) = (source, target) {
                // Pixels without ink are not copied: the rectangle around the ink can contain a round corner of the cell.
                for (to, from) in target.iter_mut().zip(source) {
                    *to = if *from == paper { *to } else { *from };
                }
            }
        }
        let end = rows.len() + stride;
        match tones.depth {
            Depth::One => rows.extend(row.chunks_exact(8).map(|eight| {
                let bits = eight.iter().map(|grey| grey >> 7);
                bits.fold(0, |byte, bit| byte << 1 | bit)
            })),
            Depth::Two => rows.extend(row.chunks_exact(4).map(|four| {
                let bits = four.iter().map(|grey| grey >> 6);
                bits.fold(0, |byte, two| byte << 2 | two)
            })),
            Depth::Four => rows.extend(
                row.chunks_exact(2)
                    .map(|two| (two[0] & 0xF0) | (two[1] >> 4)),
            ),
            Depth::Eight => rows.extend_from_slice(&row),
        }
        rows.truncate(end);
    }
    rows
}

/// Returns whether a rotation exchanges width and height.
fn is_across(turn: Turn) -> bool {
    matches!(turn, Turn::Quarter | Turn::ThreeQuarters)
}

/// An area of an upright canvas of a size on the rotated canvas.
fn turned_area(turn: Turn, area: Area, (width, height): (i32, i32)) -> Area {
    let right = width - area.x - area.width;
    let below = height - area.y - area.height;
    let (x, y) = match turn {
        Turn::None => (area.x, area.y),
        Turn::Quarter => (below, area.x),
        Turn::Half => (right, below),
        Turn::ThreeQuarters => (area.y, right),
    };
    let (width, height) = if is_across(turn) {
        (area.height, area.width)
    } else {
        (area.width, area.height)
    };
    Area {
        x,
        y,
        width,
        height,
    }
}

#[cfg(test)]
mod tests {
    use device::settings::fonts::FontId;

    use super::*;

    fn number(number: u32) -> Picture {
        let digits = format!("{number:06}");
        let mut cells = vec![Cell::label("BLOCK", "HEIGHT")];
        cells.extend(digits.chars().map(Cell::digit));
        Picture::new(
            cells,
            Style {
                font: FontId::DEFAULT,
                digit_px: 180,
                label_fit_pct: 100,
                vertical_labels: true,
                inverted: false,
                sats_variant: 0,
            },
        )
    }

    fn spec(width: u32, height: u32) -> CanvasSpec {
        CanvasSpec {
            width,
            height,
            turn: Turn::None,
            depth: Depth::Eight,
            layout: Layout::Auto,
            dark: None,
        }
    }

    #[test]
    fn a_changed_digit_costs_one_cell_also_beside_other_sizes() {
        let mut painter = CanvasPainter::new();
        let sizes = [spec(800, 480), spec(600, 800)];
        for spec in &sizes {
            painter.paint(&number(123_456), "", spec);
        }
        let kept = painter.cached.len();
        for spec in &sizes {
            painter.paint(&number(123_456), "", spec);
        }
        assert_eq!(painter.cached.len(), kept);
        painter.paint(&number(123_457), "", &sizes[0]);
        assert_eq!(painter.cached.len(), kept + 1);
    }

    #[test]
    fn cached_cells_of_all_sizes_are_bounded_by_their_bytes() {
        let mut painter = CanvasPainter::new();
        for (height, width) in (0..20).map(|turn| (840_000 + 777 * turn, 1600 + 20 * turn)) {
            painter.paint(&number(height), "Block height", &spec(width, 1600));
            let held: usize = painter.cached.iter().map(|cell| cost(&cell.pixels)).sum();
            assert_eq!(painter.cached_bytes, held);
            assert!(held <= CELL_BYTES_MAX, "{held} bytes");
        }
        assert!(painter.cached_bytes > CELL_BYTES_MAX / 2);
    }
}

//! The panels side by side in greys, scaled to the terminal.

use std::collections::BTreeMap;

use render::Bitmap;

/// Width of a panel divided by the gap between two panels.
const GAP: usize = 24;

/// The last image of each panel, by position from the left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PanelImages(BTreeMap<usize, Bitmap>);

impl PanelImages {
    pub(super) fn put(&mut self, index: usize, bitmap: Bitmap) {
        self.0.insert(index, bitmap);
    }

    /// Whether no image is known.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The panels, leftmost first.
    pub(super) fn bitmaps(&self) -> Vec<Bitmap> {
        self.0.values().cloned().collect()
    }
}

/// A grey picture, row by row: 0 is black and 255 white. Pixels between the panels are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shades {
    /// Width, px.
    pub(super) width: usize,
    /// Height, px.
    pub(super) height: usize,
    cells: Vec<Option<u8>>,
}

impl Shades {
    /// Scales the panels down to a maximum size.
    pub(super) fn fit(panels: &[Bitmap], width_max: usize, height_max: usize) -> Shades {
        let Some(first) = panels.first() else {
            return Shades {
                width: 0,
                height: 0,
                cells: Vec::new(),
            };
        };
        let (full, tall) = (usize::from(first.width()), usize::from(first.height()));
        let gap = |panel: usize| panel.div_ceil(GAP);
        let fits = |panel: &usize| {
            let width = panels.len() * panel + (panels.len() - 1) * gap(*panel);
            width <= width_max && panel * tall / full <= height_max
        };
        let panel = (1..=full).rev().find(fits).unwrap_or(1);
        let (height, step) = ((panel * tall / full).max(1), panel + gap(panel));
        let width = panels.len() * step - gap(panel);
        let mut cells = vec![None; width * height];
        for (index, bitmap) in panels.iter().enumerate() {
            for y in 0..height {
                for x in 0..panel {
                    let shade = shade(bitmap, (x, panel), (y, height));
                    cells[y * width + index * step + x] = Some(shade);
                }
            }
        }
        Shades {
            width,
            height,
            cells,
        }
    }

    /// The grey of a pixel. `None` between the panels and outside of the picture.
    pub(super) fn at(&self, x: usize, y: usize) -> Option<u8> {
        let is_inside = x < self.width && y < self.height;
        is_inside.then(|| self.cells[y * self.width + x])?
    }
}

/// The mean grey of the part of a panel that a scaled pixel covers: column `x` of `columns`, row `y` of `rows`.
fn shade(bitmap: &Bitmap, (x, columns): (usize, usize), (y, rows): (usize, usize)) -> u8 {
    let span = |at: usize, of: usize, whole: usize| {
        let start = at * whole / of;
        let end = ((at + 1) * whole / of).max(start + 1);
        start..end.min(whole)
    };
    let (mut ink, mut all) = (0, 0);
    for row in span(y, rows, usize::from(bitmap.height())) {
        for column in span(x, columns, usize::from(bitmap.width())) {
            let (column, row) = (u16::try_from(column), u16::try_from(row));
            let is_ink = matches!((column, row), (Ok(x), Ok(y)) if bitmap.is_ink(x, y));
            ink += usize::from(is_ink);
            all += 1;
        }
    }
    let paper = (all - ink) * 255 / all.max(1);
    u8::try_from(paper).unwrap_or(u8::MAX)
}

//! The painter: renders pictures to bitmaps, with a cache of drawn panels.

use device::cells::{Cell, Picture, Style};
use market::mark::Mark;

use crate::{
    Bitmap,
    draw::{self, Letters, PixelScale},
    text::Typesetter,
};

/// Largest number of cached panels; a rotation through all screens needs about this many.
const CACHED_PANELS_MAX: usize = 64;

/// Paints pictures for panels of one size.
///
/// It caches what it draws, so that painting the same cell again is a copy. The cache is bounded.
pub struct Painter {
    width: u16,
    height: u16,
    type_: Typesetter,
    cached: Vec<CachedPanel>,
    letters: Option<MeasuredLetters>,
    paints: u64,
}

/// The large letters that were measured last.
struct MeasuredLetters {
    texts: Vec<String>,
    style: Style,
    letters: Letters,
}

/// A drawn panel.
struct CachedPanel {
    cell: Cell,
    style: Style,
    extra: Extra,
    bitmap: Bitmap,
    used: u64,
}

/// What a panel shows besides its cell and the style.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extra {
    mark: Option<Mark>,
    /// Common size of large letters, if the panel shows one.
    letters: Option<Letters>,
}

impl Painter {
    /// A painter for panels of a size, px.
    pub fn new(width: u16, height: u16) -> Painter {
        Painter {
            width,
            height,
            type_: Typesetter::default(),
            cached: Vec::new(),
            letters: None,
            paints: 0,
        }
    }

    /// Paints one panel of a picture. A panel that the picture does not have is empty.
    pub fn paint(&mut self, picture: &Picture, panel: usize) -> Bitmap {
        let blank = Cell::Blank;
        let cell = picture.cells.get(panel).unwrap_or(&blank);
        let extra = Extra {
            mark: picture.mark.filter(|_| panel == 0),
            letters: self.letters(picture, cell),
        };
        self.paints += 1;
        let used = self.paints;
        let cached = self.cached.iter_mut().find(|panel| {
            panel.extra == extra && panel.cell == *cell && panel.style == picture.style
        });
        if let Some(panel) = cached {
            panel.used = used;
            return panel.bitmap.clone();
        }
        self.type_.next_panel();
        let bitmap = self.draw(cell, &picture.style, extra);
        self.store(CachedPanel {
            cell: cell.clone(),
            style: picture.style.clone(),
            extra,
            bitmap: bitmap.clone(),
            used,
        });
        bitmap
    }

    /// Paints all panels of a picture, leftmost first.
    pub fn paint_all(&mut self, picture: &Picture) -> Vec<Bitmap> {
        (0..picture.cells.len())
            .map(|panel| self.paint(picture, panel))
            .collect()
    }

    /// The common size of the large letters of the picture, if the cell is one.
    fn letters(&mut self, picture: &Picture, cell: &Cell) -> Option<Letters> {
        letter(cell)?;
        let texts = picture.cells.iter().filter_map(letter);
        let known = self
            .letters
            .as_ref()
            .filter(|known| known.style == picture.style && known.texts.iter().eq(texts.clone()));
        if let Some(known) = known {
            return Some(known.letters);
        }
        let letters = self.panel(&picture.style).letters(texts.clone());
        self.letters = Some(MeasuredLetters {
            texts: texts.map(str::to_owned).collect(),
            style: picture.style.clone(),
            letters,
        });
        Some(letters)
    }

    fn panel<'a>(&'a mut self, style: &'a Style) -> draw::PanelCanvas<'a> {
        draw::PanelCanvas {
            width: i32::from(self.width),
            height: i32::from(self.height),
            scale: PixelScale::PANEL,
            style,
            type_: &mut self.type_,
        }
    }

    fn draw(&mut self, cell: &Cell, style: &Style, extra: Extra) -> Bitmap {
        let mut mask = self.panel(style).cell(cell, extra.letters);
        if let Some(mark) = extra.mark {
            draw::mark::add(mark, &mut mask, PixelScale::PANEL);
        }
        if style.inverted {
            mask.invert_all();
        }
        Bitmap::of(&mask)
    }

    fn store(&mut self, panel: CachedPanel) {
        if self.cached.len() < CACHED_PANELS_MAX {
            self.cached.push(panel);
        } else if let Some(oldest) = self.cached.iter_mut().min_by_key(|panel| panel.used) {
            *oldest = panel;
        }
    }
}

/// The text of a large letter.
fn letter(cell: &Cell) -> Option<&str> {
    if let Cell::Letter(text) = cell { Some(text) } else { None }
}

#[cfg(test)]
mod tests {
    use device::settings::fonts::FontId;

    use super::*;

    fn digits(count: usize) -> Picture {
        let cell = |number: usize| Cell::digit(number.to_string());
        Picture::new(
            (0..count).map(cell).collect(),
            Style {
                font: FontId::all().next().expect("there are fonts"),
                digit_px: 180,
                label_fit_pct: 80,
                vertical_labels: false,
                inverted: false,
                sats_variant: 0,
            },
        )
    }

    #[test]
    fn kept_panels_are_bounded_and_the_longest_unused_goes() {
        let mut painter = Painter::new(122, 250);
        let picture = digits(CACHED_PANELS_MAX + 1);
        for panel in 0..CACHED_PANELS_MAX {
            painter.paint(&picture, panel);
        }
        // It is used again, so the second is the oldest.
        painter.paint(&picture, 0);
        painter.paint(&picture, CACHED_PANELS_MAX);
        assert_eq!(painter.cached.len(), CACHED_PANELS_MAX);
        let kept = |panel: usize| {
            let cell = &picture.cells[panel];
            painter.cached.iter().any(|panel| panel.cell == *cell)
        };
        assert_eq!([kept(0), kept(1), kept(2)], [true, false, true]);
        assert!(kept(CACHED_PANELS_MAX));
    }
}

//! The painter: pictures in, bitmaps out, with what was drawn before at hand.

use device::cells::{Cell, Picture, Style};
use market::mark::Mark;

use crate::{
    Bitmap,
    draw::{self, Letters},
    text::Typesetter,
};

/// Panels kept as they were drawn; a rotation through all screens needs about this many.
const PLATES_MAX: usize = 64;

/// Paints pictures for panels of one size.
///
/// Keeps what it drew, so that painting the same cell again is a copy; bounded.
pub struct Painter {
    width: u16,
    height: u16,
    type_: Typesetter,
    plates: Vec<Plate>,
    letters: Option<MeasuredLetters>,
    paints: u64,
}

/// The large letters that were measured last.
struct MeasuredLetters {
    texts: Vec<String>,
    style: Style,
    letters: Letters,
}

/// A panel as it was drawn.
struct Plate {
    cell: Cell,
    style: Style,
    extra: Extra,
    bitmap: Bitmap,
    used: u64,
}

/// What a panel shows beyond its own cell and the style.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extra {
    /// The mark that it carries.
    mark: Option<Mark>,
    /// Size of large letters, where the panel has one.
    letters: Option<Letters>,
}

impl Painter {
    /// A painter for panels of a size, px.
    pub fn new(width: u16, height: u16) -> Painter {
        Painter {
            width,
            height,
            type_: Typesetter::default(),
            plates: Vec::new(),
            letters: None,
            paints: 0,
        }
    }

    /// Paints one panel of a picture; a panel that the picture does not have is empty paper.
    pub fn paint(&mut self, picture: &Picture, panel: usize) -> Bitmap {
        let blank = Cell::Blank;
        let cell = picture.cells.get(panel).unwrap_or(&blank);
        let extra = Extra {
            mark: picture.mark.filter(|_| panel == 0),
            letters: self.letters(picture, cell),
        };
        self.paints += 1;
        let used = self.paints;
        let kept = self.plates.iter_mut().find(|plate| {
            plate.extra == extra && plate.cell == *cell && plate.style == picture.style
        });
        if let Some(plate) = kept {
            plate.used = used;
            return plate.bitmap.clone();
        }
        self.type_.next_panel();
        let bitmap = self.draw(cell, &picture.style, extra);
        self.keep(Plate {
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

    /// The common size of the picture's large letters, if the cell is one.
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
            style,
            type_: &mut self.type_,
        }
    }

    fn draw(&mut self, cell: &Cell, style: &Style, extra: Extra) -> Bitmap {
        let mut mask = self.panel(style).cell(cell, extra.letters);
        if let Some(mark) = extra.mark {
            draw::mark::add(mark, &mut mask);
        }
        if style.inverted {
            mask.invert_all();
        }
        Bitmap::of(&mask)
    }

    fn keep(&mut self, plate: Plate) {
        if self.plates.len() < PLATES_MAX {
            self.plates.push(plate);
        } else if let Some(oldest) = self.plates.iter_mut().min_by_key(|plate| plate.used) {
            *oldest = plate;
        }
    }
}

/// The text of a large letter.
fn letter(cell: &Cell) -> Option<&str> {
    if let Cell::Letter(text) = cell {
        Some(text)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use device::settings::fonts::FontId;

    use super::*;

    fn digits(count: usize) -> Picture {
        let cell = |number: usize| Cell::digit(number.to_string());
        Picture {
            cells: (0..count).map(cell).collect(),
            style: Style {
                font: FontId::all().next().expect("there are fonts"),
                digit_px: 180,
                label_fit_pct: 80,
                vertical_labels: false,
                inverted: false,
                sats_variant: 0,
            },
            mark: None,
            shows_password: false,
            full_refreshes: 0,
            repaints: 0,
            serial: 0,
        }
    }

    #[test]
    fn kept_panels_are_bounded_and_the_longest_unused_goes() {
        let mut painter = Painter::new(122, 250);
        let picture = digits(PLATES_MAX + 1);
        for panel in 0..PLATES_MAX {
            painter.paint(&picture, panel);
        }
        // It is used again, so the second is the oldest.
        painter.paint(&picture, 0);
        painter.paint(&picture, PLATES_MAX);
        assert_eq!(painter.plates.len(), PLATES_MAX);
        let kept = |panel: usize| {
            let cell = &picture.cells[panel];
            painter.plates.iter().any(|plate| plate.cell == *cell)
        };
        assert_eq!([kept(0), kept(1), kept(2)], [true, false, true]);
        assert!(kept(PLATES_MAX));
    }
}

//! How large a cell is drawn: lengths of this folder are those on a panel of 122x250 px.

/// Size of that panel, px.
const PANEL_SHORT: f32 = 122.0;
const PANEL_LONG: f32 = 250.0;

/// Smallest margin, px of the picture.
const MARGIN_LEAST: i32 = 2;

/// Smallest readable height of text, in halves of a px of the picture.
const LEAST: u32 = 2 * 8;

/// By how much more digits may fill the height of a cell that is wider than a panel.
const FILL_MAX: f32 = 1.3;

/// From lengths on the panel to those on the mask of a cell.
///
/// A mask can have several pixels per pixel of the picture, which are averaged later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PixelScale {
    /// Pixels of the mask per px of the panel.
    length: f32,
    /// The same for digits and the symbols beside them, which fill the height of a cell.
    digit: f32,
    /// Pixels of the mask along each side of a pixel of the picture.
    pub(crate) samples: i32,
}

impl PixelScale {
    /// A panel of any size: its owner sets heights in px.
    pub(crate) const PANEL: PixelScale = PixelScale {
        length: 1.0,
        digit: 1.0,
        samples: 1,
    };

    /// A cell of a size, px, with digits as high as in a cell of the usual size.
    pub(crate) fn of_cell(
        (width, height): (i32, i32),
        (usual_width, usual_height): (i32, i32),
        samples: i32,
    ) -> PixelScale {
        let wider = usual_width as f32 / usual_height as f32 * PANEL_LONG / PANEL_SHORT;
        let (short, long) = (width.min(height) as f32, width.max(height) as f32);
        PixelScale {
            length: (short / PANEL_SHORT).min(long / PANEL_LONG) * samples as f32,
            digit: usual_height as f32 / PANEL_LONG * wider.clamp(1.0, FILL_MAX) * samples as f32,
            samples,
        }
    }

    /// A length, at least one pixel of the picture.
    pub(crate) fn px(self, px: i32) -> i32 {
        ((px as f32 * self.length).round() as i32).max(self.samples)
    }

    /// A margin, at least two pixels of the picture.
    pub(crate) fn margin(self, px: i32) -> i32 {
        self.px(px).max(MARGIN_LEAST * self.samples)
    }

    /// A height of text, in halves of a px.
    pub(crate) fn text(self, half_px: u32) -> u32 {
        ((half_px as f32 * self.length).round() as u32).max(self.least())
    }

    /// A height of digits, in halves of a px.
    pub(crate) fn digits(self, half_px: u32) -> u32 {
        ((half_px as f32 * self.digit).round() as u32).max(self.least())
    }

    /// The size of a drawing beside digits.
    pub(crate) fn drawing(self, px: f32) -> f32 {
        px * self.digit
    }

    /// Smallest readable height of text, in halves of a px.
    pub(crate) fn least(self) -> u32 {
        LEAST * self.samples as u32
    }

    /// Returns whether this is a small cell without greys. Panels keep the font that was chosen for them.
    pub(crate) fn is_coarse(self) -> bool {
        self.samples == 1 && self.length < 1.0
    }

    /// By how much sizes are reduced until something fits.
    pub(crate) fn step(self) -> u32 {
        (self.digit.max(self.length) as u32).max(1)
    }
}

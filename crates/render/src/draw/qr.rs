//! QR codes.

use fast_qr::{ECL, QRBuilder};

use super::{PanelCanvas, PixelScale};
use crate::mask::{Area, Mask};

impl PanelCanvas<'_> {
    /// A QR code, as large as fits with a margin; empty if the text is too long.
    ///
    /// It is dark on light even if the panels are inverted, because many scanners need that.
    pub(super) fn qr(&self, text: &str) -> Mask {
        let mut mask = self.blank();
        let Ok(code) = QRBuilder::new(text).ecl(ECL::M).build() else {
            return mask;
        };
        let modules = code.size as i32;
        // Modules are whole pixels of the picture.
        let samples = self.scale.samples;
        let (width, height) = (self.width / samples, self.height / samples);
        // Beside a cell of a canvas there is a line, beside a panel its case.
        let edge = if self.scale == PixelScale::PANEL { 0 } else { 1 };
        let Some((side, quiet)) = module(width.min(height) - 2 * edge, modules) else {
            return mask;
        };
        let (left, top) = (
            (width - modules * side) / 2 * samples,
            (height - modules * side) / 2 * samples,
        );
        let (side, quiet) = (side * samples, quiet * samples);
        for row in 0..modules {
            for column in (0..modules).filter(|column| code[row as usize][*column as usize].value())
            {
                mask.fill(square(left + column * side, top + row * side, side));
            }
        }
        if self.style.inverted {
            mask.invert(square(
                left - quiet,
                top - quiet,
                modules * side + 2 * quiet,
            ));
        }
        mask
    }
}

/// Side of a module and margin around the code, px; `None` if the code does not fit.
///
/// For a margin of two modules, modules are made smaller, down to three pixels.
fn module(room: i32, modules: i32) -> Option<(i32, i32)> {
    let side = [(2, 3), (1, 2), (0, 1)]
        .into_iter()
        .find_map(|(quiet, least)| {
            let side = room / (modules + 2 * quiet);
            (side >= least).then_some(side)
        })?;
    Some((side, ((room - modules * side) / 2).min(4 * side)))
}

fn square(x: i32, y: i32, side: i32) -> Area {
    Area {
        x,
        y,
        width: side,
        height: side,
    }
}

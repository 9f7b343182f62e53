//! QR codes as bitmaps.

use fast_qr::{ECL, QRBuilder};

use crate::Bitmap;

/// Light margin around a code, modules.
const QUIET: usize = 4;

/// A QR code with one pixel per module. `None` if the text is too long.
pub fn bitmap(text: &str) -> Option<Bitmap> {
    let code = QRBuilder::new(text).ecl(ECL::M).build().ok()?;
    let side = u16::try_from(code.size + 2 * QUIET).ok()?;
    let module = |at: u16| {
        usize::from(at)
            .checked_sub(QUIET)
            .filter(|at| *at < code.size)
    };
    let is_ink = |x, y| match (module(x), module(y)) {
        (Some(column), Some(row)) => code[row][column].value(),
        _ => false,
    };
    Some(Bitmap::from_ink(side, side, is_ink))
}

//! Pictures in the pixel order of the controller.

use board::parts::epaper::{self, PanelImage, PanelRotation};
use render::Bitmap;

/// A picture that differs from itself in every rotation.
pub fn speckled(width: u16, height: u16) -> Bitmap {
    Bitmap::from_ink(width, height, |x, y| {
        (u32::from(x) * 31 + u32::from(y) * 17) % 7 < 2
    })
}

fn is_ink(frame: &PanelImage, width: u16, x: u16, y: u16) -> bool {
    let stride = usize::from(width).div_ceil(8);
    let byte = frame.bytes()[usize::from(y) * stride + usize::from(x / 8)];
    byte >> (7 - x % 8) & 1 == 0
}

#[test]
fn each_pixel_is_at_the_place_of_its_rotation() {
    for model in epaper::MODELS {
        let (width, height) = (model.width, model.height);
        for rotation in PanelRotation::ALL {
            let seen = rotation.size(model);
            let bitmap = speckled(seen.0, seen.1);
            let frame = PanelImage::new(&bitmap, model, rotation);
            let stride = usize::from(width).div_ceil(8);
            assert_eq!(frame.bytes().len(), stride * usize::from(height));
            for (x, y) in (0..seen.1).flat_map(|y| (0..seen.0).map(move |x| (x, y))) {
                // The pixel that was at the left top moves clockwise around the panel.
                let (column, line) = match rotation {
                    PanelRotation::Upright => (x, y),
                    PanelRotation::Right => (width - 1 - y, x),
                    PanelRotation::UpsideDown => (width - 1 - x, height - 1 - y),
                    PanelRotation::Left => (y, height - 1 - x),
                };
                let expected = bitmap.is_ink(x, y);
                let found = is_ink(&frame, width, column, line);
                assert_eq!(found, expected, "{x}, {y}, {rotation:?} of {}", model.id);
            }
            for (x, y) in (0..height).flat_map(|y| (width..stride as u16 * 8).map(move |x| (x, y)))
            {
                assert!(!is_ink(&frame, width, x, y));
            }
        }
    }
}

#[test]
fn a_picture_of_another_size_is_cut_or_padded_with_white() {
    let model = epaper::find("gdey0213b74").unwrap();
    for (width, height) in [(8, 8), (128, 296), (0, 0)] {
        let frame = PanelImage::new(
            &Bitmap::paper(width, height),
            model,
            PanelRotation::UpsideDown,
        );
        assert!(frame.bytes().iter().all(|byte| *byte == 0xFF));
    }
}

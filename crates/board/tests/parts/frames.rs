//! Pictures in the pixel order of the controller.

use board::parts::ssd1680::{self, PanelImage, PanelRotation, STRIDE};
use render::Bitmap;

/// A picture that differs from itself in every rotation.
pub fn speckled(width: u16, height: u16) -> Bitmap {
    Bitmap::from_ink(width, height, |x, y| {
        (u32::from(x) * 31 + u32::from(y) * 17) % 7 < 2
    })
}

fn is_ink(frame: &PanelImage, x: u16, y: u16) -> bool {
    let byte = frame.bytes()[usize::from(y) * STRIDE + usize::from(x / 8)];
    byte >> (7 - x % 8) & 1 == 0
}

#[test]
fn each_pixel_is_at_the_place_of_its_rotation() {
    for model in ssd1680::MODELS {
        let (width, height) = (model.width, model.height);
        let bitmap = speckled(width, height);
        let upright = PanelImage::new(&bitmap, model, PanelRotation::Upright);
        let turned = PanelImage::new(&bitmap, model, PanelRotation::UpsideDown);
        assert_eq!(upright.bytes().len(), STRIDE * usize::from(height));
        let mut ink = 0;
        for y in 0..height {
            for x in 0..width {
                let expected = bitmap.is_ink(x, y);
                ink += u32::from(expected);
                assert_eq!(is_ink(&upright, x, y), expected, "{x}, {y}");
                let opposite = is_ink(&turned, width - 1 - x, height - 1 - y);
                assert_eq!(opposite, expected, "{x}, {y} of {}", model.id);
            }
            for x in width..128 {
                assert!(!is_ink(&upright, x, y) && !is_ink(&turned, x, y));
            }
        }
        assert!(ink > 100, "the picture has ink");
    }
}

#[test]
fn a_picture_of_another_size_is_cut_or_padded_with_white() {
    let model = ssd1680::find("gdey0213b74").unwrap();
    for (width, height) in [(8, 8), (128, 296), (0, 0)] {
        let frame = PanelImage::new(
            &Bitmap::paper(width, height),
            model,
            PanelRotation::UpsideDown,
        );
        assert!(frame.bytes().iter().all(|byte| *byte == 0xFF));
    }
}

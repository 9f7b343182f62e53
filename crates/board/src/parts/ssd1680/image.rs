//! A picture in the order of the controller.

use render::Bitmap;
use serde::Deserialize;

use super::Model;

/// Bytes of a row of a picture, on all panels.
pub const STRIDE: usize = 16;

/// How a panel is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "i64")]
pub enum PanelRotation {
    /// The first row of the controller is on top.
    Upright,
    #[default]
    UpsideDown,
}

impl TryFrom<i64> for PanelRotation {
    type Error = String;

    fn try_from(degrees: i64) -> Result<PanelRotation, String> {
        match degrees {
            0 => Ok(PanelRotation::Upright),
            180 => Ok(PanelRotation::UpsideDown),
            other => Err(format!("{other} is not 0 or 180")),
        }
    }
}

/// A picture, row by row; bit 1 is white. The padding bits at the end of a row are white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelImage {
    bytes: Vec<u8>,
}

impl PanelImage {
    /// Converts a picture. A smaller one is filled with white, a larger one is cut.
    pub fn new(bitmap: &Bitmap, model: &Model, rotation: PanelRotation) -> PanelImage {
        let beyond = 8 * STRIDE as u32 - u32::from(model.width);
        let white = (1u128 << beyond) - 1;
        let row_of = |y: u16| -> u128 {
            let stride = bitmap.stride();
            let start = usize::from(y) * stride;
            let mut bytes = [0xFF; STRIDE];
            let row = bitmap.rows().get(start..start + stride).unwrap_or_default();
            for (target, byte) in bytes.iter_mut().zip(row) {
                *target = *byte;
            }
            u128::from_be_bytes(bytes)
        };
        let turned = |y: u16| match rotation {
            PanelRotation::Upright => row_of(y) | white,
            PanelRotation::UpsideDown => {
                let opposite = row_of(model.height - 1 - y) | white;
                (opposite.reverse_bits() << beyond) | white
            }
        };
        PanelImage {
            bytes: (0..model.height)
                .flat_map(|y| turned(y).to_be_bytes())
                .collect(),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

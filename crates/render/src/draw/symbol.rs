//! Icons and logos, centred by their ink.

use device::cells::Icon;
use market::logo::Logo;
use zeno::Transform;

use super::{PanelCanvas, Scale};
use crate::{
    icons,
    mask::{Area, Mask},
    text::Room,
};

/// Side of the square of an icon, px.
const ICON: f32 = 130.0;

impl PanelCanvas<'_> {
    /// An icon at its usual size, or smaller so that it fits.
    pub(super) fn icon(&self, icon: Icon) -> Mask {
        let room = self.room();
        let mut side = self.scale.drawing(ICON);
        let mut ink = outline(icon, side);
        while side > 1.0 && (ink.width() > room.width || ink.height() > room.height) {
            side -= self.scale.step() as f32;
            ink = outline(icon, side);
        }
        self.centre(&ink)
    }

    /// A logo, made smaller if it is larger than the panel. On other cells it grows by whole factors.
    pub(super) fn logo(&self, logo: &Logo) -> Mask {
        let source = LogoInk::new(logo);
        let room = match self.scale {
            // Logos are drawn for the whole panel.
            Scale::PANEL => Room {
                width: self.width,
                height: self.height,
            },
            _ => self.room(),
        };
        if self.scale != Scale::PANEL {
            let samples = self.scale.samples;
            let grow = (room.width / source.width.max(1)).min(room.height / source.height.max(1));
            let grow = if grow > samples {
                grow - grow % samples
            } else {
                grow
            };
            if grow > 1 {
                return self.centre(&source.enlarged(grow));
            }
        }
        let times = |have: i32, room: i32| (have - 1) / room.max(1) + 1;
        let shrink = times(source.width, room.width)
            .max(times(source.height, room.height))
            .max(1);
        let mut ink = Mask::new(source.width / shrink, source.height / shrink);
        for y in 0..ink.height() {
            for x in 0..ink.width() {
                if source.mostly_ink(x * shrink, y * shrink, shrink) {
                    ink.set(x, y);
                }
            }
        }
        self.centre(&ink)
    }

    pub(super) fn centre(&self, ink: &Mask) -> Mask {
        let mut mask = self.blank();
        mask.blit(
            ink,
            (self.width - ink.width()) / 2,
            (self.height - ink.height()) / 2,
        );
        mask
    }
}

/// The ink of an icon, cropped.
fn outline(icon: Icon, side: f32) -> Mask {
    let scale = side / icons::SIDE;
    let (coverage, place) = zeno::Mask::new(icons::path(icon))
        .transform(Some(Transform::scale(scale, scale)))
        .render();
    let mask = Mask::from_coverage(&coverage, place.width as i32, place.height as i32);
    mask.ink()
        .map(|area| mask.cropped(area))
        .unwrap_or_default()
}

/// The pixels of a logo. Missing bytes are white.
struct LogoInk<'a> {
    width: i32,
    height: i32,
    stride: usize,
    rows: &'a [u8],
}

impl LogoInk<'_> {
    fn new(logo: &Logo) -> LogoInk<'_> {
        let stride = usize::from(logo.width).div_ceil(8);
        let rows = logo.rows.len() / stride.max(1);
        LogoInk {
            width: logo.width.into(),
            height: rows.min(logo.height.into()) as i32,
            stride,
            rows: &logo.rows,
        }
    }

    fn is_ink(&self, x: i32, y: i32) -> bool {
        let byte = self.rows.get(y as usize * self.stride + x as usize / 8);
        byte.is_some_and(|byte| byte >> (7 - x % 8) & 1 == 0)
    }

    /// Each pixel a square.
    fn enlarged(&self, side: i32) -> Mask {
        let mut mask = Mask::new(self.width * side, self.height * side);
        for (x, y) in (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y))) {
            if self.is_ink(x, y) {
                mask.fill(Area {
                    x: x * side,
                    y: y * side,
                    width: side,
                    height: side,
                });
            }
        }
        mask
    }

    fn mostly_ink(&self, left: i32, top: i32, side: i32) -> bool {
        let count = (top..top + side)
            .flat_map(|y| (left..left + side).map(move |x| (x, y)))
            .filter(|&(x, y)| self.is_ink(x, y))
            .count();
        2 * count as i32 >= side * side
    }
}

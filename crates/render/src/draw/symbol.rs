//! Icons and logos, centred by their ink.

use device::cells::Icon;
use market::logo::Logo;
use zeno::{Command, PathData, Transform};

use super::{PanelCanvas, PixelScale};
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

    /// A logo, made smaller if it is larger than the cell. It grows by whole factors, but not on a panel.
    pub(super) fn logo(&self, logo: &Logo) -> Mask {
        let source = LogoInk::new(logo);
        let (room, most) = match self.scale {
            // Logos are drawn for the whole panel.
            PixelScale::PANEL => {
                let (width, height) = (self.width, self.height);
                (Room { width, height }, 1)
            }
            _ => (self.room(), i32::MAX),
        };
        let (width, height) = (source.width.max(1), source.height.max(1));
        let grow = (room.width / width).min(room.height / height).min(most);
        let samples = self.scale.samples;
        let ink = match grow {
            ..1 => {
                let fits = |side: i32| {
                    let by_width = side * room.width / width;
                    by_width.min(side * room.height / height).max(1)
                };
                source.reduced(fits(source.width), fits(source.height))
            }
            // Whole pixels of the picture, if there are that many.
            _ if grow > samples => source.enlarged(grow - grow % samples),
            _ => source.enlarged(grow),
        };
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
    let path: Vec<Command> = icons::path(icon).commands().collect();
    let (coverage, place) = zeno::Mask::new(&*path)
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

    /// Each pixel is ink if at least half of the pixels at its place are.
    fn reduced(&self, width: i32, height: i32) -> Mask {
        let mut mask = Mask::new(width, height);
        let part = |at: i32, from: i32, to: i32| at * from / to..(at + 1) * from / to;
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let (xs, ys) = (part(x, self.width, width), part(y, self.height, height));
            let count = ys
                .flat_map(|y| xs.clone().map(move |x| (x, y)))
                .fold([0, 0], |[ink, all], (x, y)| {
                    [ink + i32::from(self.is_ink(x, y)), all + 1]
                });
            if 2 * count[0] >= count[1] {
                mask.set(x, y);
            }
        }
        mask
    }
}

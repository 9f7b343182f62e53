//! Labels and units: two lines with a bar between, or one line. Labels may be rotated.

use device::settings::fonts::FontId;

use super::{BAR, LABEL, LABEL_MIN, MARGIN, PanelCanvas, bar};
use crate::{
    faces,
    mask::Mask,
    text::{Room, TextRun},
};

/// Distance from the middle of the panel to the ink of each line, px.
const GAP: i32 = 12;

/// Height below which narrow fonts lose their strokes where there are no greys, in halves of a px.
const COARSE: u32 = 2 * 14;

impl PanelCanvas<'_> {
    /// A split label, rotated if the style has that.
    pub(super) fn label(&mut self, top: &str, bottom: &str) -> Mask {
        if self.turns_labels() {
            let canvas = Mask::new(self.height, self.width);
            self.split_label(canvas, top, bottom).turned()
        } else {
            self.unit(top, bottom)
        }
    }

    /// A split label that is never rotated.
    pub(super) fn unit(&mut self, top: &str, bottom: &str) -> Mask {
        let canvas = self.blank();
        self.split_label(canvas, top, bottom)
    }

    /// One line at label size, rotated if the style has that.
    pub(super) fn word(&mut self, text: &str) -> Mask {
        let label = self.label_height();
        if !self.turns_labels() {
            return self.fitted(self.style.font, label, text);
        }
        let mut across = PanelCanvas {
            width: self.height,
            height: self.width,
            scale: self.scale,
            style: self.style,
            type_: self.type_,
        };
        across.fitted(self.style.font, label, text).turned()
    }

    /// Labels are only turned on cells that are taller than wide.
    fn turns_labels(&self) -> bool {
        self.style.vertical_labels && self.height > self.width
    }

    /// Height of labels before fitting, in halves of a px.
    fn label_height(&self) -> u32 {
        self.scale.text(LABEL).max(2 * self.scale.least())
    }

    fn split_label(&mut self, canvas: Mask, top: &str, bottom: &str) -> Mask {
        let percent = self.style.label_fit_pct.clamp(25, 100) as i32;
        let target = (self.width - 2 * self.scale.margin(MARGIN)) * percent / 100;
        self.split(
            canvas,
            self.style.font,
            [self.label_height(), self.scale.text(LABEL_MIN)],
            target,
            [top, bottom],
        )
    }

    /// Two lines of one height with a bar between, at equal distances from the middle.
    pub(super) fn split(
        &mut self,
        mut canvas: Mask,
        font: FontId,
        [start, least]: [u32; 2],
        target: i32,
        lines: [&str; 2],
    ) -> Mask {
        let (gap, margin) = (self.scale.px(GAP), self.scale.margin(MARGIN));
        let wanted = Room {
            width: target.max(1),
            height: canvas.height() / 2 - gap - margin,
        };
        let whole = Room {
            width: canvas.width() - 2 * margin,
            ..wanted
        };
        let fitting = |panel: &mut Self, start, least, room| {
            lines.iter().fold(start, |px, line| {
                panel.type_.fit(font, px, least, room, line).1
            })
        };
        let px = fitting(self, start, least, wanted);
        let px = fitting(self, px, self.scale.least(), whole);
        if px < COARSE && self.scale.is_coarse() && font != faces::plain_bold() {
            let limits = [start, least];
            return self.split(canvas, faces::plain_bold(), limits, target, lines);
        }
        let [top, bottom] = lines.map(|line| self.type_.cut(font, px, whole, line));
        let middle = canvas.height() / 2;
        let capital = self.type_.run(font, px, "H");
        let (over, under) = (stance(&top, &capital), stance(&bottom, &capital));
        let above = (middle - gap - over.below - top.height()).max(margin);
        let lowest = canvas.height() - margin - bottom.height();
        let below = (middle + gap + under.above).min(lowest);
        put(&mut canvas, &top, above);
        put(&mut canvas, &bottom, below);
        if top.width() > 0 && bottom.width() > 0 {
            let thick = self.scale.px(BAR);
            bar(&mut canvas, top.width().min(bottom.width()), thick);
        }
        canvas
    }
}

fn put(canvas: &mut Mask, run: &TextRun, top: i32) {
    canvas.blit(&run.mask, (canvas.width() - run.width()) / 2, top);
}

/// Extra space above and below a line without letters, so that it is placed as letters are.
struct Stance {
    above: i32,
    below: i32,
}

/// None for letters, which are placed by their ink. A dash keeps its height.
fn stance(line: &TextRun, capital: &TextRun) -> Stance {
    if 2 * line.height() > capital.height() {
        return Stance { above: 0, below: 0 };
    }
    Stance {
        above: (capital.above - line.above).max(0),
        below: (line.above - line.height()).max(0),
    }
}

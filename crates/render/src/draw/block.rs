//! Several centred lines of plain text.

use device::cells::BlockLine;

use super::PanelCanvas;
use crate::{faces, mask::Mask, text::Room};

/// Margin at each side, px.
const SIDE: i32 = 4;

/// Height below which lines are wrapped instead of made smaller, in halves of a px.
const READABLE: u32 = 2 * 15;

/// Largest number of lines, and of characters of a line; far more than fit.
const LINES_MAX: usize = 32;
const CHARS_MAX: usize = 128;

impl PanelCanvas<'_> {
    /// Lines of one height, centred as a block and each by itself.
    ///
    /// If lines are too wide, the block is made smaller; then they are wrapped.
    pub(super) fn block(&mut self, lines: &[BlockLine], px: u32) -> Mask {
        let width = self.width - 2 * self.scale.margin(SIDE);
        let start = self.scale.text(2 * px.clamp(8, 100));
        let lines = &lines[..lines.len().min(LINES_MAX)];
        let mut half_px = self.widest(lines, start, self.scale.text(READABLE).min(start), width);
        let mut lines = self.broken(lines, half_px, width);
        while self.tall(lines.len(), half_px) && half_px > self.scale.least() {
            half_px = (half_px - self.scale.step().min(half_px)).max(self.scale.least());
            lines = self.broken(&lines, half_px, width);
        }
        self.shorten(&mut lines, half_px);
        let room = Room {
            width,
            height: i32::MAX,
        };
        let mut mask = self.blank();
        let pitch = pitch(half_px);
        let capital = self.type_.run(faces::plain(), half_px, "H");
        let rest = pitch * (lines.len() as f32 - 1.0).max(0.0) + capital.height() as f32;
        let first = (self.height as f32 - rest) / 2.0 + capital.above as f32;
        for (index, line) in lines.iter().enumerate() {
            let run = self.type_.cut(face(line), half_px, room, &line.text);
            let baseline = (first + pitch * index as f32).round() as i32;
            mask.blit(
                &run.mask,
                (self.width - run.width()) / 2,
                baseline - run.above,
            );
        }
        mask
    }

    /// The largest height at which every line fits, at least `least`.
    fn widest(&mut self, lines: &[BlockLine], start: u32, least: u32, width: i32) -> u32 {
        let room = Room {
            width,
            height: i32::MAX,
        };
        lines.iter().fold(start, |half_px, line| {
            self.type_
                .fit(face(line), half_px, least, room, &line.text)
                .1
        })
    }

    /// Drops the lines for which there is no room even at the smallest height. The last one then ends with an ellipsis.
    fn shorten(&self, lines: &mut Vec<BlockLine>, half_px: u32) {
        let count = lines.len();
        while lines.len() > 1 && self.tall(lines.len(), half_px) {
            lines.pop();
        }
        if lines.len() < count
            && let Some(last) = lines.last_mut()
        {
            last.text.push('…');
        }
    }

    fn tall(&self, lines: usize, half_px: u32) -> bool {
        pitch(half_px) * lines as f32 > (self.height - 2 * self.scale.margin(SIDE)) as f32
    }

    /// The lines, wrapped at spaces or, if there is none, anywhere.
    fn broken(&mut self, lines: &[BlockLine], half_px: u32, width: i32) -> Vec<BlockLine> {
        let mut parts = Vec::new();
        for line in lines {
            let end = line
                .text
                .char_indices()
                .nth(CHARS_MAX)
                .map_or(line.text.len(), |(at, _)| at);
            let mut rest = &line.text[..end];
            while !rest.is_empty() && self.type_.run(face(line), half_px, rest).width() > width {
                let at = self.break_at(line, rest, half_px, width);
                parts.push(part(line, &rest[..at]));
                rest = rest[at..].trim_start();
            }
            if !rest.is_empty() || line.text.is_empty() {
                parts.push(part(line, rest));
            }
        }
        parts
    }

    /// Number of bytes of a text that fit on a line; at least one character.
    fn break_at(&mut self, line: &BlockLine, text: &str, half_px: u32, width: i32) -> usize {
        let ends = text.char_indices().map(|(at, ch)| at + ch.len_utf8());
        let mut last = 0;
        let mut last_space = None;
        for end in ends {
            if last > 0 && self.type_.run(face(line), half_px, &text[..end]).width() > width {
                break;
            }
            last = end;
            if text[..end].ends_with(['-', ' ', '.', '/', '_', ':']) {
                last_space = Some(end);
            }
        }
        last_space.unwrap_or(last)
    }
}

fn part(line: &BlockLine, text: &str) -> BlockLine {
    BlockLine {
        text: text.trim_end().to_owned(),
        bold: line.bold,
    }
}

fn face(line: &BlockLine) -> device::settings::fonts::FontId {
    if line.bold { faces::plain_bold() } else { faces::plain() }
}

/// Distance of two baselines, px.
fn pitch(half_px: u32) -> f32 {
    half_px as f32 / 2.0 * 1.15
}

//! The pixels of a canvas, and the parts that are drawn on it.

use device::{
    canvas::{Depth, Turn},
    cells::Icon,
    settings::fonts::FontId,
};
use market::mark::Mark;
use zeno::{Command, Join, PathBuilder, PathData, Stroke, Transform};

use super::{
    lettering::Lettering,
    scale::{self, Tone},
};
use crate::{
    draw::mark,
    faces, icons,
    mask::{Area, HALF},
};

/// Kind of a part, and the area that it takes, px: tests look whether parts overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Label,
    Mark,
    Figure,
    Unit,
    Line,
    Graph,
}

/// Which face a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    /// The owner's, for figures.
    Figure,
    /// The one of everything else.
    Text,
}

/// How a text is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextStyle {
    pub(super) face: Face,
    /// Size, px of em.
    pub(super) em: f32,
    pub(super) tone: Tone,
}

/// An upright canvas that is being drawn on.
pub(super) struct Sheet<'a> {
    pub(super) lettering: &'a mut Lettering,
    figure_font: FontId,
    text_font: FontId,
    pub(super) width: i32,
    pub(super) height: i32,
    depth: Depth,
    is_dark: bool,
    grey: Vec<u8>,
    pub(super) parts: Vec<(Part, [f32; 4])>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(
        lettering: &'a mut Lettering,
        font: FontId,
        (width, height): (i32, i32),
        depth: Depth,
        is_dark: bool,
    ) -> Sheet<'a> {
        let paper = Tone::Paper.grey(depth, is_dark);
        Sheet {
            lettering,
            figure_font: font,
            text_font: faces::words(),
            width,
            height,
            depth,
            is_dark,
            grey: vec![paper; (width * height) as usize],
            parts: Vec::new(),
        }
    }

    pub(super) fn short(&self) -> i32 {
        self.width.min(self.height)
    }

    pub(super) fn is_dark(&self) -> bool {
        self.is_dark
    }

    pub(super) fn is_one_bit(&self) -> bool {
        self.depth == Depth::One
    }

    pub(super) fn hairline(&self) -> i32 {
        scale::hairline(self.short(), self.depth)
    }

    /// Height of the capitals of a text, px.
    pub(super) fn capitals(&mut self, em: f32) -> f32 {
        (self.lettering.cap_height(self.text_font) * em).round()
    }

    pub(super) fn font(&mut self, face: Face, text: &str) -> FontId {
        let font = match face {
            Face::Figure => self.figure_font,
            Face::Text => self.text_font,
        };
        self.lettering.font_of(font, text)
    }

    /// Width of a text, px.
    pub(super) fn text_width(&mut self, text: &str, face: Face, em: f32) -> f32 {
        let font = self.font(face, text);
        let space = self.space(face, em);
        let advances = text
            .chars()
            .map(|ch| self.lettering.widths(font, ch).1.advance * em + space);
        advances.sum()
    }

    /// Extra space after each letter, px.
    fn space(&self, face: Face, em: f32) -> f32 {
        let is_spaced = self.is_one_bit() && face == Face::Text && em <= scale::SPACED_MAX;
        if is_spaced { scale::SPACE } else { 0.0 }
    }

    /// Draws a text on a baseline; returns where it ends.
    pub(super) fn text(&mut self, x: f32, baseline: i32, text: &str, how: TextStyle) -> f32 {
        let font = self.font(how.face, text);
        let space = self.space(how.face, how.em);
        let mut pen = x;
        for ch in text.chars() {
            self.glyph(font, ch, pen, baseline, how);
            pen += self.lettering.widths(font, ch).1.advance * how.em + space;
        }
        pen
    }

    /// Draws one character.
    pub(super) fn glyph(&mut self, font: FontId, ch: char, x: f32, baseline: i32, how: TextStyle) {
        let is_whole = self.is_one_bit() || how.face == Face::Figure;
        let (x, glyph) = self.lettering.glyph(font, ch, how.em, x, is_whole);
        let place = (x + glyph.left, baseline - glyph.above);
        self.blend(&glyph.coverage, glyph.width, place, how.tone);
    }

    /// Draws coverage in rows of a width at a place.
    fn blend(&mut self, coverage: &[u8], width: usize, (left, top): (i32, i32), tone: Tone) {
        let target = i32::from(tone.grey(self.depth, self.is_dark));
        let is_one_bit = self.is_one_bit();
        let skipped = (-left).clamp(0, width as i32) as usize;
        let end = (self.width - left).clamp(0, width as i32) as usize;
        if width == 0 || skipped >= end {
            return;
        }
        for (y, from) in (top..).zip(coverage.chunks_exact(width)) {
            if !(0..self.height).contains(&y) {
                continue;
            }
            let start = (y * self.width + left + skipped as i32) as usize;
            let row = &mut self.grey[start..start + end - skipped];
            for (to, cover) in row.iter_mut().zip(&from[skipped..end]) {
                match *cover {
                    0 => {}
                    cover if is_one_bit => {
                        if cover >= HALF {
                            *to = target as u8;
                        }
                    }
                    255 => *to = target as u8,
                    cover => {
                        let under = i32::from(*to);
                        *to = (under + (target - under) * i32::from(cover) / 255) as u8;
                    }
                }
            }
        }
    }

    /// Fills an area.
    pub(super) fn fill(&mut self, area: Area, tone: Tone) {
        let grey = tone.grey(self.depth, self.is_dark);
        let columns = area.x.clamp(0, self.width)..(area.x + area.width).clamp(0, self.width);
        for y in area.y.max(0)..(area.y + area.height).min(self.height) {
            let start = (y * self.width) as usize;
            let row =
                start + columns.start as usize..start + columns.end.max(columns.start) as usize;
            self.grey[row].fill(grey);
        }
    }

    /// Fills a path or strokes it, if a thickness is given.
    fn path(&mut self, path: &[Command], transform: Transform, thick: Option<f32>, tone: Tone) {
        let mut mask = zeno::Mask::new(path);
        let mut stroke = Stroke::new(thick.unwrap_or_default());
        if thick.is_some() {
            // Round joins need sines, which differ between C libraries in the last bit.
            mask.style(stroke.join(Join::Bevel));
        }
        let (coverage, place) = mask.transform(Some(transform)).render();
        self.blend(
            &coverage,
            place.width as usize,
            (place.left, place.top),
            tone,
        );
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f32, f32)], thick: f32, tone: Tone) {
        let mut path: Vec<Command> = Vec::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            if index == 0 {
                path.move_to([x, y]);
            } else {
                path.line_to([x, y]);
            }
        }
        self.path(&path, Transform::IDENTITY, Some(thick), tone);
    }

    /// A dot.
    pub(super) fn dot(&mut self, x: f32, y: f32, radius: f32, tone: Tone) {
        let ratio = radius / mark::CIRCLE_RADIUS;
        let middle = mark::SIDE as f32 / 2.0 * ratio;
        let transform = Transform::scale(ratio, ratio).then_translate(x - middle, y - middle);
        let path: Vec<Command> = mark::CIRCLE.commands().collect();
        self.path(&path, transform, None, tone);
    }

    /// A triangle that points up or down, as high as capitals; returns its width.
    pub(super) fn arrow(&mut self, x: f32, baseline: i32, em: f32, is_up: bool, tone: Tone) -> f32 {
        let capitals = self.lettering.cap_height(self.text_font) * em;
        let (width, tall) = (capitals * ARROW, capitals * 0.82);
        let low = baseline as f32 - capitals * 0.05;
        let (base, tip) = if is_up { (low, low - tall) } else { (low - tall, low) };
        let mut path: Vec<Command> = Vec::new();
        path.move_to([x, base]);
        path.line_to([x + width, base]);
        path.line_to([x + width / 2.0, tip]);
        path.close();
        self.path(&path, Transform::IDENTITY, None, tone);
        width
    }

    /// Width of such an arrow, px.
    pub(super) fn arrow_width(&mut self, em: f32) -> f32 {
        self.lettering.cap_height(self.text_font) * em * ARROW
    }

    /// Draws an icon of a height, its upper left corner at `x` and `top`; returns its width.
    pub(super) fn icon(&mut self, icon: Icon, x: f32, top: f32, height: f32, tone: Tone) -> f32 {
        let [left, upper, right, lower] = icon_ink(icon);
        let ratio = height / (lower - upper);
        let path: Vec<Command> = icons::path(icon).commands().collect();
        let transform =
            Transform::scale(ratio, ratio).then_translate(x - left * ratio, top - upper * ratio);
        self.path(&path, transform, None, tone);
        (right - left) * ratio
    }

    /// A mark in a square.
    pub(super) fn mark(&mut self, mark: Mark, x: f32, y: f32, side: f32) {
        let ratio = side / mark::SIDE as f32;
        let thick = (side * 2.0 / 15.0).max(2.0) / ratio;
        let transform = Transform::scale(ratio, ratio).then_translate(x.round(), y.round());
        for outline in mark::outlines(mark) {
            let path: Vec<Command> = outline.commands().collect();
            self.path(&path, transform, Some(thick), Tone::Ink);
        }
    }

    /// Notes where a part is: its edges from the left, top, right and bottom.
    pub(super) fn note(&mut self, part: Part, left: f32, top: f32, right: f32, bottom: f32) {
        self.parts.push((part, [left, top, right, bottom]));
    }

    /// The rows of the turned canvas, packed.
    pub(super) fn into_rows(self, turn: Turn) -> Vec<u8> {
        let upright = self.grey;
        let (width, height) = (self.width as usize, self.height as usize);
        let from_top = |x: usize| upright.iter().skip(x).step_by(width).copied();
        let turned: Vec<u8> = match turn {
            Turn::None => return pack(&upright, width, self.depth),
            Turn::Half => upright.iter().rev().copied().collect(),
            Turn::Quarter => (0..width).flat_map(|x| from_top(x).rev()).collect(),
            Turn::ThreeQuarters => (0..width).rev().flat_map(from_top).collect(),
        };
        let turned_width = if turn == Turn::Half { width } else { height };
        pack(&turned, turned_width, self.depth)
    }
}

/// Width of an arrow in parts of the height of capitals.
const ARROW: f32 = 0.95;

/// Edges of the ink of the icons of figures in their square: left, top, right, bottom.
pub(super) fn icon_ink(icon: Icon) -> [f32; 4] {
    match icon {
        Icon::LightningBolt => [6.0, 1.0, 18.0, 23.0],
        Icon::ArrowDownBold => [4.16, 4.0, 19.84, 19.84],
        Icon::ArrowUpBold => [4.16, 4.16, 19.84, 20.0],
        _ => [0.0, 0.0, icons::SIDE, icons::SIDE],
    }
}

/// Greys in rows of a width as rows of whole bytes, most significant bits leftmost.
fn pack(grey: &[u8], width: usize, depth: Depth) -> Vec<u8> {
    match depth {
        Depth::One => pack_bits::<1, 8>(grey, width),
        Depth::Two => pack_bits::<2, 4>(grey, width),
        Depth::Four => pack_bits::<4, 2>(grey, width),
        Depth::Eight => grey.to_vec(),
    }
}

/// The same for a number of bits and of pixels in a byte.
fn pack_bits<const BITS: u16, const PIXELS: usize>(grey: &[u8], width: usize) -> Vec<u8> {
    let most = (1 << BITS) - 1;
    let mut levels = vec![0; width.next_multiple_of(PIXELS)];
    let mut rows = Vec::with_capacity(grey.len() / PIXELS + grey.len() / width);
    for row in grey.chunks_exact(width) {
        for (level, grey) in levels.iter_mut().zip(row) {
            *level = ((u16::from(*grey) * most + 127) / 255) as u8;
        }
        let (bytes, _) = levels.as_chunks::<PIXELS>();
        rows.extend(bytes.iter().map(|pixels| {
            let fold = |byte: u8, level: &u8| byte << BITS | level;
            pixels.iter().fold(0, fold)
        }));
    }
    rows
}

//! What is drawn on a canvas, in the order of drawing.

use std::sync::Arc;

use device::{canvas::Depth, cells::Icon, settings::fonts::FontId};
use market::mark::Mark;
use zeno::{Command, Join, PathBuilder, PathData, Stroke, Transform};

use super::{
    lettering::Lettering,
    raster::Ink,
    scale::{self, Tone},
};
use crate::{draw::mark, faces, font::SoftGlyph, icons, mask::Area};

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
    pub(super) inks: Vec<Ink>,
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
        Sheet {
            lettering,
            figure_font: font,
            text_font: faces::words(),
            width,
            height,
            depth,
            is_dark,
            inks: Vec::new(),
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
        self.glyph_ink(glyph, place, how.tone);
    }

    fn ink(&mut self, area: Area, tone: Tone, glyph: Option<Arc<SoftGlyph>>) {
        let grey = tone.grey(self.depth, self.is_dark);
        self.inks.push(Ink { area, grey, glyph });
    }

    fn glyph_ink(&mut self, glyph: Arc<SoftGlyph>, (x, y): (i32, i32), tone: Tone) {
        let area = Area {
            x,
            y,
            width: glyph.width as i32,
            height: glyph
                .coverage
                .len()
                .checked_div(glyph.width)
                .unwrap_or_default() as i32,
        };
        self.ink(area, tone, Some(glyph));
    }

    /// Fills an area.
    pub(super) fn fill(&mut self, area: Area, tone: Tone) {
        self.ink(area, tone, None);
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
        let glyph = SoftGlyph {
            coverage,
            width: place.width as usize,
            ..SoftGlyph::default()
        };
        self.glyph_ink(Arc::new(glyph), (place.left, place.top), tone);
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

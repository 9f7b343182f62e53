//! One tile in a box, all on one left edge: label at the top, context at the bottom, the figure between.
//!
//! The richest context is drawn that leaves the figure its share of the height that it would have alone.

use device::tile::{FigureKind, Graph, Tile};

use super::{
    graph,
    numeral::Numeral,
    scale::{self, Rank, Tone},
    sheet::{Face, Part, Sheet, TextStyle},
};
use crate::mask::Area;

/// Where a tile is drawn, and how large it may get.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) area: Area,
    /// Size of all texts, px of em.
    pub(super) text: f32,
    pub(super) rank: Rank,
    /// Columns of the board.
    pub(super) columns: i32,
    /// Greatest height of the capitals of the figure, px.
    pub(super) most: f32,
}

/// Where the figure was drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub(super) baseline: i32,
    /// Height of its capitals, px.
    pub(super) height: f32,
    /// It is a number: words are smaller, and texts as small as they must be.
    pub(super) is_number: bool,
}

/// Where the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Under the figure, a graph right of it.
    Below,
    /// Under a graph of the full width.
    Stack,
    /// Right of the figure, its last line on the baseline of the figure, a graph above it.
    Beside,
}

/// A way to draw a tile.
#[derive(Debug, Clone)]
struct Plan<'a> {
    form: Form,
    /// Where the context begins if it is beside.
    column: f32,
    lines: Vec<&'a str>,
    graph: Option<&'a Graph>,
    /// Height of the lines, px.
    foot: f32,
    /// Height of a graph above the lines, px; 0 if it is elsewhere.
    stacked: f32,
    /// Height of everything below the figure, px.
    under: f32,
    /// Height for the figure, px.
    room: f32,
    /// Width for the figure, px.
    width: f32,
    numeral: Numeral<'a>,
    height: f32,
}

/// Measures of a tile in its box.
struct Planner<'a, 's, 'l> {
    sheet: &'s mut Sheet<'l>,
    tile: &'a Tile,
    numerals: Vec<Numeral<'a>>,
    place: Place,
    capitals: f32,
    /// Height of the label and the gap below it.
    head: f32,
    /// Gap between figure and context.
    gap: f32,
    /// Greatest height of the capitals.
    most: f32,
}

/// Number of lines and whether there is a graph, the richest first.
const RICHNESS: [(usize, bool); 4] = [(2, true), (1, true), (2, false), (1, false)];

/// Factors of the height of a figure when forms are compared: what is read first stays left.
const BELOW_BONUS: f32 = 1.08;
const NARROW_MALUS: f32 = 0.85;

/// Least height for a figure, px.
const ROOM_MIN: f32 = 10.0;

/// Draws a tile.
pub(super) fn draw(sheet: &mut Sheet<'_>, tile: &Tile, place: Place) -> Drawn {
    let place = match &tile.graph {
        Some(Graph::Qr(text)) => graph::qr_beside(sheet, text, place),
        Some(Graph::Line(_) | Graph::Bar(_)) | None => place,
    };
    let text = place.text;
    let capitals = sheet.capitals(text);
    let area = place.area;
    let (width, height) = (area.width as f32, area.height as f32);
    let is_whole = place.rank == Rank::Whole;
    let part = match place.rank {
        Rank::Whole if width >= 3.0 * height => 0.70,
        Rank::Hero | Rank::Other if is_wide(area) => 0.80,
        Rank::Whole | Rank::Hero | Rank::Other => 0.60,
    };
    let numerals: Vec<Numeral<'_>> = tile
        .figures
        .iter()
        .map(|figure| Numeral::new(sheet, figure))
        .collect();
    if numerals.is_empty() {
        return Drawn {
            baseline: area.y,
            height: 0.0,
            is_number: false,
        };
    }
    let head = if tile.labels.is_empty() {
        0.0
    } else {
        capitals + (capitals * 1.3).round().max(5.0)
    };
    let mut planner = Planner {
        sheet,
        tile,
        numerals,
        place,
        capitals,
        head,
        gap: (capitals * 1.3).round().max(6.0),
        most: (height * part).min(width * 0.42).min(place.most),
    };
    let plan = planner.best();
    let (form, numeral, cap) = (plan.form, &plan.numeral, plan.height);
    let gap = planner.gap;
    let pitch = (text * scale::PITCH).round();
    let (left, top) = (area.x as f32, area.y as f32);
    let (right, bottom) = (left + width, top + height);
    let low = bottom - plan.under;
    let high = top + head;
    let weight =
        if form == Form::Beside || (!is_whole && plan.graph.is_none() && plan.lines.is_empty()) {
            0.5
        } else {
            scale::COMMA_WEIGHT
        };
    let tall = numeral.tall(cap);
    let slack = low - high - tall - numeral.depth(cap) * weight;
    let baseline = (high + slack * 0.5 + tall).round() as i32;
    let unit = unit(sheet, numeral, text, cap, plan.width);
    label(
        sheet,
        tile,
        (left, top + capitals),
        width,
        text,
        if unit.is_none() { &numeral.figure.unit } else { "" },
    );
    let end = numeral.draw(sheet, left, baseline, cap);
    if let Some(size) = unit {
        let x = end + scale::unit_gap(size, cap);
        draw_unit(sheet, &numeral.figure.unit, x, baseline, size);
    }
    let last = if form == Form::Beside { baseline as f32 } else { bottom };
    let line_left = if form == Form::Beside { plan.column } else { left };
    let count = plan.lines.len();
    for (index, text_line) in plan.lines.iter().enumerate() {
        let is_first = index == 0 && place.rank != Rank::Other;
        let tone = if is_first { Tone::Ink } else { Tone::Second };
        let base = last - (count - 1 - index) as f32 * pitch;
        line(sheet, line_left, base.round() as i32, text_line, text, tone);
    }
    if let Some(graph) = plan.graph {
        let below_lines = plan.foot + if plan.lines.is_empty() { 0.0 } else { gap };
        let (x, upper, lower) = match form {
            Form::Beside => {
                let lower = last - below_lines;
                let upper = (baseline as f32 - cap).max(lower - (right - plan.column) * 0.55);
                (plan.column, upper, lower)
            }
            Form::Below if plan.stacked == 0.0 => {
                let more = ((plan.room - cap) * 0.4)
                    .min(height * 0.24 - plan.foot)
                    .max(0.0);
                let more = if matches!(graph, Graph::Line(_)) { more } else { 0.0 };
                // A comma reaches below the baseline.
                let upper = (bottom - plan.foot - more).max(baseline as f32 + numeral.depth(cap));
                (left + half(width, text), upper, bottom)
            }
            Form::Below | Form::Stack => {
                let lower = bottom - below_lines;
                (left, lower - plan.stacked, lower)
            }
        };
        graph::draw(sheet, graph, [x, upper, right, lower], tile.mark.is_some());
    }
    Drawn {
        baseline,
        height: cap,
        is_number: numeral.figure.kind == FigureKind::Number,
    }
}

/// Returns whether context can stand beside the figure.
pub(super) fn is_wide(area: Area) -> bool {
    area.width as f32 >= area.height as f32 * 1.1
}

/// Distance from the left edge to the second half of a width.
fn half(width: f32, text: f32) -> f32 {
    ((width + text) / 2.0).round()
}

impl<'a> Planner<'a, '_, '_> {
    fn best(&mut self) -> Plan<'a> {
        let (width, text) = (self.place.area.width as f32, self.place.text);
        let left = self.place.area.x as f32;
        let third = left + ((width + text) * 2.0 / 3.0).round();
        let is_two_columns = self.place.rank != Rank::Whole && self.place.columns == 2;
        let column = if is_two_columns { left + half(width, text) } else { third };
        let bare = self.bare();
        for (lines, has_graph) in RICHNESS {
            let forms = [
                (Form::Below, column),
                (Form::Stack, column),
                (Form::Beside, column),
                (Form::Beside, third),
            ];
            let count = if column == third { 3 } else { 4 };
            let mut best: Option<(f32, Plan<'a>)> = None;
            for (form, at) in forms.into_iter().take(count) {
                let Some(plan) = self.plan(form, lines, has_graph, at) else {
                    continue;
                };
                let factor = match form {
                    Form::Below => BELOW_BONUS,
                    Form::Beside if is_two_columns && at == third => NARROW_MALUS,
                    Form::Stack | Form::Beside => 1.0,
                };
                let score = plan.height * factor;
                if best.as_ref().is_none_or(|(most, _)| score > *most) {
                    best = Some((score, plan));
                }
            }
            if let Some((_, plan)) = best
                && (plan.height >= self.place.rank.share() * bare.height
                    || has_graph && self.is_about_graph() && plan.height >= self.enough())
            {
                return plan;
            }
        }
        bare
    }

    /// The figure without context.
    fn bare(&mut self) -> Plan<'a> {
        let area = self.place.area;
        let room = (area.height as f32 - self.head).max(ROOM_MIN);
        let width = area.width as f32;
        let (numeral, height) = self.fitted(width, room);
        Plan {
            form: Form::Below,
            column: 0.0,
            lines: Vec::new(),
            graph: None,
            foot: 0.0,
            stacked: 0.0,
            under: 0.0,
            room,
            width,
            numeral,
            height,
        }
    }

    /// A way to draw the tile; `None` if it does not fit.
    fn plan(&mut self, form: Form, count: usize, has_graph: bool, column: f32) -> Option<Plan<'a>> {
        let (area, text, capitals) = (self.place.area, self.place.text, self.capitals);
        let (left, width, height) = (area.x as f32, area.width as f32, area.height as f32);
        let wide = is_wide(area);
        let drawable = (self.tile.graph.as_ref()).filter(|graph| !matches!(graph, Graph::Qr(_)));
        let graph = drawable.filter(|_| has_graph);
        let is_impossible = has_graph && graph.is_none()
            || count > self.tile.lines.len()
            || form != Form::Below && !wide
            || form == Form::Stack && !has_graph
            || has_graph && wide && self.is_about_graph() && form != self.widest_graph();
        if is_impossible {
            return None;
        }
        let right = left + width;
        let line_width = match form {
            Form::Beside => right - column,
            Form::Below if has_graph && wide => half(width, text) - text,
            Form::Below | Form::Stack => width,
        };
        let mut lines = Vec::new();
        for forms in self.tile.lines.iter().take(count) {
            lines.push(longest(self.sheet, forms, line_width, text)?);
        }
        let foot = capitals + (count - 1) as f32 * (text * scale::PITCH).round();
        let is_stacked = form == Form::Stack || !wide;
        let stacked = if graph.is_some() && is_stacked && form != Form::Beside {
            (height * 0.25).min(width * 0.45).round()
        } else {
            0.0
        };
        let under = if form == Form::Beside {
            0.0
        } else {
            let above = if stacked > 0.0 { stacked + self.gap } else { 0.0 };
            foot + self.gap + above
        };
        let room = height - self.head - under;
        if room < ROOM_MIN {
            return None;
        }
        let figure_width = if form == Form::Beside { column - text - left } else { width };
        let is_line = matches!(graph, Some(Graph::Line(_)));
        let is_low = form == Form::Below && wide && is_line && foot < capitals * 2.0;
        let is_crowded = form == Form::Beside && room - (foot + self.gap) < capitals * 2.0;
        if graph.is_some() && (is_low || is_crowded) {
            return None;
        }
        let (numeral, cap) = self.fitted(figure_width, room);
        let beside_room = cap - foot - self.gap;
        if form == Form::Beside && is_line && beside_room < (capitals * 1.6).max(16.0) {
            return None;
        }
        Some(Plan {
            form,
            column,
            lines,
            graph,
            foot,
            stacked,
            under,
            room,
            width: figure_width,
            numeral,
            height: cap,
        })
    }

    /// Returns whether the graph says more than the figure, because a change is a summary of it.
    fn is_about_graph(&self) -> bool {
        let is_change = self.tile.figures.iter().any(|figure| figure.icon.is_some());
        let is_line = matches!(self.tile.graph, Some(Graph::Line(_)));
        self.place.rank == Rank::Whole && is_change && is_line
    }

    /// The form in which a graph has most room.
    fn widest_graph(&self) -> Form {
        let area = self.place.area;
        if area.width as f32 >= area.height as f32 * 2.4 {
            Form::Beside
        } else {
            Form::Stack
        }
    }

    fn outer_height(&self) -> i32 {
        match self.place.rank {
            Rank::Whole => self.sheet.height,
            Rank::Hero | Rank::Other => self.place.area.height,
        }
    }

    /// Height of capitals that can be read from afar.
    fn enough(&self) -> f32 {
        (self.outer_height() as f32 / 3.0).min(0.22 * self.place.area.width as f32) - 1.0
    }

    /// The longest form of the figure that is large enough, else the shortest, and its height.
    fn fitted(&mut self, width: f32, room: f32) -> (Numeral<'a>, f32) {
        let possible = room.min(self.most);
        let (outer, enough) = (self.outer_height(), self.enough());
        let fit = |numeral: &Numeral<'a>| {
            let height = numeral.fit(width, possible);
            if numeral.tall(height) + numeral.depth(height) * scale::COMMA_WEIGHT > room {
                let whole = numeral.tall(1.0) + numeral.depth(1.0) * scale::COMMA_WEIGHT;
                (room / whole).floor()
            } else {
                height
            }
        };
        let mut chosen = None;
        for numeral in &self.numerals {
            let height = fit(numeral);
            let is_enough = numeral.is_word() || height >= enough || height >= 0.8 * possible;
            chosen = Some((numeral.clone(), height));
            if is_enough {
                break;
            }
        }
        let (numeral, height) = chosen.unwrap_or_else(|| (self.numerals[0].clone(), 0.0));
        let is_text = numeral.figure.kind == FigureKind::Text;
        let is_alone = self.place.rank == Rank::Whole;
        if is_text && (!is_alone || height < outer as f32 / 5.0) {
            let broken = Numeral::broken(self.sheet, numeral.figure);
            if let Some((broken, lower)) = broken.map(|broken| {
                let height = fit(&broken);
                (broken, height)
            }) && lower > height
            {
                return (broken, lower);
            }
        }
        (numeral, height)
    }
}

/// The longest form of a text that fits.
pub(super) fn longest<'a>(
    sheet: &mut Sheet<'_>,
    forms: &'a [String],
    width: f32,
    text: f32,
) -> Option<&'a str> {
    let mut fitting = forms
        .iter()
        .filter(|form| line_width(sheet, form, text) <= width);
    fitting.next().map(String::as_str)
}

/// An arrow before a line, and the line without it.
fn arrow_of(line: &str) -> (Option<bool>, &str) {
    let up = line.strip_prefix("▲ ").map(|rest| (Some(true), rest));
    let down = || line.strip_prefix("▼ ").map(|rest| (Some(false), rest));
    up.or_else(down).unwrap_or((None, line))
}

fn line_width(sheet: &mut Sheet<'_>, line: &str, text: f32) -> f32 {
    let (arrow, words) = arrow_of(line);
    let before = arrow.map_or(0.0, |_| sheet.arrow_width(text) + text * 0.3);
    before + sheet.text_width(words, Face::Text, text)
}

/// Draws a line of context.
pub(super) fn line(
    sheet: &mut Sheet<'_>,
    x: f32,
    baseline: i32,
    line: &str,
    text: f32,
    tone: Tone,
) {
    let right = x + line_width(sheet, line, text);
    let top = baseline as f32 - sheet.capitals(text);
    sheet.note(Part::Line, x, top, right, baseline as f32);
    let (arrow, words) = arrow_of(line);
    let mut pen = x;
    if let Some(is_up) = arrow {
        pen += sheet.arrow(x, baseline, text, is_up, tone) + text * 0.3;
    }
    let how = TextStyle {
        face: Face::Text,
        em: text,
        tone,
    };
    sheet.text(pen, baseline, words, how);
}

/// Width of a mark with its gap, px.
pub(super) fn mark_width(sheet: &mut Sheet<'_>, tile: &Tile, text: f32) -> f32 {
    let capitals = sheet.capitals(text);
    tile.mark
        .map_or(0.0, |_| scale::mark_side(capitals) + text * scale::MARK_GAP)
}

/// Draws the longest label that fits, with a unit that has no room beside the figure, and the mark right after it: so no
/// digit moves when a mark comes.
pub(super) fn label(
    sheet: &mut Sheet<'_>,
    tile: &Tile,
    (x, baseline): (f32, f32),
    width: f32,
    text: f32,
    unit: &str,
) {
    let free = width - mark_width(sheet, tile, text);
    let words = fitting_label(sheet, tile, free, text, unit);
    if let Some(words) = words.or(tile.labels.last().cloned()) {
        label_text(sheet, tile, &words, x, baseline, text);
    }
}

/// The longest label that fits, with a unit if one does.
fn fitting_label(
    sheet: &mut Sheet<'_>,
    tile: &Tile,
    width: f32,
    text: f32,
    unit: &str,
) -> Option<String> {
    let forms: Vec<String> = (labels_with(tile, unit))
        .chain(tile.labels.iter().cloned())
        .collect();
    longest(sheet, &forms, width, text).map(str::to_owned)
}

/// Returns whether a label with a unit fits.
pub(super) fn has_label_with(
    sheet: &mut Sheet<'_>,
    tile: &Tile,
    width: f32,
    text: f32,
    unit: &str,
) -> bool {
    let forms: Vec<String> = labels_with(tile, unit).collect();
    longest(sheet, &forms, width, text).is_some()
}

/// The labels, each with a unit unless it contains it.
fn labels_with(tile: &Tile, unit: &str) -> impl Iterator<Item = String> {
    let lower = unit.to_lowercase();
    tile.labels.iter().map(move |label| {
        if unit.is_empty() || label.to_lowercase().contains(&lower) {
            label.clone()
        } else {
            format!("{label}, {unit}")
        }
    })
}

/// Draws a label and the mark after it.
pub(super) fn label_text(
    sheet: &mut Sheet<'_>,
    tile: &Tile,
    words: &str,
    x: f32,
    baseline: f32,
    text: f32,
) {
    let capitals = sheet.capitals(text);
    let how = TextStyle {
        face: Face::Text,
        em: text,
        tone: Tone::Ink,
    };
    let end = sheet.text(x, baseline.round() as i32, words, how);
    sheet.note(Part::Label, x, baseline - capitals, end, baseline);
    if let Some(mark) = tile.mark {
        let side = scale::mark_side(capitals);
        let left = (end + text * scale::MARK_GAP).round();
        let top = (baseline - capitals / 2.0 - side / 2.0).round();
        sheet.mark(mark, left, top, side);
        sheet.note(Part::Mark, left, top, left + side, top + side);
    }
}

/// Size of the unit beside a figure; `None` without a unit or room for it.
pub(super) fn unit(
    sheet: &mut Sheet<'_>,
    numeral: &Numeral<'_>,
    text: f32,
    cap: f32,
    width: f32,
) -> Option<f32> {
    let unit = &numeral.figure.unit;
    if unit.is_empty() {
        return None;
    }
    let taken = numeral.width(cap);
    let mut size = scale::text_size((cap * scale::UNIT).max(text));
    loop {
        let gap = scale::unit_gap(size, cap);
        let needed = taken + gap + sheet.text_width(unit, Face::Text, size);
        if needed <= width {
            return Some(size);
        }
        if size <= text {
            return None;
        }
        size = scale::text_size(size * 0.8).max(text);
    }
}

/// Draws a unit.
pub(super) fn draw_unit(sheet: &mut Sheet<'_>, unit: &str, x: f32, baseline: i32, size: f32) {
    let how = TextStyle {
        face: Face::Text,
        em: size,
        tone: Tone::Second,
    };
    let right = sheet.text(x, baseline, unit, how);
    let top = baseline as f32 - sheet.capitals(size);
    sheet.note(Part::Unit, x, top, right, baseline as f32);
}

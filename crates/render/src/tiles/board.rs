//! Two to eight tiles on a grid. What does not fit is dropped from the end, never squeezed.

use device::tile::Tile;

use super::{
    figure::{self, Place},
    numeral::Numeral,
    scale::{self, Rank, Tone},
    sheet::{Face, Sheet},
};
use crate::mask::Area;

/// Most of the hero's height that another figure has.
const BELOW_HERO: f32 = 0.85;

/// Part of its width that the longest figure of the second rank fills at most.
const FILL: f32 = 0.95;

/// Least gap between label and figure of a row of a table, in parts of the text.
const TABLE_GAP: f32 = 0.8;

/// Number of tiles of the largest board on which every tile may have a line of context.
const LINED_TILES_MAX: usize = 6;

/// A tile in its box.
struct PlacedTile<'a> {
    tile: &'a Tile,
    area: Area,
    /// Row of the grid in which it begins, and how many it spans.
    row: usize,
    rows: usize,
}

/// How a number of tiles is arranged.
struct Arrangement<'a> {
    boxes: Vec<PlacedTile<'a>>,
    columns: i32,
    column_width: f32,
    row_gap: f32,
    /// Size of all texts.
    text: f32,
    /// Height of the figures of the second rank.
    second: f32,
    /// The second rank has a line of context.
    has_line: bool,
    /// Rows are so low that label and figure share a line.
    is_table: bool,
}

/// Draws as many tiles as fit; returns their number.
pub(super) fn draw(sheet: &mut Sheet<'_>, tiles: &[Tile]) -> usize {
    let mut count = tiles.len();
    while count > 1 {
        if let Some(arrangement) = arrange(sheet, &tiles[..count]) {
            draw_arrangement(sheet, &arrangement);
            return count;
        }
        count -= 1;
    }
    if let Some(tile) = tiles.first() {
        draw_whole(sheet, tile);
    }
    count
}

/// Draws one tile on the whole canvas.
pub(super) fn draw_whole(sheet: &mut Sheet<'_>, tile: &Tile) {
    let margin = scale::margin(sheet.short());
    let place = Place {
        area: Area {
            x: margin,
            y: margin,
            width: sheet.width - 2 * margin,
            height: sheet.height - 2 * margin,
        },
        text: scale::text_size(sheet.short() as f32 / 16.0),
        rank: Rank::Whole,
        columns: 1,
        most: f32::INFINITY,
    };
    figure::draw(sheet, tile, place);
}

/// Arranges tiles; `None` if they do not fit.
fn arrange<'a>(sheet: &mut Sheet<'_>, tiles: &'a [Tile]) -> Option<Arrangement<'a>> {
    let short = sheet.short() as f32;
    let margin = scale::margin(sheet.short());
    let ratio = sheet.width as f32 / sheet.height as f32;
    let column_gap = scale::column_gap(margin as f32, sheet.height as f32, ratio);
    let row_gap = (margin as f32).max(13.0);
    let (columns, spans) = scale::grid(tiles.len(), ratio);
    let (cells, rows) = cells(columns, &spans);
    let hero_is_low = spans[0].1 == 1 && rows > 1;
    let hero_weight = match rows {
        _ if !hero_is_low => 1.0,
        2 => 1.6,
        _ => 1.7,
    };
    let weight = |row: usize| if row == 0 { hero_weight } else { 1.0 };
    let inner = sheet.height as f32 - 2.0 * margin as f32 - row_gap * (rows - 1) as f32;
    let row_height = inner / (rows as f32 - 1.0 + hero_weight);
    let column_width =
        (sheet.width as f32 - 2.0 * margin as f32 - column_gap * (columns - 1) as f32)
            / columns as f32;
    let is_table = row_height < scale::TABLE_ROW;
    let mut tops = vec![margin as f32];
    for row in 0..rows {
        tops.push(tops[row] + weight(row) * row_height + row_gap);
    }
    let text = (row_height / 5.2).min(short / 18.0).max(short / 30.0);
    let text = scale::text_size(text.max(14.0));
    let boxes: Vec<PlacedTile<'a>> = tiles
        .iter()
        .zip(cells.iter().zip(&spans))
        .map(|(tile, (&(column, row), &(wide, tall)))| {
            let left = margin as f32 + column as f32 * (column_width + column_gap);
            let left = left.round();
            let width = wide as f32 * column_width + (wide - 1) as f32 * column_gap;
            let top = tops[row].round();
            let bottom = (tops[row + tall as usize] - row_gap).round();
            PlacedTile {
                tile,
                area: Area {
                    x: left as i32,
                    y: top as i32,
                    width: (left + width).round() as i32 - left as i32,
                    height: (bottom - top) as i32,
                },
                row,
                rows: tall as usize,
            }
        })
        .collect();
    let mut arrangement = Arrangement {
        boxes,
        columns,
        column_width,
        row_gap,
        text,
        second: 0.0,
        has_line: false,
        is_table,
    };
    let bare = second_rank(sheet, &arrangement, false);
    let lined = second_rank(sheet, &arrangement, true);
    let least = if sheet.is_one_bit() { scale::FIGURE_MIN_ONE_BIT } else { scale::FIGURE_MIN };
    arrangement.has_line = !is_table
        && tiles.len() <= LINED_TILES_MAX
        && lined >= least.max(0.8 * bare)
        && (lined >= 0.42 * row_height || lined >= 0.97 * bare);
    arrangement.second = if arrangement.has_line { lined } else { bare };
    let fits = (arrangement.boxes.iter()).all(|boxed| has_room(sheet, boxed, &arrangement));
    (fits && arrangement.second >= least).then_some(arrangement)
}

/// Returns whether a tile has room for its shortest label and, in the second rank, for its unit: beside the figure or in
/// the label.
fn has_room(sheet: &mut Sheet<'_>, boxed: &PlacedTile<'_>, arrangement: &Arrangement<'_>) -> bool {
    let (tile, text) = (boxed.tile, arrangement.text);
    let width = boxed.area.width as f32;
    let free = width - figure::mark_width(sheet, tile, text);
    if tile.labels.is_empty() {
        return true;
    }
    if figure::longest(sheet, &tile.labels, free, text).is_none() {
        return false;
    }
    let Some(numeral) = numeral_within(sheet, tile, width, arrangement.second) else {
        return true;
    };
    let unit = &numeral.figure.unit;
    let cap = numeral.fit(width, arrangement.second);
    let beside = sheet.text_width(unit, Face::Text, text) + scale::unit_gap(text, cap);
    let is_beside = !arrangement.is_table && numeral.width(cap) + beside <= width;
    let label_width = if arrangement.is_table {
        free - numeral.width(cap) - text * TABLE_GAP
    } else {
        free
    };
    is_beside || figure::has_label_with(sheet, tile, label_width, text, unit)
}

/// Column and row of each tile, and the number of rows.
fn cells(columns: i32, spans: &[(i32, i32)]) -> (Vec<(i32, usize)>, usize) {
    let mut taken: Vec<Vec<bool>> = Vec::new();
    let mut cells = Vec::new();
    for &(wide, tall) in spans {
        let free = |taken: &[Vec<bool>], column: i32, row: usize| {
            let mut rows = row..row + tall as usize;
            rows.all(|row| {
                let range = column as usize..(column + wide) as usize;
                taken.get(row).is_none_or(|row| !row[range].contains(&true))
            })
        };
        let place = (0..).find_map(|row| {
            let mut columns = 0..=(columns - wide).max(0);
            Some((columns.find(|column| free(&taken, *column, row))?, row))
        });
        let (column, row) = place.unwrap_or((0, 0));
        let end = row + tall as usize;
        taken.resize_with(taken.len().max(end), || vec![false; columns as usize]);
        for row in &mut taken[row..end] {
            row[column as usize..(column + wide) as usize].fill(true);
        }
        cells.push((column, row));
    }
    (cells, taken.len())
}

/// Gap between label, figure and line in the second rank.
fn second_gap(capitals: f32) -> f32 {
    (capitals * 0.85).round().max(5.0)
}

/// The largest height at which all figures of the second rank fit. A word is drawn at half of it.
fn second_rank(sheet: &mut Sheet<'_>, arrangement: &Arrangement<'_>, has_line: bool) -> f32 {
    let text = arrangement.text;
    let capitals = sheet.capitals(text);
    let gap = second_gap(capitals);
    let lines = if has_line { 2.0 } else { 1.0 };
    let mut most = f32::INFINITY;
    for PlacedTile { tile, area, .. } in &arrangement.boxes[1..] {
        let forms: Vec<_> = (tile.figures.iter())
            .map(|figure| Numeral::new(sheet, figure))
            .collect();
        let Some(numeral) = forms.last() else {
            continue;
        };
        let (width, room) = if arrangement.is_table {
            let tiny = tile.labels.last().map_or("", |label| label);
            let label = sheet.text_width(tiny, Face::Text, text) + text * TABLE_GAP;
            let taken = label + figure::mark_width(sheet, tile, text);
            (area.width as f32 - taken, area.height as f32)
        } else {
            let room = area.height as f32 - lines * (capitals + gap);
            (area.width as f32 * FILL, room)
        };
        // A longer form can have a comma that the shortest lacks.
        let depth = forms.iter().map(|form| form.depth(1.0)).fold(0.0, f32::max)
            * if has_line { 1.0 } else { 0.5 };
        most = most.min(numeral.fit(width, room / (1.0 + depth)) / numeral.relative_height());
    }
    most.floor()
}

fn draw_arrangement(sheet: &mut Sheet<'_>, arrangement: &Arrangement<'_>) {
    let Arrangement {
        boxes,
        columns,
        column_width,
        text,
        ..
    } = arrangement;
    let mut second = arrangement.second;
    let mut hero = None;
    for (index, boxed) in boxes.iter().enumerate() {
        rule(sheet, boxed, arrangement.row_gap);
        let is_across =
            index == 1 && boxed.area.width as f32 > column_width * 1.5 && matches!(columns, 2 | 3);
        let place = |rank: Rank, most: f32| Place {
            area: boxed.area,
            text: *text,
            rank,
            columns: *columns,
            most,
        };
        if index == 0 {
            let drawn = figure::draw(sheet, boxed.tile, place(Rank::Hero, f32::INFINITY));
            if drawn.is_number {
                second = second.min((drawn.height * BELOW_HERO).floor());
            }
            hero = Some(drawn);
        } else if is_across || *columns == 1 {
            let most = hero.map_or(f32::INFINITY, |hero| hero.height * BELOW_HERO);
            figure::draw(sheet, boxed.tile, place(Rank::Other, most));
        } else if arrangement.is_table {
            draw_row(sheet, boxed, *text, second);
        } else {
            let is_beside = boxed.row == 0 && boxes[0].rows == boxed.rows;
            let shared = hero.filter(|_| is_beside).map(|hero| hero.baseline);
            draw_second(sheet, boxed, arrangement, second, shared);
        }
    }
}

/// The line above a tile that is not in the first row.
fn rule(sheet: &mut Sheet<'_>, boxed: &PlacedTile<'_>, row_gap: f32) {
    if boxed.row == 0 {
        return;
    }
    let hairline = sheet.hairline();
    sheet.fill(
        Area {
            x: boxed.area.x,
            y: boxed.area.y - (row_gap * 0.42).round() as i32 - hairline,
            width: boxed.area.width,
            height: hairline,
        },
        Tone::Rule,
    );
}

/// The longest form of a figure within a width at a height of the second rank, else the shortest.
fn numeral_within<'a>(
    sheet: &mut Sheet<'_>,
    tile: &'a Tile,
    width: f32,
    height: f32,
) -> Option<Numeral<'a>> {
    let mut shortest = None;
    for figure in &tile.figures {
        let numeral = Numeral::new(sheet, figure);
        let is_within = numeral.width(height * numeral.relative_height()) <= width;
        shortest = Some(numeral);
        if is_within {
            break;
        }
    }
    shortest
}

/// Label on the left, figure on the right.
fn draw_row(sheet: &mut Sheet<'_>, boxed: &PlacedTile<'_>, text: f32, height: f32) {
    let (tile, area) = (boxed.tile, boxed.area);
    let tiny = tile.labels.last().map_or("", |label| label);
    let label = sheet.text_width(tiny, Face::Text, text) + text * TABLE_GAP;
    let width = area.width as f32 - label - figure::mark_width(sheet, tile, text);
    let Some(numeral) = numeral_within(sheet, tile, width, height) else {
        return;
    };
    let cap = numeral.fit(width, height);
    let middle = area.y as f32 + area.height as f32 / 2.0;
    let lowest = (area.y + area.height) as f32 - (numeral.depth(cap) / 2.0).round();
    let baseline = (middle + cap / 2.0).round().min(lowest);
    let capitals = sheet.capitals(text);
    let raised = baseline - ((cap - capitals) / 2.0).floor();
    let free = area.width as f32 - numeral.width(cap) - text * TABLE_GAP;
    figure::label(
        sheet,
        tile,
        (area.x as f32, raised),
        free,
        text,
        &numeral.figure.unit,
    );
    let left = (area.x + area.width) as f32 - numeral.width(cap);
    numeral.draw(sheet, left, baseline as i32, cap);
}

/// A tile of the second rank. One in the row of a low hero shares its baseline.
fn draw_second(
    sheet: &mut Sheet<'_>,
    boxed: &PlacedTile<'_>,
    arrangement: &Arrangement<'_>,
    height: f32,
    shared: Option<i32>,
) {
    let (tile, area, text) = (boxed.tile, boxed.area, arrangement.text);
    let width = area.width as f32;
    let Some(numeral) = &numeral_within(sheet, tile, width, height) else {
        return;
    };
    let capitals = sheet.capitals(text);
    let gap = second_gap(capitals);
    let cap = numeral.fit(width, height);
    let unit = &numeral.figure.unit;
    let unit_gap = scale::unit_gap(text, cap);
    let unit_width = unit_gap + sheet.text_width(unit, Face::Text, text);
    let has_unit = !unit.is_empty() && numeral.width(cap) + unit_width <= width;
    let (left, top) = (area.x as f32, area.y as f32);
    let left_over = if has_unit { "" } else { unit };
    figure::label(sheet, tile, (left, top + capitals), width, text, left_over);
    let bottom = area.y + area.height;
    let foot = if arrangement.has_line { capitals + gap } else { 0.0 };
    let (high, low) = (top + capitals + gap, bottom as f32 - foot);
    // The baselines of a row agree, with and without a comma.
    let depth = if arrangement.has_line { 1.0 } else { 0.5 } * scale::COMMA_DEPTH;
    let own = high + (low - high - height * (1.0 + depth)) * 0.5 + height;
    // Figures without a comma can be so large that none would fit.
    let own = own.max(high + cap).round() as i32;
    // A hero of words stands higher than a figure has room below its label, or below a mark, which reaches lower.
    let mark = (scale::mark_side(capitals) - capitals) / 2.0;
    let shared = shared.filter(|shared| *shared as f32 - cap > top + capitals + mark);
    let lowest = bottom - (numeral.depth(cap) / 2.0).round() as i32;
    let baseline = shared.unwrap_or(own).min(lowest);
    let below = (bottom - baseline) as f32 - numeral.depth(cap);
    let has_line = match shared {
        Some(_) => below >= capitals + gap,
        None => arrangement.has_line,
    };
    let end = numeral.draw(sheet, left, baseline, cap);
    if has_unit {
        figure::draw_unit(sheet, unit, end + unit_gap, baseline, text);
    }
    let mut lines =
        (tile.lines.iter()).filter_map(|forms| figure::longest(sheet, forms, width, text));
    if let Some(words) = lines.next().filter(|_| has_line) {
        figure::line(sheet, left, bottom, words, text, Tone::Second);
    }
}

//! Graphs beside the context: a line of a day, a bar, a QR code.

use device::tile::Graph;
use fast_qr::{ECL, QRBuilder};

use super::{
    figure::{Place, is_wide},
    scale::Tone,
    sheet::{Part, Sheet},
};
use crate::mask::Area;

/// Points of a line are at least this many strokes apart.
const POINT_STROKES: f32 = 1.2;

/// Least number of points of a line.
const POINTS_MIN: usize = 12;

/// Largest value of a point.
const FULL: f32 = 1000.0;

/// Short side of a canvas from which on a QR code is drawn, px: on smaller ones it cannot be scanned.
const QR_CANVAS_MIN: i32 = 240;

/// Part of the longer side of its box that a code takes at most.
const QR_PART: f32 = 0.42;

/// Draws a graph in a box of left, top, right and bottom edge. The last value of a doubtful line is hollow.
pub(super) fn draw(sheet: &mut Sheet<'_>, graph: &Graph, edges: [f32; 4], is_doubtful: bool) {
    let [left, top, right, bottom] = edges;
    sheet.note(Part::Graph, left, top, right, bottom);
    let least = if sheet.is_one_bit() { 2.0 } else { 1.6 };
    let stroke = (sheet.short() as f32 / 190.0).max(least);
    match graph {
        Graph::Line(values) => line(sheet, values, edges, stroke, is_doubtful),
        Graph::Bar(part) => bar(sheet, *part, edges, stroke),
        Graph::Qr(_) => {}
    }
}

fn line(
    sheet: &mut Sheet<'_>,
    values: &[Option<u16>],
    [left, top, right, bottom]: [f32; 4],
    stroke: f32,
    is_doubtful: bool,
) {
    let radius = stroke * 2.0;
    let most = ((right - left) / (stroke * POINT_STROKES)) as usize;
    let count = most.min(values.len()).max(POINTS_MIN.min(values.len()));
    if count < 2 {
        return;
    }
    let width = right - left - radius - stroke;
    let x = |index: usize| left + stroke / 2.0 + width * index as f32 / (count - 1) as f32;
    let span = bottom - top - 2.0 * radius;
    let y = |value: u16| bottom - radius - span * f32::from(value) / FULL;
    let chosen = (0..count).map(|index| {
        let spaced = index * (values.len() - 1) + (count - 1) / 2;
        (index, values[spaced / (count - 1)])
    });
    let points: Vec<(usize, Option<u16>)> = chosen.collect();
    let known = || points.iter().filter_map(|&(at, value)| Some((at, value?)));
    if let Some((_, first)) = known().next() {
        dots(sheet, left, right - radius, y(first), stroke);
    }
    for run in points.split(|(_, value)| value.is_none()) {
        let run: Vec<(f32, f32)> = run
            .iter()
            .filter_map(|&(at, value)| Some((x(at), y(value?))))
            .collect();
        match run[..] {
            [] => {}
            [(x, y)] => sheet.dot(x, y, stroke / 2.0, Tone::Ink),
            _ => sheet.line(&run, stroke, Tone::Ink),
        }
    }
    if let Some((at, last)) = known().next_back() {
        sheet.dot(x(at), y(last), radius, Tone::Ink);
        if is_doubtful {
            let hole = radius - (stroke * 0.7).max(1.0);
            sheet.dot(x(at), y(last), hole, Tone::Paper);
        }
    }
}

/// The dotted line at the oldest value.
fn dots(sheet: &mut Sheet<'_>, left: f32, right: f32, y: f32, stroke: f32) {
    let side = (stroke / 2.2).round().max(1.0) as i32;
    let step = (stroke * 2.2).round().max(4.0) as usize;
    for x in (left.round() as i32..right as i32).step_by(step) {
        sheet.fill(
            Area {
                x,
                y: y.round() as i32,
                width: side,
                height: side,
            },
            Tone::Second,
        );
    }
}

fn bar(sheet: &mut Sheet<'_>, part: u16, [left, _, right, bottom]: [f32; 4], stroke: f32) {
    let height = (stroke * 2.4).round().max(4.0) as i32;
    let thin = (height / 4).max(1);
    let (x, low) = (left.round() as i32, bottom.round() as i32);
    let width = right.round() as i32 - x;
    let track = Area {
        x,
        y: low - thin - (height - thin) / 2,
        width,
        height: thin,
    };
    sheet.fill(track, Tone::Rule);
    let filled = Area {
        x,
        y: low - height,
        width: (width as f32 * f32::from(part) / FULL).round() as i32,
        height,
    };
    sheet.fill(filled, Tone::Ink);
}

/// Draws a QR code at the right (in a tall box at the bottom); returns the place that is left. It is dark on light in the
/// dark, too, because many scanners need that.
pub(super) fn qr_beside(sheet: &mut Sheet<'_>, text: &str, place: Place) -> Place {
    let Ok(code) = QRBuilder::new(text).ecl(ECL::M).build() else {
        return place;
    };
    let area = place.area;
    let wide = is_wide(area);
    let (long, across) = if wide { (area.width, area.height) } else { (area.height, area.width) };
    let modules = code.size as i32;
    let quiet = if sheet.is_dark() { 2 } else { 0 };
    let side = (long as f32 * QR_PART).min(across as f32) as i32 / (modules + 2 * quiet);
    if sheet.short() < QR_CANVAS_MIN || side < 2 {
        return place;
    }
    let whole = side * (modules + 2 * quiet);
    let (x, y) = if wide {
        (
            area.x + area.width - whole,
            area.y + (area.height - whole) / 2,
        )
    } else {
        (area.x, area.y + area.height - whole)
    };
    let code_ink = if sheet.is_dark() { Tone::Paper } else { Tone::Ink };
    if sheet.is_dark() {
        let light = Area {
            x,
            y,
            width: whole,
            height: whole,
        };
        sheet.fill(light, Tone::Ink);
    }
    for row in 0..modules {
        for column in 0..modules {
            if code[row as usize][column as usize].value() {
                let module = Area {
                    x: x + (column + quiet) * side,
                    y: y + (row + quiet) * side,
                    width: side,
                    height: side,
                };
                sheet.fill(module, code_ink);
            }
        }
    }
    let (x, y, edge) = (x as f32, y as f32, whole as f32);
    sheet.note(Part::Graph, x, y, x + edge, y + edge);
    let taken = whole + (place.text * 1.2).round() as i32;
    let left = if wide {
        Area {
            width: area.width - taken,
            ..area
        }
    } else {
        Area {
            height: area.height - taken,
            ..area
        }
    };
    Place {
        area: left,
        ..place
    }
}

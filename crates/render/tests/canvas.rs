//! Golden canvases of cells: every screen on canvases of many sizes, depths, layouts and rotations; and properties of all
//! canvases. `sheets` describes how to accept pictures.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "golden images are files")]

#[path = "../../device/tests/screens/line.rs"]
mod line;
mod painting;
#[allow(dead_code, reason = "fonts have golden panels")]
mod pictures;
mod sheets;

use device::{
    cells::{BlockLine, Cell, Picture},
    settings::fonts::FontId,
};
use market::mark::Mark;
use painting::picture;
use proptest::prelude::*;
use render::canvas::{Canvas, CanvasPainter, CanvasSpec, Depth, HEIGHTS, Layout, Turn, WIDTHS};
use sheets::{grey, size};

/// Additional pictures: a mark, and each layer that covers the rotation.
const PICTURES: &[&str] = &[
    "block-height--stale",
    "zap--sats",
    "payment--sent",
    "update--start",
    "splash--plain",
    "erasing--plain",
    "debug--plain",
    "provisioning--plain",
    "safe-mode--settings",
    "sign-in--settings",
    "custom--letters",
    "custom--mixed",
];

const CAPTION: &str = "Block height · 4 min ago";

/// A canvas that has golden images.
struct Case {
    name: &'static str,
    cells: usize,
    spec: CanvasSpec,
}

/// The canvases. `eight`, `turned`, `column` and `dark` in a name set that option.
fn cases() -> Vec<Case> {
    let case = |name: &'static str, (width, height): (u32, u32), depth: Depth| Case {
        name,
        cells: if name.contains("eight") { 8 } else { 7 },
        spec: CanvasSpec {
            depth,
            turn: if name.contains("turned") { Turn::Quarter } else { Turn::None },
            layout: if name.contains("column") { Layout::Column } else { Layout::Auto },
            dark: name.contains("dark").then_some(true),
            ..spec(width, height)
        },
    };
    vec![
        case("trmnl-800x480", (800, 480), Depth::One),
        case("kindle-600x800", (600, 800), Depth::Eight),
        case("paperwhite-1024x758", (1024, 758), Depth::Eight),
        case("x-1872x1404", (1872, 1404), Depth::Four),
        case("tv-1920x1080", (1920, 1080), Depth::Eight),
        case("tv-3840x2160-dark", (3840, 2160), Depth::Eight),
        case("badge-296x128", (296, 128), Depth::One),
        case("least-200x100", (200, 100), Depth::One),
        case("panel-400x300", (400, 300), Depth::Two),
        case("turned-250x122", (250, 122), Depth::One),
        case("eight-800x480-dark", (800, 480), Depth::Four),
        case("eight-1072x1448", (1072, 1448), Depth::Eight),
        case("column-480x800", (480, 800), Depth::Eight),
    ]
}

fn spec(width: u32, height: u32) -> CanvasSpec {
    CanvasSpec {
        width,
        height,
        turn: Turn::None,
        depth: Depth::Eight,
        layout: Layout::Auto,
        dark: None,
    }
}

/// The pixels at which two canvases differ.
fn differing(one: &Canvas, other: &Canvas) -> Vec<(usize, usize)> {
    let (width, height) = size(one);
    let stride = one.stride();
    let row = |canvas: &Canvas, y: usize| canvas.rows[y * stride..(y + 1) * stride].to_vec();
    (0..height)
        .filter(|y| row(one, *y) != row(other, *y))
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .filter(|&(x, y)| grey(one, x, y) != grey(other, x, y))
        .collect()
}

#[test]
fn screens_on_canvases() {
    let painted = cases().into_iter().map(|case| {
        let mut painter = CanvasPainter::new();
        let all = pictures::screens(case.cells).into_iter();
        let shown = all
            .filter(|(name, _)| name.starts_with("sample--") || PICTURES.contains(&name.as_str()));
        let mut paint = |picture| painter.paint(&picture, CAPTION, &case.spec);
        let canvases = shown.map(|(name, picture)| (name, paint(picture)));
        (case.name, canvases.collect())
    });
    sheets::check("canvas", painted);
}

/// Cells of every kind.
fn cells() -> impl Strategy<Value = Cell> {
    let text = || {
        prop_oneof![
            "[0-9A-Z$€.:%]{1,2}",
            "[A-Za-z0-9 /₿łéß.,:-]{0,40}",
            "\\PC{0,60}"
        ]
    };
    let line = (text(), any::<bool>()).prop_map(|(text, bold)| BlockLine { text, bold });
    let lines = proptest::collection::vec(line, 0..12);
    prop_oneof![
        Just(Cell::Blank),
        Just(Cell::Sats),
        proptest::sample::select(device::cells::Icon::NAMED).prop_map(|(_, icon)| Cell::Icon(icon)),
        text().prop_map(Cell::Digit),
        text().prop_map(Cell::Tail),
        text().prop_map(Cell::Code),
        text().prop_map(Cell::Word),
        text().prop_map(Cell::Title),
        text().prop_map(Cell::Letter),
        text().prop_map(Cell::Qr),
        (text(), text()).prop_map(|(top, bottom)| Cell::Label { top, bottom }),
        (text(), text()).prop_map(|(top, bottom)| Cell::Unit { top, bottom }),
        (text(), text()).prop_map(|(top, bottom)| Cell::Split { top, bottom }),
        (text(), any::<Option<u32>>()).prop_map(|(text, px)| Cell::Text { text, px }),
        (lines, 8..100_u32).prop_map(|(lines, px)| Cell::Block { lines, px }),
    ]
}

/// A cell without ink, with the layout of another one.
fn emptied(cell: &Cell) -> Cell {
    match cell {
        Cell::Digit(_)
        | Cell::Tail(_)
        | Cell::Letter(_)
        | Cell::Text { .. }
        | Cell::Split { .. } => Cell::digit(""),
        Cell::Blank => Cell::Blank,
        Cell::Code(_)
        | Cell::Label { .. }
        | Cell::Word(_)
        | Cell::Unit { .. }
        | Cell::Icon(_)
        | Cell::NamedIcon { .. }
        | Cell::Sats
        | Cell::Logo(_)
        | Cell::Block { .. }
        | Cell::Title(_)
        | Cell::Qr(_) => Cell::Word(String::new()),
    }
}

fn specs() -> impl Strategy<Value = CanvasSpec> {
    let sides = prop_oneof![
        (WIDTHS, HEIGHTS),
        (200..900_u32, 100..900_u32),
        (200..320_u32, 100..200_u32)
    ];
    (
        sides,
        proptest::sample::select(&Turn::ALL[..]),
        proptest::sample::select(&Depth::ALL[..]),
        proptest::sample::select(&Layout::ALL[..]),
    )
        .prop_map(|((width, height), turn, depth, layout)| CanvasSpec {
            width,
            height,
            turn,
            depth,
            layout,
            dark: Some(false),
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// No ink touches the edges of the canvas or of its cell.
    #[test]
    fn nothing_is_clipped(
        cells in proptest::collection::vec(cells(), 7..=8),
        font in proptest::sample::select(FontId::all().collect::<Vec<_>>()),
        digit_px in 80..=220_u32,
        mark in proptest::option::of(proptest::sample::select(&Mark::ALL[..])),
        spec in specs(),
    ) {
        // No text fits into the cells of a low column.
        let height = match spec.turn {
            Turn::None | Turn::Half => spec.height,
            Turn::Quarter | Turn::ThreeQuarters => spec.width,
        };
        prop_assume!(spec.layout != Layout::Column || height >= 8 * 20);
        let mut painter = CanvasPainter::new();
        let mut filled = picture(cells.clone());
        filled.style.font = font;
        filled.style.digit_px = digit_px;
        let mut empty = filled.clone();
        empty.cells = cells.iter().map(emptied).collect();
        filled.mark = mark;
        let painted = painter.paint(&filled, "", &spec);
        let empty = painter.paint(&empty, "", &spec);
        let (width, height) = size(&painted);
        prop_assert_eq!((painted.width, painted.height), (spec.width, spec.height));
        for (x, y) in differing(&painted, &empty) {
            let inside = x > 0 && y > 0 && x + 1 < width && y + 1 < height;
            prop_assert!(inside, "ink at {},{}", x, y);
            for (x, y) in [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)] {
                prop_assert_eq!(grey(&empty, x, y), 255, "ink touches the line at {},{}", x, y);
            }
        }
    }
}

/// The rectangle in which two canvases differ: left, top, right, bottom.
fn changed(one: &Canvas, other: &Canvas) -> Option<[usize; 4]> {
    let pixels = differing(one, other);
    let (xs, ys) = (
        || pixels.iter().map(|(x, _)| *x),
        || pixels.iter().map(|(_, y)| *y),
    );
    Some([xs().min()?, ys().min()?, xs().max()?, ys().max()?])
}

#[test]
fn every_layout_holds_seven_and_eight_cells_of_one_size() {
    let sizes = [(800, 480), (600, 800), (200, 100), (3840, 100), (200, 2160)];
    for ((width, height), layout) in sizes
        .into_iter()
        .flat_map(|size| Layout::ALL.map(|layout| (size, layout)))
    {
        let spec = CanvasSpec {
            layout,
            ..spec(width, height)
        };
        for count in [7, 8] {
            let name = format!("{count} cells in {} on {width}x{height}", layout.name());
            let mut painter = CanvasPainter::new();
            let mut paint = |at: Option<usize>| {
                let mut cells = vec![Cell::digit(""); count];
                if let Some(at) = at {
                    cells[at] = Cell::digit("8");
                }
                painter.paint(&picture(cells), "", &spec)
            };
            let empty = paint(None);
            let inks: Vec<[usize; 4]> = (0..count)
                .map(|at| changed(&empty, &paint(Some(at))).unwrap_or_else(|| panic!("{name}")))
                .collect();
            let extent = |[left, top, right, bottom]: [usize; 4]| (right - left, bottom - top);
            for (index, one) in inks.iter().enumerate() {
                assert_eq!(extent(*one), extent(inks[0]), "{name}");
                let overlaps = |other: &[usize; 4]| {
                    one[0] <= other[2]
                        && other[0] <= one[2]
                        && one[1] <= other[3]
                        && other[1] <= one[3]
                };
                assert!(!inks[index + 1..].iter().any(overlaps), "{name}: {inks:?}");
            }
        }
    }
}

#[test]
fn a_rotated_canvas_is_the_upright_one_turned() {
    let all = pictures::screens(7);
    let mut painter = CanvasPainter::new();
    for name in ["block-height--stale", "provisioning--plain"] {
        let picture = &all.iter().find(|(other, _)| other == name).unwrap().1;
        for depth in Depth::ALL {
            let upright = CanvasSpec {
                depth,
                ..spec(501, 303)
            };
            let straight = painter.paint(picture, CAPTION, &upright);
            let (width, height) = size(&straight);
            for turn in Turn::ALL {
                let (turned_width, turned_height) = match turn {
                    Turn::None | Turn::Half => (501, 303),
                    Turn::Quarter | Turn::ThreeQuarters => (303, 501),
                };
                let spec = CanvasSpec {
                    turn,
                    width: turned_width,
                    height: turned_height,
                    ..upright
                };
                let turned = painter.paint(picture, CAPTION, &spec);
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    let (to_x, to_y) = match turn {
                        Turn::None => (x, y),
                        Turn::Quarter => (height - 1 - y, x),
                        Turn::Half => (width - 1 - x, height - 1 - y),
                        Turn::ThreeQuarters => (y, width - 1 - x),
                    };
                    assert_eq!(grey(&straight, x, y), grey(&turned, to_x, to_y), "{turn:?}");
                }
            }
        }
    }
}

#[test]
fn a_dark_canvas_is_the_light_one_inverted() {
    let all = pictures::screens(7);
    let picture: &Picture = &all[0].1;
    let mut painter = CanvasPainter::new();
    for depth in Depth::ALL {
        let mut paint = |dark| {
            let spec = CanvasSpec {
                dark: Some(dark),
                depth,
                ..spec(800, 480)
            };
            painter.paint(picture, CAPTION, &spec)
        };
        let (light, dark) = (paint(false), paint(true));
        let wrong = light
            .rows
            .iter()
            .zip(&dark.rows)
            .filter(|(a, b)| **a != !**b);
        assert_eq!(wrong.count(), 0, "{depth:?}");
    }
}

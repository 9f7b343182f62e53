//! What the panels show, as text and symbols; `render` makes bitmaps of it.
//!
//! A *cell* is the content of one panel.
//! A *picture* is the content of all panels with everything needed to draw it.

use alloc::{string::String, sync::Arc, vec, vec::Vec};

use crate::{settings::fonts::FontId, tile::Tile};
use market::{logo::Logo, mark::Mark};

/// The content of one panel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Empty paper.
    Blank,
    /// A digit, sign or currency symbol in the digit font; `12.` shares one panel and shrinks to fit.
    Digit(String),
    /// A text in the digit font at 160 px: the miner's own words.
    Tail(String),
    /// A word of two or three letters at label size, such as an ISO currency code.
    Code(String),
    /// Two lines with a bar between; turned by `verticalDesc`.
    Label {
        /// Upper line.
        top: String,
        /// Lower line.
        bottom: String,
    },
    /// One line at label size; turned by `verticalDesc`.
    Word(String),
    /// Two lines with a bar between, never turned: units and the parts of a duration.
    Unit {
        /// Upper line.
        top: String,
        /// Lower line.
        bottom: String,
    },
    /// The owner's text on one line, fitted to the panel.
    Text {
        /// The text.
        text: String,
        /// Glyph height set by the owner, px.
        px: Option<u32>,
    },
    /// The owner's text on two lines with a bar between, fitted to the panel.
    Split {
        /// Upper line.
        top: String,
        /// Lower line.
        bottom: String,
    },
    /// A symbol of the icon set.
    Icon(Icon),
    /// A symbol that the owner has chosen by name.
    NamedIcon {
        /// The symbol; blank if the name is unknown.
        icon: Option<Icon>,
        /// The text of the owner, such as `mdi:wifi`.
        text: String,
    },
    /// The satoshi symbol in the variant of the style.
    Sats,
    /// A picture of a mining pool or miner.
    Logo(Arc<Logo>),
    /// Several centred lines of plain text.
    Block {
        /// The lines, top to bottom.
        lines: Vec<BlockLine>,
        /// Glyph height before fitting, px.
        px: u32,
    },
    /// A title that is fitted to the panel, in bold.
    Title(String),
    /// One large letter, all letters of a picture at one height.
    Letter(String),
    /// A QR code.
    Qr(String),
}

/// One line of a [`Cell::Block`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockLine {
    /// The text; may be empty.
    pub text: String,
    /// Drawn in the bold cut.
    pub bold: bool,
}

/// A symbol of the icon set, named as in Material Design Icons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each variant is the icon of that name")]
pub enum Icon {
    Alarm,
    ArrowDownBold,
    ArrowUpBold,
    Bell,
    Bitcoin,
    CheckBold,
    ClockOutline,
    LightningBolt,
    Loading,
    Pickaxe,
    RocketLaunch,
    Wifi,
    WifiAlert,
    WifiOff,
}

impl Icon {
    /// The icons a custom text can name, with their names.
    pub const NAMED: &[(&str, Icon)] = &[
        ("alarm", Icon::Alarm),
        ("arrow-down-bold", Icon::ArrowDownBold),
        ("arrow-up-bold", Icon::ArrowUpBold),
        ("bell", Icon::Bell),
        ("bitcoin", Icon::Bitcoin),
        ("clock-outline", Icon::ClockOutline),
        ("lightning-bolt", Icon::LightningBolt),
        ("pickaxe", Icon::Pickaxe),
        ("rocket-launch", Icon::RocketLaunch),
        ("wifi", Icon::Wifi),
        ("wifi-alert", Icon::WifiAlert),
        ("wifi-off", Icon::WifiOff),
    ];
}

/// How cells are drawn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Style {
    /// Font of digits and labels.
    pub font: FontId,
    /// Height of the big digit glyphs, px.
    pub digit_px: u32,
    /// Width that split labels may take, percent of the panel width.
    pub label_fit_pct: u32,
    /// Labels are turned 90 degrees counter-clockwise.
    pub vertical_labels: bool,
    /// White on black.
    pub inverted: bool,
    /// Which drawing of the satoshi symbol.
    pub sats_variant: u8,
}

/// The marks of the values of a picture. The panels show the worst one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks(u8);

impl Marks {
    /// Whether a mark is in the set.
    pub fn has(self, mark: Mark) -> bool {
        self.0 & bit(mark) != 0
    }

    /// The marks in the set, the worst first.
    pub fn worst_first(self) -> impl Iterator<Item = Mark> {
        let marks = Mark::ALL.into_iter().rev();
        marks.filter(move |mark| self.has(*mark))
    }

    /// The worst mark.
    pub fn worst(self) -> Option<Mark> {
        self.worst_first().next()
    }
}

impl FromIterator<Mark> for Marks {
    fn from_iter<I: IntoIterator<Item = Mark>>(marks: I) -> Marks {
        Marks(marks.into_iter().fold(0, |bits, mark| bits | bit(mark)))
    }
}

/// Place of a mark among [`Marks`].
fn bit(mark: Mark) -> u8 {
    1 << mark as u8
}

/// The content of all panels and how it is to be drawn.
///
/// The counters only grow, so that a requested refresh is not lost if the busy panels skip a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// One cell per panel, leftmost first.
    pub cells: Vec<Cell>,
    /// What one canvas shows in place of the cells: a tile, or those of a board. Empty if it shows the cells.
    pub tiles: Vec<Tile>,
    /// How to draw them.
    pub style: Style,
    /// The mark on the first panel, for a doubtful or stale value.
    pub mark: Option<Mark>,
    /// Whether the picture contains a password, which only the panels may show.
    pub shows_password: bool,
    /// Number of requested full refreshes of all panels.
    pub full_refreshes: u64,
    /// Number of requested repaints of all panels, changed or not, full or partial.
    pub repaints: u64,
    /// Number of requested cleanings of all panels.
    pub cleanings: u64,
    /// A full refresh is not noticed now: Do Not Disturb is active, or the room is dark.
    pub is_quiet: bool,
    /// Serial number, greater than that of every earlier picture.
    pub serial: u64,
}

impl Picture {
    /// The first picture of these cells, without a mark.
    pub fn new(cells: Vec<Cell>, style: Style) -> Picture {
        Picture {
            cells,
            tiles: Vec::new(),
            style,
            mark: None,
            shows_password: false,
            full_refreshes: 0,
            repaints: 0,
            cleanings: 0,
            is_quiet: false,
            serial: 0,
        }
    }
}

impl Cell {
    /// A cell in the digit font.
    pub fn digit(text: impl Into<String>) -> Cell {
        Cell::Digit(text.into())
    }

    /// A split label.
    pub fn label(top: impl Into<String>, bottom: impl Into<String>) -> Cell {
        Cell::Label {
            top: top.into(),
            bottom: bottom.into(),
        }
    }

    /// A split unit.
    pub fn unit(top: impl Into<String>, bottom: impl Into<String>) -> Cell {
        Cell::Unit {
            top: top.into(),
            bottom: bottom.into(),
        }
    }

    /// The cell as text, for the status: `A/B` for two lines, empty for pictures and blanks.
    pub fn mirror(&self) -> String {
        match self {
            Cell::Blank | Cell::Logo(_) | Cell::Block { .. } | Cell::Qr(_) => String::new(),
            Cell::Digit(text)
            | Cell::Tail(text)
            | Cell::Code(text)
            | Cell::Word(text)
            | Cell::Title(text)
            | Cell::Letter(text)
            | Cell::Text { text, .. }
            | Cell::NamedIcon { text, .. } => text.clone(),
            Cell::Label { top, bottom }
            | Cell::Unit { top, bottom }
            | Cell::Split { top, bottom } => {
                alloc::format!("{top}/{bottom}")
            }
            Cell::Icon(Icon::ArrowDownBold) => "DN".into(),
            Cell::Icon(Icon::ArrowUpBold) => "UP".into(),
            Cell::Icon(_) => String::new(),
            Cell::Sats => "STS".into(),
        }
    }
}

/// The cells as texts, for the status, one per panel.
pub fn mirror(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(Cell::mirror).collect()
}

/// Blank panels.
pub fn blank(panels: usize) -> Vec<Cell> {
    vec![Cell::Blank; panels]
}

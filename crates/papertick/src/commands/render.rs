//! `papertick render`: renders any screen to a PNG file, without a clock.
//!
//! `pictures` has the screens, `values` the values on them, `settings` the settings.

mod pictures;
mod settings;
mod values;

use std::{
    fs,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
};

use board::spec;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use device::{
    board::BoardSpec,
    canvas::{CanvasSpec, Depth, HEIGHTS, Layout, LayoutForm, Turn, WIDTHS, bounded, chosen},
    cells::Picture,
    panels,
    settings::Settings,
};
use market::{
    now::UtcTime,
    units::{Currency, FeeRate, Price},
};
use pictures::Subject;
use render::{Painter, canvas::CanvasPainter, png, tiles::TilePainter};
use storage::disk::read_at_most;
use values::Values;

use super::{ctl::completion::Suggestions, files::cannot_write, icons};
use crate::{config::flags::boards, failure::Failure, standard_output};

/// The flags of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Name or number of the screen: `ticker`, `block-height`, `zap`, `20` …
    #[arg(value_parser = Suggestions::new(pictures::names()), hide_possible_values = true, required_unless_present = "canvas")]
    screen: Option<String>,

    /// Text of the screen `text`, or of each panel of the screen `custom`, such as HELLO, A/B or mdi:wifi
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,

    /// Setting, as in the control interface; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = Suggestions::assignments(), hide_possible_values = true)]
    settings: Vec<String>,

    /// Status document of `ctl status --json`; missing values are unknown; `-` is standard input [default: a sample]
    #[arg(long, value_name = "FILE.json")]
    status: Option<PathBuf>,

    /// Height of the chain tip
    #[arg(long)]
    height: Option<u32>,

    /// Currency of the screen, such as EUR
    #[arg(long, value_parser = Suggestions::currencies().try_map(|code| values::currency(&code)), hide_possible_values = true)]
    currency: Option<Currency>,

    /// Price in that currency, such as 95432.50
    #[arg(long, value_parser = values::price)]
    price: Option<Price>,

    /// Fee rate in sat/vB, such as 12.34
    #[arg(long, value_parser = values::fee)]
    fee: Option<FeeRate>,

    /// Local time, such as 21:34 or 2026-11-20T21:34
    #[arg(long, value_parser = values::time)]
    time: Option<UtcTime>,

    /// Satoshis of the zap or payment; negative for a payment that was sent
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(-SATS_MAX..=SATS_MAX))]
    sats: Option<i64>,

    /// The board
    #[arg(long, default_value = spec::BOARDS[0].id, value_parser = boards(), ignore_case = true)]
    board: String,

    /// Size of one canvas in place of the panels, px, such as 800x480
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = canvas_size, conflicts_with = "scale")]
    canvas: Option<(u32, u32)>,

    /// How the canvas is divided; `board` needs no screen: it has those of the setting boardScreens
    #[arg(long, requires = "canvas", default_value = "figure", value_parser = layouts())]
    layout: String,

    /// Bits of grey per pixel of the canvas
    #[arg(long, requires = "canvas", default_value = "4", value_parser = depths())]
    depth: String,

    /// Side of the square that each pixel becomes
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(png::SCALE_MAX)))]
    scale: u32,

    /// File for the picture; without one it goes to the standard output
    #[arg(short, long, value_name = "FILE.png")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  papertick render ticker -o ticker.png
  papertick render ticker --currency EUR --price 88001 --set fontName=inter -o euro.png
  papertick render block-height --board v8 --scale 2 > block.png
  papertick render custom GOOD/DAY mdi:wifi -o hello.png
  papertick render ticker --canvas 800x480 -o figure.png
  papertick render --canvas 800x480 --layout board --depth 1 -o board.png
  papertick ctl status --json | papertick render block-fee-rate --status - -o fee.png";

/// Most satoshis of a zap or payment: the total supply.
const SATS_MAX: i64 = 2_100_000_000_000_000;

/// Largest status document, bytes.
const STATUS_MAX: u64 = 1024 * 1024;

/// Text of `--help` after the flags.
pub(crate) fn help() -> String {
    format!(
        "Screens:\n{}\n\n\
         Settings: those of the control interface, such as fontName=inter, invertedColor=true or digitFontPx=220\n\n\
         {EXAMPLES}",
        pictures::list()
    )
}

/// The names of all screens and other pictures.
pub fn names() -> Vec<String> {
    pictures::names()
}

/// Renders the picture and writes it to the output.
///
/// # Errors
/// The screen or a setting does not exist, or a file cannot be read or written.
pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    let file = args.output.as_deref();
    let file = file.filter(|file| *file != Path::new("-"));
    if file.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage(
            "cannot print a picture on a terminal: set a file with -o FILE.png",
        ));
    }
    let status = args.status.as_deref().map(read_status).transpose()?;
    let picture = picture(args, status.as_deref())?;
    match file {
        Some(file) => fs::write(file, picture).map_err(|error| cannot_write(file, &error)),
        None => standard_output::write(&picture),
    }
}

/// Reads a status document from a file or from standard input.
fn read_status(file: &Path) -> Result<String, Failure> {
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        let read = io::stdin().take(STATUS_MAX).read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        read_at_most(file, STATUS_MAX)
    };
    read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        .map_err(|error| Failure::failed(format!("--status {}: {error}", file.display())))
}

/// Renders a PNG file from a status document, or from the sample values.
///
/// # Errors
/// The screen or a setting does not exist, or the document has a mistake.
pub fn picture(args: &RenderArgs, status: Option<&str>) -> Result<Vec<u8>, Failure> {
    let job = RenderJob::new(args, status)?;
    if job.subject.is_some() {
        icons::warn_unknown(&job.picture()?.cells);
    }
    match args.canvas {
        Some(size) => job.canvas(args, size),
        None => {
            let picture = job.picture()?;
            let (width, height) = (job.board.panel_width, job.board.panel_height);
            let panels = Painter::new(width, height).paint_all(&picture);
            Ok(png::side_by_side_small(&panels, args.scale))
        }
    }
}

/// What is to be rendered.
struct RenderJob {
    /// `None` for a board.
    subject: Option<Subject>,
    values: Values,
    settings: Settings,
    board: &'static BoardSpec,
}

impl RenderJob {
    fn new(args: &RenderArgs, status: Option<&str>) -> Result<RenderJob, Failure> {
        let subject = args.screen.as_deref().map(pictures::find).transpose()?;
        if let Some(subject) = subject {
            pictures::check_texts(subject, &args.texts)?;
        }
        if let (Some(screen), "board") = (&args.screen, &*args.layout) {
            return Err(Failure::usage(format!(
                "`--layout board` takes no SCREEN: leave `{screen}` out; --set boardScreens=… chooses its screens"
            )));
        }
        Ok(RenderJob {
            subject,
            values: Values::new(args, status)?,
            settings: settings::read(&args.settings)?,
            board: spec::find(&args.board).unwrap_or(&spec::BOARDS[0]),
        })
    }

    fn subject(&self) -> Result<Subject, Failure> {
        self.subject.ok_or_else(|| {
            Failure::usage("name a SCREEN, such as ticker; only `--layout board` needs none")
        })
    }

    fn picture(&self) -> Result<Picture, Failure> {
        pictures::compose(self.subject()?, &self.values, &self.settings, self.board)
    }

    /// A PNG file of one canvas.
    fn canvas(&self, args: &RenderArgs, (width, height): (u32, u32)) -> Result<Vec<u8>, Failure> {
        let layout = chosen("--layout", Some(&args.layout), &Layout::choices());
        let depth = chosen("--depth", Some(&args.depth), &Depth::choices());
        let spec = CanvasSpec {
            width,
            height,
            turn: Turn::None,
            depth: depth.map_err(Failure::usage)?,
            layout: layout.map_err(Failure::usage)?,
            dark: None,
        };
        let style = panels::style(&self.settings);
        let tiles = match spec.layout.form() {
            LayoutForm::Cells => {
                let canvas = CanvasPainter::new().paint(&self.picture()?, "", &spec);
                return Ok(png::canvas(&canvas));
            }
            LayoutForm::Figure => {
                let subject = self.subject()?;
                vec![pictures::tile(
                    subject,
                    &self.values,
                    &self.settings,
                    self.board,
                )?]
            }
            LayoutForm::Board => pictures::board_tiles(&self.values, &self.settings, self.board)?,
        };
        let drawn = TilePainter::default().paint(&tiles, &style, &spec);
        Ok(png::canvas(&drawn.canvas))
    }
}

/// Parses a size such as `800x480`.
fn canvas_size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x');
    let (width, height) = sides.ok_or("use a size such as 800x480")?;
    let width = bounded("width", width.parse().ok(), &WIDTHS)?;
    Ok((width, bounded("height", height.parse().ok(), &HEIGHTS)?))
}

fn layouts() -> PossibleValuesParser {
    PossibleValuesParser::new(Layout::ALL.map(Layout::name))
}

fn depths() -> PossibleValuesParser {
    PossibleValuesParser::new(["1", "2", "4", "8"])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::ffi::OsString;

    use super::*;
    use crate::{
        cli::{self, Command},
        failure::Code,
    };

    fn picture_of(line: &str) -> Result<Vec<u8>, Failure> {
        // A status document comes before its command.
        let (status, line) = match line.split_once(" | ") {
            Some((status, line)) => (Some(status), line),
            None => (None, line),
        };
        let words = ["papertick", "render"].into_iter().chain(line.split(' '));
        let command = cli::parse(words.map(OsString::from))?;
        let Command::Render(args) = command else {
            panic!("{line}: {command:?}")
        };
        picture(&args, status)
    }

    #[test]
    fn messages_name_the_mistake() {
        #[rustfmt::skip]
        let rows = [
            ("fee", &["`fee`", "did you mean `block-fee-rate`?"][..]),
            ("mempool", &["`mempool`", "`ticker`", "`zap`"]),
            ("text", &["`text` needs a TEXT"]),
            ("custom", &["`custom` needs a TEXT"]),
            ("ticker HODL", &["`ticker` takes no TEXT", "`HODL`"]),
            ("time --set tzString=Europe/Amstredam", &["`Europe/Amstredam`", "did you mean `Europe/Amsterdam`?"]),
            ("time --set tzString=Mars", &["`Mars`", "such as Europe/Amsterdam"]),
            ("99", &["`99`"]),
            ("zap --sats much", &["much", "--sats"]),
            ("zap --sats 2100000000000001", &["--sats"]),
            ("ticker --currency NOK", &["NOK", "--price"]),
            ("ticker --currency euro", &["such as EUR"]),
            ("time --time noon", &["such as 21:34"]),
            ("[] | ticker", &["--status", "JSON object"]),
            ("{ | ticker", &["--status", "JSON object"]),
            (r#"{"market":{"height":{"value":"high"}}} | ticker"#, &["`market.height.value` is \"high\"", "a height"]),
            (r#"{"market":{"USD":{"value":[]}}} | ticker"#, &["`market.USD.value` is []", "a price"]),
            (r#"{"figures":{"walletBalance":{"value":-1}}} | ticker"#, &["`figures.walletBalance.value` is -1", "satoshis"]),
            (r#"{"currency":"euro"} | ticker"#, &["`currency` is \"euro\"", "such as EUR"]),
            (r#"{"truth":{"height":{"state":"good"}}} | ticker"#, &["`truth.height.state`"]),
            ("ticker --set digitFontPx=300", &["range:digitFontPx", "80 to 220"]),
            ("ticker --set suffixPrice=1", &["suffixPrice:bad_type", "true or false"]),
            ("ticker --set fontName=arial", &["fontName:unknown", "`antonio`"]),
            ("ticker --set fontname=inter", &["unknown setting `fontname`", "`fontName`"]),
            ("ticker --set screens=[{\"id\":5}]", &["screens:unknown_id"]),
            ("ticker --set otaPass=x", &["`otaPass`"]),
            ("ticker --set fontName", &["--set fontName", "="]),
            ("ticker --scale 9", &["9"]),
            ("ticker --board v9", &["v9", "`v8`"]),
            ("ticker --canvas 800", &["--canvas", "800x480"]),
            ("ticker --canvas 100x480", &["width", "200 to 3840"]),
            ("ticker --canvas 800x480 --layout rows", &["--layout", "did you mean `row`?"]),
            ("ticker --layout board", &["--canvas"]),
            ("--canvas 800x480", &["SCREEN", "board"]),
            ("zap --canvas 800x480 --layout board", &["`zap`", "boardScreens"]),
            ("--canvas 800x480 --layout board --set boardScreens=[20]", &["boardScreens", "2 to 8"]),
        ];
        for (line, parts) in rows {
            let Err(failure) = picture_of(line) else {
                panic!("{line} works")
            };
            assert_eq!(failure.code, Code::Usage, "{line}: {failure}");
            assert!(!failure.message.contains('\n'), "{line}: {failure}");
            for part in parts {
                assert!(
                    failure.message.contains(part),
                    "{line}: {failure} lacks {part}"
                );
            }
        }
    }

    #[test]
    fn values_and_settings_change_the_picture() {
        let plain = picture_of("ticker").unwrap();
        for line in [
            "ticker --price 95433",
            "ticker --currency EUR",
            "{} | ticker",
            r#"{"market":{"USD":{"value":"95432.00","state":"stale"}}} | ticker"#,
            "ticker --set actCurrencies=[\"EUR\"]",
            "ticker --set fontName=inter",
            "ticker --set invertedColor=true",
            "ticker --board v8",
            "ticker --scale 2",
            "ticker --canvas 800x480",
            "ticker --canvas 800x480 --layout cells",
            "--canvas 800x480 --layout board",
        ] {
            assert_ne!(picture_of(line).unwrap(), plain, "{line}");
        }
    }
}

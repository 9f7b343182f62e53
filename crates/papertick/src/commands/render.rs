//! `papertick render`: any screen as a picture, without a device.
//!
//! `pictures` knows what there is to see, `values` what is shown on it, `settings` how.

mod pictures;
mod settings;
mod values;

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use board::spec;
use clap::Args;
use device::{board::BoardSpec, cells::Picture};
use render::{Painter, png};

use super::icons;
use crate::{config::flags::boards, failure::Failure};

/// The flags of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Which screen, by its name or its number: `ticker`, `block-height`, `zap`, `20` …
    screen: String,

    /// Setting, as in the document of the control interface; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,

    /// What the screen shows, such as height=957123; nothing behind the = is not known; may be repeated
    #[arg(long = "value", value_name = "NAME=VALUE")]
    values: Vec<String>,

    /// The board
    #[arg(long, default_value = spec::BOARDS[0].id, value_parser = boards(), ignore_case = true)]
    board: String,

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
  papertick render ticker --value currency=EUR --value price=88001 --set fontName=inter -o euro.png
  papertick render block-height --board v8 --scale 2 > block.png
  papertick render custom --value panel=GOOD/DAY --value panel=mdi:wifi -o hello.png
  papertick render time --value time= -o no-time.png";

/// What `--help` says after the flags.
pub(crate) fn help() -> String {
    format!(
        "Screens:\n{}\n\n\
         Values:\n{}\n\n\
         Settings: those of the control interface, such as fontName=inter, invertedColor=true or digitFontPx=220\n\n\
         {EXAMPLES}",
        pictures::listed(),
        values::listed()
    )
}

/// The words of all screens and other pictures.
pub fn words() -> Vec<String> {
    pictures::words()
}

/// Makes the picture and puts it where it belongs.
///
/// # Errors
/// There is no such screen, value or setting, or the file cannot be written.
pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    let file = args.output.as_deref();
    let file = file.filter(|file| *file != Path::new("-"));
    if file.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage(
            "a picture is nothing for a terminal: name a file with -o FILE.png",
        ));
    }
    icons::mention_unknown(&composed(args)?.0.cells);
    let picture = picture(args)?;
    let (place, written) = match file {
        Some(file) => (file.display().to_string(), fs::write(file, picture)),
        None => (
            "the standard output".to_owned(),
            io::stdout().write_all(&picture),
        ),
    };
    written.map_err(|error| Failure::failed(format!("cannot write to {place}: {error}")))
}

/// Makes the picture, a PNG file.
///
/// # Errors
/// There is no such screen, value or setting.
pub fn picture(args: &RenderArgs) -> Result<Vec<u8>, Failure> {
    let (picture, board) = composed(args)?;
    let panels = Painter::new(board.panel_width, board.panel_height).paint_all(&picture);
    Ok(png::side_by_side_small(&panels, args.scale))
}

/// What is to be seen, and on which board.
fn composed(args: &RenderArgs) -> Result<(Picture, &'static BoardSpec), Failure> {
    let board = spec::find(&args.board).unwrap_or(&spec::BOARDS[0]);
    let subject = pictures::find(&args.screen)?;
    let settings = settings::read(&args.settings)?;
    let values = values::read(&args.values)?;
    let picture = pictures::compose(subject, &values, &settings, board)?;
    Ok((picture, board))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{ffi::OsString, io::Write as _};

    use super::*;
    use crate::{
        cli::{self, Command},
        failure::Code,
    };

    fn picture_of(line: &str) -> Result<Vec<u8>, Failure> {
        let words = ["papertick", "render"].into_iter().chain(line.split(' '));
        let command = cli::parse(words.map(OsString::from))?;
        let Command::Render(args) = command else {
            panic!("{line}: {command:?}")
        };
        picture(&args)
    }

    #[test]
    fn mistakes_name_the_thing() {
        for (line, parts) in [
            ("fee", &["`fee`", "did you mean `block-fee-rate`?"][..]),
            ("mempool", &["`mempool`", "`ticker`", "`zap`"]),
            ("99", &["`99`"]),
            (
                "zap --value coins=5",
                &["no value is called `coins`", "`zap`"],
            ),
            (
                "zap --value zap=much",
                &["--value zap=much", "satoshis of the zap"],
            ),
            ("zap --value zap", &["--value zap", "="]),
            ("zap --value payment=99999999999999999999", &["payment"]),
            ("update --value percent=101", &["0 to 100"]),
            ("ticker --value currency=NOK", &["NOK", "--value price="]),
            ("ticker --value currency=euro", &["such as EUR"]),
            ("time --value time=noon", &["such as 21:34"]),
            (
                "ticker --set digitFontPx=300",
                &["range:digitFontPx", "80 to 220"],
            ),
            (
                "ticker --set suffixPrice=1",
                &["suffixPrice:bad_type", "true or false"],
            ),
            (
                "ticker --set fontName=arial",
                &["fontName:unknown", "`antonio`"],
            ),
            (
                "ticker --set fontname=inter",
                &["no setting is called `fontname`", "`fontName`"],
            ),
            ("ticker --set screens=[{\"id\":5}]", &["screens:unknown_id"]),
            ("ticker --set otaPass=x", &["`otaPass`"]),
            ("ticker --set fontName", &["--set fontName", "="]),
            ("ticker --scale 9", &["9"]),
            ("ticker --board v9", &["v9", "`v8`"]),
            (
                "mining-pool-hashrate --value logo=/nowhere --set miningPoolName=ckpool",
                &["ckpool", "logo"],
            ),
        ] {
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
    fn a_screen_has_a_name_and_a_number() {
        assert_eq!(picture_of("ticker"), picture_of("20"));
        assert_ne!(picture_of("ticker"), picture_of("10"));
    }

    #[test]
    fn a_board_is_known_in_capitals_as_well() {
        assert_eq!(
            picture_of("ticker --board V8"),
            picture_of("ticker --board v8")
        );
        assert_ne!(picture_of("ticker --board V8"), picture_of("ticker"));
    }

    #[test]
    fn values_and_settings_change_the_picture() {
        let plain = picture_of("ticker").unwrap();
        for line in [
            "ticker --value price=95433",
            "ticker --value price=",
            "ticker --value currency=EUR",
            "ticker --value mark=stale",
            "ticker --set actCurrencies=[\"EUR\"]",
            "ticker --set fontName=inter",
            "ticker --set invertedColor=true",
            "ticker --board v8",
            "ticker --scale 2",
        ] {
            assert_ne!(picture_of(line).unwrap(), plain, "{line}");
        }
    }

    #[test]
    fn a_pool_can_have_its_picture() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        let line = format!("70 --set miningPoolName=ocean --value logo={path}");
        assert!(picture_of(&line).unwrap_err().message.contains("122 x 122"));
        file.write_all(&[0x0F; 16 * 122]).unwrap();
        assert_ne!(
            picture_of(&line),
            picture_of("70 --set miningPoolName=ocean")
        );
        let missing = picture_of("70 --set miningPoolName=ocean --value logo=/nowhere.bin");
        assert_eq!(missing.unwrap_err().code, Code::Failed);
    }

    #[test]
    fn help_lists_every_screen_and_value() {
        let help = help();
        for word in words() {
            assert!(help.contains(&format!("  {word} ")), "{word}");
        }
        assert!(help.contains("  access-point  name of"), "{help}");
    }
}

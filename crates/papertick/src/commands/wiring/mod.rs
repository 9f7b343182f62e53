//! `papertick wiring`: checks, draws and tries what is connected where.

mod trial;

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use board::{
    spec,
    wiring::{self, FILE_MAX, Mistake, WiringFile, drawing},
};
use clap::{Args, Subcommand};
use serde_json::json;
use storage::disk::open_file;

use crate::failure::Failure;

/// What is done with a wiring file.
#[derive(Debug, Subcommand)]
pub enum WiringCommand {
    /// Find every mistake in a wiring file, and what of it this host has not; touches nothing
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Draw what is connected where
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Try every part: each panel shows its number, each LED its colours, the buttons are echoed
    #[command(after_help = TEST_EXAMPLES)]
    Test(trial::TestArgs),
}

/// The flags of `wiring check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Wiring file
    file: PathBuf,

    /// Look at the file alone, not at this host
    #[arg(long)]
    file_only: bool,

    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

/// The flags of `wiring show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Wiring file
    file: PathBuf,

    /// Write an SVG picture here instead of a text
    #[arg(short, long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  papertick wiring check clock.toml
  papertick wiring check clock.toml --file-only --json

The exit code is 0 if there are no mistakes and 2 if there are.";

const SHOW_EXAMPLES: &str = "\
Examples:
  papertick wiring show clock.toml
  papertick wiring show clock.toml -o clock.svg";

const TEST_EXAMPLES: &str = "\
Examples:
  papertick wiring test clock.toml
  papertick wiring test clock.toml --seconds 30
  papertick wiring test clock.toml --emulated

The clock must not run meanwhile. The exit code is 1 if a part did not answer.";

/// Does it.
///
/// # Errors
/// The file has mistakes, or a part does not answer.
pub fn run(command: &WiringCommand) -> Result<(), Failure> {
    match command {
        WiringCommand::Check(args) => check(args),
        WiringCommand::Show(args) => show(args),
        WiringCommand::Test(args) => trial::run(args),
    }
}

/// Reads a wiring file that has no mistakes; with its text.
///
/// # Errors
/// It cannot be read, or has mistakes.
pub(crate) fn load(path: &Path) -> Result<(String, WiringFile), Failure> {
    let text = text_of(path)?;
    let file = wiring::read(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok((text, file))
}

/// Reads a wiring file that has no mistakes and fits this host; with its text.
///
/// # Errors
/// It cannot be read, has mistakes, or names what the host has not.
pub(crate) fn load_for_host(path: &Path) -> Result<(String, WiringFile), Failure> {
    let text = text_of(path)?;
    let file = wiring::read_for_host(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok((text, file))
}

/// Says what is wrong, each mistake on a line of its own.
fn failure(path: &Path, mistakes: &[Mistake]) -> Failure {
    let lines: String = mistakes
        .iter()
        .map(|mistake| format!("\n  {mistake}"))
        .collect();
    Failure::usage(format!("{} cannot be used:{lines}", path.display()))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let cannot = |error: io::Error| {
        Failure::usage(format!(
            "the wiring file {} cannot be read: {error}",
            path.display()
        ))
    };
    let mut text = String::new();
    // One byte more than may be, so that a larger file is noticed.
    let most = FILE_MAX as u64 + 1;
    let file = open_file(path).map_err(cannot)?;
    file.take(most).read_to_string(&mut text).map_err(cannot)?;
    Ok(text)
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let text = text_of(&args.file)?;
    let read = match args.file_only {
        true => wiring::read(&text),
        false => wiring::read_for_host(&text),
    };
    let mistakes = read.as_ref().err().cloned().unwrap_or_default();
    if args.json {
        let mistakes: Vec<_> = mistakes
            .iter()
            .map(|mistake| json!({"line": mistake.line, "what": mistake.what}))
            .collect();
        print(&format!("{:#}\n", json!({ "mistakes": mistakes })));
    }
    if !mistakes.is_empty() {
        return Err(failure(&args.file, &mistakes));
    }
    if let (Ok(file), false) = (&read, args.json) {
        let (name, panels) = (&file.wiring.name, file.wiring.panels.len());
        let noun = if panels == 1 { "panel" } else { "panels" };
        print(&format!("{name}: {panels} {noun}, no mistakes\n"));
        if let Err(why) = spec::wired(&file.wiring) {
            print(&format!("{why}\n"));
        }
    }
    Ok(())
}

fn show(args: &ShowArgs) -> Result<(), Failure> {
    let (_, file) = load(&args.file)?;
    let Some(output) = &args.output else {
        print(&drawing::text(&file));
        return Ok(());
    };
    fs::write(output, drawing::svg(&file)).map_err(|error| {
        Failure::failed(format!("{} cannot be written: {error}", output.display()))
    })
}

fn print(text: &str) {
    // A reader that has seen enough is no failure.
    let _ = io::stdout().write_all(text.as_bytes());
}

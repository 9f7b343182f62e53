//! `papertick wiring`: detects a panel, and checks, draws and tests the wiring of a board.

mod detect;
mod one_panel;
mod report;
mod trial;

use std::{fs, path::PathBuf};

use board::{
    spec,
    wiring::{self, drawing},
};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::{
    failure::Failure,
    standard_output::print,
    wiring_file::{failure, load, text_of},
};

/// The actions of `wiring`.
#[derive(Debug, Subcommand)]
pub enum WiringCommand {
    /// Name the connected panel if it says what it is, and what this host lacks for panels
    #[command(after_help = detect::EXAMPLES)]
    Detect(detect::DetectArgs),
    /// Check a wiring file and whether this host has its buses and lines; accesses no hardware
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Draw the connections
    #[command(after_help = SHOW_EXAMPLES)]
    Show(WiringShowArgs),
    /// Test every part: each panel shows its number, each LED its colours, buttons are echoed
    #[command(after_help = TEST_EXAMPLES)]
    Test(trial::TestArgs),
    /// Print how the panels of a running clock work, to paste into a report
    #[command(after_help = report::EXAMPLES)]
    Report(report::ReportArgs),
}

/// The flags of `wiring check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Wiring file, or the name of a known board
    #[arg(value_name = "FILE|NAME")]
    file: PathBuf,

    /// Check only the file, not this host
    #[arg(long)]
    file_only: bool,

    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

/// The flags of `wiring show`.
#[derive(Debug, Args)]
pub struct WiringShowArgs {
    /// Wiring file, or the name of a known board
    #[arg(value_name = "FILE|NAME")]
    file: PathBuf,

    /// Write an SVG picture to this file instead of a text
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
  papertick wiring show clock.toml -o clock.svg
  papertick wiring show waveshare-7.5-v2";

const TEST_EXAMPLES: &str = "\
Examples:
  papertick wiring test clock.toml
  papertick wiring test clock.toml --seconds 30
  papertick wiring test waveshare-7.5-v2 -o clock.toml

One panel shows a test picture, and questions about it are asked on a terminal. Stop the clock first. The exit code is 1 if a part did not answer.";

/// Runs the action.
///
/// # Errors
/// The file has mistakes, or a part does not answer.
pub fn run(command: &WiringCommand) -> Result<(), Failure> {
    match command {
        WiringCommand::Detect(args) => detect::run(args),
        WiringCommand::Check(args) => check(args),
        WiringCommand::Show(args) => show(args),
        WiringCommand::Test(args) => trial::run(args),
        WiringCommand::Report(args) => report::run(args),
    }
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let text = text_of(&args.file)?;
    let read = if args.file_only { wiring::read(&text) } else { wiring::read_for_host(&text) };
    let mistakes = read.as_ref().err().cloned().unwrap_or_default();
    if args.json {
        let mistakes: Vec<_> = mistakes
            .iter()
            .map(|mistake| json!({"line": mistake.line, "what": mistake.what}))
            .collect();
        print(&format!("{:#}\n", json!({ "mistakes": mistakes })))?;
    }
    if !mistakes.is_empty() {
        return Err(failure(&args.file, &mistakes));
    }
    if let (Ok(file), false) = (&read, args.json) {
        let (name, panels) = (&file.wiring.name, file.wiring.panels.len());
        let noun = if panels == 1 { "panel" } else { "panels" };
        print(&format!("{name}: {panels} {noun}, no mistakes\n"))?;
        if let Err(error) = spec::wired(&file.wiring) {
            print(&format!("{error}\n"))?;
        }
    }
    Ok(())
}

fn show(args: &WiringShowArgs) -> Result<(), Failure> {
    let (_, file) = load(&args.file)?;
    let Some(output) = &args.output else {
        return print(&drawing::text(&file));
    };
    fs::write(output, drawing::svg(&file)).map_err(|error| {
        Failure::failed(format!("{} cannot be written: {error}", output.display()))
    })
}

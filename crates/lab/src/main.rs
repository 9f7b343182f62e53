//! `papertick selftest`: checks of the clock that its owner can run.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use storage::power_cuts::Counts;

use crate::{
    config::{MarketSource, resolve::default_data_dir},
    failure::Failure,
    power_cuts::{Beginning, Tried, try_everything},
};

/// What can be checked.
#[derive(Debug, Subcommand)]
pub enum SelftestCommand {
    /// Cut the power at every moment of every change, on a copy of the data folder in memory.
    #[command(name = "power-cuts", after_help = EXAMPLES)]
    PowerCuts(PowerCutsArgs),
}

/// The flags of `selftest power-cuts`.
#[derive(Debug, Args)]
pub struct PowerCutsArgs {
    /// Folder of settings and memory, which is only read [default: $XDG_STATE_HOME/papertick]
    #[arg(long, env = "PAPERTICK_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,

    /// How often chance decides, for each cut, what survives of that which was not synced
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(0..=1000))]
    chances: u64,
}

const EXAMPLES: &str = "\
Of what was not synced, nothing survives a cut, or everything, only names, only bytes, or some of it by chance.
After each cut the clock starts, and at each file operation of that start the power is cut once more.
Whatever a start finds must be as it was before the change or as it is after it; if not, the exit code is 1.

Examples:
  papertick selftest power-cuts
  papertick selftest power-cuts --data-dir /var/lib/papertick --chances 200";

/// Runs a check and prints what it counted.
///
/// # Errors
/// The check found something, or the folder cannot be read.
pub fn run(command: &SelftestCommand) -> Result<(), Failure> {
    match command {
        SelftestCommand::PowerCuts(args) => power_cuts(args),
    }
}

fn power_cuts(args: &PowerCutsArgs) -> Result<(), Failure> {
    let folder = match &args.data_dir {
        Some(folder) => folder.clone(),
        None => default_data_dir(MarketSource::World)?,
    };
    let mut beginnings = vec![Beginning::new_clock()];
    if folder.is_dir() {
        let unread = |error: io::Error| {
            let folder = folder.display();
            Failure::failed(format!("the data folder {folder} cannot be read: {error}"))
        };
        beginnings.push(Beginning::copy(&folder).map_err(unread)?);
    } else if args.data_dir.is_some() {
        let folder = folder.display();
        return Err(Failure::failed(format!("there is no data folder {folder}")));
    }
    let mut total = Counts::default();
    for beginning in &beginnings {
        let tried = try_everything(beginning, args.chances).map_err(|(what, broken)| {
            Failure::failed(format!("{}: {what}: {broken}", beginning.what))
        })?;
        print(&table(beginning.what, &tried));
        tried.iter().for_each(|tried| total.add(tried.counts));
    }
    let starts = total.cuts + total.again;
    print(&format!(
        "{starts} power cuts, {} of them while the clock started after another; each time the clock started, with what was before or what was after\n",
        total.again
    ));
    Ok(())
}

/// The counts of a beginning, aligned.
fn table(beginning: &str, tried: &[Tried]) -> String {
    let mut text = format!(
        "{beginning:36} {:>10} {:>8} {:>10} {:>8} {:>8} {:>8}\n",
        "operations", "cuts", "at a start", "old", "new", "between"
    );
    for Tried { what, counts } in tried {
        let Counts {
            operations,
            cuts,
            again,
            old,
            new,
            between,
        } = counts;
        // A string takes everything.
        let _ = writeln!(
            text,
            "  {what:34} {operations:>10} {cuts:>8} {again:>10} {old:>8} {new:>8} {between:>8}"
        );
    }
    text.push('\n');
    text
}

fn print(text: &str) {
    // A reader that has seen enough is no failure.
    let _ = io::stdout().write_all(text.as_bytes());
}

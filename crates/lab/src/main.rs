//! Experiments on the clock. They are not part of the product.

use std::{fmt::Write as _, io, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use lab::{
    data_folder::{InitialDisk, TestedChange, test_all_changes},
    panel_oracle,
    power_cuts::Counts,
    returns,
};

/// Experiments on the clock.
#[derive(Debug, Parser)]
#[command(name = "lab")]
struct Lab {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Cut the power at every file operation of every change, on a copy of a data folder in memory.
    #[command(after_help = EXAMPLES)]
    PowerCuts {
        /// Data folder to copy; it is only read [default: only a new clock]
        #[arg(long, value_name = "FOLDER")]
        data_dir: Option<PathBuf>,

        /// Random choices per cut of the unsynced writes that survive
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(0..=1000))]
        chances: u64,
    },
    /// Compare recordings of the makers' drivers of panels with ours, and with the reviewed differences.
    PanelOracle {
        /// Folder of the recordings, which `.ci/panel-oracle` makes
        folder: PathBuf,
    },
    /// Count how often a remote display returns in a day, with a board and with the clock. The exit code is 1 if the board
    /// returns more often.
    Displays,
}

const EXAMPLES: &str = "\
After a cut, none of the unsynced writes survive, or all of them, only names, only bytes, or a random part.
After each cut the clock starts, and at each file operation of that start the power is cut again.
Each start must find the state before the change or the state after it; if not, the exit code is 1.

Examples:
  cargo run -p lab -- power-cuts
  cargo run -p lab -- power-cuts --data-dir /var/lib/papertick --chances 200";

fn main() -> ExitCode {
    let Lab { experiment } = Lab::parse();
    let result = match experiment {
        Experiment::PowerCuts { data_dir, chances } => power_cuts(data_dir, chances),
        Experiment::PanelOracle { folder } => panel_oracle::compare(&folder),
        Experiment::Displays => returns::compare(),
    };
    match result {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn power_cuts(data_dir: Option<PathBuf>, chances: u64) -> Result<String, String> {
    let mut disks = vec![InitialDisk::new_clock()];
    if let Some(folder) = data_dir {
        let unread = |error: io::Error| {
            let folder = folder.display();
            format!("the data folder {folder} cannot be read: {error}")
        };
        if !folder.is_dir() {
            return Err(format!("there is no data folder {}", folder.display()));
        }
        disks.push(InitialDisk::copy(&folder).map_err(unread)?);
    }
    let (mut text, mut total) = (String::new(), Counts::default());
    for initial in &disks {
        let tested = test_all_changes(initial, chances)
            .map_err(|(what, broken)| format!("{}: {what}: {broken}", initial.what))?;
        text.push_str(&table(initial.what, &tested));
        tested.iter().for_each(|change| total.add(change.counts));
    }
    let starts = total.cuts + total.cuts_at_start;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{starts} power cuts, {} of them while the clock started after another; each start found the state before or after the change",
        total.cuts_at_start
    );
    Ok(text)
}

/// The counts of an initial disk, aligned.
fn table(initial: &str, tested: &[TestedChange]) -> String {
    let mut text = format!(
        "{initial:36} {:>10} {:>8} {:>10} {:>8} {:>8} {:>8}\n",
        "operations", "cuts", "at a start", "old", "new", "between"
    );
    for TestedChange { what, counts } in tested {
        let Counts {
            operations,
            cuts,
            cuts_at_start,
            old,
            new,
            between,
        } = counts;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {what:34} {operations:>10} {cuts:>8} {cuts_at_start:>10} {old:>8} {new:>8} {between:>8}"
        );
    }
    text.push('\n');
    text
}

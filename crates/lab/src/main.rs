//! Experiments on the clock that are no part of the product.

use std::{fmt::Write as _, io, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use lab::{
    data_folder::{InitialDisk, TestedChange, try_everything},
    power_cuts::Counts,
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
    /// Cut the power at every moment of every change, on a copy of a data folder in memory.
    #[command(after_help = EXAMPLES)]
    PowerCuts {
        /// Data folder to copy; it is only read [default: a new clock alone]
        #[arg(long, value_name = "FOLDER")]
        data_dir: Option<PathBuf>,

        /// Random choices, per cut, of what survives of the writes that were not synced
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(0..=1000))]
        chances: u64,
    },
}

const EXAMPLES: &str = "\
Of what was not synced, nothing survives a cut, or everything, only names, only bytes, or some of it by chance.
After each cut the clock starts, and at each file operation of that start the power is cut once more.
Each start must find the state before the change or the state after it; if not, the exit code is 1.

Examples:
  cargo run -p lab -- power-cuts
  cargo run -p lab -- power-cuts --data-dir /var/lib/papertick --chances 200";

fn main() -> ExitCode {
    let Lab { experiment } = Lab::parse();
    let tried = match experiment {
        Experiment::PowerCuts { data_dir, chances } => power_cuts(data_dir, chances),
    };
    match tried {
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

/// The matrix of all power cuts.
fn power_cuts(data_dir: Option<PathBuf>, chances: u64) -> Result<String, String> {
    let mut beginnings = vec![InitialDisk::new_clock()];
    if let Some(folder) = data_dir {
        let unread = |error: io::Error| {
            let folder = folder.display();
            format!("the data folder {folder} cannot be read: {error}")
        };
        if !folder.is_dir() {
            return Err(format!("there is no data folder {}", folder.display()));
        }
        beginnings.push(InitialDisk::copy(&folder).map_err(unread)?);
    }
    let (mut text, mut total) = (String::new(), Counts::default());
    for beginning in &beginnings {
        let tried = try_everything(beginning, chances)
            .map_err(|(what, broken)| format!("{}: {what}: {broken}", beginning.what))?;
        text.push_str(&table(beginning.what, &tried));
        tried.iter().for_each(|tried| total.add(tried.counts));
    }
    let starts = total.cuts + total.again;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{starts} power cuts, {} of them while the clock started after another; each start found the state before or after the change",
        total.again
    );
    Ok(text)
}

/// The counts of a beginning, aligned.
fn table(beginning: &str, tried: &[TestedChange]) -> String {
    let mut text = format!(
        "{beginning:36} {:>10} {:>8} {:>10} {:>8} {:>8} {:>8}\n",
        "operations", "cuts", "at a start", "old", "new", "between"
    );
    for TestedChange { what, counts } in tried {
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

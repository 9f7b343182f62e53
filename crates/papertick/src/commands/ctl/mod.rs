//! `papertick ctl`: everything that can be asked of a clock, from a command line.
//!
//! `grammar` makes a command of each row of the table of operations, `words` reads its arguments, `completion` offers
//! values for them. `telling` prints the response, `summary` the beginning of the status, and `unavailable` says why a
//! clock cannot do something.

mod completion;
mod grammar;
mod summary;
mod telling;
mod unavailable;
mod words;

use std::{collections::BTreeSet, io::Write as _, ops::ControlFlow};

use api::{
    operation::{Operation, ProgramOperation},
    operations::path_of,
    shape::Shape,
};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, error::ErrorKind};
use grammar::Way;
use runtime::printable::printable;
use serde_json::{Map, Value};

use super::{
    backup::{self, ExportArgs, ImportArgs},
    client::{Ask, ClockClient, Payload, target::ClockTarget},
    setting_words, watch,
};
use crate::failure::{Code, Failure};

/// What is asked of a clock.
#[derive(Debug)]
pub struct CtlArgs {
    common: CtlOptions,
    operation: &'static Operation,
    matches: ArgMatches,
}

// A doc comment would become the purpose of the whole command.
#[derive(Debug, Args)]
struct CtlOptions {
    #[command(flatten)]
    target: ClockTarget,

    /// Print documents as they are, for programs
    #[arg(long, global = true)]
    json: bool,
}

/// Longest line of a stream that is held back until it is whole, bytes.
const LINE_MAX: usize = 256 * 1024;

const EXAMPLES: &str = "\
Examples:
  papertick ctl status
  papertick ctl --host papertick-1a2b3c.local:8080 settings fontName ledBrightness
  papertick ctl set fontName=oswald invertedColor=true actCurrencies=USD,EUR
  papertick ctl show screen block-height
  papertick ctl show custom BTC/USD mdi:rocket-launch 21
  papertick ctl lights effect rainbow
  papertick ctl panels -o panels.png
  papertick ctl --json status

`papertick ctl COMMAND --help` tells what a command takes.";

/// What `--help` says after the flags.
pub(crate) fn help() -> String {
    let codes = Code::TABLE.map(|(code, what)| format!("  {code}  {what}"));
    format!("{EXAMPLES}\n\nExit codes:\n{}", codes.join("\n"))
}

impl Args for CtlArgs {
    fn augment_args(command: Command) -> Command {
        // Built only for these commands, because making commands of the whole table takes time.
        command.defer(|command| {
            grammar::commands(CtlOptions::augment_args(command))
                .subcommand_required(true)
                .disable_help_subcommand(true)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        CtlArgs::augment_args(command)
    }
}

impl FromArgMatches for CtlArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<CtlArgs, Error> {
        let (operation, matches) =
            grammar::chosen(matches).ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        Ok(CtlArgs {
            common: CtlOptions::from_arg_matches(matches)?,
            operation,
            matches: matches.clone(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = CtlArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Asks a clock, and prints what it answers.
///
/// # Errors
/// It does not answer, or refuses.
pub fn run(args: &CtlArgs) -> Result<(), Failure> {
    let CtlArgs {
        common,
        operation,
        matches,
    } = args;
    // Mistakes in the request are found before the clock is contacted.
    let ask = match Way::of(operation) {
        Way::Plain => Some(grammar::ask(operation, matches)?),
        Way::Settings | Way::Watch | Way::Backup | Way::Restore => None,
    };
    let mut client = common.target.client()?;
    let read = |error: Error| Failure::usage(error.to_string());
    match (Way::of(operation), ask) {
        (Way::Settings, _) => settings(&mut client, matches, common.json),
        (Way::Watch, _) => watch::run_with(client, matches),
        (Way::Backup, _) => {
            let args = ExportArgs::from_arg_matches(matches).map_err(read)?;
            backup::export(&mut client, &args)
        }
        (Way::Restore, _) => {
            let args = ImportArgs::from_arg_matches(matches).map_err(read)?;
            backup::import(&mut client, &args, common.json)
        }
        (Way::Plain, Some(ask)) => plain(&mut client, operation, matches, &ask, common.json),
        (Way::Plain, None) => Err(Failure::usage("this operation cannot be asked for")),
    }
}

fn plain(
    client: &mut ClockClient,
    operation: &Operation,
    matches: &ArgMatches,
    ask: &Ask,
    json: bool,
) -> Result<(), Failure> {
    let streams = operation
        .answers
        .iter()
        .any(|(_, shape)| *shape == Shape::Events);
    if streams {
        let mut buffered = Vec::new();
        return client.follow(ask, |piece| {
            let mut output = std::io::stdout().lock();
            buffered.extend_from_slice(piece);
            let whole = buffered.iter().rposition(|byte| *byte == b'\n');
            let whole = whole.map_or(0, |end| end + 1);
            let whole = if buffered.len() > LINE_MAX {
                buffered.len()
            } else {
                whole
            };
            let lines: Vec<u8> = buffered.drain(..whole).collect();
            let lines = printable(&String::from_utf8_lossy(&lines));
            // A reader that has seen enough is no failure, but it is the end.
            match output
                .write_all(lines.as_bytes())
                .and_then(|()| output.flush())
            {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
    }
    let output = matches
        .try_get_one::<std::path::PathBuf>(grammar::OUTPUT)
        .ok()
        .flatten();
    let reply = client.ask(ask)?;
    if unavailable::is_unknown(&reply)
        && let Some(reason) = unavailable::reason(client, operation)
    {
        telling::refusal(&reply, json);
        return Err(Failure::refused(reason));
    }
    telling::tell(
        operation,
        reply,
        output.map(std::path::PathBuf::as_path),
        json,
    )
}

/// Prints the settings, or the named ones.
fn settings(client: &mut ClockClient, matches: &ArgMatches, json: bool) -> Result<(), Failure> {
    let ask = Ask::new("GET", path_of(ProgramOperation::Settings), Payload::Nothing);
    let reply = client.ask(&ask)?.accepted()?;
    let Some(Value::Object(document)) = reply.json() else {
        return Err(Failure::failed(
            "this is no clock: its settings are no document",
        ));
    };
    let wanted = matches.get_many::<String>("values").unwrap_or_default();
    let wanted: BTreeSet<&str> = wanted.map(String::as_str).collect();
    let mut told = Map::new();
    for name in &wanted {
        let set = format!("{name}Set");
        match document
            .get_key_value(*name)
            .or(document.get_key_value(&set))
        {
            Some((name, value)) => told.insert(name.clone(), value.clone()),
            None => return Err(setting_words::unread(name)),
        };
    }
    let told = if wanted.is_empty() { document } else { told };
    telling::document(&Value::Object(told), json);
    Ok(())
}

#[cfg(test)]
mod tests;

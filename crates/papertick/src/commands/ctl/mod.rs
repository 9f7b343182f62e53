//! `papertick ctl`: all operations of a clock as commands.
//!
//! `grammar` makes a command of each row of the table of operations, `arguments` parses its arguments, `completion`
//! suggests values for them, `currencies` checks currencies with the clock. `output` prints the response, `summary` the summary of the status, and `unavailable` explains
//! why a clock does not have an operation.

pub(crate) mod arguments;
pub(crate) mod completion;
mod currencies;
mod grammar;
mod output;
pub(crate) mod summary;
mod unavailable;

use std::{collections::BTreeSet, fmt::Write as _, ops::ControlFlow};

use api::{operation::Operation, operations::GROUPS, shape::Shape};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, error::ErrorKind};
use grammar::CommandKind;
use runtime::printable::printable;
use serde_json::{Map, Value};

use super::{
    backup::{self, ExportArgs, ImportArgs},
    client::{ClientRequest, ClockClient, Payload, target::ClockTarget},
    setting_args, watch,
};
use crate::{
    failure::{Code, Failure},
    standard_output,
};

/// A command of `ctl`.
#[derive(Debug)]
pub struct CtlArgs {
    common: CtlOptions,
    operation: &'static Operation,
    matches: ArgMatches,
}

// A doc comment would become the description of the command.
#[derive(Debug, Args)]
struct CtlOptions {
    #[command(flatten)]
    target: ClockTarget,

    /// Print JSON, for programs
    #[arg(long, global = true)]
    json: bool,
}

/// Longest line of a stream that is buffered until it is complete, bytes.
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

`papertick ctl COMMAND --help` describes the arguments of a command.";

/// The first words of all commands, a line for each group.
pub(crate) fn groups() -> String {
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for group in GROUPS {
        let commands = group.operations.iter().map(Operation::command);
        let words = commands.filter_map(|words| words.split(' ').next().map(String::from));
        let words: Vec<String> = words.filter(|word| seen.insert(word.clone())).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {:14}{}", group.name, words.join(", "));
    }
    text
}

/// Text of `--help` after the flags.
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
        let (operation, matches) = grammar::find_operation(matches)
            .ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
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

/// Sends the request to a clock and prints the response.
///
/// # Errors
/// The clock does not answer, or refuses the request.
pub fn run(args: &CtlArgs) -> Result<(), Failure> {
    let CtlArgs {
        common,
        operation,
        matches,
    } = args;
    // Mistakes in the request are found before the clock is contacted.
    let request = match CommandKind::of(operation) {
        CommandKind::Plain => Some(grammar::request(operation, matches)?),
        CommandKind::Settings | CommandKind::Watch | CommandKind::Backup | CommandKind::Restore => {
            None
        }
    };
    let mut client = common.target.client()?;
    let read = |error: Error| Failure::usage(error.to_string());
    match (CommandKind::of(operation), request) {
        (CommandKind::Settings, _) => settings(&mut client, matches, common.json),
        (CommandKind::Watch, _) => watch::run_with(client, matches),
        (CommandKind::Backup, _) => {
            let args = ExportArgs::from_arg_matches(matches).map_err(read)?;
            backup::export(&mut client, &args)
        }
        (CommandKind::Restore, _) => {
            let args = ImportArgs::from_arg_matches(matches).map_err(read)?;
            backup::import(&mut client, &args, common.json)
        }
        (CommandKind::Plain, Some(request)) => {
            plain(&mut client, operation, matches, &request, common.json)
        }
        (CommandKind::Plain, None) => Err(Failure::usage("this operation has no HTTP endpoint")),
    }
}

fn plain(
    client: &mut ClockClient,
    operation: &Operation,
    matches: &ArgMatches,
    request: &ClientRequest,
    json: bool,
) -> Result<(), Failure> {
    let streams = operation
        .answers
        .iter()
        .any(|(_, shape)| *shape == Shape::Events);
    if streams {
        let mut buffered = Vec::new();
        let mut written = Ok(());
        client.stream(request, |chunk| {
            buffered.extend_from_slice(chunk);
            let complete = buffered.iter().rposition(|byte| *byte == b'\n');
            let complete = complete.map_or(0, |end| end + 1);
            let complete = if buffered.len() > LINE_MAX { buffered.len() } else { complete };
            let lines: Vec<u8> = buffered.drain(..complete).collect();
            let lines = printable(&String::from_utf8_lossy(&lines));
            written = standard_output::try_write(lines.as_bytes());
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        return standard_output::check(written);
    }
    let file = matches
        .try_get_one::<std::path::PathBuf>(grammar::OUTPUT)
        .ok()
        .flatten();
    if let Some(shape) = grammar::body(operation) {
        currencies::check(client, shape, request)?;
    }
    let response = client.send(request)?;
    if unavailable::is_not_found(&response)
        && let Some(reason) = unavailable::reason(client, operation, &response)
    {
        output::print_refusal(&response, json)?;
        return Err(Failure::refused(reason));
    }
    output::print_response(
        operation,
        response,
        file.map(std::path::PathBuf::as_path),
        json,
    )
}

/// Prints the settings, or the named ones.
fn settings(client: &mut ClockClient, matches: &ArgMatches, json: bool) -> Result<(), Failure> {
    let request = ClientRequest::new("GET", "/api/settings", Payload::Nothing);
    let response = client.send(&request)?.accepted()?;
    let Some(Value::Object(document)) = response.json() else {
        return Err(Failure::failed(
            "this is no papertick clock: its settings are not a JSON object",
        ));
    };
    let names = matches.get_many::<String>("values").unwrap_or_default();
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let mut selected = Map::new();
    for name in &names {
        let set = format!("{name}Set");
        match document
            .get_key_value(*name)
            .or(document.get_key_value(&set))
        {
            Some((name, value)) => selected.insert(name.clone(), value.clone()),
            None => return Err(setting_args::unread(name)),
        };
    }
    let shown = if names.is_empty() { document } else { selected };
    output::print_document(&Value::Object(shown), json)
}

#[cfg(test)]
mod tests;

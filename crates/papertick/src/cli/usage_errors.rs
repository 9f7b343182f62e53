//! Mistakes on the command line as one-line messages.

use api::operations;
use board::parts::epaper::REFUSED_MODELS;
use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Cli, Command};
use crate::{
    commands::{ctl, suggestion},
    failure::Failure,
};

/// Turns an error of clap, which has several lines, into one line. Requested help is no failure.
pub(super) fn explain(error: &clap::Error) -> Result<Command, Failure> {
    let kind = error.kind();
    if matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(Command::Print(error.to_string()));
    }
    if matches!(
        kind,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        if let Some((before, words)) = incomplete(error) {
            let words = match before.as_str() {
                "papertick ctl" => ctl::groups(),
                _ => format!(" {words}"),
            };
            return Err(Failure::usage(format!(
                "`{before}` needs a COMMAND:{words}"
            )));
        }
        return Err(Failure::usage(
            "no command given: try `papertick demo`, `papertick run` or `papertick --help`",
        ));
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first);
    let what = what.strip_suffix(':').unwrap_or(what);
    let advice = advice(error).unwrap_or_else(|| "try --help".to_string());
    Err(Failure::usage(format!("{what}: {advice}")))
}

/// The words of an incomplete command, and the words that can follow. `None` for an empty command line.
fn incomplete(error: &clap::Error) -> Option<(String, String)> {
    let ContextValue::String(before) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let ContextValue::Strings(words) = error.get(ContextKind::ValidSubcommand)? else {
        return None;
    };
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    (before != "papertick").then(|| (before.clone(), words.join(", ")))
}

/// A hint with the command that was probably meant, if clap has no suggestion.
fn near_command(error: &clap::Error) -> Option<String> {
    let ContextValue::String(typed) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    if operations::all().any(|operation| operation.command() == *typed) {
        return Some(format!("did you mean `papertick ctl {typed}`?"));
    }
    let command = Cli::command();
    let commands = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let word = suggestion::nearest(typed, commands.map(clap::Command::get_name))?;
    // A command of the program after `ctl`.
    let before = if word == typed { "papertick " } else { "" };
    Some(format!("did you mean `{before}{word}`?"))
}

/// A hint: the most similar word, or all possible words.
fn advice(error: &clap::Error) -> Option<String> {
    let words = |kind: ContextKind| {
        let value = error.get(kind)?;
        if let ContextValue::String(word) = value {
            return Some(format!("`{word}`"));
        }
        let ContextValue::Strings(words) = value else {
            return None;
        };
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        (!quoted.is_empty()).then(|| quoted.join(", "))
    };
    // The waveforms of another model can damage a panel, so none is suggested.
    if let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && flag.starts_with("--display")
        && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidValue)
    {
        let mut refused = REFUSED_MODELS.iter();
        return Some(match refused.find(|(known, _)| known == name) {
            Some((_, why)) => (*why).into(),
            None => format!(
                "there are {}; take only the name of your own panel, because the waveforms of another can damage it",
                words(ContextKind::ValidValue)?
            ),
        });
    }
    // clap sorts suggestions by similarity, the best one last.
    let nearest = |kind: ContextKind| {
        let value = error.get(kind)?;
        if let ContextValue::Strings(words) = value {
            return words.last().cloned();
        }
        let ContextValue::String(word) = value else {
            return None;
        };
        Some(word.clone())
    };
    [
        ContextKind::SuggestedValue,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
    ]
    .into_iter()
    .find_map(|kind| Some(format!("did you mean `{}`?", nearest(kind)?)))
    .or_else(|| Some(format!("there are {}", words(ContextKind::ValidValue)?)))
    .or_else(|| near_command(error))
    .or_else(|| {
        let missing = error.kind() == ErrorKind::MissingRequiredArgument;
        let missing = missing.then(|| words(ContextKind::InvalidArg)).flatten()?;
        Some(format!("add {missing}, or try --help"))
    })
}

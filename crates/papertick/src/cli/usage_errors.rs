//! Mistakes on the command line, each as one line that says what to do.

use api::operations;
use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Cli, Command};
use crate::{commands::suggestion, failure::Failure};

/// Turns what clap says in several lines into one; help that was asked for is no failure.
pub(super) fn explain(error: &clap::Error) -> Result<Command, Failure> {
    let kind = error.kind();
    if matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(Command::Print(error.to_string()));
    }
    if matches!(
        kind,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        if let Some((before, words)) = unfinished(error) {
            return Err(Failure::usage(format!(
                "say COMMAND after `{before}`: there are {words}"
            )));
        }
        return Err(Failure::usage(
            "say what to do: try `papertick demo`, `papertick run` or `papertick --help`",
        ));
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first);
    let what = what.strip_suffix(':').unwrap_or(what);
    let advice = advice(error).unwrap_or_else(|| "try --help".to_string());
    Err(Failure::usage(format!("{what}: {advice}")))
}

/// What was said of a command that wants more, and what can follow; none where nothing was said at all.
fn unfinished(error: &clap::Error) -> Option<(String, String)> {
    let ContextValue::String(before) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let ContextValue::Strings(words) = error.get(ContextKind::ValidSubcommand)? else {
        return None;
    };
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    (before != "papertick").then(|| (before.clone(), words.join(", ")))
}

/// The command that was probably meant, where clap knows none that is near enough.
fn near_command(error: &clap::Error) -> Option<String> {
    let ContextValue::String(said) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    if operations::all().any(|operation| operation.command() == *said) {
        return Some(format!("did you mean `papertick ctl {said}`?"));
    }
    let command = Cli::command();
    let commands = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let word = suggestion::nearest(said, commands.map(clap::Command::get_name))?;
    Some(format!("did you mean `{word}`?"))
}

/// What to do about it: the nearest words that exist, or all of them.
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
    // The last of several is the nearest.
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
        Some(format!("say {missing}, or try --help"))
    })
}

//! What a clock answered, as people read it, or as it is.

use std::{
    fmt::Write as _,
    fs,
    io::{self, IsTerminal, Write as _},
    path::Path,
};

use api::{documents::diagnostics::Log, operation::Operation, shape::Shape, status::Status};
use runtime::{
    printable::{one_line, print},
    standard_error::print_error,
};
use serde_json::Value;

use super::{grammar, summary, words::plain};
use crate::{
    commands::{client::ClientResponse, files::cannot_write},
    failure::Failure,
};

/// Prints an answer, or writes it to a file.
///
/// # Errors
/// It is a refusal, or cannot be written.
pub(super) fn tell(
    operation: &Operation,
    reply: ClientResponse,
    output: Option<&Path>,
    json: bool,
) -> Result<(), Failure> {
    if !reply.status.is_success() {
        refusal(&reply, json);
        return reply.accepted().map(drop);
    }
    if let Some(reason) = &reply.reason {
        print_error(reason);
    }
    if let Some(path) = output {
        return fs::write(path, &reply.body).map_err(|error| cannot_write(path, &error));
    }
    if grammar::is_file(operation) {
        if io::stdout().is_terminal() {
            return Err(Failure::usage(
                "this is a file, not words: say where it goes with -o FILE",
            ));
        }
        // A reader that has closed the output is no failure.
        let _ = io::stdout().write_all(&reply.body);
        return Ok(());
    }
    let shape = operation.answers.iter().find(|(status, _)| *status == 200);
    let shape = shape.map_or(Shape::Empty, |(_, shape)| *shape);
    match reply.json() {
        Some(told) if json => document(&told, json),
        Some(told) => print(&people(shape, &told)),
        None => print(&String::from_utf8_lossy(&reply.body)),
    }
    Ok(())
}

/// Prints the document of a refusal, for programs.
pub(super) fn refusal(reply: &ClientResponse, json: bool) {
    if let Some(told) = reply.json().filter(|_| json) {
        document(&told, json);
    }
}

/// Prints a document.
pub(super) fn document(told: &Value, json: bool) {
    let text = match json {
        true => format!("{told:#}\n"),
        false => lines(told),
    };
    print(&text);
}

/// An answer for people.
fn people(shape: Shape, told: &Value) -> String {
    if shape == Shape::Changed {
        let waits = told["rebootRequired"] == true;
        return match waits {
            true => "some of it counts from the next start: papertick ctl restart\n".into(),
            false => String::new(),
        };
    }
    if shape.is::<Log>() {
        let listed = told["lines"].as_array().into_iter().flatten();
        let line = |line: &Value| {
            let member = |name: &str| one_line(line[name].as_str().unwrap_or_default());
            let level = member("level").to_ascii_uppercase();
            format!("{} {level:>5} {}\n", member("time"), member("text"))
        };
        return listed.map(line).collect();
    }
    if shape.is::<Status>() {
        return format!("{}\n{}", summary::lines(told), lines(told));
    }
    lines(told)
}

/// A document as lines: where a value stands in it, and the value.
fn lines(told: &Value) -> String {
    let mut rows = Vec::new();
    gather(String::new(), told, &mut rows);
    let widths = rows.iter().map(|(name, _)| name.chars().count());
    let width = widths.max().unwrap_or_default();
    let mut text = String::new();
    for (name, value) in rows {
        // A string takes everything.
        let _ = match name.is_empty() {
            true => writeln!(text, "{value}"),
            false => writeln!(text, "{name:width$}  {value}"),
        };
    }
    text
}

/// Takes a document apart; what is a list of plain values stays on one line.
fn gather(name: String, value: &Value, rows: &mut Vec<(String, String)>) {
    let below = |part: &str| match name.is_empty() {
        true => part.to_string(),
        false => format!("{name}.{part}"),
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (part, value) in members {
                gather(below(part), value, rows);
            }
        }
        Value::Array(entries)
            if entries
                .iter()
                .any(|entry| entry.is_object() || entry.is_array()) =>
        {
            for (at, value) in entries.iter().enumerate() {
                gather(below(&at.to_string()), value, rows);
            }
        }
        Value::Array(entries) => {
            let words: Vec<String> = entries.iter().map(plain).collect();
            rows.push((one_line(&name), one_line(&words.join(", "))));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            rows.push((one_line(&name), one_line(&plain(value))));
        }
    }
}

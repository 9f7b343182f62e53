//! Prints responses: JSON documents as lines for people, or as they are.

use std::{
    fmt::Write as _,
    fs,
    io::{self, IsTerminal},
    path::Path,
};

use api::{documents::diagnostics::Log, operation::Operation, shape::Shape, status::Status};
use runtime::{printable::one_line, standard_error::print_error};
use serde_json::Value;

use super::{arguments::plain, grammar, summary};
use crate::{
    commands::{client::ClientResponse, files::cannot_write},
    failure::Failure,
    standard_output::{self, print},
};

/// Prints a response, or writes it to a file.
///
/// # Errors
/// The request was refused, or the file cannot be written.
pub(super) fn print_response(
    operation: &Operation,
    response: ClientResponse,
    file: Option<&Path>,
    json: bool,
) -> Result<(), Failure> {
    if !response.status.is_success() {
        print_refusal(&response, json)?;
        return response.accepted().map(drop);
    }
    if let Some(reason) = &response.reason {
        print_error(reason);
    }
    if let Some(path) = file {
        return fs::write(path, &response.body).map_err(|error| cannot_write(path, &error));
    }
    if grammar::is_file(operation) {
        if io::stdout().is_terminal() {
            return Err(Failure::usage(
                "the response is not a text: write it to a file with -o FILE",
            ));
        }
        return standard_output::write(&response.body);
    }
    let shape = operation.answers.iter().find(|(status, _)| *status == 200);
    let shape = shape.map_or(Shape::Empty, |(_, shape)| *shape);
    match response.json() {
        Some(document) if json => print_document(&document, json),
        Some(document) => print(&text(shape, &document)),
        None if json && response.body.is_empty() => print("{}\n"),
        None => {
            let text = String::from_utf8_lossy(&response.body);
            if json { print_document(&Value::from(text), json) } else { print(&text) }
        }
    }
}

/// Prints the JSON document of a refused request, for programs.
///
/// # Errors
/// It cannot be written.
pub(super) fn print_refusal(response: &ClientResponse, json: bool) -> Result<(), Failure> {
    match response.json().filter(|_| json) {
        Some(document) => print_document(&document, json),
        None => Ok(()),
    }
}

/// Prints a document.
///
/// # Errors
/// It cannot be written.
pub(super) fn print_document(document: &Value, json: bool) -> Result<(), Failure> {
    let text = if json { format!("{document:#}\n") } else { lines(document) };
    print(&text)
}

/// The text of a document for people.
fn text(shape: Shape, document: &Value) -> String {
    if shape == Shape::Changed {
        let needs_restart = document["rebootRequired"] == true;
        return if needs_restart {
            "some changes take effect after a restart: papertick ctl restart\n".into()
        } else {
            String::new()
        };
    }
    if shape.is::<Log>() {
        let listed = document["lines"].as_array().into_iter().flatten();
        let line = |line: &Value| {
            let member = |name: &str| one_line(line[name].as_str().unwrap_or_default());
            let level = member("level").to_ascii_uppercase();
            format!("{} {level:>5} {}\n", member("time"), member("text"))
        };
        return listed.map(line).collect();
    }
    if shape.is::<Status>() {
        return format!("{}\n{}", summary::lines(document), lines(document));
    }
    lines(document)
}

/// A document as lines, each with the path and the value of a member.
fn lines(document: &Value) -> String {
    let mut rows = Vec::new();
    gather(String::new(), document, &mut rows);
    let widths = rows.iter().map(|(name, _)| name.chars().count());
    let width = widths.max().unwrap_or_default();
    let mut text = String::new();
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = if name.is_empty() {
            writeln!(text, "{value}")
        } else {
            writeln!(text, "{name:width$}  {value}")
        };
    }
    text
}

/// Collects the rows of a document. A list of simple values is one row.
fn gather(name: String, value: &Value, rows: &mut Vec<(String, String)>) {
    let below = |part: &str| {
        if name.is_empty() { part.to_string() } else { format!("{name}.{part}") }
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

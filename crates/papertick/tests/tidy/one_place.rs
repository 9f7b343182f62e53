//! What is said to stand in one place stands in one place: a table's row is worth what its file alone can change.

use std::{fs, path::Path};

use device::settings::{SPECS, pools};

use crate::{root, sources};

/// Settings with which the page does something of its own, besides showing them.
const THE_PAGE_ACTS_ON: &[&str] = &[
    "actCurrencies",
    "disableLeds",
    "dndTimeEnabled",
    "flMaxBrightness",
    "flOffOnDnd",
    "httpAuthEnabled",
    "httpAuthPass",
    "miningPoolName",
    "proxyEnabled",
    "proxyHost",
    "timerSeconds",
    "txPower",
    "tzString",
];

/// Settings whose name is also that of a member of another document, or of an operation.
const WORDS_OF_OTHERS: &[&str] = &["dndTimeEnabled", "txPower"];

/// Sources of the program without tests and comments: path below the root, text.
fn program() -> Vec<(String, String)> {
    let root = root();
    let below = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    sources()
        .into_iter()
        .map(|(path, text)| (below(&path), text))
        .filter(|(path, _)| path.split('/').nth(2) == Some("src"))
        .map(|(path, text)| (path, code(text.split("#[cfg(test)]").next().unwrap())))
        .collect()
}

/// Sources of the page without comments and what is generated.
fn page() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("webui/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !name.ends_with(".gen.json") {
                found.push((name, code(&fs::read_to_string(path).unwrap())));
            }
        }
    }
    found
}

/// Lines without what follows two slashes, but those of an address.
fn code(text: &str) -> String {
    let without = |line: &str| {
        let comment = line
            .match_indices("//")
            .find(|(at, _)| !line[..*at].ends_with(':'));
        line[..comment.map_or(line.len(), |(at, _)| at)].to_string()
    };
    text.lines().map(without).collect::<Vec<_>>().join("\n")
}

/// Files with a word of its own.
fn files_with<'a>(files: &'a [(String, String)], word: &str) -> Vec<&'a str> {
    let has = |text: &str| {
        text.match_indices(word).any(|(at, _)| {
            let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            !text[..at].chars().next_back().is_some_and(part)
                && !text[at + word.len()..].chars().next().is_some_and(part)
        })
    };
    let having = files.iter().filter(|(_, text)| has(text));
    having.map(|(path, _)| path.as_str()).collect()
}

/// Files with a text in quotes.
fn files_quoting<'a>(files: &'a [(String, String)], text: &str) -> Vec<&'a str> {
    let quoted = format!("\"{text}\"");
    let having = files.iter().filter(|(_, code)| code.contains(&quoted));
    having.map(|(path, _)| path.as_str()).collect()
}

#[test]
fn a_setting_is_named_in_one_file() {
    let (program, page) = (program(), page());
    let names = SPECS
        .iter()
        .flat_map(|spec| [Some(spec.name), spec.alias])
        .flatten();
    for name in names {
        let named = files_quoting(&program, name);
        if !WORDS_OF_OTHERS.contains(&name) {
            assert_eq!(named, ["crates/device/src/settings/table.rs"], "{name}");
        }
        let named = files_with(&page, name);
        let acts = THE_PAGE_ACTS_ON.contains(&name);
        assert_eq!(acts, !named.is_empty(), "{name}: {named:?}");
    }
}

#[test]
fn a_pool_is_named_where_it_is_listed_and_where_it_is_read() {
    let program = program();
    for id in pools::ids() {
        let named = files_quoting(&program, id);
        let expected = [
            "crates/device/src/settings/pools.rs",
            "crates/feeds/src/pools/mod.rs",
        ];
        assert_eq!(named, expected, "{id}");
    }
}

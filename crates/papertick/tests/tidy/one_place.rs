//! What is said to stand in one place stands in one place: a table's row is worth what its file alone can change.

use std::{fs, path::Path};

use device::{
    screens::SCREENS,
    settings::{SPECS, pools},
};
use interface::operations;

use crate::{root, sources};

/// Settings with which the page does something of its own, besides showing them.
const THE_PAGE_ACTS_ON: &[&str] = &[
    "actCurrencies",
    "ceEndpoint",
    "dataSource",
    "digitFontPx",
    "disableLeds",
    "dndEnabled",
    "dndEndHour",
    "dndEndMin",
    "dndStartHour",
    "dndStartMin",
    "dndTimeEnabled",
    "explorerInstance",
    "flMaxBrightness",
    "flOffOnDnd",
    "fontName",
    "gitReleaseUrl",
    "hostnamePrefix",
    "httpAuthEnabled",
    "httpAuthPass",
    "httpAuthUser",
    "invertedColor",
    "keptTexts",
    "labelFitPct",
    "miningPoolName",
    "mqttShareMarket",
    "otaEnabled",
    "otaPass",
    "priceSymMode",
    "proxyEnabled",
    "proxyHost",
    "proxyType",
    "satsVariant",
    "screenOrder",
    "screensHidden",
    "timePerScreen",
    "timerActive",
    "timerSeconds",
    "txPower",
    "tzString",
    "welcomed",
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
        .filter(|(path, _)| path.split('/').nth(2) == Some("src") && !path.ends_with("/tests.rs"))
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

/// Lines without what follows two slashes, but those of an address, and without those of comments for tools.
fn code(text: &str) -> String {
    let without = |line: &str| {
        let comment = line
            .match_indices("//")
            .find(|(at, _)| !line[..*at].ends_with(':'));
        line[..comment.map_or(line.len(), |(at, _)| at)].to_string()
    };
    let is_comment = |line: &&str| line.trim_start().starts_with("/*");
    let lines = text.lines().filter(|line| !is_comment(line));
    lines.map(without).collect::<Vec<_>>().join("\n")
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

/// Tells whether a path stands in a text; one with an open part counts up to that.
fn has_path(text: &str, path: &str) -> bool {
    let known = path.split('{').next().unwrap();
    let is_open = known.len() < path.len();
    text.match_indices(known).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + known.len()..].chars().next();
        let goes_on = |letter: char| letter.is_ascii_alphanumeric() || "_-/.".contains(letter);
        // Within a sentence it is a word for people.
        let is_prose = before == Some(' ');
        !is_prose && !before.is_some_and(goes_on) && (is_open || !after.is_some_and(goes_on))
    })
}

#[test]
fn the_path_of_an_operation_stands_in_one_file() {
    let (program, page) = (program(), page());
    let forms = operations::all().flat_map(|operation| operation.forms);
    // Every path begins with that of the page.
    for path in forms.map(|form| form.path).filter(|path| *path != "/") {
        let files = |all: &[(String, String)]| -> Vec<String> {
            let having = all.iter().filter(|(_, text)| has_path(text, path));
            having.map(|(name, _)| name.clone()).collect()
        };
        let named = files(&program);
        let in_table = |name: &String| name.starts_with("crates/interface/src/operations/");
        assert!(
            named.len() == 1 && named.iter().all(in_table),
            "{path}: {named:?}"
        );
        let named = files(&page);
        assert!(named.len() <= 1, "{path}: {named:?}");
    }
}

/// What a screen's id could stand as in the sources: whoever needs a screen asks the catalogue, or names a constant.
#[test]
fn the_id_of_a_screen_stands_in_one_file() {
    let (program, page) = (program(), page());
    let catalogue = "crates/device/src/screens/catalog.rs";
    for screen in SCREENS {
        let id = screen.id;
        let forms = [
            format!("screen({id},"),
            format!("screen:{id}"),
            format!("screen=={id}"),
            format!("screen==={id}"),
            format!("screen.id=={id}"),
            format!("screen.id==={id}"),
            format!("currentScreen==={id}"),
            format!("current_screen=={id}"),
            format!("catalog::find({id})"),
            format!("{{s:{id}}}"),
        ];
        let files = |all: &[(String, String)]| -> Vec<String> {
            let is_digit = |letter: char| letter.is_ascii_digit();
            let has = |text: &str| {
                let text: String = text.split_whitespace().collect();
                forms.iter().any(|form| {
                    text.match_indices(form.as_str()).any(|(at, _)| {
                        !text[at + form.len()..].chars().next().is_some_and(is_digit)
                    })
                })
            };
            let having = all.iter().filter(|(_, text)| has(text));
            having.map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(files(&program), [catalogue], "{id}");
        assert_eq!(files(&page), [""; 0], "{id}");
    }
}

#[test]
fn a_pool_is_named_where_it_is_listed_and_where_it_is_read() {
    let (program, page) = (program(), page());
    for id in pools::ids() {
        let named = files_quoting(&program, id);
        let expected = [
            "crates/device/src/settings/pools.rs",
            "crates/feeds/src/pools/mod.rs",
        ];
        assert_eq!(named, expected, "{id}");
        assert_eq!(files_quoting(&page, id), [""; 0], "{id}");
    }
}

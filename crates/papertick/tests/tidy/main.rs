//! Rules of ARCHITECTURE.md for the whole workspace that the compiler does not check.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Banned words with their replacements; written so that this file has none of them.
const BANNED: &[(&str, &str)] = &[
    (concat!("TO", "DO"), "do it, or document it"),
    (concat!("FIX", "ME"), "do it, or document it"),
    (concat!("dyn ", "Fn"), "outputs are data, not callbacks"),
    (concat!("BT", "Clock"), "other people's name"),
    (concat!("BLOCK", "CLOCK"), "other people's name"),
    (
        concat!("static ", "mut"),
        "one writer of state, and it is reached by messages",
    ),
    (concat!("#[", "ignore"), "every test must run"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&root().join("crates"), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn no_file_has_a_banned_word() {
    for (path, text) in sources() {
        for (word, instead) in BANNED {
            assert!(
                !text.contains(word),
                "{} has `{word}`: {instead}",
                path.display()
            );
        }
    }
}

fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn every_dependency_is_used() {
    let sources = sources();
    let mut named = BTreeSet::new();
    let mut unused = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let folder = root().join("crates").join(name);
        let within = |places: &'static [&'static str]| {
            sources.iter().filter(|(path, _)| {
                places
                    .iter()
                    .any(|place| path.starts_with(folder.join(place)))
            })
        };
        // Tests are at the end of a file.
        let code = |text: &str| {
            text.split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap()
                .to_string()
        };
        let program: String = within(&["src"]).map(|(_, text)| code(text)).collect();
        let all: String = within(&["src", "tests", "benches"])
            .flat_map(|(path, text)| [text.clone(), included(path, text)])
            .collect();
        for dependency in package["dependencies"].as_array().unwrap() {
            let renamed = dependency["rename"].as_str();
            let dependency_name = renamed.or(dependency["name"].as_str()).unwrap();
            named.insert(dependency_name.to_string());
            let (users, place) = match dependency["kind"].as_str() {
                None => (&program, "program"),
                Some(_) => (&all, "tests"),
            };
            if !uses(users, &dependency_name.replace('-', "_")) {
                unused.push(format!("{dependency_name} by the {place} of {name}"));
            }
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, listed) = manifest.split_once("[workspace.dependencies]").unwrap();
    let (listed, _) = listed.split_once("\n[").unwrap();
    let listed = listed.lines().filter_map(|line| line.split_once(" = "));
    let without_user = listed
        .map(|(dependency_name, _)| dependency_name)
        .filter(|dependency_name| !named.contains(*dependency_name));
    unused.extend(without_user.map(|dependency_name| format!("{dependency_name} by any crate")));
    assert_eq!(unused, [""; 0], "not used");
}

/// The files of other crates that a file includes as modules.
fn included(path: &Path, text: &str) -> String {
    let paths = text.split("#[path = \"").skip(1);
    let paths = paths.filter_map(|rest| rest.split('"').next());
    let read = |included: &str| fs::read_to_string(path.parent().unwrap().join(included)).unwrap();
    paths.map(read).collect()
}

/// Whether a path in the text starts with a crate.
fn uses(text: &str, name: &str) -> bool {
    let paths = [
        format!("{name}::"),
        format!("use {name};"),
        format!("{name} as "),
    ];
    paths.iter().any(|path| {
        text.match_indices(path.as_str()).any(|(at, _)| {
            let before = text[..at].chars().next_back().unwrap_or(' ');
            !(before.is_alphanumeric() || before == '_' || before == ':')
        })
    })
}

#[test]
fn fonts_keep_their_licences_beside_them() {
    let fonts = root().join("crates/render/fonts");
    for family in fs::read_dir(fonts).unwrap() {
        let family = family.unwrap().path();
        if !family.is_dir() {
            continue;
        }
        let has_licence = fs::read_dir(&family).unwrap().any(|file| {
            file.unwrap()
                .file_name()
                .to_string_lossy()
                .to_uppercase()
                .contains("LICEN")
        });
        assert!(has_licence, "{} has no licence file", family.display());
    }
}

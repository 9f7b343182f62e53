//! The documents: each link has a target, and each command exists.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::clock::{Clock, folder, output};
use crate::examples::{commands, request, words};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Folders with documents that are generated or not ours.
const NOT_OURS: [&str; 4] = ["target", "node_modules", ".git", "book"];

/// Programs of the system that documents may use; they are not checked.
const OF_THE_SYSTEM: &[&str] = &[
    "cat",
    "cp",
    "dd",
    "do",
    "done",
    "echo",
    "for",
    "git",
    "head",
    "minisign",
    "mkdir",
    "mosquitto_passwd",
    "mosquitto_pub",
    "mosquitto_sub",
    "node",
    "openssl",
    "pip",
    "podman",
    "python3",
    "rustup",
    "skopeo",
    "strip",
    "sudo",
    "tail",
    "xargs",
    "apt",
    "export",
];

fn documents() -> Vec<PathBuf> {
    fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !NOT_OURS.contains(&name.as_str()) {
                gather(&path, found);
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    gather(Path::new(ROOT), &mut found);
    found.sort();
    assert!(found.len() > 12, "{} documents", found.len());
    found
}

fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The text outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    })
}

fn anchors(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap();
    prose(&text)
        .filter(|line| line.starts_with('#'))
        .map(anchor)
        .collect()
}

#[test]
fn each_link_has_a_target() {
    let mut links = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let targets = prose(&text).flat_map(|line| {
            line.split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
        });
        for target in targets.filter(|target| !target.contains("://")) {
            links += 1;
            let (file, part) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            assert!(path.exists(), "{}: {target}", document.display());
            assert!(
                part.is_empty() || anchors(&path).contains(part),
                "{}: {target}",
                document.display()
            );
        }
    }
    assert!(links > 50, "{links} links");
}

/// The mistake in a command of Cargo. It is not run, because that takes minutes.
fn cargo_mistake(words: &[&str]) -> Option<String> {
    let after = |flag| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    let package = after("-p").map(|name| Path::new(ROOT).join("crates").join(name));
    if let Some(package) = &package
        && !package.join("Cargo.toml").exists()
    {
        return Some("there is no such package".into());
    }
    for (flag, place) in [
        ("--bench", "benches"),
        ("--test", "tests"),
        ("--example", "examples"),
    ] {
        let (Some(name), Some(package)) = (after(flag), &package) else {
            continue;
        };
        let place = package.join(place);
        let there = [format!("{name}.rs"), format!("{name}/main.rs")];
        if !there.iter().any(|file| place.join(file).exists()) {
            return Some(format!("there is no {name} in {}", place.display()));
        }
    }
    match words.first() {
        Some(&("bench" | "build" | "install" | "mutants" | "run" | "test")) => None,
        _ => Some("what does it do?".into()),
    }
}

fn command_mistake(words: &[&str]) -> Option<String> {
    let words: Vec<&str> = words
        .iter()
        .copied()
        .take_while(|word| !matches!(*word, ">" | "|" | "&&" | "&"))
        .chain(["--help"])
        .collect();
    let output = output(&words);
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn each_command_exists() {
    let (mut own_commands, mut requests) = (0, 0);
    let folder = folder();
    let mut clock = Clock::start(folder.path());
    for document in documents() {
        // Its requests are tested with the control interface.
        if document.ends_with("docs/http-api.md") {
            continue;
        }
        let text = fs::read_to_string(&document).unwrap();
        for (line, command) in commands(&text) {
            let place = format!("{} line {line}: {command}", document.display());
            // The value of a variable can be a command.
            let inner = command
                .split_once("=$(")
                .filter(|(name, _)| !name.contains(' '));
            let words = words(inner.map_or(command.as_str(), |(_, inner)| inner));
            // Environment variables come first.
            let words: Vec<&str> = words
                .iter()
                .map(String::as_str)
                .skip_while(|word| word.contains('=') && !word.starts_with(['-', '/']))
                .collect();
            let wrong = match words.as_slice() {
                [] => None,
                ["papertick", rest @ ..] | ["cargo", "run", "--release", "--", rest @ ..] => {
                    own_commands += 1;
                    command_mistake(rest)
                }
                ["cargo", rest @ ..] => cargo_mistake(rest),
                ["curl", ..] if command.contains("$clock") => None,
                ["curl", ..] => {
                    requests += 1;
                    request_mistake(&mut clock, &command)
                }
                ["python3", file, ..] | [file, ..] if file.contains('/') => {
                    let there = Path::new(ROOT).join(file).exists();
                    (!there).then(|| format!("there is no {file}"))
                }
                [program, ..] => {
                    (!OF_THE_SYSTEM.contains(program)).then(|| format!("what is {program}?"))
                }
            };
            assert_eq!(wrong, None, "{place}");
        }
    }
    assert!(own_commands > 15, "{own_commands} commands of ours");
    assert!(requests > 8, "{requests} requests");
}

/// Sends a request of a document to a clock; returns its mistake, if it has one.
fn request_mistake(clock: &mut Clock, command: &str) -> Option<String> {
    let request = request(command);
    let (_, place) = request.url.split_once("://").unwrap();
    let path = &place[place.find('/').unwrap()..];
    if request.follows {
        return None;
    }
    let before = clock.device();
    let answer = clock
        .send(request.method.as_deref().unwrap(), path, &request.body)
        .unwrap();
    if path == "/api/restart" {
        crate::clock::eventually("another device", || clock.device() != before);
    }
    // There is no crash dump, and the released program does not trace allocations.
    let expected = match path {
        "/api/coredump" | "/api/diag/heap_trace/start" | "/api/diag/heap_trace/stop" => [404, 501],
        _ => [200, 200],
    };
    (!expected.contains(&answer.status)).then(|| format!("{}: {}", answer.status, answer.body))
}

/// The service manager starts the clock at the next request while its socket is active.
#[test]
fn the_help_of_passwd_stops_the_socket_too() {
    let service = fs::read_to_string(Path::new(ROOT).join("packaging/systemd/papertick.service"));
    assert!(service.unwrap().contains("Requires=papertick.socket"));
    let help = String::from_utf8(output(&["passwd", "--help"]).stdout).unwrap();
    let documents = [
        String::from("docs/troubleshooting.md"),
        String::from("docs/command-line.md"),
    ]
    .map(|document| fs::read_to_string(Path::new(ROOT).join(document)).unwrap());
    let stops = |text: &str| text.contains("systemctl stop papertick.socket papertick");
    assert!(stops(&help), "{help}");
    assert!(stops(&documents[0]));
    for line in documents
        .iter()
        .flat_map(|text| text.lines())
        .chain(help.lines())
    {
        assert!(
            !line.contains("systemctl stop papertick") || stops(line),
            "{line}"
        );
    }
}

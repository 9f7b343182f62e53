//! Folders of update images.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use feeds::release;
use serde_json::Value;

use crate::command_rig::CommandRig;

const TARGET: &str = "aarch64-unknown-linux-gnu";

fn name(board: &str) -> String {
    release::firmware_asset(board, "122x250", TARGET)
}

/// The names in a folder.
fn names(rig: &CommandRig, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(rig.path(folder)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn built_page(rig: &CommandRig) {
    fs::create_dir(rig.path("web")).unwrap();
    let manifest = r#"{"commit":"4.2.0-abc","buildTime":1764547201,"minFirmware":"4.0.0"}"#;
    for (name, text) in [
        ("manifest.json", manifest),
        ("index.html", "<!doctype html>"),
    ] {
        fs::write(rig.path("web").join(name), text).unwrap();
    }
}

#[test]
fn a_program_and_a_page_become_a_release() {
    let rig = CommandRig::new().with_image();
    built_page(&rig);
    fs::write(rig.path("new.md"), "* Faster\n").unwrap();
    fs::create_dir(rig.path("out")).unwrap();
    fs::set_permissions(rig.path("out"), fs::Permissions::from_mode(0o775)).unwrap();
    let page = "https://example.org/4.2.0";
    let created = rig.json(&format!(
        "release --json --key k p --web web --notes new.md --notes-url {page} -o out"
    ));
    assert_eq!(created["version"], "4.2.0");
    let images = [
        name("rev-a"),
        name("rev-b"),
        name("v8"),
        "papertick-page.img".into(),
    ];
    let mut expected: Vec<String> = images
        .iter()
        .flat_map(|name| [name.clone(), format!("{name}.sha256")])
        .chain(["release.json".to_string()])
        .collect();
    expected.sort();
    assert_eq!(names(&rig, "out"), expected);
    let mode = fs::metadata(rig.path("out")).unwrap().permissions().mode();
    assert_eq!(
        mode & 0o777,
        0o775,
        "the mode of an existing folder is unchanged"
    );

    let text = rig.bytes("out/release.json");
    let feed = release::feed(&text).unwrap().remove(0);
    assert_eq!(feed.version(), Some(semver::Version::new(4, 2, 0)));
    assert_eq!(feed.page, page);
    for name in &images {
        let (image, checksum) = feed.image(name).unwrap();
        assert_eq!(
            (image, checksum),
            (name.as_str(), format!("{name}.sha256").as_str())
        );
        rig.run(&format!("image verify --key k.pub out/{name}"));
    }
    let text: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(text["body"], "* Faster\n");
    assert_eq!(text["published_at"], "2025-12-01T00:00:01Z");
    assert_eq!(
        text["assets"][0]["size"],
        rig.bytes(&format!(
            "out/{}",
            text["assets"][0]["name"].as_str().unwrap()
        ))
        .len()
    );
    let checked = Command::new("sh")
        .args(["-c", "sha256sum --quiet -c *.sha256"])
        .current_dir(rig.path("out"))
        .status();
    assert!(checked.unwrap().success());
    rig.fails("release --key k p -o out", 5, &["out", "not empty"]);
}

#[test]
fn finished_images_are_unchanged() {
    let rig = CommandRig::new().with_image();
    rig.run("image sign --key k i.img");
    rig.run("image pack --program p --board v8 -o v8.img");
    rig.run("image sign --key k v8.img");
    let base = "--base-url https://example.org/clock/";
    let stdout = rig.run(&format!("release i.img v8.img {base} -o new/out"));
    assert!(stdout.contains("release 4.2.0 in new/out"), "{stdout}");
    assert_eq!(
        rig.bytes(&format!("new/out/{}", name("rev-b"))),
        rig.bytes("i.img")
    );
    let feed = release::feed(&rig.bytes("new/out/release.json"))
        .unwrap()
        .remove(0);
    let url = format!("https://example.org/clock/{}", name("v8"));
    assert_eq!(feed.image(&name("v8")).unwrap().0, url);
}

#[test]
fn unsigned_images_cause_a_warning() {
    let rig = CommandRig::new().with_image();
    let (code, out, error) = rig.try_to("release p --board V8 -o out");
    assert_eq!(code, 0, "{error}");
    assert!(out.contains(&name("v8")) && !out.contains("rev-b"), "{out}");
    assert!(
        error.contains("not signed") && error.contains("--key"),
        "{error}"
    );
}

#[test]
fn conflicting_files_are_refused_and_leave_no_folder() {
    let rig = CommandRig::new().with_image();
    built_page(&rig);
    rig.run("image pack --program p --version 4.3.0 --board v8 -o newer.img");
    fs::write(rig.path("text"), "hello").unwrap();
    fs::write(rig.path("binary.md"), [0xFF]).unwrap();
    #[rustfmt::skip]
    let rows = [
        ("release -o out", 2, &["<FILE>", "--help"][..]),
        ("release p", 2, &["--output"]),
        ("release p p -o out", 2, &["two images", "rev-b"]),
        ("release i.img newer.img -o out", 2, &["one version", "4.2.0", "4.3.0"]),
        ("release text -o out", 1, &["text: it is not a papertick image"]),
        ("release missing -o out", 1, &["missing"]),
        ("release p --key text -o out", 1, &["text", "no minisign secret key"]),
        ("release p --notes binary.md -o out", 1, &["binary.md", "no text"]),
        ("release p --base-url example.org -o out", 2, &["`example.org`", "https://"]),
        ("release p --base-url ftp://example.org -o out", 2, &["ftp://"]),
        ("release p --base-url https://a/?x -o out", 2, &["https://a/?x"]),
        ("release p --notes-url example.org -o out", 2, &["`example.org`", "https://"]),
        ("release p --notes-url https:///x -o out", 2, &["`https:///x`", "host"]),
        ("release p --version 5 -o out", 2, &["`5`"]),
        ("release p --board rev-z -o out", 2, &["rev-z"]),
        ("release --web missing -o out", 1, &["missing"]),
        ("release p -o text", 1, &["text"]),
    ];
    for (line, code, parts) in rows {
        rig.fails(line, code, parts);
        let left: Vec<String> = names(&rig, ".")
            .into_iter()
            .filter(|name| name.starts_with('.') || name == "out" && !names(&rig, "out").is_empty())
            .collect();
        assert!(left.is_empty(), "{line}: {left:?}");
    }
    rig.run("release --key k --web web --version 5.0.0 -o out");
    assert_eq!(names(&rig, "out").len(), 3);
}

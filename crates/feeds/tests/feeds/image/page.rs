//! Pages: plain files with plain names, and a manifest.

use std::collections::BTreeMap;

use feeds::image::page::{Manifest, Page};

use super::open;
use crate::support::fixture;

const MANIFEST: &str = r#"{"commit":"4.1.0-5deff36","minFirmware":"4.0.0","buildTime":1764547200}"#;

fn page(files: &[(&str, &str)]) -> Page {
    let own = [
        ("manifest.json", MANIFEST),
        ("index.html", "<!doctype html>"),
    ];
    let files: BTreeMap<String, Vec<u8>> = own
        .iter()
        .chain(files)
        .map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec()))
        .collect();
    Page {
        manifest: Manifest::parse(MANIFEST.as_bytes()).unwrap(),
        files,
    }
}

fn refusal(archive: &[u8]) -> String {
    Page::parse(archive).unwrap_err().to_string()
}

#[test]
fn the_page_of_a_foreign_image() {
    let mut content = Vec::new();
    open(&fixture("image/page.img"))
        .unpack(&mut content)
        .unwrap();
    let page = Page::parse(&content).unwrap();
    assert_eq!(page.manifest.commit, "4.1.0-rc.2-5deff36");
    assert_eq!(page.manifest.min_firmware, semver::Version::new(4, 0, 0));
    let names: Vec<&str> = page.files.keys().map(String::as_str).collect();
    assert_eq!(names, ["assets/a-1.js", "index.html", "manifest.json"]);
    assert_eq!(page.files["assets/a-1.js"], b"1;\n");
}

#[test]
fn written_pages_can_be_read() {
    let long = "x".repeat(1025);
    let page = page(&[("a/b/c.js", "1"), ("empty.txt", ""), ("block.txt", &long)]);
    let archive = page.write().unwrap();
    assert_eq!(Page::parse(&archive).unwrap(), page);
    assert_eq!(archive, page.write().unwrap());
}

#[test]
fn manifests() {
    #[rustfmt::skip]
    let rows = [
        (MANIFEST, true),
        (r#"{"commit":"x","minFirmware":"4.0.0-rc.1","buildTime":0,"more":[]}"#, true),
        (r#"{"commit":"","minFirmware":"4.0.0","buildTime":0}"#, false),
        (r#"{"commit":"a b","minFirmware":"4.0.0","buildTime":0}"#, false),
        (r#"{"commit":"x","minFirmware":"4","buildTime":0}"#, false),
        (r#"{"commit":"x","minFirmware":4,"buildTime":0}"#, false),
        (r#"{"commit":"x","minFirmware":"4.0.0","buildTime":-1}"#, false),
        (r#"{"commit":"x","minFirmware":"4.0.0"}"#, false),
        (r#"{"minFirmware":"4.0.0","buildTime":0}"#, false),
        ("[]", false),
        ("", false),
    ];
    for (text, expected) in rows {
        assert_eq!(
            Manifest::parse(text.as_bytes()).is_some(),
            expected,
            "{text}"
        );
    }
    let long = MANIFEST.replace("4.1.0-5deff36", &"c".repeat(65));
    assert!(Manifest::parse(long.as_bytes()).is_none());
}

#[test]
fn a_page_has_an_entry_and_a_manifest() {
    for (name, reason) in [
        ("index.html", "it has no index.html"),
        ("manifest.json", "it has no manifest.json"),
    ] {
        let mut page = page(&[]);
        page.files.remove(name);
        assert_eq!(
            refusal(&page.write().unwrap()),
            format!("it is not a page ({reason})")
        );
    }
    let mut page = page(&[]);
    page.files.insert("manifest.json".into(), b"{}".to_vec());
    assert!(refusal(&page.write().unwrap()).contains("commit, buildTime and minFirmware"));
}

#[test]
fn names_lead_to_one_place_below_the_page() {
    for name in [
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/./b",
        "",
        ".",
        "..",
        "a b",
        "a\\b",
        "ü",
        "a\n",
        &"n".repeat(101),
    ] {
        let mut page = page(&[]);
        page.files.insert(name.to_owned(), Vec::new());
        assert!(page.write().is_err(), "{name:?} is not written");
        // The same name in a foreign archive.
        if name.len() <= 100 && !name.is_empty() {
            for kind in [b'0', b'5'] {
                let archive = with_header(|header| {
                    header[..100].fill(0);
                    header[..name.len()].copy_from_slice(name.as_bytes());
                    header[156] = kind;
                });
                let dot = kind == b'5' && name == ".";
                assert!(
                    dot || refusal(&archive).contains("name"),
                    "{name:?} is not read"
                );
            }
        }
    }
    let nameless = with_header(|header| header[..100].fill(0));
    assert!(refusal(&nameless).contains("name"));
}

/// An archive with a changed first header and a valid checksum.
fn with_header(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut archive = page(&[]).write().unwrap();
    change(&mut archive[..512]);
    let sum: u32 = (0..512)
        .map(|at| match at {
            148..156 => 32,
            at => u32::from(archive[at]),
        })
        .sum();
    archive[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    archive
}

#[test]
fn archives_hold_plain_files_and_nothing_else() {
    let whole = page(&[]).write().unwrap();
    assert!(Page::parse(&with_header(|_| {})).is_ok());
    for kind in [b'1', b'2', b'3', b'6', b'L', b'K', b'x', b'g', b'S', b'V'] {
        assert_eq!(
            refusal(&with_header(|header| header[156] = kind)),
            "it is not a page (the archive holds more than files)",
            "{}",
            char::from(kind)
        );
    }
    let damaged = "it is not a page (the archive is damaged)";
    #[rustfmt::skip]
    let rows = [
        ((|header: &mut [u8]| header[257] = b'U') as fn(&mut [u8]), damaged),
        (|header| header[124..136].copy_from_slice(b"77777777777\0"), damaged),
        (|header| header[124..136].fill(0), damaged),
        (|header| header[124..136].copy_from_slice(b"+0000000104\0"), damaged),
        (|header| header[124..136].copy_from_slice(b"0000000009\0\0"), damaged),
        (|header| header[124] = 0x80, damaged),
        (|header| header[345] = b'p', "it is not a page (a file has a name that is too long)"),
    ];
    for (change, reason) in rows {
        assert_eq!(refusal(&with_header(change)), reason);
    }
    let mut flipped = whole.clone();
    flipped[0] ^= 1;
    assert_eq!(refusal(&flipped), damaged);
    assert_eq!(
        refusal(&whole[..whole.len() - 1024]),
        "it is not a page (the archive has no end)"
    );
    let twice = [&whole[..whole.len() - 1024], &whole[..]].concat();
    assert_eq!(refusal(&twice), "it is not a page (two files of one name)");
}

#[test]
fn folders_and_leading_dots_of_gnu_tar_are_accepted() {
    let archive = with_header(|header| {
        header[..100].fill(0);
        header[..12].copy_from_slice(b"./index.html");
    });
    assert!(
        Page::parse(&archive)
            .unwrap()
            .files
            .contains_key("index.html")
    );
    for name in [&b"./"[..], b"assets/", b"./assets/"] {
        let mut folder = with_header(|header| {
            header[..100].fill(0);
            header[..name.len()].copy_from_slice(name);
            header[124..136].copy_from_slice(b"00000000000\0");
            header[156] = b'5';
        })[..512]
            .to_vec();
        folder.extend(page(&[]).write().unwrap());
        assert_eq!(Page::parse(&folder).unwrap(), page(&[]));
    }
}

#[test]
fn the_number_of_files_is_limited() {
    let mut page = page(&[]);
    for number in 0..998 {
        page.files.insert(format!("f{number}"), Vec::new());
    }
    assert!(Page::parse(&page.write().unwrap()).is_ok());
    page.files.insert("last".into(), Vec::new());
    assert!(page.write().is_err());
}

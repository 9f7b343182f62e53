//! The gallery in `docs` is what the program draws: `docs/gallery.md`, its pictures, and those of the front page.
//!
//! `UPDATE_GALLERY=1 cargo test -p papertick --test gallery` draws it anew; look at every picture that changes.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

mod shots;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    fmt::Write as _,
    fs,
    io::Cursor,
    path::{Path, PathBuf},
};

use papertick::{
    cli::{self, Command},
    commands::render,
};

use shots::{FRONT_PAGE, SECTIONS, Section, Shot};

/// Most that all pictures may take, bytes.
const BYTES_MAX: u64 = 400_000;

const INTRODUCTION: &str = "\
# Gallery

What the panels show, pixel by pixel.
Under each picture is the command that makes it; `papertick render --help` lists what else can be shown.

Generated; do not edit: `UPDATE_GALLERY=1 cargo test -p papertick --test gallery` draws it anew.
";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Draws what a command line of `papertick render` asks for.
fn draw(words: &str) -> Vec<u8> {
    let arguments = ["papertick", "render"].into_iter().chain(words.split(' '));
    let command = cli::parse(arguments.map(OsString::from));
    let Ok(Command::Render(flags)) = command else {
        panic!("{words}: {command:?}");
    };
    render::picture(&flags).unwrap_or_else(|failure| panic!("{words}: {failure}"))
}

/// Every picture, by its file under `docs`.
fn pictures() -> BTreeMap<String, Vec<u8>> {
    let front_page = FRONT_PAGE
        .iter()
        .map(|(file, words, _)| ((*file).to_owned(), draw(words)));
    let shots = SECTIONS.iter().flat_map(|section| (section.shots)());
    shots
        .map(|shot| (shot.path(), draw(&shot.words)))
        .chain(front_page)
        .collect()
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Section {
        heading,
        columns,
        shots,
    } in SECTIONS
    {
        let _ = write!(page, "\n## {heading}\n");
        if *columns == 1 {
            for shot in shots() {
                let Shot { caption, words, .. } = &shot;
                let path = shot.path();
                let _ = write!(
                    page,
                    "\n{caption}\n\n![{caption}]({path})\n\n`papertick render {words}`\n"
                );
            }
            continue;
        }
        let _ = write!(
            page,
            "\n{}\n{}\n",
            "| ".repeat(*columns) + "|",
            "|---".repeat(*columns) + "|"
        );
        for row in shots().chunks(*columns) {
            for shot in row {
                let Shot { caption, words, .. } = shot;
                let path = shot.path();
                let _ = write!(
                    page,
                    "| ![{caption}]({path})<br>`papertick render {words}` "
                );
            }
            page.push_str("|\n");
        }
    }
    page
}

/// A picture's size and pixels, as the file packs them.
fn decode(file: &[u8]) -> Option<(u32, u32, Vec<u8>)> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().ok()?;
    let mut data = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut data).ok()?;
    Some((info.width, info.height, data))
}

/// Files in the folder of the gallery.
fn found() -> BTreeSet<String> {
    let entries = fs::read_dir(docs().join("gallery")).into_iter().flatten();
    entries
        .map(|entry| format!("gallery/{}", entry.unwrap().file_name().display()))
        .collect()
}

fn accept(pictures: &BTreeMap<String, Vec<u8>>, page: &str) {
    for file in found().difference(&pictures.keys().cloned().collect()) {
        fs::remove_file(docs().join(file)).unwrap();
    }
    for (file, picture) in pictures {
        let path = docs().join(file);
        let before = fs::read(&path).unwrap_or_default();
        if decode(&before) != decode(picture) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, picture).unwrap();
        }
    }
    fs::write(docs().join("gallery.md"), page).unwrap();
}

#[test]
fn the_front_page_says_what_its_pictures_show() {
    let front_page = fs::read_to_string(docs().join("../README.md")).unwrap();
    for (file, _, shown) in FRONT_PAGE {
        let picture = format!("![{shown}](docs/{file})");
        assert!(front_page.contains(&picture), "{picture}");
    }
}

#[test]
fn the_gallery_is_what_the_program_draws() {
    let (pictures, page) = (pictures(), page());
    if env::var_os("UPDATE_GALLERY").is_some() {
        accept(&pictures, &page);
    }
    let differs = |(file, picture): &(&String, &Vec<u8>)| {
        let kept = fs::read(docs().join(file)).unwrap_or_default();
        decode(&kept) != decode(picture)
    };
    let mut stale: Vec<_> = pictures
        .iter()
        .filter(differs)
        .map(|(file, _)| file.clone())
        .collect();
    let extra = found();
    stale.extend(
        extra
            .into_iter()
            .filter(|file| !pictures.contains_key(file)),
    );
    if fs::read_to_string(docs().join("gallery.md")).unwrap_or_default() != page {
        stale.push("gallery.md".into());
    }
    assert!(
        stale.is_empty(),
        "not what the program draws: {stale:?}; UPDATE_GALLERY=1 draws them anew"
    );
}

#[test]
fn the_gallery_shows_everything_and_stays_small() {
    let shots: Vec<Shot> = SECTIONS
        .iter()
        .flat_map(|section| (section.shots)())
        .collect();
    for word in render::words() {
        let shown = shots
            .iter()
            .any(|shot| shot.words.split(' ').next() == Some(&word));
        assert!(shown, "{word} is not in the gallery");
    }
    let files: BTreeSet<_> = shots.iter().map(Shot::path).collect();
    assert_eq!(files.len(), shots.len(), "two pictures share a file");
    let sizes = found()
        .into_iter()
        .map(|file| fs::metadata(docs().join(file)).unwrap().len());
    let bytes: u64 = sizes.sum();
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
}

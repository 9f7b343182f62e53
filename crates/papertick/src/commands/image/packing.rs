//! What an image is made from, and what it is to say of itself.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use device::board::BoardSpec;
use feeds::image::{
    ImageFacts, ImageKind, PAGE_BYTES_MAX, PROGRAM_BYTES_MAX, Packed,
    page::{MANIFEST, Manifest, Page},
};
use semver::Version;
use serde_json::{Map, Value};

use crate::{
    commands::files::{cannot_read, read_at_most},
    failure::Failure,
};
use updates::{build, policy};

/// What each architecture is called in the head of a program for Linux (ELF's `e_machine`).
const MACHINES: &[(&str, u16)] = &[
    ("aarch64", 183),
    ("arm", 40),
    ("i686", 3),
    ("riscv64", 243),
    ("x86_64", 62),
];

/// Deepest folder of a page that is looked into.
const DEPTH_MAX: usize = 8;

/// Reads a version.
pub(crate) fn version(text: &str) -> Result<Version, Failure> {
    Version::parse(text).map_err(|error| {
        Failure::usage(format!(
            "`{text}` is no version ({error}): say MAJOR.MINOR.PATCH, such as {}",
            build::VERSION
        ))
    })
}

/// A program that was packed.
pub(crate) struct PackedProgram {
    path: PathBuf,
    packed: Packed,
    facts: build::BuildFacts,
    version: Version,
}

impl PackedProgram {
    /// Packs a program; it says itself what it is, but may be given another version.
    pub(crate) fn read(path: &Path, version: Option<Version>) -> Result<PackedProgram, Failure> {
        let program = read_at_most(path, PROGRAM_BYTES_MAX)?;
        let about = |what: &str| Failure::failed(format!("{}: {what}", path.display()));
        let facts = build::BuildFacts::of(&program)
            .ok_or_else(|| about("it is no papertick: it does not say what it was built from"))?;
        let machine = machine(&program).ok_or_else(|| about("it is no program for Linux"))?;
        let known = MACHINES
            .iter()
            .find(|(name, _)| facts.target.starts_with(name));
        if known.is_none_or(|(_, number)| *number != machine) {
            return Err(about(&format!(
                "it says it is for {}, and is for other machines",
                facts.target
            )));
        }
        let version = match version {
            Some(version) => version,
            None => self::version(&facts.version)?,
        };
        Ok(PackedProgram {
            path: path.to_path_buf(),
            packed: Packed::new(&program),
            facts,
            version,
        })
    }

    /// Makes an image of it for a board.
    pub(crate) fn image(&self, board: &BoardSpec) -> Result<Vec<u8>, Failure> {
        let facts = ImageFacts {
            kind: ImageKind::Firmware,
            build_time: self.facts.time.unwrap_or_default(),
            board: board.id.to_string(),
            panel: policy::panel(board),
            target: self.facts.target.clone(),
            version: self.version.clone(),
            commit: self.facts.commit.clone(),
        };
        let image = self.packed.image(facts);
        image.map_err(|fault| Failure::failed(format!("{}: {fault}", self.path.display())))
    }
}

/// The machine a program is for; none if it is no program.
fn machine(program: &[u8]) -> Option<u16> {
    const MACHINE_AT: usize = 18;
    let rest = program.strip_prefix(b"\x7fELF")?;
    let little = *rest.get(1)? == 1;
    let bytes = [*program.get(MACHINE_AT)?, *program.get(MACHINE_AT + 1)?];
    Some(match little {
        true => u16::from_le_bytes(bytes),
        false => u16::from_be_bytes(bytes),
    })
}

/// Makes an image of a built page.
pub(crate) fn page(folder: &Path, version: Option<Version>) -> Result<Vec<u8>, Failure> {
    let mut files = BTreeMap::new();
    let mut left = PAGE_BYTES_MAX;
    collect(folder, "", DEPTH_MAX, &mut left, &mut files)?;
    let about = |what: &str| Failure::failed(format!("{}: {what}", folder.display()));
    let manifest = files
        .get(MANIFEST)
        .ok_or_else(|| about("there is no manifest.json: it is no built page"))?;
    let manifest =
        completed(manifest).ok_or_else(|| about("its manifest.json is no JSON object"))?;
    let parsed = Manifest::parse(&manifest);
    files.insert(MANIFEST.to_string(), manifest);
    let manifest = parsed
        .ok_or_else(|| about("its manifest.json lacks minFirmware, or says what cannot be"))?;
    // The commit begins with the version, unless somebody else writes the manifest.
    let own = manifest.commit.split('-').next().unwrap_or_default();
    let version = match version {
        Some(version) => version,
        None => Version::parse(own).map_err(|_| {
            Failure::usage("the manifest does not begin its commit with a version: say --version")
        })?,
    };
    let page = Page { manifest, files };
    let content = page.write().map_err(|fault| about(&fault.to_string()))?;
    Page::parse(&content).map_err(|fault| about(&fault.to_string()))?;
    let facts = ImageFacts {
        kind: ImageKind::Page,
        build_time: page.manifest.build_time,
        board: String::new(),
        panel: String::new(),
        target: String::new(),
        version,
        commit: page.manifest.commit,
    };
    let image = Packed::new(&content).image(facts);
    image.map_err(|fault| about(&fault.to_string()))
}

/// The manifest, which says what it was built from and when even if nobody wrote that down: that is what this program
/// was built from, whose page lies beside its source.
fn completed(manifest: &[u8]) -> Option<Vec<u8>> {
    let mut manifest: Map<String, Value> = serde_json::from_slice(manifest).ok()?;
    for (name, value) in [
        ("commit", Value::from(build::revision())),
        ("buildTime", Value::from(build::time())),
    ] {
        manifest.entry(name).or_insert(value);
    }
    serde_json::to_vec(&manifest).ok()
}

/// Reads all files below a folder.
fn collect(
    folder: &Path,
    prefix: &str,
    depth: usize,
    left: &mut u64,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Failure> {
    let about = |what: &str| Failure::failed(format!("{}: {what}", folder.display()));
    if depth == 0 {
        return Err(about("it has too many folders in each other"));
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(folder).and_then(Iterator::collect);
    for entry in entries.map_err(|error| cannot_read(folder, &error))? {
        let path = entry.path();
        let name = entry.file_name().into_string();
        let name = name.map_err(|_| about("a file has a name that cannot be"))?;
        let name = format!("{prefix}{name}");
        let kind = entry
            .file_type()
            .map_err(|error| cannot_read(&path, &error))?;
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), depth - 1, left, files)?;
        } else {
            let content = read_at_most(&path, *left)?;
            *left -= content.len() as u64;
            files.insert(name, content);
        }
    }
    Ok(())
}

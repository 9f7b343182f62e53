//! Makes images of programs and pages.

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

/// Architectures and their numbers in the ELF header (`e_machine`).
const MACHINES: &[(&str, u16)] = &[
    ("aarch64", 183),
    ("arm", 40),
    ("i686", 3),
    ("riscv64", 243),
    ("x86_64", 62),
];

/// Largest depth of folders in a page.
const DEPTH_MAX: usize = 8;

pub(crate) fn version(text: &str) -> Result<Version, Failure> {
    Version::parse(text).map_err(|error| {
        Failure::usage(format!(
            "`{text}` is no version ({error}): use MAJOR.MINOR.PATCH, such as {}",
            build::VERSION
        ))
    })
}

pub(crate) struct PackedProgram {
    path: PathBuf,
    packed: Packed,
    facts: build::BuildFacts,
    version: Version,
}

impl PackedProgram {
    /// Packs a program. Its build facts are in the program; `version` overrides the version.
    pub(crate) fn read(path: &Path, version: Option<Version>) -> Result<PackedProgram, Failure> {
        let program = read_at_most(path, PROGRAM_BYTES_MAX)?;
        let about = |what: &str| Failure::failed(format!("{}: {what}", path.display()));
        let facts = build::BuildFacts::of(&program)
            .ok_or_else(|| about("not a papertick program: it has no build facts"))?;
        let machine = machine(&program).ok_or_else(|| about("not a program for Linux"))?;
        let known = MACHINES
            .iter()
            .find(|(name, _)| facts.target.starts_with(name));
        if known.is_none_or(|(_, number)| *number != machine) {
            return Err(about(&format!(
                "its build facts name {}, but it is for another architecture",
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

/// The architecture of a program. `None` if it is not an ELF file.
fn machine(program: &[u8]) -> Option<u16> {
    const MACHINE_AT: usize = 18;
    let rest = program.strip_prefix(b"\x7fELF")?;
    let little = *rest.get(1)? == 1;
    let bytes = [*program.get(MACHINE_AT)?, *program.get(MACHINE_AT + 1)?];
    Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
}

/// Makes an image of a built page.
pub(crate) fn page(folder: &Path, version: Option<Version>) -> Result<Vec<u8>, Failure> {
    let mut files = BTreeMap::new();
    let mut left = PAGE_BYTES_MAX;
    collect(folder, "", DEPTH_MAX, &mut left, &mut files)?;
    let about = |what: &str| Failure::failed(format!("{}: {what}", folder.display()));
    let manifest = files
        .get(MANIFEST)
        .ok_or_else(|| about("not a built page: it has no manifest.json"))?;
    let manifest = complete_manifest(manifest)
        .ok_or_else(|| about("its manifest.json is not a JSON object"))?;
    let parsed = Manifest::parse(&manifest);
    files.insert(MANIFEST.to_string(), manifest);
    let manifest =
        parsed.ok_or_else(|| about("its manifest.json has no minFirmware, or an invalid value"))?;
    // The commit starts with the version, unless another tool has written the manifest.
    let own = manifest.commit.split('-').next().unwrap_or_default();
    let version = match version {
        Some(version) => version,
        None => Version::parse(own).map_err(|_| {
            Failure::usage(
                "the commit in the manifest does not start with a version: set --version",
            )
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

/// The manifest with commit and build time. If they are missing, those of this program are used, because the page is in
/// the same repository.
fn complete_manifest(manifest: &[u8]) -> Option<Vec<u8>> {
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
        return Err(about("its folders are nested too deeply"));
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(folder).and_then(Iterator::collect);
    for entry in entries.map_err(|error| cannot_read(folder, &error))? {
        let path = entry.path();
        let name = entry.file_name().into_string();
        let name = name.map_err(|_| about("the name of a file is not UTF-8"))?;
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

//! All changes of the data folder of a clock, for `power_cuts`.
//!
//! A start does what supervisor and device do: it chooses a program, removes the leftovers of an update, and reads settings,
//! memory, history, headers, page and pictures. The results are digests, so that no content is printed.

use std::{io, path::Path};

use device::settings::store;
use feeds::{
    image::{
        ImageFacts, ImageFault, ImageKind, Packed,
        page::{Manifest, Page},
    },
    pools::logo::LogoSpec,
};
use semver::Version;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use sources::logos;
use storage::{
    Store, StoredFile,
    disk::{Disk, Folder},
    file::StoredContent,
    large::LargeDisk,
};
use updates::{
    image_store::{self, ImageStore},
    policy::{AcceptedVersions, ImagePolicy, ImageRefusal, Signatures},
    record,
    slots::{Factory, ImageSlot, Program, Slots, TrialState},
};

use crate::{
    power_cuts::{Counts, DiskChange, InvalidState, StartFindings, test_change},
    sim_disk::{SharedDisk, SimDisk},
};

/// Files of a data folder that are copied. Programs and pages are replaced by small ones, because their content does not
/// matter. Pictures are tested separately.
const COPIED: [&str; 10] = [
    "settings.json",
    "settings.json.previous",
    "memory.json",
    "memory.json.previous",
    "firmware.json",
    "firmware.json.previous",
    "chain.json",
    "chain.json.previous",
    "history.json",
    "history.json.previous",
];

/// Size of the parts in which an image is written, bytes.
const PART: usize = 300;

/// Largest image in the tests, bytes.
const IMAGE_MAX: u64 = 64 * 1024;

/// Target of the images in the tests.
const BOARD: &str = "rev-b";
const PANEL: &str = "122x250";
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Major version of programs in the tests: newer than all others.
const NEWEST: u64 = 1_000_000;

/// A disk on which the changes are tested.
#[derive(Debug, Clone)]
pub struct InitialDisk {
    pub what: &'static str,
    pub disk: SimDisk,
}

#[derive(Debug, Clone, Copy)]
pub struct TestedChange {
    pub what: &'static str,
    /// Number of power cuts.
    pub counts: Counts,
}

impl InitialDisk {
    /// A clock that was never started.
    pub fn new_clock() -> InitialDisk {
        InitialDisk {
            what: "a new clock",
            disk: SimDisk::default(),
        }
    }

    /// A copy of a data folder, which is only read.
    ///
    /// # Errors
    /// A file cannot be read; the error has its name.
    pub fn copy(folder: &Path) -> io::Result<InitialDisk> {
        let mut folder = Folder::new(folder);
        let mut files = Vec::new();
        for name in COPIED {
            let bytes = folder.read(name).map_err(storage::disk::named(name))?;
            files.extend(bytes.map(|bytes| (name.to_string(), bytes)));
        }
        let mut disk = SharedDisk::of(SimDisk::holding(files));
        let (slots, _) = record::load_and_repair(&mut disk);
        if slots != Slots::default() {
            replace_programs(&mut disk, &slots)?;
        }
        if folder.names()?.contains(&image_store::PAGE.to_string()) {
            install(&disk, Program::Factory, ImageKind::Page, 0).map_err(io::Error::other)?;
        }
        Ok(InitialDisk {
            what: "a copy of this clock",
            disk: disk.look(),
        })
    }
}

/// Replaces the programs in the slots by small ones.
fn replace_programs(disk: &mut SharedDisk, slots: &Slots) -> io::Result<()> {
    let program = b"a program";
    for slot in ImageSlot::ALL {
        if slots.get(slot).is_some() {
            let file = record::program_file(slot);
            disk.write(&file, program)?;
            disk.make_executable(&file)?;
            disk.sync(&file)?;
        }
    }
    disk.sync_folder()?;
    let changed = record::change(disk, |slots| {
        for installed in slots.programs.values_mut() {
            installed.bytes = program.len() as u64;
            installed.digest = Sha256::digest(program).into();
            // Simulated starts count as attempts of the trial, which must not end.
            if let TrialState::Trial { starts } = &mut installed.trial_state {
                *starts = 0;
            }
        }
    });
    changed.map(drop)
}

/// Tests all changes of a clock from an initial disk on; `chances` is the number of random cases per cut.
///
/// # Errors
/// The change after which a start found an invalid state.
pub fn test_all_changes(
    initial: &InitialDisk,
    chances: u64,
) -> Result<Vec<TestedChange>, (&'static str, InvalidState)> {
    let mut tested = Vec::new();
    for (what, change) in CHANGES {
        let (disk, running) = change.prepare(&initial.disk);
        let counts = test_change(&disk, &RunningChange { change, running }, chances);
        let counts = counts.map_err(|invalid| (what, invalid))?;
        tested.push(TestedChange { what, counts });
    }
    for (what, disk) in [
        ("a picture of a pool is kept", SimDisk::default()),
        ("a picture of a pool is replaced", old_picture()),
    ] {
        let counts =
            test_change(&disk, &PictureChange, chances).map_err(|invalid| (what, invalid))?;
        tested.push(TestedChange { what, counts });
    }
    Ok(tested)
}

/// A change of a data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DataChange {
    Save(StoredFile),
    ReplaceSettings,
    Erase,
    InstallProgram,
    Pass,
    GiveUp,
    InstallPage,
}

const CHANGES: [(&str, DataChange); 10] = [
    ("settings are saved", DataChange::Save(StoredFile::Settings)),
    (
        "settings replace all older ones",
        DataChange::ReplaceSettings,
    ),
    ("the memory is saved", DataChange::Save(StoredFile::Memory)),
    ("the headers are saved", DataChange::Save(StoredFile::Chain)),
    (
        "the history is saved",
        DataChange::Save(StoredFile::History),
    ),
    ("everything is erased", DataChange::Erase),
    ("a program is installed", DataChange::InstallProgram),
    ("a new program is found to work", DataChange::Pass),
    ("a new program is given up", DataChange::GiveUp),
    ("a page is installed", DataChange::InstallPage),
];

impl DataChange {
    /// Prepares a disk for the change; also returns the program that runs then.
    fn prepare(self, initial: &SimDisk) -> (SimDisk, Program) {
        let disk = SharedDisk::of(initial.clone());
        let mut running = chosen(&mut SharedDisk::of(disk.look())).0;
        // If the preparation fails, the change does nothing, which the test reports.
        match self {
            DataChange::Pass | DataChange::GiveUp => {
                let _ = install(&disk, running, ImageKind::Firmware, 1);
                running = chosen(&mut SharedDisk::of(disk.look())).0;
            }
            DataChange::Erase => {
                for (_, change) in CHANGES {
                    if matches!(change, DataChange::Save(_)) {
                        let _ = save(&disk, change);
                    }
                }
            }
            _ => {}
        }
        (disk.look(), running)
    }
}

/// A change and the program that performs it.
struct RunningChange {
    change: DataChange,
    running: Program,
}

impl DiskChange for RunningChange {
    fn make(&self, mut disk: SharedDisk) -> bool {
        let change_slots = |disk: &mut SharedDisk, what: fn(&mut Slots, Program)| {
            record::change(disk, |slots| what(slots, self.running)).is_ok()
        };
        match self.change {
            DataChange::Save(_) | DataChange::ReplaceSettings | DataChange::Erase => {
                save(&disk, self.change).is_ok()
            }
            DataChange::InstallProgram => {
                install(&disk, self.running, ImageKind::Firmware, 2).is_ok()
            }
            DataChange::InstallPage => install(&disk, self.running, ImageKind::Page, 2).is_ok(),
            DataChange::Pass => change_slots(&mut disk, |slots, running| {
                running
                    .slot()
                    .into_iter()
                    .for_each(|slot| slots.mark_proven(slot));
            }),
            DataChange::GiveUp => change_slots(&mut disk, |slots, running| {
                let slot = running.slot().into_iter();
                slot.for_each(|slot| slots.mark_failed(slot, "it was tried"));
            }),
        }
    }

    fn start(&self, mut disk: SharedDisk) -> Result<StartFindings, String> {
        let (program, description) = chosen(&mut disk);
        if let Program::Slot(slot) = program {
            let file = record::program_file(slot);
            if !disk.look().is_startable(&file) {
                return Err(format!("{file} cannot be started"));
            }
            // A start also works if it cannot be counted.
            let _ = record::change(&mut disk, |slots| slots.count_start(slot));
        }
        let (_, loaded) = Store::open(Box::new(disk.clone()));
        drop(ImageStore::open(
            Box::new(disk.clone()),
            program,
            Factory::own(),
        ));
        let page =
            image_store::installed_page(&mut disk).map_err(|fault| format!("page: {fault}"))?;
        let page = page.map(|(head, page)| format!("{head:?} {}", page.manifest.build_time));
        if let StoredContent::Whole(settings) = &loaded.settings {
            drop(store::from_json(settings));
        }
        Ok([
            ("program", description),
            ("settings", content("settings", &loaded.settings)?),
            ("memory", content("memory", &loaded.memory)?),
            ("chain", content("chain", &loaded.chain)?),
            ("history", content("history", &loaded.history)?),
            ("page", digest(page.unwrap_or_default().as_bytes())),
        ]
        .into())
    }
}

/// The program that a supervisor would start, and its version and trial state as text.
fn chosen(disk: &mut SharedDisk) -> (Program, String) {
    let (slots, _) = record::load_and_repair(disk);
    for program in slots.boot_order(&Factory::own()) {
        let Program::Slot(slot) = program else { break };
        if let Some(installed) = slots.get(slot)
            && record::is_intact(disk, &slots, slot).unwrap_or_default()
        {
            let state = match installed.trial_state {
                TrialState::Trial { .. } => "on trial",
                TrialState::Proven => "proven",
                TrialState::Failed => "failed",
            };
            return (program, format!("{} {state}", installed.version));
        }
    }
    (Program::Factory, "installed".to_string())
}

fn content(what: &str, content: &StoredContent) -> Result<String, String> {
    match content {
        StoredContent::Whole(body) => {
            Ok(digest(Value::Object(body.clone()).to_string().as_bytes()))
        }
        StoredContent::Nothing => Ok("nothing".to_string()),
        StoredContent::Lost => Err(format!("{what} cannot be read")),
    }
}

/// Start of a SHA-256 digest.
fn digest(bytes: &[u8]) -> String {
    let mut digits = hex::encode(Sha256::digest(bytes));
    digits.truncate(12);
    digits
}

/// Saves or erases. Saved values differ from all earlier ones.
fn save(disk: &SharedDisk, act: DataChange) -> io::Result<()> {
    let (mut store, loaded) = Store::open(Box::new(disk.clone()));
    let changed = |content: StoredContent| -> Map<String, Value> {
        let mut body = content.whole().unwrap_or_default();
        body.insert("tried".to_string(), json!("x".repeat(1000)));
        body
    };
    match act {
        DataChange::Save(file) => {
            let content = match file {
                StoredFile::Settings => loaded.settings,
                StoredFile::Memory => loaded.memory,
                StoredFile::Chain => loaded.chain,
                StoredFile::History => loaded.history,
            };
            store.save(file, &changed(content))
        }
        DataChange::ReplaceSettings => store.replace_settings(&changed(loaded.settings)),
        DataChange::Erase => store.wipe(),
        DataChange::InstallProgram
        | DataChange::Pass
        | DataChange::GiveUp
        | DataChange::InstallPage => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Installs a small program or page. Higher numbers are newer.
fn install(
    disk: &SharedDisk,
    running: Program,
    kind: ImageKind,
    number: u64,
) -> Result<(), ImageRefusal> {
    let version = Version::new(NEWEST, number, 0);
    let word = |word: &str| match kind {
        ImageKind::Firmware => word.to_string(),
        ImageKind::Page => String::new(),
    };
    let content = match kind {
        ImageKind::Firmware => format!("program {number} ").repeat(50).into_bytes(),
        ImageKind::Page => page(number)?,
    };
    let image = Packed::new(&content).image(ImageFacts {
        kind,
        build_time: 0,
        board: word(BOARD),
        panel: word(PANEL),
        target: word(TARGET),
        version: version.clone(),
        commit: String::new(),
    })?;
    let mut store = ImageStore::open(Box::new(disk.clone()), running, Factory::own());
    store.begin(ImagePolicy {
        kind,
        bytes_max: IMAGE_MAX,
        board: BOARD.to_string(),
        panel: PANEL.to_string(),
        target: TARGET.to_string(),
        running: version,
        versions: AcceptedVersions::All,
        keys: Vec::new(),
        // Signatures make no difference for the disk.
        signatures: Signatures::NotRequired,
    })?;
    for part in image.chunks(PART) {
        store.append(part)?;
    }
    store.received(None)?;
    store.verify()?;
    store.activate()
}

fn page(number: u64) -> Result<Vec<u8>, ImageRefusal> {
    let manifest = json!({ "commit": "tried", "buildTime": number, "minFirmware": "4.0.0" });
    let manifest = manifest.to_string().into_bytes();
    let page = Page {
        manifest: Manifest::parse(&manifest).ok_or(ImageFault::Page("its manifest cannot be"))?,
        files: [("manifest.json", manifest), ("index.html", Vec::new())]
            .map(|(name, content)| (name.to_string(), content))
            .into(),
    };
    Ok(page.write()?)
}

struct PictureChange;

impl DiskChange for PictureChange {
    fn make(&self, mut disk: SharedDisk) -> bool {
        let spec = logo();
        disk.store(spec.file, &vec![0xA5; spec.bytes()]).is_ok()
    }

    fn start(&self, mut disk: SharedDisk) -> Result<StartFindings, String> {
        let picture = logos::read_logo(&mut disk, logo()).unwrap_or_default();
        Ok([("picture", digest(&picture))].into())
    }
}

fn old_picture() -> SimDisk {
    let spec = logo();
    SimDisk::holding([(spec.file.to_string(), vec![0x5A; spec.bytes()])])
}

fn logo() -> LogoSpec {
    LogoSpec {
        file: "tried.bin",
        width: 122,
        height: 122,
    }
}

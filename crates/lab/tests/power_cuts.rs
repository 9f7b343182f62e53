//! The power goes away at every moment of every change, and at every moment of the start after it.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{fs, path::Path};

use lab::data_folder::{InitialDisk, try_everything};
use semver::Version;
use serde_json::{Map, json};
use storage::{Store, disk::Folder};
use updates::{
    image_store, record,
    slots::{ImageSlot, Installed, TrialState},
};

/// How often chance decides what survives each cut.
const CHANCES: u64 = 1;

/// Puts into a folder what a clock leaves that has lived: generations of settings and memory, and programs in its slots.
fn lived(folder: &Path, slots: &[(ImageSlot, TrialState)]) {
    let (mut store, _) = Store::open(Box::new(Folder::new(folder)));
    for number in 1..=3 {
        let body = Map::from_iter([("number".to_string(), json!(number))]);
        store.save_settings(&body).unwrap();
        store.save_memory(&body).unwrap();
    }
    for (minor, (slot, trial_state)) in (1..).zip(slots) {
        let installed = Installed {
            version: Version::new(1000, minor, 0),
            bytes: 1,
            digest: [0; 32],
            factory_build: String::new(),
            trial_state: *trial_state,
            handovers: 0,
        };
        let changed = record::change(&mut Folder::new(folder), |slots| {
            slots.activate(*slot, installed);
        });
        changed.unwrap();
    }
}

#[test]
fn every_change_leaves_the_old_or_the_new_and_the_clock_starts() {
    use TrialState::{Failed, Proven, Trial};
    let (a, b) = (ImageSlot::A, ImageSlot::B);
    let mut beginnings = vec![InitialDisk::new_clock()];
    let slots: [&[(ImageSlot, TrialState)]; 3] = [
        &[(a, Proven), (b, Trial { starts: 0 })],
        &[(a, Proven), (b, Trial { starts: 2 })],
        &[(a, Proven), (b, Failed)],
    ];
    for slots in slots {
        let folder = tempfile::tempdir().unwrap();
        lived(folder.path(), slots);
        fs::write(folder.path().join(image_store::PAGE), "a page").unwrap();
        beginnings.push(InitialDisk::copy(folder.path()).unwrap());
    }
    for beginning in &beginnings {
        let tried = try_everything(beginning, CHANCES).unwrap_or_else(|(what, broken)| {
            panic!("{}: {what}: {broken}", beginning.what);
        });
        assert_eq!(tried.len(), 12);
        for tried in tried {
            let counts = tried.counts;
            assert!(counts.operations >= 4, "{tried:?}");
            assert!(counts.old > 0 && counts.new > 0, "{tried:?}");
            assert!(
                counts.cuts >= 4 * counts.operations && counts.again > 0,
                "{tried:?}"
            );
        }
    }
}

#[test]
fn a_copy_tells_nothing_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    lived(folder.path(), &[(ImageSlot::A, TrialState::Proven)]);
    let look = || {
        let mut files: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = look();
    let beginning = InitialDisk::copy(folder.path()).unwrap();
    try_everything(&beginning, 0).unwrap();
    assert_eq!(look(), before);

    // What cannot be read is said, without what is in it.
    let text = fs::read_to_string(folder.path().join("settings.json")).unwrap();
    fs::write(
        folder.path().join("settings.json"),
        text.replace("number", "SECRET"),
    )
    .unwrap();
    fs::write(folder.path().join("settings.json.previous"), "SECRET").unwrap();
    let beginning = InitialDisk::copy(folder.path()).unwrap();
    let (what, broken) = try_everything(&beginning, 0).unwrap_err();
    let words = format!("{what}: {broken}");
    assert_eq!(
        words,
        "settings are saved: before the change: settings cannot be read"
    );
    fs::remove_file(folder.path().join("memory.json")).unwrap();
    fs::create_dir(folder.path().join("memory.json")).unwrap();
    let error = InitialDisk::copy(folder.path()).unwrap_err().to_string();
    assert_eq!(error, "memory.json: it is a folder, not a file");
}

#[test]
fn the_matrix_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    lived(folder.path(), &[(ImageSlot::A, TrialState::Proven)]);
    let run = |folder: &Path| {
        let mut lab = std::process::Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.args(["power-cuts", "--chances", "1", "--data-dir"])
            .arg(folder);
        lab.output().unwrap()
    };
    let tried = run(folder.path());
    let text = String::from_utf8(tried.stdout).unwrap();
    assert!(tried.status.success(), "{text}");
    for line in [
        "a new clock ",
        "a copy of this clock ",
        "  settings are saved ",
        " power cuts, ",
    ] {
        assert!(text.contains(line), "{text} lacks {line}");
    }
    let missing = run(Path::new("/nowhere"));
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/nowhere"));
}

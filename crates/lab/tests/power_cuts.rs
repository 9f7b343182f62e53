//! Power cuts at every file operation of every change, and of the start after it.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{fs, path::Path};

use lab::data_folder::{InitialDisk, test_all_changes};
use semver::Version;
use serde_json::{Map, json};
use storage::{Store, StoredFile, disk::Folder};
use updates::{
    image_store, record,
    slots::{ImageSlot, Installed, TrialState},
};

/// Random cases per power cut.
const CHANCES: u64 = 1;

/// Fills a data folder as a used clock does: generations of settings and memory, and programs in the slots.
fn fill(folder: &Path, slots: &[(ImageSlot, TrialState)]) {
    let (mut store, _) = Store::open(Box::new(Folder::new(folder)));
    for number in 1..=3 {
        let body = Map::from_iter([("number".to_string(), json!(number))]);
        store.save(StoredFile::Settings, &body).unwrap();
        store.save(StoredFile::Memory, &body).unwrap();
    }
    for (minor, (slot, trial_state)) in (1..).zip(slots) {
        let installed = Installed {
            version: Version::new(1000, minor, 0),
            bytes: 1,
            digest: [0; 32],
            factory_build: String::new(),
            trial_state: *trial_state,
            executions: 0,
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
    let mut disks = vec![InitialDisk::new_clock()];
    let slots: [&[(ImageSlot, TrialState)]; 3] = [
        &[(a, Proven), (b, Trial { starts: 0 })],
        &[(a, Proven), (b, Trial { starts: 2 })],
        &[(a, Proven), (b, Failed)],
    ];
    for slots in slots {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), slots);
        fs::write(folder.path().join(image_store::PAGE), "a page").unwrap();
        disks.push(InitialDisk::copy(folder.path()).unwrap());
    }
    for initial in &disks {
        let tested = test_all_changes(initial, CHANCES).unwrap_or_else(|(what, invalid)| {
            panic!("{}: {what}: {invalid}", initial.what);
        });
        assert_eq!(tested.len(), 12);
        for change in tested {
            let counts = change.counts;
            assert!(counts.operations >= 4, "{change:?}");
            assert!(counts.old > 0 && counts.new > 0, "{change:?}");
            assert!(
                counts.cuts >= 4 * counts.operations && counts.cuts_at_start > 0,
                "{change:?}"
            );
        }
    }
}

#[test]
fn a_copy_changes_nothing_and_errors_have_no_content() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &[(ImageSlot::A, TrialState::Proven)]);
    let read_all = || {
        let mut files: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = read_all();
    let initial = InitialDisk::copy(folder.path()).unwrap();
    test_all_changes(&initial, 0).unwrap();
    assert_eq!(read_all(), before);

    // An unreadable file is reported without its content.
    let text = fs::read_to_string(folder.path().join("settings.json")).unwrap();
    fs::write(
        folder.path().join("settings.json"),
        text.replace("number", "SECRET"),
    )
    .unwrap();
    fs::write(folder.path().join("settings.json.previous"), "SECRET").unwrap();
    let initial = InitialDisk::copy(folder.path()).unwrap();
    let (what, invalid) = test_all_changes(&initial, 0).unwrap_err();
    let message = format!("{what}: {invalid}");
    assert_eq!(
        message,
        "settings are saved: before the change: settings cannot be read"
    );
    fs::remove_file(folder.path().join("memory.json")).unwrap();
    fs::create_dir(folder.path().join("memory.json")).unwrap();
    let error = InitialDisk::copy(folder.path()).unwrap_err().to_string();
    assert_eq!(error, "memory.json: it is a folder, not a file");
}

#[test]
fn the_table_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &[(ImageSlot::A, TrialState::Proven)]);
    let run = |folder: &Path| {
        let mut lab = std::process::Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.args(["power-cuts", "--chances", "1", "--data-dir"])
            .arg(folder);
        lab.output().unwrap()
    };
    let output = run(folder.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
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

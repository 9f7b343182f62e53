//! Files on a disk that fails or loses power. `lab` cuts the power at every moment of each change of a clock.
#![allow(clippy::unwrap_used)]

use lab::{
    power_cuts::{DiskChange, StartFindings, test_change},
    sim_disk::{Dice, DiskFault, SharedDisk, SimDisk},
};
use serde_json::{Map, Value, json};
use storage::{
    StoredFile,
    disk::Disk,
    file::{StateFile, StoredContent},
};

const SETTINGS: &str = StoredFile::Settings.kind();

/// More steps than any save or start has.
const STEPS: usize = 64;

fn set(number: u64) -> Map<String, Value> {
    let filler = "x".repeat(usize::try_from(number % 7).unwrap() * 40);
    let Value::Object(map) = json!({"number": number, "filler": filler}) else {
        unreachable!()
    };
    map
}

fn number(content: &StoredContent) -> u64 {
    match content {
        StoredContent::Whole(body) => body["number"].as_u64().unwrap(),
        StoredContent::Nothing | StoredContent::Lost => 0,
    }
}

fn found(disk: &mut SimDisk) -> (StateFile, u64) {
    let (file, found) = StateFile::open(SETTINGS, disk);
    (file, number(&found.content))
}

/// Disks with no content, one generation, and two generations; each with the number that is found.
fn initial_disks() -> Vec<(SimDisk, u64)> {
    let mut disk = SimDisk::default();
    let mut beginnings = vec![(disk.clone(), 0)];
    for saved in 1..=3 {
        let (mut file, _) = found(&mut disk);
        file.save(&mut disk, &set(saved)).unwrap();
        beginnings.push((disk.clone(), saved));
    }
    beginnings
}

/// The test detects saves that are not durable or that overwrite the only copy.
#[test]
fn unsafe_saves_are_detected() {
    struct UnsafeSave {
        synced: bool,
        in_place: bool,
    }
    impl DiskChange for UnsafeSave {
        fn make(&self, mut disk: SharedDisk) -> bool {
            let name = if self.in_place { "a" } else { "b" };
            let mut done = disk.write(name, b"new");
            if self.synced {
                done = done.and_then(|()| disk.sync(name));
            }
            if !self.in_place {
                done = done.and_then(|()| disk.rename("b", "a"));
            }
            done.and_then(|()| disk.sync_folder()).is_ok()
        }

        fn start(&self, mut disk: SharedDisk) -> Result<StartFindings, String> {
            let bytes = disk.read("a").map_err(|error| error.to_string())?;
            let found = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            Ok([("a", found)].into())
        }
    }
    let disk = SimDisk::holding([("a".to_string(), b"old".to_vec())]);
    for (synced, in_place, sound) in [
        (true, false, true),
        (false, false, false),
        (true, true, false),
        (false, true, false),
    ] {
        let outcome = test_change(&disk, &UnsafeSave { synced, in_place }, 20);
        assert_eq!(outcome.is_ok(), sound, "{outcome:?}");
    }
}

#[test]
fn many_cuts_in_a_row_never_lose_an_acknowledged_save() {
    for seed in 1..=300 {
        let mut dice = Dice(seed * 104_729);
        let mut disk = SimDisk::default();
        let mut acknowledged = 0;
        let mut attempted = 0;
        for _ in 0..30 {
            let (mut file, number) = found(&mut disk);
            assert!(
                (acknowledged..=attempted).contains(&number),
                "found {number}, acknowledged {acknowledged}, attempted {attempted}, seed {seed}"
            );
            acknowledged = number;
            disk = disk.with_trouble(1 + dice.below(2 * STEPS), DiskFault::PowerCut);
            for _ in 0..4 {
                attempted += 1;
                if file.save(&mut disk, &set(attempted)).is_ok() {
                    acknowledged = attempted;
                }
            }
            disk = disk.after_power_cut(&mut dice);
        }
    }
}

#[test]
fn a_failed_save_is_not_found_later() {
    for (beginning, old) in initial_disks() {
        let new = old + 1;
        for step in 1..=STEPS {
            let mut disk = beginning.clone();
            let (mut file, _) = found(&mut disk);
            disk = disk.with_trouble(step, DiskFault::Error);
            let expected = if file.save(&mut disk, &set(new)).is_ok() { new } else { old };
            let mut disk = disk.healthy();
            let (_, number) = found(&mut disk.clone());
            assert_eq!(number, expected, "error at step {step}");
            file.save(&mut disk, &set(new + 1)).unwrap();
            assert_eq!(found(&mut disk).1, new + 1, "after an error at step {step}");
        }
    }
}

#[test]
fn a_cut_during_a_wipe_restores_no_older_content() {
    let (beginning, old) = initial_disks().pop().unwrap();
    for step in 1..=STEPS {
        let mut disk = beginning.clone();
        let (mut file, _) = found(&mut disk);
        disk = disk.with_trouble(step, DiskFault::PowerCut);
        let wiped = file.wipe(&mut disk).is_ok();
        for seed in 1..=100 {
            let mut left = disk.after_power_cut(&mut Dice(seed));
            let (_, number) = found(&mut left);
            // Names that are not synced may vanish in any order, so an older generation may be found.
            assert!(
                number == 0 || !wiped && number >= old - 1,
                "found {number}, step {step}"
            );
        }
    }
}

#[test]
fn a_damaged_file_is_moved_aside_and_reported() {
    let (beginning, _) = initial_disks().pop().unwrap();
    let damage = |disk: &mut SimDisk, name: &str| disk.write(name, b"{\"digitFontPx\":").unwrap();

    let mut disk = beginning.clone();
    damage(&mut disk, "settings.json");
    let (_, found) = StateFile::open(SETTINGS, &mut disk);
    assert_eq!(number(&found.content), 2, "the previous generation");
    assert_eq!(
        found.notes,
        [
            "settings.json is not usable (it does not start with a header of papertick); \
          it was renamed to settings.json.damaged-1, the previous generation is used"
        ]
    );
    assert!(disk.read("settings.json.damaged-1").unwrap().is_some());
    assert!(
        StateFile::open(SETTINGS, &mut disk).1.notes.is_empty(),
        "reported once"
    );

    damage(&mut disk, "settings.json");
    damage(&mut disk, "settings.json.previous");
    let (mut file, found) = StateFile::open(SETTINGS, &mut disk);
    assert_eq!(found.content, StoredContent::Lost);
    assert_eq!(found.notes.len(), 2);
    assert!(
        found.notes[0].contains("settings.json.damaged-2, defaults are used"),
        "{found:?}"
    );

    file.save(&mut disk, &set(9)).unwrap();
    file.wipe(&mut disk).unwrap();
    for name in [
        "settings.json",
        "settings.json.damaged-1",
        "settings.json.previous.damaged-1",
    ] {
        assert_eq!(disk.read(name).unwrap(), None, "{name} is wiped");
    }
}

#[test]
fn a_failed_read_is_repeated() {
    let (beginning, old) = initial_disks().pop().unwrap();
    let mut disk = beginning.clone().with_unreadable("settings.json", 2);
    let (_, found) = StateFile::open(SETTINGS, &mut disk);
    assert_eq!((number(&found.content), found.notes), (old, vec![]));
}

#[test]
fn an_unreadable_file_is_moved_aside_only_by_a_save() {
    let (beginning, old) = initial_disks().pop().unwrap();
    for (names, content) in [
        (&["settings.json"][..], Some(old - 1)),
        (&["settings.json.previous"], Some(old)),
        (&["settings.json", "settings.json.previous"], None),
    ] {
        let mut disk = beginning.clone();
        for name in names {
            disk = disk.with_unreadable(name, u32::MAX);
        }
        let (mut file, found) = StateFile::open(SETTINGS, &mut disk);
        assert_eq!(found.notes.len(), names.len(), "{names:?}");
        for (name, note) in names.iter().zip(&found.notes) {
            let start = format!("{name} cannot be read (input/output error); it was not changed");
            assert!(note.starts_with(&start), "{note}");
        }
        match content {
            Some(expected) => assert_eq!(number(&found.content), expected),
            None => assert_eq!(found.content, StoredContent::Lost),
        }
        // Nothing was changed on the disk.
        let mut healthy = disk.clone().healthy();
        assert_eq!(self::found(&mut healthy).1, old, "{names:?}");

        // Saves keep a copy of each unreadable file.
        for number in 10..14 {
            file.save(&mut disk, &set(number)).unwrap();
        }
        let mut disk = disk.healthy();
        assert_eq!(self::found(&mut disk).1, 13);
        for name in names {
            let copy = disk.read(&format!("{name}.unread-1")).unwrap();
            let before = beginning.clone().read(name).unwrap();
            assert_eq!(copy, before, "{name} of {names:?}");
        }
        let (mut file, _) = StateFile::open(SETTINGS, &mut disk);
        file.wipe(&mut disk).unwrap();
        assert_eq!(disk.names().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn settings_of_a_newer_program_are_not_damaged() {
    let mut disk = SimDisk::default();
    let newer = br#"{"papertick":"settings","version":2,"generation":1,"crc32":"0"}
{}
"#;
    disk.write("settings.json", newer).unwrap();
    let (_, found) = StateFile::open(SETTINGS, &mut disk);
    assert_eq!(found.content, StoredContent::Lost);
    assert_eq!(disk.read("settings.json").unwrap().unwrap(), newer);
}

#[test]
fn settings_that_are_lost_stay_lost_at_the_next_start() {
    let (mut disk, _) = initial_disks().pop().unwrap();
    for name in ["settings.json", "settings.json.previous"] {
        disk.write(name, b"damaged").unwrap();
    }
    for start in 1..=3 {
        let (_, found) = StateFile::open(SETTINGS, &mut disk);
        assert_eq!(found.content, StoredContent::Lost, "start {start}");
        assert!(!found.notes.is_empty(), "start {start}");
    }
    let (mut file, _) = StateFile::open(SETTINGS, &mut disk);
    file.wipe(&mut disk).unwrap();
    let (_, found) = StateFile::open(SETTINGS, &mut disk);
    assert_eq!(found.content, StoredContent::Nothing);
}

//! A file of records that grows: appends, complete writes, and reads after damage.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use lab::sim_disk::SimDisk;
use serde_json::{Map, Value};
use storage::{
    disk::Disk,
    series::{Records, Series},
};

/// Length of the checksum after each record, bytes.
const SUM_BYTES: usize = 4;

/// Attempts to read a file.
const READ_TRIES: u32 = 3;

const BYTES: usize = 4;

fn about(word: &str) -> Map<String, Value> {
    Map::from_iter([("word".to_string(), word.into())])
}

fn open(disk: &mut SimDisk) -> (Series, Records, Vec<String>) {
    Series::open("tried", BYTES, disk)
}

fn found(disk: &SimDisk) -> (Option<String>, Vec<u8>) {
    let records = open(&mut disk.clone()).1;
    let word = records.about.map(|about| about["word"].to_string());
    (word, records.bytes)
}

#[test]
fn new_records_are_appended_and_other_changes_write_the_whole_file() {
    let mut disk = SimDisk::default().recording();
    let (mut series, records, notes) = open(&mut disk);
    assert_eq!((records, notes), (Records::default(), Vec::new()));
    let mut steps = 0;
    let mut save = |series: &mut Series, disk: &mut SimDisk, word, records: &[u8]| {
        series.save(disk, &about(word), records).unwrap();
        assert_eq!(found(disk), (Some(format!("\"{word}\"")), records.to_vec()));
        let done = disk.recorded()[steps..].join(", ");
        steps = disk.recorded().len();
        done
    };
    let rewritten = "write tried.dat.new, sync tried.dat.new, rename tried.dat.new";
    let appended = "append tried.dat, sync tried.dat";
    let first = save(&mut series, &mut disk, "a", b"11112222");
    assert!(first.contains(rewritten), "{first}");
    assert_eq!(save(&mut series, &mut disk, "a", b"111122223333"), appended);
    assert_eq!(save(&mut series, &mut disk, "a", b"111122223333"), "");
    for (word, records) in [("a", &b"11114444"[..]), ("a", b"1111"), ("b", b"11112222")] {
        let done = save(&mut series, &mut disk, word, records);
        assert!(done.contains(rewritten), "{done}");
    }
    let (mut series, _, _) = open(&mut disk);
    steps = disk.recorded().len();
    assert_eq!(
        series
            .save(&mut disk, &about("b"), b"111122225555")
            .map(|()| disk.recorded()[steps..].join(", "))
            .unwrap(),
        appended
    );
    series.wipe(&mut disk).unwrap();
    assert_eq!(disk.all_names(), Vec::<String>::new());
}

#[test]
fn after_truncation_or_damage_only_stored_records_are_read() {
    let mut disk = SimDisk::default();
    let (mut series, _, _) = open(&mut disk);
    series
        .save(&mut disk, &about("a"), b"111122223333")
        .unwrap();
    let whole = disk.bytes("tried.dat").unwrap().to_vec();
    let line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let holding = |bytes: &[u8]| SimDisk::holding([("tried.dat".to_string(), bytes.to_vec())]);
    for length in 0..whole.len() {
        let (word, records) = found(&holding(&whole[..length]));
        assert_eq!(word.is_some(), length >= line, "{length}");
        let left = length.saturating_sub(line) / (BYTES + SUM_BYTES) * BYTES;
        assert_eq!(records, b"111122223333"[..left], "{length}");
    }
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (word, records) = found(&holding(&flipped));
        assert_eq!(word.is_some(), bit / 8 >= line, "bit {bit}");
        assert!(b"111122223333".starts_with(&records), "bit {bit}");
        assert!(records.len() < 12, "bit {bit}");
    }
}

#[test]
fn nothing_is_appended_after_an_incomplete_record() {
    let mut disk = SimDisk::default();
    let (mut series, _, _) = open(&mut disk);
    series.save(&mut disk, &about("a"), b"1111").unwrap();
    disk.append("tried.dat", b"torn").unwrap();
    let (mut series, records, _) = open(&mut disk);
    assert_eq!(records.bytes, b"1111");
    series.save(&mut disk, &about("a"), b"11112222").unwrap();
    assert_eq!(found(&disk).1, b"11112222");
}

#[test]
fn a_removed_file_is_written_again_completely() {
    let mut disk = SimDisk::default();
    let (mut series, _, _) = open(&mut disk);
    series.save(&mut disk, &about("a"), b"1111").unwrap();
    disk.remove("tried.dat").unwrap();
    series.save(&mut disk, &about("a"), b"11112222").unwrap();
    assert_eq!(
        found(&disk),
        (Some("\"a\"".to_string()), b"11112222".to_vec())
    );
}

#[test]
fn a_failed_read_is_repeated() {
    let mut disk = SimDisk::default();
    let (mut series, _, _) = open(&mut disk);
    series.save(&mut disk, &about("a"), b"11112222").unwrap();
    let note = "tried.dat cannot be read (input/output error); a new file is started";
    for (failures, bytes, notes) in [
        (READ_TRIES - 1, &b"11112222"[..], &[][..]),
        (READ_TRIES, b"", &[note]),
    ] {
        let mut disk = disk.clone().with_unreadable("tried.dat", failures);
        let (_, records, warnings) = open(&mut disk);
        assert_eq!(records.bytes, bytes, "{failures}");
        assert_eq!(warnings, notes, "{failures}");
    }
}

#[test]
fn a_damaged_file_is_moved_aside_and_wiped() {
    let mut disk = SimDisk::holding([("tried.dat".to_string(), b"{}\n".to_vec())]);
    let (mut series, records, notes) = open(&mut disk);
    assert_eq!(records, Records::default());
    assert_eq!(
        notes,
        [
            "tried.dat is not usable; it was renamed to tried.dat.damaged-1, and a new file is started"
        ]
    );
    series.save(&mut disk, &about("a"), b"1111").unwrap();
    assert_eq!(found(&disk).1, b"1111");
    series.wipe(&mut disk).unwrap();
    assert_eq!(disk.all_names(), Vec::<String>::new());
}

//! A file of records that grows: a line that says what it is, then records of one size, each with its checksum.
//!
//! What only grows is appended; anything else is written anew under another name, synced and renamed.
//! The checksum of a record covers its place and the line, so that a record counts in one file and at one place alone.
//!
//! **Invariant:** whatever moment the power goes away, the file reads as what was stored before the save that ran, and as
//! many of its new records as are whole.

use std::io;

use serde_json::{Map, Value, json};

use crate::{
    disk::Disk,
    file::{DAMAGED, KEPT_MAX, READ_TRIES, keep_aside, kept_name},
};

/// Form of the files that this program writes.
const VERSION: u64 = 1;

/// Bytes of a checksum.
const SUM_BYTES: usize = 4;

/// A file of records that grows.
#[derive(Debug)]
pub struct Series {
    kind: &'static str,
    record_bytes: usize,
    /// What the file holds; none if it must be written anew.
    stored: Option<Stored>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stored {
    line: String,
    records: usize,
    /// Checksum over all of them.
    sum: u32,
}

/// What was found in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    /// What its line says of it; none where there is no file, or none that can be read.
    pub about: Option<Map<String, Value>>,
    /// The records, one after the other.
    pub bytes: Vec<u8>,
}

impl Series {
    /// Opens the file of a kind and reads it, with what went wrong in words for people; a damaged one is kept aside.
    pub fn open(
        kind: &'static str,
        record_bytes: usize,
        disk: &mut dyn Disk,
    ) -> (Series, Records, Vec<String>) {
        let mut series = Series {
            kind,
            record_bytes,
            stored: None,
        };
        let name = series.name();
        let mut read = disk.read(&name);
        for _ in 1..READ_TRIES {
            if read.is_err() {
                read = disk.read(&name);
            }
        }
        match read {
            Ok(None) => (series, Records::default(), Vec::new()),
            Ok(Some(bytes)) => match series.read(&bytes) {
                Some(records) => (series, records, Vec::new()),
                None => {
                    let kept = match keep_aside(disk, &name, DAMAGED) {
                        Ok(kept) => format!("it was kept as {kept}"),
                        Err(error) => format!("it could not be kept aside ({error})"),
                    };
                    let note = format!("{name} is of no use; {kept}, and it begins anew");
                    (series, Records::default(), vec![note])
                }
            },
            Err(error) => {
                let note = format!("{name} cannot be read ({error}); it begins anew");
                (series, Records::default(), vec![note])
            }
        }
    }

    /// Saves records, one after the other, and what they are; durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them all; those from before are still there, and the next save writes the file anew.
    pub fn save(
        &mut self,
        disk: &mut dyn Disk,
        about: &Map<String, Value>,
        records: &[u8],
    ) -> io::Result<()> {
        let name = self.name();
        let new = Stored {
            line: self.line(about),
            records: records.len() / self.record_bytes,
            sum: crc32fast::hash(records),
        };
        let before = self.stored.take().filter(|stored| {
            let old = stored.records * self.record_bytes;
            stored.line == new.line
                && records
                    .get(..old)
                    .is_some_and(|old| crc32fast::hash(old) == stored.sum)
        });
        if before.as_ref() == Some(&new) {
            self.stored = before;
            return Ok(());
        }
        let appended = match before {
            Some(before) => {
                let bytes = self.encoded(Vec::new(), &new.line, records, before.records);
                disk.append(&name, &bytes)
            }
            None => Err(io::ErrorKind::NotFound.into()),
        };
        match appended {
            Ok(()) => disk.sync(&name)?,
            // Somebody may have removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let line = new.line.clone().into_bytes();
                self.write_anew(disk, &self.encoded(line, &new.line, records, 0))?;
            }
            Err(error) => return Err(error),
        }
        self.stored = Some(new);
        Ok(())
    }

    fn write_anew(&self, disk: &mut dyn Disk, bytes: &[u8]) -> io::Result<()> {
        let name = self.name();
        let beside = format!("{name}.new");
        let written = disk
            .write(&beside, bytes)
            .and_then(|()| disk.sync(&beside))
            .and_then(|()| disk.rename(&beside, &name));
        if let Err(error) = written {
            // A full disk needs the room; if it cannot be had, the next save takes the same name.
            let _ = disk.remove(&beside);
            return Err(error);
        }
        disk.sync_folder()
    }

    /// Removes the file and all that was kept aside.
    ///
    /// # Errors
    /// Something is still there.
    pub fn wipe(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        self.stored = None;
        let name = self.name();
        let kept = (1..=KEPT_MAX).map(|number| kept_name(&name, DAMAGED, number));
        let mut outcome = Ok(());
        for gone in kept.chain([format!("{name}.new"), name.clone()]) {
            outcome = outcome.and(disk.remove(&gone));
        }
        outcome.and(disk.sync_folder())
    }

    fn name(&self) -> String {
        format!("{}.dat", self.kind)
    }

    fn line(&self, about: &Map<String, Value>) -> String {
        let line = json!({
            "papertick": self.kind,
            "version": VERSION,
            "crc32": format!("{:08x}", self.line_sum(about)),
            "about": about,
        });
        format!("{line}\n")
    }

    fn line_sum(&self, about: &Map<String, Value>) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(self.kind.as_bytes());
        hasher.update(&(self.record_bytes as u64).to_le_bytes());
        hasher.update(Value::Object(about.clone()).to_string().as_bytes());
        hasher.finalize()
    }

    /// Some bytes, and after them the records from a place on, each with its checksum.
    fn encoded(&self, mut bytes: Vec<u8>, line: &str, records: &[u8], from: usize) -> Vec<u8> {
        let records = records.chunks_exact(self.record_bytes).enumerate();
        let added = records.clone().skip(from);
        bytes.reserve_exact(added.len() * (self.record_bytes + SUM_BYTES));
        for (at, record) in added {
            bytes.extend(record);
            bytes.extend(record_sum(line, at, record).to_le_bytes());
        }
        bytes
    }

    /// Reads the file; none if its line is not one of ours. What is not whole ends it.
    fn read(&mut self, bytes: &[u8]) -> Option<Records> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = bytes.split_at(end + 1);
        let line = std::str::from_utf8(line).ok()?;
        let head: Value = serde_json::from_str(line).ok()?;
        let about = head["about"].as_object()?;
        if self.line(about) != line {
            return None;
        }
        let mut records = Vec::with_capacity(rest.len());
        let mut whole = 0;
        for (at, entry) in rest.chunks(self.record_bytes + SUM_BYTES).enumerate() {
            let Some((record, sum)) = entry.split_last_chunk::<SUM_BYTES>() else {
                break;
            };
            let is_whole = record.len() == self.record_bytes
                && u32::from_le_bytes(*sum) == record_sum(line, at, record);
            if !is_whole {
                break;
            }
            records.extend(record);
            whole = at + 1;
        }
        // Behind what is not whole nothing can be appended.
        let is_whole = rest.len() == whole * (self.record_bytes + SUM_BYTES);
        self.stored = is_whole.then(|| Stored {
            line: line.to_owned(),
            records: whole,
            sum: crc32fast::hash(&records),
        });
        Some(Records {
            about: Some(about.clone()),
            bytes: records,
        })
    }
}

fn record_sum(line: &str, at: usize, record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(line.as_bytes());
    hasher.update(&(at as u64).to_le_bytes());
    hasher.update(record);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;
    use crate::sim_disk::SimDisk;

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
    fn what_grows_is_appended_and_what_differs_is_written_anew() {
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
        let anew = "write tried.dat.new, sync tried.dat.new, rename tried.dat.new";
        let appended = "append tried.dat, sync tried.dat";
        let first = save(&mut series, &mut disk, "a", b"11112222");
        assert!(first.contains(anew), "{first}");
        assert_eq!(save(&mut series, &mut disk, "a", b"111122223333"), appended);
        assert_eq!(save(&mut series, &mut disk, "a", b"111122223333"), "");
        for (word, records) in [("a", &b"11114444"[..]), ("a", b"1111"), ("b", b"11112222")] {
            let done = save(&mut series, &mut disk, word, records);
            assert!(done.contains(anew), "{done}");
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
    fn whatever_is_cut_off_or_changed_what_is_read_was_stored() {
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
    fn nothing_is_appended_behind_what_is_not_whole() {
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
    fn a_file_that_was_removed_comes_back_whole() {
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
    fn what_cannot_be_read_once_is_read_again() {
        let mut disk = SimDisk::default();
        let (mut series, _, _) = open(&mut disk);
        series.save(&mut disk, &about("a"), b"11112222").unwrap();
        let note = "tried.dat cannot be read (input/output error); it begins anew";
        for (failures, bytes, notes) in [
            (READ_TRIES - 1, &b"11112222"[..], &[][..]),
            (READ_TRIES, b"", &[note]),
        ] {
            let mut disk = disk.clone().with_unreadable("tried.dat", failures);
            let (_, records, told) = open(&mut disk);
            assert_eq!(records.bytes, bytes, "{failures}");
            assert_eq!(told, notes, "{failures}");
        }
    }

    #[test]
    fn a_stranger_is_kept_aside_and_goes_with_a_wipe() {
        let mut disk = SimDisk::holding([("tried.dat".to_string(), b"{}\n".to_vec())]);
        let (mut series, records, notes) = open(&mut disk);
        assert_eq!(records, Records::default());
        assert_eq!(
            notes,
            ["tried.dat is of no use; it was kept as tried.dat.damaged-1, and it begins anew"]
        );
        series.save(&mut disk, &about("a"), b"1111").unwrap();
        assert_eq!(found(&disk).1, b"1111");
        series.wipe(&mut disk).unwrap();
        assert_eq!(disk.all_names(), Vec::<String>::new());
    }
}

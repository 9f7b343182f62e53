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

//! A file of records that grows: a header line, then records of one size, each with its checksum.
//!
//! New records are appended. For any other change the file is written under another name, synced and renamed.
//! The checksum of a record covers its index and the header line, so that a record is valid only at its place.
//!
//! **Invariant:** after a power cut at any moment, the file has the records before the save in progress, and all new
//! records that are complete.

use std::io;

use serde_json::{Map, Value, json};

use crate::{
    disk::Disk,
    file::{ASIDE_MAX, DAMAGED, READ_TRIES, aside_name, move_aside},
};

/// Version of the file format.
const VERSION: u64 = 1;

/// Length of a checksum, bytes.
const SUM_BYTES: usize = 4;

/// A file of records that grows.
#[derive(Debug)]
pub struct Series {
    kind: &'static str,
    record_bytes: usize,
    /// Content of the file; `None` if the next save must write the whole file.
    stored: Option<Stored>,
}

/// Content of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stored {
    line: String,
    records: usize,
    /// Checksum of all records.
    sum: u32,
}

/// Records that were read from the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    /// Description in the header line; `None` if there is no readable file.
    pub about: Option<Map<String, Value>>,
    /// The concatenated records.
    pub bytes: Vec<u8>,
}

impl Series {
    /// Opens and reads the file of a kind. Moves a damaged file aside. The third part has warnings for people.
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
            Ok(Some(bytes)) => match series.parse(&bytes) {
                Some(records) => (series, records, Vec::new()),
                None => {
                    let moved = match move_aside(disk, &name, DAMAGED) {
                        Ok(moved) => format!("it was renamed to {moved}"),
                        Err(error) => format!("it could not be renamed ({error})"),
                    };
                    let note = format!("{name} is not usable; {moved}, and a new file is started");
                    (series, Records::default(), vec![note])
                }
            },
            Err(error) => {
                let note = format!("{name} cannot be read ({error}); a new file is started");
                (series, Records::default(), vec![note])
            }
        }
    }

    /// Saves concatenated records and their description. They are durable when this returns.
    ///
    /// # Errors
    /// Not all records were written; the previous records are unchanged, and the next save writes the whole file.
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
            // There is no file yet, or it was removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let line = new.line.clone().into_bytes();
                self.write_all(disk, &self.encoded(line, &new.line, records, 0))?;
            }
            Err(error) => return Err(error),
        }
        self.stored = Some(new);
        Ok(())
    }

    /// Writes the whole file.
    fn write_all(&self, disk: &mut dyn Disk, bytes: &[u8]) -> io::Result<()> {
        let name = self.name();
        let new = format!("{name}.new");
        let written = disk
            .write(&new, bytes)
            .and_then(|()| disk.sync(&new))
            .and_then(|()| disk.rename(&new, &name));
        if let Err(error) = written {
            // The disk may be full. If the file cannot be removed, the next save replaces it.
            let _ = disk.remove(&new);
            return Err(error);
        }
        disk.sync_folder()
    }

    /// Removes the file and all files that were moved aside.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn wipe(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        self.stored = None;
        let name = self.name();
        let aside = (1..=ASIDE_MAX).map(|number| aside_name(&name, DAMAGED, number));
        let mut removed = Ok(());
        for name in aside.chain([format!("{name}.new"), name.clone()]) {
            removed = removed.and(disk.remove(&name));
        }
        removed.and(disk.sync_folder())
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

    /// Appends the records from an index on, each with its checksum, to `bytes`.
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

    /// Parses the file up to the first invalid record; `None` if its header line is invalid.
    fn parse(&mut self, bytes: &[u8]) -> Option<Records> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = bytes.split_at(end + 1);
        let line = std::str::from_utf8(line).ok()?;
        let head: Value = serde_json::from_str(line).ok()?;
        let about = head["about"].as_object()?;
        if self.line(about) != line {
            return None;
        }
        let mut records = Vec::with_capacity(rest.len());
        let mut valid = 0;
        for (at, entry) in rest.chunks(self.record_bytes + SUM_BYTES).enumerate() {
            let Some((record, sum)) = entry.split_last_chunk::<SUM_BYTES>() else {
                break;
            };
            let is_valid = record.len() == self.record_bytes
                && u32::from_le_bytes(*sum) == record_sum(line, at, record);
            if !is_valid {
                break;
            }
            records.extend(record);
            valid = at + 1;
        }
        // Records cannot be appended after an invalid one.
        let all_valid = rest.len() == valid * (self.record_bytes + SUM_BYTES);
        self.stored = all_valid.then(|| Stored {
            line: line.to_owned(),
            records: valid,
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

//! One file with the generation before it, in three names: `<kind>.json`, `.previous` and `.new`.
//!
//! A save writes and syncs the new file under its own name, moves the current one to the previous name,
//! moves the new one to the current name and syncs the folder.
//! Whichever of these steps a power cut leaves behind, the current or the previous name holds a whole set.

use std::io;

use serde_json::{Map, Value};

use super::{
    disk::Disk,
    document::{Damage, Document},
};

/// Damaged files of one kind that are kept.
const KEPT_MAX: u32 = 5;

/// One file with the generation before it.
#[derive(Debug)]
pub struct StateFile {
    kind: &'static str,
    generation: u64,
    /// The current name holds a whole set, so it may replace the previous one.
    current_whole: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The newest whole set; none if there is none.
    pub body: Option<Map<String, Value>>,
    /// What went wrong, in words for people.
    pub notes: Vec<String>,
}

/// State of one name.
enum Name {
    Missing,
    Whole(Document),
    Unusable(String),
}

impl StateFile {
    /// Finds the newest whole set; damaged files are kept aside.
    pub fn open(kind: &'static str, disk: &mut dyn Disk) -> (StateFile, Found) {
        let mut file = StateFile {
            kind,
            generation: 0,
            current_whole: false,
        };
        let mut found = Found::default();
        let current = file.look(disk, &file.current());
        let previous = file.look(disk, &file.previous());
        let previous_whole = matches!(previous, Name::Whole(_));
        for (name, state) in [(file.current(), current), (file.previous(), previous)] {
            match state {
                Name::Missing => {}
                Name::Whole(document) => {
                    file.current_whole |= name == file.current();
                    if found.body.is_none() {
                        file.generation = document.generation;
                        found.body = Some(document.body);
                    }
                }
                Name::Unusable(reason) => {
                    let kept = keep_aside(disk, &name);
                    let used = match (name == file.current(), previous_whole, &found.body) {
                        (true, true, _) => "the generation before it is used",
                        (true, false, _) => "defaults are used",
                        (false, _, Some(_)) => "the current one is used",
                        (false, _, None) => "defaults are used",
                    };
                    found
                        .notes
                        .push(format!("{name} is of no use ({reason}); {kept}, {used}"));
                }
            }
        }
        (file, found)
    }

    /// Saves a set.
    ///
    /// # Errors
    /// The disk did not take it; the set from before is still the one that will be found.
    pub fn save(&mut self, disk: &mut dyn Disk, body: &Map<String, Value>) -> io::Result<()> {
        let document = Document {
            generation: self.generation + 1,
            body: body.clone(),
        };
        let new = format!("{}.new", self.current());
        let prepared = disk
            .write(&new, &document.encode(self.kind))
            .and_then(|()| disk.sync(&new));
        if let Err(error) = prepared {
            // A full disk needs the room; if it cannot be had, the next save takes the same name.
            let _ = disk.remove(&new);
            return Err(error);
        }
        let moved = self.current_whole;
        if moved {
            disk.rename(&self.current(), &self.previous())?;
            self.current_whole = false;
        }
        disk.rename(&new, &self.current())
            .and_then(|()| disk.sync_folder())
            .inspect_err(|_| {
                // The set was refused, so the one before must be found; the disk may refuse that too.
                if moved {
                    self.current_whole = disk.rename(&self.previous(), &self.current()).is_ok();
                } else {
                    let _ = disk.remove(&self.current());
                }
            })?;
        self.generation = document.generation;
        self.current_whole = true;
        Ok(())
    }

    /// Removes all generations and all damaged copies.
    ///
    /// # Errors
    /// Something is still there.
    pub fn wipe(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        let current = self.current();
        let kept = |name: String| (1..=KEPT_MAX).map(move |number| kept_name(&name, number));
        let older = [format!("{current}.new"), self.previous()]
            .into_iter()
            .chain(kept(current.clone()))
            .chain(kept(self.previous()));
        self.current_whole = false;
        let mut outcome = Ok(());
        for name in older {
            outcome = outcome.and(disk.remove(&name));
        }
        // The current one goes last: a power cut in the middle must not bring an older set back.
        outcome
            .and(disk.sync_folder())
            .and(disk.remove(&current))
            .and(disk.sync_folder())
    }

    fn current(&self) -> String {
        format!("{}.json", self.kind)
    }

    fn previous(&self) -> String {
        format!("{}.json.previous", self.kind)
    }

    fn look(&self, disk: &mut dyn Disk, name: &str) -> Name {
        match disk.read(name) {
            Ok(None) => Name::Missing,
            Ok(Some(bytes)) => match Document::decode(self.kind, &bytes) {
                Ok(document) => Name::Whole(document),
                Err(damage) => Name::Unusable(reason(&bytes, damage)),
            },
            Err(error) => Name::Unusable(error.to_string()),
        }
    }
}

fn reason(bytes: &[u8], damage: Damage) -> String {
    if bytes.is_empty() {
        return "it is empty".to_string();
    }
    damage.to_string()
}

fn kept_name(name: &str, number: u32) -> String {
    format!("{name}.damaged-{number}")
}

/// Moves a damaged file to a name of its own; tells in words what became of it.
fn keep_aside(disk: &mut dyn Disk, name: &str) -> String {
    let free =
        (1..KEPT_MAX).find(|number| matches!(disk.read(&kept_name(name, *number)), Ok(None)));
    let kept = kept_name(name, free.unwrap_or(KEPT_MAX));
    let moved = disk.rename(name, &kept).and_then(|()| disk.sync_folder());
    match moved {
        Ok(()) => format!("it was kept as {kept}"),
        Err(error) => format!("it could not be kept aside ({error})"),
    }
}

//! Compares a wiring with the host it is for: whether all files and lines are there, and may be used.

use std::{
    fs::{self, DirEntry, File, Metadata},
    io::ErrorKind,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{BusKind, DeviceFile, FoundLine, LineLocation, Mistake, UsedLine};
use crate::linux;

/// The one mistake of a host without GPIO.
const NO_GPIO: &str = "this host has no GPIO (there is no /dev/gpiochip0): use the file on the board of the clock; `papertick wiring check --file-only` checks the file alone";

/// Major number of the device files of a kind of bus.
fn major(kind: BusKind) -> u32 {
    match kind {
        BusKind::Spi => 153,
        BusKind::I2c => 89,
    }
}

/// What this host has not, or does not let this user use; nothing is opened for use, and no line changes.
pub(super) fn on_host(named: &[DeviceFile], used: &[UsedLine]) -> Vec<Mistake> {
    compared(named, used, Path::new("/"), linux::find)
}

/// What is missing or refused below a root; `find` looks a line up.
fn compared(
    named: &[DeviceFile],
    used: &[UsedLine],
    root: &Path,
    find: impl Fn(&LineLocation) -> Option<FoundLine>,
) -> Vec<Mistake> {
    let is_missing = |used: &UsedLine| match used.line.place {
        LineLocation::Named(_) | LineLocation::Numbered { .. } => find(&used.line.place).is_none(),
        LineLocation::Expander { .. } => false,
    };
    let lacks_lines = used.iter().any(is_missing);
    let is_here = |device: &&DeviceFile| below(root, &device.path).exists();
    if lacks_lines && !has_chips(root) {
        // The host is no board for a clock, so its missing buses have the same cause.
        let named: Vec<DeviceFile> = named.iter().filter(is_here).cloned().collect();
        let mut mistakes = devices(&named, root);
        mistakes.push(Mistake::at(None, NO_GPIO.into()));
        return mistakes;
    }
    let mut mistakes = devices(named, root);
    let refused = match lacks_lines {
        true => chips(root),
        false => Vec::new(),
    };
    // Lines of chips that this user may not look at are no mistakes of their own.
    match refused.is_empty() {
        true => mistakes.extend(lines(used, find)),
        false => mistakes.extend(refused),
    }
    mistakes
}

/// Where a file of the host is below a root.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// The device files of chips with lines, below a root.
fn chip_files(root: &Path) -> impl Iterator<Item = DirEntry> {
    let files = fs::read_dir(root.join("dev"));
    let files = files.into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().starts_with("gpiochip"))
}

fn has_chips(root: &Path) -> bool {
    chip_files(root).next().is_some()
}

/// The chips of lines that this user may not use, below a root.
fn chips(root: &Path) -> Vec<Mistake> {
    let mut mistakes: Vec<Mistake> = chip_files(root)
        .filter_map(|file| {
            let path = format!("/dev/{}", file.file_name().to_string_lossy());
            let metadata = fs::metadata(file.path()).ok()?;
            let refused = opened(&path, &file.path(), &metadata, root)?;
            Some(Mistake::at(None, refused))
        })
        .collect();
    mistakes.sort();
    mistakes
}

/// The lines that a host has not, that are in use, or that go by two names; `find` looks one up.
pub fn lines(used: &[UsedLine], find: impl Fn(&LineLocation) -> Option<FoundLine>) -> Vec<Mistake> {
    let mut known: Vec<(&UsedLine, FoundLine)> = Vec::new();
    let mut mistakes = Vec::new();
    for used in used {
        if let LineLocation::Expander { .. } = used.line.place {
            continue;
        }
        let place = &used.line.place;
        let Some(found) = find(place) else {
            let what = format!(
                "the host has no line {place} for the {}; write one that `gpioinfo` lists",
                used.what
            );
            mistakes.push(Mistake::at(used.at, what));
            continue;
        };
        // A clock that runs is told of by the locks of its buses.
        if let Some(user) = found.user.as_ref().filter(|user| *user != linux::CONSUMER) {
            let what = format!(
                "the line {place} of the {} is in use by {user:?}; free it, or write a line that `gpioinfo` lists as unused",
                used.what
            );
            mistakes.push(Mistake::at(used.at, what));
        }
        let is_same = |(other, is): &&(&UsedLine, FoundLine)| {
            is.chip == found.chip && is.number == found.number && other.line.place != *place
        };
        if let Some((other, _)) = known.iter().find(is_same) {
            let what = format!(
                "the line {place} of the {} is {} under another name, already the {}; \
                 write one that nothing else is on, or the same name",
                used.what, other.line.place, other.what
            );
            mistakes.push(Mistake::at(used.at.or(other.at), what));
        }
        known.push((used, found));
    }
    mistakes
}

/// The device files that are not there, not permitted or no such bus, below a root.
pub fn devices(named: &[DeviceFile], root: &Path) -> Vec<Mistake> {
    named
        .iter()
        .filter_map(|device| {
            let what = refusal(device, root)?;
            Some(Mistake::at(device.line, what))
        })
        .collect()
}

fn refusal(device: &DeviceFile, root: &Path) -> Option<String> {
    let path = &device.path;
    let place = below(root, path);
    let (bus, module, example) = match device.kind {
        BusKind::Spi => ("SPI", "spidev", "/dev/spidev0.0"),
        BusKind::I2c => ("I2C", "i2c-dev", "/dev/i2c-1"),
    };
    let Ok(metadata) = fs::metadata(&place) else {
        return Some(format!(
            "there is no {path}; enable the bus, and load its module with `modprobe {module}`"
        ));
    };
    let is_bus = metadata.file_type().is_char_device()
        && rustix::fs::major(metadata.rdev()) == major(device.kind);
    if !is_bus {
        return Some(format!(
            "{path} is no {bus} bus; write device = one such as {example:?}"
        ));
    }
    opened(path, &place, &metadata, root)
}

/// Why this user may not use a device file.
fn opened(path: &str, place: &Path, metadata: &Metadata, root: &Path) -> Option<String> {
    match File::options().read(true).write(true).open(place) {
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let group = group(metadata.gid(), root);
            Some(format!(
                "this user may not use {path}; it is for the group {group}: `usermod -aG {group} USER`"
            ))
        }
        Err(error) => Some(format!("{path} cannot be used: {error}")),
    }
}

/// Name of a group; its number if it has none.
fn group(gid: u32, root: &Path) -> String {
    let known = fs::read_to_string(root.join("etc/group")).unwrap_or_default();
    known
        .lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == gid.to_string()).then(|| name.to_owned())
        })
        .unwrap_or_else(|| gid.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn what_the_host_has_not_is_told_with_its_line() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("dev")).unwrap();
        fs::write(root.path().join("dev/i2c-1"), "").unwrap();
        let text = "base = \"rev-b\"\nspi.device = \"/dev/spidev9.0\"\n";
        let file = super::super::read(text).unwrap();
        let told: Vec<String> = devices(&file.devices, root.path())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "/dev/i2c-1 is no I2C bus; write device = one such as \"/dev/i2c-1\"",
                "line 2: there is no /dev/spidev9.0; enable the bus, and load its module with `modprobe spidev`",
                "there is no /dev/spidev1.0; enable the bus, and load its module with `modprobe spidev`",
            ]
        );
    }

    #[test]
    fn mistakes_of_the_file_and_of_the_host_are_told_at_once() {
        let text = "base = \"rev-b\"\nspi.hz = 1\ni2c.device = \"/dev/null\"\nspi.device = \"/dev/zero\"\n";
        let mistakes = super::super::read_for_host(text).unwrap_err();
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        for expected in [
            "line 2: [spi]: `hz` is 1 where",
            "line 3: /dev/null is no I2C bus; write device = one such as \"/dev/i2c-1\"",
            "line 4: /dev/zero is no SPI bus; write device = one such as \"/dev/spidev0.0\"",
        ] {
            assert!(
                told.iter().any(|told| told.starts_with(expected)),
                "{expected}: {told:#?}"
            );
        }
    }

    #[test]
    fn the_lines_of_a_file_are_looked_for_on_the_host() {
        let file = super::super::read("base = \"rev-b\"\n").unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("dev")).unwrap();
        fs::write(root.path().join("dev/gpiochip0"), "").unwrap();
        let told: Vec<String> = compared(&[], &file.lines, root.path(), |_| None)
            .iter()
            .map(ToString::to_string)
            .collect();
        let of_host = file.lines.iter().map(|used| &used.line.place);
        let of_host = of_host.filter(|place| !matches!(place, LineLocation::Expander { .. }));
        assert_eq!(told.len(), of_host.clone().count());
        for (told, place) in told.iter().zip(of_host) {
            let missing = format!("the host has no line {place} for the ");
            assert!(told.starts_with(&missing), "{told}");
        }
    }

    #[test]
    fn a_host_without_gpio_is_one_mistake() {
        let file = super::super::read("base = \"rev-b\"\n").unwrap();
        let root = tempfile::tempdir().unwrap();
        let told = compared(&file.devices, &file.lines, root.path(), |_| None);
        assert_eq!(told, [Mistake::at(None, NO_GPIO.into())]);
    }

    #[test]
    fn lines_of_chips_that_cannot_be_used_are_no_mistakes_of_their_own() {
        let file = super::super::read("base = \"rev-b\"\n").unwrap();
        let root = tempfile::tempdir().unwrap();
        // What nobody can open for writing, whoever runs the tests.
        fs::create_dir_all(root.path().join("dev/gpiochip0")).unwrap();
        let told: Vec<String> = compared(&[], &file.lines, root.path(), |_| None)
            .iter()
            .map(ToString::to_string)
            .collect();
        let [told] = told.as_slice() else {
            panic!("{told:#?}");
        };
        assert!(
            told.starts_with("/dev/gpiochip0 cannot be used: "),
            "{told}"
        );
    }

    #[test]
    fn groups_are_told_by_name_where_they_have_one() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        let groups = "root:x:0:\ngpio:x:997:pi,me\nspi:x:99:\n";
        fs::write(root.path().join("etc/group"), groups).unwrap();
        for (gid, name) in [(997, "gpio"), (99, "spi"), (7, "7")] {
            assert_eq!(group(gid, root.path()), name);
        }
    }

    #[test]
    fn the_device_files_of_buses_have_the_numbers_that_linux_gives_them() {
        // As in Documentation/admin-guide/devices.txt of Linux; few machines that run tests have such files.
        assert_eq!(major(BusKind::Spi), 153);
        assert_eq!(major(BusKind::I2c), 89);
    }

    #[test]
    fn lines_that_are_missing_taken_or_the_same_are_told() {
        let text = "base = \"rev-b\"\nspi.command = \"gpio:MISSING\"\n[[panel]]\nselect = \"gpio:TAKEN\"\n\
            busy = \"chip:soc/7\"\nreset = \"gpio:OURS\"\n[[panel]]\nselect = \"gpio:SEVEN\"\n";
        let file = super::super::read(text).unwrap();
        let found = |number, user: Option<&str>| {
            Some(FoundLine {
                chip: "/dev/gpiochip0".into(),
                number,
                user: user.map(Into::into),
            })
        };
        let find = |place: &LineLocation| match place.to_string().as_str() {
            "gpio:MISSING" => None,
            "gpio:TAKEN" => found(1, Some("spi0 CS0")),
            "gpio:OURS" => found(2, Some(linux::CONSUMER)),
            "chip:soc/7" | "gpio:SEVEN" => found(7, None),
            other => found(100 + other.bytes().map(u32::from).sum::<u32>(), None),
        };
        let find = |place: &LineLocation| {
            let mut found = find(place)?;
            if found.number >= 100 {
                found.chip = place.to_string().into();
            }
            Some(found)
        };
        let told: Vec<String> = lines(&file.lines, find)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "line 2: the host has no line gpio:MISSING for the data/command line; write one that `gpioinfo` lists",
                "line 4: the line gpio:TAKEN of the select line of panel 1 is in use by \"spi0 CS0\"; \
                 free it, or write a line that `gpioinfo` lists as unused",
                "line 8: the line gpio:SEVEN of the select line of panel 2 is chip:soc/7 under another name, \
                 already the busy line of panel 1; write one that nothing else is on, or the same name",
            ]
        );
    }

    #[test]
    fn groups_have_names() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        let groups = "root:x:0:\nspi:x:989:anna,ben\nbroken\n";
        fs::write(root.path().join("etc/group"), groups).unwrap();
        assert_eq!(group(989, root.path()), "spi");
        assert_eq!(group(5, root.path()), "5");
    }
}

//! Lists what the host has for panels, and checks that it has the device files and lines of a wiring, and that this user may
//! use them.

use std::{
    collections::HashSet,
    fs::{self, File, Metadata},
    io::ErrorKind,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{BusKind, DeviceFile, FoundLine, LineLocation, Mistake, UsedLine};
use crate::linux;

/// The mistake on a host without GPIO.
const NO_GPIO: &str = "this host has no GPIO (there is no /dev/gpiochip0): run it on the computer with the panels; `papertick wiring check --file-only` checks a file alone";

/// The file of a Raspberry Pi in which buses are enabled.
const PI_CONFIG: &str = "/boot/firmware/config.txt";

/// Buses of a Raspberry Pi, with what enables them there.
const PI_BUSES: [(&str, &str); 3] = [
    (
        "/dev/spidev0.",
        "`dtparam=spi=on` and, for a panel that is selected with GPIO8 or GPIO7, `dtoverlay=spi0-0cs`",
    ),
    ("/dev/spidev1.", "`dtoverlay=spi1-1cs`"),
    ("/dev/i2c-1", "`dtparam=i2c_arm=on`"),
];

/// What a host has for panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostParts {
    /// Name of the computer; `None` if it has none, as most without GPIO.
    pub computer: Option<String>,
    /// Device files of the SPI buses.
    pub spi: Vec<String>,
    /// Device files of the I2C buses.
    pub i2c: Vec<String>,
    /// Device files of the GPIO chips.
    pub gpio: Vec<String>,
}

impl HostParts {
    /// Those of the host below a root.
    pub fn find(root: &Path) -> HostParts {
        HostParts {
            computer: computer(root),
            spi: device_files(root, "spidev"),
            i2c: device_files(root, "i2c-"),
            gpio: device_files(root, "gpiochip"),
        }
    }

    pub fn is_raspberry_pi(&self) -> bool {
        self.computer.as_deref().is_some_and(is_raspberry_pi)
    }
}

/// Major number of the device files of a kind of bus.
fn major(kind: BusKind) -> u32 {
    match kind {
        BusKind::Spi => 153,
        BusKind::I2c => 89,
    }
}

/// Device files and lines that this host does not have or does not permit. No bus is used and no line changes.
pub(super) fn on_host(named: &[DeviceFile], used: &[UsedLine]) -> Vec<Mistake> {
    check(named, used, Path::new("/"), linux::find)
}

/// The same for a host below a root; `find` looks a line up.
fn check(
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
    let exists = |device: &&DeviceFile| below(root, &device.path).exists();
    if lacks_lines && device_files(root, "gpiochip").is_empty() {
        // The host is not a board for a clock, which is also why buses are missing.
        let named: Vec<DeviceFile> = named.iter().filter(exists).cloned().collect();
        let mut mistakes = devices(&named, root);
        mistakes.push(Mistake::at(None, NO_GPIO.into()));
        return mistakes;
    }
    let mut mistakes = devices(named, root);
    let refused = if lacks_lines { chips(root) } else { Vec::new() };
    // Without permission for the chips, their lines cannot be checked.
    if refused.is_empty() {
        mistakes.extend(lines(used, find))
    } else {
        mistakes.extend(refused)
    }
    mistakes
}

/// Path of a file below a root.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Name of the computer below a root, as its device tree has it.
fn computer(root: &Path) -> Option<String> {
    let name = fs::read_to_string(root.join("proc/device-tree/model")).ok()?;
    Some(name.trim_end_matches('\0').to_owned())
}

fn is_raspberry_pi(computer: &str) -> bool {
    computer.starts_with("Raspberry Pi")
}

/// Paths of the device files of a kind, such as `gpiochip`, below a root, in the order of their numbers.
fn device_files(root: &Path, kind: &str) -> Vec<String> {
    let files = fs::read_dir(root.join("dev"));
    let files = files.into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(kind)).collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names.iter().map(|name| format!("/dev/{name}")).collect()
}

/// GPIO chips below a root that this user may not use.
fn chips(root: &Path) -> Vec<Mistake> {
    let chips = device_files(root, "gpiochip").into_iter();
    chips
        .filter_map(|path| {
            let place = below(root, &path);
            let metadata = fs::metadata(&place).ok()?;
            let refused = opened(&path, &place, &metadata, root)?;
            Some(Mistake::at(None, refused))
        })
        .collect()
}

/// Lines that the host does not have, that are in use, or that have two names; `find` looks a line up.
pub fn lines(used: &[UsedLine], find: impl Fn(&LineLocation) -> Option<FoundLine>) -> Vec<Mistake> {
    let mut known: Vec<(&UsedLine, FoundLine)> = Vec::new();
    let mut mistakes = Vec::new();
    let mut checked = HashSet::new();
    for used in used {
        let place = &used.line.place;
        // Panels share a reset line.
        if matches!(place, LineLocation::Expander { .. }) || !checked.insert((used.at, place)) {
            continue;
        }
        let Some(found) = find(place) else {
            let what = format!(
                "the host has no line {place} for the {}; write one that `gpioinfo` lists",
                used.what
            );
            mistakes.push(Mistake::at(used.at, what));
            continue;
        };
        // The lock of a bus reports another clock that is running.
        if let Some(user) = found.user.as_ref().filter(|user| *user != linux::CONSUMER) {
            // The select lines of the bus.
            let how = if user.starts_with("spi0") {
                format!("free it by `dtoverlay=spi0-0cs` in {PI_CONFIG} and a restart")
            } else {
                "free it".into()
            };
            let what = format!(
                "the line {place} of the {} is in use by {user:?}; {how}, or write a line that `gpioinfo` lists as unused",
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

/// Device files below a root that do not exist, are not permitted, or are not such a bus.
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
        let is_pi = computer(root).is_some_and(|computer| is_raspberry_pi(&computer));
        let pi = PI_BUSES
            .iter()
            .find(|(bus, _)| is_pi && path.starts_with(bus));
        return Some(match pi {
            Some((_, line)) => format!(
                "there is no {path}; add {line} to {PI_CONFIG} and `{module}` to /etc/modules, and restart"
            ),
            None => format!(
                "there is no {path}; enable the bus, and load its module with `modprobe {module}`"
            ),
        });
    };
    let is_bus = metadata.file_type().is_char_device()
        && rustix::fs::major(metadata.rdev()) == major(device.kind);
    if !is_bus {
        return Some(format!(
            "{path} is not an {bus} bus; write device = {example:?} or another one"
        ));
    }
    opened(path, &place, &metadata, root)
}

/// Why this user cannot use a device file; `None` if it can.
fn opened(path: &str, place: &Path, metadata: &Metadata, root: &Path) -> Option<String> {
    match File::options().read(true).write(true).open(place) {
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Some(not_permitted(path, &group(metadata.gid(), root)))
        }
        Err(error) => Some(format!("{path} cannot be used: {error}")),
    }
}

/// What to do about a device file of a group.
fn not_permitted(path: &str, group: &str) -> String {
    // Membership of root's group would permit more than the buses.
    if group == "root" {
        return format!(
            "this user may not use {path}; only root may: install packaging/60-papertick.rules in /etc/udev/rules.d and restart"
        );
    }
    format!(
        "this user may not use {path}; it is for the group {group}: `sudo usermod -aG {group} $USER`, then log in again"
    )
}

/// Name of a group, or its number if it has none.
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
    fn missing_device_files_are_reported_with_their_lines() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("dev")).unwrap();
        fs::write(root.path().join("dev/i2c-1"), "").unwrap();
        let text = "base = \"rev-b\"\nspi.device = \"/dev/spidev9.0\"\n";
        let file = super::super::read(text).unwrap();
        let texts: Vec<String> = devices(&file.devices, root.path())
            .iter()
            .map(ToString::to_string)
            .collect();
        fs::create_dir_all(root.path().join("proc/device-tree")).unwrap();
        let model = root.path().join("proc/device-tree/model");
        fs::write(model, "Raspberry Pi 4 Model B Rev 1.4\0").unwrap();
        let parts = HostParts::find(root.path());
        assert!(parts.is_raspberry_pi());
        assert_eq!((parts.spi.len(), parts.i2c), (0, vec!["/dev/i2c-1".into()]));
        let on_pi: Vec<String> = devices(&file.devices, root.path())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(on_pi[..2], texts[..2]);
        assert_eq!(
            on_pi[2],
            "there is no /dev/spidev1.0; add `dtoverlay=spi1-1cs` to /boot/firmware/config.txt and `spidev` to \
             /etc/modules, and restart"
        );
        assert_eq!(
            texts,
            [
                "/dev/i2c-1 is not an I2C bus; write device = \"/dev/i2c-1\" or another one",
                "line 2: there is no /dev/spidev9.0; enable the bus, and load its module with `modprobe spidev`",
                "there is no /dev/spidev1.0; enable the bus, and load its module with `modprobe spidev`",
            ]
        );
    }

    #[test]
    fn the_group_of_a_device_file_is_named_unless_it_is_that_of_root() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        fs::write(root.path().join("etc/group"), "root:x:0:\nspi:x:989:pi\n").unwrap();
        for (gid, expected) in [
            (989, "`sudo usermod -aG spi $USER`, then log in again"),
            (990, "`sudo usermod -aG 990 $USER`, then log in again"),
            (0, "60-papertick.rules in /etc/udev/rules.d"),
        ] {
            let text = not_permitted("/dev/spidev0.0", &group(gid, root.path()));
            assert!(text.contains(expected), "{text}");
            assert!(!text.contains("-aG root"), "{text}");
        }
    }

    #[test]
    fn missing_lines_are_reported_once() {
        let file = super::super::read("base = \"v8\"\n").unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("dev")).unwrap();
        fs::write(root.path().join("dev/gpiochip0"), "").unwrap();
        let mistakes = check(&[], &file.lines, root.path(), |_| None);
        // Both expanders share the reset line GPIO21.
        let missing = |mistake: &Mistake| Some(mistake.what.split_once(" for the ")?.0.to_owned());
        let missing: Vec<String> = mistakes.iter().filter_map(missing).collect();
        let lines = ["GPIO21", "GPIO4", "GPIO38"];
        assert_eq!(
            missing,
            lines.map(|line| format!("the host has no line gpio:{line}"))
        );
    }

    #[test]
    fn a_host_without_gpio_is_one_mistake() {
        let file = super::super::read("base = \"rev-b\"\n").unwrap();
        let root = tempfile::tempdir().unwrap();
        let mistakes = check(&file.devices, &file.lines, root.path(), |_| None);
        assert_eq!(mistakes, [Mistake::at(None, NO_GPIO.into())]);
    }

    #[test]
    fn without_permission_for_a_chip_its_lines_are_not_reported() {
        let file = super::super::read("base = \"rev-b\"\n").unwrap();
        let root = tempfile::tempdir().unwrap();
        // A directory cannot be opened for writing, not even by root.
        fs::create_dir_all(root.path().join("dev/gpiochip0")).unwrap();
        let texts: Vec<String> = check(&[], &file.lines, root.path(), |_| None)
            .iter()
            .map(ToString::to_string)
            .collect();
        let [text] = texts.as_slice() else {
            panic!("{texts:#?}");
        };
        assert!(
            text.starts_with("/dev/gpiochip0 cannot be used: "),
            "{text}"
        );
    }

    #[test]
    fn missing_used_and_duplicate_lines_are_reported() {
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
        let texts: Vec<String> = lines(&file.lines, find)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            texts,
            [
                "line 2: the host has no line gpio:MISSING for the data/command line; write one that `gpioinfo` lists",
                "line 4: the line gpio:TAKEN of the select line of panel 1 is in use by \"spi0 CS0\"; \
                 free it by `dtoverlay=spi0-0cs` in /boot/firmware/config.txt and a restart, or write a line that `gpioinfo` lists as unused",
                "line 8: the line gpio:SEVEN of the select line of panel 2 is chip:soc/7 under another name, \
                 already the busy line of panel 1; write one that nothing else is on, or the same name",
            ]
        );
    }
}

//! Compares a wiring with the host it is for: whether all files and lines are there, and may be used.

use std::{
    fs::{self, File},
    io::ErrorKind,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use super::{DeviceFile, Mistake, Place, WiringFile};
use crate::linux;

/// What this host has not, or does not let this user use; nothing is opened for use, and no line changes.
pub fn on_host(file: &WiringFile) -> Vec<Mistake> {
    let mut mistakes = devices(file, Path::new("/"));
    for used in &file.lines {
        let is_here = match used.line.place {
            Place::Named(_) | Place::Numbered { .. } => linux::find(&used.line.place).is_some(),
            Place::Expander { .. } => true,
        };
        if !is_here {
            let what = format!(
                "the host has no line {} for the {}, or this user is not in the group of its chip; \
                 `gpioinfo` lists all lines",
                used.line.place, used.what
            );
            mistakes.push(Mistake::at(used.at, what));
        }
    }
    mistakes.sort();
    mistakes
}

/// The device files that are not there or not permitted, below a root.
pub fn devices(file: &WiringFile, root: &Path) -> Vec<Mistake> {
    file.devices
        .iter()
        .filter_map(|device| {
            let what = refusal(device, root)?;
            Some(Mistake::at(device.line, what))
        })
        .collect()
}

fn refusal(device: &DeviceFile, root: &Path) -> Option<String> {
    let path = &device.path;
    let place = root.join(path.trim_start_matches('/'));
    let Ok(metadata) = fs::metadata(&place) else {
        return Some(format!(
            "there is no {path}; enable the bus, and load its module with `modprobe {}`",
            module(path)
        ));
    };
    if !metadata.file_type().is_char_device() {
        return Some(format!("{path} is no device file"));
    }
    match File::options().read(true).write(true).open(&place) {
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

/// Module of the kernel that makes a device file.
fn module(path: &str) -> &'static str {
    match path.contains("i2c") {
        true => "i2c-dev",
        false => "spidev",
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
        let told: Vec<String> = devices(&file, root.path())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "/dev/i2c-1 is no device file",
                "line 2: there is no /dev/spidev9.0; enable the bus, and load its module with `modprobe spidev`",
                "there is no /dev/spidev1.0; enable the bus, and load its module with `modprobe spidev`",
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
        assert_eq!(module("/dev/i2c-1"), "i2c-dev");
    }
}

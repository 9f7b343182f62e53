//! The parts of `linux` that need no hardware.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use board::{
    assembly::{Hardware, assemble},
    linux::{Linux, find},
    wiring::{self, LineLocation},
};
use tokio::time::Instant;

#[test]
fn a_bus_is_used_by_one_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spidev0.0");
    fs::write(&path, "").unwrap();
    let path = path.to_str().unwrap();
    let (one, other) = (Linux(Instant::now()), Linux(Instant::now()));
    let claim = one.claim(path).unwrap();
    assert_eq!(other.claim(path).unwrap_err(), "another program uses it");
    drop(claim);
    assert!(other.claim(path).is_ok());
}

#[test]
fn errors_name_the_missing_device() {
    assert_eq!(find(&LineLocation::Named("no such line".into())), None);
    let mut wiring = wiring::base("rev-b").unwrap();
    wiring.spi.device = "/dev/spidev-that-is-not-there".into();
    let refused = assemble(&Linux(Instant::now()), &wiring).unwrap_err();
    assert!(
        refused.starts_with("/dev/spidev-that-is-not-there: No such file"),
        "{refused}"
    );
}

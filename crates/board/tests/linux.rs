//! The part of the host's layer that needs no hardware.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use board::{
    assembly::{Hardware, assemble},
    linux::{Linux, find},
    wiring::{self, LineLocation},
};
use tokio::time::Instant;

#[test]
fn a_bus_is_for_one_program_alone() {
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
fn what_is_not_there_is_named() {
    assert_eq!(find(&LineLocation::Named("no such line".into())), None);
    let mut wiring = wiring::base("rev-b").unwrap();
    wiring.spi.device = "/dev/spidev-that-is-not-there".into();
    let refused = assemble(&Linux(Instant::now()), &wiring).unwrap_err();
    assert!(
        refused.starts_with("/dev/spidev-that-is-not-there: No such file"),
        "{refused}"
    );
}

//! Images of firmware and pages: which are accepted, and which are not.

mod head;
mod page;
mod reading;
mod signing;

use std::io::Cursor;

use feeds::image::{Image, ImageFacts, ImageHeader, ImageKind, Packed};
use sha2::{Digest, Sha256};

fn facts() -> ImageFacts {
    ImageFacts {
        kind: ImageKind::Firmware,
        build_time: 1_764_547_200,
        board: "rev-b".to_owned(),
        panel: "122x250".to_owned(),
        target: "aarch64-unknown-linux-gnu".to_owned(),
        version: "4.1.0-rc.2".parse().unwrap(),
        commit: "5deff36".to_owned(),
    }
}

/// An unsigned image of a content.
fn packed(content: &[u8]) -> Vec<u8> {
    Packed::new(content).image(facts()).unwrap()
}

fn open(bytes: &[u8]) -> Image<Cursor<&[u8]>> {
    Image::open(Cursor::new(bytes)).unwrap()
}

/// Why an image cannot be opened.
fn refusal(bytes: &[u8]) -> String {
    Image::open(Cursor::new(bytes)).unwrap_err().to_string()
}

/// An image with a forged header and payload.
fn forged(payload: &[u8], change: impl FnOnce(&mut ImageHeader)) -> Vec<u8> {
    let mut head = open(&packed(b"x")).head().clone();
    head.payload_bytes = payload.len() as u64;
    head.payload_digest = Sha256::digest(payload).into();
    change(&mut head);
    [&head.encode().unwrap()[..], payload].concat()
}

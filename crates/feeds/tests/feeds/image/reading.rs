//! Payload and content: only what the header describes is accepted.

use std::{
    cell::Cell,
    io::{self, Cursor, Read, Seek, SeekFrom},
};

use feeds::image::{self, Image, ImageHeader};
use proptest::prelude::*;

use super::{facts, forged, open, packed};
use crate::support::fixture;

fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let unpacked = open(bytes).unpack(&mut content);
    unpacked
        .map(|()| content)
        .map_err(|fault| fault.to_string())
}

#[test]
fn the_content_of_a_foreign_image() {
    let expected = "not a program, but a content of some length; ".repeat(40);
    assert_eq!(
        unpacked(&fixture("image/firmware.img")),
        Ok(expected.into_bytes())
    );
}

/// A file that is truncated while it is read.
struct Shortened<'a> {
    file: Cursor<&'a [u8]>,
    length: &'a Cell<usize>,
}

impl Read for Shortened<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(self.file.position()).unwrap();
        let there = self.length.get().saturating_sub(at).min(into.len());
        self.file.read(&mut into[..there])
    }
}

impl Seek for Shortened<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_cut_off() {
    // Random enough not to compress, so that the payload has several chunks.
    let content: Vec<u8> = (0..400_000_u64)
        .map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
        .collect();
    let bytes = packed(&content);
    let wanted = open(&bytes).head().signed_bytes();
    let whole = usize::try_from(wanted).unwrap();
    for length in [ImageHeader::BYTES + 5, whole / 2, whole - 5] {
        let there = Cell::new(bytes.len());
        let file = Cursor::new(&bytes[..]);
        let mut image = Image::open(Shortened {
            file,
            length: &there,
        })
        .unwrap();
        image.unpack(&mut Vec::new()).unwrap();
        there.set(length);
        assert_eq!(
            image.unpack(&mut Vec::new()).unwrap_err().to_string(),
            format!("it is cut off: {length} of {wanted} bytes are there")
        );
    }
}

#[test]
fn the_same_content_gives_the_same_image() {
    let content = b"some program".repeat(1000);
    assert_eq!(packed(&content), packed(&content));
}

#[test]
fn only_the_described_content_is_unpacked() {
    let content = b"0123456789".repeat(10_000);
    let payload = image::Packed::new(&content).payload().to_vec();
    let longer = [&payload[..], b"more"].concat();
    let truth = open(&packed(&content)).head().clone();
    let describe = |head: &mut ImageHeader| {
        head.content_bytes = truth.content_bytes;
        head.content_digest = truth.content_digest;
    };
    assert_eq!(unpacked(&forged(&payload, describe)), Ok(content.clone()));
    let mut changed = forged(&payload, describe);
    *changed.last_mut().unwrap() ^= 1;
    #[rustfmt::skip]
    let rows = [
        (changed, "digest"),
        (forged(&payload, |head| { describe(head); head.content_bytes -= 1; }), "it unpacks to more than its header says"),
        (forged(&payload, |head| { describe(head); head.content_bytes += 1; }), "it unpacks to less than its header says"),
        (forged(&payload, |head| { describe(head); head.content_digest[31] ^= 1; }), "digest of the content"),
        (forged(&longer, describe), "something follows what is packed"),
        (forged(b"no gzip at all", describe), "it is not gzip"),
        (forged(&payload[..payload.len() / 2], describe), "it is not gzip"),
        (forged(&payload[..5], describe), "it is not gzip"),
    ];
    for (bytes, reason) in rows {
        assert_eq!(
            unpacked(&bytes),
            Err(format!("its payload is damaged ({reason})"))
        );
    }
}

#[test]
fn a_decompression_bomb_is_stopped_at_its_limit() {
    let bomb = image::Packed::new(&vec![0; 64 * 1024 * 1024])
        .payload()
        .to_vec();
    let bytes = forged(&bomb, |head| head.content_bytes = 1000);
    let mut written = Vec::new();
    let fault = open(&bytes).unpack(&mut written).unwrap_err();
    assert!(
        fault.to_string().contains("more than its header says"),
        "{fault}"
    );
    assert!(written.len() <= 1000, "{}", written.len());
}

#[test]
fn a_full_disk_is_not_reported_as_damage() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let fault = open(&packed(b"content")).unpack(&mut Full).unwrap_err();
    assert!(matches!(fault, image::ImageFault::Io(_)), "{fault}");
}

proptest! {
    #[test]
    fn packed_content_can_be_unpacked(content in proptest::collection::vec(any::<u8>(), 1..5000), minor in 0..u64::MAX) {
        let mut facts = facts();
        facts.version = semver::Version::new(4, minor, 0);
        let bytes = image::Packed::new(&content).image(facts.clone()).unwrap();
        let mut image = Image::open(Cursor::new(&bytes)).unwrap();
        prop_assert_eq!(&image.head().version, &facts.version);
        let mut out = Vec::new();
        image.unpack(&mut out).unwrap();
        prop_assert_eq!(out, content);
    }

    #[test]
    fn every_cut_is_noticed(at in 0_usize..591) {
        let bytes = &fixture("image/firmware.img")[..at];
        prop_assert!(Image::open(Cursor::new(bytes)).is_err());
    }
}

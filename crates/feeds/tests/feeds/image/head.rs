//! The header: its bytes, and its invalid values.

use feeds::image::{
    ImageFault, ImageHeader, ImageKind, PAGE_BYTES_MAX, PAYLOAD_BYTES_MAX, PROGRAM_BYTES_MAX,
};

use super::{open, packed, refusal};
use crate::support::{fixture, hex};

/// The documented table of the header: offset, length and meaning of each field.
#[expect(clippy::disallowed_methods, reason = "the document is a file")]
fn documented() -> Vec<(usize, usize, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/firmware-image.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let (at, length) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
        Some((at, length, cells.next()?.to_owned()))
    });
    rows.collect()
}

#[test]
fn the_header_of_a_foreign_image_is_as_documented() {
    let bytes = fixture("image/firmware.img");
    let rows = documented();
    let mut next = 0;
    for (at, length, name) in &rows {
        assert_eq!(*at, next, "{name} follows what is before it");
        next = at + length;
    }
    assert_eq!(next, ImageHeader::BYTES);
    let field = |wanted: &str| {
        let (at, length, _) = rows.iter().find(|(_, _, name)| name == wanted).unwrap();
        &bytes[*at..][..*length]
    };
    let text = |name: &str| {
        std::str::from_utf8(field(name))
            .unwrap()
            .trim_end_matches('\0')
    };
    let number = |name: &str| {
        field(name)
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let image = open(&bytes);
    let head = image.head();
    assert_eq!(hex(field("magic")), "8950544b0d0a1a0a");
    assert_eq!(number("form"), 1);
    assert_eq!((number("kind"), head.kind), (1, ImageKind::Firmware));
    assert_eq!(number("packing"), 1);
    assert_eq!(number("payload length"), head.payload_bytes);
    assert_eq!(number("content length"), head.content_bytes);
    assert_eq!(number("build time"), head.build_time);
    assert_eq!(field("payload digest"), head.payload_digest);
    assert_eq!(field("content digest"), head.content_digest);
    assert_eq!(text("board"), head.board);
    assert_eq!(text("panel"), head.panel);
    assert_eq!(text("target"), head.target);
    assert_eq!(text("version"), head.version.to_string());
    assert_eq!(text("commit"), head.commit);
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[..ImageHeader::BYTES - 4]);
    assert_eq!(number("checksum"), u64::from(crc.sum()));
    assert_eq!(
        (head.version.to_string().as_str(), head.board.as_str()),
        ("4.1.0-rc.2", "rev-b")
    );
}

#[test]
fn every_flipped_bit_of_a_head_is_noticed() {
    let bytes = packed(b"content");
    for bit in 0..ImageHeader::BYTES * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        refusal(&flipped);
    }
}

#[test]
fn other_files_and_damaged_images_are_distinguished() {
    let whole = packed(b"content");
    let newer = {
        let mut bytes = whole.clone();
        bytes[8] = 2;
        bytes
    };
    let translated = {
        let mut bytes = whole.clone();
        bytes.remove(4);
        bytes
    };
    #[rustfmt::skip]
    let rows = [
        (&b""[..], "it is not a papertick image"),
        (b"\x7fELF", "it is not a papertick image"),
        (&[0xE9; 4096], "it is not a papertick image"),
        (&translated, "it is not a papertick image"),
        (&newer, "its format is 2, which needs a newer papertick"),
        (&whole[..100], "it is cut off: 100 of 512 bytes are there"),
        (&whole[..whole.len() - 1], &format!("it is cut off: {} of {} bytes are there", whole.len() - 1, whole.len())),
    ];
    for (bytes, reason) in rows {
        assert_eq!(refusal(bytes), reason);
    }
}

#[test]
fn invalid_header_fields_are_refused() {
    let image = packed(b"content");
    let good = open(&image).head().clone();
    let page = ImageHeader {
        kind: ImageKind::Page,
        board: String::new(),
        panel: String::new(),
        target: String::new(),
        ..good.clone()
    };
    let of = |change: fn(&mut ImageHeader), head: &ImageHeader| {
        let mut head = head.clone();
        change(&mut head);
        match head.encode() {
            Ok(bytes) => {
                assert_eq!(ImageHeader::decode(&bytes).unwrap(), head);
                None
            }
            Err(ImageFault::Head(field)) => Some(field),
            Err(fault) => panic!("{fault}"),
        }
    };
    type Change = fn(&mut ImageHeader);
    #[rustfmt::skip]
    let firmware: [(Change, Option<&str>); 17] = [
        (|_| {}, None),
        (|head| head.commit.clear(), None),
        (|head| head.board = "b".repeat(32), None),
        (|head| head.board = "b".repeat(33), Some("board")),
        (|head| head.board.clear(), Some("board")),
        (|head| head.board = "rev b".into(), Some("board")),
        (|head| head.board = "rév-b".into(), Some("board")),
        (|head| head.panel.clear(), Some("panel")),
        (|head| head.panel = "1".repeat(17), Some("panel")),
        (|head| head.target.clear(), Some("target")),
        (|head| head.commit = "c\n".into(), Some("commit")),
        (|head| head.payload_bytes = 0, Some("payload length")),
        (|head| head.payload_bytes = PAYLOAD_BYTES_MAX, None),
        (|head| head.payload_bytes = PAYLOAD_BYTES_MAX + 1, Some("payload length")),
        (|head| head.content_bytes = 0, Some("content length")),
        (|head| head.content_bytes = PROGRAM_BYTES_MAX, None),
        (|head| head.content_bytes = PROGRAM_BYTES_MAX + 1, Some("content length")),
    ];
    for (change, field) in firmware {
        assert_eq!(of(change, &good), field);
    }
    let pages: [(Change, Option<&str>); 4] = [
        (|_| {}, None),
        (|head| head.board = "rev-b".into(), Some("board")),
        (|head| head.content_bytes = PAGE_BYTES_MAX, None),
        (
            |head| head.content_bytes = PAGE_BYTES_MAX + 1,
            Some("content length"),
        ),
    ];
    for (change, field) in pages {
        assert_eq!(of(change, &page), field);
    }
}

//! The header of an image: [`ImageHeader::BYTES`] bytes with its kind, version and target clocks.

use semver::Version;

use super::{ImageFault, PAGE_BYTES_MAX, PAYLOAD_BYTES_MAX, PROGRAM_BYTES_MAX};

/// Magic bytes. The first one is not text, and the line ends reveal a conversion.
const MAGIC: [u8; 8] = *b"\x89PTK\r\n\x1a\n";

/// Version of the image format.
const FORM: u16 = 1;

/// The only compression: gzip.
const PACKED_AS_GZIP: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    Firmware,
    Page,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageHeader {
    pub kind: ImageKind,
    /// Length of the payload, bytes.
    pub payload_bytes: u64,
    /// Length of the content, bytes.
    pub content_bytes: u64,
    /// Build time, s since 1970-01-01 UTC; zero if unknown.
    pub build_time: u64,
    /// SHA-256 of the payload.
    pub payload_digest: [u8; 32],
    /// SHA-256 of the content.
    pub content_digest: [u8; 32],
    /// Board, such as `rev-b`; empty for a page, which fits all.
    pub board: String,
    /// Panels, such as `122x250`; empty for a page.
    pub panel: String,
    /// Target, such as `aarch64-unknown-linux-gnu`; empty for a page.
    pub target: String,
    pub version: Version,
    /// Commit; empty if unknown.
    pub commit: String,
}

/// Offset and maximum length of a header field, bytes.
type FieldRange = (usize, usize);

const FORM_AT: usize = 8;
const KIND_AT: usize = 10;
const PACKING_AT: usize = 11;
const PAYLOAD_BYTES_AT: usize = 16;
const CONTENT_BYTES_AT: usize = 24;
const BUILD_TIME_AT: usize = 32;
const PAYLOAD_DIGEST: FieldRange = (40, 32);
const CONTENT_DIGEST: FieldRange = (72, 32);
const BOARD: FieldRange = (104, 32);
const PANEL: FieldRange = (136, 16);
const TARGET: FieldRange = (152, 64);
const VERSION: FieldRange = (216, 64);
const COMMIT: FieldRange = (280, 64);
const SUM_AT: usize = ImageHeader::BYTES - 4;

impl ImageHeader {
    /// Length of a header, bytes.
    pub const BYTES: usize = 512;

    /// Length of header and payload, bytes: the signed part.
    pub fn signed_bytes(&self) -> u64 {
        ImageHeader::BYTES as u64 + self.payload_bytes
    }

    /// Encodes the header.
    ///
    /// # Errors
    /// A field is too long or invalid.
    pub fn encode(&self) -> Result<[u8; ImageHeader::BYTES], ImageFault> {
        self.check()?;
        let mut bytes = [0; ImageHeader::BYTES];
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        bytes[FORM_AT..][..2].copy_from_slice(&FORM.to_le_bytes());
        bytes[KIND_AT] = match self.kind {
            ImageKind::Firmware => 1,
            ImageKind::Page => 2,
        };
        bytes[PACKING_AT] = PACKED_AS_GZIP;
        for (at, number) in [
            (PAYLOAD_BYTES_AT, self.payload_bytes),
            (CONTENT_BYTES_AT, self.content_bytes),
            (BUILD_TIME_AT, self.build_time),
        ] {
            bytes[at..][..8].copy_from_slice(&number.to_le_bytes());
        }
        let version = self.version.to_string();
        let fields = self.texts(&version);
        let fields = fields.map(|(place, name, text)| (place, name, text.as_bytes()));
        let digests = [
            (PAYLOAD_DIGEST, "digest", &self.payload_digest[..]),
            (CONTENT_DIGEST, "digest", &self.content_digest[..]),
        ];
        for ((at, max), name, field) in fields.into_iter().chain(digests) {
            if field.len() > max {
                return Err(ImageFault::Head(name));
            }
            bytes[at..][..field.len()].copy_from_slice(field);
        }
        let sum = crc32(&bytes[..SUM_AT]);
        bytes[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// Decodes a header. The encoding is unique, so [`ImageHeader::encode`] returns the same bytes.
    ///
    /// # Errors
    /// It is not a valid header.
    pub fn decode(bytes: &[u8; ImageHeader::BYTES]) -> Result<ImageHeader, ImageFault> {
        if bytes[..MAGIC.len()] != MAGIC {
            return Err(ImageFault::Stranger);
        }
        let form = u16::from_le_bytes([bytes[FORM_AT], bytes[FORM_AT + 1]]);
        if form > FORM {
            return Err(ImageFault::NewerForm(form));
        }
        if bytes[SUM_AT..] != crc32(&bytes[..SUM_AT]).to_le_bytes() {
            return Err(ImageFault::Head("checksum"));
        }
        if form != FORM {
            return Err(ImageFault::Head("form"));
        }
        if bytes[PACKING_AT] != PACKED_AS_GZIP {
            return Err(ImageFault::Head("packing"));
        }
        let kind = match bytes[KIND_AT] {
            1 => ImageKind::Firmware,
            2 => ImageKind::Page,
            _ => return Err(ImageFault::Head("kind")),
        };
        let version = text(bytes, VERSION, "version")?;
        let head = ImageHeader {
            kind,
            payload_bytes: number(bytes, PAYLOAD_BYTES_AT),
            content_bytes: number(bytes, CONTENT_BYTES_AT),
            build_time: number(bytes, BUILD_TIME_AT),
            payload_digest: digest(bytes, PAYLOAD_DIGEST),
            content_digest: digest(bytes, CONTENT_DIGEST),
            board: text(bytes, BOARD, "board")?,
            panel: text(bytes, PANEL, "panel")?,
            target: text(bytes, TARGET, "target")?,
            version: Version::parse(&version).map_err(|_| ImageFault::Head("version"))?,
            commit: text(bytes, COMMIT, "commit")?,
        };
        if head.encode()? != *bytes {
            return Err(ImageFault::Head("unused bytes"));
        }
        Ok(head)
    }

    fn texts<'a>(&'a self, version: &'a str) -> [(FieldRange, &'static str, &'a str); 5] {
        [
            (BOARD, "board", &self.board),
            (PANEL, "panel", &self.panel),
            (TARGET, "target", &self.target),
            (VERSION, "version", version),
            (COMMIT, "commit", &self.commit),
        ]
    }

    fn check(&self) -> Result<(), ImageFault> {
        let content_max = match self.kind {
            ImageKind::Firmware => PROGRAM_BYTES_MAX,
            ImageKind::Page => PAGE_BYTES_MAX,
        };
        if !(1..=PAYLOAD_BYTES_MAX).contains(&self.payload_bytes) {
            return Err(ImageFault::Head("payload length"));
        }
        if !(1..=content_max).contains(&self.content_bytes) {
            return Err(ImageFault::Head("content length"));
        }
        for (name, text) in [
            ("board", &self.board),
            ("panel", &self.panel),
            ("target", &self.target),
        ] {
            match self.kind {
                ImageKind::Firmware if text.is_empty() => return Err(ImageFault::Head(name)),
                ImageKind::Page if !text.is_empty() => return Err(ImageFault::Head(name)),
                ImageKind::Firmware | ImageKind::Page => {}
            }
        }
        let version = self.version.to_string();
        for (_, name, text) in self.texts(&version) {
            if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ImageFault::Head(name));
            }
        }
        Ok(())
    }
}

fn number(bytes: &[u8; ImageHeader::BYTES], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..][..8]);
    u64::from_le_bytes(number)
}

fn digest(bytes: &[u8; ImageHeader::BYTES], (at, length): FieldRange) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(&bytes[at..][..length]);
    digest
}

/// A text up to its first zero. The bytes after it are checked by encoding the header again.
fn text(
    bytes: &[u8; ImageHeader::BYTES],
    (at, max): FieldRange,
    name: &'static str,
) -> Result<String, ImageFault> {
    let field = &bytes[at..][..max];
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(max);
    String::from_utf8(field[..end].to_vec()).map_err(|_| ImageFault::Head(name))
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

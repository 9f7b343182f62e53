//! The tar archive of a page: plain files with plain names, and no other feature of tar.

use super::ImageFault;

/// Length of a block, bytes.
const BLOCK: usize = 512;

/// Most files of a page.
pub(super) const FILES_MAX: usize = 1000;

/// Longest file name, bytes; the limit of a tar header.
const NAME_MAX: usize = 100;

/// Magic of a header.
const USTAR: &[u8; 8] = b"ustar\x0000";

const SIZE: (usize, usize) = (124, 12);
const SUM: (usize, usize) = (148, 8);
const TYPE_AT: usize = 156;
const MAGIC_AT: usize = 257;

/// Parses an archive: names and contents, in its order.
pub(super) fn read(mut archive: &[u8]) -> Result<Vec<(&str, &[u8])>, ImageFault> {
    let mut files: Vec<(&str, &[u8])> = Vec::new();
    loop {
        let (header, rest) = archive
            .split_first_chunk::<BLOCK>()
            .ok_or(ImageFault::Page("the archive has no end"))?;
        if header == &[0; BLOCK] {
            return Ok(files);
        }
        if header[MAGIC_AT..][..5] != USTAR[..5] || number(header, SUM) != Some(sum(header)) {
            return Err(ImageFault::Page("the archive is damaged"));
        }
        let size = number(header, SIZE)
            .and_then(|size| usize::try_from(size).ok())
            .filter(|size| *size <= rest.len())
            .ok_or(ImageFault::Page("the archive is damaged"))?;
        let (content, _) = rest.split_at(size);
        let padded = size.next_multiple_of(BLOCK).min(rest.len());
        archive = &rest[padded..];
        let name = name(header)?;
        match header[TYPE_AT] {
            b'5' => continue,
            b'0' | 0 => {}
            _ => return Err(ImageFault::Page("the archive holds more than files")),
        }
        if files.len() == FILES_MAX {
            return Err(ImageFault::Page("too many files"));
        }
        if files.iter().any(|(known, _)| *known == name) {
            return Err(ImageFault::Page("two files of one name"));
        }
        files.push((name, content));
    }
}

/// Encodes an archive.
pub(super) fn write(files: &[(String, Vec<u8>)], time: u64) -> Result<Vec<u8>, ImageFault> {
    if files.len() > FILES_MAX {
        return Err(ImageFault::Page("too many files"));
    }
    let mut archive = Vec::new();
    for (name, content) in files {
        if name.len() > NAME_MAX || !is_plain(name) {
            return Err(ImageFault::Page("a file has an invalid name"));
        }
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        for (at, text) in [
            (100, "0000644\0".to_string()),
            (108, "0000000\0".to_string()),
            (116, "0000000\0".to_string()),
            (SIZE.0, format!("{:011o}\0", content.len())),
            (136, format!("{:011o}\0", time & 0o77_777_777_777)),
        ] {
            header[at..][..text.len()].copy_from_slice(text.as_bytes());
        }
        header[TYPE_AT] = b'0';
        header[MAGIC_AT..][..USTAR.len()].copy_from_slice(USTAR);
        let sum = format!("{:06o}\0 ", sum(&header));
        header[SUM.0..][..SUM.1].copy_from_slice(sum.as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

/// The name of a file, without a leading `./`.
fn name(header: &[u8; BLOCK]) -> Result<&str, ImageFault> {
    // The prefix of a long name.
    if header[345] != 0 && header[MAGIC_AT + 5] == 0 {
        return Err(ImageFault::Page("a file has a name that is too long"));
    }
    let field = &header[..NAME_MAX];
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(NAME_MAX);
    let name = std::str::from_utf8(&field[..end])
        .map_err(|_| ImageFault::Page("a file has an invalid name"))?;
    let name = name.strip_prefix("./").unwrap_or(name);
    let name = name.strip_suffix('/').unwrap_or(name);
    let is_folder = header[TYPE_AT] == b'5';
    if is_plain(name) || is_folder && name.is_empty() {
        return Ok(name);
    }
    Err(ImageFault::Page("a file has an invalid name"))
}

/// Returns whether a name is a relative path without special parts that needs no escaping in a URL.
fn is_plain(name: &str) -> bool {
    let letters = |segment: &str| {
        segment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    name.split('/')
        .all(|segment| !matches!(segment, "" | "." | "..") && letters(segment))
}

/// An octal number, which may be followed by zeros or blanks.
fn number(header: &[u8; BLOCK], (at, length): (usize, usize)) -> Option<u64> {
    let field = std::str::from_utf8(&header[at..][..length]).ok()?;
    let digits = field.trim_matches(['\0', ' ']);
    let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    is_octal
        .then(|| u64::from_str_radix(digits, 8).ok())
        .flatten()
}

/// The checksum of a header, in which its own field counts as blanks.
fn sum(header: &[u8; BLOCK]) -> u64 {
    let field = SUM.0..SUM.0 + SUM.1;
    let bytes = header
        .iter()
        .enumerate()
        .map(|(at, byte)| u64::from(if field.contains(&at) { b' ' } else { *byte }));
    bytes.sum()
}

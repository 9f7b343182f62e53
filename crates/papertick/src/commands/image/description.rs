//! The header of an image as a line, a table or JSON.

use std::{
    fmt::Write,
    io::{Read, Seek},
};

use feeds::image::{Image, ImageHeader, ImageKind};
use jiff::Timestamp;
use runtime::printable::one_line;
use serde_json::{Value, json};

/// One line, such as `firmware 4.0.1 for rev-b, 122x250, aarch64-unknown-linux-gnu`.
pub(super) fn line<R: Read + Seek>(image: &Image<R>) -> String {
    let head = image.head();
    match head.kind {
        ImageKind::Firmware => one_line(&format!(
            "firmware {} for {}, {}, {}",
            head.version, head.board, head.panel, head.target
        )),
        ImageKind::Page => format!("page {}", head.version),
    }
}

pub(super) fn table<R: Read + Seek>(image: &Image<R>) -> String {
    let head = image.head();
    let size =
        |bytes: u64, digest: &[u8]| format!("{bytes} bytes, SHA-256 {}", hex::encode(digest));
    let mut rows = vec![
        ("kind", kind(head).to_string()),
        ("version", head.version.to_string()),
        ("board", head.board.clone()),
        ("panel", head.panel.clone()),
        ("target", head.target.clone()),
        ("commit", head.commit.clone()),
        ("built", built(head).unwrap_or_default()),
        ("content", size(head.content_bytes, &head.content_digest)),
        ("payload", size(head.payload_bytes, &head.payload_digest)),
        (
            "signed part",
            format!("the first {} bytes", head.signed_bytes()),
        ),
    ];
    if image.signatures().is_empty() {
        rows.push(("signed by", "no key".to_string()));
    }
    for signature in image.signatures() {
        let (id, comment) = (signature.key_id(), signature.comment());
        rows.push(("signed by", format!("{id} ({comment})")));
    }
    let mut text = String::new();
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:12} {}", one_line(value));
    }
    text
}

/// JSON; values that are unknown or do not apply are null.
pub(super) fn document<R: Read + Seek>(image: &Image<R>) -> Value {
    let head = image.head();
    let known = |text: &str| (!text.is_empty()).then(|| text.to_string());
    let signatures = image.signatures().iter().map(|signature| {
        json!({
            "key": signature.key_id().to_string(),
            "comment": signature.comment(),
        })
    });
    json!({
        "kind": kind(head),
        "version": head.version.to_string(),
        "board": known(&head.board),
        "panel": known(&head.panel),
        "target": known(&head.target),
        "commit": known(&head.commit),
        "buildTime": head.build_time,
        "contentBytes": head.content_bytes,
        "contentSha256": hex::encode(head.content_digest),
        "payloadBytes": head.payload_bytes,
        "payloadSha256": hex::encode(head.payload_digest),
        "signedBytes": head.signed_bytes(),
        "signatures": signatures.collect::<Vec<_>>(),
    })
}

fn kind(head: &ImageHeader) -> &'static str {
    match head.kind {
        ImageKind::Firmware => "firmware",
        ImageKind::Page => "page",
    }
}

fn built(head: &ImageHeader) -> Option<String> {
    let seconds = i64::try_from(head.build_time).ok()?;
    let time = Timestamp::from_second(seconds).ok()?;
    (seconds > 0).then(|| time.to_string())
}

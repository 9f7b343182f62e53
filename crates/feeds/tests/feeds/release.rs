//! Release feeds and checksum files, as tables.

use feeds::{malformed::Malformed, release};

use crate::support::{fixture, hex};

#[test]
fn checksums() {
    let digest = "269ed0f69e4c192512cc779e78c555090cebc7c785b609e338a62afc3ce25040";
    for file in [
        format!("{digest}\n"),
        format!("{digest}  papertick.img\n"),
        format!("  \n{digest}"),
        format!("{}\n", digest.to_uppercase()),
        digest.to_owned(),
    ] {
        assert_eq!(
            release::checksum(file.as_bytes()).map(|bytes| hex(&bytes)),
            Ok(digest.to_owned()),
            "{file}"
        );
    }
    for (file, reason) in [
        (digest[1..].to_owned(), "digest"),
        (format!("{digest}0"), "digest"),
        (String::new(), "digest"),
        ("no such file".to_owned(), "digest"),
        (
            format!("{}{digest}", " ".repeat(release::CHECKSUM_BODY_MAX)),
            "too-long",
        ),
    ] {
        assert_eq!(
            release::checksum(file.as_bytes()),
            Err(Malformed(reason)),
            "{file}"
        );
    }
}

#[test]
fn feeds() {
    let release = release::feed(&fixture("release/latest.json")).unwrap();
    assert_eq!(release.tag, "4.0.1");
    assert_eq!(
        release.image("papertick-rev-b.img"),
        Some((
            "https://example.org/papertick/releases/download/4.0.1/papertick-rev-b.img",
            "https://example.org/papertick/releases/download/4.0.1/papertick-rev-b.img.sha256",
        ))
    );
    assert_eq!(
        release.image("papertick-v8.img"),
        None,
        "without a checksum file"
    );
    assert_eq!(release.image("papertick-rev-a.img"), None);
    assert_eq!(release.image("ftp.img"), None);
    for (body, reason) in [
        ("", "json"),
        ("<html>", "json"),
        ("{}", "assets"),
        ("[]", "assets"),
        (r#"{"assets":{}}"#, "assets"),
    ] {
        assert_eq!(
            release::feed(body.as_bytes()),
            Err(Malformed(reason)),
            "{body}"
        );
    }
    let long = vec![b' '; release::FEED_BODY_MAX + 1];
    assert_eq!(release::feed(&long), Err(Malformed("too-long")));
}

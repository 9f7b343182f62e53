//! Release feeds and checksum files, as tables.

use feeds::{
    malformed::Malformed,
    release::{self, Listed, ReleaseFile},
};
use semver::Version;

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
    let releases = release::feed(&fixture("release/latest.json")).unwrap();
    let [release] = releases.as_slice() else {
        panic!("{releases:?}");
    };
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
        (r#"[{"assets":[]},{}]"#, "assets"),
        ("[1]", "assets"),
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

#[test]
fn a_list_of_releases_is_read_up_to_a_bound_and_without_drafts() {
    let release = |tag: usize, draft: bool| serde_json::json!({"tag_name": tag.to_string(), "draft": draft, "assets": []});
    let list: Vec<_> = (0..release::RELEASES_MAX + 9)
        .map(|tag| release(tag, tag == 1))
        .collect();
    let read = release::feed(serde_json::json!(list).to_string().as_bytes()).unwrap();
    assert_eq!(read.len(), release::RELEASES_MAX - 1);
    assert_eq!((read[0].tag.as_str(), read[1].tag.as_str()), ("0", "2"));
    assert_eq!(release::feed(b"[]"), Ok(Vec::new()));
}

#[test]
fn titles_and_page_urls_are_sanitised() {
    let title_and_page = |name: &str, page: &str| {
        let body =
            serde_json::json!({"tag_name": "4.3.0", "name": name, "html_url": page, "assets": []});
        let release = release::feed(body.to_string().as_bytes())
            .unwrap()
            .remove(0);
        (release.title, release.page)
    };
    let page = "https://example.org/4.3.0";
    assert_eq!(
        title_and_page("Winter", page),
        ("Winter".into(), page.into())
    );
    assert_eq!(
        title_and_page("a\nb\u{7}", "javascript:x"),
        ("ab".into(), "".into())
    );
    let long = format!("https://example.org/{}", "x".repeat(release::PAGE_URL_MAX));
    let (title, page) = title_and_page(&"é".repeat(release::TITLE_MAX + 1), &long);
    assert_eq!(
        (title.chars().count(), page.as_str()),
        (release::TITLE_MAX, "")
    );
}

/// Home Assistant rejects a whole state because of one invalid URL.
#[test]
fn invalid_page_urls_are_dropped() {
    for (page, is_accepted) in [
        ("https://example.org", true),
        ("http://clock_1.local:8080/notes?v=4.3.0#new", true),
        ("HTTPS://example.org/", false),
        ("https:///notes", false),
        ("https://", false),
        ("https://:80/", false),
        ("https://?notes", false),
        ("https://[fe80::1", false),
        ("https://example.org/a b", false),
        ("https://exa mple.org/", false),
        ("https://example.org/\u{7}", false),
        ("https://me:secret@example.org/", false),
        ("https://bücher.example/", false),
        ("ftp://example.org/", false),
        ("", false),
    ] {
        assert_eq!(release::is_page(page), is_accepted, "{page:?}");
    }
}

fn listed(tag: &str, url: &str) -> release::ListedRelease {
    let asset = serde_json::json!({"name": "a", "browser_download_url": url});
    let body = serde_json::json!({"tag_name": tag, "assets": [asset]}).to_string();
    release::feed(body.as_bytes()).unwrap().remove(0)
}

#[test]
fn tags_name_versions() {
    for (tag, version) in [
        ("4.0.1", Some("4.0.1")),
        ("v4.1.0-rc.2+build.7", Some("4.1.0-rc.2+build.7")),
        ("V5.0.0", Some("5.0.0")),
        ("4.1", None),
        ("vv4.1.0", None),
        ("04.1.0", None),
        ("latest", None),
        (&format!("4.1.0+{}", "x".repeat(release::TAG_MAX)), None),
        ("", None),
    ] {
        let named = listed(tag, "x")
            .version()
            .map(|version| version.to_string());
        assert_eq!(named.as_deref(), version, "{tag}");
    }
}

#[test]
fn file_urls_are_http_or_relative() {
    for (url, accepted) in [
        ("https://example.org/a.img", true),
        ("http://127.0.0.1:8000/a.img", true),
        ("a.img", true),
        ("./sub/a.img", true),
        ("/releases/a.img?x=a:b", true),
        ("ftp://example.org/a.img", false),
        ("file:///etc/passwd", false),
        ("data:text/plain,x", false),
        ("//example.org/a.img", false),
        ("", false),
    ] {
        assert_eq!(
            listed("4.0.0", url).assets.len(),
            usize::from(accepted),
            "{url}"
        );
    }
}

#[test]
fn written_feeds_can_be_read() {
    let version = Version::parse("4.1.0-rc.1").unwrap();
    let name = release::firmware_asset("rev-b", "122x250", "aarch64-unknown-linux-gnu");
    assert_eq!(
        name,
        "papertick-rev-b-122x250-aarch64-unknown-linux-gnu.img"
    );
    let files = [name.clone(), format!("{name}.sha256")].map(|name| Listed {
        url: format!("https://example.org/{name}"),
        name,
        bytes: 7,
    });
    let notes = release::ReleaseNotes {
        text: "\"Fixes\"\n".into(),
        page: Some("https://example.org/4.3.0".into()),
    };
    let text = release::write(&version, "2026-07-01T10:00:00Z", &notes, &files);
    let read = release::feed(text.as_bytes()).unwrap().remove(0);
    assert_eq!(read.version(), Some(version));
    assert_eq!(Some(read.page.as_str()), notes.page.as_deref());
    assert_eq!(
        read.assets,
        files.clone().map(|file| ReleaseFile {
            name: file.name,
            url: file.url
        })
    );
    assert_eq!(
        read.image(&name),
        Some((files[0].url.as_str(), files[1].url.as_str()))
    );
    let feed: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&feed["prerelease"], &feed["draft"]),
        (&true.into(), &false.into())
    );
    assert_eq!(feed["assets"][0]["size"], 7);
    let digest = [0xAB; 32];
    let file = release::checksum_file(&digest, "a.img");
    assert_eq!(file, format!("{}  a.img\n", "ab".repeat(32)));
    assert_eq!(release::checksum(file.as_bytes()), Ok(digest));
}

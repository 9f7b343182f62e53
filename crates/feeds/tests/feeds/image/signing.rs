//! Signatures of minisign: valid for the signed bytes only.

use std::io::Cursor;

use feeds::image::{self, Image, ImageHeader, SIGNATURES_MAX, Signature, VerifyingKey};

use super::open;
use crate::support::fixture;

fn key(name: &str) -> VerifyingKey {
    let text = String::from_utf8(fixture(&format!("image/{name}.pub"))).unwrap();
    VerifyingKey::parse(&text).unwrap()
}

fn signatures(name: &str) -> Vec<Signature> {
    Signature::parse_all(&fixture(&format!("image/{name}.minisig"))).unwrap()
}

/// The key that signed an image, or why none counts.
fn verified(bytes: &[u8], keys: &[VerifyingKey]) -> Result<String, String> {
    let image = Image::open(Cursor::new(bytes));
    image
        .and_then(|mut image| image.verify(keys))
        .map(|key| key.to_string())
        .map_err(|fault| fault.to_string())
}

#[test]
fn keys_of_minisign_are_parsed() {
    let file = String::from_utf8(fixture("image/stock.pub")).unwrap();
    let line = file.lines().nth(1).unwrap();
    let key = VerifyingKey::parse(&file).unwrap();
    assert_eq!(key.id().to_string(), "CB5481A22D301F0A");
    for text in [
        line.to_owned(),
        format!("{line}\n"),
        format!("  {line}\r\n"),
        file.replace('\n', "\r\n"),
        format!("{file}\n\n"),
    ] {
        assert_eq!(
            VerifyingKey::parse(&text).unwrap().id(),
            key.id(),
            "{text:?}"
        );
    }
    for text in [
        "",
        "\n\n",
        "untrusted comment: x",
        "untrusted comment: x\n",
        "RWQKHzAt",
        &line[1..],
        &format!("{line}A"),
        &format!("{line}\n{line}"),
        &format!("hello\n{line}"),
        &line.replace("RW", "AA"),
    ] {
        assert!(VerifyingKey::parse(text).is_none(), "{text:?}");
    }
}

#[test]
fn images_signed_by_minisign() {
    let firmware = fixture("image/firmware.img");
    let (stock, other) = (key("stock"), key("other"));
    let id = Ok(stock.id().to_string());
    let keys = [other.clone(), stock.clone()];
    assert_eq!(verified(&firmware, &keys[1..]), id);
    assert_eq!(verified(&firmware, &keys), id);
    assert_eq!(verified(&fixture("image/page.img"), &keys), id);
    let untrusted = format!(
        "it is signed by {}, and none of these keys is trusted",
        stock.id()
    );
    assert_eq!(verified(&firmware, &keys[..1]), Err(untrusted.clone()));
    assert_eq!(verified(&firmware, &[]), Err(untrusted));
    let signed = usize::try_from(open(&firmware).head().signed_bytes()).unwrap();
    assert_eq!(
        verified(&firmware[..signed], &keys),
        Err("it is not signed".to_owned())
    );
}

#[test]
fn any_change_after_signing_is_noticed() {
    let firmware = fixture("image/firmware.img");
    let keys = [key("stock")];
    for at in 0..firmware.len() {
        let mut changed = firmware.clone();
        changed[at] ^= 1;
        let comment = open(&firmware).signatures()[0].text().find('\n').unwrap();
        let signed = usize::try_from(open(&firmware).head().signed_bytes()).unwrap();
        // The first line of a signature is not signed.
        let untrusted = (signed..signed + comment).contains(&at);
        assert!(untrusted || verified(&changed, &keys).is_err(), "byte {at}");
    }
}

#[test]
fn an_image_may_carry_the_signatures_of_several_keys() {
    let firmware = fixture("image/firmware.img");
    let image = open(&firmware);
    let other = signatures("other").pop().unwrap();
    let signed = usize::try_from(image.head().signed_bytes()).unwrap();
    let both = image::sign(image.signatures(), &other).unwrap();
    let bytes = [&firmware[..signed], both.as_bytes()].concat();
    for name in ["stock", "other"] {
        let key = key(name);
        assert_eq!(
            verified(&bytes, std::slice::from_ref(&key)),
            Ok(key.id().to_string())
        );
    }
    // An invalid signature does not affect a valid one.
    let page = fixture("image/page.img");
    let of_page = open(&page).signatures()[0].clone();
    let mixed = image::sign(std::slice::from_ref(&other), &of_page).unwrap();
    let bytes = [&firmware[..signed], mixed.as_bytes()].concat();
    assert!(verified(&bytes, &[key("stock"), key("other")]).is_ok());
    assert!(
        verified(&bytes, &[key("stock")])
            .unwrap_err()
            .contains("changed after it was signed")
    );
    // A second signature of the same key replaces the first.
    let again = image::sign(open(&bytes).signatures(), &other).unwrap();
    assert_eq!(again.lines().count(), 8);
}

#[test]
fn only_signatures_may_follow_the_payload() {
    let firmware = fixture("image/firmware.img");
    let signed = usize::try_from(open(&firmware).head().signed_bytes()).unwrap();
    let one = String::from_utf8(firmware[signed..].to_vec()).unwrap();
    let legacy = fixture("image/legacy.minisig");
    let with = |behind: &[u8]| {
        let bytes = [&firmware[..signed], behind].concat();
        Image::open(Cursor::new(&bytes)).map(|image| image.signatures().len())
    };
    for (behind, count) in [
        (String::new(), 0),
        (one.clone(), 1),
        (one.trim_end().to_owned(), 1),
        (one.replace('\n', "\r\n"), 1),
        (one.repeat(SIGNATURES_MAX), SIGNATURES_MAX),
    ] {
        assert_eq!(with(behind.as_bytes()).unwrap(), count, "{behind:?}");
    }
    let too_long = one.replace("signature", &"s".repeat(8000));
    for (behind, reason) in [
        (&b"\n"[..], "not in the format of minisign"),
        (b"hello", "not in the format of minisign"),
        (&[0xFF; 8], "no text"),
        (one.repeat(SIGNATURES_MAX + 1).as_bytes(), "too many"),
        (
            &one.as_bytes()[..one.len() - 9],
            "not in the format of minisign",
        ),
        (
            one.replace("untrusted", "trusted").as_bytes(),
            "not in the format of minisign",
        ),
        (too_long.as_bytes(), "too long"),
        // The longest possible, and one byte more.
        (&[b'x'; 8192], "not in the format of minisign"),
        (&[b'x'; 8193], "too long"),
        (&legacy, "legacy format: sign without -l"),
    ] {
        assert_eq!(
            with(behind).unwrap_err().to_string(),
            format!("the bytes after its payload are no minisign signature ({reason})")
        );
    }
    assert_eq!(
        fifth_signature(&one),
        "the bytes after its payload are no minisign signature (too many)"
    );
    assert!(ImageHeader::BYTES < signed);
}

fn fifth_signature(one: &str) -> String {
    let four = Signature::parse_all(one.repeat(SIGNATURES_MAX).as_bytes()).unwrap();
    let other = signatures("other").pop().unwrap();
    image::sign(&four, &other).unwrap_err().to_string()
}

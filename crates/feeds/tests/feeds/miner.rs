//! The miner's responses, as a table.

use feeds::{malformed::Malformed, miner};
use market::{MinerStats, units::Hashrate};

use crate::support::fixture;

fn stats(hashrate: Option<u128>, best: Option<&str>) -> Result<MinerStats, Malformed> {
    Ok(MinerStats {
        hashrate: hashrate.map(Hashrate),
        best_difficulty: best.map(str::to_owned),
    })
}

#[test]
fn urls() {
    for host in ["bitaxe1", "http://bitaxe1", "http://bitaxe1/"] {
        assert_eq!(miner::url(host), "http://bitaxe1/api/system/info");
    }
    assert_eq!(
        miner::url("10.0.0.9:8080"),
        "http://10.0.0.9:8080/api/system/info"
    );
}

#[test]
fn answers() {
    for (body, expected) in [
        (
            r#"{"hashRate":1235.4,"bestDiff":"15.6M","sharesAccepted":4200,"temp":62.5}"#,
            stats(Some(1_235_400_000_000), Some("15.6M")),
        ),
        (r#"{"bestDiff":1560000}"#, stats(None, Some("1.6M"))),
        (r#"{"hashRate":500}"#, stats(Some(500_000_000_000), None)),
        (
            r#"{"hashRate":"500.25","temperature":55.0}"#,
            stats(Some(500_250_000_000), None),
        ),
        (r#"{"hashRate":0}"#, stats(Some(0), None)),
        (r#"{"hashRate":-1,"bestDiff":""}"#, stats(None, None)),
        (r#"{"hashRate":null,"bestDiff":[1]}"#, stats(None, None)),
        (r#"{"hashRate":1e300,"bestDiff":"a\nb"}"#, stats(None, None)),
        (r#"{}"#, stats(None, None)),
        ("not json", Err(Malformed("json"))),
        ("", Err(Malformed("json"))),
        ("[1,2,3]", Err(Malformed("not-a-map"))),
    ] {
        assert_eq!(miner::body(body.as_bytes()), expected, "{body}");
    }
    let long = vec![b' '; miner::BODY_MAX + 1];
    assert_eq!(miner::body(&long), Err(Malformed("too-long")));
}

#[test]
fn difficulties() {
    for (number, text) in [
        ("0", "0"),
        ("999", "999"),
        ("1500", "1.5K"),
        ("999949", "999.9K"),
        ("999960000000", "1T"),
        ("1000000", "1M"),
        ("15600000", "15.6M"),
        ("1.5e9", "1.5G"),
        ("1.2e10", "12G"),
        ("1.5e12", "1.5T"),
        ("1.5e15", "1.5P"),
        ("1234567890123456789012", "1234567.9P"),
        ("12.6", "13"),
    ] {
        let body = format!(r#"{{"bestDiff":{number}}}"#);
        assert_eq!(
            miner::body(body.as_bytes()),
            stats(None, Some(text)),
            "{number}"
        );
    }
}

#[test]
fn recorded() {
    let parsed = miner::body(&fixture("miner/info.json"));
    assert_eq!(parsed, stats(Some(1_182_456_780_000), Some("4.29G")));
}

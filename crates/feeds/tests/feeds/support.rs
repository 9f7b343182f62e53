//! Helpers for the tests of several feeds.

use std::{fs, path::Path};

use market::{
    Observation,
    units::{Currency, FeeRate, Price},
};

/// Bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

/// Hex digits as bytes.
pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

/// A recorded message of an upstream.
#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

/// A response of a pool; pools with the same software share it.
pub(crate) fn answer_of(pool: &str) -> Vec<u8> {
    let file = match pool {
        "satoshi_radio" => "noderunners",
        "local_public_pool" | "gobrrr_pool" => "public_pool",
        "eu_ckpool" | "nerdminers_org" | "nerdminer_io" => "ckpool",
        itself => itself,
    };
    fixture(&format!("pools/{file}.json"))
}

pub(crate) fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

pub(crate) fn price(code: &str, text: &str) -> Observation {
    Observation::Price(currency(code), Price::parse(text).unwrap())
}

/// An observed whole fee rate.
pub(crate) fn fee(text: &str) -> Observation {
    Observation::Fee(FeeRate::parse(text).unwrap())
}

/// An observed fee rate with decimals.
pub(crate) fn precise(text: &str) -> Observation {
    Observation::PreciseFee(FeeRate::parse(text).unwrap())
}

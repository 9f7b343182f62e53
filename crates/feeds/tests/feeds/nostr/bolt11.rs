//! Amounts of invoices, compared with a table and with the crate that Lightning wallets use.

use feeds::{malformed::Malformed, nostr::bolt11};
use lightning_invoice::SignedRawBolt11Invoice;
use market::units::Msats;
use proptest::prelude::*;

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Length of a minimal data part: a timestamp, no fields, and a dummy signature.
const DATA_LEN: usize = 7 + 104;

/// An invoice with a valid checksum for a human-readable part.
pub(crate) fn invoice(readable: &str) -> String {
    with_checksum(readable, &[0; DATA_LEN])
}

fn with_checksum(readable: &str, data: &[u8]) -> String {
    let high = readable.bytes().map(|byte| byte >> 5);
    let low = readable.bytes().map(|byte| byte & 31);
    let symbols = high
        .chain([0])
        .chain(low)
        .chain(data.iter().copied())
        .chain([0; 6]);
    let mut state: u32 = 1;
    for symbol in symbols {
        let top = state >> 25;
        state = (state & 0x01ff_ffff) << 5 ^ u32::from(symbol);
        for (bit, generator) in [
            0x3b6a_57b2,
            0x2650_8e6d,
            0x1ea1_19fa,
            0x3d42_33dd,
            0x2a14_62b3,
        ]
        .iter()
        .enumerate()
        {
            if top >> bit & 1 == 1 {
                state ^= generator;
            }
        }
    }
    state ^= 1;
    let checksum = (0..6).map(|at| u8::try_from(state >> (5 * (5 - at)) & 31).unwrap());
    let letters = data
        .iter()
        .copied()
        .chain(checksum)
        .map(|symbol| char::from(ALPHABET[usize::from(symbol)]));
    format!("{readable}1{}", letters.collect::<String>())
}

#[test]
fn amounts() {
    for (readable, amount) in [
        ("lnbc210n", Ok(Some(21_000))),
        ("lnbc1u", Ok(Some(100_000))),
        ("lnbc2500u", Ok(Some(250_000_000))),
        ("lnbc20m", Ok(Some(2_000_000_000))),
        ("lnbc10n", Ok(Some(1_000))),
        ("lnbc9678785340p", Ok(Some(967_878_534))),
        ("lnbc2", Ok(Some(200_000_000_000))),
        ("lnbc", Ok(None)),
        ("lnbc9678785345p", Err("amount")),
        ("lnbc0", Ok(Some(0))),
        ("lnbc010n", Ok(Some(1_000))),
        ("lnbcx", Err("amount")),
        ("lnbcm", Err("amount")),
        ("lnbc1x", Err("amount")),
        ("lnbc-1m", Err("amount")),
        ("lnbc1.5m", Err("amount")),
        ("lnbc18446744073709551616p", Err("amount")),
        ("lnbc18446744073709551615m", Err("amount")),
        ("lnbcrt20m", Err("amount")),
        ("lntb20m", Err("not-an-invoice")),
        ("bc", Err("not-an-invoice")),
    ] {
        let amount = amount.map(|amount| amount.map(Msats)).map_err(Malformed);
        assert_eq!(bolt11::amount(&invoice(readable)), amount, "{readable}");
        assert_eq!(
            bolt11::amount(&invoice(readable).to_uppercase()),
            amount,
            "{readable}"
        );
    }
    for (text, reason) in [
        ("", "not-bech32"),
        ("lnbc", "not-bech32"),
        ("1", "not-bech32"),
        ("lnbc1", "not-bech32"),
        ("lnbc210n1pjexample", "not-bech32"),
        // The checksum is valid, but shorter than a checksum.
        ("lnbc43n12kuh6", "not-bech32"),
        ("lnbc210n1pjexämple", "not-bech32"),
        ("LNBC210n1pjexample", "not-bech32"),
        (&invoice("lnbc210n").replace("210n", "211n"), "not-bech32"),
        (&"1".repeat(bolt11::INVOICE_MAX + 1), "too-long"),
    ] {
        assert_eq!(bolt11::amount(text), Err(Malformed(reason)), "{text}");
    }
}

#[test]
fn invoices_of_the_specification() {
    let coffee = "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpuaztrnwngzn3kdzw5hydlzf03qdgm2hdq27cqv3agm2awhz5se903vruatfhq77w3ls4evs3ch9zw97j25emudupq63nyw24cg27h2rspfj9srp";
    assert_eq!(bolt11::amount(coffee), Ok(Some(Msats(250_000_000))));
}

/// The result of the wallets' crate. `None` if the invoice is invalid.
fn oracle(text: &str) -> Option<Option<u64>> {
    let invoice: SignedRawBolt11Invoice = text.parse().ok()?;
    match invoice.raw_invoice().amount_pico_btc() {
        None => Some(None),
        Some(pico) => (pico % 10 == 0).then_some(Some(pico / 10)),
    }
}

proptest! {
    #[test]
    fn wallets_read_the_same_amount(
        number in prop_oneof![0..1_000_000_000_000u64, any::<u64>()],
        multiplier in "[munp]?",
        data in proptest::collection::vec(0..32u8, DATA_LEN),
    ) {
        // The last eight bits are part of the signature and have few valid values.
        let mut data = data;
        data[DATA_LEN - 2..].fill(0);
        let text = with_checksum(&format!("lnbc{number}{multiplier}"), &data);
        let actual = bolt11::amount(&text).ok().flatten().map(|amount| amount.0);
        let expected = oracle(&text).flatten();
        // That crate counts picobitcoins in 64 bits, which is too small for all bitcoins.
        if expected.is_some() || u128::from(actual.unwrap_or(0)) * 10 <= u128::from(u64::MAX) {
            prop_assert_eq!(actual, expected, "{}", text);
        }
    }

    #[test]
    fn one_changed_letter_is_noticed(at in 0..DATA_LEN + 15, by in 1..32u8) {
        let text = invoice("lnbc2500u").into_bytes();
        let separator = text.iter().rposition(|byte| *byte == b'1').unwrap();
        prop_assume!(at < text.len() && at != separator);
        let mut changed = text.clone();
        changed[at] = match ALPHABET.iter().position(|symbol| *symbol == changed[at]) {
            Some(symbol) if at > separator => ALPHABET[(symbol + usize::from(by)) % 32],
            _ => changed[at] ^ 1,
        };
        prop_assert!(bolt11::amount(&String::from_utf8(changed).unwrap()).is_err());
    }
}

//! Number formats shared by several screens.

use device::{
    cells::{Cell, mirror},
    screens::{SCREENS, Scene, amount, catalog, decimal, issuance, price_layout, suffix},
    settings::Settings,
};
use market::{
    Datum, Figure, FigureIdentity, HeightTruth, Market, Seen,
    now::UtcTime,
    source_id::SourceId,
    units::{Currency, FeeRate, Price, Sats},
};
use std::{collections::BTreeSet, time::Duration};

#[test]
fn letters() {
    let rows = [
        (0, 5, "0"),
        (999, 5, "999"),
        (1000, 5, "1.00K"),
        (109_876, 5, "110K"),
        (109_876, 6, "109.9K"),
        (999_999, 5, "1000K"),
        (9_999_999, 5, "10.0M"),
        (99_999_999, 5, "100M"),
        (19_875_500, 7, "19.876M"),
        (19_876_500, 7, "19.877M"),
        (1_000_000_000_000, 5, "1.00T"),
        (1_000_000_000_000_000, 5, "1.00Q"),
    ];
    for (value, width, wanted) in rows {
        assert_eq!(suffix::suffixed(value, width), wanted, "{value} in {width}");
    }
}

#[test]
fn millions() {
    let rows = [
        (0, 6, "0M"),
        (999, 6, "0.000M"),
        (999, 7, "0.0009M"),
        (99_999, 6, "0.099M"),
        (99_000_000, 7, "99.000M"),
        (999_999_999, 6, "999.9M"),
        (1_999_999_999, 6, "1.999B"),
    ];
    for (value, width, wanted) in rows {
        assert_eq!(
            suffix::in_millions(value, width),
            wanted,
            "{value} in {width}"
        );
    }
}

#[test]
fn quotients() {
    let rows = [
        (25, 10, 0, "3", "2"),
        (35, 10, 0, "4", "3"),
        (125, 100, 1, "1.3", "1.2"),
        (999_949, 1000, 1, "999.9", "999.9"),
        (999_950, 1000, 1, "1000.0", "999.9"),
        (2, 3, 3, "0.667", "0.666"),
        (0, 7, 2, "0.00", "0.00"),
    ];
    for (value, unit, decimals, rounded, cut) in rows {
        assert_eq!(decimal::rounded(value, unit, decimals), rounded);
        assert_eq!(decimal::truncated(value, unit, decimals), cut);
    }
}

#[test]
fn prices_in_full() {
    let rows = [
        ("102345", 6, "102345"),
        ("78583.0", 6, "$78583"),
        ("7858.3", 6, "7858.3"),
        ("123.4", 6, "$123.4"),
        ("45.67", 6, "$45.67"),
        ("0.123", 6, "$0.123"),
        ("999999", 7, "$999999"),
        ("7858.3", 7, "$7858.3"),
        ("0.45", 7, "$0.450"),
    ];
    for (price, width, wanted) in rows {
        let price = Price::parse(price).unwrap();
        let cells = price_layout::plain(price, Cell::digit('$'), width);
        assert_eq!(mirror(&cells).concat(), wanted);
    }
}

#[test]
fn amounts_of_satoshis() {
    let rows = [
        (None, "?", "?"),
        (Some(0), "0", "0"),
        (Some(21), "21", "21"),
        (Some(1000), "1000", "1000"),
        (Some(12_345), "12345", "12345"),
        (Some(99_999), "99999", "99999"),
        (Some(100_000), "100K", "100000"),
        (Some(123_456), "123K", "123456"),
        (Some(999_999), "1000K", "999999"),
        (Some(1_000_000), "1.0M", "1.0M"),
        (Some(1_234_567), "1.2M", "1.2M"),
        (Some(12_345_678), "12M", "12M"),
        (Some(100_000_000), "100M", "100M"),
        (Some(123_456_789), "123M", "123M"),
        (Some(1_234_567_890), "1.2B", "1.2B"),
        (Some(9_999_000_000_000), "9999B", "9999B"),
        (Some(2_100_000_000_000_000), "2100T", "2100T"),
        (Some(2_100_000_000_000_001), "?", "?"),
    ];
    for (sats, in_five, in_six) in rows {
        assert_eq!(amount::satoshis(sats.map(Sats), 5), in_five);
        assert_eq!(amount::satoshis(sats.map(Sats), 6), in_six);
    }
    let rows = [(100_000_000, "1.0000"), (150_000_000, "1.5000")];
    for (sats, wanted) in rows {
        assert_eq!(amount::bitcoin(Sats(sats), 4), wanted);
    }
}

#[test]
fn issuance_follows_the_height() {
    let rows = [
        (0, 0, 210_000),
        (1, 50, 209_999),
        (209_999, 10_499_950, 1),
        (210_000, 10_500_000, 210_000),
        (222_345, 10_808_625, 197_655),
        (420_000, 15_750_000, 210_000),
        (840_000, 19_687_500, 210_000),
        (957_123, 20_053_509, 92_877),
        (33 * 210_000, 20_999_999, 210_000),
        (u32::MAX, 20_999_999, 162_705),
    ];
    for (height, mined, to_go) in rows {
        assert_eq!(issuance::mined_btc(height), mined, "at {height}");
        assert_eq!(issuance::blocks_to_halving(height), to_go, "at {height}");
    }
}

#[test]
fn newest_fee_rate_counts() {
    let at = |secs| Seen::At(Duration::from_secs(secs));
    let before = |unix_ms| Seen::Before(Some(UtcTime { unix_ms }));
    let rows = [
        (at(5), at(5), true, "precise"),
        (at(5), at(5), false, "whole"),
        (at(6), at(5), true, "whole"),
        (at(5), at(6), false, "precise"),
        (before(9), at(0), false, "precise"),
        (before(9), before(8), true, "whole"),
        (Seen::Before(None), before(0), false, "precise"),
        (Seen::Before(None), Seen::Before(None), true, "precise"),
    ];
    for (whole, precise, block_fee_dec, wanted) in rows {
        let settings = Settings {
            block_fee_dec,
            ..Settings::default()
        };
        let fee = |sat_vb, seen| {
            let value = FeeRate::whole(sat_vb).unwrap();
            Some(Figure {
                datum: Datum {
                    value,
                    source: SourceId::Relay,
                    seen,
                },
                identity: FigureIdentity::default(),
                failed_polls: 0,
            })
        };
        let (fee, precise_fee) = (fee(1, whole), fee(2, precise));
        let market = Market {
            fee,
            precise_fee,
            ..Market::default()
        };
        let currency = Currency::USD;
        let scene = Scene {
            market: &market,
            truth: HeightTruth::default(),
            settings: &settings,
            local: None,
            currency,
            panels: 7,
        };
        let picked = scene.fee().unwrap().datum().value;
        let name = if picked == FeeRate::whole(1).unwrap() {
            "whole"
        } else {
            "precise"
        };
        assert_eq!(name, wanted, "{whole:?} {precise:?} {block_fee_dec}");
    }
}

#[test]
fn rows_of_the_catalogue_are_sound() {
    let ids: BTreeSet<u16> = SCREENS.iter().map(|screen| screen.id).collect();
    assert_eq!(ids.len(), SCREENS.len());
    for screen in SCREENS {
        assert!(
            !screen.depends_on.is_empty(),
            "{} depends on nothing",
            screen.name
        );
        let price = screen.depends_on.contains(&catalog::Dependency::Price);
        assert_eq!(screen.per_currency, price, "{}", screen.name);
        assert_eq!(catalog::find(screen.id).unwrap().name, screen.name);
    }
}

//! Table of the sentences of the screens: a screen with its facts on the left, its sentence on the right.

use device::{
    cells::Cell,
    screens::{SCREENS, catalog, custom},
    spoken::{Sentence, SentenceValue},
};

use crate::line::Line;

/// The sentence of a screen.
fn sentence(line: &Line) -> Sentence {
    let screen = catalog::find(line.screen).unwrap();
    (screen.sentence)(&line.scene(7))
}

#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    ("block height=840000", "Block height 840,000."),
    ("block height=999", "Block height 999."),
    ("block", "The block height is not known yet."),
    ("clock time=14:05-9/5", "It is 14:05, 9 May."),
    ("clock time=14:05-1/1", "It is 14:05, 1 January."),
    ("clock time=14:05-9/9", "It is 14:05, 9 September."),
    ("clock time=14:05-12/12", "It is 14:05, 12 December."),
    ("clock", "The time is not known yet."),
    ("proof", "The block height is not known yet."),
    ("proof state=claimed", "The block height is not proven."),
    (
        "proof state=proven agreeing=4 hash=a3f0 age=7",
        "The block height is proven. The hash of the newest proven block ends in a3f0; 4 sources have it, and it is 7 minutes old.",
    ),
    (
        "proof state=alone agreeing=1 hash=00f3 age=1",
        "The block height is proven by one source alone. The hash of the newest proven block ends in 00f3; 1 source has it, and it is 1 minute old.",
    ),
    (
        "proof state=disputed agreeing=2 hash=beef age=100",
        "The block height is disputed. The hash of the newest proven block ends in beef; 2 sources have it, and it is 1 hour old.",
    ),
    (
        "proof state=stale agreeing=2 hash=beef age=6000",
        "The block height is old: no source has reported a newer one. The hash of the newest proven block ends in beef; 2 sources have it, and it is 4 days old.",
    ),
    (
        "proof state=alone agreeing=2 hash=beef",
        "The block height is proven by one source alone. The hash of the newest proven block ends in beef; 2 sources have it.",
    ),
    ("halving height=840000", "210,000 blocks until the halving."),
    ("halving height=1049999", "1 block until the halving."),
    ("halving height=1049000 useBlkCountdown=false", "0 years, 6 days, 22 hours and 40 minutes until the halving."),
    ("halving height=997283 useBlkCountdown=false", "1 year, 1 day, 2 hours and 10 minutes until the halving."),
    ("halving height=1049994 useBlkCountdown=false", "0 years, 0 days, 1 hour and 0 minutes until the halving."),
    ("halving", "The time until the halving is not known yet."),
    ("supply height=840000", "19,687,500 bitcoin exist."),
    ("supply height=840000 supplyPercent", "93.75 percent of all bitcoin exist."),
    ("supply", "The supply is not known yet."),
    ("fee fee=12.75", "The fee rate is 12.75 sats per virtual byte."),
    ("fee fee=12.75 blockFeeDec=false", "The fee rate is 13 sats per virtual byte."),
    ("fee fee=0.004", "The fee rate is less than 0.01 sats per virtual byte."),
    ("fee", "The fee rate is not known yet."),
    ("sats USD price=95432", "1 USD buys 1,048 sats."),
    ("sats JPY price=200000000", "1 JPY buys 0.5000 sats."),
    ("sats USD", "The price is not known yet."),
    ("ticker EUR price=95432.61", "1 bitcoin costs 95,433 EUR."),
    ("ticker USD price=45.67", "1 bitcoin costs 45.67 USD."),
    ("ticker USD price=0.01", "1 bitcoin costs 0.01 USD."),
    ("ticker USD price=0.005", "1 bitcoin costs 0.005 USD."),
    ("ticker USD", "The price is not known yet."),
    ("change USD price=108681 yesterday=107390", "The price in USD has risen by 1.2 percent in a day."),
    ("change EUR price=54340 yesterday=108681", "The price in EUR has fallen by 50 percent in a day."),
    ("change USD price=108681", "The change of the price is not known yet."),
    ("mcap USD price=95432 height=840000", "All bitcoin together are worth 1,878,818 million USD."),
    ("mcap USD price=95432", "The value of all bitcoin is not known yet."),
    ("pool-hash miningPoolName=eu_ckpool hashrate=1230000000000", "1.23 terahashes per second at the mining pool eu ckpool."),
    ("pool-hash miningPoolName=ocean", "The mining pool ocean does not answer."),
    ("pool-hash miningPoolName=ocean hashrate=?", "The mining pool ocean does not report a hashrate."),
    ("pool-earn miningPoolName=ocean refusal=no!", "The mining pool ocean has no figures for this user: no!"),
    ("pool-earn miningPoolName=ocean hashrate=1 daily=12345", "12,345 sats a day at the mining pool ocean."),
    ("pool-earn miningPoolName=ocean hashrate=1", "The mining pool ocean does not report earnings."),
    ("miner-hash miner=900000000000", "The miner makes 900 gigahashes per second."),
    ("pool-hash miningPoolName=ocean hashrate=7", "7 hashes per second at the mining pool ocean."),
    ("pool-hash miningPoolName=ocean hashrate=7000000000000", "7 terahashes per second at the mining pool ocean."),
    ("pool-hash miningPoolName=ocean hashrate=7000000000000000000000", "7 zettahashes per second at the mining pool ocean."),
    ("miner-hash", "The miner does not answer."),
    ("miner-hash miner=?", "The miner does not report this figure."),
    ("miner-best miner=1", "The miner does not report this figure."),
    ("miner-best best=1.2G", "The best difficulty of the miner is 1.2G."),
    ("miner-best", "The miner does not answer."),
    ("balance sats=123456", "The wallet holds 123,456 sats."),
    ("balance sats=1", "The wallet holds 1 sat."),
    ("balance msats=999", "The wallet holds less than 1 sat."),
    ("balance sats=0", "The wallet holds 0 sats."),
    ("balance", "The balance of the wallet is not known yet."),
];

#[test]
fn every_screen_has_its_sentence() {
    let mut wrong = Vec::new();
    let mut screens = Vec::new();
    for (left, wanted) in ROWS {
        let line = Line::parse(left);
        screens.push(line.screen);
        let sentence = sentence(&line);
        assert!(
            is_whole(&sentence),
            "{left}: placeholders and values do not match"
        );
        let sentence = sentence.to_string();
        if sentence != *wanted {
            wrong.push(format!("{left}: {wanted}\n  but is {sentence}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for screen in SCREENS {
        assert!(screens.contains(&screen.id), "no row for {}", screen.name);
    }
}

/// Returns whether each placeholder has a value and each value a placeholder, also in nested sentences.
fn is_whole(sentence: &Sentence) -> bool {
    let template = sentence.words.template();
    let gaps = template.split('{').skip(1);
    let mut gaps: Vec<&str> = gaps.filter_map(|rest| rest.split('}').next()).collect();
    let mut values: Vec<&str> = sentence.values.iter().map(|(gap, _)| *gap).collect();
    gaps.sort_unstable();
    values.sort_unstable();
    let within = sentence.values.iter().all(|(_, value)| match value {
        SentenceValue::Phrase(phrase) => is_whole(phrase),
        SentenceValue::Text(_) | SentenceValue::Number(_) => true,
    });
    gaps == values && within
}

#[test]
fn the_sentence_of_a_text_is_the_text() {
    let letters = |text| custom::sentence(&custom::letters(text, 7)).to_string();
    assert_eq!(letters("HI ALL"), "HI ALL");
    assert_eq!(letters(""), "The panels are empty.");
    let panels = ["GOOD", "", "DAY", "mdi:bell"].map(String::from);
    let cells: Vec<Cell> = custom::cells(&panels, None, 7);
    assert_eq!(custom::sentence(&cells).to_string(), "GOOD DAY mdi:bell");
}

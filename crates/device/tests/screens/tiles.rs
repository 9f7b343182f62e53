//! Tables of tiles: a screen or a layer with its facts on the left, its words on the right.
//!
//! ```text
//! label / short label | figure / shorter figure | line / shorter line | next line | graph
//! ```
//!
//! `(name)` is an icon, a figure that is a word has `!` before it and one that is the owner's text `"`.

use std::time::Duration;

use device::{
    cells::Icon,
    screens::{
        SCREENS, catalog, custom, debug, erasing,
        no_data::{self, Silence},
        payment, provisioning, safe_mode, sign_in, splash, update, zap,
    },
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    tile::{Figure, FigureKind, Graph, Tile},
};
use market::{
    Direction, HeightState, Payment, Zap,
    mark::Mark,
    units::{Msats, Sats},
};

use crate::line::Line;

/// A tile in the notation of the tables.
fn show(tile: &Tile) -> String {
    let figures: Vec<String> = tile.figures.iter().map(figure).collect();
    let mut parts = vec![tile.labels.join(" / "), figures.join(" / ")];
    parts.extend(tile.lines.iter().map(|forms| forms.join(" / ")));
    parts.extend(tile.graph.as_ref().map(|graph| match graph {
        Graph::Line(values) => {
            let place = |place: Option<&Option<u16>>| place.copied().flatten().unwrap_or(9999);
            format!(
                "line from {} to {}",
                place(values.first()),
                place(values.last())
            )
        }
        Graph::Bar(share) => format!("bar {share}"),
        Graph::Qr(text) => format!("QR {text}"),
    }));
    parts.extend(tile.mark.map(|mark| format!("({})", mark.name())));
    parts.join(" | ")
}

fn figure(figure: &Figure) -> String {
    let kind = match figure.kind {
        FigureKind::Number => "",
        FigureKind::Word => "!",
        FigureKind::Text => "\"",
    };
    let icon = figure.icon.map(|icon| {
        let named = Icon::NAMED.iter().find(|(_, named)| *named == icon);
        format!("({}) ", named.unwrap().0)
    });
    let (sign, text, tail) = (&figure.sign, &figure.text, &figure.tail);
    let written = format!(
        "{kind}{}{sign}{text}{tail} {}",
        icon.unwrap_or_default(),
        figure.unit
    );
    written.trim_end().into()
}

#[track_caller]
fn check(rows: impl IntoIterator<Item = (String, Tile, &'static str)>) {
    let mut wrong = Vec::new();
    for (left, tile, wanted) in rows {
        let shown = show(&tile);
        if shown != wanted {
            wrong.push(format!("{left}: {wanted}\n  but shows {shown}"));
        }
        assert!(!tile.figures.is_empty(), "{left}");
        let tiny = tile.labels.last().map_or(0, |label| {
            label
                .chars()
                .filter(|letter| letter.is_alphabetic())
                .count()
        });
        assert!(tiny <= 7, "{left}: {tiny} letters");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    ("block height=977412 state=proven age=4 time=14:32-28/11", "Block height / Block | 977,412 | Found at 14:28 / at 14:28 | Proven by work / Proven"),
    ("block height=977412 state=proven time=14:32-28/11", "Block height / Block | 977,412 | Reported at 14:32 / at 14:32 | Proven by work / Proven"),
    ("block height=977412 state=alone age=4 time=14:32-28/11", "Block height / Block | 977,412 | Found at 14:28 / at 14:28 | Proven by one source / One source"),
    ("block height=977412 state=alone age=900 time=14:32-28/11", "Block height / Block | 977,412 | Found on 27 November / on 27 November | Proven by one source / One source"),
    ("block height=977412 state=claimed age=4 time=14:32-28/11", "Block height / Block | 977,412 | Reported at 14:32 / at 14:32"),
    ("block height=977412 state=stale time=14:32-28/11", "Block height / Block | 977,412"),
    ("block height=977412 state=proven", "Block height / Block | 977,412 | Proven by work / Proven"),
    ("block height=977412 state=proven age=329 time=14:32-28/11 hideLeadZero", "Block height / Block | 977,412 | Found at 9:03 / at 9:03 | Proven by work / Proven"),
    ("block height=1000000", "Block height / Block | 1,000,000"),
    ("block height=999", "Block height / Block | 999"),
    ("block height=0", "Block height / Block | 0"),
    ("block", "Block height / Block | !? | Not known yet"),
    ("ticker USD price=108681", "Bitcoin price / Price | $108,681 | 920 sats for one dollar / 920 sats per $"),
    ("ticker USD price=108681.37", "Bitcoin price / Price | $108,681 | 920 sats for one dollar / 920 sats per $"),
    ("ticker USD price=1234567.89", "Bitcoin price / Price | $1,234,568 | 81.0 sats for one dollar / 81.0 sats per $"),
    ("ticker USD price=999.99", "Bitcoin price / Price | $999.99 | 100,001 sats for one dollar / 100,001 sats per $"),
    ("ticker USD price=999.999", "Bitcoin price / Price | $1,000 | 100,000 sats for one dollar / 100,000 sats per $"),
    ("ticker USD price=0.9999", "Bitcoin price / Price | $1.00 | 100,010,001 sats for one dollar / 100,010,001 sats per $"),
    ("ticker USD price=45.6", "Bitcoin price / Price | $45.60 | 2,192,982 sats for one dollar / 2,192,982 sats per $"),
    ("ticker USD price=45", "Bitcoin price / Price | $45 | 2,222,222 sats for one dollar / 2,222,222 sats per $"),
    ("ticker USD price=0.01", "Bitcoin price / Price | $0.010 | 10,000,000,000 sats for one dollar / 10,000,000,000 sats per $"),
    ("ticker USD price=0.0004", "Bitcoin price / Price | $<0.001 | 250,000,000,000 sats for one dollar / 250,000,000,000 sats per $"),
    ("ticker EUR price=95432", "Bitcoin price / Price | €95,432 | 1,048 sats for one euro / 1,048 sats per €"),
    ("ticker GBP price=81000", "Bitcoin price / Price | £81,000 | 1,235 sats for one pound / 1,235 sats per £"),
    ("ticker JPY price=14935000", "Bitcoin price / Price | ¥14,935,000 / ¥14.94M | 6.70 sats for one yen / 6.70 sats per ¥"),
    ("ticker JPY price=0.5", "Bitcoin price / Price | ¥0.500 | 200,000,000 sats for one yen / 200,000,000 sats per ¥"),
    ("ticker KRW price=135000000", "Bitcoin price / Price | ₩135,000,000 / ₩135.0M | 0.741 sats for one won / 0.741 sats per ₩"),
    ("ticker KRW price=2", "Bitcoin price / Price | ₩2 | 50,000,000 sats for one won / 50,000,000 sats per ₩"),
    ("ticker CHF price=95000", "Bitcoin price, CHF / Price, CHF / BTC CHF | 95,000 | 1,053 sats for one franc / 1,053 sats per CHF"),
    ("ticker CAD price=131790", "Bitcoin price, CAD / Price, CAD / BTC CAD | $131,790 | 759 sats for one Canadian dollar / 759 sats per CAD"),
    ("ticker AUD price=145920", "Bitcoin price, AUD / Price, AUD / BTC AUD | $145,920 | 685 sats for one Australian dollar / 685 sats per AUD"),
    ("ticker XAU price=15.97", "Bitcoin price, XAU / Price, XAU / BTC XAU | 15.97 | 6,261,741 sats for one XAU / 6,261,741 sats per XAU"),
    ("ticker VND price=1900000000", "Bitcoin price, VND / Price, VND / BTC VND | 1,900,000,000 / 1.900B | 0.053 sats for one VND / 0.053 sats per VND"),
    ("ticker VND price=2550000000", "Bitcoin price, VND / Price, VND / BTC VND | !? | Not known yet"),
    ("ticker USD price=108681 suffixPrice", "Bitcoin price / Price | $108.7K | 920 sats for one dollar / 920 sats per $"),
    ("ticker USD price=45 suffixPrice", "Bitcoin price / Price | $45 | 2,222,222 sats for one dollar / 2,222,222 sats per $"),
    ("ticker USD price=108681 mowMode", "Bitcoin price / Price | $0.1086M | 920 sats for one dollar / 920 sats per $"),
    ("ticker USD price=999999.6", "Bitcoin price / Price | $1,000,000 | 100 sats for one dollar / 100 sats per $"),
    ("ticker USD", "Bitcoin price / Price | !? | Not known yet"),
    ("ticker USD price=108681 yesterday=107390", "Bitcoin price / Price | $108,681 | ▲ 1.2% since yesterday / ▲ 1.2% in 24 h / ▲ 1.2% | 920 sats for one dollar / 920 sats per $ | line from 0 to 1000"),
    ("ticker USD price=108681 yesterday=108690", "Bitcoin price / Price | $108,681 | Unchanged since yesterday / Unchanged / 0.0% | 920 sats for one dollar / 920 sats per $ | line from 1000 to 0"),
    ("ticker USD price=108681 yesterday=54340", "Bitcoin price / Price | $108,681 | ▲ 100% since yesterday / ▲ 100% in 24 h / ▲ 100% | 920 sats for one dollar / 920 sats per $ | line from 0 to 1000"),
    ("ticker XAU price=1597 yesterday=1", "Bitcoin price, XAU / Price, XAU / BTC XAU | 1,597 | ▲ 159,600% since yesterday / ▲ 159,600% in 24 h / ▲ 159,600% | 62,617 sats for one XAU / 62,617 sats per XAU | line from 0 to 1000"),
    ("sats USD price=108681 yesterday=107390", "Sats per dollar / Sats per $ / Sats/$ | 920 sats | ▼ 1.2% since yesterday / ▼ 1.2% in 24 h / ▼ 1.2% | $108,681 | line from 1000 to 0"),
    ("sats USD price=50000 yesterday=100000", "Sats per dollar / Sats per $ / Sats/$ | 2,000 sats | ▲ 100% since yesterday / ▲ 100% in 24 h / ▲ 100% | $50,000 | line from 0 to 1000"),
    ("fee fee=4.21 yesterday=5.6", "Fees / sat/vB | 4.21 sat/vB / 4 sat/vB | ▼ 25% since yesterday / ▼ 25% in 24 h / ▼ 25% | line from 1000 to 0"),
    ("mcap USD height=977412 price=108681 yesterday=107390", "Market value / Market | $2.19T | 2.19 trillion dollars / 2.19 trillion | ▲ 1.2% since yesterday / ▲ 1.2% in 24 h / ▲ 1.2% | line from 0 to 1000"),
    ("sats USD price=108681", "Sats per dollar / Sats per $ / Sats/$ | 920 sats | $108,681"),
    ("sats EUR price=95432", "Sats per euro / Sats per € / Sats/€ | 1,048 sats | €95,432"),
    ("sats USD price=1000400", "Sats per dollar / Sats per $ / Sats/$ | 100 sats | $1,000,400"),
    ("sats JPY price=10003000", "Sats per yen / Sats per ¥ / Sats/¥ | 10.0 sats | ¥10,003,000"),
    ("sats JPY price=14935000", "Sats per yen / Sats per ¥ / Sats/¥ | 6.70 sats | ¥14,935,000"),
    ("sats KRW price=135000000", "Sats per won / Sats per ₩ / Sats/₩ | 0.741 sats | ₩135,000,000"),
    ("sats VND price=2550000000", "Sats per VND / Sats/VND | 0.039 sats | 2,550,000,000 VND"),
    ("sats USD price=900000000000", "Sats per dollar / Sats per $ / Sats/$ | <0.001 sats | $900,000,000,000"),
    ("sats CAD price=131790", "Sats per Canadian dollar / Sats per CAD / Sats/CAD | 759 sats | 131,790 CAD"),
    ("sats USD price=100", "Sats per dollar / Sats per $ / Sats/$ | 1,000,000 sats | $100"),
    ("sats USD price=0.5", "Sats per dollar / Sats per $ / Sats/$ | 200,000,000 sats / 200.0M sats | $0.50"),
    ("sats USD price=0.001", "Sats per dollar / Sats per $ / Sats/$ | !? | Not known yet"),
    ("sats USD", "Sats per dollar / Sats per $ / Sats/$ | !? | Not known yet"),
    ("ticker USD price=108681 yesterday=107390 mark=disputed", "Bitcoin price / Price | $108,681 | Sources disagree / Disputed | 920 sats for one dollar / 920 sats per $ | line from 0 to 1000 | (disputed)"),
    ("fee fee=4.21 yesterday=4.21 mark=stale", "Fees / sat/vB | 4.21 sat/vB / 4 sat/vB | Stale | line from 500 to 500 | (stale)"),
    ("change USD price=108681 yesterday=107390 mark=disputed", "Price in 24 hours / 24 hours | !? | Sources disagree / Disputed | (disputed)"),
    ("block height=977412 state=alone age=4 time=14:32-28/11 mark=alone", "Block height / Block | 977,412 | Proven by one source / One source | Found at 14:28 / at 14:28 | (alone)"),
    ("halving height=977412 state=alone mark=alone", "Blocks until the halving / Until the halving / Halving | 72,588 | Proven by one source / One source | 65% of this era is done / 65% done | bar 654 | (alone)"),
    ("halving height=977412 state=claimed mark=alone", "Blocks until the halving / Until the halving / Halving | 72,588 | Not proven | 65% of this era is done / 65% done | bar 654 | (alone)"),
    ("change USD price=108681 yesterday=107390", "Price in 24 hours / 24 hours | (arrow-up-bold) 1.2% | now $108,681 / $108,681 | since yesterday | line from 0 to 1000"),
    ("change USD price=108681 yesterday=108690", "Price in 24 hours / 24 hours | 0.0% | now $108,681 / $108,681 | since yesterday | line from 1000 to 0"),
    ("change CAD price=54340 yesterday=108681", "Price in 24 hours, CAD / 24 hours, CAD / 24 h CAD | (arrow-down-bold) 50% | now $54,340 / $54,340 | since yesterday | line from 1000 to 0"),
    ("change CHF price=54340 yesterday=108681", "Price in 24 hours, CHF / 24 hours, CHF / 24 h CHF | (arrow-down-bold) 50% | now 54,340 CHF / 54,340 CHF | since yesterday | line from 1000 to 0"),
    ("change USD price=108681", "Price in 24 hours / 24 hours | !? | Not known yet"),
    ("change USD yesterday=107390", "Price in 24 hours / 24 hours | !? | Not known yet"),
    ("clock time=14:32-28/11", "Saturday / Sat | 14:32 | 28 November 2026 / 28 November / 28 Nov"),
    ("clock time=07:05-9/5", "Saturday / Sat | 07:05 | 9 May 2026 / 9 May"),
    ("clock time=07:05-9/5 hideLeadZero", "Saturday / Sat | 7:05 | 9 May 2026 / 9 May"),
    ("clock time=00:00-31/12", "Thursday / Thu | 00:00 | 31 December 2026 / 31 December / 31 Dec"),
    ("clock", "Time | !? | Not known yet"),
    ("fee fee=4.21 USD price=108681", "Fees / sat/vB | 4.21 sat/vB / 4 sat/vB | $0.64 for a usual payment / $0.64 a payment / $0.64"),
    ("fee fee=4.21 price=108681 time=14:32-28/11 blockFeeDec=false", "Fees / sat/vB | 4 sat/vB | $0.64 for a usual payment / $0.64 a payment / $0.64"),
    ("fee whole-fee=4 price=108681", "Fees / sat/vB | 4 sat/vB | $0.61 for a usual payment / $0.61 a payment / $0.61"),
    ("fee fee=1250 JPY price=14935000", "Fees / sat/vB | 1,250 sat/vB | ¥26,136 for a usual payment / ¥26,136 a payment / ¥26,136"),
    ("fee fee=0.1 USD price=1", "Fees / sat/vB | 0.10 sat/vB / <1 sat/vB | <$0.01 for a usual payment / <$0.01 a payment / <$0.01"),
    ("fee fee=0.004 CHF price=95000", "Fees / sat/vB | <0.01 sat/vB / <1 sat/vB | <0.01 CHF for a usual payment / <0.01 CHF a payment / <0.01 CHF"),
    ("fee fee=12.75 CAD price=131790", "Fees / sat/vB | 12.75 sat/vB / 13 sat/vB | 2.35 CAD for a usual payment / 2.35 CAD a payment / 2.35 CAD"),
    ("fee fee=4.21", "Fees / sat/vB | 4.21 sat/vB / 4 sat/vB"),
    ("fee", "Fees | !? | Not known yet"),
    ("halving height=977412 time=14:32-28/11", "Blocks until the halving / Until the halving / Halving | 72,588 | About 15 April 2028 / April 2028 / Apr 2028 | 65% of this era is done / 65% done | bar 654"),
    ("halving height=977412", "Blocks until the halving / Until the halving / Halving | 72,588 | 65% of this era is done / 65% done | bar 654"),
    ("halving height=840000 time=14:32-28/11", "Blocks until the halving / Until the halving / Halving | 210,000 | About 25 November 2030 / November 2030 / Nov 2030 | 0% of this era is done / 0% done | bar 0"),
    ("halving height=1049999 time=14:32-28/11", "Blocks until the halving / Until the halving / Halving | 1 | About 28 November 2026 / November 2026 / Nov 2026 | 99% of this era is done / 99% done | bar 999"),
    ("halving height=977412 useBlkCountdown=false time=14:32-28/11", "Until the halving / Halving | 504 days | About 15 April 2028 / April 2028 / Apr 2028 | 65% of this era is done / 65% done | bar 654"),
    ("halving height=1049700 useBlkCountdown=false", "Until the halving / Halving | 2 days | 99% of this era is done / 99% done | bar 998"),
    ("halving height=1049900 useBlkCountdown=false", "Until the halving / Halving | 16 hours | 99% of this era is done / 99% done | bar 999"),
    ("halving height=1049997 useBlkCountdown=false", "Until the halving / Halving | 30 minutes | 99% of this era is done / 99% done | bar 999"),
    ("halving", "Until the halving / Halving | !? | Not known yet"),
    ("supply height=977412", "Mined so far / Mined | 20,116,912 BTC / 20.12M BTC | 95.79% of 21 million / 95.79% | bar 957"),
    ("supply height=977412 supplyPercent", "Mined so far / Mined | 95.79% | 20,116,912 of 21 million / 20.12 of 21 M | bar 957"),
    ("supply height=1", "Mined so far / Mined | 50 BTC | 0.00% of 21 million / 0.00% | bar 0"),
    ("supply height=6929999 supplyPercent", "Mined so far / Mined | 100.0% | 20,999,999 of 21 million / 21.00 of 21 M | bar 999"),
    ("supply", "Mined so far / Mined | !? | Not known yet"),
    ("mcap USD height=977412 price=108681", "Market value / Market | $2.19T | 2.19 trillion dollars / 2.19 trillion"),
    ("mcap KRW height=977412 price=135000000", "Market value / Market | ₩2,716T | 2,716 trillion won / 2,716 trillion"),
    ("mcap JPY height=977412 price=14500000", "Market value / Market | ¥292T | 292 trillion yen / 292 trillion"),
    ("mcap CHF height=977412 price=75000", "Market value, CHF / Market, CHF / Cap CHF | 1.51T | 1.51 trillion francs / 1.51 trillion"),
    ("mcap CAD height=977412 price=131790", "Market value, CAD / Market, CAD / Cap CAD | $2.65T | 2.65 trillion Canadian dollars / 2.65 trillion"),
    ("mcap XAU height=977412 price=15.97", "Market value, XAU / Market, XAU / Cap XAU | 321M | 321 million XAU / 321 million"),
    ("mcap USD height=977412 price=50062", "Market value / Market | $1.01T | 1.01 trillion dollars / 1.01 trillion"),
    ("mcap USD height=977412 price=497094", "Market value / Market | $10.0T | 10.0 trillion dollars / 10.0 trillion"),
    ("mcap USD height=977412 price=0.00001", "Market value / Market | $201 | 201 dollars / 201"),
    ("mcap USD height=977412", "Market value / Market | !? | Not known yet"),
    ("mcap USD price=108681", "Market value / Market | !? | Not known yet"),
    ("proof state=proven agreeing=4 hash=a3f9 age=4 time=14:32-28/11", "Proof of the height / Height proof / Proof | 4 sources | Proven by work / Proven | Block …a3f9 at 14:28 / Block …a3f9"),
    ("proof state=alone agreeing=1 hash=00f9", "Proof of the height / Height proof / Proof | 1 source | Proven by one source / One source | Block …00f9"),
    ("proof state=claimed", "Proof of the height / Height proof / Proof | !? | Not proven"),
    ("proof", "Proof of the height / Height proof / Proof | !? | Not known yet"),
    ("pool-hash miningPoolName=ocean hashrate=1234560000000000000 daily=12345", "ocean / Pool | 1.2346 EH/s | Earns 12,345 sats a day / 12,345 sats a day"),
    ("pool-hash miningPoolName=public_pool hashrate=0", "public pool / Pool | 0 H/s"),
    ("pool-hash miningPoolName=ocean hashrate=?", "ocean / Pool | !?"),
    ("pool-hash miningPoolName=ocean", "ocean / Pool | !OFFLINE | The pool does not answer / No answer"),
    ("pool-hash miningPoolName=ocean refusal=unknown", "ocean / Pool | !NO USER | The pool says: unknown / The pool has no figures for this user / Unknown user"),
    ("pool-earn miningPoolName=ocean hashrate=1200000000000000000 daily=123456", "ocean, earnings / Earned | 123,456 sats a day | Hashrate 1.2 EH/s / 1.2 EH/s"),
    ("pool-earn miningPoolName=ocean daily=123456789", "ocean, earnings / Earned | 1.2345 BTC a day"),
    ("pool-earn miningPoolName=ocean hashrate=1", "ocean, earnings / Earned | !? | Hashrate 1 H/s / 1 H/s"),
    ("pool-earn miningPoolName=ocean", "ocean, earnings / Earned | !OFFLINE | The pool does not answer / No answer"),
    ("miner-hash miner=999900000000 best=123.4M", "Miner | 1.0 TH/s | Best difficulty 123.4M / Best 123.4M"),
    ("miner-hash miner=1234000000000", "Miner | 1.2 TH/s"),
    ("miner-hash miner=0 best=4.29G", "Miner | 0 GH/s | Best difficulty 4.29G / Best 4.29G"),
    ("miner-hash miner=?", "Miner | !?"),
    ("miner-hash", "Miner | !OFFLINE | The miner does not answer / No answer"),
    ("miner-best miner=1200000000000 best=123.45M", "Best difficulty / Best | 123.45M | Hashrate 1.2 TH/s / 1.2 TH/s"),
    ("miner-best miner=1", "Best difficulty / Best | !? | Hashrate 0 GH/s / 0 GH/s"),
    ("miner-best best=none", "Best difficulty / Best | !none"),
    ("miner-best", "Best difficulty / Best | !OFFLINE | The miner does not answer / No answer"),
    ("balance sats=2345678 USD price=108681", "Wallet | 2,345,678 sats | Worth $2,549 / $2,549"),
    ("balance sats=2100000000 price=108681", "Wallet | 2,100,000,000 sats / 21.0000 BTC | Worth $2,282,301 / $2,282,301"),
    ("balance sats=2100000000 priceSymMode=2", "Wallet | ₿2,100,000,000 / 21.0000 BTC"),
    ("balance sats=0 price=108681", "Wallet | 0 sats"),
    ("balance msats=999 price=108681", "Wallet | <1 sat"),
    ("balance sats=2345678", "Wallet | 2,345,678 sats"),
    ("balance sats=2100000000000001", "Wallet | !?"),
    ("balance", "Wallet | !?"),
];

#[test]
fn every_screen_has_its_tile() {
    let rows = ROWS.iter().map(|(left, wanted)| {
        let line = Line::parse(left);
        let screen = catalog::find(line.screen).unwrap();
        let tile = (screen.tile)(&line.scene(7));
        let tile = match line.mark {
            Some(mark) => tile.doubted(mark, line.truth.state, None),
            None => tile,
        };
        (left.to_string(), tile, *wanted)
    });
    check(rows);
    for screen in SCREENS {
        let has_row = |(left, _): &(&str, &str)| Line::parse(left).screen == screen.id;
        assert!(ROWS.iter().any(has_row), "no row for {}", screen.name);
    }
}

#[test]
fn layers_have_tiles() {
    let (received, sent) = (Some(Direction::Received), Some(Direction::Sent));
    let priced = Line::parse("balance USD price=108681");
    let bare = Line::parse("balance priceSymMode=2");
    let zap = |sats, line: &Line| {
        let zap = Zap {
            amount: Sats(sats),
            message: "not shown".into(),
        };
        zap::tile(&zap, &line.scene(7))
    };
    let paid = |direction, msats| {
        let payment = Payment {
            direction,
            amount: Msats(msats),
        };
        payment::tile(&payment, &priced.scene(7))
    };
    let texts = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).into()).collect();
        custom::tile(&custom::cells(&texts, None, 7))
    };
    let facts = debug::DebugFacts {
        ip: "192.168.1.20",
        ssid: "",
        heap_free: Some(180_000),
        psram_free: None,
        hardware: "Rev B",
        version: "4.0.0",
        build_date: "2026-01-31",
        uptime: Duration::from_secs(90_061),
    };
    let portal = |password| {
        provisioning::tile(&provisioning::ProvisioningFacts {
            ssid: "papertick-1a2b3c",
            password,
            hostname: "papertick-1a2b3c",
            hardware: "Rev B",
            version: "4.0.0",
            build_date: "2026-01-31",
            portal: "192.168.4.1",
        })
    };
    let generated = GeneratedPassword {
        password: Secret::new("kmW4tQ7xdZ"),
        hash: PasswordHash::default(),
        reason: GenerationReason::NoneStored,
    };
    let labels = || vec!["Bitcoin price".into(), "Price".into()];
    let silent = |silence, since, page| no_data::tile(labels(), &silence, since, page);
    #[rustfmt::skip]
    let rows = [
        ("zap", zap(21_000, &priced), "Zap received / Zap | (lightning-bolt) 21,000 sats | Worth $22.82 / $22.82"),
        ("zap without a price", zap(1, &bare), "Zap received / Zap | (lightning-bolt) ₿1"),
        ("large zap", zap(123_456_789, &priced), "Zap received / Zap | (lightning-bolt) 123,456,789 sats / (lightning-bolt) 1.2346 BTC | Worth $134,174 / $134,174"),
        ("received", paid(received, 1_000_000_000), "Received / Came in | (arrow-down-bold) 1,000,000 sats | Worth $1,087 / $1,087"),
        ("sent", paid(sent, 21_999), "Paid | (arrow-up-bold) 21 sats | Worth $0.02 / $0.02"),
        ("payment", paid(None, 1), "Received / Came in | (lightning-bolt) <1 sat"),
        ("letters", custom::tile(&custom::letters("HI ALL", 7)), " | \"HI ALL"),
        ("texts", texts(&["GOOD", "", "DAY", "A/B"]), " | \"GOOD DAY A/B"),
        ("icon", texts(&["mdi:bell", "Tea"]), " | \"(bell) Tea"),
        ("empty", texts(&[]), " | \""),
        ("debug", debug::tile(&facts), "Debug | \"192.168.1.20 | 4.0.0, Rev B / 4.0.0 | Up 1d 1h 1m, 176 KB free / Up 1d 1h 1m / 1d 1h 1m"),
        ("debug without an address", debug::tile(&debug::DebugFacts { ip: "", heap_free: None, ..facts }), "Debug | !NO ADDRESS | 4.0.0, Rev B / 4.0.0 | Up 1d 1h 1m / 1d 1h 1m"),
        ("update", update::tile(64), "Update | 64% | The clock restarts by itself / It restarts by itself | bar 640"),
        ("update at its end", update::tile(255), "Update | 100% | The clock restarts by itself / It restarts by itself | bar 1000"),
        ("splash", splash::tile(), "The clock is starting / Starting / Start | \"papertick"),
        ("erasing", erasing::tile(), "Factory reset / Reset | !ERASING | Everything is being erased"),
        ("safe mode", safe_mode::tile("It stopped five times in a row", "192.168.1.20"), "Safe mode / Safe | !SOURCES OFF | It stopped five times in a row / The page says why | More at 192.168.1.20"),
        ("safe mode without a network", safe_mode::tile("It stopped five times in a row", ""), "Safe mode / Safe | !SOURCES OFF | It stopped five times in a row / The page says why"),
        ("sign-in", sign_in::tile("papertick", &generated), "Sign-in | \"kmW4tQ7xdZ | Open the page and sign in as papertick with this password / Sign in as papertick | Then store a password of your own / Then store your own"),
        ("portal", portal("kite-lamp-42"), "Set-up | \"papertick-1a2b3c | Scan the code, or join this Wi-Fi with the password kite-lamp-42 / Join this Wi-Fi, password kite-lamp-42 / Password kite-lamp-42 | Then open the page http://192.168.4.1 / http://192.168.4.1 / 192.168.4.1 | QR WIFI:T:WPA;S:papertick-1a2b3c;P:kite-lamp-42;;"),
        ("open portal", portal(""), "Set-up | \"papertick-1a2b3c | Scan the code, or join this Wi-Fi / Join this Wi-Fi | Then open the page http://192.168.4.1 / http://192.168.4.1 / 192.168.4.1 | QR WIFI:T:nopass;S:papertick-1a2b3c;;"),
        ("no network", silent(Silence::NoNetwork, Some("14:02"), ""), "Bitcoin price / Price | !NO DATA | There is no network / No network"),
        ("no answer", silent(Silence::NoAnswer, Some("14:02"), "192.168.1.20"), "Bitcoin price / Price | !NO DATA | No source has answered since 14:02 / No answer since 14:02 / since 14:02 | More at 192.168.1.20"),
        ("no answer, no time", silent(Silence::NoAnswer, None, ""), "Bitcoin price / Price | !NO DATA | No source has answered / No answer"),
        ("an error", silent(Silence::Error("connection refused".into()), Some("26 November"), ""), "Bitcoin price / Price | !NO DATA | connection refused / No source has answered since 26 November / No answer since 26 November / since 26 November"),
        ("stale", Tile::new(["Fees"], vec![Figure::number("4")]).doubted(Mark::Stale, HeightState::Proven, Some("14:02".into())), "Fees | 4 | Stale: from 14:02 / from 14:02 | (stale)"),
        ("stale without a time", Tile::new(["Fees"], vec![Figure::number("4")]).doubted(Mark::Stale, HeightState::Proven, None), "Fees | 4 | Stale | (stale)"),
    ];
    check(rows.map(|(left, tile, wanted)| (left.into(), tile, wanted)));
}

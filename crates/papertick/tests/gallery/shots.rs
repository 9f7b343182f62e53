//! The pictures of the gallery: each is a command line of `papertick render`, with a status document before it if needed.

use device::{screens::SCREENS, settings::fonts::FontId};

/// A heading with its pictures.
pub(crate) struct Section {
    pub(crate) heading: &'static str,
    /// Pictures side by side.
    pub(crate) columns: usize,
    pub(crate) shots: fn() -> Vec<Shot>,
}

pub(crate) struct Shot {
    name: String,
    pub(crate) caption: String,
    pub(crate) words: String,
}

impl Shot {
    pub(crate) fn screen(&self) -> &str {
        let words = self.words.split(" | ").last().unwrap_or_default();
        words.split(' ').next().unwrap_or_default()
    }

    /// The command that draws it.
    pub(crate) fn command(&self) -> String {
        match self.words.split_once(" | ") {
            Some((status, words)) => {
                format!("echo '{status}' | papertick render {words} --status -")
            }
            None => format!("papertick render {}", self.words),
        }
    }

    /// Its file under `docs`.
    pub(crate) fn path(&self) -> String {
        format!("gallery/{}.png", self.name)
    }
}

/// Pictures of the front page: file under `docs`, command line, and description on the page.
pub(crate) const FRONT_PAGE: &[(&str, &str, &str)] = &[(
    "images/clock.png",
    "ticker --price 95432 --scale 2",
    "Seven panels: the price of a bitcoin, 95432 US dollars",
)];

pub(crate) const SECTIONS: &[Section] = &[
    Section {
        heading: "Screens",
        columns: 1,
        shots: screens,
    },
    Section {
        heading: "Styles",
        columns: 1,
        shots: || listed(STYLES),
    },
    Section {
        heading: "Overlays",
        columns: 1,
        shots: || listed(OVERLAYS),
    },
    Section {
        heading: "Messages of the clock",
        columns: 1,
        shots: || listed(SYSTEM),
    },
    Section {
        heading: "On eight panels",
        columns: 1,
        shots: || listed(EIGHT_PANELS),
    },
    Section {
        heading: "On one screen",
        columns: 1,
        shots: || listed(ONE_SCREEN),
    },
    Section {
        heading: "Fonts",
        columns: 2,
        shots: fonts,
    },
    Section {
        heading: "Satoshi signs",
        columns: 2,
        shots: satoshis,
    },
];

/// File, caption and command line.
type Row = (&'static str, &'static str, &'static str);

const ONE_SCREEN: &[Row] = &[
    (
        "one-screen-figure",
        "A figure: one screen as large as it gets",
        "ticker --canvas 800x480",
    ),
    (
        "one-screen-board",
        "A board: two to eight screens",
        "--canvas 800x480 --layout board",
    ),
    (
        "one-screen-cells",
        "Cells: like the panels",
        "ticker --canvas 800x480 --layout cells",
    ),
    (
        "one-screen-reader",
        "On an e-reader",
        "--canvas 600x800 --layout board",
    ),
    (
        "one-screen-small",
        "In black and white on 296x128 px",
        "block-height --canvas 296x128 --depth 1",
    ),
];

const VARIANTS: &[Row] = &[
    (
        "block-height-million",
        "A height that needs every panel",
        "block-height --height 1000000",
    ),
    (
        "time-no-zero",
        "Without a leading zero",
        "time --time 2026-05-09T07:05 --set hideLeadZero=true",
    ),
    ("time-unset", "Before the time is known", "{} | time"),
    (
        "halving-time",
        "Time until the halving",
        "halving-countdown --set useBlkCountdown=false",
    ),
    (
        "fee-share-dot",
        "The dot shares a panel",
        "block-fee-rate --fee 12.34 --set decimalShareDot=true",
    ),
    (
        "sats-sign",
        "With the satoshi sign",
        "sats-per-dollar --currency EUR --set priceSymMode=1",
    ),
    (
        "sats-bitcoin-sign",
        "With the bitcoin sign",
        "sats-per-dollar --currency CHF --set priceSymMode=2",
    ),
    ("ticker-eur", "Price in euros", "ticker --currency EUR"),
    ("ticker-gbp", "Price in pounds", "ticker --currency GBP"),
    (
        "ticker-jpy",
        "Price in yen: long prices get a letter",
        "ticker --currency JPY",
    ),
    (
        "ticker-chf",
        "Currencies without a sign show their code",
        "ticker --currency CHF",
    ),
    (
        "ticker-suffix",
        "With a letter",
        "ticker --set suffixPrice=true",
    ),
    (
        "ticker-share-dot",
        "With a letter, the dot sharing a panel",
        "ticker --set suffixPrice=true --set decimalShareDot=true",
    ),
    ("ticker-mow", "In millions", "ticker --set mowMode=true"),
    (
        "market-cap-share-dot",
        "The dot sharing a panel",
        "market-cap --set decimalShareDot=true",
    ),
    (
        "supply-percent",
        "Supply in percent",
        "bitcoin-supply --set supplyPercent=true",
    ),
    (
        "proof-claimed",
        "An unproven height",
        r#"{"market":{"height":{"value":957123}},"truth":{"height":{"state":"claimed"}}} | proof-of-the-height"#,
    ),
    (
        "pool-hashrate-two-words",
        "A pool with a name of two words",
        "mining-pool-hashrate --set miningPoolName=public_pool",
    ),
    (
        "pool-offline",
        "A pool that does not answer",
        "{} | mining-pool-hashrate",
    ),
    (
        "pool-earnings",
        "Earnings of a day at the pool",
        "mining-pool-earnings --set miningPoolName=ocean",
    ),
    (
        "pool-earnings-bitcoin",
        "Earnings of a good day",
        r#"{"figures":{"poolHashrate":{"value":"742500000000000"},"poolEarnings":{"value":250000000}}} | mining-pool-earnings --set miningPoolName=braiins"#,
    ),
    (
        "miner-offline",
        "A miner that is offline, on seven panels",
        "{} | miner-hashrate",
    ),
    (
        "balance-bitcoin",
        "One bitcoin and more",
        r#"{"figures":{"walletBalance":{"value":123456789}}} | wallet-balance"#,
    ),
    (
        "balance-unknown",
        "Before the balance is known",
        "{} | wallet-balance",
    ),
];

#[rustfmt::skip]
const STYLES: &[Row] = &[
    ("style-inverted", "White on black", "ticker --set invertedColor=true"),
    ("style-horizontal", "Horizontal labels", "ticker --set verticalDesc=false"),
    ("style-narrow-label", "Labels at half the width", "block-height --set labelFitPct=50"),
    ("style-small", "The smallest digits", "ticker --set digitFontPx=80"),
    ("style-large", "The largest digits", "ticker --set digitFontPx=220"),
    ("style-stale", "A stale value is marked with a small clock", r#"{"market":{"USD":{"value":"95432","state":"stale"}}} | ticker"#),
    ("style-disputed", "A disputed value is marked with an unequal sign", r#"{"market":{"height":{"value":957123,"state":"disputed"}}} | block-height"#),
    ("style-alone", "An unconfirmed value is marked with a ring", r#"{"market":{"height":{"value":957123,"state":"alone"}}} | block-height"#),
];

#[rustfmt::skip]
const OVERLAYS: &[Row] = &[
    ("zap", "A zap", "zap"),
    ("zap-sign", "With the satoshi sign", "zap --sats 420 --set priceSymMode=1"),
    ("payment-received", "A payment received", "payment"),
    ("payment-sent", "A payment sent", "payment --sats -250000"),
    ("text", "A text", "text HELLO"),
    ("custom", "A text or icon per panel", "custom Good/day mdi:wifi ₿ Hi 21 $1 Hello"),
    ("custom-icons", "Icons", "custom mdi:alarm mdi:arrow-down-bold mdi:arrow-up-bold mdi:bell mdi:bitcoin mdi:clock-outline mdi:lightning-bolt"),
    ("custom-more-icons", "More icons", "custom mdi:pickaxe mdi:rocket-launch mdi:wifi mdi:wifi-alert mdi:wifi-off"),
    ("debug", "Debug view", "debug"),
    ("update", "Progress of an update", "update"),
];

const SYSTEM: &[Row] = &[
    ("splash", "Start screen", "splash"),
    (
        "provisioning",
        "How to connect the clock to a network",
        "provisioning",
    ),
    ("no-data", "No data since the start", "no-data"),
    ("safe-mode", "Safe mode", "safe-mode"),
    ("sign-in", "A password that the clock created", "sign-in"),
    ("erasing", "Factory reset", "erasing"),
];

const EIGHT_PANELS: &[Row] = &[
    (
        "v8-block-height",
        "Room for a seventh digit",
        "block-height --board v8 --height 1000000",
    ),
    (
        "v8-halving-time",
        "Time until the halving",
        "halving-countdown --board v8 --set useBlkCountdown=false",
    ),
    (
        "v8-fee",
        "A long fee rate",
        "block-fee-rate --board v8 --fee 150.25",
    ),
    (
        "v8-sats",
        "Many satoshis",
        "sats-per-dollar --board v8 --price 1000 --set priceSymMode=1",
    ),
    (
        "v8-ticker",
        "A price of six digits with its sign",
        "ticker --board v8 --price 109876",
    ),
    (
        "v8-ticker-jpy",
        "One more decimal",
        "ticker --board v8 --currency JPY",
    ),
    ("v8-market-cap", "One more decimal", "market-cap --board v8"),
    ("v8-supply", "One more decimal", "bitcoin-supply --board v8"),
    (
        "v8-proof",
        "Proof of the height",
        r#"{"market":{"height":{"value":957123}},"truth":{"height":{"state":"disputed","agreeing":4,"tipHash":"5e9c","tipAgeSec":8400}}} | proof-of-the-height --board v8"#,
    ),
    (
        "v8-pool-hashrate",
        "One more decimal",
        r#"{"figures":{"poolHashrate":{"value":"998765400000000"}}} | mining-pool-hashrate --board v8"#,
    ),
    (
        "v8-miner-offline",
        "A miner that is offline",
        "{} | miner-hashrate --board v8",
    ),
    (
        "v8-balance",
        "Balance of the wallet",
        r#"{"figures":{"walletBalance":{"value":123456789}}} | wallet-balance --board v8"#,
    ),
    (
        "v8-custom",
        "A text or icon per panel",
        "custom Good/day mdi:wifi ₿ Hi 21 $1 Hello --board v8",
    ),
    ("v8-debug", "Debug view", "debug --board v8"),
    ("v8-splash", "Start screen", "splash --board v8"),
    (
        "v8-provisioning",
        "How to connect the clock to a network",
        "provisioning --board v8",
    ),
];

/// Each screen, followed by its variants.
fn screens() -> Vec<Shot> {
    let mut shots = Vec::new();
    for screen in SCREENS {
        let word = screen.word();
        let variants = listed(VARIANTS);
        let variants = variants.into_iter().filter(|shot| shot.screen() == word);
        shots.push(Shot {
            name: word.clone(),
            caption: screen.name.into(),
            words: word.clone(),
        });
        shots.extend(variants);
    }
    shots
}

fn listed(rows: &[Row]) -> Vec<Shot> {
    let shot = |(name, caption, words): &Row| Shot {
        name: (*name).into(),
        caption: (*caption).into(),
        words: (*words).into(),
    };
    rows.iter().map(shot).collect()
}

fn fonts() -> Vec<Shot> {
    let shot = |font: FontId| Shot {
        name: format!("font-{}", font.id()),
        caption: font.id().into(),
        words: format!("ticker --set fontName={}", font.id()),
    };
    FontId::all().map(shot).collect()
}

fn satoshis() -> Vec<Shot> {
    let shot = |variant| Shot {
        name: format!("satoshi-{variant:02}"),
        caption: format!("satoshi sign {variant}"),
        words: format!("sats-per-dollar --set priceSymMode=1 --set satsVariant={variant}"),
    };
    (0..16).map(shot).collect()
}

//! The pictures of the gallery, each as a command line of `papertick render`.

use device::settings::fonts::FontId;

/// A heading with its pictures.
pub(crate) struct Section {
    pub(crate) heading: &'static str,
    /// Pictures side by side.
    pub(crate) columns: usize,
    pub(crate) shots: fn() -> Vec<Shot>,
}

/// A picture.
pub(crate) struct Shot {
    name: String,
    pub(crate) caption: String,
    pub(crate) words: String,
}

impl Shot {
    /// Its file under `docs`.
    pub(crate) fn path(&self) -> String {
        format!("gallery/{}.png", self.name)
    }
}

/// Pictures of the front page: file under `docs`, command line, and what the page says that it shows.
pub(crate) const FRONT_PAGE: &[(&str, &str, &str)] = &[(
    "images/clock.png",
    "ticker --value price=95432 --scale 2",
    "Seven panels: the price of a bitcoin, 95432 US dollars",
)];

pub(crate) const SECTIONS: &[Section] = &[
    Section {
        heading: "Screens",
        columns: 1,
        shots: || listed(SCREENS),
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

const SCREENS: &[Row] = &[
    ("block-height", "Block height", "block-height"),
    (
        "block-height-million",
        "A height that needs every panel",
        "block-height --value height=1000000",
    ),
    ("time", "Time, with day and month", "time"),
    (
        "time-no-zero",
        "Without a leading zero",
        "time --value time=2026-05-09T07:05 --set hideLeadZero=true",
    ),
    (
        "time-unset",
        "Before the time is known",
        "time --value time=",
    ),
    ("halving", "Blocks until the halving", "halving-countdown"),
    (
        "halving-time",
        "Time until the halving",
        "halving-countdown --set useBlkCountdown=false",
    ),
    ("fee", "Fee rate of the next block", "block-fee-rate"),
    (
        "fee-share-dot",
        "The dot shares a panel",
        "block-fee-rate --value fee=12.34 --set decimalShareDot=true",
    ),
    ("sats", "Satoshis for a dollar", "sats-per-dollar"),
    (
        "sats-sign",
        "With the satoshi sign",
        "sats-per-dollar --value currency=EUR --set priceSymMode=1",
    ),
    (
        "sats-bitcoin-sign",
        "With the bitcoin sign",
        "sats-per-dollar --value currency=CHF --set priceSymMode=2",
    ),
    ("ticker", "Price in US dollars", "ticker"),
    (
        "ticker-eur",
        "Price in euros",
        "ticker --value currency=EUR",
    ),
    (
        "ticker-gbp",
        "Price in pounds",
        "ticker --value currency=GBP",
    ),
    (
        "ticker-jpy",
        "Price in yen: long prices get a letter",
        "ticker --value currency=JPY",
    ),
    (
        "ticker-chf",
        "Currencies without a sign show their code",
        "ticker --value currency=CHF",
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
    ("market-cap", "Market cap", "market-cap"),
    (
        "market-cap-share-dot",
        "The dot sharing a panel",
        "market-cap --set decimalShareDot=true",
    ),
    ("supply", "Bitcoin supply", "bitcoin-supply"),
    (
        "supply-percent",
        "Supply in percent",
        "bitcoin-supply --set supplyPercent=true",
    ),
    ("proof", "Proof of the height", "proof-of-the-height"),
    (
        "proof-claimed",
        "An unproven height",
        "proof-of-the-height --value state=claimed --value agreeing=",
    ),
    (
        "pool-hashrate",
        "Hashrate at the mining pool",
        "mining-pool-hashrate",
    ),
    (
        "pool-hashrate-two-words",
        "A pool with a name of two words",
        "mining-pool-hashrate --set miningPoolName=public_pool",
    ),
    (
        "pool-offline",
        "A pool that does not answer",
        "mining-pool-hashrate --value hashrate=",
    ),
    (
        "pool-earnings",
        "Earnings of a day at the pool",
        "mining-pool-earnings --set miningPoolName=ocean",
    ),
    (
        "pool-earnings-bitcoin",
        "Earnings of a good day",
        "mining-pool-earnings --value daily=250000000 --set miningPoolName=braiins",
    ),
    (
        "miner-hashrate",
        "Hashrate of a miner at home",
        "miner-hashrate",
    ),
    (
        "miner-offline",
        "A miner that is offline, on seven panels",
        "miner-hashrate --value miner=",
    ),
    (
        "miner-best",
        "Best difficulty of the miner",
        "miner-best-difficulty",
    ),
    (
        "balance",
        "Balance of the wallet",
        "wallet-balance --set priceSymMode=1",
    ),
    (
        "balance-bitcoin",
        "One bitcoin and more",
        "wallet-balance --value balance=123456789",
    ),
    (
        "balance-unknown",
        "Before the balance is known",
        "wallet-balance --value balance=",
    ),
];

const STYLES: &[Row] = &[
    (
        "style-inverted",
        "White on black",
        "ticker --set invertedColor=true",
    ),
    (
        "style-horizontal",
        "Horizontal labels",
        "ticker --set verticalDesc=false",
    ),
    (
        "style-narrow-label",
        "Labels at half the width",
        "block-height --set labelFitPct=50",
    ),
    (
        "style-small",
        "The smallest digits",
        "ticker --set digitFontPx=80",
    ),
    (
        "style-large",
        "The largest digits",
        "ticker --set digitFontPx=220",
    ),
    (
        "style-stale",
        "A stale value is marked with a small clock",
        "ticker --value mark=stale",
    ),
    (
        "style-disputed",
        "A disputed value is marked with an unequal sign",
        "block-height --value mark=disputed",
    ),
    (
        "style-alone",
        "An unconfirmed value is marked with a ring",
        "block-height --value mark=alone",
    ),
];

const OVERLAYS: &[Row] = &[
    ("zap", "A zap", "zap"),
    (
        "zap-sign",
        "With the satoshi sign",
        "zap --value zap=420 --set priceSymMode=1",
    ),
    ("payment-received", "A payment received", "payment"),
    (
        "payment-sent",
        "A payment sent",
        "payment --value payment=250000 --value direction=sent",
    ),
    ("text", "A text", "text"),
    ("custom", "A text or icon per panel", "custom"),
    (
        "custom-icons",
        "Icons",
        "custom --value panel=mdi:alarm --value panel=mdi:arrow-down-bold --value panel=mdi:arrow-up-bold --value panel=mdi:bell --value panel=mdi:bitcoin --value panel=mdi:clock-outline --value panel=mdi:lightning-bolt",
    ),
    (
        "custom-more-icons",
        "More icons",
        "custom --value panel=mdi:pickaxe --value panel=mdi:rocket-launch --value panel=mdi:wifi --value panel=mdi:wifi-alert --value panel=mdi:wifi-off",
    ),
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
        "block-height --board v8 --value height=1000000",
    ),
    (
        "v8-halving-time",
        "Time until the halving",
        "halving-countdown --board v8 --set useBlkCountdown=false",
    ),
    (
        "v8-fee",
        "A long fee rate",
        "block-fee-rate --board v8 --value fee=150.25",
    ),
    (
        "v8-sats",
        "Many satoshis",
        "sats-per-dollar --board v8 --value price=1000 --set priceSymMode=1",
    ),
    (
        "v8-ticker",
        "A price of six digits with its sign",
        "ticker --board v8 --value price=109876",
    ),
    (
        "v8-ticker-jpy",
        "One more decimal",
        "ticker --board v8 --value currency=JPY",
    ),
    ("v8-market-cap", "One more decimal", "market-cap --board v8"),
    ("v8-supply", "One more decimal", "bitcoin-supply --board v8"),
    (
        "v8-proof",
        "Proof of the height",
        "proof-of-the-height --board v8 --value state=disputed --value age=140",
    ),
    (
        "v8-pool-hashrate",
        "One more decimal",
        "mining-pool-hashrate --board v8 --value hashrate=998.7654TH",
    ),
    (
        "v8-miner-offline",
        "A miner that is offline",
        "miner-hashrate --board v8 --value miner=",
    ),
    (
        "v8-balance",
        "Balance of the wallet",
        "wallet-balance --board v8 --value balance=123456789",
    ),
    ("v8-custom", "A text or icon per panel", "custom --board v8"),
    ("v8-debug", "Debug view", "debug --board v8"),
    ("v8-splash", "Start screen", "splash --board v8"),
    (
        "v8-provisioning",
        "How to connect the clock to a network",
        "provisioning --board v8",
    ),
];

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

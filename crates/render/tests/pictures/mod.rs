//! The pictures that have golden images.

use std::sync::Arc;

use device::{
    cells::{Cell, Icon, Picture},
    screens::{
        catalog, custom, debug, erasing, payment, provisioning, safe_mode, sign_in, splash, update,
        zap,
    },
    settings::{Settings, fonts::FontId},
};
use market::{
    Direction, Payment, Zap,
    logo::Logo,
    mark::Mark,
    units::{Msats, Sats},
};

use crate::{
    line::Line,
    painting::{SAFE_MODE_REASON, STYLE, debug_facts, generated_password, picture, portal_facts},
};

/// Variants of the screens of the rotation: name of the file and the line that describes it.
///
/// The mark is not in the line: it is the end of the name.
#[rustfmt::skip]
const SCREENS: &[(&str, &str)] = &[
    ("block-height--seven-digits", "block height=1234567"),
    ("block-height--stale", "block height=840000"),
    ("block-height--disputed", "block height=840000"),
    ("block-height--alone", "block height=840000"),
    ("block-height--inverted", "block height=957123"),
    ("block-height--plain-labels", "block height=840000 verticalDesc=false"),
    ("block-height--narrow-label", "block height=840000 labelFitPct=50"),
    ("block-height--small", "block height=840000 digitFontPx=80"),
    ("block-height--large", "block height=840000 digitFontPx=220"),
    ("clock--no-zero", "clock time=07:05-9/5 hideLeadZero"),
    ("clock--not-set", "clock"),
    ("ticker--eur", "ticker EUR price=88001"),
    ("ticker--gbp", "ticker GBP price=74210"),
    ("ticker--jpy", "ticker JPY price=14500000"),
    ("ticker--chf", "ticker CHF price=75000"),
    ("ticker--suffix", "ticker USD price=95432 suffixPrice"),
    ("ticker--share-dot", "ticker USD price=95432 suffixPrice decimalShareDot"),
    ("ticker--money-over-weight", "ticker USD price=95432 suffixPrice mowMode"),
    ("ticker--money-over-weight-stale", "ticker USD price=95432 suffixPrice mowMode"),
    ("ticker--cents", "ticker USD price=45.67"),
    ("sats--moscow", "sats USD price=95432"),
    ("sats--bitcoin-sign", "sats EUR price=88001 priceSymMode=2 fontName=inter"),
    ("sats--fraction", "sats JPY price=255000000 priceSymMode=1 decimalShareDot"),
    ("market-cap--share-dot", "mcap USD price=95432 height=957123 decimalShareDot"),
    ("market-cap--chf", "mcap CHF price=75000 height=957123"),
    ("fee-rate--share-dot", "fee fee=12.34 decimalShareDot"),
    ("fee-rate--three-share-dot", "fee fee=150.25 decimalShareDot"),
    ("fee-rate--unknown", "fee"),
    ("halving--blocks", "halving height=957123"),
    ("proof--plain-labels", "proof state=disputed agreeing=12 hash=bd6e age=6000 verticalDesc=false"),
    ("proof--claimed", "proof state=claimed"),
    ("supply--amount", "supply height=957123"),
    ("pool-hashrate--name", "pool-hash miningPoolName=braiins hashrate=12500000000000000000"),
    ("pool-hashrate--two-words", "pool-hash miningPoolName=public_pool hashrate=742500000000000"),
    ("pool-hashrate--offline", "pool-hash miningPoolName=ocean"),
    ("pool-earnings--sats", "pool-earn miningPoolName=ocean daily=9999 hashrate=1"),
    ("pool-earnings--bitcoin", "pool-earn miningPoolName=ocean daily=250000000 hashrate=1"),
    ("miner-hashrate--offline", "miner-hash minerEnabled minerHostname=axe"),
    ("wallet-balance--sats", "balance sats=50000 priceSymMode=1"),
    ("wallet-balance--unknown", "balance"),
];

/// Values for every screen, and settings with which the screens show most.
const SAMPLE: &str = "USD price=95432 yesterday=93100 height=957123 fee=4.7 time=21:34-20/11 \
    state=proven agreeing=4 hash=a3f0 age=7 \
    miningPoolName=ocean hashrate=645000000000 daily=9999 logo=ocean \
    minerEnabled minerHostname=axe miner=1234000000000 best=4.29G sats=123456789 \
    priceSymMode=1 useBlkCountdown=false supplyPercent";

/// All pictures of a board, each with the name of its file.
pub(crate) fn screens(panels: usize) -> Vec<(String, Picture)> {
    let samples = catalog::SCREENS.iter().map(|row| {
        let (name, line) = (row.word(), format!("{} {SAMPLE}", row.word()));
        (format!("sample--{name}"), screen(&name, &line, panels))
    });
    let variants = SCREENS
        .iter()
        .map(|(name, line)| ((*name).to_owned(), screen(name, line, panels)));
    samples
        .chain(variants)
        .chain(notices(panels))
        .chain(texts(panels))
        .chain(symbols(panels))
        .collect()
}

fn screen(name: &str, line: &str, panels: usize) -> Picture {
    let mut line = Line::parse(line);
    if let Some(logo) = &mut line.market.pool_logo {
        *logo = Arc::new(drawn_logo(&logo.name));
    }
    let screen = catalog::find(line.screen).unwrap();
    let mut picture = styled((screen.cells)(&line.scene(panels)), &line.settings);
    picture.mark = Mark::ALL
        .into_iter()
        .find(|mark| name.ends_with(mark.name()));
    picture.style.inverted = name.ends_with("inverted");
    picture
}

fn styled(cells: Vec<Cell>, settings: &Settings) -> Picture {
    let mut picture = picture(cells);
    picture.style = device::panels::style(settings);
    picture
}

/// Temporary layers over the rotation.
fn notices(panels: usize) -> Vec<(String, Picture)> {
    let settings = Settings {
        price_sym_mode: 1,
        ..Settings::default()
    };
    let zap = |sats| {
        let zap = Zap {
            amount: Sats(sats),
            message: String::new(),
        };
        picture(zap::cells(&zap, &settings, panels))
    };
    let paid = |direction, sats: u64| {
        let payment = Payment {
            direction,
            amount: Msats(sats * 1000),
        };
        picture(payment::cells(&payment, &settings, panels))
    };
    let cases = [
        ("zap--sats", zap(420)),
        ("zap--millions", zap(1_250_000)),
        ("payment--received", paid(Some(Direction::Received), 2100)),
        ("payment--sent", paid(Some(Direction::Sent), 250_000)),
        ("update--start", picture(update::cells(0, panels))),
        ("update--end", picture(update::cells(100, panels))),
        ("splash--plain", picture(splash::cells(panels))),
        ("erasing--plain", picture(erasing::cells(panels))),
    ];
    cases
        .map(|(name, picture)| (name.to_owned(), picture))
        .into()
}

/// Explanations, and texts of the owner.
fn texts(panels: usize) -> Vec<(String, Picture)> {
    let mut inverted = picture(provisioning::cells(&portal_facts(), panels));
    inverted.style.inverted = true;
    let owner = |texts: &[&str]| {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        picture(custom::cells(&texts, None, panels))
    };
    #[rustfmt::skip]
    let cases = [
        ("debug--plain", picture(debug::cells(&debug_facts(), panels))),
        ("provisioning--plain", picture(provisioning::cells(&portal_facts(), panels))),
        ("provisioning--inverted", inverted),
        ("safe-mode--settings", picture(safe_mode::cells(SAFE_MODE_REASON, panels))),
        ("sign-in--settings", picture(sign_in::cells("papertick", &generated_password(), panels))),
        ("custom--letters", picture(custom::letters("HELLO", panels))),
        ("custom--mixed", owner(&["A/B", "mdi:wifi", "₿", "ab", "gqy", "Hello", "Tick/tock"])),
        ("custom--signs", owner(&["$", "€", "£", "¥", "50%", "łódź", "…"])),
        ("custom--long", owner(&["Rosebud", "antidisestablishmentarianism", "a/antidisestablishment", "1234567890", "i", "W", "WW"])),
        ("custom--unknown-icon", owner(&["mdi:nothing", "mdi:alarm", "mdi:bell", "mdi:pickaxe"])),
    ];
    cases
        .map(|(name, picture)| (name.to_owned(), picture))
        .into()
}

/// Icons and satoshi symbols, as many on a picture as there are panels.
fn symbols(panels: usize) -> Vec<(String, Picture)> {
    let icons: Vec<Cell> = Icon::NAMED
        .iter()
        .map(|(_, icon)| Cell::Icon(*icon))
        .chain([Cell::Icon(Icon::Loading)])
        .collect();
    let icons = icons
        .chunks(panels)
        .enumerate()
        .map(|(index, icons)| (format!("icons--{index}"), picture(icons.to_vec())));
    let sats = (0..16).map(|sats_variant| {
        let mut picture = picture([Cell::Sats, Cell::digit("2"), Cell::digit("1")].to_vec());
        picture.style.sats_variant = sats_variant;
        (format!("satoshi--{sats_variant:02}"), picture)
    });
    icons.chain(sats).collect()
}

/// Three pictures of seven panels in every font.
pub(crate) fn fonts() -> Vec<(String, Picture)> {
    let digits = |label: Cell, signs: &[&str]| {
        let mut cells = vec![label];
        cells.extend(signs.iter().map(|sign| Cell::digit(*sign)));
        cells
    };
    #[rustfmt::skip]
    let pictures = [
        ("block", digits(Cell::label("BLOCK", "HEIGHT"), &["1", "2", "3", "4", "5", "6"])),
        ("price", digits(Cell::label("BTC", "SUPPLY"), &["$", "7", "8", ".", "9", "M"])),
        ("signs", digits(Cell::Word("RECV".into()), &["₿", "12.", "0", "€", "%"])),
        (
            "words",
            vec![
                Cell::label("sat", "radio"),
                Cell::unit("sat", "vB"),
                Cell::unit("PH", "S"),
                Cell::unit("363", "DAYS"),
                Cell::Code("CHF".into()),
                Cell::Text {
                    text: "Hopgy".into(),
                    px: None,
                },
                Cell::Tail("F".into()),
            ],
        ),
    ];
    let in_font = |font: FontId| {
        pictures.clone().map(|(name, cells)| {
            let mut picture = picture(cells);
            picture.style = device::cells::Style { font, ..STYLE };
            (format!("font--{}-{name}", font.id()), picture)
        })
    };
    FontId::all().flat_map(in_font).collect()
}

/// A logo as pools publish them: a ring with a bar.
fn drawn_logo(name: &str) -> Logo {
    let ink = |x: i32, y: i32| {
        let distance = (x - 61).pow(2) + (y - 61).pow(2);
        (45 * 45..58 * 58).contains(&distance) || ((30..92).contains(&x) && (54..68).contains(&y))
    };
    let byte =
        |y: i32, left: i32| (0..8).fold(0, |byte, x| byte << 1 | u8::from(!ink(left + x, y)));
    Logo {
        name: name.into(),
        width: 122,
        height: 122,
        rows: (0..122)
            .flat_map(|y| (0..16).map(move |left| byte(y, left * 8)))
            .collect(),
    }
}

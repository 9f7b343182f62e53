//! The expected texts of the panels, and their full refreshes.

use std::time::Duration;

use device::cells::Marks;
use market::{mark::Mark, units::Currency};

use super::{Model, Received, SECOND, Slot};

/// Reason to paint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaintReason {
    /// The same screen with new data.
    Data,
    /// Another screen.
    Screen,
    /// A full refresh was requested, or is needed to remove ghosts.
    Full,
}

/// The panels and their last picture.
#[derive(Debug, Clone, Default)]
pub struct Glass {
    /// The visible mode, slot and layer number.
    shown: Option<(&'static str, Slot, u32)>,
    /// A text per panel. `None` if the model does not compute them.
    pub texts: Option<Vec<String>>,
    pub mark: Option<Mark>,
    /// The current marks of the shown values; the painted one may be worse.
    pub current_marks: Marks,
    /// Font, inversion and satoshi symbol; then sizes. A change of sizes leaves no ghosts.
    pub style: (String, bool, u32, [u32; 3]),
    /// The shown price.
    price: Option<u64>,
    price_painted: Option<Duration>,
    pub last_full: Duration,
    /// Pictures, full refreshes and repaints of all panels so far.
    pub pictures: u64,
    pub full_refreshes: u64,
    pub repaints: u64,
}

impl Glass {
    /// Repaints all panels.
    pub fn repaint(&mut self) {
        self.repaints += 1;
        self.pictures += 1;
    }
}

impl Model {
    /// Makes the newest picture. A picture in which only the price changes may be delayed.
    pub fn paint(&mut self, mut reason: PaintReason) {
        let now = self.now.uptime;
        let slot = if self.mode() == "rotation" {
            self.slot
        } else {
            (0, None)
        };
        let covers = |layer: &&super::Layer| layer.mode == self.mode();
        let number = self.top().filter(covers).map_or(0, |layer| layer.number);
        let shown = Some((self.mode(), slot, number));
        let s = &self.settings;
        let sizes = [s.digit_font_px, s.label_fit_pct, s.vertical_desc.into()];
        let style = (s.font_name.clone(), s.inverted_color, s.sats_variant, sizes);
        let known = slot.1.and_then(|currency| self.facts.get(currency.code()));
        let price = known.map(|(price, _)| *price);
        let (texts, marks) = (self.texts(price), self.marks());
        let mark = marks.worst();
        let before = &self.glass;
        let is = |texts: &_| (shown, texts) == (before.shown, &before.texts);
        // A worse mark is painted at once, a better one with the next picture.
        if reason == PaintReason::Data && style == before.style && mark <= before.mark {
            if is(&texts) {
                (self.glass.current_marks, self.glass.price) = (marks, price);
                return;
            }
            if slot.1.is_some() && is(&self.texts(before.price)) {
                let period = SECOND * s.min_sec_price_upd;
                if before
                    .price_painted
                    .is_some_and(|painted| now < painted + period)
                {
                    return;
                }
                if s.led_flash_on_upd {
                    self.lights
                        .play(super::Animation::Price, &self.settings, now);
                }
            }
        }
        let (s, glass) = (&self.settings, &mut self.glass);
        if glass.pictures > 0 && shown != glass.shown {
            reason = reason.max(PaintReason::Screen);
        }
        let ghosts = |style: &(String, bool, u32, _)| (style.0.clone(), style.1, style.2);
        if ghosts(&style) != ghosts(&glass.style) {
            reason = PaintReason::Full;
        }
        let due = now >= glass.last_full + SECOND * 60 * s.full_refresh_min;
        let full = match reason {
            PaintReason::Data => due && s.full_refresh_min > 0,
            PaintReason::Screen => due || s.refr_scrn_change,
            PaintReason::Full => true,
        };
        glass.pictures += 1;
        if full {
            glass.full_refreshes += 1;
            glass.last_full = now;
        } else if reason == PaintReason::Screen {
            glass.repaints += 1;
        }
        if slot.1.is_some() {
            glass.price_painted = Some(now);
        }
        (glass.shown, glass.texts) = (shown, texts);
        (glass.mark, glass.current_marks) = (mark, marks);
        (glass.style, glass.price) = (style, price);
    }

    /// The marks of the shown values.
    pub fn marks(&self) -> Marks {
        let needs_height = self.mode() == "rotation" && [0, 4, 30, 40, 900].contains(&self.slot.0);
        let height = self.height_marks().into_iter();
        let height = height.filter(|_| needs_height);
        let price = self.slot.1.filter(|_| self.mode() == "rotation");
        let price = price.and_then(|currency| self.price_mark(currency));
        let old = self.is_stale().then_some(Mark::Stale);
        height.chain(price).chain(old).collect()
    }

    /// The mark of the shown price, except for its age.
    fn price_mark(&self, currency: Currency) -> Option<Mark> {
        let now = self.now.uptime;
        let quote = self.quotes.get(&currency)?;
        let is_old = match self.facts.get(currency.code()) {
            Some((_, Received::At(at))) => now >= *at + SECOND * 15 * 60,
            _ => false,
        };
        let marks = self.settings.proof_mode != 0 && self.is_witnessed(currency);
        let is_alone = quote.released || now >= quote.weak + SECOND * 120;
        (marks && !is_old && is_alone).then_some(Mark::Alone)
    }

    /// The marks of the shown height, except for the age of its value.
    fn height_marks(&self) -> Vec<Mark> {
        let now = self.now.uptime;
        if self.height().is_none() || !self.shows_height() {
            return Vec::new();
        }
        let expects_proofs = self.settings.data_source == 1 || self.settings.proof_peer_max > 0;
        let is_old = self.height_at.is_none_or(|at| now >= at + SECOND * 90 * 60);
        let is_alone = !is_old && expects_proofs && now >= self.unproven_since + SECOND * 120;
        let mut marks = Vec::new();
        if is_old && self.height_at.is_some() && expects_proofs {
            marks.push(Mark::Stale);
        }
        if self.settings.proof_mode == 0 {
            return marks;
        }
        if self
            .disputed_since
            .is_some_and(|since| now >= since + SECOND * 120)
        {
            marks.push(Mark::Disputed);
        } else if is_alone {
            marks.push(Mark::Alone);
        }
        marks
    }

    /// Name of the state of the shown height.
    fn height_state(&self) -> &'static str {
        let now = self.now.uptime;
        if self.height().is_none() || !self.shows_height() {
            "unknown"
        } else if self.height_at.is_none_or(|at| now >= at + SECOND * 90 * 60) {
            "stale"
        } else if self
            .disputed_since
            .is_some_and(|since| now >= since + SECOND * 120)
        {
            "disputed"
        } else {
            "claimed"
        }
    }

    /// Whether the height is shown. These simulations have no proofs, so strict mode hides it.
    pub fn shows_height(&self) -> bool {
        self.settings.proof_mode != 2
    }

    /// Whether a shown value is stale or of unknown age.
    fn is_stale(&self) -> bool {
        let currency = self.slot.1.as_ref().map_or("", |currency| currency.code());
        // Polled; stale after four missing polls.
        let balance = (u64::from(self.settings.nwc_refresh_secs) * 4).max(600);
        let minutes = |count: u64| count * 60;
        let facts: &[(&str, u64)] = match self.slot.0 {
            _ if self.mode() != "rotation" => &[],
            0 | 4 | 40 | 900 => &[("height", minutes(90))],
            6 => &[("fee", minutes(60))],
            10 | 20 => &[(currency, minutes(15))],
            30 => &[(currency, minutes(15)), ("height", minutes(90))],
            90 => &[("balance", balance)],
            _ => &[],
        };
        let is_old = |(fact, seconds): &(&str, u64)| match self.facts.get(*fact) {
            None => false,
            Some(_) if *fact == "height" && !self.shows_height() => false,
            Some((_, Received::At(_) | Received::EarlierRun(_))) => {
                self.age_ms(fact).is_none_or(|age| age > seconds * 1000)
            }
        };
        facts.iter().any(is_old)
    }

    /// A text per panel: two lines as `A/B`, an icon by its name.
    fn texts(&self, price: Option<u64>) -> Option<Vec<String>> {
        let panels = self.board.panels;
        let layer = self.top().cloned().unwrap_or_default();
        Some(match self.mode() {
            "custom" => layer.texts,
            "safe-mode" => {
                let mut texts = [vec!["SAFE/MODE".into()], layer.texts].concat();
                texts.resize(panels, String::new());
                texts
            }
            "zap" | "payment" => {
                let [label, icon] = layer.texts.try_into().ok()?;
                let amount = self.with_sats_symbol(&layer.amount.to_string(), panels - 2);
                [vec![label], right(icon, amount, panels - 1)].concat()
            }
            "debug" => {
                let seconds = layer.since.as_secs();
                let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
                let uptime = match (hours / 24, hours) {
                    (0, 0) => format!("Uptime {minutes}m {rest}s"),
                    (0, _) => format!("Uptime {hours}h {minutes}m {rest}s"),
                    (days, _) => format!("Uptime {days}d {}h {minutes}m", hours % 24),
                };
                let board = format!("Board {} Version - Built -", self.board.name);
                let unknown = || ("-".to_owned(), "-".to_owned());
                let (ip, ssid) = self.network.clone().unwrap_or_else(unknown);
                let mut texts = vec!["DEBUG".into(), format!("IP {ip}"), format!("SSID {ssid}")];
                texts.push("Heap free - PSRAM free -".into());
                let sources = u32::from(self.claimed.is_some());
                texts.push(format!("Height {} Voices {sources}", self.height_state()));
                texts.extend([board, uptime, "Leave button 4".into()]);
                texts.truncate(panels);
                texts
            }
            "update" => right(
                "UP/DATE".into(),
                digits(&format!("{}%", layer.amount)),
                panels,
            ),
            "splash" => {
                let mut texts = vec!["(Bitcoin)".to_owned()];
                texts.extend((panels > 7).then(|| "(ClockOutline)".into()));
                texts.extend(digits("PAPER"));
                texts.push("(CheckBold)".into());
                texts
            }
            "rotation" => return self.screen(price),
            _ => return None,
        })
    }

    /// The screen without any data.
    fn no_data(&self) -> Vec<String> {
        let reason = match self.last_error.as_str() {
            _ if self.has_radio && self.network.is_none() => "no network",
            "" => "No source has answered yet.",
            error => error,
        };
        let ip = self.network.as_ref().map_or("-", |(ip, _)| ip);
        let mut texts = vec![
            "NO/DATA".into(),
            "No block, fee or price has come in so far.".into(),
            format!("Why {reason}"),
            "The clock goes on trying by itself.".into(),
            format!("More at {ip}"),
        ];
        texts.resize(self.board.panels, String::new());
        texts
    }

    fn screen(&self, price: Option<u64>) -> Option<Vec<String>> {
        let (panels, s) = (self.board.panels, &self.settings);
        let needs_feeds = [0, 4, 6, 10, 20, 30, 40, 900].contains(&self.slot.0);
        let knows_height = self.facts.contains_key("height") && self.shows_height();
        let is_more = |fact: &String| !["height", "balance"].contains(&fact.as_str());
        let knows_more = self.facts.keys().any(is_more);
        if needs_feeds && !knows_height && !knows_more && self.now.uptime >= 60 * SECOND {
            return Some(self.no_data());
        }
        let height = self.facts.get("height").filter(|_| knows_height);
        let height = height.map(|(height, _)| *height);
        let money = self
            .slot
            .1
            .map(|currency| currency.code().to_owned())
            .unwrap_or_default();
        let sign = match money.as_str() {
            "EUR" => "€",
            "GBP" => "£",
            "JPY" => "¥",
            "CHF" => "CHF",
            _ => "$",
        };
        let signed = |number: String| [vec![sign.to_owned()], digits(&number)].concat();
        // Supply, for the halving era of the simulated heights.
        let mined = height.map(|height| (157_500_000 + (height - 840_000) * 25) / 8);
        let whole = price.map(|price| (price + 500_000) / 1_000_000);
        let (label, tail) = match self.slot.0 {
            0 => (
                "BLOCK/HEIGHT".into(),
                height.map(|height| digits(&height.to_string())),
            ),
            3 => match self.local() {
                None => ("-/-".into(), None),
                Some((day, month, hour, minute)) => {
                    let lead = if s.hide_lead_zero {
                        hour.to_string()
                    } else {
                        format!("{hour:02}")
                    };
                    (
                        format!("{day:02}/{month:02}"),
                        Some(digits(&format!("{lead}:{minute:02}"))),
                    )
                }
            },
            4 if s.use_blk_countdown => (
                "HAL/VING".into(),
                height.map(|height| digits(&(210_000 - height % 210_000).to_string())),
            ),
            4 => {
                let minutes = height.map(|height| (210_000 - height % 210_000) * 10);
                let times = minutes.map_or(vec![String::new(); 4], |left| {
                    let parts = [
                        (left / 525_600, "YRS"),
                        (left / 1440 % 365, "DAYS"),
                        (left / 60 % 24, "HRS"),
                        (left % 60, "MINS"),
                    ];
                    parts
                        .map(|(number, name)| format!("{number}/{name}"))
                        .to_vec()
                });
                let times = [vec!["HAL/VING".into()], times, vec!["TO/GO".into()]].concat();
                let mut texts = right("BIT/COIN".into(), times, 7);
                (0..panels - 7).for_each(|_| texts.insert(0, String::new()));
                return Some(texts);
            }
            6 => {
                let fee = self.facts.get("fee").map(|(fee, _)| self.fee(fee / 10_000));
                let number = right(
                    String::new(),
                    fee.map_or(Vec::new(), |fee| digits(&fee)),
                    panels - 1,
                );
                return Some(
                    [
                        vec!["FEE/RATE".into()],
                        number[1..].into(),
                        vec!["sat/vB".into()],
                    ]
                    .concat(),
                );
            }
            10 => {
                let sats = price.map(|price| (100_000_000_000_000 + price / 2) / price);
                let time = money == "USD" && s.use_mscw_time && sats.is_some();
                let label = if time {
                    "MSCW/TIME".into()
                } else {
                    format!("SATS/{money}")
                };
                (
                    label,
                    sats.map(|sats| self.with_sats_symbol(&sats.to_string(), panels - 1)),
                )
            }
            20 => {
                let fits = |whole: u64| whole.to_string().len() < panels && !s.suffix_price;
                let tail = price.zip(whole).map(|(price, whole)| match fits(whole) {
                    false => signed(short(whole, panels - 2)),
                    // One decimal below 100 000 if it is not whole and fits.
                    true if panels > 7 && price < 100_000_000_000 && price % 1_000_000 > 0 => {
                        digits(&decimals(price.into(), 1_000_000, 1))
                    }
                    // The sign is dropped first if space is short.
                    true if whole.to_string().len() == panels - 1 => digits(&whole.to_string()),
                    true => signed(whole.to_string()),
                });
                (format!("BTC/{money}"), tail)
            }
            30 => {
                let value = whole.zip(mined).map(|(price, mined)| price * mined);
                (
                    format!("{money}/MCAP"),
                    value.map(|value| signed(short(value, panels - 2))),
                )
            }
            // These simulations have no proofs.
            900 => {
                let state = self.height_state().to_uppercase();
                (format!("BLOCK/{state}"), None)
            }
            40 => {
                let supply = mined.map(|mined| match s.supply_percent {
                    true => format!(
                        "{}%",
                        decimals(u128::from(mined) * 1_000_000, 209_999_999_769, 2)
                    ),
                    false => short(mined, panels - 1),
                });
                ("BTC/SUPPLY".into(), supply.map(|supply| digits(&supply)))
            }
            // These simulations have no pool and no miner.
            70 => {
                let pool = s.mining_pool_name.replacen('_', "/", 1);
                (pool, Some(vec!["OFF/LINE".into()]))
            }
            80 | 81 if panels > 7 => ("(Pickaxe)".into(), Some(digits("OFFLINE"))),
            80 | 81 => ("(Pickaxe)".into(), Some(vec!["OFF/LINE".into()])),
            90 => return Some(self.balance()),
            _ => return None,
        };
        Some(right(label, tail.unwrap_or_default(), panels))
    }

    /// A fee rate in hundredths of sat/vB: two decimals below 10, and above if they are not zero and fit.
    fn fee(&self, hundredths: u64) -> String {
        let exact = format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let is_whole = hundredths >= 1000 && hundredths.is_multiple_of(100);
        let fits = exact.len() <= self.board.panels - 2;
        if self.settings.block_fee_dec && fits && !is_whole {
            exact
        } else {
            ((hundredths + 50) / 100).to_string()
        }
    }

    /// The balance in satoshis, or from 1 BTC in BTC with up to four decimals.
    fn balance(&self) -> Vec<String> {
        let panels = self.board.panels;
        let sats = self.facts.get("balance").map(|(msats, _)| msats / 1000);
        let beside_icon = |tail| {
            let tail = right("(LightningBolt)".into(), tail, panels - 1);
            [vec!["BAL".into()], tail].concat()
        };
        if let Some(sats) = sats.filter(|sats| *sats >= 100_000_000) {
            let bitcoin = |places| decimals(sats.into(), 100_000_000, places);
            let whole = [digits(&bitcoin(4)), folded(&bitcoin(4))];
            if let Some(tail) = whole.into_iter().find(|tail| tail.len() <= panels - 2) {
                return beside_icon(tail);
            }
            let mut tails = (0..=4).rev().map(|places| folded(&bitcoin(places)));
            let tail = tails.find(|tail| tail.len() < panels).unwrap();
            return right("BAL".into(), tail, panels);
        }
        let number = sats.map_or("?".into(), |sats| {
            let in_units = [(1000, 'K'), (1_000_000, 'M')].into_iter();
            let in_units = in_units.filter(|(unit, _)| sats < unit * 1000);
            let mut in_units = in_units.map(|(unit, letter)| match sats >= 10 * unit {
                true => format!("{}{letter}", (sats + unit / 2) / unit),
                false => format!("{}{letter}", decimals(sats.into(), unit, 1)),
            });
            let fits = |text: &String| text.len() <= panels - 2;
            let full = Some(sats.to_string()).filter(fits);
            full.or_else(|| in_units.find(fits)).unwrap()
        });
        beside_icon(self.with_sats_symbol(&number, panels - 2))
    }

    /// A number with the satoshi symbol before it if it fits.
    fn with_sats_symbol(&self, number: &str, room: usize) -> Vec<String> {
        let marker = match self.settings.price_sym_mode {
            1 => Some("STS"),
            2 => Some("₿"),
            _ => None,
        };
        let marker = marker.filter(|_| number.len() < room).map(String::from);
        marker.into_iter().chain(digits(number)).collect()
    }
}

fn digits(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

/// As `digits`, but with the dot in the cell of the digit before it.
fn folded(text: &str) -> Vec<String> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let mut cells = [digits(whole), digits(rest)].concat();
    if !rest.is_empty() {
        cells[whole.len() - 1].push('.');
    }
    cells
}

/// A label on the left, and the other cells on the right.
fn right(label: String, tail: Vec<String>, panels: usize) -> Vec<String> {
    let blank = vec![String::new(); panels - 1 - tail.len()];
    [vec![label], blank, tail].concat()
}

/// A large number with a unit letter and as many decimals as fit.
fn short(value: u64, room: usize) -> String {
    let units = [
        (1_000_000_000_000, 'T'),
        (1_000_000_000, 'B'),
        (1_000_000, 'M'),
        (1000, 'K'),
    ];
    let (unit, letter) = units.into_iter().find(|(unit, _)| value >= *unit).unwrap();
    let whole = decimals(value.into(), unit, 0);
    let free = room.saturating_sub(whole.len() + 2).min(5);
    format!("{}{letter}", decimals(value.into(), unit, free))
}

/// A quotient, rounded half up.
fn decimals(value: u128, unit: u64, places: usize) -> String {
    let ten = 10u128.pow(u32::try_from(places).unwrap());
    let (cut, rest) = (
        value * ten / u128::from(unit),
        value * ten % u128::from(unit),
    );
    let scaled = cut + u128::from(2 * rest >= u128::from(unit));
    match places {
        0 => scaled.to_string(),
        _ => format!("{}.{:0places$}", scaled / ten, scaled % ten),
    }
}

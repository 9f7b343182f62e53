//! Remote displays: TRMNL, e-readers and tablets that fetch a picture now and then.
//!
//! A display has a token. It waits until the owner approves it; approved displays are a setting ([`Display`]), so they
//! survive a restart. What a display reports about itself is in [`Displays`] and in memory only.
//! `schedule` decides when a display returns.

mod display;
pub mod schedule;

use alloc::{
    collections::{BTreeMap, VecDeque},
    format,
    string::String,
    sync::Arc,
    vec::Vec,
};
use core::{net::IpAddr, time::Duration};

pub use self::display::{
    Display, DisplayChange, DisplayContent, INTERVAL_MIN, INTERVALS_MIN, NAME_MAX, SCREENS_MAX,
    TokenDigest,
};
use self::schedule::PowerSource;
use crate::{
    canvas::{CanvasSpec, Depth, Layout, Turn},
    cells::{Cell, Picture, Style},
    frames::{Changes, Frame},
    request::Refusal,
    settings::Settings,
    tile::{Figure, Graph, Tile},
};

/// Most displays, including waiting ones.
pub const DISPLAYS_MAX: usize = 64;

/// Most displays that wait for approval. A new one replaces the one with the oldest contact.
pub const WAITING_MAX: usize = 16;

/// Most displays of one network that wait for approval, so that it cannot push out those of others. A new one replaces the
/// one with the oldest contact.
pub const WAITING_OF_NETWORK_MAX: usize = 4;

/// Random bytes for the id of a new display, because this crate has no random numbers.
pub type IdBytes = [u8; 16];

/// Log lines that are kept of each display.
pub const LOG_LINES_MAX: usize = 10;

/// Longest text that a display reports about itself, bytes.
pub const REPORT_TEXT_MAX: usize = 32;

/// Longest log message, bytes.
pub const LOG_MESSAGE_MAX: usize = 200;

/// Time after which a waiting display returns to check whether it is approved.
pub(crate) const WAITING_RETURN: Duration = Duration::from_secs(60);

/// State of the battery of a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Battery {
    /// Its voltage, mV.
    pub millivolts: Option<u32>,
    /// Its charge, percent.
    pub percent: Option<u8>,
    /// It is being charged.
    pub charging: Option<bool>,
}

/// A line of the log of a display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayLogLine {
    /// When it was written, s since 1970-01-01 UTC, if the display knows.
    pub unix_s: Option<i64>,
    /// Its level, such as `error`.
    pub level: String,
    /// The message.
    pub message: String,
}

/// What a display sends with a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DisplayContact {
    /// Network of the client. `None` if it is unknown.
    pub network: Option<IpAddr>,
    /// Hardware address.
    pub mac: Option<String>,
    /// Word for its model.
    pub model: Option<String>,
    /// Version of its firmware.
    pub firmware: Option<String>,
    /// Width and height of its picture, px, and depth, bits per pixel. `None` if unknown.
    pub size: Option<(u32, u32, Depth)>,
    /// How a picture must be rotated to stand upright on it.
    pub turn: Turn,
    /// Its battery. `None` if it has none, or does not report it.
    pub battery: Option<Battery>,
    /// Strength of its Wi-Fi signal, dBm.
    pub rssi: Option<i32>,
}

/// The report of a display.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DisplayReport {
    /// The newest data that it has sent.
    pub contact: DisplayContact,
    /// Uptime of the last contact. `None` before the first one since the start.
    pub last_contact: Option<Duration>,
    /// Uptime of the expected next contact.
    pub next_contact: Option<Duration>,
    /// Its newest log lines, oldest first.
    pub log: VecDeque<DisplayLogLine>,
    /// Place in its screens that it shows now. `None` before its first picture.
    place: Option<usize>,
}

/// The complete state of a display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayState {
    /// Its settings.
    pub display: Display,
    /// Whether it is approved; otherwise it waits.
    pub is_approved: bool,
    /// Id of the approved display that it replaces when it is approved, because their hardware addresses are equal.
    pub replaces: Option<String>,
    /// Its report.
    pub report: DisplayReport,
}

impl DisplayState {
    /// Place in its `count` available screens that it shows.
    pub fn place(&self, count: usize) -> usize {
        let place = match self.display.content {
            DisplayContent::Rotation => self.report.place.unwrap_or_default(),
            DisplayContent::Clock | DisplayContent::Screen => 0,
        };
        place.checked_rem(count).unwrap_or_default()
    }
}

/// A request of a display, or of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisplayRequest {
    /// A display with this token is set up or requests a picture. An unknown token adds a waiting display.
    Contact {
        /// Its token.
        token: TokenDigest,
        /// The id of a new display is made of them.
        id: IdBytes,
        /// The data that it sent.
        contact: DisplayContact,
        /// How its own rotation moves.
        step: RotationStep,
    },
    /// A display reports log lines.
    Log(TokenDigest, Vec<DisplayLogLine>),
    /// Add an approved display that has this token.
    Add(TokenDigest, IdBytes, DisplayChange),
    /// Change the display with this id.
    Change(String, DisplayChange),
    /// Remove the display with this id.
    Remove(String),
}

/// How the own rotation of a display moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationStep {
    /// It stays.
    Stay,
    /// To the next screen.
    Next,
    /// To the first screen.
    First,
}

/// The picture for a display.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayPicture {
    /// Its settings.
    pub display: Display,
    /// Whether it is approved; otherwise the picture shows how to approve it.
    pub is_approved: bool,
    /// The picture.
    pub frame: Frame,
    /// Time after which the display should return.
    pub returns_in: Duration,
}

/// The displays that wait, and what all displays have reported. The approved ones are in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Displays {
    /// The one with the oldest contact first.
    waiting: VecDeque<WaitingDisplay>,
    /// Reports of the approved displays, by id.
    reports: BTreeMap<String, DisplayReport>,
    /// All displays after the newest change.
    states: Arc<Vec<DisplayState>>,
    /// Ids of approved displays that were removed since the start.
    former: Vec<String>,
}

/// A display that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WaitingDisplay {
    display: Display,
    report: DisplayReport,
    /// Id of the approved display that had its hardware address when it was set up.
    replaces: Option<String>,
}

impl Displays {
    /// All displays: first the approved ones, then the waiting ones.
    pub fn states(&self) -> &Arc<Vec<DisplayState>> {
        &self.states
    }

    /// Ids of approved displays that were removed since the start.
    pub fn former(&self) -> &[String] {
        &self.former
    }

    /// The display that meets a condition.
    pub fn find(&self, is_it: impl Fn(&Display) -> bool) -> Option<&DisplayState> {
        self.states.iter().find(|state| is_it(&state.display))
    }

    /// Collects the states after a change.
    fn collect(&mut self, settings: &Settings) {
        let approved = settings.displays.iter().map(|display| {
            let mut display = display.clone();
            let report = self.reports.get(&display.id).cloned().unwrap_or_default();
            display.fit(&report.contact);
            DisplayState {
                display,
                is_approved: true,
                replaces: None,
                report,
            }
        });
        let waiting = self.waiting.iter().map(|waiting| DisplayState {
            display: waiting.display.clone(),
            is_approved: false,
            replaces: waiting.replaces.clone(),
            report: waiting.report.clone(),
        });
        self.states = Arc::new(approved.chain(waiting).collect());
    }

    /// Records a contact, and adds a waiting display if the token is new. Returns the id of the display.
    ///
    /// # Errors
    /// There is no room for another display.
    pub fn contact(
        &mut self,
        token: TokenDigest,
        id: IdBytes,
        contact: DisplayContact,
        settings: &Settings,
        uptime: Duration,
    ) -> Result<String, Refusal> {
        if let Some(display) = settings.displays.iter().find(|known| known.token == token) {
            let report = self.reports.entry(display.id.clone()).or_default();
            report.contact = contact;
            report.last_contact = Some(uptime);
            return Ok(display.id.clone());
        }
        let known = self
            .waiting
            .iter()
            .position(|waiting| waiting.display.token == token);
        let mut waiting = match known.and_then(|at| self.waiting.remove(at)) {
            Some(waiting) => waiting,
            None => self.new_waiting(token, id, &contact, settings)?,
        };
        waiting.display.fit(&contact);
        waiting.report.contact = contact;
        waiting.report.last_contact = Some(uptime);
        waiting.report.next_contact = Some(uptime + WAITING_RETURN);
        let id = waiting.display.id.clone();
        self.waiting.push_back(waiting);
        Ok(id)
    }

    /// A display that waits, instead of one of its network that waits with the same hardware address. One that was approved
    /// before under this address keeps what its owner has set.
    fn new_waiting(
        &mut self,
        token: TokenDigest,
        id: IdBytes,
        contact: &DisplayContact,
        settings: &Settings,
    ) -> Result<WaitingDisplay, Refusal> {
        let room = DISPLAYS_MAX.saturating_sub(settings.displays.len());
        let room = room.min(WAITING_MAX);
        if room == 0 {
            return Err(Refusal::TooManyDisplays);
        }
        let is_near = |one: &WaitingDisplay| one.report.contact.network == contact.network;
        if contact.mac.is_some() {
            self.waiting
                .retain(|one| !is_near(one) || one.display.mac != contact.mac);
        }
        if self.waiting.iter().filter(|one| is_near(one)).count() >= WAITING_OF_NETWORK_MAX {
            let oldest = self.waiting.iter().position(is_near);
            oldest.and_then(|oldest| self.waiting.remove(oldest));
        }
        while self.waiting.len() >= room {
            self.waiting.pop_front();
        }
        let before = of_mac(&settings.displays, contact.mac.as_deref());
        let display = before
            .cloned()
            .unwrap_or_else(|| new_display(token, contact));
        let id = self.free_id(id, settings);
        Ok(WaitingDisplay {
            replaces: before.map(|known| known.id.clone()),
            display: Display {
                id,
                token,
                ..display
            },
            report: DisplayReport::default(),
        })
    }

    /// An id that no display has: six random hex digits. An id made from the digest of the token could be forged with
    /// another token.
    fn free_id(&self, random: IdBytes, settings: &Settings) -> String {
        let waiting = self.waiting.iter().map(|waiting| &waiting.display);
        let taken: Vec<&str> = settings
            .displays
            .iter()
            .chain(waiting)
            .map(|display| display.id.as_str())
            .collect();
        let ids = random.windows(3).map(hex::encode_upper);
        let mut free = ids.filter(|id| !taken.contains(&id.as_str()));
        free.next().unwrap_or_default()
    }

    /// Records when an approved display will return.
    pub fn record_return(&mut self, id: &str, at: Duration) {
        if let Some(report) = self.reports.get_mut(id) {
            report.next_contact = Some(at);
        }
    }

    /// Moves the own rotation of an approved display.
    pub fn turn(&mut self, id: &str, step: RotationStep, settings: &Settings) {
        let Some(state) = self.find(|display| display.id == id) else {
            return;
        };
        let count = state.display.available_screens(settings).len();
        let place = match (state.report.place, step) {
            (_, RotationStep::Stay) => return,
            (_, RotationStep::First) | (None, RotationStep::Next) => 0,
            (Some(_), RotationStep::Next) => state.place(count) + 1,
        };
        let place = place.checked_rem(count).unwrap_or_default();
        self.reports.entry(id.into()).or_default().place = Some(place);
    }

    /// Adds log lines of a display.
    ///
    /// # Errors
    /// No display has this token.
    pub fn add_log(
        &mut self,
        token: TokenDigest,
        lines: Vec<DisplayLogLine>,
        settings: &Settings,
    ) -> Result<(), Refusal> {
        let approved = settings.displays.iter().find(|known| known.token == token);
        let report = match approved {
            Some(display) => self.reports.entry(display.id.clone()).or_default(),
            None => {
                let mut waiting = self.waiting.iter_mut();
                let waiting = waiting.find(|waiting| waiting.display.token == token);
                &mut waiting.ok_or(Refusal::UnknownDisplay)?.report
            }
        };
        report.log.extend(lines);
        let surplus = report.log.len().saturating_sub(LOG_LINES_MAX);
        report.log.drain(..surplus);
        Ok(())
    }

    /// The list of approved displays after a change of one display. Changes of a display that waits are made at once.
    ///
    /// # Errors
    /// There is no such display, no room, or it has no screens to show.
    pub fn change(
        &mut self,
        id: &str,
        change: DisplayChange,
        settings: &Settings,
    ) -> Result<Vec<Display>, Refusal> {
        let mut approved = settings.displays.clone();
        if let Some(display) = approved.iter_mut().find(|display| display.id == id) {
            let report = self.reports.get(id);
            if let Some(report) = report {
                display.fit(&report.contact);
            }
            display.apply(change);
            return if display.lacks_screens() { Err(Refusal::NoScreens) } else { Ok(approved) };
        }
        let at = self.waiting.iter().position(|one| one.display.id == id);
        let waiting = at.and_then(|at| self.waiting.get_mut(at));
        let waiting = waiting.ok_or(Refusal::UnknownDisplay)?;
        let mut display = waiting.display.clone();
        let is_approved = change.is_approved;
        display.apply(change);
        if display.lacks_screens() {
            return Err(Refusal::NoScreens);
        }
        waiting.display = display.clone();
        if is_approved {
            // A display that was reset replaces itself.
            approved.retain(|known| Some(&known.id) != waiting.replaces.as_ref());
            if approved.len() >= DISPLAYS_MAX {
                return Err(Refusal::TooManyDisplays);
            }
            approved.push(display);
        }
        Ok(approved)
    }

    /// A new approved display that has this token.
    ///
    /// # Errors
    /// There is no room, or it has no screens to show.
    pub fn add(
        &mut self,
        token: TokenDigest,
        id: IdBytes,
        change: DisplayChange,
        settings: &Settings,
    ) -> Result<Display, Refusal> {
        let room = DISPLAYS_MAX.saturating_sub(settings.displays.len());
        if room == 0 {
            return Err(Refusal::TooManyDisplays);
        }
        while self.waiting.len() >= room {
            self.waiting.pop_front();
        }
        let mut display = new_display(token, &DisplayContact::default());
        display.id = self.free_id(id, settings);
        display.apply(change);
        if display.lacks_screens() { Err(Refusal::NoScreens) } else { Ok(display) }
    }

    /// Removes a display that waits; returns whether there was one with this id.
    pub fn remove_waiting(&mut self, id: &str) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.display.id != id);
        self.waiting.len() != before
    }

    /// Follows a change: a display that was approved does not wait any more, a removed one has no report.
    pub fn apply_settings(&mut self, settings: &Settings) {
        let approved = &settings.displays;
        for display in approved {
            let is_it = |one: &WaitingDisplay| one.display.token == display.token;
            let at = self.waiting.iter().position(is_it);
            if let Some(waiting) = at.and_then(|at| self.waiting.remove(at)) {
                self.reports.insert(display.id.clone(), waiting.report);
            }
        }
        let is_known = |id: &String| approved.iter().any(|display| display.id == *id);
        self.reports.retain(|id, _| is_known(id));
        let removed = self.states.iter().filter(|state| state.is_approved);
        let removed = removed.map(|state| state.display.id.clone());
        let removed: Vec<String> = removed.filter(|id| !is_known(id)).collect();
        (self.former).retain(|id| !is_known(id) && !removed.contains(id));
        self.former.extend(removed);
        // Drops the oldest.
        let surplus = self.former.len().saturating_sub(DISPLAYS_MAX);
        self.former.drain(..surplus);
        self.collect(settings);
    }
}

/// The display with a hardware address.
fn of_mac<'a>(displays: &'a [Display], mac: Option<&str>) -> Option<&'a Display> {
    let mac = mac?;
    (displays.iter()).find(|display| display.mac.as_deref() == Some(mac))
}

/// A display as it is before its owner has set anything.
fn new_display(token: TokenDigest, contact: &DisplayContact) -> Display {
    let (width, height, depth) = contact.size.unwrap_or((800, 480, Depth::One));
    Display {
        id: String::new(),
        name: String::new(),
        token,
        mac: contact.mac.clone(),
        canvas: CanvasSpec {
            width,
            height,
            turn: Turn::None,
            depth,
            layout: Layout::Auto,
            dark: None,
        },
        is_sized: false,
        is_rotated: false,
        content: DisplayContent::Clock,
        screens: Vec::new(),
        interval_min: INTERVAL_MIN,
    }
}

/// The picture of a display that waits: the address of the page as a QR code, and the id.
pub(crate) fn waiting_frame(id: &str, page: &str, panels: usize, style: Style) -> Frame {
    let tile = Tile {
        graph: Some(Graph::Qr(page.into())),
        ..Tile::new(["New display", "Display"], Vec::from([Figure::text(id)]))
            .line(["Approve it on the page of the clock", "Approve it"])
            .line([page])
    };
    let mut cells = Vec::from([Cell::Qr(page.into())]);
    cells.extend(id.chars().map(|digit| Cell::Letter(digit.into())));
    cells.resize(panels, Cell::Blank);
    Frame {
        picture: Picture {
            tiles: Vec::from([tile]),
            ..Picture::new(cells, style)
        },
        slot: None,
        caption: format!("Approve display {id} at {page}"),
        since: None,
        changes: Changes {
            depends_on: Vec::new(),
            turn_in: None,
            minute_in: None,
            quiet_for: None,
            price_pace: Duration::ZERO,
        },
    }
}

impl DisplayContact {
    /// What the display runs on.
    pub fn power(&self) -> PowerSource {
        match self.battery {
            Some(battery) if battery.charging != Some(true) => {
                PowerSource::Battery(battery.percent)
            }
            Some(_) | None => PowerSource::Mains,
        }
    }
}

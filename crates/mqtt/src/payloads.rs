//! Payloads of the clock's retained topics.

use std::{sync::Arc, time::Duration};

use api::mqtt::{
    discovery,
    documents::{self, ONLINE, SettingsReport},
    topics::{Lamp, RetainedTopic},
};
use device::{
    canvas::{CanvasSpec, Depth, Layout, LayoutForm, Turn},
    frames::{self, FrameContent},
    mqtt::Broker,
    view::View,
};
use render::{png, tiles::TilePainter};
use runtime::panels::PanelsSnapshot;
use tokio::time::Instant;

use super::context::MqttContext;

/// Interval at which it is checked whether updates can be installed: an update key may be added to the data folder.
const UPDATABLE_CHECK_EVERY: Duration = Duration::from_secs(60);

/// Interval at which a picture is drawn again without the time of day.
const REDRAW_EVERY: Duration = Duration::from_secs(60);

const MINUTE_MS: i64 = 60_000;

/// Form of a picture that is not of the panels.
const PICTURE: CanvasSpec = CanvasSpec {
    width: 800,
    height: 480,
    turn: Turn::None,
    depth: Depth::Four,
    layout: Layout::Figure,
    dark: None,
};

/// What the payloads are made of.
pub(super) struct Payloads<'a> {
    context: &'a MqttContext,
    broker: Arc<Broker>,
    view: Arc<View>,
    /// The running version. `None` if updates cannot be installed.
    updatable_version: Option<String>,
    check_updatable_at: Instant,
    /// When a figure or a board is drawn again, because it may show the time, and values grow stale. `None` if the picture is
    /// of the panels.
    redraw_at: Option<Instant>,
    painter: TilePainter,
}

impl<'a> Payloads<'a> {
    /// Payloads of the present state.
    pub(super) fn new(
        context: &'a MqttContext,
        broker: Arc<Broker>,
        view: Arc<View>,
        now: Instant,
    ) -> Payloads<'a> {
        let is_drawn = broker.layout.form() != LayoutForm::Cells;
        Payloads {
            context,
            redraw_at: is_drawn.then_some(now),
            broker,
            view,
            updatable_version: context.newest.installer().updatable(),
            check_updatable_at: now + UPDATABLE_CHECK_EVERY,
            painter: TilePainter::default(),
        }
    }

    pub(super) fn broker(&self) -> &Arc<Broker> {
        &self.broker
    }

    /// The state that they are made of.
    pub(super) fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// Stores a new state of the device. Returns a function that returns whether the payload of a topic may have changed.
    pub(super) fn set_view(&mut self, view: Arc<View>) -> impl Fn(RetainedTopic) -> bool + use<> {
        let old = std::mem::replace(&mut self.view, view);
        let new = &self.view;
        let settings = !Arc::ptr_eq(&old.settings.stored, &new.settings.stored)
            || !Arc::ptr_eq(&old.settings.active, &new.settings.active)
            || old.link != new.link
            || old.hostname != new.hostname;
        let displays = !Arc::ptr_eq(&old.displays, &new.displays);
        let display_sensors = displays && has_other_sensors(&old, new);
        let market = !Arc::ptr_eq(&old.market, &new.market);
        let lights = old.lights != new.lights
            || old.frontlight != new.frontlight
            || old.settings.active.led_brightness != new.settings.active.led_brightness;
        let is_drawn = self.redraw_at.is_some();
        move |topic| match topic {
            RetainedTopic::Displays => displays,
            RetainedTopic::Discovery => settings || display_sensors,
            RetainedTopic::QuietFrom
            | RetainedTopic::QuietUntil
            | RetainedTopic::Info
            | RetainedTopic::Settings => settings,
            RetainedTopic::Strip | RetainedTopic::Led(_) | RetainedTopic::Frontlight => lights,
            // The settings choose which fee rate is published.
            RetainedTopic::Market => market || settings,
            RetainedTopic::State | RetainedTopic::Reported | RetainedTopic::Update => true,
            // These do not depend on the view alone: they are published at an interval, at the start, and by the glass.
            RetainedTopic::Host | RetainedTopic::Status => false,
            RetainedTopic::Panels => is_drawn && (market || settings),
        }
    }

    /// When [`check_updatable`](Self::check_updatable) or [`is_redrawn`](Self::is_redrawn) is due.
    pub(super) fn next_deadline(&self) -> Instant {
        let redraw_at = self.redraw_at.unwrap_or(self.check_updatable_at);
        redraw_at.min(self.check_updatable_at)
    }

    /// Returns whether a new minute has begun for a figure or a board.
    pub(super) fn is_redrawn(&mut self, now: Instant) -> bool {
        let is_due = self.redraw_at.is_some_and(|at| at <= now);
        if is_due {
            let minute_in = frames::minute_in(self.context.clock.now());
            self.redraw_at = Some(now + minute_in.unwrap_or(REDRAW_EVERY));
        }
        is_due
    }

    /// Checks whether updates can be installed, if that is due. Returns whether the result has changed.
    pub(super) fn check_updatable(&mut self, now: Instant) -> bool {
        if self.check_updatable_at > now {
            return false;
        }
        self.check_updatable_at = now + UPDATABLE_CHECK_EVERY;
        let updatable_version = self.context.newest.installer().updatable();
        let has_changed = updatable_version != self.updatable_version;
        self.updatable_version = updatable_version;
        has_changed
    }

    /// The payload of a topic; empty if the retained message is to be removed, `None` if nothing is to be published.
    /// `reports` are the results of retained settings.
    pub(super) fn payload(
        &mut self,
        topic: RetainedTopic,
        reports: Option<&[SettingsReport]>,
    ) -> Option<Vec<u8>> {
        let (view, broker) = (&self.view, &self.broker);
        let program = || {
            self.context
                .program_info(view, self.updatable_version.clone())
        };
        let document = match topic {
            RetainedTopic::Discovery | RetainedTopic::QuietFrom | RetainedTopic::QuietUntil => {
                discovery::document(topic, view, &program(), broker)
            }
            RetainedTopic::Status => return Some(ONLINE.into()),
            RetainedTopic::Info => Some(documents::info(view, &program(), broker)),
            RetainedTopic::State => Some(documents::state(view, &self.glass().panel_statuses())),
            RetainedTopic::Update => match documents::update(view, &program()) {
                Some(update) => Some(update),
                None => return Some(Vec::new()),
            },
            RetainedTopic::Host => {
                let free = runtime::host::memory(&runtime::host::Least::default()).free;
                Some(documents::host(view, self.started_at(), free))
            }
            RetainedTopic::Settings => Some(documents::settings(view, &self.context.identity)),
            RetainedTopic::Reported => match documents::reported(reports?, view) {
                Some(reported) => Some(reported),
                None => return Some(Vec::new()),
            },
            RetainedTopic::Strip => documents::lamp(Lamp::Strip, view),
            RetainedTopic::Led(index) => documents::lamp(Lamp::Led(index), view),
            RetainedTopic::Frontlight => documents::lamp(Lamp::Frontlight, view),
            RetainedTopic::Market => Some(documents::market(view, self.context.clock.now())),
            RetainedTopic::Panels => return self.picture(),
            RetainedTopic::Displays => match documents::displays(view, self.context.clock.now()) {
                Some(displays) => Some(displays),
                None => return Some(Vec::new()),
            },
        };
        document.map(|document| document.to_string().into_bytes())
    }

    fn glass(&self) -> Arc<PanelsSnapshot> {
        Arc::clone(&self.context.glass.borrow())
    }

    /// A PNG of the panels, or the same as a figure or a board; empty while they show a password, which subscribers must not
    /// see.
    fn picture(&mut self) -> Option<Vec<u8>> {
        let glass = self.glass();
        if glass.shows_password() {
            return Some(Vec::new());
        }
        let is_published = self.broker.panels && glass.is_painted();
        if !is_published {
            return None;
        }
        let spec = CanvasSpec {
            layout: self.broker.layout,
            ..PICTURE
        };
        if spec.layout.form() == LayoutForm::Cells {
            let panels = glass.panels.iter();
            let panels: Vec<_> = panels.map(|panel| (*panel.bitmap).clone()).collect();
            return Some(png::side_by_side(&panels, 1));
        }
        let now = self.context.clock.now();
        let frame = (self.view.frame(FrameContent::Follow, spec.layout, now)).ok()?;
        let picture = &frame.picture;
        let drawn = self.painter.paint(&picture.tiles, &picture.style, &spec);
        Some(png::canvas(&drawn.canvas))
    }

    /// When the clock was started, s since 1970-01-01 UTC. Rounded to the minute, because corrections of the host's clock
    /// shift it by seconds.
    fn started_at(&self) -> Option<i64> {
        let now = self.context.clock.now();
        let uptime = i64::try_from(now.uptime.as_millis()).ok()?;
        let started = now.utc?.unix_ms.saturating_sub(uptime);
        Some((started + MINUTE_MS / 2).div_euclid(MINUTE_MS) * (MINUTE_MS / 1000))
    }
}

/// Returns whether other displays have a battery than before.
fn has_other_sensors(old: &View, new: &View) -> bool {
    let with_battery = |view: &View| {
        let displays = view.displays.iter().filter(|state| state.is_approved);
        let displays = displays.filter(|state| state.report.contact.battery.is_some());
        displays
            .map(|state| state.display.id.clone())
            .collect::<Vec<_>>()
    };
    with_battery(old) != with_battery(new)
}

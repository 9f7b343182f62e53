//! What should be visible, in a few lines: the tables of display mode and rotation timer.

use std::time::Duration;

use device::{
    rotation::{self, Slot},
    settings::Settings,
};

use crate::script::Step;

/// The model's whole state.
#[derive(Debug, Clone, Default)]
pub struct Model {
    custom: bool,
    /// Kind of the notice, and uptime since which it is shown.
    notice: Option<(&'static str, Duration)>,
    debug: bool,
    update: bool,
    uptime: Duration,
}

impl Model {
    /// Follows a step; `settings` are those after it.
    pub fn follow(&mut self, step: &Step, settings: &Settings, turned: bool) {
        match step {
            Step::Zap(_) if settings.nostr_zap_notify => self.notify("zap"),
            Step::TestZap(_) => self.notify("zap"),
            Step::Payment(..) if settings.nwc_show_notify => self.notify("payment"),
            Step::Text(_) | Step::Custom(_) => {
                self.custom = true;
                self.notice = None;
            }
            Step::Next | Step::Previous => self.navigate(),
            Step::Screen(_) | Step::Currency(_) if turned => self.navigate(),
            Step::Debug => self.debug = !self.debug,
            Step::Upload => self.update = true,
            Step::UploadFailed => self.update = false,
            _ => {}
        }
    }

    /// The device was started again.
    pub fn restart(&mut self) {
        *self = Model::default();
    }

    /// Lets time pass.
    pub fn pass(&mut self, uptime: Duration, settings: &Settings, timer_turned: bool) {
        self.uptime = uptime;
        let seconds = Duration::from_secs(settings.overlay_seconds.into());
        if let Some((kind, since)) = self.notice
            && since + seconds <= uptime
            && (kind == "payment" || settings.scrn_restore_zap)
        {
            self.notice = None;
        }
        if timer_turned && self.notice.is_none() && !self.debug && !self.update {
            self.custom = false;
        }
    }

    /// The highest layer.
    pub fn mode(&self) -> &'static str {
        match self {
            Model { update: true, .. } => "update",
            Model { debug: true, .. } => "debug",
            Model {
                notice: Some((kind, _)),
                ..
            } => kind,
            Model { custom: true, .. } => "custom",
            _ => "rotation",
        }
    }

    /// Tells whether something holds the rotation.
    pub fn holds(&self) -> bool {
        self.update || self.debug || self.notice.is_some()
    }

    fn notify(&mut self, kind: &'static str) {
        self.notice = Some((kind, self.uptime));
    }

    fn navigate(&mut self) {
        self.custom = false;
        self.notice = None;
    }
}

/// Slots that the timer may show.
pub fn enabled_slots(settings: &Settings) -> Vec<Slot> {
    let entries = rotation::sequence(settings);
    let enabled: Vec<Slot> = entries
        .iter()
        .filter(|entry| entry.enabled)
        .map(|entry| entry.slot)
        .collect();
    if enabled.is_empty() {
        vec![Slot::plain(0)]
    } else {
        enabled
    }
}

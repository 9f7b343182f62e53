//! The frontlight: fades without jumps, flashes, and the rules for which input may switch it.

mod flash;

use alloc::{vec, vec::Vec};
use core::time::Duration;

use self::flash::{Flash, STEP, flash_tick};
use super::ambient::{Ambient, AmbientDecision};
use crate::settings::Settings;

/// Largest duty, 12 bit.
pub const DUTY_MAX: u16 = 4095;

/// Brightness of a flash when the brightness is zero.
const FLASH_DEFAULT: u16 = 2048;

/// Pause between the halves of the flash for a zap.
const ZAP_HOLD: Duration = Duration::from_millis(250);

/// Shortest time between a switch of the light and the next one by the ambient light, so that clouds, a television or the
/// frontlight itself do not make it flicker.
pub const AMBIENT_SWITCH_INTERVAL: Duration = Duration::from_secs(10);

/// An input of the frontlight control: a command or a change of the ambient light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontlightInput {
    /// On, by a client.
    On,
    /// Off, by a client. It stays off until the next `On`.
    Off,
    /// On, because of the ambient light or the end of Do Not Disturb.
    AmbientOn,
    /// Off, because the room is bright.
    AmbientOff,
    /// Off, because the room is dark or Do Not Disturb has started.
    DarkOff,
    /// A new brightness, as a duty.
    Brightness(u16),
    /// A flash for a new block.
    BlockFlash,
    /// A flash for a zap or payment.
    ZapFlash,
}

/// State of the frontlight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontlightState {
    /// It is on, or fading on.
    pub on: bool,
    /// Duty per panel, 0..=4095.
    pub duties: Vec<u16>,
    /// Duty at the end of the fade.
    pub target: u16,
    /// Duty of full brightness.
    pub brightness: u16,
}

/// Controls the frontlight, one channel per panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontlightControl {
    panels: usize,
    brightness: u16,
    /// It should be on.
    lit: bool,
    /// A client has switched it off.
    held_off: bool,
    /// Duty per panel of the fade.
    current: Vec<u16>,
    /// Uptime of the next step of the fade.
    step_at: Option<Duration>,
    flash: Option<Flash>,
    /// Duties that a client has set per panel, until the next command.
    manual: Option<Vec<u16>>,
    ambient: Ambient,
    /// Uptime before which the ambient light must not switch it; `None` if it may at once.
    ambient_blocked_until: Option<Duration>,
}

impl FrontlightControl {
    /// A frontlight that starts dark and fades on, unless the settings keep it off.
    pub fn new(panels: usize, settings: &Settings, uptime: Duration) -> FrontlightControl {
        let mut frontlight = FrontlightControl {
            panels,
            brightness: brightness(settings),
            lit: false,
            held_off: false,
            current: vec![0; panels],
            step_at: None,
            flash: None,
            manual: None,
            ambient: Ambient::default(),
            ambient_blocked_until: None,
        };
        frontlight.command(FrontlightInput::On, settings, false, uptime);
        // The first reading may switch it off at once.
        frontlight.ambient_blocked_until = None;
        frontlight
    }

    /// Handles an input, if the settings and Do Not Disturb permit it.
    pub fn command(
        &mut self,
        command: FrontlightInput,
        settings: &Settings,
        quiet: bool,
        uptime: Duration,
    ) {
        let Some(command) = gate(command, settings, quiet) else {
            return;
        };
        match command {
            FrontlightInput::On => {
                self.held_off = false;
                self.fade(true, settings, uptime);
            }
            FrontlightInput::Off => {
                self.held_off = true;
                self.fade(false, settings, uptime);
            }
            FrontlightInput::AmbientOn if self.held_off => {}
            FrontlightInput::AmbientOn => self.fade(true, settings, uptime),
            FrontlightInput::AmbientOff | FrontlightInput::DarkOff => {
                self.fade(false, settings, uptime)
            }
            FrontlightInput::Brightness(duty) => {
                self.brightness = duty.min(DUTY_MAX);
                self.held_off &= duty == 0;
                self.fade(self.lit, settings, uptime);
            }
            FrontlightInput::BlockFlash => self.start_flash(Duration::ZERO, settings, uptime),
            FrontlightInput::ZapFlash => self.start_flash(ZAP_HOLD, settings, uptime),
        }
    }

    /// Sets the duty of each panel, unless the light is muted. Missing duties are 0.
    pub fn set(&mut self, duties: &[u16], settings: &Settings, quiet: bool) {
        if is_muted(settings, quiet) {
            return;
        }
        self.flash = None;
        self.step_at = None;
        let duty = |panel: usize| duties.get(panel).copied().unwrap_or_default().min(DUTY_MAX);
        self.manual = Some((0..self.panels).map(duty).collect());
    }

    /// Records the ambient light, thousandths of a lux; `None` if no sensor answers.
    pub fn sense(&mut self, millilux: Option<u32>, settings: &Settings) {
        self.ambient.sense(millilux, settings);
    }

    /// Applies changed settings, and the start and end of Do Not Disturb. If they change the rules for the ambient light, it
    /// may switch at once.
    pub fn apply_settings(
        &mut self,
        before: &Settings,
        settings: &Settings,
        was_quiet: bool,
        quiet: bool,
        uptime: Duration,
    ) {
        if before.fl_max_brightness != settings.fl_max_brightness {
            let duty = brightness(settings);
            self.brightness = duty;
            // Duties set per panel do not depend on it.
            if self.manual.is_none() {
                self.fade(self.lit, settings, uptime);
            }
        }
        match (is_muted(before, was_quiet), is_muted(settings, quiet)) {
            (false, true) => {
                self.fade(false, settings, uptime);
            }
            (true, false) if !self.ambient.is_dark() => {
                self.command(FrontlightInput::AmbientOn, settings, quiet, uptime);
            }
            (true | false, true | false) => {}
        }
        self.ambient.apply_settings(settings);
        let ambient_rules = |settings: &Settings| {
            (
                settings.lux_light_toggle,
                settings.fl_off_when_dark,
                settings.fl_always_on,
                settings.fl_disable,
                settings.fl_off_on_dnd,
            )
        };
        if ambient_rules(before) != ambient_rules(settings) || was_quiet != quiet {
            self.ambient_blocked_until = None;
        }
    }

    /// Handles everything that is due by this uptime.
    pub fn advance(&mut self, settings: &Settings, quiet: bool, uptime: Duration) {
        if let Some(flash) = self.flash
            && flash.ends() <= uptime
        {
            self.flash = None;
            self.current = vec![self.target(); self.panels];
        }
        while let Some(at) = self.step_at.filter(|at| *at <= uptime) {
            self.step();
            self.step_at = (!self.has_arrived()).then(|| at + step_time(settings));
        }
        if let Some((command, at)) = self.ambient_command(settings, quiet)
            && at <= uptime
        {
            self.command(command, settings, quiet, uptime);
        }
    }

    /// Uptime of the next change.
    pub fn next_deadline(
        &self,
        settings: &Settings,
        quiet: bool,
        uptime: Duration,
    ) -> Option<Duration> {
        let ambient = self.ambient_command(settings, quiet).map(|(_, at)| at);
        self.next_frame(uptime).into_iter().chain(ambient).min()
    }

    /// Uptime of the next step of a fade or flash.
    pub fn next_frame(&self, uptime: Duration) -> Option<Duration> {
        let flash = self.flash.map(|flash| flash.next_change(uptime));
        flash.into_iter().chain(self.step_at).min()
    }

    /// The command of the ambient light, if it would switch the frontlight, and the uptime from which it may.
    fn ambient_command(
        &self,
        settings: &Settings,
        quiet: bool,
    ) -> Option<(FrontlightInput, Duration)> {
        let decision = self.ambient.decision(self.lit, self.held_off, settings)?;
        let command = match decision {
            AmbientDecision::On => FrontlightInput::AmbientOn,
            AmbientDecision::Off => FrontlightInput::AmbientOff,
            AmbientDecision::DarkOff => FrontlightInput::DarkOff,
        };
        let lit = gate(command, settings, quiet)? == FrontlightInput::AmbientOn;
        let flash_ends = self.flash.map(|flash| flash.ends());
        let at = self
            .ambient_blocked_until
            .max(flash_ends)
            .unwrap_or_default();
        (lit != self.lit).then_some((command, at))
    }

    /// Duty per panel, 0..=4095.
    pub fn duties(&self, uptime: Duration) -> Vec<u16> {
        match (&self.manual, self.flash) {
            (Some(duties), _) => duties.clone(),
            (None, Some(flash)) => (0..self.panels)
                .map(|panel| flash.duty(panel, uptime))
                .collect(),
            (None, None) => self.current.clone(),
        }
    }

    /// State for clients.
    pub fn state(&self, uptime: Duration) -> FrontlightState {
        FrontlightState {
            on: self.lit,
            duties: self.duties(uptime),
            target: self.target(),
            brightness: self.brightness,
        }
    }

    /// Duty at the end of the fade.
    fn target(&self) -> u16 {
        if self.lit { self.brightness } else { 0 }
    }

    /// Returns whether the fade has ended.
    fn has_arrived(&self) -> bool {
        let target = self.target();
        self.current.iter().all(|duty| *duty == target)
    }

    /// Fades on or off, from the current duties.
    fn fade(&mut self, lit: bool, settings: &Settings, uptime: Duration) {
        self.current = self.duties(uptime);
        self.manual = None;
        self.flash = None;
        if lit != self.lit {
            self.ambient_blocked_until = Some(uptime + AMBIENT_SWITCH_INTERVAL);
        }
        self.lit = lit;
        if self.has_arrived() {
            self.step_at = None;
        } else if self.step_at.is_none() {
            self.step_at = Some(uptime + step_time(settings));
        }
    }

    fn step(&mut self) {
        let step = u16::try_from(STEP).unwrap_or(u16::MAX);
        let target = self.target();
        for duty in &mut self.current {
            *duty = target.clamp(duty.saturating_sub(step), duty.saturating_add(step));
        }
    }

    fn start_flash(&mut self, hold: Duration, settings: &Settings, uptime: Duration) {
        self.held_off = false;
        self.manual = None;
        self.step_at = None;
        self.flash = Some(Flash {
            panels: self.panels,
            peak: if self.brightness == 0 { FLASH_DEFAULT } else { self.brightness },
            rising_first: self.target() == 0,
            hold,
            tick: flash_tick(settings.fl_effect_delay, self.panels),
            started: uptime,
        });
    }
}

/// Returns whether the light must stay off.
fn is_muted(settings: &Settings, quiet: bool) -> bool {
    settings.fl_disable || (quiet && settings.fl_off_on_dnd)
}

/// Applies the rules in their order: disabled, always on, Do Not Disturb. `None` if the input is ignored.
fn gate(command: FrontlightInput, settings: &Settings, quiet: bool) -> Option<FrontlightInput> {
    let is_off = command == FrontlightInput::Off;
    if settings.fl_disable && !is_off {
        return Some(FrontlightInput::AmbientOff);
    }
    if settings.fl_always_on && command == FrontlightInput::AmbientOff {
        return None;
    }
    if quiet && settings.fl_off_on_dnd && !is_off {
        return Some(FrontlightInput::AmbientOff);
    }
    Some(command)
}

fn brightness(settings: &Settings) -> u16 {
    u16::try_from(settings.fl_max_brightness)
        .unwrap_or(DUTY_MAX)
        .min(DUTY_MAX)
}

fn step_time(settings: &Settings) -> Duration {
    Duration::from_millis(u64::from(settings.fl_effect_delay.max(1)))
}

//! The frontlight: a fader that never jumps, staggered flashes, and the order of those who may switch it.

use alloc::{vec, vec::Vec};
use core::time::Duration;

use super::ambient::{Ambient, AmbientDecision};
use crate::settings::Settings;

/// Largest duty, 12 bit.
pub const DUTY_MAX: u16 = 4095;

/// Change of duty per step of a fade or flash.
const STEP: u32 = 25;

/// Brightness of a flash when the brightness is zero.
const FLASH_DEFAULT: u16 = 2048;

/// Time that a zap's flash holds between its halves.
const ZAP_HOLD: Duration = Duration::from_millis(250);

/// Least time from a switch of the light to the next that the light in the room asks for: clouds and a television in the
/// dark, or the clock's own light, must not make it flicker.
pub const AMBIENT_REST: Duration = Duration::from_secs(10);

/// An input of the frontlight control: a command or a change of the ambient light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontlightInput {
    /// On, by hand.
    On,
    /// Off, by hand; stays off until an on.
    Off,
    /// On, because of the room or the end of Do Not Disturb.
    AmbientOn,
    /// Off, because the room is bright.
    AmbientOff,
    /// Off, because the room is dark or Do Not Disturb began.
    DarkOff,
    /// Another brightness, duty.
    Brightness(u16),
    /// A flash for a new block.
    BlockFlash,
    /// A flash for a zap or payment.
    ZapFlash,
}

/// State of the frontlight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontlightState {
    /// It is on, or on its way.
    pub on: bool,
    /// Duty per panel, 0..=4095.
    pub duties: Vec<u16>,
    /// Duty it is going to.
    pub target: u16,
    /// Duty of full brightness.
    pub brightness: u16,
}

/// Controls the frontlight, one channel per panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontlightControl {
    panels: usize,
    brightness: u16,
    /// Meant to be on.
    lit: bool,
    /// The owner switched it off by hand.
    held_off: bool,
    /// Where the fade is, duty per panel.
    current: Vec<u16>,
    step_at: Option<Duration>,
    flash: Option<Flash>,
    /// Duties set one by one; they stay until the next command.
    manual: Option<Vec<u16>>,
    ambient: Ambient,
    /// Uptime until which the light in the room must wait; none if it may switch at once.
    rests_until: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Flash {
    peak: u16,
    /// Begins by going up, because there is no light.
    rising_first: bool,
    hold: Duration,
    tick: Duration,
    started: Duration,
}

/// Phase of a flash and the ticks since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlashPhase {
    First(u32),
    Held,
    Second(u32),
}

impl FrontlightControl {
    /// A dark frontlight that will fade up unless something keeps it off.
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
            rests_until: None,
        };
        frontlight.command(FrontlightInput::On, settings, false, uptime);
        // A clock that starts at night is dark with the first reading.
        frontlight.rests_until = None;
        frontlight
    }

    /// Obeys, as far as the settings and Do Not Disturb let it.
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
                self.light(true, settings, uptime);
            }
            FrontlightInput::Off => {
                self.held_off = true;
                self.light(false, settings, uptime);
            }
            FrontlightInput::AmbientOn if self.held_off => {}
            FrontlightInput::AmbientOn => self.light(true, settings, uptime),
            FrontlightInput::AmbientOff | FrontlightInput::DarkOff => {
                self.light(false, settings, uptime)
            }
            FrontlightInput::Brightness(duty) => {
                self.brightness = duty.min(DUTY_MAX);
                self.held_off &= duty == 0;
                self.light(self.lit, settings, uptime);
            }
            FrontlightInput::BlockFlash => self.start_flash(Duration::ZERO, settings, uptime),
            FrontlightInput::ZapFlash => self.start_flash(ZAP_HOLD, settings, uptime),
        }
    }

    /// Sets each channel by hand, unless the light is muted; an empty list is all dark.
    pub fn set(&mut self, duties: &[u16], settings: &Settings, quiet: bool) {
        if is_muted(settings, quiet) {
            return;
        }
        self.flash = None;
        self.step_at = None;
        let duty = |panel: usize| duties.get(panel).copied().unwrap_or_default().min(DUTY_MAX);
        self.manual = Some((0..self.panels).map(duty).collect());
    }

    /// Takes note of the light in the room, thousandths of a lux; none if no sensor answers.
    pub fn sense(&mut self, millilux: Option<u32>, settings: &Settings) {
        self.ambient.sense(millilux, settings);
    }

    /// Follows changed settings and the edges of Do Not Disturb; what concerns the room is judged anew at once.
    pub fn follow(
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
            // Duties set by hand are no share of it.
            if self.manual.is_none() {
                self.light(self.lit, settings, uptime);
            }
        }
        match (is_muted(before, was_quiet), is_muted(settings, quiet)) {
            (false, true) => {
                self.light(false, settings, uptime);
            }
            (true, false) if !self.ambient.is_dark() => {
                self.command(FrontlightInput::AmbientOn, settings, quiet, uptime);
            }
            (true | false, true | false) => {}
        }
        self.ambient.follow(settings);
        let of_room = |settings: &Settings| {
            (
                settings.lux_light_toggle,
                settings.fl_off_when_dark,
                settings.fl_always_on,
                settings.fl_disable,
                settings.fl_off_on_dnd,
            )
        };
        if of_room(before) != of_room(settings) || was_quiet != quiet {
            self.rests_until = None;
        }
    }

    /// Does what is due by this uptime.
    pub fn advance(&mut self, settings: &Settings, quiet: bool, uptime: Duration) {
        if let Some(flash) = self.flash
            && flash.ends(self.panels) <= uptime
        {
            self.flash = None;
            self.current = vec![self.target(); self.panels];
        }
        while let Some(at) = self.step_at.filter(|at| *at <= uptime) {
            self.step();
            self.step_at = (!self.is_there()).then(|| at + step_time(settings));
        }
        if let Some((command, at)) = self.asked_by_room(settings, quiet)
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
        let asked = self.asked_by_room(settings, quiet).map(|(_, at)| at);
        self.next_frame(uptime).into_iter().chain(asked).min()
    }

    /// Uptime of the next step of a fade or flash.
    pub fn next_frame(&self, uptime: Duration) -> Option<Duration> {
        let flash = self
            .flash
            .map(|flash| flash.next_change(self.panels, uptime));
        flash.into_iter().chain(self.step_at).min()
    }

    /// What the light in the room asks for, if it would switch the light, and the uptime from which on it may.
    fn asked_by_room(
        &self,
        settings: &Settings,
        quiet: bool,
    ) -> Option<(FrontlightInput, Duration)> {
        let wish = self.ambient.wish(self.lit, self.held_off, settings)?;
        let command = match wish {
            AmbientDecision::On => FrontlightInput::AmbientOn,
            AmbientDecision::Off => FrontlightInput::AmbientOff,
            AmbientDecision::DarkOff => FrontlightInput::DarkOff,
        };
        let lit = gate(command, settings, quiet)? == FrontlightInput::AmbientOn;
        let flash_ends = self.flash.map(|flash| flash.ends(self.panels));
        let at = self.rests_until.max(flash_ends).unwrap_or_default();
        (lit != self.lit).then_some((command, at))
    }

    /// Duty per panel, 0..=4095.
    pub fn duties(&self, uptime: Duration) -> Vec<u16> {
        match (&self.manual, self.flash) {
            (Some(duties), _) => duties.clone(),
            (None, Some(flash)) => (0..self.panels)
                .map(|panel| flash.duty(panel, self.panels, uptime))
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

    fn target(&self) -> u16 {
        if self.lit { self.brightness } else { 0 }
    }

    fn is_there(&self) -> bool {
        let target = self.target();
        self.current.iter().all(|duty| *duty == target)
    }

    /// Fades on or off, from what is seen now.
    fn light(&mut self, lit: bool, settings: &Settings, uptime: Duration) {
        self.current = self.duties(uptime);
        self.manual = None;
        self.flash = None;
        if lit != self.lit {
            self.rests_until = Some(uptime + AMBIENT_REST);
        }
        self.lit = lit;
        if self.is_there() {
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
            peak: if self.brightness == 0 {
                FLASH_DEFAULT
            } else {
                self.brightness
            },
            rising_first: self.target() == 0,
            hold,
            tick: flash_tick(settings.fl_effect_delay, self.panels),
            started: uptime,
        });
    }
}

impl Flash {
    fn half(self, panels: usize) -> Duration {
        self.tick * ticks_per_half(panels, self.peak)
    }

    fn ends(self, panels: usize) -> Duration {
        self.started + self.half(panels) * 2 + self.hold
    }

    fn phase(self, panels: usize, uptime: Duration) -> FlashPhase {
        let elapsed = uptime.saturating_sub(self.started);
        let half = self.half(panels);
        if let Some(since) = elapsed.checked_sub(half + self.hold) {
            FlashPhase::Second(elapsed_ticks(since, self.tick))
        } else if elapsed < half {
            FlashPhase::First(elapsed_ticks(elapsed, self.tick))
        } else {
            FlashPhase::Held
        }
    }

    /// Uptime of the change after this uptime.
    fn next_change(self, panels: usize, uptime: Duration) -> Duration {
        let second = self.started + self.half(panels) + self.hold;
        match self.phase(panels, uptime) {
            FlashPhase::First(tick) => self.started + self.tick * (tick + 1),
            FlashPhase::Held => second,
            FlashPhase::Second(tick) => second + self.tick * (tick + 1),
        }
    }

    fn duty(self, panel: usize, panels: usize, uptime: Duration) -> u16 {
        let (rising, tick) = match self.phase(panels, uptime) {
            FlashPhase::First(tick) => (self.rising_first, tick),
            FlashPhase::Held => (self.rising_first, u32::MAX / STEP),
            FlashPhase::Second(tick) => (!self.rising_first, tick),
        };
        if rising {
            rising_duty(tick, panel, panels, self.peak)
        } else {
            falling_duty(tick, panel, panels, self.peak)
        }
    }
}

/// Tells whether the light stays dark whoever asks for it.
fn is_muted(settings: &Settings, quiet: bool) -> bool {
    settings.fl_disable || (quiet && settings.fl_off_on_dnd)
}

/// Who may switch: muted, then always on, then Do Not Disturb.
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

/// Time between ticks of a flash.
fn flash_tick(effect_delay_ms: u32, panels: usize) -> Duration {
    let panels = u32::try_from(panels).unwrap_or(1);
    let ms = effect_delay_ms
        .checked_div(panels)
        .unwrap_or(effect_delay_ms);
    Duration::from_millis(u64::from(ms.max(1)))
}

fn elapsed_ticks(elapsed: Duration, tick: Duration) -> u32 {
    let ticks = elapsed.as_micros() / tick.as_micros().max(1);
    u32::try_from(ticks).unwrap_or(u32::MAX / STEP)
}

/// How far apart neighbouring panels are in a flash.
fn phase(panels: usize, peak: u16) -> u32 {
    let panels = u32::try_from(panels).unwrap_or(1).max(1);
    u32::from(peak) / panels
}

fn ticks_per_half(panels: usize, peak: u16) -> u32 {
    let others = u32::try_from(panels.saturating_sub(1)).unwrap_or_default();
    (u32::from(peak) + others * phase(panels, peak)) / STEP + 1
}

fn rising_duty(tick: u32, panel: usize, panels: usize, peak: u16) -> u16 {
    let Some(behind) = u32::try_from(panel).ok().filter(|_| panel < panels) else {
        return 0;
    };
    let level = tick
        .saturating_mul(STEP)
        .saturating_sub(behind * phase(panels, peak));
    u16::try_from(level).unwrap_or(u16::MAX).min(peak)
}

fn falling_duty(tick: u32, panel: usize, panels: usize, peak: u16) -> u16 {
    let Some(from_last) = panels
        .checked_sub(panel + 1)
        .and_then(|rest| u32::try_from(rest).ok())
    else {
        return 0;
    };
    let gone = tick
        .saturating_mul(STEP)
        .saturating_add(from_last * phase(panels, peak));
    u16::try_from(u32::from(peak).saturating_sub(gone)).unwrap_or_default()
}

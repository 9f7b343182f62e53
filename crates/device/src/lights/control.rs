//! All lights of a clock: how they react to events, commands and Do Not Disturb.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    Rgb, StripEffect,
    ambient::DARK_BELOW,
    animations::Animation,
    faults::{FaultIndicator, FaultSignal},
    frontlight::{DUTY_MAX, FrontlightControl, FrontlightInput, FrontlightState},
    quiet,
    strip::{Mode, MuteReason, StripControl, StripGate, update_bar},
};
use crate::{
    board::BoardSpec,
    limits::PAINT_MAX,
    request::{Changed, FrontlightCommand, Refusal, Reply},
    settings::{RunningSettings, Settings},
};
use market::now::Now;

/// All lights of a clock.
#[derive(Debug, Clone)]
pub struct Lights {
    leds: usize,
    panels: usize,
    strip: StripControl,
    frontlight: Option<FrontlightControl>,
    pending_flash: Option<PendingFlash>,
    faults: FaultIndicator,
    millilux: Option<u32>,
    /// Do Not Disturb is active.
    quiet: bool,
    /// No picture was painted yet, and the strip shows the animation of the start.
    starting: bool,
}

/// A flash of the frontlight that waits until a picture is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PendingFlash {
    command: FrontlightInput,
    /// Serial number of the picture that it waits for.
    picture: u64,
    deadline: Duration,
}

impl Lights {
    /// The lights of a board that has just started.
    pub fn new(board: &BoardSpec, settings: &Settings, uptime: Duration) -> Lights {
        Lights {
            leds: board.leds,
            panels: board.panel_count(),
            strip: StripControl::new(board.leds),
            frontlight: board
                .frontlight
                .then(|| FrontlightControl::new(board.panel_count(), settings, uptime)),
            pending_flash: None,
            faults: FaultIndicator::default(),
            millilux: None,
            quiet: false,
            starting: settings.led_test_on_power,
        }
    }

    /// Advances all animations and fades to the present, and starts and ends Do Not Disturb by its schedule.
    pub fn advance(&mut self, running: &RunningSettings, now: Now) {
        let (settings, uptime) = (&*running.active, now.uptime);
        self.update_quiet(running, now);
        self.strip.advance(self.strip_gate(settings), uptime);
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.advance(settings, self.quiet, uptime);
        }
        if self
            .pending_flash
            .is_some_and(|pending| pending.deadline <= uptime)
        {
            self.start_pending_flash(settings, uptime);
        }
    }

    /// Uptime of the next deadline.
    pub fn next_deadline(&self, running: &RunningSettings, now: Now) -> Option<Duration> {
        let (settings, frontlight) = (&running.active, self.frontlight.as_ref());
        [
            self.strip.next_deadline(),
            frontlight.and_then(|light| light.next_deadline(settings, self.quiet, now.uptime)),
            // A flash has a timeout in case the panels do not paint.
            self.pending_flash.map(|pending| pending.deadline),
            self.faults
                .next_deadline()
                .filter(|_| self.may_show_faults()),
            quiet_deadline(running, now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Uptime of the next frame of an animation, a fade or a flash.
    pub fn next_frame(&self, uptime: Duration) -> Option<Duration> {
        let frontlight = self.frontlight.as_ref();
        let step = frontlight.and_then(|frontlight| frontlight.next_frame(uptime));
        step.into_iter().chain(self.strip.next_deadline()).min()
    }

    /// Colours of the strip at this moment, one per LED.
    pub fn pixels(&self, settings: &Settings) -> Vec<Rgb> {
        self.strip.pixels(self.strip_gate(settings))
    }

    /// PWM duties of the frontlight at this moment, one per panel; empty on a board without a frontlight.
    pub fn duties(&self, uptime: Duration) -> Vec<u16> {
        let frontlight = self.frontlight.as_ref();
        frontlight
            .map(|frontlight| frontlight.duties(uptime))
            .unwrap_or_default()
    }

    /// State of the frontlight for clients. `None` on a board without a frontlight.
    pub fn frontlight(&self, uptime: Duration) -> Option<FrontlightState> {
        let frontlight = self.frontlight.as_ref();
        frontlight.map(|frontlight| frontlight.state(uptime))
    }

    /// The resting colours of the strip, before brightness.
    pub fn resting_colours(&self) -> &[Rgb] {
        self.strip.resting()
    }

    /// Number of animations that were dropped since the start because the queue was full.
    pub fn dropped_animations(&self) -> u64 {
        self.strip.dropped()
    }

    /// Why the strip is muted. `None` if it is not.
    pub fn mute_reason(&self, settings: &Settings) -> Option<MuteReason> {
        self.strip_gate(settings).mute()
    }

    /// Ambient light, thousandths of a lux. `None` without a working sensor.
    pub fn millilux(&self) -> Option<u32> {
        self.millilux
    }

    /// Do Not Disturb is active.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The room is dark.
    pub fn is_dark(&self) -> bool {
        self.millilux.is_some_and(|millilux| millilux < DARK_BELOW)
    }

    /// The conditions that mute the strip now, and its brightness.
    fn strip_gate(&self, settings: &Settings) -> StripGate {
        StripGate {
            disabled: settings.disable_leds,
            quiet: self.quiet,
            brightness: settings.led_brightness,
        }
    }

    /// Plays an animation on the strip.
    pub fn play(&mut self, animation: Animation, settings: &Settings, uptime: Duration) {
        self.strip
            .play(animation, self.strip_gate(settings), uptime);
    }

    /// Plays an animation that acknowledges a change of Do Not Disturb; Do Not Disturb does not mute it.
    pub fn acknowledge_dnd(&mut self, animation: Animation, settings: &Settings, uptime: Duration) {
        self.strip
            .acknowledge(animation, self.strip_gate(settings), uptime);
    }

    /// Flashes for a new block; `picture` is the serial number of the picture that will show it.
    pub fn flash_for_block(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        if settings.led_flash_on_upd {
            let color = Rgb::from_u24(settings.block_flash_color);
            self.play(Animation::Block(color), settings, uptime);
        }
        if settings.fl_flash_on_upd {
            self.flash_after_paint(FrontlightInput::BlockFlash, picture, uptime);
        }
    }

    /// Flashes for a zap; `picture` is the serial number of the picture that will show it.
    pub fn flash_for_zap(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        if settings.led_flash_on_zap {
            self.play(Animation::Zap, settings, uptime);
        }
        if settings.fl_flash_on_zap {
            self.flash_after_paint(FrontlightInput::ZapFlash, picture, uptime);
        }
    }

    /// Flashes for a payment; `picture` is the serial number of the picture that will show it.
    pub fn flash_for_payment(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        if settings.nwc_flash_on_pay {
            self.play(Animation::Zap, settings, uptime);
            self.flash_after_paint(FrontlightInput::ZapFlash, picture, uptime);
        }
    }

    /// Flashes the strip for a new picture in which only a price has changed.
    pub fn flash_for_price(&mut self, settings: &Settings, uptime: Duration) {
        if settings.led_flash_on_upd {
            self.play(Animation::Update, settings, uptime);
        }
    }

    /// Records that the panels show the picture with this serial number.
    pub fn handle_painted(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        self.starting = false;
        if self
            .pending_flash
            .is_some_and(|pending| pending.picture <= picture)
        {
            self.start_pending_flash(settings, uptime);
        }
    }

    /// Starts the pending flash now if its event has not changed the picture, because then no paint follows.
    pub fn handle_unchanged_picture(&mut self, newest: u64, settings: &Settings, uptime: Duration) {
        if self
            .pending_flash
            .is_some_and(|pending| newest < pending.picture)
        {
            self.start_pending_flash(settings, uptime);
        }
    }

    /// Starts the pending flash.
    fn start_pending_flash(&mut self, settings: &Settings, uptime: Duration) {
        if let Some(pending) = self.pending_flash.take() {
            self.command(pending.command, settings, uptime);
        }
    }

    fn flash_after_paint(&mut self, command: FrontlightInput, picture: u64, uptime: Duration) {
        if self.frontlight.is_some() {
            self.pending_flash = Some(PendingFlash {
                command,
                picture,
                deadline: uptime + PAINT_MAX,
            });
        }
    }

    /// Shows the progress of an update on the strip.
    pub fn show_update_bar(&mut self, percent: u8, uptime: Duration) {
        let mode = Mode::Update(update_bar(percent));
        self.strip.enter(mode, uptime);
    }

    /// Shows on the strip that an update was installed.
    pub fn show_updated(&mut self, uptime: Duration) {
        self.strip.enter(Mode::Updated, uptime);
    }

    /// Sets what the strip shows between animations. During the start, the rainbow replaces the resting colours.
    pub fn set_mode(&mut self, mode: Mode, uptime: Duration) {
        let mode = if self.starting && mode == Mode::Resting { Mode::Starting } else { mode };
        self.strip.enter(mode, uptime);
    }

    /// Starts or ends Do Not Disturb, if that is due.
    pub fn update_quiet(&mut self, running: &RunningSettings, now: Now) {
        let settings = &running.active;
        let quiet = quiet::is_active(settings, || running.local(now));
        if quiet == self.quiet {
            return;
        }
        let was_quiet = core::mem::replace(&mut self.quiet, quiet);
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.apply_settings(settings, settings, was_quiet, quiet, now.uptime);
        }
    }

    /// Signals a fault periodically.
    pub fn show_fault(&mut self, fault: FaultSignal, settings: &Settings, uptime: Duration) {
        if !self.may_show_faults() {
            return;
        }
        if let Some(animation) = self.faults.update(fault, uptime) {
            self.play(animation, settings, uptime);
        }
    }

    /// Whether faults are signalled: not while the device starts, joins a network or is an access point.
    fn may_show_faults(&self) -> bool {
        match self.strip.mode() {
            Mode::Resting => true,
            // The sources do not run during an update.
            _ => false,
        }
    }

    /// Applies changed settings.
    pub fn apply_settings(&mut self, before: &Settings, settings: &Settings, uptime: Duration) {
        if settings.disable_leds && !before.disable_leds {
            self.strip.switch_off();
        }
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.apply_settings(before, settings, self.quiet, self.quiet, uptime);
        }
    }

    /// Records the ambient light.
    pub fn set_ambient_light(&mut self, millilux: Option<u32>, settings: &Settings) {
        self.millilux = millilux;
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.sense(millilux, settings);
        }
    }

    /// Sets the resting colours of the strip, one per LED; an empty list is all black.
    pub fn set_resting_colours(&mut self, pixels: &[Rgb]) -> Reply {
        if self.leds == 0 {
            return Err(Refusal::NoLeds);
        }
        if !pixels.is_empty() && pixels.len() != self.leds {
            return Err(Refusal::WrongCount);
        }
        self.strip.idle();
        self.strip.rest(pixels);
        Ok(Changed::default())
    }

    /// Plays an effect that a client requests.
    pub fn play_effect(
        &mut self,
        effect: StripEffect,
        settings: &Settings,
        uptime: Duration,
    ) -> Reply {
        if self.leds == 0 {
            return Err(Refusal::NoLeds);
        }
        let animation = match effect {
            StripEffect::Blink => Animation::Update,
            StripEffect::BlinkSuccess => Animation::Success,
            StripEffect::BlinkError => Animation::Error,
            StripEffect::Rainbow => Animation::Rainbow,
            StripEffect::Breathe => Animation::Breath,
            StripEffect::BreatheError => Animation::NoData,
            StripEffect::Zap => Animation::Zap,
            StripEffect::Identify => Animation::Identify,
            StripEffect::Heartbeat => Animation::Heartbeat,
            StripEffect::Idle => {
                self.strip.idle();
                return Ok(Changed::default());
            }
            StripEffect::Off => {
                self.strip.switch_off();
                return Ok(Changed::default());
            }
        };
        self.play(animation, settings, uptime);
        Ok(Changed::default())
    }

    /// Applies a command of a client to the frontlight.
    pub fn command_frontlight(
        &mut self,
        command: &FrontlightCommand,
        settings: &Settings,
        uptime: Duration,
    ) -> Reply {
        let Some(frontlight) = &mut self.frontlight else {
            return Err(Refusal::NoFrontlight);
        };
        let command = match command {
            FrontlightCommand::On => FrontlightInput::On,
            FrontlightCommand::Off => FrontlightInput::Off,
            FrontlightCommand::Flash => FrontlightInput::BlockFlash,
            FrontlightCommand::Brightness(duty) => match u16::try_from(*duty) {
                Ok(duty) => FrontlightInput::Brightness(duty.min(DUTY_MAX)),
                Err(_) => return Err(Refusal::OutOfRange),
            },
            FrontlightCommand::Set(duties) => {
                if !duties.is_empty() && duties.len() != self.panels {
                    return Err(Refusal::WrongCount);
                }
                if duties.iter().any(|duty| *duty > DUTY_MAX) {
                    return Err(Refusal::OutOfRange);
                }
                frontlight.set(duties, settings, self.quiet);
                return Ok(Changed::default());
            }
        };
        self.command(command, settings, uptime);
        Ok(Changed::default())
    }

    fn command(&mut self, command: FrontlightInput, settings: &Settings, uptime: Duration) {
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.command(command, settings, self.quiet, uptime);
        }
    }
}

/// Uptime of the next start or end of the schedule of Do Not Disturb.
pub(crate) fn quiet_deadline(running: &RunningSettings, now: Now) -> Option<Duration> {
    let utc = now.utc?;
    let edge = quiet::next_edge(&running.active, running.zone(), utc)?;
    let left_ms = edge.unix_ms.saturating_sub(utc.unix_ms).unsigned_abs();
    Some(now.uptime + Duration::from_millis(left_ms))
}

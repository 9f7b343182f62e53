//! What the lights do when something happens: on the strip, on the frontlight, and how quiet hours change that.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    Rgb, StripEffect,
    faults::{FaultIndicator, FaultSignal},
    frontlight::{DUTY_MAX, FrontlightControl, FrontlightInput, FrontlightState},
    quiet,
    shows::Show,
    strip::{Mode, MuteReason, StripControl, StripGate, update_bar},
};
use crate::{
    board::BoardSpec,
    limits::PAINT_MAX,
    request::{FrontlightCommand, Refusal, Reply},
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
    /// Nothing was painted yet, and the strip shows that.
    starting: bool,
}

/// A flash of the frontlight that waits until the ink has settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PendingFlash {
    command: FrontlightInput,
    /// Serial number of the picture whose ink it waits for.
    picture: u64,
    deadline: Duration,
}

impl Lights {
    /// The lights of a board that has just started.
    pub fn new(board: &BoardSpec, settings: &Settings, uptime: Duration) -> Lights {
        Lights {
            leds: board.leds,
            panels: board.panels,
            strip: StripControl::new(board.leds),
            frontlight: board
                .frontlight
                .then(|| FrontlightControl::new(board.panels, settings, uptime)),
            pending_flash: None,
            faults: FaultIndicator::default(),
            millilux: None,
            quiet: false,
            starting: settings.led_test_on_power,
        }
    }

    /// Does what was due by now.
    pub fn advance(&mut self, settled: &RunningSettings, now: Now) {
        let (settings, uptime) = (&**settled.active(), now.uptime);
        self.follow_quiet_hours(settled, now);
        self.strip.advance(self.gate(settings), uptime);
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.advance(settings, self.quiet, uptime);
        }
        if self
            .pending_flash
            .is_some_and(|pending| pending.deadline <= uptime)
        {
            self.fire_flash(settings, uptime);
        }
    }

    /// Uptime at which something is due.
    pub fn next_deadline(&self, settled: &RunningSettings, now: Now) -> Option<Duration> {
        let (settings, frontlight) = (settled.active(), self.frontlight.as_ref());
        [
            self.strip.next_deadline(),
            frontlight.and_then(|light| light.next_deadline(settings, self.quiet, now.uptime)),
            // It waits for the panels no longer than this.
            self.pending_flash.map(|pending| pending.deadline),
            self.faults
                .next_deadline()
                .filter(|_| self.may_tell_faults()),
            quiet_deadline(settled, now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Uptime at which strip or frontlight show the next frame of what they play.
    pub fn next_frame(&self, uptime: Duration) -> Option<Duration> {
        let frontlight = self.frontlight.as_ref();
        let step = frontlight.and_then(|frontlight| frontlight.next_frame(uptime));
        step.into_iter().chain(self.strip.next_deadline()).min()
    }

    /// Colours of the strip at this moment, one per LED.
    pub fn pixels(&self, settings: &Settings) -> Vec<Rgb> {
        self.strip.pixels(self.gate(settings))
    }

    /// Duties of the frontlight at this moment, one per panel; none on a board without one.
    pub fn duties(&self, uptime: Duration) -> Vec<u16> {
        let frontlight = self.frontlight.as_ref();
        frontlight
            .map(|frontlight| frontlight.duties(uptime))
            .unwrap_or_default()
    }

    /// The frontlight as clients see it, on boards with one.
    pub fn frontlight(&self, uptime: Duration) -> Option<FrontlightState> {
        let frontlight = self.frontlight.as_ref();
        frontlight.map(|frontlight| frontlight.state(uptime))
    }

    /// The colours that rest on the strip, before brightness.
    pub fn resting(&self) -> &[Rgb] {
        self.strip.resting()
    }

    /// Effects that found the strip's queue full since the start.
    pub fn dropped(&self) -> u64 {
        self.strip.dropped()
    }

    /// Why the strip is muted; none if it is not.
    pub fn mute(&self, settings: &Settings) -> Option<MuteReason> {
        self.gate(settings).mute()
    }

    /// Light in the room, thousandths of a lux; none without a sensor that answers.
    pub fn millilux(&self) -> Option<u32> {
        self.millilux
    }

    /// Do Not Disturb is active.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// What mutes the strip right now, and how bright it is.
    fn gate(&self, settings: &Settings) -> StripGate {
        StripGate {
            disabled: settings.disable_leds,
            quiet: self.quiet,
            brightness: settings.led_brightness,
        }
    }

    /// Plays an effect on the strip.
    pub fn play(&mut self, show: Show, settings: &Settings, uptime: Duration) {
        self.strip.play(show, self.gate(settings), uptime);
    }

    /// Plays an effect that says what was done, whether or not quiet hours would mute it.
    pub fn acknowledge(&mut self, show: Show, settings: &Settings, uptime: Duration) {
        self.strip.acknowledge(show, self.gate(settings), uptime);
    }

    /// Flashes for a new block; `picture` is the serial number of the picture that will show it.
    pub fn flash_for_block(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        if settings.led_flash_on_upd {
            let color = Rgb::from_u24(settings.block_flash_color);
            self.play(Show::Block(color), settings, uptime);
        }
        if settings.fl_flash_on_upd {
            self.flash_after_paint(FrontlightInput::BlockFlash, picture, uptime);
        }
    }

    /// Flashes for a zap; `picture` is the serial number of the picture that will show it.
    pub fn flash_for_zap(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        if settings.led_flash_on_zap {
            self.play(Show::Zap, settings, uptime);
        }
        if settings.fl_flash_on_zap {
            self.flash_after_paint(FrontlightInput::ZapFlash, picture, uptime);
        }
    }

    /// Flashes for a payment; `picture` is the serial number of the picture that will show it.
    pub fn flash_for_payment(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        if settings.nwc_flash_on_pay {
            self.play(Show::Zap, settings, uptime);
            self.flash_after_paint(FrontlightInput::ZapFlash, picture, uptime);
        }
    }

    /// Flashes for a price that got onto the glass.
    pub fn flash_for_price(&mut self, settings: &Settings, uptime: Duration) {
        if settings.led_flash_on_upd {
            self.play(Show::Update, settings, uptime);
        }
    }

    /// The panels show the picture with this serial number; those before it are history.
    pub fn painted(&mut self, picture: u64, settings: &Settings, uptime: Duration) {
        self.starting = false;
        if self
            .pending_flash
            .is_some_and(|pending| pending.picture <= picture)
        {
            self.fire_flash(settings, uptime);
        }
    }

    /// Flashes now if the newest picture is an old one: there is no ink to wait for.
    pub fn nothing_to_paint(&mut self, newest: u64, settings: &Settings, uptime: Duration) {
        if self
            .pending_flash
            .is_some_and(|pending| newest < pending.picture)
        {
            self.fire_flash(settings, uptime);
        }
    }

    /// Flashes now what waited for the panels.
    fn fire_flash(&mut self, settings: &Settings, uptime: Duration) {
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

    /// Shows on the strip how far an update is.
    pub fn show_update_bar(&mut self, percent: u8, uptime: Duration) {
        let mode = Mode::Update(update_bar(percent));
        self.strip.enter(mode, uptime);
    }

    /// Shows on the strip that an update is installed.
    pub fn show_updated(&mut self, uptime: Duration) {
        self.strip.enter(Mode::Updated, uptime);
    }

    /// Makes the strip do between effects what the device's state asks for; at rest it shows that the device starts,
    /// as long as it does.
    pub fn enter(&mut self, mode: Mode, uptime: Duration) {
        let mode = if self.starting && mode == Mode::Resting {
            Mode::Starting
        } else {
            mode
        };
        self.strip.enter(mode, uptime);
    }

    /// Makes Do Not Disturb begin or end, if it is time.
    pub fn follow_quiet_hours(&mut self, settled: &RunningSettings, now: Now) {
        let settings = settled.active();
        let quiet = quiet::is_active(settings, || settled.local(now));
        if quiet == self.quiet {
            return;
        }
        let was_quiet = core::mem::replace(&mut self.quiet, quiet);
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.follow(settings, settings, was_quiet, quiet, now.uptime);
        }
    }

    /// Time to the end of the quiet hours. `None` outside of them, or if they have no scheduled end.
    pub fn quiet_for(&self, settled: &RunningSettings, now: Now) -> Option<Duration> {
        let edge = quiet_deadline(settled, now).filter(|_| self.quiet)?;
        Some(edge.saturating_sub(now.uptime))
    }

    /// Shows now and then what is missing.
    pub fn tell_fault(&mut self, fault: FaultSignal, settings: &Settings, uptime: Duration) {
        if !self.may_tell_faults() {
            return;
        }
        if let Some(show) = self.faults.look(fault, uptime) {
            self.play(show, settings, uptime);
        }
    }

    /// Whether what is missing is worth telling: not while the device starts, joins or is an access point.
    fn may_tell_faults(&self) -> bool {
        match self.strip.mode() {
            Mode::Resting => true,
            // Nothing is fetched during an update.
            Mode::Starting
            | Mode::Joining
            | Mode::Portal
            | Mode::Alarm
            | Mode::Update(_)
            | Mode::Updated => false,
        }
    }

    /// Follows a change of settings.
    pub fn follow(&mut self, before: &Settings, settings: &Settings, uptime: Duration) {
        if settings.disable_leds && !before.disable_leds {
            self.strip.switch_off();
        }
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.follow(before, settings, self.quiet, self.quiet, uptime);
        }
    }

    /// Takes note of the light in the room.
    pub fn sense(&mut self, millilux: Option<u32>, settings: &Settings) {
        self.millilux = millilux;
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.sense(millilux, settings);
        }
    }

    /// Sets the colours that rest on the strip, one per LED; an empty list is all black.
    pub fn set(&mut self, pixels: &[Rgb]) -> Reply {
        if self.leds == 0 {
            return Reply::Refused(Refusal::NoLeds);
        }
        if !pixels.is_empty() && pixels.len() != self.leds {
            return Reply::Refused(Refusal::WrongCount);
        }
        self.strip.idle();
        self.strip.rest(pixels);
        Reply::Lights(self.strip.resting().to_vec())
    }

    /// Plays an effect that was asked for.
    pub fn play_effect(
        &mut self,
        effect: StripEffect,
        settings: &Settings,
        uptime: Duration,
    ) -> Reply {
        if self.leds == 0 {
            return Reply::Refused(Refusal::NoLeds);
        }
        let show = match effect {
            StripEffect::Blink => Show::Update,
            StripEffect::BlinkSuccess => Show::Success,
            StripEffect::BlinkError => Show::Error,
            StripEffect::Rainbow => Show::Rainbow,
            StripEffect::Breathe => Show::Breath,
            StripEffect::BreatheError => Show::NoData,
            StripEffect::Zap => Show::Zap,
            StripEffect::Identify => Show::Identify,
            StripEffect::Heartbeat => Show::Heartbeat,
            StripEffect::Idle => {
                self.strip.idle();
                return Reply::Done;
            }
            StripEffect::Off => {
                self.strip.switch_off();
                return Reply::Done;
            }
        };
        self.play(show, settings, uptime);
        Reply::Done
    }

    /// Does with the frontlight what was asked for.
    pub fn command_frontlight(
        &mut self,
        command: &FrontlightCommand,
        settings: &Settings,
        uptime: Duration,
    ) -> Reply {
        let Some(frontlight) = &mut self.frontlight else {
            return Reply::Refused(Refusal::NoFrontlight);
        };
        let command = match command {
            FrontlightCommand::On => FrontlightInput::On,
            FrontlightCommand::Off => FrontlightInput::Off,
            FrontlightCommand::Flash => FrontlightInput::BlockFlash,
            FrontlightCommand::Brightness(duty) => match u16::try_from(*duty) {
                Ok(duty) => FrontlightInput::Brightness(duty.min(DUTY_MAX)),
                Err(_) => return Reply::Refused(Refusal::OutOfRange),
            },
            FrontlightCommand::Set(duties) => {
                if !duties.is_empty() && duties.len() != self.panels {
                    return Reply::Refused(Refusal::WrongCount);
                }
                if duties.iter().any(|duty| *duty > DUTY_MAX) {
                    return Reply::Refused(Refusal::OutOfRange);
                }
                frontlight.set(duties, settings, self.quiet);
                return Reply::Done;
            }
        };
        self.command(command, settings, uptime);
        Reply::Done
    }

    fn command(&mut self, command: FrontlightInput, settings: &Settings, uptime: Duration) {
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.command(command, settings, self.quiet, uptime);
        }
    }
}

/// Uptime at which the schedule of Do Not Disturb may begin or end.
fn quiet_deadline(settled: &RunningSettings, now: Now) -> Option<Duration> {
    let utc = now.utc?;
    let edge = quiet::next_edge(settled.active(), settled.zone(), utc)?;
    let left_ms = edge.unix_ms.saturating_sub(utc.unix_ms).unsigned_abs();
    Some(now.uptime + Duration::from_millis(left_ms))
}

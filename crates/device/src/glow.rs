//! What the lights do when something happens.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    device::Device,
    dnd,
    lights::{
        Effect, Rgb,
        faults::Fault,
        frontlight::{Command, DUTY_MAX},
        shows::Show,
        strip::{Gate, Mode, update_bar},
    },
    limits::PAINT_MAX,
    now::Now,
    request::{FrontlightCommand, Refusal, Reply},
    settings::Settings,
    sources::SourceConfig,
};

/// A flash of the frontlight that waits until the ink has settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingFlash {
    command: Command,
    /// Serial number of the picture whose ink it waits for.
    picture: u64,
    deadline: Duration,
}

impl Device {
    /// What mutes the strip right now, and how bright it is.
    pub(crate) fn gate(&self) -> Gate {
        Gate {
            disabled: self.active.disable_leds,
            quiet: self.quiet,
            brightness: self.active.led_brightness,
        }
    }

    pub(crate) fn play(&mut self, show: Show, now: Now) {
        self.strip.play(show, self.gate(), now.uptime);
    }

    /// Flashes for a new block.
    pub(crate) fn glow_for_block(&mut self, now: Now) {
        if self.active.led_flash_on_upd {
            self.play(
                Show::Block(Rgb::from_u24(self.active.block_flash_color)),
                now,
            );
        }
        if self.active.fl_flash_on_upd {
            self.flash_after_paint(Command::BlockFlash, now);
        }
    }

    /// Flashes for a zap.
    pub(crate) fn glow_for_zap(&mut self, now: Now) {
        if self.active.led_flash_on_zap {
            self.play(Show::Zap, now);
        }
        if self.active.fl_flash_on_zap {
            self.flash_after_paint(Command::ZapFlash, now);
        }
    }

    /// Flashes for a payment.
    pub(crate) fn glow_for_payment(&mut self, now: Now) {
        if self.active.nwc_flash_on_pay {
            self.play(Show::Zap, now);
            self.flash_after_paint(Command::ZapFlash, now);
        }
    }

    /// Flashes for a price that got onto the glass.
    pub(crate) fn glow_for_price(&mut self, now: Now) {
        if self.active.led_flash_on_upd {
            self.play(Show::Update, now);
        }
    }

    /// The panels show the picture with this serial number; those before it are history.
    pub(crate) fn painted(&mut self, serial: u64, now: Now) {
        self.starting = false;
        self.settle_strip(now);
        if self
            .pending_flash
            .is_some_and(|pending| pending.picture <= serial)
        {
            self.fire_flash(now);
        }
    }

    /// Flashes now if nothing new came to the panels: there is no ink to wait for.
    pub(crate) fn release_flash(&mut self, now: Now) {
        let newest = self.panels.picture().serial;
        if self
            .pending_flash
            .is_some_and(|pending| newest < pending.picture)
        {
            self.fire_flash(now);
        }
    }

    /// Uptime at which a flash no longer waits for the panels.
    pub(crate) fn flash_deadline(&self) -> Option<Duration> {
        self.pending_flash.map(|pending| pending.deadline)
    }

    /// Flashes now what waited for the panels.
    pub(crate) fn fire_flash(&mut self, now: Now) {
        if let Some(pending) = self.pending_flash.take() {
            self.command(pending.command, now);
        }
    }

    /// Shows how far an update is, until its layer goes.
    pub(crate) fn show_update_bar(&mut self, percent: u8, now: Now) {
        self.strip
            .enter(Mode::Update(update_bar(percent)), now.uptime);
    }

    /// Makes Do Not Disturb begin or end, if it is time.
    pub(crate) fn settle_quiet(&mut self, now: Now) {
        let local = now.utc.map(|utc| self.zone.local(utc));
        let quiet = dnd::is_active(&self.active, local);
        if quiet == self.quiet {
            return;
        }
        let was_quiet = core::mem::replace(&mut self.quiet, quiet);
        let settings = self.active.clone();
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.follow(&settings, &settings, was_quiet, quiet, now.uptime);
        }
    }

    /// Looks whether something is missing, and shows it now and then.
    pub(crate) fn look_for_faults(&mut self, now: Now) {
        if self.watches_faults()
            && let Some(show) = self.faults.look(self.fault(), now.uptime)
        {
            self.play(show, now);
        }
    }

    /// Whether what is missing is worth telling: not while the device starts, joins or is an access point.
    pub(crate) fn watches_faults(&self) -> bool {
        match self.strip.mode() {
            Mode::Resting | Mode::Update(_) => self.power.safe_mode.is_none(),
            Mode::Starting | Mode::Joining | Mode::Portal | Mode::Alarm => false,
        }
    }

    /// Uptime at which the schedule of Do Not Disturb may begin or end.
    pub(crate) fn quiet_deadline(&self, now: Now) -> Option<Duration> {
        let utc = now.utc?;
        let edge = dnd::next_edge(&self.active, &self.zone, utc)?;
        let left_ms = edge.unix_ms.saturating_sub(utc.unix_ms).unsigned_abs();
        Some(now.uptime + Duration::from_millis(left_ms))
    }

    /// Follows the settings of the lights.
    pub(crate) fn follow_lights(&mut self, before: &Settings, now: Now) {
        if self.active.disable_leds && !before.disable_leds {
            self.strip.switch_off();
        }
        let (settings, quiet) = (self.active.clone(), self.quiet);
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.follow(before, &settings, quiet, quiet, now.uptime);
        }
    }

    /// Takes note of the light in the room.
    pub(crate) fn sense(&mut self, millilux: Option<u32>) {
        self.millilux = millilux;
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.sense(millilux, &self.active);
        }
    }

    /// Sets the colours that rest on the strip, one per LED; an empty list is all black.
    pub(crate) fn set_lights(&mut self, pixels: &[Rgb]) -> Reply {
        let leds = self.board.leds;
        if leds == 0 {
            return Reply::Refused(Refusal::NoLeds);
        }
        if !pixels.is_empty() && pixels.len() != leds {
            return Reply::Refused(Refusal::WrongCount);
        }
        self.strip.idle();
        self.strip.rest(pixels);
        Reply::Lights(self.strip.resting().to_vec())
    }

    pub(crate) fn play_effect(&mut self, effect: Effect, now: Now) -> Reply {
        if self.board.leds == 0 {
            return Reply::Refused(Refusal::NoLeds);
        }
        let show = match effect {
            Effect::Blink => Show::Update,
            Effect::BlinkSuccess => Show::Success,
            Effect::BlinkError => Show::Error,
            Effect::Rainbow => Show::Rainbow,
            Effect::Breathe => Show::Breath,
            Effect::BreatheError => Show::NoData,
            Effect::Zap => Show::Zap,
            Effect::Identify => Show::Identify,
            Effect::Heartbeat => Show::Heartbeat,
            Effect::Idle => {
                self.strip.idle();
                return Reply::Done;
            }
            Effect::Off => {
                self.strip.switch_off();
                return Reply::Done;
            }
        };
        self.play(show, now);
        Reply::Done
    }

    pub(crate) fn command_frontlight(&mut self, command: &FrontlightCommand, now: Now) -> Reply {
        let Some(frontlight) = &mut self.frontlight else {
            return Reply::Refused(Refusal::NoFrontlight);
        };
        let command = match command {
            FrontlightCommand::On => Command::On,
            FrontlightCommand::Off => Command::Off,
            FrontlightCommand::Flash => Command::BlockFlash,
            FrontlightCommand::Brightness(duty) => match u16::try_from(*duty) {
                Ok(duty) => Command::Brightness(duty.min(DUTY_MAX)),
                Err(_) => return Reply::Refused(Refusal::OutOfRange),
            },
            FrontlightCommand::Set(duties) => {
                if !duties.is_empty() && duties.len() != self.board.panels {
                    return Reply::Refused(Refusal::WrongCount);
                }
                if duties.iter().any(|duty| *duty > DUTY_MAX) {
                    return Reply::Refused(Refusal::OutOfRange);
                }
                frontlight.set(duties, &self.active, self.quiet);
                return Reply::Done;
            }
        };
        self.command(command, now);
        Reply::Done
    }

    fn command(&mut self, command: Command, now: Now) {
        let (settings, quiet) = (self.active.clone(), self.quiet);
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.command(command, &settings, quiet, now.uptime);
        }
    }

    fn flash_after_paint(&mut self, command: Command, now: Now) {
        if self.frontlight.is_some() {
            self.pending_flash = Some(PendingFlash {
                command,
                picture: self.panels.picture().serial + 1,
                deadline: now.uptime + PAINT_MAX,
            });
        }
    }

    /// The worst of what is missing.
    fn fault(&self) -> Fault {
        if self.link.is_lost() {
            return Fault::Network;
        }
        let plan = self.plan_of(self.by_hand);
        let down: Vec<&SourceConfig> = plan
            .iter()
            .filter(|(id, _)| !self.sources.get(id).is_some_and(|state| state.up))
            .map(|(_, plan)| &plan.config)
            .collect();
        let blocks = down.iter().any(|config| config.feeds_blocks());
        let prices = down.iter().any(|config| config.feeds_prices());
        match (blocks, prices) {
            (true, true) => Fault::Feeds,
            (true, false) => Fault::Blocks,
            (false, true) => Fault::Prices,
            (false, false) => Fault::None,
        }
    }
}

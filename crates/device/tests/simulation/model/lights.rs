//! The expected frames of the strip and duties of the frontlight.

use std::{collections::VecDeque, time::Duration};

use device::{
    board::BoardSpec,
    lights::{Rgb, StripEffect},
    request::FrontlightCommand,
    settings::Settings,
};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// An effect of the strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Animation {
    Block(u32),
    Price,
    Zap,
    Identify,
    NoData,
    NoBlocks,
    NoPrices,
    Success,
    Error,
    Heartbeat,
    Breath,
    Rainbow,
    Pause,
    Resume,
    QuietOn,
    QuietOff,
}

/// The state that the strip shows between effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    AtRest,
    Starting,
    Joining,
    Portal,
    /// Button 1 is held since power-on.
    Alarm,
    Updating,
}

const RAINBOW: [u32; 6] = [
    0xFF_00_00, 0xFF_80_00, 0xFF_FF_00, 0x00_FF_00, 0x00_00_FF, 0x94_00_D3,
];

/// Brightness of a breathing effect at a frame: from dark to the peak and back.
fn breath(peak: u32, frames: u32, at: u32) -> u32 {
    peak * at.min(frames - 1 - at) / (frames / 2 - 1)
}

/// A frame: a colour per LED, twelfths of the brightness, and the duration, ms.
type Frame = (Vec<u32>, u32, u32);

impl Animation {
    fn frames(self, leds: usize) -> Vec<Frame> {
        let all = |color: u32, ms| (vec![color; leds], 12, ms);
        let one = |at: usize, color, ms| {
            (
                (0..leds)
                    .map(|led| if led == at { color } else { 0 })
                    .collect(),
                12,
                ms,
            )
        };
        let flashes =
            |colors: [u32; 2], ms, times| vec![colors.map(|color| all(color, ms)); times].concat();
        let pulse = |color| {
            let up = (1..=12).map(|part| (vec![color; leds], part, 25));
            let down = (0..12).rev().map(|part| (vec![color; leds], part, 25));
            up.chain([all(color, 250)]).chain(down).collect()
        };
        match self {
            Animation::Block(color) => flashes([color, 0x08_02_00], 250, 3),
            Animation::Price => flashes([0x00_E6_00, 0xE6_E6_00], 250, 3),
            Animation::Zap => {
                let pair = |at: u32| {
                    [0xFF_E2_29, 0x80_00_80, 0xFF_E2_29][at as usize % 2..][..2].repeat(leds)
                };
                (0..8)
                    .map(|at| (pair(at)[..leds].to_vec(), 12, 30 + 7 * at))
                    .collect()
            }
            Animation::Identify => [
                flashes([0xFF_00_00, 0x00_FF_FF], 100, 2),
                flashes([0x00_FF_00, 0x00_00_FF], 100, 2),
            ]
            .concat(),
            Animation::NoData => (0..60)
                .map(|at| all(breath(255, 60, at) << 16, 33))
                .collect(),
            Animation::Heartbeat => (0..30).map(|at| all(breath(200, 30, at), 33)).collect(),
            Animation::Breath => (0..120)
                .map(|at| all(breath(255, 120, at) * 0x01_01, 33))
                .collect(),
            Animation::NoBlocks => flashes([0x80_00_80, 0], 150, 2),
            Animation::NoPrices => flashes([0xB1_5A_1F, 0], 150, 2),
            Animation::Success => flashes([0x00_FF_00, 0], 150, 3),
            Animation::Error => flashes([0xFF_00_00, 0], 250, 3),
            Animation::Rainbow => (0..12)
                .map(|at| {
                    (
                        (0..leds).map(|led| RAINBOW[(led + at) % 6]).collect(),
                        12,
                        120,
                    )
                })
                .collect(),
            Animation::Pause => {
                let sweep = [80, 153, 226, 300].into_iter().enumerate();
                sweep
                    .map(|(at, ms)| one(at, 0xFF_78_00, ms))
                    .chain([one(leds.saturating_sub(1), 0xFF_00_00, 500)])
                    .collect()
            }
            Animation::Resume => {
                let sweep = [300, 227, 154, 80].into_iter().enumerate();
                [one(0, 0xFF_00_00, 500)]
                    .into_iter()
                    .chain(sweep.map(|(at, ms)| one(at, 0x00_C8_00, ms)))
                    .collect()
            }
            Animation::QuietOn => pulse(0x78_00_C8),
            Animation::QuietOff => pulse(0xFF_8C_00),
        }
    }

    /// Whether it is visible: Do Not Disturb mutes all effects except its own.
    fn is_visible(self, settings: &Settings, quiet: bool) -> bool {
        !settings.disable_leds
            && (!quiet || matches!(self, Animation::QuietOn | Animation::QuietOff))
    }
}

/// The strip, and the frontlight of boards that have one.
#[derive(Debug, Clone)]
pub struct Lights {
    leds: usize,
    quiet: bool,
    /// The effect for missing sources, and the one that was played last; since when both are missing, and when that was
    /// shown.
    pub missing: Option<Animation>,
    shown_missing: Option<Animation>,
    all_missing_since: Option<Duration>,
    all_missing_shown: Option<Duration>,
    /// An update is in progress; its progress, percent.
    is_updating: bool,
    pub percent: u64,
    /// Button 1 is held since power-on, for three seconds at most.
    pub alarm: bool,
    /// Nothing was painted since the start, and the strip shows a rainbow.
    starting: bool,
    /// State of the clock; the state that the strip shows, and since when.
    pub state: State,
    shown_state: (State, Duration),
    resting: Vec<u32>,
    /// The current effect with its start, and the queued effects.
    animations: VecDeque<(Animation, Option<Duration>)>,
    front: Option<Front>,
    /// A flash that waits for this picture to be painted, and its deadline.
    flash: Option<(Animation, u64, Duration)>,
    /// The picture that is being painted.
    pub painting: u64,
}

#[derive(Debug, Clone)]
struct Front {
    panels: u32,
    lit: bool,
    /// Switched off by a command.
    is_off_by_command: bool,
    /// Duties set by a command, until the next one.
    commanded: Option<Vec<u32>>,
    /// Duty of each panel, the duty of full brightness, and the time of the next step.
    duty: Vec<u32>,
    top: u32,
    step: Option<Duration>,
    flash: Option<Flash>,
    millilux: Option<u32>,
    dark: bool,
    /// The ambient light is ignored until then.
    ignores_lux_until: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Flash {
    begin: Duration,
    peak: u32,
    rises: bool,
    hold: Duration,
    tick: Duration,
}

/// A change of the frontlight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrontlightChange {
    On,
    Off,
    AmbientOn,
    AmbientOff,
    DarkOff,
    /// Sets the duty of full brightness.
    Full(u32),
    Flash(Duration),
}

impl Lights {
    pub fn new(board: BoardSpec, settings: &Settings) -> Lights {
        let mut front = board.frontlight.then(|| Front {
            panels: u32::try_from(board.panels).unwrap(),
            lit: false,
            is_off_by_command: false,
            commanded: None,
            duty: vec![0; board.panels],
            top: settings.fl_max_brightness.min(4095),
            step: None,
            flash: None,
            millilux: None,
            dark: false,
            ignores_lux_until: Duration::ZERO,
        });
        if let Some(front) = &mut front {
            front.apply(FrontlightChange::On, settings, false, Duration::ZERO);
            front.ignores_lux_until = Duration::ZERO;
        }
        Lights {
            leds: board.leds,
            quiet: false,
            missing: Some(Animation::NoData),
            shown_missing: None,
            all_missing_since: None,
            all_missing_shown: None,
            is_updating: false,
            percent: 0,
            alarm: false,
            starting: settings.led_test_on_power,
            state: State::AtRest,
            shown_state: (State::AtRest, Duration::ZERO),
            resting: vec![0; board.leds],
            animations: VecDeque::new(),
            front,
            flash: None,
            painting: 0,
        }
    }

    /// A colour per LED, brightness applied.
    pub fn strip(&self, settings: &Settings, now: Duration) -> Vec<Rgb> {
        let dimmed = |(colors, twelfths, _): Frame| -> Vec<Rgb> {
            let brightness = settings.led_brightness * twelfths / 12;
            let part = |color: u32, shift: u32| {
                u8::try_from((color >> shift & 0xFF) * brightness / 255).unwrap()
            };
            let rgb = |color: &u32| Rgb {
                red: part(*color, 16),
                green: part(*color, 8),
                blue: part(*color, 0),
            };
            colors.iter().map(rgb).collect()
        };
        let leds = 0..self.leds;
        let plays = self
            .animations
            .front()
            .filter(|(animation, _)| animation.is_visible(settings, self.quiet));
        let (state, since) = self.shown_state;
        let passed = |ms| u32::try_from((now - since).as_millis() / ms).unwrap();
        let frame: Frame = if state == State::Updating {
            let lit = usize::try_from(self.percent / 25).unwrap().min(3);
            (
                leds.map(|led| if led <= lit { 0x00_FF_00 } else { 0 })
                    .collect(),
                12,
                0,
            )
        } else if state == State::Alarm && !settings.disable_leds && !self.quiet {
            (vec![0xFF_00_00; self.leds], 12, 0)
        } else if let Some((animation, Some(begin))) = plays {
            let mut left = now - *begin;
            let mut frames = animation.frames(self.leds).into_iter();
            frames
                .find(|(.., ms)| left.checked_sub(MS * *ms).map(|rest| left = rest).is_none())
                .unwrap()
        } else if settings.disable_leds || self.quiet {
            (vec![0; self.leds], 12, 0)
        } else {
            let turned = |ms| usize::try_from(passed(ms)).unwrap();
            let colors = match state {
                State::Starting => leds.map(|led| RAINBOW[(led + turned(250)) % 6]).collect(),
                State::Joining => {
                    let lit = turned(100) % self.leds.max(1);
                    let color = |led| if led == lit { 0x10_C5_EC } else { 0 };
                    leds.map(color).collect()
                }
                State::Portal => vec![breath(255, 120, passed(50) % 120) * 0x01_01; self.leds],
                _ => self.resting.clone(),
            };
            (colors, 12, 0)
        };
        dimmed(frame)
    }

    /// A duty per panel; empty without a frontlight.
    pub fn duties(&self, now: Duration) -> Vec<u16> {
        let of = |front: &Front| {
            (0..front.panels)
                .map(|panel| front.duty_of(panel, now))
                .collect()
        };
        self.front.as_ref().map(of).unwrap_or_default()
    }

    /// Handles everything that is due.
    pub fn advance(&mut self, settings: &Settings, quiet: bool, now: Duration) {
        self.settle_quiet(settings, quiet, now);
        while let Some((animation, begin)) = self.animations.front().copied() {
            let frames = animation.frames(self.leds);
            let end = begin.unwrap_or(now) + MS * frames.iter().map(|(.., ms)| ms).sum();
            let from = if animation.is_visible(settings, quiet) {
                end
            } else {
                begin.map_or(now, |_| now)
            };
            if from > now {
                break;
            }
            self.animations.pop_front();
            if let Some(next) = self.animations.front_mut() {
                next.1 = Some(from);
            }
        }
        if let Some(front) = &mut self.front {
            front.advance(settings, quiet, now);
        }
        if self.flash.is_some_and(|(.., until)| until <= now) {
            self.fire(settings, now);
        }
    }

    /// Updates the shown state, and plays the effect for missing sources.
    pub fn settle(&mut self, settings: &Settings, quiet: bool, now: Duration) {
        self.settle_quiet(settings, quiet, now);
        let state = match self.state {
            _ if self.is_updating => State::Updating,
            State::AtRest if self.starting => State::Starting,
            state => state,
        };
        if state != self.shown_state.0 {
            self.shown_state = (state, now);
        }
        if state != State::AtRest {
            return;
        }
        let is_new = std::mem::replace(&mut self.shown_missing, self.missing) != self.missing;
        let shown = self.all_missing_shown.unwrap_or_default();
        let is_due = match self.missing {
            None => {
                (self.all_missing_since, self.all_missing_shown) = (None, None);
                return;
            }
            Some(Animation::NoData) => {
                let gone = *self.all_missing_since.get_or_insert(now);
                now >= gone.max(shown) + 5 * SECOND
            }
            Some(_) => {
                self.all_missing_since = None;
                is_new || now >= shown + 10 * SECOND
            }
        };
        if let Some(animation) = self.missing.filter(|_| is_due) {
            self.all_missing_shown = Some(now);
            self.play(animation, settings, now);
        }
    }

    /// Queues an effect; at most eight are queued.
    pub fn play(&mut self, animation: Animation, settings: &Settings, now: Duration) {
        if animation.is_visible(settings, self.quiet) && self.animations.len() < 9 {
            let begin = self.animations.is_empty().then_some(now);
            self.animations.push_back((animation, begin));
        }
    }

    /// Flashes the frontlight when a picture was painted.
    pub fn flash_after(&mut self, picture: u64, animation: Animation, now: Duration) {
        self.flash = self
            .front
            .as_ref()
            .map(|_| (animation, picture, now + 10 * SECOND));
    }

    /// Flashes at once if the picture was not painted again.
    pub fn release(&mut self, newest: u64, settings: &Settings, now: Duration) {
        if self.flash.is_some_and(|(_, picture, _)| newest < picture) {
            self.fire(settings, now);
        }
    }

    /// A paint has ended.
    pub fn painted(&mut self, settings: &Settings, now: Duration) {
        self.starting = false;
        if self
            .flash
            .is_some_and(|(_, picture, _)| picture <= self.painting)
        {
            self.fire(settings, now);
        }
    }

    pub fn update(&mut self, percent: Option<u64>) {
        self.is_updating = percent.is_some();
        self.percent = percent.unwrap_or(0);
    }

    /// Sets the resting colours; black if a colour is missing.
    pub fn rest(&mut self, colors: &[Rgb]) {
        self.animations.clear();
        let number = |color: &Rgb| u32::from_be_bytes([0, color.red, color.green, color.blue]);
        self.resting = colors.iter().map(number).collect();
        self.resting.resize(self.leds, 0);
    }

    /// Plays a requested effect.
    pub fn effect(&mut self, effect: StripEffect, settings: &Settings, now: Duration) {
        let animation = match effect {
            StripEffect::Blink => Animation::Price,
            StripEffect::BlinkSuccess => Animation::Success,
            StripEffect::BlinkError => Animation::Error,
            StripEffect::Rainbow => Animation::Rainbow,
            StripEffect::Breathe => Animation::Breath,
            StripEffect::BreatheError => Animation::NoData,
            StripEffect::Zap => Animation::Zap,
            StripEffect::Identify => Animation::Identify,
            StripEffect::Heartbeat => Animation::Heartbeat,
            StripEffect::Idle => return self.animations.clear(),
            StripEffect::Off => return self.rest(&[]),
        };
        self.play(animation, settings, now);
    }

    pub fn has_strip(&self) -> bool {
        self.leds > 0
    }

    pub fn has_front(&self) -> bool {
        self.front.is_some()
    }

    pub fn sense(&mut self, millilux: Option<u32>, settings: &Settings) {
        if let Some(front) = &mut self.front {
            front.millilux = millilux;
            front.update_dark(settings);
        }
    }

    pub fn command(&mut self, command: &FrontlightCommand, settings: &Settings, now: Duration) {
        let Some(front) = &mut self.front else { return };
        match command {
            FrontlightCommand::On => front.apply(FrontlightChange::On, settings, self.quiet, now),
            FrontlightCommand::Off => front.apply(FrontlightChange::Off, settings, self.quiet, now),
            FrontlightCommand::Flash => front.apply(
                FrontlightChange::Flash(Duration::ZERO),
                settings,
                self.quiet,
                now,
            ),
            FrontlightCommand::Brightness(duty) => {
                front.apply(FrontlightChange::Full(*duty), settings, self.quiet, now);
            }
            FrontlightCommand::Set(duties) => {
                let is_muted = settings.fl_disable || (self.quiet && settings.fl_off_on_dnd);
                if !is_muted {
                    let mut duties: Vec<u32> = duties.iter().map(|duty| (*duty).into()).collect();
                    duties.resize(front.duty.len(), 0);
                    (front.commanded, front.flash, front.step) = (Some(duties), None, None);
                }
            }
        }
    }

    /// Applies changed settings.
    pub fn apply_settings(
        &mut self,
        before: &Settings,
        after: &Settings,
        quiet: bool,
        now: Duration,
    ) {
        if after.disable_leds && !before.disable_leds {
            self.rest(&[]);
        }
        if let Some(front) = &mut self.front {
            front.apply_settings(before, after, self.quiet, self.quiet, now);
        }
        self.settle_quiet(after, quiet, now);
    }

    fn settle_quiet(&mut self, settings: &Settings, quiet: bool, now: Duration) {
        let was_quiet = std::mem::replace(&mut self.quiet, quiet);
        if let Some(front) = self.front.as_mut().filter(|_| was_quiet != quiet) {
            front.apply_settings(settings, settings, was_quiet, quiet, now);
        }
    }

    fn fire(&mut self, settings: &Settings, now: Duration) {
        let hold = match self.flash.take() {
            Some((Animation::Zap, ..)) => MS * 250,
            _ => Duration::ZERO,
        };
        if let Some(front) = &mut self.front {
            front.apply(FrontlightChange::Flash(hold), settings, self.quiet, now);
        }
    }
}

impl Front {
    /// Priority: muted, always on, Do Not Disturb.
    fn allowed(change: FrontlightChange, s: &Settings, quiet: bool) -> Option<FrontlightChange> {
        match change {
            FrontlightChange::Off => Some(change),
            _ if s.fl_disable => Some(FrontlightChange::AmbientOff),
            FrontlightChange::AmbientOff if s.fl_always_on => None,
            _ if quiet && s.fl_off_on_dnd => Some(FrontlightChange::AmbientOff),
            _ => Some(change),
        }
    }

    fn apply(&mut self, change: FrontlightChange, s: &Settings, quiet: bool, now: Duration) {
        match Front::allowed(change, s, quiet) {
            None => {}
            Some(FrontlightChange::AmbientOn) if self.is_off_by_command => {}
            Some(change @ (FrontlightChange::On | FrontlightChange::AmbientOn)) => {
                self.is_off_by_command &= change != FrontlightChange::On;
                self.light(true, s, now);
            }
            Some(
                change @ (FrontlightChange::Off
                | FrontlightChange::AmbientOff
                | FrontlightChange::DarkOff),
            ) => {
                self.is_off_by_command |= change == FrontlightChange::Off;
                self.light(false, s, now);
            }
            Some(FrontlightChange::Full(duty)) => {
                self.top = duty.min(4095);
                self.is_off_by_command &= duty == 0;
                self.light(self.lit, s, now);
            }
            Some(FrontlightChange::Flash(hold)) => {
                (self.is_off_by_command, self.step, self.commanded) = (false, None, None);
                self.flash = Some(Flash {
                    begin: now,
                    peak: if self.top == 0 { 2048 } else { self.top },
                    rises: self.target() == 0,
                    hold,
                    tick: MS * (s.fl_effect_delay / self.panels).max(1),
                });
            }
        }
    }

    /// Fades on or off from the current duties.
    fn light(&mut self, lit: bool, s: &Settings, now: Duration) {
        let seen = |panel| u32::from(self.duty_of(panel, now));
        self.duty = (0..self.panels).map(seen).collect();
        self.commanded = None;
        if lit != self.lit {
            self.ignores_lux_until = now + 10 * SECOND;
        }
        (self.lit, self.flash) = (lit, None);
        let step = self.step.unwrap_or(now + MS * s.fl_effect_delay.max(1));
        self.step = (!self.has_arrived()).then_some(step);
    }

    fn target(&self) -> u32 {
        if self.lit { self.top } else { 0 }
    }

    fn has_arrived(&self) -> bool {
        self.duty.iter().all(|duty| *duty == self.target())
    }

    fn advance(&mut self, s: &Settings, quiet: bool, now: Duration) {
        if self.flash.is_some_and(|flash| self.end(flash) <= now) {
            self.flash = None;
            self.duty = vec![self.target(); self.duty.len()];
        }
        while let Some(at) = self.step.filter(|at| *at <= now) {
            let target = self.target();
            for duty in &mut self.duty {
                *duty = target.clamp(duty.saturating_sub(25), *duty + 25);
            }
            self.step = (!self.has_arrived()).then(|| at + MS * s.fl_effect_delay.max(1));
        }
        if self.ignores_lux_until <= now && self.flash.is_none() {
            self.apply_ambient_light(s, quiet, now);
        }
    }

    fn apply_ambient_light(&mut self, s: &Settings, quiet: bool, now: Duration) {
        let lux = self.millilux.map(|millilux| millilux / 1000);
        let change = if self.dark {
            FrontlightChange::DarkOff
        } else if s.fl_always_on
            || s.lux_light_toggle == 0
            || lux.is_some_and(|lux| lux < s.lux_light_toggle)
        {
            FrontlightChange::AmbientOn
        } else if lux.is_some_and(|lux| lux > s.lux_light_toggle) {
            FrontlightChange::AmbientOff
        } else {
            return;
        };
        let lights = Front::allowed(change, s, quiet) == Some(FrontlightChange::AmbientOn)
            && !self.is_off_by_command;
        if lights != self.lit {
            self.apply(change, s, quiet, now);
        }
    }

    fn apply_settings(
        &mut self,
        before: &Settings,
        after: &Settings,
        was_quiet: bool,
        quiet: bool,
        now: Duration,
    ) {
        if before.fl_max_brightness != after.fl_max_brightness {
            self.top = after.fl_max_brightness.min(4095);
            if self.commanded.is_none() {
                self.light(self.lit, after, now);
            }
        }
        let mute = |s: &Settings, quiet| s.fl_disable || (quiet && s.fl_off_on_dnd);
        match (mute(before, was_quiet), mute(after, quiet)) {
            (false, true) => self.light(false, after, now),
            (true, false) if !self.dark => {
                self.apply(FrontlightChange::AmbientOn, after, quiet, now)
            }
            _ => {}
        }
        self.update_dark(after);
        let room = |s: &Settings| {
            (
                s.lux_light_toggle,
                s.fl_off_when_dark,
                s.fl_always_on,
                s.fl_disable,
                s.fl_off_on_dnd,
            )
        };
        if room(before) != room(after) || was_quiet != quiet {
            self.ignores_lux_until = Duration::ZERO;
        }
    }

    /// A room is dark below 1 lux, until it is above 2.
    fn update_dark(&mut self, s: &Settings) {
        let limit = if self.dark { 2000 } else { 1000 };
        let is_enabled = s.lux_light_toggle > 0 && s.fl_off_when_dark;
        self.dark = is_enabled && self.millilux.map_or(self.dark, |millilux| millilux < limit);
    }

    fn half(&self, flash: Flash) -> Duration {
        let spacing = flash.peak / self.panels;
        flash.tick * ((flash.peak + (self.panels - 1) * spacing) / 25 + 1)
    }

    fn end(&self, flash: Flash) -> Duration {
        flash.begin + self.half(flash) * 2 + flash.hold
    }

    fn duty_of(&self, panel: u32, now: Duration) -> u16 {
        let seen = self.commanded.as_ref().unwrap_or(&self.duty);
        let faded = seen[usize::try_from(panel).unwrap()];
        let duty = self.flash.map_or(faded, |flash| {
            let (passed, half) = (now - flash.begin, self.half(flash));
            let (rises, time) = match passed.checked_sub(half + flash.hold) {
                Some(second) => (!flash.rises, second),
                None => (flash.rises, passed.min(half)),
            };
            let moved = 25 * u32::try_from(time.as_millis() / flash.tick.as_millis()).unwrap();
            let (spacing, after) = (flash.peak / self.panels, self.panels - 1 - panel);
            match rises {
                true => moved.saturating_sub(panel * spacing).min(flash.peak),
                false => flash.peak.saturating_sub(moved + after * spacing),
            }
        });
        u16::try_from(duty).unwrap()
    }
}

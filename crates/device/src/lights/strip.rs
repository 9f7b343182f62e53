//! The LED strip: resting colours, a queue of effects, and what mutes them.

use alloc::{collections::VecDeque, vec, vec::Vec};
use core::time::Duration;

use super::{
    Rgb,
    shows::{self, EffectFrame, Show},
};
use crate::settings::Key;

/// Effects that may wait.
const QUEUE_MAX: usize = 8;

/// What the strip does between effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Shows its resting colours.
    Resting,
    /// A turning rainbow, from power-on to the first picture.
    Starting,
    /// One pixel that runs, while the network is being joined.
    Joining,
    /// A slow cyan breath, while the access point is up.
    Portal,
    /// Steady red, while button 1 is held at power-on or the device has given up.
    Alarm,
    /// So many green pixels of an update's bar; not muted.
    Update(usize),
    /// An update is installed: its bar blinks and stays; not muted.
    Updated,
}

/// What mutes the strip, and how bright it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripGate {
    /// The owner has switched the strip off.
    pub disabled: bool,
    /// Do Not Disturb is active.
    pub quiet: bool,
    /// Brightness, 0..=255.
    pub brightness: u32,
}

/// Why the strip is dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MuteReason {
    /// The owner has switched it off.
    SwitchedOff,
    /// Do Not Disturb is active.
    Quiet,
}

impl MuteReason {
    /// All of them.
    pub const ALL: [MuteReason; 2] = [MuteReason::SwitchedOff, MuteReason::Quiet];

    /// Word for it, after what ends it.
    pub fn word(self) -> &'static str {
        match self {
            MuteReason::SwitchedOff => Key::disable_leds.name(),
            MuteReason::Quiet => "dnd",
        }
    }
}

impl StripGate {
    /// Why the strip is muted; none if it is not.
    pub fn mute(self) -> Option<MuteReason> {
        if self.disabled {
            return Some(MuteReason::SwitchedOff);
        }
        self.quiet.then_some(MuteReason::Quiet)
    }
}

/// Controls the LED strip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripControl {
    resting: Vec<Rgb>,
    mode: Mode,
    mode_frame: u32,
    mode_until: Option<Duration>,
    queue: VecDeque<Queued>,
    playing: Option<Playing>,
    dropped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Queued {
    show: Show,
    /// Shows although Do Not Disturb is active, because it acknowledges just that.
    despite_quiet: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Playing {
    queued: Queued,
    index: u32,
    frame: EffectFrame,
    until: Duration,
}

impl StripControl {
    /// A dark strip.
    pub fn new(leds: usize) -> StripControl {
        StripControl {
            resting: vec![Rgb::BLACK; leds],
            mode: Mode::Resting,
            mode_frame: 0,
            mode_until: None,
            queue: VecDeque::new(),
            playing: None,
            dropped: 0,
        }
    }

    /// Colours between effects, leftmost first, before brightness.
    pub fn resting(&self) -> &[Rgb] {
        &self.resting
    }

    /// What the strip does between effects.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Effects that found the queue full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Sets the colours between effects; an empty list is all black, which is a colour and mutes nothing.
    pub fn rest(&mut self, pixels: &[Rgb]) {
        for (index, resting) in self.resting.iter_mut().enumerate() {
            *resting = pixels.get(index).copied().unwrap_or(Rgb::BLACK);
        }
    }

    /// Ends whatever plays or waits and clears the resting colours.
    pub fn switch_off(&mut self) {
        self.idle();
        self.rest(&[]);
    }

    /// Ends whatever plays or waits and goes back to the resting colours.
    pub fn idle(&mut self) {
        self.queue.clear();
        self.playing = None;
    }

    /// Lets an effect play after those that wait; one that is muted is not kept.
    pub fn play(&mut self, show: Show, gate: StripGate, uptime: Duration) {
        self.enqueue(
            Queued {
                show,
                despite_quiet: false,
            },
            gate,
            uptime,
        );
    }

    /// As [`StripControl::play`], for what acknowledges Do Not Disturb itself.
    pub fn acknowledge(&mut self, show: Show, gate: StripGate, uptime: Duration) {
        self.enqueue(
            Queued {
                show,
                despite_quiet: true,
            },
            gate,
            uptime,
        );
    }

    /// Changes what the strip does between effects.
    pub fn enter(&mut self, mode: Mode, uptime: Duration) {
        if self.mode == mode {
            return;
        }
        self.mode = mode;
        self.mode_frame = 0;
        self.mode_until = self.mode_tick().map(|tick| uptime + tick);
    }

    /// Does what is due by this uptime.
    pub fn advance(&mut self, gate: StripGate, uptime: Duration) {
        while let Some(until) = self.mode_until.filter(|until| *until <= uptime) {
            self.mode_frame = self.mode_frame.wrapping_add(1);
            self.mode_until = self.mode_tick().map(|tick| until + tick);
        }
        while let Some(playing) = &self.playing {
            if !is_audible(playing.queued, gate) {
                self.start_next(gate, uptime);
            } else if playing.until <= uptime {
                let (queued, index, from) = (playing.queued, playing.index + 1, playing.until);
                match queued.show.frame(index, self.resting.len()) {
                    Some(frame) => {
                        let until = from + frame.time;
                        self.playing = Some(Playing {
                            queued,
                            index,
                            frame,
                            until,
                        });
                    }
                    None => self.start_next(gate, from),
                }
            } else {
                return;
            }
        }
    }

    /// Uptime of the next change.
    pub fn next_deadline(&self) -> Option<Duration> {
        let playing = self.playing.as_ref().map(|playing| playing.until);
        playing.into_iter().chain(self.mode_until).min()
    }

    /// Colours to show, brightness applied.
    pub fn pixels(&self, gate: StripGate) -> Vec<Rgb> {
        let leds = self.resting.len();
        let colors = match (self.mode, &self.playing) {
            (mode @ (Mode::Update(_) | Mode::Updated), _) => self.between_effects(mode),
            _ if gate.disabled => vec![Rgb::BLACK; leds],
            // Whoever is about to make the clock forget its network must not be told of a success in between.
            (Mode::Alarm, _) if !gate.quiet => self.between_effects(Mode::Alarm),
            (_, Some(playing)) if is_audible(playing.queued, gate) => {
                let (parts, of) = playing.frame.share;
                let brightness = gate.brightness * parts / of;
                let pixels = playing.frame.pixels.iter();
                return pixels.map(|color| color.dimmed(brightness)).collect();
            }
            _ if gate.quiet => vec![Rgb::BLACK; leds],
            (mode, _) => self.between_effects(mode),
        };
        colors
            .into_iter()
            .map(|color| color.dimmed(gate.brightness))
            .collect()
    }

    fn between_effects(&self, mode: Mode) -> Vec<Rgb> {
        let leds = self.resting.len();
        match mode {
            Mode::Resting => self.resting.clone(),
            Mode::Starting => shows::rainbow(self.mode_frame, 0, leds).pixels,
            Mode::Joining => {
                let place = usize::try_from(self.mode_frame).unwrap_or_default() % leds.max(1);
                (0..leds)
                    .map(|pixel| {
                        if pixel == place {
                            shows::JOINING
                        } else {
                            Rgb::BLACK
                        }
                    })
                    .collect()
            }
            Mode::Portal => {
                let level =
                    shows::breath_level(255, self.mode_frame % PORTAL_FRAMES, PORTAL_FRAMES);
                vec![Rgb::from_u24(0x00FFFF).dimmed(level); leds]
            }
            Mode::Alarm => vec![Rgb::from_u24(0xFF0000); leds],
            Mode::Update(lit) => lit_from_left(lit, leds),
            Mode::Updated => {
                let is_dark = self.mode_frame < UPDATED_FRAMES && self.mode_frame % 2 == 1;
                lit_from_left(if is_dark { 0 } else { leds }, leds)
            }
        }
    }

    fn mode_tick(&self) -> Option<Duration> {
        match self.mode {
            Mode::Resting | Mode::Alarm | Mode::Update(_) => None,
            Mode::Starting => Some(Duration::from_millis(250)),
            Mode::Joining => Some(Duration::from_millis(100)),
            Mode::Portal => Some(Duration::from_millis(50)),
            Mode::Updated => (self.mode_frame < UPDATED_FRAMES).then_some(UPDATED_FRAME),
        }
    }

    fn enqueue(&mut self, queued: Queued, gate: StripGate, uptime: Duration) {
        if !is_audible(queued, gate) {
            return;
        }
        if self.queue.len() >= QUEUE_MAX {
            self.dropped += 1;
            return;
        }
        self.queue.push_back(queued);
        if self.playing.is_none() {
            self.start_next(gate, uptime);
        }
    }

    fn start_next(&mut self, gate: StripGate, from: Duration) {
        self.playing = None;
        while let Some(queued) = self.queue.pop_front() {
            let frame = queued.show.frame(0, self.resting.len());
            if let Some(frame) = frame.filter(|_| is_audible(queued, gate)) {
                let until = from + frame.time;
                self.playing = Some(Playing {
                    queued,
                    index: 0,
                    frame,
                    until,
                });
                return;
            }
        }
    }
}

/// Frames of three blinks, light and dark in turn, and how long each shows.
const UPDATED_FRAMES: u32 = 6;
const UPDATED_FRAME: Duration = Duration::from_millis(150);

/// Frames of the breath while the access point is up.
const PORTAL_FRAMES: u32 = 120;

fn is_audible(queued: Queued, gate: StripGate) -> bool {
    !gate.disabled && (!gate.quiet || queued.despite_quiet)
}

fn lit_from_left(lit: usize, leds: usize) -> Vec<Rgb> {
    let green = Rgb::from_u24(0x00FF00);
    (0..leds)
        .map(|pixel| if pixel < lit { green } else { Rgb::BLACK })
        .collect()
}

/// Pixels of an update's bar at a percentage.
pub fn update_bar(percent: u8) -> usize {
    match percent {
        0..25 => 1,
        25..50 => 2,
        50..75 => 3,
        75.. => 4,
    }
}

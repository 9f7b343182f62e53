//! The LED strip: resting colours, a queue of animations, and the conditions that mute them.

use alloc::{collections::VecDeque, vec, vec::Vec};
use core::time::Duration;

use super::{
    Rgb,
    animations::{self, Animation, EffectFrame},
};
use crate::settings::Key;

/// Most queued animations.
const QUEUE_MAX: usize = 8;

/// What the strip shows between animations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The resting colours.
    Resting,
    /// A turning rainbow, from power-on to the first picture.
    Starting,
    /// A running pixel, while the clock joins the network.
    Joining,
    /// A slow cyan breath, while the access point is up.
    Portal,
    /// Steady red, while button 1 is held at power-on or after a fatal error.
    Alarm,
    /// The progress bar of an update, with this number of green pixels; not muted.
    Update(usize),
    /// An update is installed: the full bar blinks, then stays; not muted.
    Updated,
}

/// The conditions that mute the strip, and its brightness.
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
    /// All reasons.
    pub const ALL: [MuteReason; 2] = [MuteReason::SwitchedOff, MuteReason::Quiet];

    /// Word for the reason: the setting that ends it.
    pub fn word(self) -> &'static str {
        match self {
            MuteReason::SwitchedOff => Key::disable_leds.name(),
            MuteReason::Quiet => "dnd",
        }
    }
}

impl StripGate {
    /// Why the strip is muted. `None` if it is not.
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
    animation: Animation,
    /// It plays during Do Not Disturb, because it acknowledges a change of Do Not Disturb.
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

    /// The resting colours, leftmost first, before brightness.
    pub fn resting(&self) -> &[Rgb] {
        &self.resting
    }

    /// What the strip shows between animations.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Number of animations that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Sets the resting colours. An empty list is all black. Black does not mute animations.
    pub fn rest(&mut self, pixels: &[Rgb]) {
        for (index, resting) in self.resting.iter_mut().enumerate() {
            *resting = pixels.get(index).copied().unwrap_or(Rgb::BLACK);
        }
    }

    /// Stops and removes all animations, and sets the resting colours to black.
    pub fn switch_off(&mut self) {
        self.idle();
        self.rest(&[]);
    }

    /// Stops and removes all animations.
    pub fn idle(&mut self) {
        self.queue.clear();
        self.playing = None;
    }

    /// Queues an animation, unless it is muted.
    pub fn play(&mut self, animation: Animation, gate: StripGate, uptime: Duration) {
        self.enqueue(
            Queued {
                animation,
                despite_quiet: false,
            },
            gate,
            uptime,
        );
    }

    /// As [`StripControl::play`], for animations that acknowledge a change of Do Not Disturb.
    pub fn acknowledge(&mut self, animation: Animation, gate: StripGate, uptime: Duration) {
        self.enqueue(
            Queued {
                animation,
                despite_quiet: true,
            },
            gate,
            uptime,
        );
    }

    /// Changes what the strip shows between animations.
    pub fn enter(&mut self, mode: Mode, uptime: Duration) {
        if self.mode == mode {
            return;
        }
        self.mode = mode;
        self.mode_frame = 0;
        self.mode_until = self.mode_tick().map(|tick| uptime + tick);
    }

    /// Handles everything that is due by this uptime.
    pub fn advance(&mut self, gate: StripGate, uptime: Duration) {
        while let Some(until) = self.mode_until.filter(|until| *until <= uptime) {
            self.mode_frame = self.mode_frame.wrapping_add(1);
            self.mode_until = self.mode_tick().map(|tick| until + tick);
        }
        while let Some(playing) = &self.playing {
            if !is_visible(playing.queued, gate) {
                self.start_next(gate, uptime);
            } else if playing.until <= uptime {
                let (queued, index, from) = (playing.queued, playing.index + 1, playing.until);
                match queued.animation.frame(index, self.resting.len()) {
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
            // While button 1 is held to forget the network, no animation of a success may be visible.
            (Mode::Alarm, _) if !gate.quiet => self.between_effects(Mode::Alarm),
            (_, Some(playing)) if is_visible(playing.queued, gate) => {
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
            Mode::Starting => animations::rainbow(self.mode_frame, 0, leds).pixels,
            Mode::Joining => {
                let place = usize::try_from(self.mode_frame).unwrap_or_default() % leds.max(1);
                (0..leds)
                    .map(
                        |pixel| {
                            if pixel == place { animations::JOINING } else { Rgb::BLACK }
                        },
                    )
                    .collect()
            }
            Mode::Portal => {
                let level =
                    animations::breath_level(255, self.mode_frame % PORTAL_FRAMES, PORTAL_FRAMES);
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
        if !is_visible(queued, gate) {
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
            let frame = queued.animation.frame(0, self.resting.len());
            if let Some(frame) = frame.filter(|_| is_visible(queued, gate)) {
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

/// Number and duration of the frames of three blinks.
const UPDATED_FRAMES: u32 = 6;
const UPDATED_FRAME: Duration = Duration::from_millis(150);

/// Number of frames of the breath while the access point is up.
const PORTAL_FRAMES: u32 = 120;

fn is_visible(queued: Queued, gate: StripGate) -> bool {
    !gate.disabled && (!gate.quiet || queued.despite_quiet)
}

fn lit_from_left(lit: usize, leds: usize) -> Vec<Rgb> {
    let green = Rgb::from_u24(0x00FF00);
    (0..leds)
        .map(|pixel| if pixel < lit { green } else { Rgb::BLACK })
        .collect()
}

/// Number of pixels of the progress bar at a percentage.
pub fn update_bar(percent: u8) -> usize {
    match percent {
        0..25 => 1,
        25..50 => 2,
        50..75 => 3,
        75.. => 4,
    }
}

//! The animations of the LED strip as sequences of frames.
//!
//! Colours are before brightness; pixel 0 is the leftmost.

use alloc::{vec, vec::Vec};
use core::time::Duration;

use super::Rgb;

/// An animation that plays once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Animation {
    /// A new block, in the owner's colour.
    Block(Rgb),
    /// A new price.
    Update,
    /// A zap or a payment.
    Zap,
    /// Identifies the clock.
    Identify,
    /// No network, or no feed.
    NoData,
    /// No feed of blocks.
    NoBlocks,
    /// No feed of prices.
    NoPrices,
    /// Success.
    Success,
    /// An error.
    Error,
    /// A sign of life.
    Heartbeat,
    /// A cyan breath.
    Breath,
    /// All colours once.
    Rainbow,
    /// The network cannot be joined.
    WifiError,
    /// The rotation was paused.
    Pause,
    /// The rotation continues.
    Resume,
    /// Do Not Disturb was switched on by hand.
    QuietOn,
    /// Do Not Disturb was switched off by hand.
    QuietOff,
}

/// One frame of an animation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectFrame {
    /// One colour per pixel, before brightness.
    pub pixels: Vec<Rgb>,
    /// Share of the brightness, as a fraction.
    pub share: (u32, u32),
    /// Duration of the frame.
    pub time: Duration,
}

/// Colours of the rainbow.
pub const RAINBOW: [Rgb; 6] = [
    Rgb::from_u24(0xFF0000),
    Rgb::from_u24(0xFF8000),
    Rgb::from_u24(0xFFFF00),
    Rgb::from_u24(0x00FF00),
    Rgb::from_u24(0x0000FF),
    Rgb::from_u24(0x9400D3),
];

/// Colour of the network being joined.
pub const JOINING: Rgb = Rgb::from_u24(0x10C5EC);

const BLOCK_AFTER: Rgb = Rgb::from_u24(0x080200);
const AMBER: Rgb = Rgb::from_u24(0xFF7800);
const RED: Rgb = Rgb::from_u24(0xFF0000);
const GREEN: Rgb = Rgb::from_u24(0x00FF00);
const DARK_GREEN: Rgb = Rgb::from_u24(0x00C800);
const BREATH_TICK_MS: u64 = 33;

/// Steps of a fade pulse, up and down each.
const PULSE_STEPS: u32 = 12;
const PULSE_STEP_MS: u64 = 25;
const PULSE_HOLD_MS: u64 = 250;

impl Animation {
    /// Frame `index` on a strip with this number of pixels. `None` after the last frame.
    pub fn frame(self, index: u32, leds: usize) -> Option<EffectFrame> {
        match self {
            Animation::Block(color) => two_colours(color, BLOCK_AFTER, 250, 3, index, leds),
            Animation::Update => two_colours(
                Rgb::from_u24(0x00E600),
                Rgb::from_u24(0xE6E600),
                250,
                3,
                index,
                leds,
            ),
            Animation::Zap => zap(index, leds),
            Animation::Identify => identify(index, leds),
            Animation::NoData => breath(RED, 255, 60, index, leds),
            Animation::NoBlocks => blink(Rgb::from_u24(0x800080), 150, 2, index, leds),
            Animation::NoPrices => blink(Rgb::from_u24(0xB15A1F), 150, 2, index, leds),
            Animation::Success => blink(GREEN, 150, 3, index, leds),
            Animation::Error => blink(RED, 250, 3, index, leds),
            Animation::Heartbeat => breath(Rgb::from_u24(0x0000FF), 200, 30, index, leds),
            Animation::Breath => breath(Rgb::from_u24(0x00FFFF), 255, 120, index, leds),
            Animation::Rainbow => (index < 12).then(|| rainbow(index, 120, leds)),
            Animation::WifiError => two_colours(Rgb::from_u24(0x08A1EC), RED, 100, 3, index, leds),
            Animation::Pause => pause(index, leds),
            Animation::Resume => resume(index, leds),
            Animation::QuietOn => pulse(Rgb::from_u24(0x7800C8), index, leds),
            Animation::QuietOff => pulse(Rgb::from_u24(0xFF8C00), index, leds),
        }
    }
}

/// A frame of the turning rainbow.
pub fn rainbow(index: u32, time_ms: u64, leds: usize) -> EffectFrame {
    let first = usize::try_from(index).unwrap_or_default();
    EffectFrame {
        pixels: (0..leds)
            .map(|pixel| RAINBOW[(first + pixel) % RAINBOW.len()])
            .collect(),
        share: (1, 1),
        time: Duration::from_millis(time_ms),
    }
}

/// A triangle from dark to `peak` and back over this number of frames.
pub fn breath_level(peak: u32, index: u32, frames: u32) -> u32 {
    let last = frames.saturating_sub(1);
    let from_edge = index.min(last.saturating_sub(index));
    (peak * from_edge / (frames / 2).saturating_sub(1).max(1)).min(peak)
}

fn uniform(color: Rgb, time_ms: u64, leds: usize) -> EffectFrame {
    EffectFrame {
        pixels: vec![color; leds],
        share: (1, 1),
        time: Duration::from_millis(time_ms),
    }
}

fn single(color: Rgb, pixel: usize, time_ms: u64, leds: usize) -> EffectFrame {
    let mut frame = uniform(Rgb::BLACK, time_ms, leds);
    if let Some(lit) = frame.pixels.get_mut(pixel) {
        *lit = color;
    }
    frame
}

fn two_colours(
    first: Rgb,
    second: Rgb,
    time_ms: u64,
    times: u32,
    index: u32,
    leds: usize,
) -> Option<EffectFrame> {
    let color = if index.is_multiple_of(2) { first } else { second };
    (index < times * 2).then(|| uniform(color, time_ms, leds))
}

fn blink(color: Rgb, time_ms: u64, times: u32, index: u32, leds: usize) -> Option<EffectFrame> {
    two_colours(color, Rgb::BLACK, time_ms, times, index, leds)
}

fn breath(color: Rgb, peak: u32, frames: u32, index: u32, leds: usize) -> Option<EffectFrame> {
    let level = breath_level(peak, index, frames);
    (index < frames).then(|| uniform(color.dimmed(level), BREATH_TICK_MS, leds))
}

fn zap(index: u32, leds: usize) -> Option<EffectFrame> {
    const FRAMES: u32 = 8;
    let yellow = Rgb::from_u24(0xFFE229);
    let purple = Rgb::from_u24(0x800080);
    // The two colours swap their places with every frame.
    let even =
        |pixel: usize| (pixel + usize::try_from(index).unwrap_or_default()).is_multiple_of(2);
    (index < FRAMES).then(|| EffectFrame {
        pixels: (0..leds)
            .map(|pixel| if even(pixel) { yellow } else { purple })
            .collect(),
        share: (1, 1),
        time: Duration::from_millis(30 + 7 * u64::from(index)),
    })
}

fn identify(index: u32, leds: usize) -> Option<EffectFrame> {
    let red_cyan = two_colours(RED, Rgb::from_u24(0x00FFFF), 100, 2, index, leds);
    red_cyan.or_else(|| {
        two_colours(
            GREEN,
            Rgb::from_u24(0x0000FF),
            100,
            2,
            index.checked_sub(4)?,
            leds,
        )
    })
}

fn pause(index: u32, leds: usize) -> Option<EffectFrame> {
    const HOLDS_MS: [u64; 4] = [80, 153, 226, 300];
    let pixel = usize::try_from(index).ok()?;
    match HOLDS_MS.get(pixel) {
        Some(hold) => Some(single(AMBER, pixel, *hold, leds)),
        None => (pixel == HOLDS_MS.len()).then(|| single(RED, leds.saturating_sub(1), 500, leds)),
    }
}

fn resume(index: u32, leds: usize) -> Option<EffectFrame> {
    const HOLDS_MS: [u64; 4] = [300, 227, 154, 80];
    let Some(pixel) = index.checked_sub(1) else {
        return Some(single(RED, 0, 500, leds));
    };
    let pixel = usize::try_from(pixel).ok()?;
    let hold = HOLDS_MS.get(pixel)?;
    Some(single(DARK_GREEN, pixel, *hold, leds))
}

fn pulse(color: Rgb, index: u32, leds: usize) -> Option<EffectFrame> {
    let (step, time_ms) = match index {
        0..PULSE_STEPS => (index + 1, PULSE_STEP_MS),
        PULSE_STEPS => (PULSE_STEPS, PULSE_HOLD_MS),
        _ => (PULSE_STEPS.checked_sub(index - PULSE_STEPS)?, PULSE_STEP_MS),
    };
    (index <= 2 * PULSE_STEPS).then(|| EffectFrame {
        share: (step, PULSE_STEPS),
        ..uniform(color, time_ms, leds)
    })
}

//! A flash of the frontlight, staggered over the panels.

use core::time::Duration;

/// Change of duty per step of a fade or flash.
pub(super) const STEP: u32 = 25;

/// A flash: the light goes up and down once, panel after panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flash {
    pub(super) panels: usize,
    /// Largest duty.
    pub(super) peak: u16,
    /// It starts by going up, because the light is off.
    pub(super) rising_first: bool,
    /// Pause between its halves.
    pub(super) hold: Duration,
    /// Time of one step.
    pub(super) tick: Duration,
    /// Uptime of its start.
    pub(super) started: Duration,
}

/// Phase of a flash, and the ticks since the start of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlashPhase {
    First(u32),
    Held,
    Second(u32),
}

impl Flash {
    fn half(self) -> Duration {
        self.tick * ticks_per_half(self.panels, self.peak)
    }

    /// Uptime of its end.
    pub(super) fn ends(self) -> Duration {
        self.started + self.half() * 2 + self.hold
    }

    fn phase(self, uptime: Duration) -> FlashPhase {
        let elapsed = uptime.saturating_sub(self.started);
        let half = self.half();
        if let Some(since) = elapsed.checked_sub(half + self.hold) {
            FlashPhase::Second(elapsed_ticks(since, self.tick))
        } else if elapsed < half {
            FlashPhase::First(elapsed_ticks(elapsed, self.tick))
        } else {
            FlashPhase::Held
        }
    }

    /// Uptime of the next change.
    pub(super) fn next_change(self, uptime: Duration) -> Duration {
        let second = self.started + self.half() + self.hold;
        match self.phase(uptime) {
            FlashPhase::First(tick) => self.started + self.tick * (tick + 1),
            FlashPhase::Held => second,
            FlashPhase::Second(tick) => second + self.tick * (tick + 1),
        }
    }

    /// Duty of a panel.
    pub(super) fn duty(self, panel: usize, uptime: Duration) -> u16 {
        let (rising, tick) = match self.phase(uptime) {
            FlashPhase::First(tick) => (self.rising_first, tick),
            FlashPhase::Held => (self.rising_first, u32::MAX / STEP),
            FlashPhase::Second(tick) => (!self.rising_first, tick),
        };
        if rising {
            rising_duty(tick, panel, self.panels, self.peak)
        } else {
            falling_duty(tick, panel, self.panels, self.peak)
        }
    }
}

/// Time of one step of a flash.
pub(super) fn flash_tick(effect_delay_ms: u32, panels: usize) -> Duration {
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

/// Difference of the duties of neighbouring panels.
fn stagger(panels: usize, peak: u16) -> u32 {
    let panels = u32::try_from(panels).unwrap_or(1).max(1);
    u32::from(peak) / panels
}

fn ticks_per_half(panels: usize, peak: u16) -> u32 {
    let others = u32::try_from(panels.saturating_sub(1)).unwrap_or_default();
    (u32::from(peak) + others * stagger(panels, peak)) / STEP + 1
}

fn rising_duty(tick: u32, panel: usize, panels: usize, peak: u16) -> u16 {
    let Some(behind) = u32::try_from(panel).ok().filter(|_| panel < panels) else {
        return 0;
    };
    let level = tick
        .saturating_mul(STEP)
        .saturating_sub(behind * stagger(panels, peak));
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
        .saturating_add(from_last * stagger(panels, peak));
    u16::try_from(u32::from(peak).saturating_sub(gone)).unwrap_or_default()
}

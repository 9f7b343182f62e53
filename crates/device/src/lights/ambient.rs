//! Decides from the ambient light whether the frontlight should be on.

use crate::settings::Settings;

/// A room is dark below this, thousandths of a lux.
pub const DARK_BELOW: u32 = 1_000;

/// A dark room stays dark below this, thousandths of a lux.
const DARK_UNTIL: u32 = 2_000;

/// A decision by the ambient light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmbientDecision {
    /// On, because the room is dim.
    On,
    /// Off, because the room is bright.
    Off,
    /// Off, because the room is dark, as at night.
    DarkOff,
}

/// The ambient light. Whether the room is dark has hysteresis, so that light at the limit does not cause flicker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ambient {
    /// The newest reading, thousandths of a lux. `None` if no sensor answers.
    millilux: Option<u32>,
    dark: bool,
}

impl Ambient {
    /// Whether the room is dark.
    pub fn is_dark(self) -> bool {
        self.dark
    }

    /// Records a reading, thousandths of a lux; `None` if no sensor answers.
    pub fn sense(&mut self, millilux: Option<u32>, settings: &Settings) {
        self.millilux = millilux;
        self.apply_settings(settings);
    }

    /// Applies changed settings.
    pub fn apply_settings(&mut self, settings: &Settings) {
        if settings.lux_light_toggle == 0 || !settings.fl_off_when_dark {
            self.dark = false;
        } else if let Some(millilux) = self.millilux {
            let limit = if self.dark { DARK_UNTIL } else { DARK_BELOW };
            self.dark = millilux < limit;
        }
    }

    /// The decision, if it differs from the current state. `lit`: the frontlight is on. `held_off`: the owner has switched it
    /// off by hand.
    pub fn decision(
        self,
        lit: bool,
        held_off: bool,
        settings: &Settings,
    ) -> Option<AmbientDecision> {
        let on = || (!lit && !held_off).then_some(AmbientDecision::On);
        if self.dark {
            return lit.then_some(AmbientDecision::DarkOff);
        }
        // Only darkness switches off a light that is always on, or one without a limit.
        if settings.fl_always_on || settings.lux_light_toggle == 0 {
            return on();
        }
        let lux = self.millilux? / 1000;
        match lux.cmp(&settings.lux_light_toggle) {
            core::cmp::Ordering::Less => on(),
            core::cmp::Ordering::Greater => lit.then_some(AmbientDecision::Off),
            core::cmp::Ordering::Equal => None,
        }
    }
}

//! What the light in the room asks of the frontlight: a question that can be asked at any time.

use crate::settings::Settings;

/// Below this the room is dark, thousandths of a lux.
const DARK_BELOW: u32 = 1_000;

/// From this on a dark room is bright enough again, thousandths of a lux.
const DARK_UNTIL: u32 = 2_000;

/// Whether the ambient light calls for the frontlight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmbientDecision {
    /// Light: the room is dim.
    On,
    /// No light: the room is bright.
    Off,
    /// No light: the room is dark, and somebody may be asleep in it.
    DarkOff,
}

/// What is known of the room; remembers whether it is dark, so that light at the limit does not make it flicker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ambient {
    /// The newest reading, thousandths of a lux; none while no sensor answers.
    millilux: Option<u32>,
    dark: bool,
}

impl Ambient {
    /// Tells whether the room is taken to be dark.
    pub fn is_dark(self) -> bool {
        self.dark
    }

    /// Takes note of a reading, thousandths of a lux; none if no sensor answers.
    pub fn sense(&mut self, millilux: Option<u32>, settings: &Settings) {
        self.millilux = millilux;
        self.follow(settings);
    }

    /// Follows the settings.
    pub fn follow(&mut self, settings: &Settings) {
        if settings.lux_light_toggle == 0 || !settings.fl_off_when_dark {
            self.dark = false;
        } else if let Some(millilux) = self.millilux {
            let limit = if self.dark { DARK_UNTIL } else { DARK_BELOW };
            self.dark = millilux < limit;
        }
    }

    /// What the room asks for; `lit` tells whether the frontlight is on, `held_off` that the owner switched it off by
    /// hand.
    pub fn wish(self, lit: bool, held_off: bool, settings: &Settings) -> Option<AmbientDecision> {
        let on = || (!lit && !held_off).then_some(AmbientDecision::On);
        if self.dark {
            return lit.then_some(AmbientDecision::DarkOff);
        }
        // Nothing but the dark switches a light off that is always on, or one that does not mind the room.
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

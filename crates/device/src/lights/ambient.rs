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

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings in lux times ten with whether the light is on before, and what is asked for.
    fn check(
        toggle: u32,
        off_when_dark: bool,
        held_off: bool,
        rows: &[(u32, bool, Option<AmbientDecision>)],
    ) -> Ambient {
        let settings = Settings {
            lux_light_toggle: toggle,
            fl_off_when_dark: off_when_dark,
            fl_always_on: false,
            ..Settings::default()
        };
        let mut ambient = Ambient::default();
        for (decilux, lit, wish) in rows {
            ambient.sense(Some(decilux * 100), &settings);
            let told = ambient.wish(*lit, held_off, &settings);
            assert_eq!(told, *wish, "{decilux} of {rows:?}");
        }
        ambient
    }

    #[test]
    fn readings_are_judged_as_in_the_table() {
        let none = |readings: &[u32], lit| {
            readings
                .iter()
                .map(|lux| (lux * 10, lit, None))
                .collect::<alloc::vec::Vec<_>>()
        };
        check(0, true, false, &none(&[0, 1, 50, 200], true));
        check(
            100,
            false,
            false,
            &[
                (100, false, Some(AmbientDecision::On)),
                (5000, true, Some(AmbientDecision::Off)),
            ],
        );
        let dark = check(
            128,
            true,
            false,
            &[
                (0, true, Some(AmbientDecision::DarkOff)),
                (0, false, None),
                (5, false, None),
            ],
        );
        assert!(dark.is_dark());
        // Dark begins below one lux.
        assert!(!check(128, true, false, &[(10, true, None)]).is_dark());
        assert!(
            check(
                128,
                true,
                false,
                &[(9, true, Some(AmbientDecision::DarkOff))]
            )
            .is_dark()
        );
        assert!(!check(128, true, false, &[(50, false, Some(AmbientDecision::On))]).is_dark());
        assert!(!check(128, false, false, &[(0, false, Some(AmbientDecision::On))]).is_dark());
        let bright = check(
            128,
            true,
            false,
            &[
                (5, true, Some(AmbientDecision::DarkOff)),
                (10, false, None),
                (15, false, None),
                (20, false, Some(AmbientDecision::On)),
            ],
        );
        assert!(!bright.is_dark());
        assert!(check(128, true, false, &[(0, false, None)]).is_dark());
        check(128, true, true, &none(&[10, 20, 50, 500], false));
        assert!(check(128, true, true, &[(0, false, None), (5, false, None)]).is_dark());
        assert!(
            !check(
                128,
                true,
                false,
                &[(5000, true, Some(AmbientDecision::Off))]
            )
            .is_dark()
        );
        check(128, true, false, &[(1280, false, None), (1280, true, None)]);
    }

    /// What a room asks for after its owner has changed the settings, with the light on and off.
    #[test]
    fn settings_are_judged_in_steady_light() {
        let base = Settings {
            fl_always_on: false,
            ..Settings::default()
        };
        let always = Settings::default();
        let toggle = |lux| Settings {
            lux_light_toggle: lux,
            ..base.clone()
        };
        let awake = Settings {
            fl_off_when_dark: false,
            ..base.clone()
        };
        let (on, off, dark) = (
            Some(AmbientDecision::On),
            Some(AmbientDecision::Off),
            Some(AmbientDecision::DarkOff),
        );
        for (millilux, settings, lit, unlit) in [
            (Some(300_000), &base, off, None),
            (Some(300_000), &always, None, on),
            (Some(300_000), &toggle(301), None, on),
            (Some(300_000), &toggle(300), None, None),
            (Some(300_000), &toggle(299), off, None),
            (Some(300_000), &toggle(0), None, on),
            (Some(500), &base, dark, None),
            (Some(500), &always, dark, None),
            (Some(500), &toggle(0), None, on),
            (Some(500), &awake, None, on),
            (None, &base, None, None),
            (None, &always, None, on),
        ] {
            let mut ambient = Ambient::default();
            ambient.sense(millilux, &base);
            ambient.follow(settings);
            assert_eq!(ambient.wish(true, false, settings), lit, "{millilux:?}");
            assert_eq!(ambient.wish(false, false, settings), unlit, "{millilux:?}");
            assert!(ambient.wish(false, true, settings).is_none(), "held off");
        }
    }
}

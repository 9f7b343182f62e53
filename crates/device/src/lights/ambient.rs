//! What the light in the room asks of the frontlight.

use crate::settings::Settings;

/// Below this the room is dark, thousandths of a lux.
const DARK_BELOW: u32 = 1_000;

/// From this on a dark room is bright enough again, thousandths of a lux.
const DARK_UNTIL: u32 = 2_000;

/// What the light in the room asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Light: the room is dim.
    On,
    /// No light: the room is bright.
    Off,
    /// No light: the room is dark, and somebody may be asleep in it.
    DarkOff,
}

/// Remembers whether the room is dark, so that light at the limit does not make it flicker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ambient {
    dark: bool,
}

impl Ambient {
    /// Tells whether the room is taken to be dark.
    pub fn is_dark(self) -> bool {
        self.dark
    }

    /// Judges a reading; `lit` tells whether the frontlight is on, `held_off` that the owner switched it off by hand.
    pub fn judge(
        &mut self,
        millilux: u32,
        lit: bool,
        held_off: bool,
        settings: &Settings,
    ) -> Option<Wish> {
        if settings.lux_light_toggle == 0 {
            return None;
        }
        if !settings.fl_off_when_dark {
            self.dark = false;
        } else if self.dark {
            if millilux < DARK_UNTIL {
                return lit.then_some(Wish::DarkOff);
            }
            self.dark = false;
        } else if millilux < DARK_BELOW {
            self.dark = true;
            return lit.then_some(Wish::DarkOff);
        }
        let lux = millilux / 1000;
        match lux.cmp(&settings.lux_light_toggle) {
            core::cmp::Ordering::Less => (!lit && !held_off).then_some(Wish::On),
            core::cmp::Ordering::Greater => lit.then_some(Wish::Off),
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
        rows: &[(u32, bool, Option<Wish>)],
    ) -> Ambient {
        let settings = Settings {
            lux_light_toggle: toggle,
            fl_off_when_dark: off_when_dark,
            ..Settings::default()
        };
        let mut ambient = Ambient::default();
        for (decilux, lit, wish) in rows {
            let told = ambient.judge(decilux * 100, *lit, held_off, &settings);
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
            &[(100, false, Some(Wish::On)), (5000, true, Some(Wish::Off))],
        );
        let dark = check(
            128,
            true,
            false,
            &[
                (0, true, Some(Wish::DarkOff)),
                (0, false, None),
                (5, false, None),
            ],
        );
        assert!(dark.is_dark());
        assert!(!check(128, true, false, &[(50, false, Some(Wish::On))]).is_dark());
        assert!(!check(128, false, false, &[(0, false, Some(Wish::On))]).is_dark());
        let bright = check(
            128,
            true,
            false,
            &[
                (5, true, Some(Wish::DarkOff)),
                (10, false, None),
                (15, false, None),
                (20, false, Some(Wish::On)),
            ],
        );
        assert!(!bright.is_dark());
        assert!(check(128, true, false, &[(0, false, None)]).is_dark());
        check(128, true, true, &none(&[10, 20, 50, 500], false));
        assert!(check(128, true, true, &[(0, false, None), (5, false, None)]).is_dark());
        assert!(!check(128, true, false, &[(5000, true, Some(Wish::Off))]).is_dark());
        check(128, true, false, &[(1280, false, None), (1280, true, None)]);
    }
}

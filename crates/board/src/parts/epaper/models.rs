//! The panels that are supported, and known ones that are not.

use std::time::Duration;

use device::refresh::Refresh;

use super::FullWaveform;
use crate::parts::mcp23017::LineLevel;

/// Highest clock rate, Hz.
pub const HZ_MAX: u32 = 20_000_000;

/// Shortest time after which a busy panel is stuck.
const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// Shortest time to wait for a refresh that may be under way.
const REFRESH_LIMIT: Duration = Duration::from_secs(5);

/// Added to twice the normal time of a refresh, for the intervals of the polls of the busy line.
const SLOW_MARGIN: Duration = Duration::from_millis(250);

/// A supported panel.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name in wiring files.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Width in the order of the controller, px.
    pub width: u16,
    /// Height in the order of the controller, px.
    pub height: u16,
    pub family: Family,
    /// Durations of its refreshes at room temperature.
    pub times: Times,
    /// When it gets a full refresh by itself.
    pub care: Care,
}

/// Controllers with the same commands, and the values of their registers.
#[derive(Debug, PartialEq, Eq)]
pub enum Family {
    Ssd16xx(Ssd16xx),
    Uc8179(Uc8179),
}

/// Commands with their parameters.
pub type Registers = &'static [(u8, &'static [u8])];

/// SSD1680 and its larger siblings.
#[derive(Debug, PartialEq, Eq)]
pub struct Ssd16xx {
    /// Bytes of a row of a plane.
    pub row_bytes: u8,
    /// Number of lines of a plane.
    pub lines: u16,
    /// Order in which the lines are driven.
    pub line_order: u8,
    /// Registers before a full refresh.
    pub full: Registers,
    /// Registers before a partial refresh.
    pub partial: Registers,
    /// Temperature of the short full refresh, if it was ever tried on this panel.
    pub warm: Option<&'static [u8]>,
}

/// UC8179 and GD7965.
#[derive(Debug, PartialEq, Eq)]
pub struct Uc8179 {
    /// Registers before every refresh.
    pub registers: Registers,
}

/// Durations of the refreshes of a panel, with the supply off before and after.
#[derive(Debug, PartialEq, Eq)]
pub struct Times {
    /// Full refresh with the waveform for the measured temperature.
    pub full: Duration,
    /// Full refresh with the waveform for high temperatures; `None` if it was never measured on this panel.
    pub fast_full: Option<Duration>,
    /// Partial refresh that switches the supply on and leaves it on.
    pub partial: Duration,
    /// Switching the supply on.
    pub power_on: Duration,
    /// Switching the supply off.
    pub power_off: Duration,
}

impl Times {
    /// Partial refresh with the supply off before and after.
    pub const fn whole_partial(&self) -> Duration {
        self.partial.saturating_add(self.power_off)
    }
}

/// When panels get a full refresh, beyond the settings of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Care {
    /// Number of partial refreshes before a full one; 0 for no limit.
    pub partials_max: u32,
    /// Longest time between full ones; zero for no limit.
    pub full_every: Duration,
}

impl Care {
    /// No limits, for panels without ghosting.
    pub const NONE: Care = Care {
        partials_max: 0,
        full_every: Duration::ZERO,
    };

    /// A full refresh a day, and one after some partial ones.
    const fn daily(partials_max: u32) -> Care {
        Care {
            partials_max,
            full_every: Duration::from_secs(24 * 60 * 60),
        }
    }
}

impl Model {
    /// Level of its busy line while it is busy.
    pub fn busy(&self) -> LineLevel {
        match self.family {
            Family::Ssd16xx(_) => LineLevel::High,
            Family::Uc8179(_) => LineLevel::Low,
        }
    }

    /// Duration of a refresh, with the supply off before and after.
    pub fn refresh_time(&self, refresh: Refresh, full: FullWaveform) -> Duration {
        match (refresh, full, self.times.fast_full) {
            (Refresh::Partial, _, _) => self.times.whole_partial(),
            (Refresh::Full, FullWaveform::Warm, Some(fast)) => fast,
            (Refresh::Full, _, _) => self.times.full,
        }
    }

    /// Time of its busy signal after which a refresh is too slow.
    pub fn slow_limit(&self, refresh: Refresh, full: FullWaveform) -> Duration {
        let time = self.refresh_time(refresh, full);
        let busy = match self.family {
            Family::Ssd16xx(_) => time,
            // The supply is switched by other commands.
            Family::Uc8179(_) => time - self.times.power_on - self.times.power_off,
        };
        2 * busy + SLOW_MARGIN
    }

    /// Longest time to wait for a refresh that may be under way.
    pub fn refresh_limit(&self) -> Duration {
        (2 * self.times.full + SLOW_MARGIN).max(REFRESH_LIMIT)
    }

    /// Time after which a busy panel is stuck.
    pub fn busy_limit(&self) -> Duration {
        BUSY_LIMIT.max(3 * self.times.full)
    }

    /// Largest first byte of a row of the controller that can be on the panel.
    pub fn x_offset_max(&self) -> u8 {
        match &self.family {
            Family::Ssd16xx(controller) => {
                let bytes = self.width.div_ceil(8) as u8;
                controller.row_bytes.saturating_sub(bytes + 1)
            }
            Family::Uc8179(_) => 0,
        }
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The middle columns of an SSD1680, the borders as the makers do.
const SSD1680: Family = Family::Ssd16xx(Ssd16xx {
    row_bytes: 22,
    lines: 296,
    line_order: 0x00,
    full: &[(0x3C, &[0x05]), (0x21, &[0x00, 0x80]), (0x18, &[0x80])],
    partial: &[(0x3C, &[0x80]), (0x21, &[0x00, 0x80]), (0x18, &[0x80])],
    warm: Some(&[0x64]),
});

/// All supported panels; the first is the default.
pub static MODELS: &[Model] = &[
    Model {
        id: "gdey0213b74",
        name: "GDEY0213B74, 2.13 in",
        width: 122,
        height: 250,
        family: SSD1680,
        times: Times {
            full: ms(2000),
            fast_full: Some(ms(1617)),
            partial: ms(457),
            power_on: ms(95),
            power_off: ms(140),
        },
        care: Care::daily(200),
    },
    Model {
        id: "gdem0213b74",
        name: "GDEM0213B74, 2.13 in",
        width: 122,
        height: 250,
        family: SSD1680,
        times: Times {
            full: ms(3502),
            fast_full: None,
            partial: ms(455),
            power_on: ms(95),
            power_off: ms(140),
        },
        care: Care::daily(200),
    },
    Model {
        id: "waveshare-2.13-v4",
        name: "Waveshare 2.13 in V4",
        width: 122,
        height: 250,
        family: SSD1680,
        times: Times {
            full: ms(2000),
            fast_full: None,
            partial: ms(457),
            power_on: ms(95),
            power_off: ms(140),
        },
        care: Care::daily(200),
    },
    Model {
        id: "gdey029t94",
        name: "GDEY029T94, 2.9 in",
        width: 128,
        height: 296,
        family: SSD1680,
        times: Times {
            full: ms(2000),
            fast_full: Some(ms(1715)),
            partial: ms(362),
            power_on: ms(96),
            power_off: ms(140),
        },
        care: Care::daily(200),
    },
    Model {
        id: "waveshare-7.5-v2",
        name: "Waveshare 7.5 in V2",
        width: 800,
        height: 480,
        family: Family::Uc8179(Uc8179 {
            registers: &[
                // 15 V both ways, as GxEPD2 and Adafruit. Waveshare sends 28 17, which is not symmetric.
                (0x01, &[0x07, 0x07, 0x3F, 0x3F]),
                // Waveshare sends another value before fast refreshes, GxEPD2 this one before all.
                (0x06, &[0x17, 0x17, 0x28, 0x17]),
                (0x15, &[0x00]),
                (0x60, &[0x22]),
            ],
        }),
        times: Times {
            full: ms(4277),
            fast_full: Some(ms(1340)),
            partial: ms(564),
            power_on: ms(129),
            power_off: ms(40),
        },
        care: Care::daily(5),
    },
];

/// Common panels that are not supported, with the reason.
pub static REFUSED_MODELS: &[(&str, &str)] = &[
    (
        "depg0213bn",
        "it has no built-in waveform for partial refreshes",
    ),
    (
        "gdem029t94",
        "it has no built-in waveform for partial refreshes",
    ),
    (
        "depg0290bs",
        "it is unknown whether it has a waveform for partial refreshes",
    ),
    (
        "waveshare-2.13-v2",
        "its controller, the SSD1675, is not supported",
    ),
    (
        "waveshare-2.13-v3",
        "it has no built-in waveform for partial refreshes",
    ),
    (
        "waveshare-2.9-v2",
        "it has no built-in waveform for partial refreshes",
    ),
    ("gdew029t5d", "its controller, the UC8151, is not supported"),
    (
        "gdew0213i5f",
        "its controller, the UC8151, is not supported",
    ),
    (
        "gdeh0213b73",
        "its controller, the SSD1675, is not supported",
    ),
    (
        "gdew075t7",
        "it has no built-in waveform for partial refreshes",
    ),
];

/// Looks up a panel by its name.
pub fn find(id: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.id == id)
}

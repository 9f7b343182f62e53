//! The panels that are supported, and known ones that are not.

use std::time::Duration;

use device::refresh::Refresh;

use super::FullWaveform;
use crate::parts::mcp23017::LineLevel;

/// Highest clock rate, Hz.
pub const HZ_MAX: u32 = 20_000_000;

/// Shortest time after which a busy panel is stuck.
const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// Time after which a busy panel with colours is stuck. The first refresh of one took 100 s.
const COLOUR_BUSY_LIMIT: Duration = Duration::from_secs(130);

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
    /// UC8179 and GD7965; has the registers before every refresh.
    Uc8179(Registers),
    /// Six or seven colours, only full refreshes; has the registers before each.
    Colour(Registers),
}

/// Commands with their parameters.
pub type Registers = &'static [(u8, &'static [u8])];

/// SSD1680 and its larger siblings.
#[derive(Debug, PartialEq, Eq)]
pub struct Ssd16xx {
    pub chips: ChipCount,
    /// Bytes of a row of a plane.
    pub row_bytes: u8,
    /// Number of lines of a plane.
    pub lines: u16,
    /// Order in which the lines are driven; `None` if the number of lines is never sent.
    pub line_order: Option<u8>,
    /// Unit of its horizontal addresses.
    pub x_unit: XUnit,
    /// Line at which a picture begins.
    pub begins: LineEnd,
    /// Registers before a full refresh.
    pub full: Registers,
    /// Registers before a partial refresh.
    pub partial: Registers,
    /// Temperature of the short full refresh.
    pub warm: &'static [u8],
}

/// Number of controllers of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChipCount {
    One,
    /// Two in a row on the same lines. Both receive all commands but those of the planes, which are others for the second.
    Two,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XUnit {
    Bytes,
    Pixels,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    First,
    Last,
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
    /// Least time between two refreshes; zero for no limit.
    pub interval: Duration,
}

impl Care {
    /// No limits, for panels without ghosting.
    pub const NONE: Care = Care {
        partials_max: 0,
        full_every: Duration::ZERO,
        interval: Duration::ZERO,
    };

    /// A panel without partial refreshes, which its makers want to rest.
    const SLOW: Care = Care {
        interval: Duration::from_secs(180),
        ..Care::daily(0)
    };

    /// A full refresh a day, and one after some partial ones.
    const fn daily(partials_max: u32) -> Care {
        Care {
            partials_max,
            full_every: Duration::from_secs(24 * 60 * 60),
            interval: Duration::ZERO,
        }
    }
}

impl Model {
    /// Level of its busy line while it is busy.
    pub fn busy(&self) -> LineLevel {
        match self.family {
            Family::Ssd16xx(_) => LineLevel::High,
            Family::Uc8179(_) | Family::Colour(_) => LineLevel::Low,
        }
    }

    /// Duration of a refresh, with the supply off before and after.
    pub fn refresh_time(&self, refresh: Refresh, full: FullWaveform) -> Duration {
        match (self.refresh(refresh), full, self.times.fast_full) {
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
            Family::Uc8179(_) | Family::Colour(_) => {
                time - self.times.power_on - self.times.power_off
            }
        };
        2 * busy + SLOW_MARGIN
    }

    /// Longest time to wait at the start for a refresh of an earlier run. A panel in deep sleep looks the same, and a restart
    /// with one should not take long.
    pub fn earlier_refresh_limit(&self) -> Duration {
        (self.times.full * 5 / 4).max(REFRESH_LIMIT)
    }

    /// Longest time to wait for a refresh that is under way.
    pub fn refresh_limit(&self) -> Duration {
        (2 * self.times.full + SLOW_MARGIN).max(REFRESH_LIMIT)
    }

    /// Time after which a busy panel is stuck.
    pub fn busy_limit(&self) -> Duration {
        match self.family {
            Family::Ssd16xx(_) | Family::Uc8179(_) => BUSY_LIMIT.max(3 * self.times.full),
            Family::Colour(_) => COLOUR_BUSY_LIMIT,
        }
    }

    /// The refresh that it does when one is requested.
    pub fn refresh(&self, requested: Refresh) -> Refresh {
        match self.family {
            Family::Ssd16xx(_) | Family::Uc8179(_) => requested,
            Family::Colour(_) => Refresh::Full,
        }
    }

    /// Largest first byte of a row of the controller that can be on the panel.
    pub fn x_offset_max(&self) -> u8 {
        match &self.family {
            Family::Ssd16xx(controller) if controller.row_bytes == SSD1680_ROW => {
                let bytes = self.width.div_ceil(8) as u8;
                controller.row_bytes - bytes - 1
            }
            Family::Ssd16xx(_) | Family::Uc8179(_) | Family::Colour(_) => 0,
        }
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Bytes of a row of an SSD1680, which has more columns than its panels.
pub const SSD1680_ROW: u8 = 22;

/// The middle columns of an SSD1680, the borders as the makers do.
const SSD1680: Family = Family::Ssd16xx(Ssd16xx {
    chips: ChipCount::One,
    row_bytes: SSD1680_ROW,
    lines: 296,
    line_order: Some(0x00),
    x_unit: XUnit::Bytes,
    begins: LineEnd::First,
    full: &[(0x3C, &[0x05]), (0x21, &[0x00, 0x80]), (0x18, &[0x80])],
    partial: &[(0x3C, &[0x80]), (0x21, &[0x00, 0x80]), (0x18, &[0x80])],
    warm: &[0x64],
});

/// One SSD1683. A full refresh ignores the old plane, as all makers but Pimoroni do it.
const SSD1683: Family = Family::Ssd16xx(Ssd16xx {
    chips: ChipCount::One,
    row_bytes: 50,
    lines: 300,
    line_order: Some(0x00),
    x_unit: XUnit::Bytes,
    begins: LineEnd::First,
    full: &[(0x3C, &[0x05]), (0x21, &[0x40, 0x00]), (0x18, &[0x80])],
    partial: &[(0x3C, &[0x80]), (0x21, &[0x00, 0x00]), (0x18, &[0x80])],
    warm: &[0x6E],
});

/// Times of the GDEY042T81. The full refresh is the maker's 4 s, not a measured time.
const GDEY042T81: Times = Times {
    full: ms(4000),
    fast_full: Some(ms(1140)),
    partial: ms(358),
    power_on: ms(96),
    power_off: ms(268),
};

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
        id: "waveshare-4.2-v2",
        name: "Waveshare 4.2 in V2",
        width: 400,
        height: 300,
        family: SSD1683,
        times: GDEY042T81,
        care: Care::daily(5),
    },
    Model {
        id: "inky-what",
        name: "Pimoroni Inky wHAT with SSD1683",
        width: 400,
        height: 300,
        // Pimoroni sends voltages of its own; those in the panel are used here, as on the same panel of Waveshare.
        family: SSD1683,
        times: GDEY042T81,
        care: Care::daily(5),
    },
    Model {
        id: "waveshare-4.26",
        name: "Waveshare 4.26 in",
        width: 800,
        height: 480,
        family: Family::Ssd16xx(Ssd16xx {
            chips: ChipCount::One,
            row_bytes: 120,
            lines: 680,
            line_order: Some(0x02),
            x_unit: XUnit::Pixels,
            begins: LineEnd::Last,
            // The last byte of 0C as Waveshare and GxEPD2; Adafruit and epdsi send 40.
            full: &[
                (0x0C, &[0xAE, 0xC7, 0xC3, 0xC0, 0x80]),
                (0x3C, &[0x01]),
                (0x21, &[0x40, 0x00]),
                (0x18, &[0x80]),
            ],
            partial: &[
                (0x0C, &[0xAE, 0xC7, 0xC3, 0xC0, 0x80]),
                (0x3C, &[0x80]),
                (0x21, &[0x00, 0x00]),
                (0x18, &[0x80]),
            ],
            warm: &[0x5A],
        }),
        // The full refresh is the maker's 3.5 s, not a measured time.
        times: Times {
            full: ms(3500),
            fast_full: Some(ms(1567)),
            partial: ms(500),
            power_on: ms(84),
            power_off: ms(139),
        },
        care: Care::daily(5),
    },
    Model {
        id: "waveshare-5.79",
        name: "Waveshare 5.79 in",
        width: 792,
        height: 272,
        family: Family::Ssd16xx(Ssd16xx {
            chips: ChipCount::Two,
            row_bytes: 50,
            lines: 300,
            line_order: None,
            x_unit: XUnit::Bytes,
            begins: LineEnd::Last,
            // The second byte of 21 couples the two, as GxEPD2; without it parts of the glass did not refresh for others.
            full: &[(0x21, &[0x40, 0x10]), (0x18, &[0x80])],
            partial: &[(0x3C, &[0x80]), (0x21, &[0x00, 0x10]), (0x18, &[0x80])],
            warm: &[0x64, 0x00],
        }),
        // The full refresh is an estimate: twice the short one.
        times: Times {
            full: ms(4400),
            fast_full: Some(ms(2184)),
            partial: ms(421),
            power_on: ms(96),
            power_off: ms(268),
        },
        care: Care::daily(5),
    },
    Model {
        id: "waveshare-5.83-v2",
        name: "Waveshare 5.83 in V2",
        width: 648,
        height: 480,
        // Waveshare leaves the voltages at the values of the panel.
        family: Family::Uc8179(&[]),
        // The short full and the partial refresh are estimates: only refreshes with uploaded waveforms were measured.
        times: Times {
            full: ms(4282),
            fast_full: Some(ms(1674)),
            partial: ms(1134),
            power_on: ms(134),
            power_off: ms(40),
        },
        care: Care::daily(5),
    },
    Model {
        id: "waveshare-7.5-v2",
        name: "Waveshare 7.5 in V2",
        width: 800,
        height: 480,
        family: Family::Uc8179(&[
            // 15 V both ways, as GxEPD2 and Adafruit. Waveshare sends 28 17, which is not symmetric.
            (0x01, &[0x07, 0x07, 0x3F, 0x3F]),
            // Waveshare sends another value before fast refreshes, GxEPD2 this one before all.
            (0x06, &[0x17, 0x17, 0x28, 0x17]),
            (0x15, &[0x00]),
            (0x60, &[0x22]),
        ]),
        times: Times {
            full: ms(4277),
            fast_full: Some(ms(1340)),
            partial: ms(564),
            power_on: ms(129),
            power_off: ms(40),
        },
        care: Care::daily(5),
    },
    Model {
        id: "waveshare-7.3-e",
        name: "Waveshare 7.3 in E, six colours",
        width: 800,
        height: 480,
        family: Family::Colour(&[
            (0xAA, &[0x49, 0x55, 0x20, 0x08, 0x09, 0x18]),
            (0x01, &[0x3F]),
            (0x00, &[0x5F, 0x69]),
            (0x03, &[0x00, 0x54, 0x00, 0x44]),
            (0x05, &[0x40, 0x1F, 0x1F, 0x2C]),
            (0x06, &[0x6F, 0x1F, 0x17, 0x49]),
            (0x08, &[0x6F, 0x1F, 0x1F, 0x22]),
            // Pimoroni runs it faster, at the cost of blue and green.
            (0x30, &[0x03]),
            (0x50, &[0x3F]),
            (0x60, &[0x02, 0x00]),
            (0x84, &[0x01]),
            (0xE3, &[0x2F]),
        ]),
        // 19 s on a Raspberry Pi, 12.5 s by GxEPD2.
        times: Times {
            full: ms(19_000),
            fast_full: None,
            partial: ms(18_855),
            power_on: ms(172),
            power_off: ms(145),
        },
        care: Care::SLOW,
    },
    Model {
        id: "waveshare-7.3-f",
        name: "Waveshare 7.3 in F, seven colours",
        width: 800,
        height: 480,
        family: Family::Colour(&[
            (0xAA, &[0x49, 0x55, 0x20, 0x08, 0x09, 0x18]),
            (0x01, &[0x3F, 0x00, 0x32, 0x2A, 0x0E, 0x2A]),
            (0x00, &[0x5F, 0x69]),
            (0x03, &[0x00, 0x54, 0x00, 0x44]),
            (0x05, &[0x40, 0x1F, 0x1F, 0x2C]),
            (0x06, &[0x6F, 0x1F, 0x1F, 0x22]),
            (0x08, &[0x6F, 0x1F, 0x1F, 0x22]),
            (0x13, &[0x00, 0x04]),
            (0x30, &[0x3C]),
            (0x41, &[0x00]),
            (0x50, &[0x3F]),
            (0x60, &[0x02, 0x00]),
            (0x82, &[0x1E]),
            (0x84, &[0x00]),
            (0x86, &[0x00]),
            (0xE3, &[0x2F]),
            (0xE0, &[0x00]),
            (0xE6, &[0x00]),
        ]),
        times: Times {
            full: ms(39_175),
            fast_full: None,
            partial: ms(39_030),
            power_on: ms(172),
            power_off: ms(145),
        },
        care: Care::SLOW,
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
    (
        "waveshare-7.5-v2-old",
        "it has no built-in waveform for partial refreshes",
    ),
    (
        "waveshare-4.2-v1",
        "its controller, a UC8176, is not supported",
    ),
    (
        "waveshare-13.3-k",
        "it has no built-in waveform for partial refreshes",
    ),
    (
        "waveshare-10.85",
        "its controllers, two JD79686, are not supported",
    ),
    (
        "it8951",
        "controllers with a frame buffer are not supported",
    ),
    (
        "waveshare-7.5-b-v2",
        "partial refreshes of a panel with a third colour were never tried for long",
    ),
    (
        "waveshare-5.79-b",
        "partial refreshes of a panel with a third colour were never tried for long",
    ),
    (
        "waveshare-5.79-g",
        "its controller, an HX8717, is not supported",
    ),
    (
        "inky-phat",
        "it has no built-in waveform for partial refreshes",
    ),
];

/// Looks up a panel by its name.
pub fn find(id: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.id == id)
}

//! The panels that are supported, and known ones that are not.

use std::time::Duration;

/// Number of lines of a controller.
pub const LINES_MAX: u16 = 296;

/// Bytes of a row of a bank.
pub const ROW_BYTES: u8 = 22;

/// Highest clock rate, Hz.
pub const HZ_MAX: u32 = 20_000_000;

/// A supported panel.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name in wiring files.
    pub id: &'static str,
    /// Width, px.
    pub width: u16,
    /// Height, px.
    pub height: u16,
    /// Durations of its refreshes at room temperature.
    pub times: Times,
}

/// Durations of the refreshes of a panel, each from the start to the end of the busy signal.
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

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// All supported panels; the first is the default.
pub static MODELS: &[Model] = &[
    Model {
        id: "gdey0213b74",
        width: 122,
        height: 250,
        times: Times {
            full: ms(2000),
            fast_full: Some(ms(1617)),
            partial: ms(457),
            power_on: ms(95),
            power_off: ms(140),
        },
    },
    Model {
        id: "gdem0213b74",
        width: 122,
        height: 250,
        times: Times {
            full: ms(3502),
            fast_full: None,
            partial: ms(455),
            power_on: ms(95),
            power_off: ms(140),
        },
    },
    Model {
        id: "waveshare-2.13-v4",
        width: 122,
        height: 250,
        times: Times {
            full: ms(2000),
            fast_full: None,
            partial: ms(457),
            power_on: ms(95),
            power_off: ms(140),
        },
    },
    Model {
        id: "gdey029t94",
        width: 128,
        height: 296,
        times: Times {
            full: ms(2000),
            fast_full: Some(ms(1715)),
            partial: ms(362),
            power_on: ms(96),
            power_off: ms(140),
        },
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
    ("gdey075t7", "its controller, the UC8179, is not supported"),
];

/// Looks up a panel by its name.
pub fn find(id: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.id == id)
}

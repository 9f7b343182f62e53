//! Requests of clients and their replies.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt;

use market::{Zap, source_id::SourceId, units::Currency};
use serde_json::{Map, Value};

use crate::{
    displays::DisplayRequest,
    lights::{Rgb, StripEffect},
    secret::PasswordHash,
    settings::{Key, reject::Rejection},
};

/// A request of a client; each gets one [`Reply`].
#[derive(Debug, Clone)]
pub enum Request {
    /// Change settings.
    Patch(Patch),
    /// Act on a remote display, or for one.
    Display(DisplayRequest),
    /// Import the settings of another clock, all of them or none.
    Import(Imported),
    /// Show the screen after this one.
    Next,
    /// Show the screen before this one.
    Previous,
    /// Show a screen: by id, else by position in the rotation order.
    ShowScreen(i64),
    /// Show the same kind of screen in another currency.
    ShowCurrency(Currency),
    /// Show a text, one character per panel.
    ShowText(String),
    /// Show a text per panel.
    ShowCustom {
        /// One text per panel; missing ones are blank, surplus ones are ignored.
        cells: Vec<String>,
        /// Glyph height of single-line texts, px.
        digit_px: Option<u32>,
    },
    /// Stop the rotation timer.
    Pause,
    /// Stop the rotation timer, or start it.
    TogglePause,
    /// Start the rotation timer with a full period.
    RestartTimer,
    /// Refresh all panels fully.
    FullRefresh,
    /// Turn all panels black and white several times, which removes ghosts that a full refresh leaves.
    CleanPanels,
    /// Identify the clock with its lights.
    Identify,
    /// Restart the device.
    Restart,
    /// Wipe every setting and restart into provisioning; the reply is sent once everything is erased.
    FactoryReset,
    /// Act as if this zap had been received, even if zaps are switched off.
    SimulateZap(Zap),
    /// Forget the cached pool logos and fetch them again.
    ClearPoolLogos,
    /// Stop all data sources until they are restarted.
    StopSources,
    /// Stop and start all data sources.
    RestartSources,
    /// Stop and start one data source.
    RestartSource(SourceId),
    /// Close the connection to the owner's broker, if there is one, and open a new one.
    RestartBroker,
    /// Set every LED; an empty list is all off.
    SetLights(Vec<Rgb>),
    /// Set all LEDs to one colour.
    SetLightsColor(Rgb),
    /// Play an effect on the strip.
    PlayEffect(StripEffect),
    /// Act on the frontlight.
    Frontlight(FrontlightCommand),
    /// Switch Do Not Disturb by hand.
    SetDnd(bool),
    /// Set the radio's transmit power, quarter-dBm; 80 clears it.
    SetTxPower(i64),
}

/// Command to the frontlight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontlightCommand {
    /// Light up.
    On,
    /// Go dark and stay dark until the next on.
    Off,
    /// Flash as for a new block.
    Flash,
    /// Set the brightness, PWM duty.
    Brightness(u32),
    /// Set each channel, PWM duty 0..=4095; an empty list is all dark.
    Set(Vec<u16>),
}

/// A change of settings as sent by a client; `Debug` shows only its keys, because the values may be secrets.
#[derive(Clone, Default)]
pub struct Patch {
    /// The JSON object.
    pub body: Map<String, Value>,
    /// Hashes of the passwords in it, computed outside because this crate has no random numbers.
    pub hashes: BTreeMap<Key, PasswordHash>,
}

impl fmt::Debug for Patch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Patch")
            .field("keys", &self.body.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Settings of another clock in their stored form; `Debug` shows only their names, because there are secrets among
/// them.
#[derive(Clone, Default)]
pub struct Imported(pub Map<String, Value>);

impl fmt::Debug for Imported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.keys().collect::<Vec<_>>();
        formatter.debug_tuple("Imported").field(&names).finish()
    }
}

/// The reply to a [`Request`]: what the client should know of the change, or why nothing was changed. What the request has
/// led to is in the view.
pub type Reply = Result<Changed, Refusal>;

/// What a client should know of a change of settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changed {
    /// Part of it takes effect at the next start.
    pub reboot_required: bool,
    /// Passwords that were cleared because the server they were entered for has changed.
    pub cleared: Vec<&'static str>,
}

impl Changed {
    /// The notes as a sentence for people. `None` if there are none.
    pub fn reason(&self) -> Option<String> {
        let names = self.cleared.join(" and ");
        let was = match self.cleared.as_slice() {
            [] => return None,
            [_] => "was",
            _ => "were",
        };
        Some(format!(
            "{names} {was} cleared, because it belongs to another server: enter it again"
        ))
    }
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The settings are not accepted.
    Rejected(Rejection),
    /// No screen has that id or position.
    UnknownScreen,
    /// The screen belongs to a feature that is off, or to a figure the pool does not publish.
    UnavailableScreen(u16),
    /// The data source is not in use.
    UnusedSource,
    /// The currency is not among the active ones.
    CurrencyNotActive,
    /// The board has no LED strip.
    NoLeds,
    /// The board has no frontlight.
    NoFrontlight,
    /// The list has not one entry per LED or channel.
    WrongCount,
    /// A number is outside its bounds.
    OutOfRange,
    /// The device is being updated.
    UpdateRunning,
    /// The change could not be stored and was reverted.
    NotStored,
    /// A factory reset is under way; nothing can be stored.
    Erasing,
    /// The factory reset failed; the settings are unchanged.
    NotErased,
    /// No remote display has that id or token.
    UnknownDisplay,
    /// There are as many remote displays as there can be.
    TooManyDisplays,
    /// A remote display must have screens to show them.
    NoScreens,
}

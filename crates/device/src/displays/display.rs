//! One display: what its owner has set, and its stored form.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, ops::RangeInclusive};

use serde_json::{Value, json};

use super::DisplayContact;
use crate::{
    canvas::{CanvasSpec, Depth, HEIGHTS, Layout, Turn, WIDTHS, bounded, chosen},
    screens::catalog,
    settings::Settings,
};

/// Accepted ages of a picture, minutes.
pub const INTERVALS_MIN: RangeInclusive<u32> = 1..=1440;

/// Accepted age of a picture on a new display, minutes: most displays have a battery.
pub const INTERVAL_MIN: u32 = 10;

/// Longest name, bytes.
pub const NAME_MAX: usize = 64;

/// Most screens of one display.
pub const SCREENS_MAX: usize = 32;

/// SHA-256 digest of the token of a display. The token itself is known only to the display. `Debug` hides the digest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Wraps a digest.
    pub fn new(digest: [u8; 32]) -> TokenDigest {
        TokenDigest(digest)
    }

    /// The digest itself.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenDigest(..)")
    }
}

/// What a display shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DisplayContent {
    /// The same as the panels.
    #[default]
    Clock,
    /// The first of its screens.
    Screen,
    /// Its screens, the next one at each return.
    Rotation,
}

impl DisplayContent {
    /// All of them.
    pub const ALL: [DisplayContent; 3] = [
        DisplayContent::Clock,
        DisplayContent::Screen,
        DisplayContent::Rotation,
    ];

    /// Its word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            DisplayContent::Clock => "clock",
            DisplayContent::Screen => "screen",
            DisplayContent::Rotation => "rotation",
        }
    }

    /// Finds a content by its word.
    pub fn parse(word: &str) -> Option<DisplayContent> {
        DisplayContent::ALL
            .into_iter()
            .find(|content| content.word() == word)
    }
}

/// A display and what its owner has set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Display {
    /// Six hex digits, upper case; unique.
    pub id: String,
    /// Its name; empty until the owner gives it one.
    pub name: String,
    /// Digest of its token.
    pub token: TokenDigest,
    /// Its hardware address. `None` if it does not send one.
    pub mac: Option<String>,
    /// Size and form of its picture.
    pub canvas: CanvasSpec,
    /// The owner has set its size or depth; else they are those that the display reports.
    pub is_sized: bool,
    /// The owner has set its rotation; else it is the one that the display reports.
    pub is_rotated: bool,
    /// What it shows.
    pub content: DisplayContent,
    /// Ids of its screens.
    pub screens: Vec<u16>,
    /// Age of a picture that the owner accepts, minutes.
    pub interval_min: u32,
}

/// A change of a display; `None` leaves a value as it is. Its values are within their bounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DisplayChange {
    /// Approve a display that waits.
    pub is_approved: bool,
    /// Its name.
    pub name: Option<String>,
    /// Width of its picture, px.
    pub width: Option<u32>,
    /// Height of its picture, px.
    pub height: Option<u32>,
    /// Bits per pixel.
    pub depth: Option<Depth>,
    /// Rotation of its picture.
    pub turn: Option<Turn>,
    /// Layout of its picture.
    pub layout: Option<Layout>,
    /// White on black; the inner `None`: as on the panels.
    pub dark: Option<Option<bool>>,
    /// What it shows.
    pub content: Option<DisplayContent>,
    /// Ids of its screens.
    pub screens: Option<Vec<u16>>,
    /// Age of a picture that the owner accepts, minutes.
    pub interval_min: Option<u32>,
}

impl DisplayChange {
    /// Reads the members of an object; unknown ones are ignored, so that a client can send a whole display back.
    ///
    /// # Errors
    /// What a member must be, as a text for people.
    pub fn parse(members: &serde_json::Map<String, Value>) -> Result<DisplayChange, String> {
        let mut change = DisplayChange::default();
        for (name, value) in members {
            change.set(name, value)?;
        }
        Ok(change)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let number = |bounds: &RangeInclusive<u32>| {
            let sent = value.as_u64().and_then(|number| u32::try_from(number).ok());
            bounded(name, sent, bounds)
        };
        let digits = value.as_u64().map(|number| number.to_string());
        match name {
            "name" => {
                let text = value.as_str().filter(|text| is_name(text));
                let text = text.ok_or_else(|| {
                    format!(
                        "name must be a text of at most {NAME_MAX} bytes without control characters"
                    )
                })?;
                self.name = Some(text.trim().into());
            }
            "width" => self.width = Some(number(&WIDTHS)?),
            "height" => self.height = Some(number(&HEIGHTS)?),
            "depth" => self.depth = Some(chosen(name, digits.as_deref(), &Depth::choices())?),
            "rotate" => self.turn = Some(chosen(name, digits.as_deref(), &Turn::choices())?),
            "layout" => self.layout = Some(chosen(name, value.as_str(), &Layout::choices())?),
            "dark" => {
                let is_known = value.is_null() || value.is_boolean();
                let dark = is_known.then(|| value.as_bool());
                self.dark = Some(dark.ok_or("dark must be true, false or null")?);
            }
            "content" => {
                let content = value.as_str().and_then(DisplayContent::parse);
                let words = DisplayContent::ALL.map(DisplayContent::word).join(", ");
                self.content =
                    Some(content.ok_or_else(|| format!("content must be one of {words}"))?);
            }
            "screens" => self.screens = Some(screens(value)?),
            "intervalMin" => self.interval_min = Some(number(&INTERVALS_MIN)?),
            "state" => {
                let words = "state must be approved";
                self.is_approved = match value.as_str().ok_or(words)? {
                    "approved" => true,
                    // A client may send a display back as it is.
                    "waiting" => false,
                    _ => return Err(words.into()),
                };
            }
            _ => {}
        }
        Ok(())
    }
}

/// Ids of screens, each at most once.
fn screens(value: &Value) -> Result<Vec<u16>, String> {
    let error =
        || format!("screens must be a list of at most {SCREENS_MAX} different ids of screens");
    let mut ids: Vec<u16> = Vec::new();
    for id in value.as_array().ok_or_else(error)? {
        let id = id.as_u64().and_then(|id| u16::try_from(id).ok());
        let id = id.filter(|id| catalog::find(*id).is_some() && !ids.contains(id));
        ids.push(id.ok_or_else(error)?);
    }
    if ids.len() <= SCREENS_MAX { Ok(ids) } else { Err(error()) }
}

fn is_name(text: &str) -> bool {
    text.len() <= NAME_MAX && !text.chars().any(char::is_control)
}

impl Display {
    /// Its screens, without those of features that are off.
    pub fn available_screens(&self, settings: &Settings) -> Vec<u16> {
        let screens = self.screens.iter().copied();
        screens
            .filter(|id| settings.is_screen_available(*id))
            .collect()
    }

    /// Applies a change, except for the approval.
    pub fn apply(&mut self, change: DisplayChange) {
        fn set<T>(value: &mut T, new: Option<T>) {
            if let Some(new) = new {
                *value = new;
            }
        }
        self.is_sized |=
            change.width.is_some() || change.height.is_some() || change.depth.is_some();
        self.is_rotated |= change.turn.is_some();
        set(&mut self.name, change.name);
        set(&mut self.canvas.width, change.width);
        set(&mut self.canvas.height, change.height);
        set(&mut self.canvas.depth, change.depth);
        set(&mut self.canvas.turn, change.turn);
        set(&mut self.canvas.layout, change.layout);
        set(&mut self.canvas.dark, change.dark);
        set(&mut self.content, change.content);
        set(&mut self.screens, change.screens);
        set(&mut self.interval_min, change.interval_min);
    }

    /// Takes the size, depth and rotation that the display reports, unless its owner has set them.
    pub fn fit(&mut self, contact: &DisplayContact) {
        if let Some((width, height, depth)) = contact.size.filter(|_| !self.is_sized) {
            self.canvas.width = width;
            self.canvas.height = height;
            self.canvas.depth = depth;
            if !self.is_rotated {
                self.canvas.turn = contact.turn;
            }
        }
    }

    /// Returns whether it shows screens of its own but has none.
    pub fn lacks_screens(&self) -> bool {
        self.content != DisplayContent::Clock && self.screens.is_empty()
    }

    /// The stored form.
    pub fn to_json(&self) -> Value {
        let digest = hex::encode(self.token.expose());
        json!({
            "id": self.id,
            "name": self.name,
            "digest": digest,
            "mac": self.mac,
            "width": self.canvas.width,
            "height": self.canvas.height,
            "depth": self.canvas.depth.bits(),
            "isSized": self.is_sized,
            "isRotated": self.is_rotated,
            "rotate": self.canvas.turn.degrees(),
            "layout": self.canvas.layout.name(),
            "dark": self.canvas.dark,
            "content": self.content.word(),
            "screens": self.screens,
            "intervalMin": self.interval_min,
        })
    }

    /// Reads the stored form. `None` if it cannot be used. Ids of removed screens are dropped.
    pub fn from_json(stored: &Value) -> Option<Display> {
        let mut members = stored.as_object()?.clone();
        let text = |name: &str| Some(stored.get(name)?.as_str()?.to_string());
        let mut digest = [0; 32];
        hex::decode_to_slice(text("digest")?, &mut digest).ok()?;
        if let Some(Value::Array(ids)) = members.get_mut("screens") {
            let id_of = |id: &Value| u16::try_from(id.as_u64()?).ok();
            ids.retain(|id| id_of(id).is_some_and(|id| catalog::find(id).is_some()));
        }
        let change = DisplayChange::parse(&members).ok()?;
        let mut display = Display {
            id: text("id")?,
            name: String::new(),
            token: TokenDigest::new(digest),
            mac: text("mac"),
            canvas: CanvasSpec {
                width: change.width?,
                height: change.height?,
                depth: change.depth?,
                turn: Turn::None,
                layout: Layout::Auto,
                dark: None,
            },
            is_sized: true,
            is_rotated: true,
            content: DisplayContent::Clock,
            screens: Vec::new(),
            interval_min: INTERVAL_MIN,
        };
        display.apply(change);
        let stored_flag = |name: &str| stored.get(name).and_then(Value::as_bool);
        display.is_sized = stored_flag("isSized") != Some(false);
        display.is_rotated = stored_flag("isRotated").unwrap_or(display.canvas.turn != Turn::None);
        if display.lacks_screens() {
            display.content = DisplayContent::Clock;
        }
        Some(display)
    }
}

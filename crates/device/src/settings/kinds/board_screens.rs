//! `boardScreens`: the screens of a board.

use alloc::{format, string::String, vec::Vec};
use core::ops::RangeInclusive;
use serde_json::{Value, json};

use super::{
    super::{
        Settings,
        field::Field,
        reject::{BoardFault, Rejection},
    },
    SettingKind, entries, list,
};
use crate::{glass::rotation::RotationSlot, screens::catalog};
use market::units::Currency;

/// Numbers of screens of a board.
pub const SCREENS: RangeInclusive<usize> = 2..=8;

/// A list of screens, each an id or, in a currency, an id with its code.
#[derive(Debug)]
pub struct BoardScreens;

impl SettingKind for BoardScreens {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        list(name, value)?;
        let entries = entries(value);
        for entry in entries {
            let slot = parse(entry).ok_or(Rejection::Board(BoardFault::BadEntry))?;
            let screen =
                catalog::find(slot.screen).ok_or(Rejection::Board(BoardFault::UnknownId))?;
            if slot.currency.is_some() && !screen.per_currency {
                return Err(Rejection::Board(BoardFault::BadEntry));
            }
        }
        if SCREENS.contains(&entries.len()) {
            Ok(())
        } else {
            Err(Rejection::Board(BoardFault::Number))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let slots: Vec<RotationSlot> = entries(value).iter().filter_map(parse).collect();
        slots.store()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "array",
            "items": { "type": ["string", "integer"] },
            "minItems": SCREENS.start(),
            "maxItems": SCREENS.end(),
        })
    }

    fn shown_schema(&self) -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }

    fn control(&self) -> Value {
        json!({ "control": "board", "min": SCREENS.start(), "max": SCREENS.end() })
    }

    fn words(&self) -> String {
        format!(
            "a list of {} to {} ids of screens, such as `20`, or `20:EUR` for one in a currency",
            SCREENS.start(),
            SCREENS.end()
        )
    }
}

/// Checks that every screen is on, every currency in the rotation, and that no screen is named twice.
///
/// # Errors
/// The rejection for the client.
pub fn check(settings: &Settings) -> Result<(), Rejection> {
    let mut slots: Vec<RotationSlot> = Vec::new();
    for slot in &settings.board_screens {
        let fault = if !settings.is_screen_available(slot.screen) {
            Some(BoardFault::ScreenOff)
        } else {
            match settings.board_slot(*slot) {
                None => Some(BoardFault::CurrencyNotActive),
                Some(slot) if slots.contains(&slot) => Some(BoardFault::DupId),
                Some(slot) => {
                    slots.push(slot);
                    None
                }
            }
        };
        if let Some(fault) = fault {
            return Err(Rejection::Board(fault));
        }
    }
    Ok(())
}

/// Reads `20`, `"20"` or `"20:EUR"`.
fn parse(entry: &Value) -> Option<RotationSlot> {
    let number = || entry.as_u64().map(|id| format!("{id}"));
    let text = entry.as_str().map(String::from).or_else(number)?;
    let (id, currency) = match text.split_once(':') {
        Some((id, code)) => (id, Some(Currency::parse(code)?)),
        None => (text.as_str(), None),
    };
    Some(RotationSlot {
        screen: id.parse().ok()?,
        currency,
    })
}

impl Field for Vec<RotationSlot> {
    fn store(&self) -> Value {
        let text = |slot: &RotationSlot| match slot.currency {
            Some(currency) => format!("{}:{currency}", slot.screen),
            None => format!("{}", slot.screen),
        };
        self.iter().map(text).collect()
    }

    fn load(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(parse).collect()
    }
}

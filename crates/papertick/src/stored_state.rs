//! The state that the previous run of the device has stored, with defaults for what is missing.

use std::io;

use device::{
    memory::Memory,
    secret::{GeneratedPassword, GenerationReason},
    settings::{Settings, store},
};
use passwords::generate;
use serde_json::{Map, Value};
use storage::{Loaded, file::StoredContent};

/// What the previous run stored.
pub(crate) struct StoredState {
    /// The settings; defaults if none were stored.
    pub(crate) settings: Settings,
    pub(crate) memory: Memory,
    /// The recorded values, if any.
    pub(crate) history: Option<Map<String, Value>>,
    /// The block headers, if any.
    pub(crate) chain: Option<Map<String, Value>>,
    /// A generated password, if the control interface must be protected and none is stored.
    pub(crate) generated_password: Option<GeneratedPassword>,
    /// Problems, as texts for people.
    pub(crate) notes: Vec<String>,
    /// Why the data folder is not writable. `None` if it is.
    pub(crate) storage_error: Option<String>,
}

impl StoredState {
    /// Makes the state from the loaded files. `fresh` returns the settings for an empty data folder, and notes for people.
    ///
    /// # Errors
    /// The host has no random numbers for a password.
    pub(crate) fn read(
        loaded: Loaded,
        fresh: impl FnOnce() -> (Settings, Vec<String>),
    ) -> io::Result<StoredState> {
        let mut notes = loaded.notes;
        let mut reason = GenerationReason::NoneStored;
        let settings = match loaded.settings {
            StoredContent::Whole(stored) => {
                let (settings, found) = store::from_json(&stored);
                notes.extend(found.iter().map(ToString::to_string));
                settings
            }
            StoredContent::Nothing => {
                let (settings, found) = fresh();
                notes.extend(found);
                settings
            }
            StoredContent::Lost => {
                reason = GenerationReason::SettingsLost;
                // A password may have been among the lost settings: protect the interface.
                Settings {
                    http_auth_enabled: true,
                    ..Settings::default()
                }
            }
        };
        let memory = loaded.memory.whole();
        let memory = memory.map_or_else(Memory::default, |stored| Memory::from_json(&stored));
        let generated_password = generate::interface_password(&settings, reason)?;
        if generated_password.is_some() {
            let reason = match reason {
                GenerationReason::SettingsLost => "the settings could not be read",
                GenerationReason::NoneStored => "a password is required and none is stored",
            };
            notes.push(format!(
                "{reason}: sign in with the password that the panels show"
            ));
        }
        Ok(StoredState {
            settings,
            memory,
            history: loaded.history.whole(),
            chain: loaded.chain.whole(),
            generated_password,
            notes,
            storage_error: None,
        })
    }
}

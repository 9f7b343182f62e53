//! What survived the last run of the device, and what it needs in place of what did not.

use std::io;

use device::{
    memory::Memory,
    secret::{MadePassword, WhyMade},
    settings::{Settings, store},
};
use passwords::made;
use storage::{Loaded, file::StoredContent, series::Records};

/// What the previous run stored.
pub(crate) struct StoredState {
    /// The settings; the defaults where none were stored.
    pub(crate) settings: Settings,
    /// What the device remembers.
    pub(crate) memory: Memory,
    /// The headers of blocks.
    pub(crate) chain: Records,
    /// A password for an interface that must be shut and has none.
    pub(crate) made_password: Option<MadePassword>,
    /// What went wrong, in words for people.
    pub(crate) notes: Vec<String>,
    /// Why nothing can be stored; none if something can.
    pub(crate) unstored: Option<String>,
}

impl StoredState {
    /// Reads it. `fresh` makes the settings of a clock that has stored none, with notes for people. An interface that must be shut
    /// and has no password is given one.
    ///
    /// # Errors
    /// The host has no random numbers for a password.
    pub(crate) fn read(
        loaded: Loaded,
        fresh: impl FnOnce() -> (Settings, Vec<String>),
    ) -> io::Result<StoredState> {
        let mut notes = loaded.notes;
        let mut why = WhyMade::NoneStored;
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
                why = WhyMade::SettingsLost;
                // There may have been a password among them.
                Settings {
                    http_auth_enabled: true,
                    ..Settings::default()
                }
            }
        };
        let memory = loaded.memory.whole();
        let memory = memory.map_or_else(Memory::default, |stored| Memory::from_json(&stored));
        let made_password = made::for_interface(&settings, why)?;
        if made_password.is_some() {
            let why = match why {
                WhyMade::SettingsLost => "no settings could be read",
                WhyMade::NoneStored => "a password is asked for and none is stored",
            };
            notes.push(format!(
                "{why}: the interface wants the password that stands on the glass"
            ));
        }
        Ok(StoredState {
            settings,
            memory,
            chain: loaded.chain,
            made_password,
            notes,
            unstored: None,
        })
    }
}

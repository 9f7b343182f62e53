//! Typed access to settings, with fallbacks.

use alloc::{format, string::String, vec::Vec};

use market::fees::FeePrecision;

use super::{
    SPECS, Settings,
    fonts::FontId,
    pools::{self, PoolSpec},
    spec::Apply,
};
use crate::{
    canvas::Layout,
    glass::rotation::{BLOCK_HEIGHT, RotationSlot},
    screens::catalog::{self, SCREENS},
    secret::Endpoint,
};
use market::{now::Zone, units::Currency};

/// Default user name.
const SIGN_IN_USER: &str = "papertick";

/// Maximum length of a label of a host name, bytes.
const LABEL_MAX: usize = 63;

impl Settings {
    /// Applies the settings that take effect at once; the others wait for the next start.
    pub fn take_live(&mut self, stored: &Settings) {
        for spec in SPECS {
            match spec.apply {
                Apply::Live(_) => self.copy(spec.key, stored),
                Apply::Reboot => {}
            }
        }
    }

    /// User name for signing in.
    pub fn sign_in_user(&self) -> String {
        match self.http_auth_user.as_str() {
            "" => SIGN_IN_USER.into(),
            user => user.into(),
        }
    }

    /// Time zone; UTC if the stored name is unknown.
    pub fn zone(&self) -> Zone {
        Zone::named(&self.tz_string).unwrap_or_else(Zone::utc)
    }

    /// Font; the default one if the stored id is retired.
    pub fn font(&self) -> FontId {
        FontId::named(&self.font_name).unwrap_or(FontId::DEFAULT)
    }

    /// Mining pool. `None` if the stored id was dropped.
    pub fn pool(&self) -> Option<&'static PoolSpec> {
        pools::find(&self.mining_pool_name)
    }

    /// Currencies in the rotation; US dollars if none is chosen.
    pub fn currencies(&self) -> Vec<Currency> {
        if self.act_currencies.is_empty() {
            alloc::vec![Currency::USD]
        } else {
            self.act_currencies.clone()
        }
    }

    /// The first currency in the rotation.
    pub fn first_currency(&self) -> Currency {
        let first = self.act_currencies.first();
        first.copied().unwrap_or(Currency::USD)
    }

    /// Relays, without duplicates.
    pub fn relays(&self) -> Vec<Endpoint> {
        let mut relays = self.nostr_relays.clone();
        if !self.nostr_relay.is_empty() && !relays.contains(&self.nostr_relay) {
            relays.insert(0, self.nostr_relay.clone());
        }
        relays
    }

    /// Keys whose zaps are shown, without duplicates, in lower case as in events.
    pub fn zap_recipients(&self) -> Vec<String> {
        let mut recipients: Vec<String> = Vec::new();
        for key in core::iter::once(&self.nostr_zap_pubkey).chain(&self.nostr_zap_pubkeys) {
            let key = key.to_ascii_lowercase();
            if !key.is_empty() && !recipients.contains(&key) {
                recipients.push(key);
            }
        }
        recipients
    }

    /// Whether a fee rate with decimals is preferred.
    pub fn fee_precision(&self) -> FeePrecision {
        if self.block_fee_dec { FeePrecision::Precise } else { FeePrecision::Whole }
    }

    /// Host name without a domain: the prefix, a dash and the end of the hardware address.
    ///
    /// Invalid characters become dashes, and a long name is cut.
    pub fn hostname(&self, suffix: &str) -> String {
        let allowed = |letter: char| {
            if letter.is_ascii_alphanumeric() { letter } else { '-' }
        };
        let mut prefix: String = self.hostname_prefix.chars().map(allowed).collect();
        prefix.truncate(LABEL_MAX.saturating_sub(suffix.len() + 1));
        let prefix = prefix.trim_matches('-');
        if prefix.is_empty() {
            format!("papertick-{suffix}")
        } else {
            format!("{prefix}-{suffix}")
        }
    }

    /// Returns whether the owner shows a screen in the rotation. A screen of a feature that is off is skipped all the same.
    pub fn is_screen_enabled(&self, id: u16) -> bool {
        !self.screens_hidden.contains(&id)
    }

    /// Returns whether the feature of a screen is on.
    pub fn is_screen_available(&self, id: u16) -> bool {
        catalog::find(id).is_some_and(|screen| (screen.is_available)(self))
    }

    /// Ids of the screens whose feature is on.
    pub fn available_screens(&self) -> Vec<u16> {
        let ids = SCREENS.iter().map(|screen| screen.id);
        ids.filter(|id| self.is_screen_available(*id)).collect()
    }

    /// What the one panel of a board shows.
    pub fn panel_layout(&self) -> Layout {
        match self.panel_layout {
            0 => Layout::Figure,
            1 => Layout::Board,
            _ => Layout::Cells,
        }
    }

    /// A slot of the board in its currency, or the first one. `None` if that is not in the rotation.
    pub fn board_slot(&self, slot: RotationSlot) -> Option<RotationSlot> {
        if !catalog::find(slot.screen)?.per_currency {
            return Some(RotationSlot::plain(slot.screen));
        }
        let currencies = self.currencies();
        let mut named = currencies
            .iter()
            .filter(|currency| slot.currency.is_none_or(|chosen| chosen == **currency));
        let currency = Some(*named.next()?);
        Some(RotationSlot { currency, ..slot })
    }

    /// Slots of the board that can be shown, each once; the block height if there is none.
    pub fn board(&self) -> Vec<RotationSlot> {
        let mut slots: Vec<RotationSlot> = Vec::new();
        let available = self.board_screens.iter();
        let available = available.filter(|slot| self.is_screen_available(slot.screen));
        // `20` and `20:USD` become equal when the first currency changes.
        for slot in available.filter_map(|slot| self.board_slot(*slot)) {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        if slots.is_empty() {
            slots.push(RotationSlot::plain(BLOCK_HEIGHT));
        }
        slots
    }

    /// Ids of all screens in rotation order: the stored ones, then the others in default order.
    pub fn rotation_order(&self) -> Vec<u16> {
        let mut order = self.screen_order.clone();
        let others = SCREENS.iter().map(|screen| screen.id);
        order.extend(others.filter(|id| !self.screen_order.contains(id)));
        order
    }
}

//! The user of a mining pool: a name at most pools, a token or an API key at some.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    super::{
        Key, Settings,
        pools::{POOLS, UserField},
        reject::Rejection,
    },
    Catalogue, CheckContext, Composite, SettingKind, text,
};
use crate::secret::Secret;

/// User of a mining pool, of at most this many bytes; of an API key GET shows only whether it is set.
#[derive(Debug)]
pub struct PoolUser(pub usize);

/// Clears a key or token when the pool changes without a new user; returns whether it was cleared.
///
/// Otherwise it would be sent to the other pool, or GET would show it as a name.
pub(in super::super) fn bind(settings: &mut Settings, stored: &Settings, is_sent: bool) -> bool {
    let is_secret = field(settings) != UserField::Name;
    let has_changed = settings.mining_pool_user != stored.mining_pool_user;
    let is_other_pool = settings.mining_pool_name != stored.mining_pool_name;
    if is_sent && (has_changed || is_other_pool) {
        settings.pool_user_is_key = is_secret && !settings.mining_pool_user.is_empty();
    } else if settings.pool_user_is_key && is_other_pool {
        settings.pool_user_is_key = false;
        settings.mining_pool_user = Secret::default();
        return true;
    }
    false
}

/// Returns whether the user is an API key or a token, or may be one.
pub(in super::super) fn is_secret(settings: &Settings) -> bool {
    settings.pool_user_is_key || field(settings) != UserField::Name
}

/// Removes a token from the document of GET, for readers other than clients of the control interface.
pub(in super::super) fn hide_token(settings: &Settings, document: &mut Map<String, Value>) {
    let name = Key::mining_pool_user.name();
    if is_secret(settings) && document.shift_remove(name).is_some() {
        emit_set(name, settings, document);
    }
}

/// Returns whether GET hides the user.
fn is_hidden(settings: &Settings) -> bool {
    match field(settings) {
        UserField::ApiKey => true,
        UserField::Token => false,
        UserField::Name => settings.pool_user_is_key,
    }
}

/// Adds to a document whether there is a user.
fn emit_set(name: &str, settings: &Settings, document: &mut Map<String, Value>) {
    let is_set = !settings.mining_pool_user.is_empty();
    document.insert(format!("{name}Set"), is_set.into());
}

/// Content of the user field of the chosen pool; a name if the pool was dropped.
fn field(settings: &Settings) -> UserField {
    settings.pool().map_or(UserField::Name, |pool| pool.user)
}

impl SettingKind for PoolUser {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, self.0)
    }

    fn composite(&self) -> Option<&dyn Composite> {
        Some(self)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        text::schema(self.0, text::ANY)
    }

    fn control(&self) -> Value {
        let secret = POOLS.iter().filter(|pool| pool.user == UserField::ApiKey);
        let mut control = text::control(self.0);
        let labels = POOLS.iter();
        let labels = labels.map(|pool| json!({ "value": pool.id, "label": pool.user.label() }));
        control["labels"] = labels.collect();
        control["secretForPools"] = secret.map(|pool| pool.id).collect::<Vec<_>>().into();
        control
    }

    fn words(&self) -> String {
        text::words(self.0)
    }
}

impl Composite for PoolUser {
    fn apply(&self, value: &Value, settings: &mut Settings, _: &Catalogue) {
        settings.mining_pool_user = Secret::new(value.as_str().unwrap_or_default());
    }

    fn emit(
        &self,
        name: &'static str,
        context: &CheckContext<'_>,
        document: &mut Map<String, Value>,
    ) {
        let settings = &context.settings;
        let user = &settings.mining_pool_user;
        if is_hidden(settings) {
            emit_set(name, settings, document);
        } else {
            document.insert(name.into(), user.expose().into());
        }
    }

    fn is_always_shown(&self) -> bool {
        false
    }
}

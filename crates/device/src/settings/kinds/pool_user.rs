//! The user of a mining pool: a plain name at most pools, an API key at some.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Map, Value};

use super::{
    super::{Settings, pools::POOLS, reject::Rejection},
    Catalogue, Composite, Context, Kind, text,
};
use crate::secret::Secret;

/// User of a mining pool, of at most so many bytes; where it is an API key GET tells only whether it is set.
#[derive(Debug)]
pub struct PoolUser(pub usize);

/// Settles the user after a change of user or pool.
///
/// What was given as an API key is forgotten when the pool changes to one that takes a plain name:
/// else GET would show it, and another pool would be sent it.
pub(in super::super) fn settle(settings: &mut Settings, stored: &Settings) {
    let takes_key = settings.pool().is_some_and(|pool| pool.secret_user);
    if settings.mining_pool_user != stored.mining_pool_user {
        settings.pool_user_is_key = takes_key && !settings.mining_pool_user.is_empty();
    } else if settings.pool_user_is_key && !takes_key {
        settings.pool_user_is_key = false;
        settings.mining_pool_user = Secret::default();
    }
}

/// Tells whether the user is an API key, or may be one.
pub(in super::super) fn is_secret(settings: &Settings) -> bool {
    settings.pool_user_is_key || settings.pool().is_some_and(|pool| pool.secret_user)
}

impl Kind for PoolUser {
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
        let secret = POOLS.iter().filter(|pool| pool.secret_user);
        let mut control = text::control(self.0);
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

    fn emit(&self, name: &'static str, context: &Context<'_>, document: &mut Map<String, Value>) {
        let settings = &context.settings;
        let user = &settings.mining_pool_user;
        if is_secret(settings) {
            document.insert(format!("{name}Set"), (!user.is_empty()).into());
        } else {
            document.insert(name.into(), user.expose().into());
        }
    }

    fn is_always_told(&self) -> bool {
        false
    }
}

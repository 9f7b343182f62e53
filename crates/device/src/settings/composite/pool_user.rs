//! `miningPoolUser`: a plain name at most pools, an API key at some.

use alloc::string::String;
use serde_json::{Map, Value};

use super::super::Settings;
use crate::{secret::Secret, view::View};

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

pub(in super::super) fn emit(view: &View, document: &mut Map<String, Value>) {
    let settings = &view.settings;
    let user = &settings.mining_pool_user;
    let hidden = settings.pool_user_is_key || settings.pool().is_some_and(|pool| pool.secret_user);
    if hidden {
        document.insert("miningPoolUserSet".into(), (!user.is_empty()).into());
    } else {
        document.insert("miningPoolUser".into(), user.expose().into());
    }
}

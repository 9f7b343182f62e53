//! The documents of settings and status, ready to be sent.

use std::sync::Arc;

use api::status::{self, HostMemory, Surroundings};
use bytes::Bytes;
use device::{
    settings::{
        Key, Settings,
        emit::{self, BuildIdentity},
        store,
    },
    view::{SourceState, View},
};
use http::HeaderValue;
use market::now::Now;
use runtime::glass::DisplaySnapshot;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::etag;

/// The status, ready to be sent.
#[derive(Debug, Clone)]
pub struct StatusDocument {
    /// The JSON text.
    pub text: Bytes,
    /// All of it that does not change by the mere passing of time, for comparing.
    pub lasting: Arc<str>,
    /// Memory when it was made.
    pub memory: HostMemory,
}

impl StatusDocument {
    /// Makes the status of a view.
    pub fn of(
        view: &View,
        glass: &DisplaySnapshot,
        settings_tag: &HeaderValue,
        now: Now,
        memory: HostMemory,
        proxy: Option<SourceState>,
    ) -> StatusDocument {
        let surroundings = Surroundings {
            uptime: now.uptime,
            utc: now.utc,
            memory,
            panels: glass.panel_states(),
            proxy,
        };
        let mut status = status::lasting(view, &surroundings.panels);
        let tag = settings_tag.to_str().unwrap_or_default();
        status.insert("settingsTag".into(), tag.into());
        let lasting = format!(
            "{} {:?} {:?} {:?} {:?}",
            Value::Object(status.clone()),
            view.sources,
            view.time_server,
            view.mqtt,
            // The time of the last connection changes with every connection.
            surroundings
                .proxy
                .as_ref()
                .map(|proxy| (proxy.up, &proxy.last_error)),
        );
        let status = status::status(view, status, &surroundings);
        StatusDocument {
            text: Value::Object(status).to_string().into(),
            lasting: lasting.into(),
            memory,
        }
    }
}

/// The settings, ready to be sent.
#[derive(Debug, Clone)]
pub struct SettingsDocument {
    /// The JSON text.
    pub text: Bytes,
    /// Names the version.
    pub tag: HeaderValue,
}

impl SettingsDocument {
    /// Makes the settings document of a view, under the name of its version.
    pub fn of(view: &View, identity: &BuildIdentity, tag: HeaderValue) -> SettingsDocument {
        SettingsDocument {
            text: Value::Object(emit::document(view, identity))
                .to_string()
                .into(),
            tag,
        }
    }
}

/// Names a version of the settings; the rotation timer is not part of it, because a button changes that.
///
/// The key keeps it from telling anything of the secrets in them.
pub fn tag(settings: &Settings, key: &[u8]) -> HeaderValue {
    let mut stored = store::to_json(settings);
    stored.remove(Key::timer_active.name());
    let stored = Value::Object(stored).to_string();
    let digest = Sha256::new()
        .chain_update(key)
        .chain_update(stored)
        .finalize();
    etag::tag(&hex::encode(&digest[..12]))
}

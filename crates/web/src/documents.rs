//! The serialised documents of the settings and the status.

use api::status::{HostMemory, Status, Surroundings};
use bytes::Bytes;
use device::{
    settings::{
        Key,
        emit::{self, BuildIdentity},
        store,
    },
    view::{SourceState, View},
};
use http::HeaderValue;
use market::{now::Now, units::Currency};
use runtime::panels::PanelsSnapshot;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::etag;

#[derive(Debug, Clone)]
pub struct StatusDocument {
    pub text: Bytes,
    pub memory: HostMemory,
}

impl StatusDocument {
    /// Makes the status of a view.
    pub fn of(
        view: &View,
        glass: &PanelsSnapshot,
        settings_tag: &HeaderValue,
        now: Now,
        memory: HostMemory,
        proxy: Option<SourceState>,
    ) -> StatusDocument {
        let surroundings = Surroundings {
            uptime: now.uptime,
            utc: now.utc,
            memory,
            panels: glass.panel_statuses(),
            proxy,
            settings_tag: settings_tag.to_str().unwrap_or_default().to_owned(),
        };
        let status = Status::of(view, &surroundings);
        StatusDocument {
            text: serde_json::to_vec(&status).unwrap_or_default().into(),
            memory,
        }
    }
}

#[derive(Debug, Clone)]
pub struct SettingsDocument {
    pub text: Bytes,
    /// Entity tag of the version.
    pub tag: HeaderValue,
}

impl SettingsDocument {
    /// Makes the settings document of a view.
    pub fn of(view: &View, identity: &BuildIdentity, tag: HeaderValue) -> SettingsDocument {
        SettingsDocument {
            text: Value::Object(emit::document(view, identity))
                .to_string()
                .into(),
            tag,
        }
    }
}

/// Entity tag of the settings and of the currencies to choose from. It does not cover the rotation timer, because a button
/// changes it.
///
/// It is a keyed digest, so that it reveals nothing about the secrets in the settings.
pub fn tag(view: &View, key: &[u8]) -> HeaderValue {
    let mut stored = store::to_json(&view.settings.stored);
    stored.remove(Key::timer_active.name());
    let stored = Value::Object(stored).to_string();
    let digest = Sha256::new()
        .chain_update(key)
        .chain_update(stored)
        .chain_update(
            view.offer
                .currencies()
                .iter()
                .map(Currency::code)
                .collect::<String>(),
        )
        .finalize();
    etag::tag(&hex::encode(&digest[..12]))
}

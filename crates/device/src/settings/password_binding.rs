//! A stored password is bound to the host, port and user that it was entered for.
//!
//! A PATCH that changes one of these, or makes the connection less secure, clears the password, unless it includes the
//! password. Otherwise a client that may change settings could have the stored password sent to its own server.

use alloc::vec::Vec;
use serde_json::Value;

use super::{
    Key, Settings,
    kinds::{hosts, pool_user},
};
use crate::secret::Endpoint;
use crate::sources::Route;

/// A password, and the settings that determine where it is sent.
struct Binding {
    password: Key,
    host: Key,
    port_and_user: [Key; 2],
    /// The switch for TLS, and the CA certificates that are trusted for the server. `None` if there is no TLS.
    tls_and_ca: Option<(Key, Key)>,
}

const BINDINGS: &[Binding] = &[
    Binding {
        password: Key::mqtt_pass,
        host: Key::mqtt_host,
        port_and_user: [Key::mqtt_port, Key::mqtt_user],
        tls_and_ca: Some((Key::mqtt_tls, Key::mqtt_ca)),
    },
    Binding {
        password: Key::proxy_pass,
        host: Key::proxy_host,
        port_and_user: [Key::proxy_port, Key::proxy_user],
        tls_and_ca: None,
    },
];

/// Clears each password if its server has changed and the change does not include the password. Returns the names of
/// the cleared passwords.
pub(super) fn clear_passwords(
    settings: &mut Settings,
    stored: &Settings,
    is_sent: impl Fn(Key) -> bool,
) -> Vec<&'static str> {
    let mut cleared = Vec::new();
    for binding in BINDINGS {
        let password = binding.password;
        let is_set = settings.get(password) != "";
        if is_set && !is_sent(password) && binding.has_changed(settings, stored) {
            settings.copy(password, &Settings::default());
            cleared.push(password.name());
        }
    }
    let user = Key::mining_pool_user;
    if pool_user::bind(settings, stored, is_sent(user)) {
        cleared.push(user.name());
    }
    cleared
}

impl Binding {
    /// Returns whether the password would go to another server or user, or over a less secure connection.
    fn has_changed(&self, settings: &Settings, stored: &Settings) -> bool {
        let differs = |key: Key| settings.get(key) != stored.get(key);
        differs(self.host)
            || self.port_and_user.into_iter().any(differs)
            || self.is_less_secure(settings, stored)
            || self.reaches_other_proxy(settings, stored)
    }

    /// Returns whether the connection is less protected than before, so that a third party on the network could read the
    /// password.
    fn is_less_secure(&self, settings: &Settings, stored: &Settings) -> bool {
        let has_other_ca = self
            .tls_and_ca
            .is_some_and(|(_, ca)| settings.get(ca) != stored.get(ca));
        self.is_encrypted(stored) && (!self.is_encrypted(settings) || has_other_ca)
    }

    /// Returns whether the password would be sent unencrypted through another proxy than before.
    fn reaches_other_proxy(&self, settings: &Settings, stored: &Settings) -> bool {
        if self.tls_and_ca.is_none() || self.is_encrypted(settings) {
            return false;
        }
        let now = proxy_to(self.host, settings);
        now.is_some() && now != proxy_to(self.host, stored)
    }

    fn is_encrypted(&self, settings: &Settings) -> bool {
        self.tls_and_ca
            .is_some_and(|(tls, _)| settings.get(tls) == Value::Bool(true))
    }
}

/// Host and port of the proxy that a connection to a host takes.
fn proxy_to(host: Key, settings: &Settings) -> Option<(Endpoint, u16)> {
    let host = settings.get(host);
    let (host, _) = hosts::split(host.as_str()?)?;
    let proxy = Route::of(settings).proxy?;
    let is_bypassed = proxy
        .bypass
        .split(',')
        .any(|glob| is_match(glob.trim(), host));
    (!is_bypassed).then_some((proxy.host, proxy.port))
}

/// Returns whether a glob of `proxyBypass` matches a host, as in the dialer.
fn is_match(glob: &str, host: &str) -> bool {
    let (glob, host) = (glob.to_ascii_lowercase(), host.to_ascii_lowercase());
    match (glob.strip_prefix('*'), glob.strip_suffix('*')) {
        (Some(suffix), _) => host.ends_with(suffix),
        (None, Some(prefix)) => host.starts_with(prefix),
        (None, None) => !glob.is_empty() && glob == host,
    }
}

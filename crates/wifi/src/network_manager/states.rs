//! NetworkManager's numbers: device states, reasons, security flags, signal strength.

use device::input::LinkFailure;

use super::profile::WifiSecurity;

/// The device is not managed by NetworkManager.
pub(super) const UNMANAGED: u32 = 10;

/// The device is not ready, or switched off.
pub(super) const UNAVAILABLE: u32 = 20;

/// The device has no network.
pub(super) const DISCONNECTED: u32 = 30;

/// First state of an activation.
const PREPARE: u32 = 40;

/// The network needs a password that is not known.
pub(super) const NEED_AUTH: u32 = 60;

/// Last state of an activation.
const SECONDARIES: u32 = 90;

/// The device has joined a network.
pub(super) const ACTIVATED: u32 = 100;

/// The activation failed; the next state is disconnected.
const FAILED: u32 = 120;

/// Reason: the profile was removed.
const CONNECTION_REMOVED: u32 = 38;

/// Reason: another activation was started.
const NEW_ACTIVATION: u32 = 60;

/// Failures by reason; all other reasons are connection failures.
const REASONS: &[(u32, LinkFailure)] = &[
    // No secrets: the result of a wrong password if no agent can supply another one.
    (7, LinkFailure::Auth),
    // The supplicant disconnected, could not be configured, failed, timed out.
    (8, LinkFailure::Association),
    (9, LinkFailure::Auth),
    (10, LinkFailure::Association),
    (11, LinkFailure::Handshake),
    // The network is not in range.
    (53, LinkFailure::NotFound),
];

/// Whether the device is joining a network, or has joined one. False while it waits for a password.
pub(super) fn is_activating(state: u32) -> bool {
    (PREPARE..=ACTIVATED).contains(&state) && state != NEED_AUTH
}

/// The failure that a change of the device state means; `None` if no activation has failed.
pub(super) fn failure(new: u32, old: u32, reason: u32) -> Option<LinkFailure> {
    let is_replaced = [NEW_ACTIVATION, CONNECTION_REMOVED].contains(&reason);
    let is_aborted = new <= DISCONNECTED && (PREPARE..=SECONDARIES).contains(&old);
    if new != FAILED && (!is_aborted || is_replaced) {
        return None;
    }
    let row = REASONS.iter().find(|(number, _)| *number == reason);
    Some(row.map_or(LinkFailure::Connection, |(_, failure)| *failure))
}

/// Converts NetworkManager's signal strength of 0 to 100 back to dBm. NetworkManager maps -100 dBm to -40 dBm linearly.
pub(super) fn dbm(strength: u8) -> i32 {
    i32::from(strength.min(100)) * 60 / 100 - 100
}

/// Flag of an access point: encrypted.
const PRIVACY: u32 = 0x1;

/// Key management flag: shared password (PSK).
const KEY_PSK: u32 = 0x100;

/// Key management flag: shared password (SAE).
const KEY_SAE: u32 = 0x400;

/// The authentication of an access point, from its flags.
pub(super) fn security(flags: u32, wpa: u32, rsn: u32) -> WifiSecurity {
    let keys = wpa | rsn;
    if keys & KEY_SAE != 0 && keys & KEY_PSK == 0 {
        WifiSecurity::Sae
    } else if keys != 0 || flags & PRIVACY != 0 {
        WifiSecurity::Psk
    } else {
        WifiSecurity::Open
    }
}

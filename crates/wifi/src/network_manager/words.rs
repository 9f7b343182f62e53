//! NetworkManager's numbers and what they mean here.

use device::input::LinkFailure;

use super::profile::WifiSecurity;

/// State of a device that NetworkManager leaves alone.
pub(super) const UNMANAGED: u32 = 10;

/// State of a device that cannot be used yet, or is switched off.
pub(super) const UNAVAILABLE: u32 = 20;

/// State of a device without a network.
pub(super) const DISCONNECTED: u32 = 30;

/// First state on the way to a network.
const PREPARE: u32 = 40;

/// State of a device whose network wants a password that is not known.
pub(super) const NEED_AUTH: u32 = 60;

/// Last state on the way to a network.
const SECONDARIES: u32 = 90;

/// State of a device on a network.
pub(super) const ACTIVATED: u32 = 100;

/// State of a device whose attempt failed; it is disconnected next.
const FAILED: u32 = 120;

/// Reason of a change that somebody's profile was removed.
const CONNECTION_REMOVED: u32 = 38;

/// Reason of a change that makes way for another attempt.
const NEW_ACTIVATION: u32 = 60;

/// Reasons of a failed attempt; all others are of the connection.
const REASONS: &[(u32, LinkFailure)] = &[
    // No secrets: without anybody to ask for another, a wrong password ends so.
    (7, LinkFailure::Auth),
    // The supplicant went away, could not be set up, failed, took too long.
    (8, LinkFailure::Association),
    (9, LinkFailure::Auth),
    (10, LinkFailure::Association),
    (11, LinkFailure::Handshake),
    // The network is not in reach.
    (53, LinkFailure::NotFound),
];

/// The device is on its way to a network, or on it, and nobody is asked for a password.
pub(super) fn is_underway(state: u32) -> bool {
    (PREPARE..=ACTIVATED).contains(&state) && state != NEED_AUTH
}

/// Why an attempt has failed, where a change of a device's state means that one has.
pub(super) fn failure(new: u32, old: u32, reason: u32) -> Option<LinkFailure> {
    let makes_way = [NEW_ACTIVATION, CONNECTION_REMOVED].contains(&reason);
    let broken_off = new <= DISCONNECTED && (PREPARE..=SECONDARIES).contains(&old);
    if new != FAILED && (!broken_off || makes_way) {
        return None;
    }
    let row = REASONS.iter().find(|(number, _)| *number == reason);
    Some(row.map_or(LinkFailure::Connection, |(_, failure)| *failure))
}

/// Strength of a signal, dBm, of NetworkManager's 0 to 100.
///
/// It makes these of -100 dBm to -40 dBm, on a straight line.
pub(super) fn dbm(strength: u8) -> i32 {
    i32::from(strength.min(100)) * 60 / 100 - 100
}

/// Flag of an access point: it encrypts.
const PRIVACY: u32 = 0x1;

/// Ways of an access point to agree on keys: with a shared password, in its older and its newer way.
const KEY_PSK: u32 = 0x100;
const KEY_SAE: u32 = 0x400;

/// What an access point asks for.
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

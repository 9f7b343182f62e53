//! Profiles as NetworkManager keeps them: which are ours, and what ours say.
//!
//! Ours carry a mark in their user data, so that no name and no place decides whose a profile is.

use std::{collections::BTreeMap, io};

use device::{output::AccessPoint, portal, secret::Secret};
use rustix::rand::{GetRandomFlags, getrandom};
use zbus::{OwnedObjectPath, OwnedVariant, Variant};

/// Settings of a connection profile as they are sent, by group.
pub(super) type ProfileSettings = BTreeMap<&'static str, ProfileSettingsGroup>;

/// A group of settings of a connection profile, by key.
type ProfileSettingsGroup = BTreeMap<&'static str, Variant<'static>>;

/// Settings of a connection profile as NetworkManager returns them, by group.
pub(super) type StoredProfile = BTreeMap<String, BTreeMap<String, OwnedVariant>>;

/// Key of the mark in the user data of our profiles.
const MARK: &str = "papertick.role";

/// Name people see on our profiles.
const NAME: &str = "papertick";

/// Of two networks in reach the one people gave the clock is joined.
const PRIORITY: i32 = 10;

/// Bits of the access point's own network.
const PORTAL_PREFIX: u32 = 24;

/// Shortest and longest password of networks with a shared password, bytes; and the length of a key in its place.
const PSK: std::ops::RangeInclusive<usize> = 8..=63;
const PSK_KEY: usize = 64;

/// What a connection profile is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProfileRole {
    /// The network that is stored.
    Network,
    /// Credentials that are being tried.
    Trial,
    /// The access point of the portal.
    AccessPoint,
}

impl ProfileRole {
    const NAMED: [(&'static str, ProfileRole); 3] = [
        ("network", ProfileRole::Network),
        ("trial", ProfileRole::Trial),
        ("access-point", ProfileRole::AccessPoint),
    ];

    fn name(self) -> &'static str {
        match self {
            ProfileRole::Network => "network",
            ProfileRole::Trial => "trial",
            ProfileRole::AccessPoint => "access-point",
        }
    }
}

/// How a Wi-Fi network authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WifiSecurity {
    /// Nothing.
    Open,
    /// A shared password.
    Psk,
    /// A shared password, in the newer way only.
    Sae,
}

impl WifiSecurity {
    /// Tells whether a password can be right at all.
    pub(super) fn admits(self, password: &str) -> bool {
        let is_key =
            password.len() == PSK_KEY && password.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self {
            WifiSecurity::Open => password.is_empty(),
            WifiSecurity::Psk => PSK.contains(&password.len()) || is_key,
            WifiSecurity::Sae => !password.is_empty(),
        }
    }
}

/// A network to join.
#[derive(Debug)]
pub(super) struct Station<'a> {
    /// Its name.
    pub(super) ssid: &'a str,
    /// Its password; empty for an open one.
    pub(super) password: &'a Secret,
    /// What it asks for.
    pub(super) security: WifiSecurity,
    /// It does not tell its name.
    pub(super) is_hidden: bool,
    /// Identity of the profile.
    pub(super) uuid: &'a str,
}

impl Station<'_> {
    /// A profile for the network; only a stored one is joined unasked.
    pub(super) fn settings(&self, role: ProfileRole) -> ProfileSettings {
        let mut connection = connection(NAME, self.uuid, role);
        connection.insert("autoconnect", (role == ProfileRole::Network).into());
        connection.insert("autoconnect-priority", PRIORITY.into());
        let mut wireless = wireless(self.ssid, "infrastructure");
        wireless.insert("hidden", self.is_hidden.into());
        let mut settings = ProfileSettings::from([
            ("connection", connection),
            ("user", mark(role)),
            ("802-11-wireless", wireless),
            (
                "ipv4",
                ProfileSettingsGroup::from([("method", "auto".into())]),
            ),
            (
                "ipv6",
                ProfileSettingsGroup::from([("method", "auto".into())]),
            ),
        ]);
        let key_management = match self.security {
            WifiSecurity::Open => return settings,
            WifiSecurity::Psk => "wpa-psk",
            WifiSecurity::Sae => "sae",
        };
        settings.insert(
            "802-11-wireless-security",
            keys(key_management, self.password),
        );
        settings
    }
}

/// A profile for the access point: the host shares its network there, and gives out addresses.
pub(super) fn access_point(wanted: &AccessPoint, uuid: &str) -> ProfileSettings {
    let mut connection = connection("papertick access point", uuid, ProfileRole::AccessPoint);
    connection.insert("autoconnect", false.into());
    let mut wireless = wireless(&wanted.ssid, "ap");
    wireless.insert("band", "bg".into());
    let address = ProfileSettingsGroup::from([
        ("address", portal::ADDRESS.into()),
        ("prefix", PORTAL_PREFIX.into()),
    ]);
    let ipv4 = ProfileSettingsGroup::from([
        ("method", "shared".into()),
        ("address-data", vec![address].into()),
    ]);
    let mut settings = ProfileSettings::from([
        ("connection", connection),
        ("user", mark(ProfileRole::AccessPoint)),
        ("802-11-wireless", wireless),
        ("ipv4", ipv4),
        (
            "ipv6",
            ProfileSettingsGroup::from([("method", "ignore".into())]),
        ),
    ]);
    if !wanted.password.expose().is_empty() {
        let mut keys = keys("wpa-psk", &wanted.password);
        keys.insert("proto", vec!["rsn"].into());
        keys.insert("pairwise", vec!["ccmp"].into());
        keys.insert("group", vec!["ccmp"].into());
        settings.insert("802-11-wireless-security", keys);
    }
    settings
}

fn connection(name: &'static str, uuid: &str, role: ProfileRole) -> ProfileSettingsGroup {
    let name = match role {
        ProfileRole::Network | ProfileRole::AccessPoint => name.to_string(),
        ProfileRole::Trial => format!("{name} (being tried)"),
    };
    ProfileSettingsGroup::from([
        ("id", name.into()),
        ("uuid", uuid.to_string().into()),
        ("type", "802-11-wireless".into()),
    ])
}

fn wireless(ssid: &str, mode: &'static str) -> ProfileSettingsGroup {
    ProfileSettingsGroup::from([
        ("ssid", ssid.as_bytes().to_vec().into()),
        ("mode", mode.into()),
    ])
}

fn keys(management: &'static str, password: &Secret) -> ProfileSettingsGroup {
    ProfileSettingsGroup::from([
        ("key-mgmt", management.into()),
        ("psk", password.expose().to_string().into()),
    ])
}

fn mark(role: ProfileRole) -> ProfileSettingsGroup {
    let data = BTreeMap::from([(MARK, role.name())]);
    ProfileSettingsGroup::from([("data", data.into())])
}

/// An identity for a new profile.
///
/// # Errors
/// The system has no random numbers.
pub(super) fn uuid() -> io::Result<String> {
    let mut bytes = [0; 16];
    // The system fills so few bytes in one go.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let number = u128::from_be_bytes(bytes);
    let digits = format!("{number:032x}");
    Ok([0..8, 8..12, 12..16, 16..20, 20..32]
        .map(|part| digits[part].to_string())
        .join("-"))
}

/// A profile that NetworkManager has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    /// Where it is.
    pub(super) path: OwnedObjectPath,
    /// What it is for, if it is ours.
    pub(super) role: Option<ProfileRole>,
    /// The network it joins; none if it is no profile to join a Wi-Fi network with.
    pub(super) ssid: Option<String>,
    /// It is used without anybody asking for it.
    pub(super) is_automatic: bool,
    /// When it was last used, s since 1970.
    pub(super) used: u64,
}

impl Profile {
    /// Reads what is of interest.
    pub(super) fn read(path: OwnedObjectPath, settings: &StoredProfile) -> Profile {
        let text = |group: &str, key: &str| value::<String>(settings, group, key);
        let is_wifi = text("connection", "type").as_deref() == Some("802-11-wireless");
        let mode = text("802-11-wireless", "mode");
        let joins = is_wifi && mode.is_none_or(|mode| mode == "infrastructure");
        let ssid = value::<Vec<u8>>(settings, "802-11-wireless", "ssid");
        let marks = value::<BTreeMap<String, String>>(settings, "user", "data");
        let mark = marks.as_ref().and_then(|marks| marks.get(MARK));
        let role = ProfileRole::NAMED
            .into_iter()
            .find(|(name, _)| mark.is_some_and(|mark| mark == name));
        Profile {
            path,
            role: role.map(|(_, role)| role),
            ssid: ssid
                .filter(|_| joins)
                .and_then(|ssid| String::from_utf8(ssid).ok()),
            is_automatic: value(settings, "connection", "autoconnect").unwrap_or(true),
            used: value(settings, "connection", "timestamp").unwrap_or(0),
        }
    }

    /// The clock may join a network with it: one that is stored, or one that the host knows by itself.
    pub(super) fn is_known(&self) -> bool {
        match self.role {
            Some(ProfileRole::Network) => true,
            Some(ProfileRole::Trial | ProfileRole::AccessPoint) => false,
            None => self.ssid.is_some() && self.is_automatic,
        }
    }
}

fn value<T: TryFrom<OwnedVariant>>(settings: &StoredProfile, group: &str, key: &str) -> Option<T> {
    let value = settings.get(group)?.get(key)?.try_clone().ok()?;
    T::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    fn sent(settings: ProfileSettings) -> StoredProfile {
        let group = |group: ProfileSettingsGroup| {
            let owned = |(key, value): (&str, Variant<'static>)| {
                (key.to_string(), value.try_into_owned().unwrap())
            };
            group.into_iter().map(owned).collect()
        };
        settings
            .into_iter()
            .map(|(name, keys)| (name.to_string(), group(keys)))
            .collect()
    }

    fn read(settings: ProfileSettings) -> Profile {
        let path = OwnedObjectPath::try_from("/p").unwrap();
        Profile::read(path, &sent(settings))
    }

    fn station(role: ProfileRole) -> ProfileSettings {
        let station = Station {
            ssid: "Café",
            password: &Secret::new("correct horse"),
            security: WifiSecurity::Psk,
            is_hidden: false,
            uuid: "u",
        };
        station.settings(role)
    }

    #[test]
    fn ours_are_known_by_their_mark() {
        let network = read(station(ProfileRole::Network));
        assert_eq!(network.role, Some(ProfileRole::Network));
        assert_eq!(network.ssid.as_deref(), Some("Café"));
        assert!(network.is_known() && network.is_automatic);

        let trial = read(station(ProfileRole::Trial));
        assert_eq!(trial.role, Some(ProfileRole::Trial));
        assert!(!trial.is_known() && !trial.is_automatic);

        let wanted = AccessPoint {
            ssid: "papertick-ABCD".to_string(),
            password: Secret::new("hunter22"),
        };
        let own = read(access_point(&wanted, "u"));
        assert_eq!(own.role, Some(ProfileRole::AccessPoint));
        assert!(!own.is_known() && own.ssid.is_none());
    }

    #[test]
    fn passwords_that_can_be_right() {
        let key = "0123456789abcdef".repeat(4);
        for (security, password, expected) in [
            (WifiSecurity::Open, "", true),
            (WifiSecurity::Open, "12345678", false),
            (WifiSecurity::Psk, "", false),
            (WifiSecurity::Psk, "1234567", false),
            (WifiSecurity::Psk, "12345678", true),
            (WifiSecurity::Psk, &key[..63], true),
            (WifiSecurity::Psk, &key, true),
            (WifiSecurity::Psk, &key.replace('a', "x"), false),
            (WifiSecurity::Sae, "1", true),
            (WifiSecurity::Sae, "", false),
        ] {
            assert_eq!(
                security.admits(password),
                expected,
                "{security:?} {password}"
            );
        }
    }
}

//! Connection profiles of NetworkManager: which ones are the clock's own, and their content.
//!
//! Own profiles have a mark in their user data, because names and paths are not reliable.

use std::{collections::BTreeMap, io};

use device::{output::AccessPoint, portal, secret::Secret};
use rustix::rand::{GetRandomFlags, getrandom};
use zbus::{OwnedObjectPath, OwnedVariant, Variant};

/// Settings of a connection profile for NetworkManager, by group.
pub(super) type ProfileSettings = BTreeMap<&'static str, ProfileSettingsGroup>;

/// A group of settings of a connection profile, by key.
type ProfileSettingsGroup = BTreeMap<&'static str, Variant<'static>>;

/// Settings of a connection profile as NetworkManager returns them, by group.
pub(super) type StoredProfile = BTreeMap<String, BTreeMap<String, OwnedVariant>>;

/// Key of the mark in the user data of own profiles.
const MARK: &str = "papertick.role";

/// Name of own profiles, which people see.
const NAME: &str = "papertick";

/// Priority of the stored network, higher than that of the host's networks.
const PRIORITY: i32 = 10;

/// Prefix length of the access point's network.
const PORTAL_PREFIX: u32 = 24;

/// Length of a WPA password, bytes.
const PSK_LEN: std::ops::RangeInclusive<usize> = 8..=63;

/// Length of a WPA key in hex digits, instead of a password.
const PSK_KEY_LEN: usize = 64;

/// What a connection profile is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProfileRole {
    /// The stored network.
    Network,
    /// Credentials that are being tried.
    Trial,
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
    /// No authentication.
    Open,
    /// A shared password (WPA-PSK).
    Psk,
    /// A shared password with WPA3-SAE only.
    Sae,
}

impl WifiSecurity {
    /// Whether a password has a valid form.
    pub(super) fn accepts(self, password: &str) -> bool {
        let is_key =
            password.len() == PSK_KEY_LEN && password.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self {
            WifiSecurity::Open => password.is_empty(),
            WifiSecurity::Psk => PSK_LEN.contains(&password.len()) || is_key,
            WifiSecurity::Sae => !password.is_empty(),
        }
    }
}

/// A network to join.
#[derive(Debug)]
pub(super) struct Station<'a> {
    pub(super) ssid: &'a str,
    /// Its password; empty for an open one.
    pub(super) password: &'a Secret,
    pub(super) security: WifiSecurity,
    /// It does not broadcast its name.
    pub(super) is_hidden: bool,
    pub(super) uuid: &'a str,
}

impl Station<'_> {
    /// A profile for the network. NetworkManager joins it automatically only in the role of the stored network.
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

/// A profile for the access point. NetworkManager runs a DHCP server for it.
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

/// A random UUID for a new profile.
///
/// # Errors
/// The system has no random numbers.
pub(super) fn uuid() -> io::Result<String> {
    let mut bytes = [0; 16];
    // Fills up to 256 bytes in one call.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let number = u128::from_be_bytes(bytes);
    let digits = format!("{number:032x}");
    Ok([0..8, 8..12, 12..16, 16..20, 20..32]
        .map(|part| digits[part].to_string())
        .join("-"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) path: OwnedObjectPath,
    /// Its role if it is an own profile.
    pub(super) role: Option<ProfileRole>,
    /// The network it joins; `None` if it is not for joining a Wi-Fi network.
    pub(super) ssid: Option<String>,
    /// NetworkManager uses it automatically.
    pub(super) is_automatic: bool,
    /// When it was last used, s since 1970-01-01 UTC.
    pub(super) used: u64,
}

impl Profile {
    pub(super) fn parse(path: OwnedObjectPath, settings: &StoredProfile) -> Profile {
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

    /// Whether the clock may join a network with this profile: the stored one, or an automatic one of the host.
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

    fn stored(settings: ProfileSettings) -> StoredProfile {
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

    fn parsed(settings: ProfileSettings) -> Profile {
        let path = OwnedObjectPath::try_from("/p").unwrap();
        Profile::parse(path, &stored(settings))
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
    fn own_profiles_are_recognised_by_their_mark() {
        let network = parsed(station(ProfileRole::Network));
        assert_eq!(network.role, Some(ProfileRole::Network));
        assert_eq!(network.ssid.as_deref(), Some("Café"));
        assert!(network.is_known() && network.is_automatic);

        let trial = parsed(station(ProfileRole::Trial));
        assert_eq!(trial.role, Some(ProfileRole::Trial));
        assert!(!trial.is_known() && !trial.is_automatic);

        let wanted = AccessPoint {
            ssid: "papertick-ABCD".to_string(),
            password: Secret::new("hunter22"),
        };
        let own = parsed(access_point(&wanted, "u"));
        assert_eq!(own.role, Some(ProfileRole::AccessPoint));
        assert!(!own.is_known() && own.ssid.is_none());
    }

    #[test]
    fn the_form_of_passwords_is_checked() {
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
                security.accepts(password),
                expected,
                "{security:?} {password}"
            );
        }
    }
}

//! Calls to NetworkManager: its radio, the state of the connection, profiles, networks in range.

use std::{collections::BTreeMap, net::IpAddr};

use board::ports::WifiNetwork;
use zbus::{Error, ObjectPath, OwnedObjectPath, OwnedVariant};

use super::{
    bus::{self, DBusConnection, DEVICE, MANAGER, MANAGER_PATH, NO_OBJECT, Properties},
    profile::{Profile, ProfileSettings, StoredProfile, WifiSecurity},
    states::{self, UNAVAILABLE, UNMANAGED},
};

const WIRELESS: &str = "org.freedesktop.NetworkManager.Device.Wireless";
const ACCESS_POINT: &str = "org.freedesktop.NetworkManager.AccessPoint";
const ACTIVE: &str = "org.freedesktop.NetworkManager.Connection.Active";
const PROFILES: &str = "org.freedesktop.NetworkManager.Settings";
const PROFILES_PATH: &str = "/org/freedesktop/NetworkManager/Settings";
const PROFILE: &str = "org.freedesktop.NetworkManager.Settings.Connection";

/// Properties of a device with its address configuration, and the interface of that object.
const ADDRESSES: [(&str, &str); 2] = [
    ("Ip4Config", "org.freedesktop.NetworkManager.IP4Config"),
    ("Ip6Config", "org.freedesktop.NetworkManager.IP6Config"),
];

/// Device type of a Wi-Fi radio.
const WIFI: u32 = 2;

/// Permissions that the clock needs.
const PERMISSIONS: [&str; 3] = [
    "org.freedesktop.NetworkManager.network-control",
    "org.freedesktop.NetworkManager.settings.modify.system",
    "org.freedesktop.NetworkManager.wifi.share.protected",
];

/// Most devices, profiles and networks that are read.
const OBJECTS_MAX: usize = 256;

/// Why no radio can be managed.
#[derive(Debug, thiserror::Error)]
pub(super) enum RadioError {
    /// The bus does not exist or does not respond.
    #[error("D-Bus does not respond: {0}")]
    Bus(#[from] Error),
    /// The connection to the bus was closed.
    #[error("the connection to D-Bus was closed")]
    Closed,
    /// NetworkManager does not run.
    #[error("NetworkManager does not run")]
    NoManager,
    /// NetworkManager is still starting.
    #[error("NetworkManager is still starting")]
    Starting,
    /// NetworkManager manages no radio.
    #[error("NetworkManager manages no Wi-Fi device")]
    NoDevice,
    /// The radio is switched off, or its driver is not ready.
    #[error("the Wi-Fi device is not available: it may be switched off")]
    Unavailable,
    /// A permission is missing.
    #[error("the permission {0} is missing")]
    Forbidden(&'static str),
}

impl RadioError {
    /// Whether the error may be temporary while the host starts.
    pub(super) fn may_be_temporary(&self) -> bool {
        match self {
            RadioError::Bus(_)
            | RadioError::Closed
            | RadioError::NoManager
            | RadioError::Starting
            | RadioError::Unavailable => true,
            RadioError::NoDevice | RadioError::Forbidden(_) => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RadioState {
    pub(super) device: u32,
    pub(super) profile: Option<OwnedObjectPath>,
    /// Address of the device.
    pub(super) ip: Option<String>,
    /// Name of the network.
    pub(super) ssid: Option<String>,
    /// Signal strength, dBm.
    pub(super) rssi: Option<i32>,
    /// Objects whose changes may change this state.
    pub(super) watched: Vec<OwnedObjectPath>,
}

/// A Wi-Fi network in range, as NetworkManager lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScannedNetwork {
    pub(super) path: OwnedObjectPath,
    pub(super) ssid: String,
    pub(super) rssi: i32,
    pub(super) security: WifiSecurity,
}

impl From<ScannedNetwork> for WifiNetwork {
    fn from(seen: ScannedNetwork) -> WifiNetwork {
        WifiNetwork {
            ssid: seen.ssid,
            rssi: seen.rssi,
            secured: seen.security != WifiSecurity::Open,
        }
    }
}

impl DBusConnection {
    /// Finds the radio to manage.
    pub(super) async fn radio(&self) -> Result<OwnedObjectPath, RadioError> {
        if !self.has_manager().await? {
            return Err(RadioError::NoManager);
        }
        let starting = self.property(MANAGER_PATH, MANAGER, "Startup").await?;
        if starting == Some(true) {
            return Err(RadioError::Starting);
        }
        let allowed: BTreeMap<String, String> = self
            .call(MANAGER_PATH, MANAGER, "GetPermissions", &())
            .await?;
        // "auth" needs a password of a person, so only "yes" is enough.
        let refused = |name: &str| allowed.get(name).is_some_and(|value| value != "yes");
        if let Some(name) = PERMISSIONS.into_iter().find(|name| refused(name)) {
            return Err(RadioError::Forbidden(name));
        }
        let devices: Vec<OwnedObjectPath> =
            self.call(MANAGER_PATH, MANAGER, "GetDevices", &()).await?;
        let mut failure = RadioError::NoDevice;
        for device in devices.into_iter().take(OBJECTS_MAX) {
            let kind: Option<u32> = self.property(&device, DEVICE, "DeviceType").await?;
            if kind != Some(WIFI) {
                continue;
            }
            match self.device_state(&device).await? {
                UNMANAGED => {}
                UNAVAILABLE => failure = RadioError::Unavailable,
                _ => return Ok(device),
            }
        }
        Err(failure)
    }

    pub(super) async fn device_state(&self, device: &OwnedObjectPath) -> zbus::Result<u32> {
        let state = self.property(device, DEVICE, "State").await?;
        Ok(state.unwrap_or(UNMANAGED))
    }

    /// Reads the state of a radio and its connection.
    pub(super) async fn radio_state(&self, device: &OwnedObjectPath) -> zbus::Result<RadioState> {
        let mut state = RadioState {
            device: self.device_state(device).await?,
            watched: vec![device.clone()],
            ..RadioState::default()
        };
        let active = self.object(device, DEVICE, "ActiveConnection").await?;
        let mut access_point = self.object(device, WIRELESS, "ActiveAccessPoint").await?;
        if let Some(active) = active {
            state.profile = self.object(&active, ACTIVE, "Connection").await?;
            if access_point.is_none() {
                access_point = self.object(&active, ACTIVE, "SpecificObject").await?;
            }
            state.watched.push(active);
        }
        if let Some(access_point) = access_point {
            if let Some(seen) = self.scanned_network(access_point.clone()).await? {
                state.ssid = Some(seen.ssid);
                state.rssi = Some(seen.rssi);
            }
            state.watched.push(access_point);
        }
        for (property, interface) in ADDRESSES {
            if state.ip.is_some() {
                break;
            }
            if let Some(config) = self.object(device, DEVICE, property).await? {
                state.ip = self.address(&config, interface).await?;
                state.watched.push(config);
            }
        }
        Ok(state)
    }

    async fn address(
        &self,
        config: &OwnedObjectPath,
        interface: &str,
    ) -> zbus::Result<Option<String>> {
        let rows: Option<Vec<BTreeMap<String, OwnedVariant>>> =
            self.property(config, interface, "AddressData").await?;
        let address = |row: &BTreeMap<String, OwnedVariant>| {
            let text: &str = row.get("address")?.try_into().ok()?;
            text.parse::<IpAddr>().ok()
        };
        let addresses = rows.unwrap_or_default();
        let usable = |address: &IpAddr| match address {
            IpAddr::V4(_) => true,
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        };
        let first = addresses.iter().filter_map(address).find(usable);
        Ok(first.map(|address| address.to_string()))
    }

    /// Reads a property with an object path; `None` if it has no object.
    async fn object(
        &self,
        path: &OwnedObjectPath,
        interface: &str,
        name: &str,
    ) -> zbus::Result<Option<OwnedObjectPath>> {
        let object: Option<OwnedObjectPath> = self.property(path, interface, name).await?;
        Ok(object.filter(|object| object.as_str() != NO_OBJECT))
    }

    /// Requests a scan. Returns the time of the previous scan, if the radio reports it.
    pub(super) async fn request_scan(&self, device: &OwnedObjectPath) -> zbus::Result<Option<i64>> {
        let before = self.last_scan(device).await?;
        let options = Properties::new();
        let () = self
            .call(device, WIRELESS, "RequestScan", &(options,))
            .await?;
        Ok(before)
    }

    /// Time of the last scan in ms since boot.
    pub(super) async fn last_scan(&self, device: &OwnedObjectPath) -> zbus::Result<Option<i64>> {
        self.property(device, WIRELESS, "LastScan").await
    }

    pub(super) async fn scanned_networks(
        &self,
        device: &OwnedObjectPath,
    ) -> zbus::Result<Vec<ScannedNetwork>> {
        let paths: Vec<OwnedObjectPath> = self
            .call(device, WIRELESS, "GetAllAccessPoints", &())
            .await?;
        let mut networks = Vec::new();
        for path in paths.into_iter().take(OBJECTS_MAX) {
            networks.extend(self.scanned_network(path).await?);
        }
        Ok(networks)
    }

    /// Reads a network; `None` if its name is empty or not UTF-8.
    async fn scanned_network(&self, path: OwnedObjectPath) -> zbus::Result<Option<ScannedNetwork>> {
        let Some(properties) = self.properties(&path, ACCESS_POINT).await? else {
            return Ok(None);
        };
        let ssid =
            read::<Vec<u8>>(&properties, "Ssid").and_then(|ssid| String::from_utf8(ssid).ok());
        let flags = |name: &str| read::<u32>(&properties, name).unwrap_or_default();
        Ok(ssid
            .filter(|ssid| !ssid.is_empty())
            .map(|ssid| ScannedNetwork {
                path,
                ssid,
                rssi: states::dbm(read(&properties, "Strength").unwrap_or_default()),
                security: states::security(flags("Flags"), flags("WpaFlags"), flags("RsnFlags")),
            }))
    }

    pub(super) async fn profiles(&self) -> zbus::Result<Vec<Profile>> {
        let paths: Vec<OwnedObjectPath> = self
            .call(PROFILES_PATH, PROFILES, "ListConnections", &())
            .await?;
        let mut profiles = Vec::new();
        for path in paths.into_iter().take(OBJECTS_MAX) {
            profiles.extend(self.profile(path).await?);
        }
        Ok(profiles)
    }

    async fn profile(&self, path: OwnedObjectPath) -> zbus::Result<Option<Profile>> {
        let settings: Option<StoredProfile> =
            bus::if_exists(self.call(&path, PROFILE, "GetSettings", &()).await)?;
        Ok(settings.map(|settings| Profile::parse(path, &settings)))
    }

    /// Adds a profile that is kept in memory only.
    pub(super) async fn add(&self, settings: &ProfileSettings) -> zbus::Result<OwnedObjectPath> {
        self.call(
            PROFILES_PATH,
            PROFILES,
            "AddConnectionUnsaved",
            &(settings,),
        )
        .await
    }

    /// Replaces a profile and stores it on the disk.
    pub(super) async fn store(
        &self,
        profile: &OwnedObjectPath,
        settings: &ProfileSettings,
    ) -> zbus::Result<()> {
        self.call(profile, PROFILE, "Update", &(settings,)).await
    }

    /// Deletes an own profile. A radio that uses it leaves its network.
    ///
    /// Checks again that the profile is an own one, because NetworkManager reuses paths after a restart.
    pub(super) async fn delete(&self, profile: &OwnedObjectPath) -> zbus::Result<()> {
        let known = self.profile(profile.clone()).await?;
        match known.and_then(|profile| profile.role) {
            Some(_) => self.call(profile, PROFILE, "Delete", &()).await,
            None => Ok(()),
        }
    }

    /// Activates a profile on a radio. `None` lets NetworkManager choose the profile or the network.
    pub(super) async fn activate(
        &self,
        device: &OwnedObjectPath,
        profile: Option<&OwnedObjectPath>,
        network: Option<&OwnedObjectPath>,
    ) -> zbus::Result<()> {
        let body = (path_of(profile), device.as_ref(), path_of(network));
        let _active: OwnedObjectPath = self
            .call(MANAGER_PATH, MANAGER, "ActivateConnection", &body)
            .await?;
        Ok(())
    }
}

fn path_of(path: Option<&OwnedObjectPath>) -> ObjectPath<'_> {
    path.map_or(ObjectPath::from_static_str_unchecked(NO_OBJECT), |path| {
        path.as_ref()
    })
}

fn read<T: TryFrom<OwnedVariant>>(properties: &Properties, name: &str) -> Option<T> {
    T::try_from(properties.get(name)?.try_clone().ok()?).ok()
}

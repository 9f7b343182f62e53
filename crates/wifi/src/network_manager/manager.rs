//! What NetworkManager is asked for: its radio, what that is connected to, profiles, networks in reach.

use std::{collections::BTreeMap, net::IpAddr};

use board::ports::WifiNetwork;
use zbus::{Error, ObjectPath, OwnedObjectPath, OwnedVariant};

use super::{
    bus::{self, DBusConnection, DEVICE, MANAGER, MANAGER_PATH, NO_OBJECT, Properties},
    profile::{Profile, ProfileSettings, StoredProfile, WifiSecurity},
    words::{self, UNAVAILABLE, UNMANAGED},
};

const WIRELESS: &str = "org.freedesktop.NetworkManager.Device.Wireless";
const ACCESS_POINT: &str = "org.freedesktop.NetworkManager.AccessPoint";
const ACTIVE: &str = "org.freedesktop.NetworkManager.Connection.Active";
const PROFILES: &str = "org.freedesktop.NetworkManager.Settings";
const PROFILES_PATH: &str = "/org/freedesktop/NetworkManager/Settings";
const PROFILE: &str = "org.freedesktop.NetworkManager.Settings.Connection";

/// Where a device names the addresses it has, by its property and the interface of the object there.
const ADDRESSES: [(&str, &str); 2] = [
    ("Ip4Config", "org.freedesktop.NetworkManager.IP4Config"),
    ("Ip6Config", "org.freedesktop.NetworkManager.IP6Config"),
];

/// Type of a device that is a radio.
const WIFI: u32 = 2;

/// What the clock must be allowed to do.
const PERMISSIONS: [&str; 3] = [
    "org.freedesktop.NetworkManager.network-control",
    "org.freedesktop.NetworkManager.settings.modify.system",
    "org.freedesktop.NetworkManager.wifi.share.protected",
];

/// Devices, profiles and networks that are looked at.
const LOOKED_AT: usize = 256;

/// Why no radio can be managed.
#[derive(Debug, thiserror::Error)]
pub(super) enum RadioError {
    /// The bus is not there, or does not answer.
    #[error("the bus does not answer: {0}")]
    Silence(#[from] Error),
    /// The bus went away.
    #[error("the bus went away")]
    Gone,
    /// Nobody has the name.
    #[error("NetworkManager does not run")]
    NoManager,
    /// It is still finding its devices.
    #[error("NetworkManager is still starting")]
    Starting,
    /// It manages no radio.
    #[error("NetworkManager manages no Wi-Fi device")]
    NoDevice,
    /// Its radio is switched off, or its driver is not ready.
    #[error("the Wi-Fi device is not available: it may be switched off")]
    Unavailable,
    /// It would not do what is asked.
    #[error("the permission {0} is missing")]
    Forbidden(&'static str),
}

impl RadioError {
    /// It may pass while the host starts.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            RadioError::Silence(_)
            | RadioError::Gone
            | RadioError::NoManager
            | RadioError::Starting
            | RadioError::Unavailable => true,
            RadioError::NoDevice | RadioError::Forbidden(_) => false,
        }
    }
}

/// What the radio is at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sight {
    /// State of the device.
    pub(super) state: u32,
    /// The profile that is used.
    pub(super) profile: Option<OwnedObjectPath>,
    /// Address of the device.
    pub(super) ip: Option<String>,
    /// Name of the network.
    pub(super) ssid: Option<String>,
    /// Strength of its signal, dBm.
    pub(super) rssi: Option<i32>,
    /// Objects whose changes change this.
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
    /// Finds the radio that is to be managed.
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
        // Nobody is there to be asked, so what needs a person's consent is refused.
        let refused = |name: &str| allowed.get(name).is_some_and(|answer| answer != "yes");
        if let Some(name) = PERMISSIONS.into_iter().find(|name| refused(name)) {
            return Err(RadioError::Forbidden(name));
        }
        let devices: Vec<OwnedObjectPath> =
            self.call(MANAGER_PATH, MANAGER, "GetDevices", &()).await?;
        let mut trouble = RadioError::NoDevice;
        for device in devices.into_iter().take(LOOKED_AT) {
            let kind: Option<u32> = self.property(&device, DEVICE, "DeviceType").await?;
            if kind != Some(WIFI) {
                continue;
            }
            match self.state(&device).await? {
                UNMANAGED => {}
                UNAVAILABLE => trouble = RadioError::Unavailable,
                _ => return Ok(device),
            }
        }
        Err(trouble)
    }

    /// State of a device.
    pub(super) async fn state(&self, device: &OwnedObjectPath) -> zbus::Result<u32> {
        let state = self.property(device, DEVICE, "State").await?;
        Ok(state.unwrap_or(UNMANAGED))
    }

    /// Looks at what a radio is at.
    pub(super) async fn sight(&self, device: &OwnedObjectPath) -> zbus::Result<Sight> {
        let mut sight = Sight {
            state: self.state(device).await?,
            watched: vec![device.clone()],
            ..Sight::default()
        };
        let active = self.object(device, DEVICE, "ActiveConnection").await?;
        let mut access_point = self.object(device, WIRELESS, "ActiveAccessPoint").await?;
        if let Some(active) = active {
            sight.profile = self.object(&active, ACTIVE, "Connection").await?;
            if access_point.is_none() {
                access_point = self.object(&active, ACTIVE, "SpecificObject").await?;
            }
            sight.watched.push(active);
        }
        if let Some(access_point) = access_point {
            if let Some(seen) = self.seen(access_point.clone()).await? {
                sight.ssid = Some(seen.ssid);
                sight.rssi = Some(seen.rssi);
            }
            sight.watched.push(access_point);
        }
        for (property, interface) in ADDRESSES {
            if sight.ip.is_some() {
                break;
            }
            if let Some(config) = self.object(device, DEVICE, property).await? {
                sight.ip = self.address(&config, interface).await?;
                sight.watched.push(config);
            }
        }
        Ok(sight)
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

    /// Reads a property that names an object; none if it names none.
    async fn object(
        &self,
        path: &OwnedObjectPath,
        interface: &str,
        name: &str,
    ) -> zbus::Result<Option<OwnedObjectPath>> {
        let object: Option<OwnedObjectPath> = self.property(path, interface, name).await?;
        Ok(object.filter(|object| object.as_str() != NO_OBJECT))
    }

    /// Asks a radio to look around; its word of the last time it has, if it gives one.
    pub(super) async fn look_around(&self, device: &OwnedObjectPath) -> zbus::Result<Option<i64>> {
        let before = self.last_scan(device).await?;
        let options = Properties::new();
        let () = self
            .call(device, WIRELESS, "RequestScan", &(options,))
            .await?;
        Ok(before)
    }

    /// When a radio last looked around, ms of a clock of its own.
    pub(super) async fn last_scan(&self, device: &OwnedObjectPath) -> zbus::Result<Option<i64>> {
        self.property(device, WIRELESS, "LastScan").await
    }

    /// The networks a radio sees.
    pub(super) async fn in_reach(
        &self,
        device: &OwnedObjectPath,
    ) -> zbus::Result<Vec<ScannedNetwork>> {
        let paths: Vec<OwnedObjectPath> = self
            .call(device, WIRELESS, "GetAllAccessPoints", &())
            .await?;
        let mut networks = Vec::new();
        for path in paths.into_iter().take(LOOKED_AT) {
            networks.extend(self.seen(path).await?);
        }
        Ok(networks)
    }

    /// A network; none without a name that can be written down.
    async fn seen(&self, path: OwnedObjectPath) -> zbus::Result<Option<ScannedNetwork>> {
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
                rssi: words::dbm(read(&properties, "Strength").unwrap_or_default()),
                security: words::security(flags("Flags"), flags("WpaFlags"), flags("RsnFlags")),
            }))
    }

    /// All profiles.
    pub(super) async fn profiles(&self) -> zbus::Result<Vec<Profile>> {
        let paths: Vec<OwnedObjectPath> = self
            .call(PROFILES_PATH, PROFILES, "ListConnections", &())
            .await?;
        let mut profiles = Vec::new();
        for path in paths.into_iter().take(LOOKED_AT) {
            profiles.extend(self.profile(path).await?);
        }
        Ok(profiles)
    }

    async fn profile(&self, path: OwnedObjectPath) -> zbus::Result<Option<Profile>> {
        let settings: Option<StoredProfile> =
            bus::there(self.call(&path, PROFILE, "GetSettings", &()).await)?;
        Ok(settings.map(|settings| Profile::read(path, &settings)))
    }

    /// Adds a profile that lasts no longer than NetworkManager runs.
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

    /// Deletes a profile if it is ours; a radio that uses it leaves its network.
    ///
    /// The mark is looked at once more: a NetworkManager that was started again gives old paths to other profiles.
    pub(super) async fn delete(&self, profile: &OwnedObjectPath) -> zbus::Result<()> {
        let known = self.profile(profile.clone()).await?;
        match known.and_then(|profile| profile.role) {
            Some(_) => self.call(profile, PROFILE, "Delete", &()).await,
            None => Ok(()),
        }
    }

    /// Makes a radio use a profile, or the best one without one, at a network or any.
    pub(super) async fn activate(
        &self,
        device: &OwnedObjectPath,
        profile: Option<&OwnedObjectPath>,
        network: Option<&OwnedObjectPath>,
    ) -> zbus::Result<()> {
        let body = (or_none(profile), device.as_ref(), or_none(network));
        let _active: OwnedObjectPath = self
            .call(MANAGER_PATH, MANAGER, "ActivateConnection", &body)
            .await?;
        Ok(())
    }
}

fn or_none(path: Option<&OwnedObjectPath>) -> ObjectPath<'_> {
    path.map_or(ObjectPath::from_static_str_unchecked(NO_OBJECT), |path| {
        path.as_ref()
    })
}

fn read<T: TryFrom<OwnedVariant>>(properties: &Properties, name: &str) -> Option<T> {
    T::try_from(properties.get(name)?.try_clone().ok()?).ok()
}

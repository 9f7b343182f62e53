//! A host for one test: a private D-Bus, with python-dbusmock as NetworkManager.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use board::ports::Wifi;
use device::input::LinkEvent;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::time::timeout;
use wifi::network_manager::{NetworkManager, Options};
use zbus::{
    Connection, DynamicType, MatchRule, MessageStream, OwnedObjectPath, Type, Variant, connection,
    message,
};

use crate::needs;

/// The Python of Debian, which has dbusmock; another Python may be first on the path.
const PYTHON: &str = "/usr/bin/python3";

/// Timeout on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait for events that must not happen.
pub(crate) const MOMENT: Duration = Duration::from_millis(300);

pub(crate) const MANAGER: &str = "org.freedesktop.NetworkManager";
pub(crate) const MANAGER_PATH: &str = "/org/freedesktop/NetworkManager";
pub(crate) const PROFILES: &str = "org.freedesktop.NetworkManager.Settings";
pub(crate) const PROFILES_PATH: &str = "/org/freedesktop/NetworkManager/Settings";
pub(crate) const PROFILE: &str = "org.freedesktop.NetworkManager.Settings.Connection";
pub(crate) const DEVICE: &str = "org.freedesktop.NetworkManager.Device";
pub(crate) const RADIO: &str = "/org/freedesktop/NetworkManager/Devices/wlan0";
const WIRELESS: &str = "org.freedesktop.NetworkManager.Device.Wireless";
const ACCESS_POINT: &str = "org.freedesktop.NetworkManager.AccessPoint";
const MOCK: &str = "org.freedesktop.DBus.Mock";

/// Properties for the addresses of a radio, IPv4 or IPv6.
pub(crate) struct Addresses {
    property: &'static str,
    interface: &'static str,
    path: &'static str,
}

pub(crate) const IPV4: Addresses = Addresses {
    property: "Ip4Config",
    interface: "org.freedesktop.NetworkManager.IP4Config",
    path: "/org/freedesktop/NetworkManager/IP4Config/1",
};

pub(crate) const IPV6: Addresses = Addresses {
    property: "Ip6Config",
    interface: "org.freedesktop.NetworkManager.IP6Config",
    path: "/org/freedesktop/NetworkManager/IP6Config/1",
};

/// Settings of a profile: groups of keys.
pub(crate) type Settings = BTreeMap<&'static str, BTreeMap<&'static str, Variant<'static>>>;

/// A process that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A host with a bus, with or without NetworkManager.
pub(crate) struct Host {
    folder: TempDir,
    daemon: Option<Running>,
    mock: Option<Running>,
    client: Option<Connection>,
}

/// Whether the programs for the mock are installed.
fn installed() -> bool {
    let has = |program: &str, arguments: &[&str]| {
        Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let bus = has("dbus-daemon", &["--version"]);
    let mock = has(PYTHON, &["-c", "import dbusmock"]);
    needs::met("dbus-daemon", bus) && needs::met("python3-dbusmock", mock)
}

impl Host {
    /// A host with a bus. `None` if a program is missing.
    pub(crate) async fn bare() -> Option<Host> {
        if !installed() {
            return None;
        }
        let mut host = Host {
            folder: tempfile::tempdir().unwrap(),
            daemon: None,
            mock: None,
            client: None,
        };
        host.start_bus().await;
        Some(host)
    }

    /// A host with NetworkManager, but without a radio.
    pub(crate) async fn wired() -> Option<Host> {
        let mut host = Host::bare().await?;
        host.start_manager().await;
        Some(host)
    }

    /// A host with a radio without a connection, and two networks in range.
    pub(crate) async fn with_radio() -> Option<Host> {
        let host = Host::wired().await?;
        host.add_radio(30).await;
        Some(host)
    }

    pub(crate) fn address(&self) -> String {
        format!("unix:path={}", self.folder.path().join("bus").display())
    }

    pub(crate) async fn start_bus(&mut self) {
        let socket = self.folder.path().join("bus");
        let _ = fs::remove_file(&socket);
        let file = self.folder.path().join("bus.conf");
        let text = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN\" \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\
             <busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/>\
             </policy></busconfig>",
            socket.display()
        );
        fs::write(&file, text).unwrap();
        let mut daemon = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", file.display()))
            .args(["--nofork", "--nopidfile", "--print-address"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = daemon.stdout.take().unwrap();
        self.daemon = Some(Running(daemon));
        BufReader::new(output).read_line(&mut line).unwrap();
        assert!(line.starts_with("unix:path="), "{line}");
        let client = connection::Builder::address(&*self.address())
            .method_timeout(PATIENCE)
            .build();
        let client = timeout(PATIENCE, client).await.expect("the bus answers");
        self.client = Some(client.unwrap());
    }

    /// Stops the bus, and then the processes on it.
    pub(crate) fn stop_bus(&mut self) {
        self.client = None;
        self.daemon = None;
        self.mock = None;
    }

    pub(crate) async fn start_manager(&mut self) {
        let rule = MatchRule::builder()
            .msg_type(message::Type::Signal)
            .member("NameOwnerChanged")
            .add_arg(MANAGER)
            .build()
            .unwrap();
        let client = self.client.as_ref().unwrap();
        let mut owners = MessageStream::for_match_rule(rule, client, None)
            .await
            .unwrap();
        let mock = Command::new(PYTHON)
            .args(["-m", "dbusmock", "--template", "networkmanager"])
            .env("DBUS_SYSTEM_BUS_ADDRESS", self.address())
            .env("DBUS_SESSION_BUS_ADDRESS", self.address())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.mock = Some(Running(mock));
        let owner = timeout(PATIENCE, owners.next()).await;
        owner.expect("NetworkManager starts").unwrap().unwrap();
    }

    pub(crate) fn stop_manager(&mut self) {
        self.mock = None;
    }

    /// Calls a method of an object of NetworkManager.
    pub(crate) async fn call<R>(
        &self,
        path: &str,
        interface: &str,
        method: &str,
        body: &(impl Serialize + DynamicType),
    ) -> R
    where
        R: for<'d> Deserialize<'d> + Type,
    {
        let client = self.client.as_ref().unwrap();
        let answer = client
            .call_method(Some(MANAGER), path, Some(interface), method, body)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"));
        answer.body().deserialize().unwrap()
    }

    /// Calls a method of the mock.
    pub(crate) async fn mock<R>(
        &self,
        path: &str,
        method: &str,
        body: &(impl Serialize + DynamicType),
    ) -> R
    where
        R: for<'d> Deserialize<'d> + Type,
    {
        self.call(path, MOCK, method, body).await
    }

    /// Adds a radio in a state, with "Home" (with a password) and "Café" (open) in range.
    pub(crate) async fn add_radio(&self, state: i32) {
        let _: String = self
            .mock(MANAGER_PATH, "AddWiFiDevice", &("wlan0", "wlan0", state))
            .await;
        self.add_network("home", "Home", 87, 0x100).await;
        self.add_network("cafe", "Café", 50, 0).await;
        // A radio always has a link-local IPv6 address.
        for (kind, address) in [(IPV4, "192.168.7.9"), (IPV6, "fe80::1")] {
            let data = BTreeMap::from([("AddressData", addresses(&[address]))]);
            let methods: Vec<(&str, &str, &str, &str)> = Vec::new();
            let object = (kind.path, kind.interface, data, methods);
            let () = self.mock(MANAGER_PATH, "AddObject", &object).await;
            let path = Variant::from(OwnedObjectPath::try_from(kind.path).unwrap());
            let () = self
                .mock(RADIO, "AddProperty", &(DEVICE, kind.property, path))
                .await;
        }
    }

    pub(crate) async fn add_network(&self, name: &str, ssid: &str, strength: u8, security: u32) {
        let place = (RADIO, name, ssid, "00:23:F8:7E:12:BB");
        let (a, b, c, d) = place;
        let body = (a, b, c, d, 2u32, 2425u32, 5400u32, strength, security);
        let _: String = self.mock(MANAGER_PATH, "AddAccessPoint", &body).await;
    }

    pub(crate) async fn set_address(&self, address: &str) {
        self.set_addresses(&IPV4, &[address]).await;
    }

    pub(crate) async fn set_addresses(&self, kind: &Addresses, all: &[&str]) {
        let change = BTreeMap::from([("AddressData", addresses(all))]);
        let body = (kind.interface, change);
        let () = self.mock(kind.path, "UpdateProperties", &body).await;
    }

    pub(crate) async fn set_strength(&self, network: &str, strength: u8) {
        let change = BTreeMap::from([("Strength", Variant::from(strength))]);
        let path = format!("/org/freedesktop/NetworkManager/AccessPoint/{network}");
        let () = self
            .mock(&path, "UpdateProperties", &(ACCESS_POINT, change))
            .await;
    }

    /// Replaces a method of the main object by a line of Python.
    pub(crate) async fn replace(
        &self,
        method: &str,
        input_types: &str,
        output_types: &str,
        code: &str,
    ) {
        let body = (MANAGER, method, input_types, output_types, code);
        let () = self.mock(MANAGER_PATH, "AddMethod", &body).await;
    }

    pub(crate) async fn change_state(&self, new: u32, old: u32, reason: u32) {
        let change = BTreeMap::from([("State", Variant::from(new))]);
        let () = self
            .mock(RADIO, "UpdateProperties", &(DEVICE, change))
            .await;
        let arguments = vec![new, old, reason].into_iter().map(Variant::from);
        let arguments: Vec<Variant<'_>> = arguments.collect();
        let body = (DEVICE, "StateChanged", "uuu", arguments);
        let () = self.mock(RADIO, "EmitSignal", &body).await;
    }

    /// Makes every activation of a profile fail for a reason.
    pub(crate) async fn fail_with(&self, reason: u32) {
        let signal = |new: u32, old: u32, reason: u32| {
            format!(
                "get_object(args[1]).EmitSignal('{DEVICE}', 'StateChanged', 'uuu', \
                 [dbus.UInt32({new}), dbus.UInt32({old}), dbus.UInt32({reason})])\n"
            )
        };
        let steps = [(40, 30, 0), (50, 40, 0), (120, 50, reason), (30, 120, 0)];
        let mut code: String = steps
            .map(|(new, old, reason)| signal(new, old, reason))
            .concat();
        code.push_str(
            "ret = dbus.ObjectPath('/org/freedesktop/NetworkManager/ActiveConnection/9')",
        );
        self.replace("ActivateConnection", "ooo", "o", &code).await;
    }

    /// Makes every activation of a profile succeed, which is the default.
    pub(crate) async fn succeed(&self) {
        let code = "ret = self.activate_connection(self, args[0], args[1], args[2])";
        self.replace("ActivateConnection", "ooo", "o", code).await;
    }

    pub(crate) async fn add_profile(&self, settings: &Settings) -> OwnedObjectPath {
        self.call(PROFILES_PATH, PROFILES, "AddConnection", &(settings,))
            .await
    }

    /// All profiles: path, and name and settings as a text.
    pub(crate) async fn profiles(&self) -> Vec<(OwnedObjectPath, String)> {
        type Read = BTreeMap<String, BTreeMap<String, zbus::OwnedVariant>>;
        let paths: Vec<OwnedObjectPath> = self
            .call(PROFILES_PATH, PROFILES, "ListConnections", &())
            .await;
        let mut profiles = Vec::new();
        for path in paths {
            let settings: Read = self.call(&path, PROFILE, "GetSettings", &()).await;
            profiles.push((path, format!("{settings:?}")));
        }
        profiles
    }

    /// Connects the radio to a network with a profile.
    pub(crate) async fn activate(&self, profile: &OwnedObjectPath, network: &str) {
        let network = format!("/org/freedesktop/NetworkManager/AccessPoint/{network}");
        let path = |text: &str| OwnedObjectPath::try_from(text.to_string()).unwrap();
        let body = (profile, path(RADIO), path(&network));
        let _: OwnedObjectPath = self
            .call(MANAGER_PATH, MANAGER, "ActivateConnection", &body)
            .await;
    }

    /// How often a method of an object was called.
    pub(crate) async fn calls(&self, path: &str, method: &str) -> usize {
        type Calls = Vec<(u64, Vec<zbus::OwnedVariant>)>;
        let calls: Calls = self.mock(path, "GetMethodCalls", &(method,)).await;
        calls.len()
    }

    /// Makes the radio report the time of its last scan, and scan on request.
    pub(crate) async fn report_scans(&self) {
        let last = Variant::from(1i64);
        let () = self
            .mock(RADIO, "AddProperty", &(WIRELESS, "LastScan", last))
            .await;
        let code = "self.UpdateProperties('org.freedesktop.NetworkManager.Device.Wireless', \
                    {'LastScan': dbus.Int64(2)})";
        let body = (WIRELESS, "RequestScan", "a{sv}", "", code);
        let () = self.mock(RADIO, "AddMethod", &body).await;
    }

    /// The driver under test.
    pub(crate) fn radio(&self) -> Radio {
        self.radio_with(Duration::ZERO)
    }

    pub(crate) fn radio_with(&self, patience: Duration) -> Radio {
        Radio(NetworkManager::new(Options {
            bus: Some(self.address()),
            portal_port: 8080,
            patience,
        }))
    }
}

fn addresses(all: &[&str]) -> Variant<'static> {
    let row = |address: &&str| {
        BTreeMap::from([
            ("address", Variant::from(address.to_string())),
            ("prefix", Variant::from(24u32)),
        ])
    };
    all.iter().map(row).collect::<Vec<_>>().into()
}

/// A radio under test.
pub(crate) struct Radio(pub(crate) NetworkManager);

impl Radio {
    pub(crate) async fn event(&mut self) -> LinkEvent {
        let event = timeout(PATIENCE, self.0.event()).await;
        event.expect("no event in time")
    }

    /// Asserts the next events.
    pub(crate) async fn expect_events(&mut self, expected: &[LinkEvent]) {
        for expected in expected {
            assert_eq!(self.event().await, *expected);
        }
    }

    /// Asserts that there is no event.
    pub(crate) async fn is_quiet(&mut self) {
        if let Ok(event) = timeout(MOMENT, self.0.event()).await {
            panic!("unexpected event {event:?}");
        }
    }
}

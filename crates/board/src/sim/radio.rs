//! A simulated radio: networks from a file, and credentials in another file.
//!
//! Its delays are those of a real one: joining takes a moment, a wrong password a little longer, and a network that does not
//! answer takes the full limit. Unplugging the cable on the bench removes all networks.

use std::{
    collections::VecDeque,
    fs::{self, Metadata},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use device::{
    input::{LinkEvent, LinkFailure},
    output::{AccessPoint, WifiPlan},
    secret::Secret,
};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use super::wires::Wires;
use crate::{
    host, moments,
    ports::{ProvisionError, WifiNetwork},
};

pub const JOIN_TIME: Duration = Duration::from_millis(800);

/// Time until a network refuses a wrong password.
pub const REFUSE_TIME: Duration = Duration::from_millis(2000);

/// Time until the search for a network ends.
pub const SEARCH_TIME: Duration = Duration::from_millis(1500);

/// Default transmit power, quarter-dBm.
const TX_POWER: i32 = 78;

/// Largest file of networks, bytes.
const FILE_MAX: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadioOptions {
    /// File with the networks in range, read at every scan and attempt.
    pub networks: PathBuf,
    /// File with the stored credentials.
    pub credentials: PathBuf,
    /// Address of the portal, with its port unless that is the default.
    pub portal: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimNetwork {
    pub ssid: String,
    /// Its password; empty for an open network.
    #[serde(default, alias = "pw", alias = "psk")]
    password: String,
    /// Strength of its signal, dBm.
    #[serde(default = "default_rssi", alias = "signal")]
    pub rssi: i32,
    /// Name of the failure of every attempt to join it, if any.
    #[serde(default)]
    fault: Option<String>,
}

fn default_rssi() -> i32 {
    -60
}

/// Reads a file of networks: a JSON array of objects with `ssid`, `password`, `rssi` and `fault`, or an object whose
/// `networks` is such an array.
///
/// # Errors
/// It cannot be read, or is invalid; why, as a text for people.
pub fn networks(path: &Path) -> Result<Vec<SimNetwork>, String> {
    let file = fs::metadata(path).map_err(|error| error.to_string())?;
    if !file.is_file() {
        return Err("it is not a file".to_string());
    }
    if file.len() > FILE_MAX {
        return Err(format!("it is larger than {FILE_MAX} bytes"));
    }
    let text = fs::read(path).map_err(|error| error.to_string())?;
    let mut file: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let list = match file.get_mut("networks") {
        Some(list) => list.take(),
        None => file,
    };
    let networks: Vec<SimNetwork> = serde_json::from_value(list)
        .map_err(|error| format!("it is not a list of networks: {error}"))?;
    for network in &networks {
        if network.ssid.is_empty() || network.ssid.len() > 32 {
            return Err("the name of a network has 1 to 32 bytes".to_string());
        }
        let fault = network.fault.as_deref();
        if let Some(fault) = fault.filter(|fault| LinkFailure::parse(fault).is_none()) {
            let words: Vec<&str> = LinkFailure::all()
                .into_iter()
                .map(LinkFailure::name)
                .collect();
            return Err(format!(
                "there is no fault `{fault}`; the faults are {}",
                words.join(", ")
            ));
        }
    }
    Ok(networks)
}

/// The stored credentials.
#[derive(Clone, Serialize, Deserialize)]
struct Credentials {
    ssid: String,
    password: String,
}

#[derive(Debug)]
pub struct SimRadio {
    wires: Arc<Wires>,
    link_up: watch::Receiver<bool>,
    options: RadioOptions,
    events: VecDeque<LinkEvent>,
    attempts: u64,
    /// The running attempt.
    joining: Option<Joining>,
    joined: bool,
}

/// An attempt to join and how it will end.
#[derive(Debug, Clone)]
struct Joining {
    /// When it ends; `None` if never.
    until: Option<Instant>,
    outcome: Result<WifiNetwork, LinkFailure>,
}

impl SimRadio {
    pub(super) fn new(wires: Arc<Wires>, options: RadioOptions) -> SimRadio {
        let has_credentials = read_credentials(&options.credentials).is_some();
        SimRadio {
            link_up: wires.link_up.subscribe(),
            wires,
            options,
            events: [
                LinkEvent::Credentials(has_credentials),
                LinkEvent::TxPower(TX_POWER),
            ]
            .into(),
            attempts: 0,
            joining: None,
            joined: false,
        }
    }

    pub(super) async fn event(&mut self) -> LinkEvent {
        loop {
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            let is_up = *self.link_up.borrow_and_update();
            if self.joined && !is_up {
                self.leave();
                return LinkEvent::Down(LinkFailure::Lost);
            }
            let until = self.joining.as_ref().and_then(|joining| joining.until);
            tokio::select! {
                () = moments::until(until) => self.end_attempt(),
                changed = self.link_up.changed() => if changed.is_err() {
                    std::future::pending().await
                }
            }
        }
    }

    pub(super) async fn follow(&mut self, plan: &WifiPlan) {
        let power = plan.tx_power.unwrap_or(TX_POWER);
        self.events.push_back(LinkEvent::TxPower(power));
        self.set_access_point(plan.access_point.as_ref());
        if plan.attempts != self.attempts {
            self.attempts = plan.attempts;
            self.leave();
            if let Some(stored) = read_credentials(&self.options.credentials) {
                self.joining = Some(self.attempt(&stored));
            }
        }
    }

    pub(super) async fn scan(&mut self) -> Vec<WifiNetwork> {
        self.networks().iter().map(SimNetwork::seen).collect()
    }

    pub(super) async fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> Result<Option<String>, ProvisionError> {
        self.leave();
        let candidate = Credentials {
            ssid: ssid.to_string(),
            password: password.expose().to_string(),
        };
        let attempt = self.attempt(&candidate);
        let ended = timeout(limit, moments::until(attempt.until)).await.is_ok();
        match attempt.outcome {
            _ if !ended => Err(ProvisionError::Failed(LinkFailure::Timeout)),
            Err(failure) => Err(ProvisionError::Failed(failure)),
            Ok(_) => write_credentials(&self.options.credentials, &candidate)
                .map(|()| Some(host::address().to_string()))
                .map_err(|error| ProvisionError::NotStored(error.to_string())),
        }
    }

    pub(super) async fn forget(&mut self) -> Result<(), String> {
        let path = &self.options.credentials;
        // A write that was interrupted has left the password in a temporary file.
        let forgotten = remove(&temporary(path)).and_then(|()| remove(path));
        let text = |error: io::Error| format!("{}: {error}", path.display());
        forgotten.and_then(|()| sync_folder(path)).map_err(text)
    }

    /// The networks in range; none while the cable is unplugged.
    fn networks(&self) -> Vec<SimNetwork> {
        if !*self.wires.link_up.borrow() {
            return Vec::new();
        }
        networks(&self.options.networks).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read the file of networks");
            Vec::new()
        })
    }

    fn attempt(&self, credentials: &Credentials) -> Joining {
        let now = Instant::now();
        let networks = self.networks();
        let network = networks
            .iter()
            .find(|network| network.ssid == credentials.ssid);
        let Some(network) = network else {
            return Joining {
                until: Some(now + SEARCH_TIME),
                outcome: Err(LinkFailure::NotFound),
            };
        };
        let fault = network.fault.as_deref().and_then(LinkFailure::parse);
        let is_right = network.password == credentials.password;
        match fault {
            Some(LinkFailure::Timeout) => Joining {
                until: None,
                outcome: Err(LinkFailure::Timeout),
            },
            Some(fault) => Joining {
                until: Some(now + REFUSE_TIME),
                outcome: Err(fault),
            },
            None if is_right => Joining {
                until: Some(now + JOIN_TIME),
                outcome: Ok(network.seen()),
            },
            None => Joining {
                until: Some(now + REFUSE_TIME),
                outcome: Err(LinkFailure::Auth),
            },
        }
    }

    fn end_attempt(&mut self) {
        let Some(joining) = self.joining.take() else {
            return;
        };
        // The cable may have been unplugged during the attempt.
        let outcome = joining.outcome.and_then(|network| {
            if *self.wires.link_up.borrow() {
                Ok(network)
            } else {
                Err(LinkFailure::NotFound)
            }
        });
        match outcome {
            Ok(network) => {
                self.joined = true;
                self.wires.network.send_replace(Some(network.ssid.clone()));
                self.events.push_back(LinkEvent::Up {
                    ip: host::address().to_string(),
                    ssid: Some(network.ssid),
                });
                self.events.push_back(LinkEvent::Rssi(network.rssi));
            }
            Err(failure) => self.events.push_back(LinkEvent::Down(failure)),
        }
    }

    fn leave(&mut self) {
        self.joining = None;
        self.joined = false;
        self.wires.network.send_replace(None);
    }

    fn set_access_point(&mut self, wanted: Option<&AccessPoint>) {
        let is_new = wanted.is_some() && self.wires.access_point.borrow().is_none();
        self.wires.access_point.send_replace(wanted.cloned());
        if is_new {
            self.events.push_back(LinkEvent::Portal {
                address: self.options.portal.clone(),
            });
        }
    }
}

impl SimNetwork {
    fn seen(&self) -> WifiNetwork {
        WifiNetwork {
            ssid: self.ssid.clone(),
            rssi: self.rssi,
            secured: !self.password.is_empty(),
        }
    }
}

/// Reads the stored credentials; `None` if they are missing or invalid.
fn read_credentials(path: &Path) -> Option<Credentials> {
    // Opening a pipe would block, and a link may lead out of the data folder.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .ok()?;
    file.metadata().ok().filter(Metadata::is_file)?;
    serde_json::from_reader(file.take(FILE_MAX)).ok()
}

/// Replaces the stored credentials atomically, in a file that only its owner can read.
fn write_credentials(path: &Path, credentials: &Credentials) -> io::Result<()> {
    let temporary = temporary(path);
    remove(&temporary)?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(&serde_json::to_vec(credentials)?)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync_folder(path)
}

/// Path of the credentials while they are written.
fn temporary(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// Removes a file if it exists.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Syncs the folder of a file.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

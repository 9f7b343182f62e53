//! Simulated radio: an air of networks from a file, and credentials in a file of its own.
//!
//! It keeps the time of a real one: joining takes a moment, a wrong password a little longer, and what does not
//! answer costs its full limit. Pulling the cable on the bench silences the whole air.

use std::{
    collections::VecDeque,
    fs::{self, Metadata},
    io::{self, Write},
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
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use super::wires::Wires;
use crate::{
    host, moments,
    ports::{Unprovisioned, WifiNetwork},
};

/// Time an attempt to join takes that works.
pub const JOIN_TIME: Duration = Duration::from_millis(800);

/// Time until a network says that the password is wrong.
pub const REFUSE_TIME: Duration = Duration::from_millis(2000);

/// Time until it is clear that a network is not in reach.
pub const SEARCH_TIME: Duration = Duration::from_millis(1500);

/// Transmit power without a wish for another, quarter-dBm.
const TX_POWER: i32 = 78;

/// Largest file of networks, bytes.
const FILE_MAX: u64 = 64 * 1024;

/// What a simulated radio is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadioOptions {
    /// File that lists the networks in reach; it is read anew whenever the radio looks around.
    pub networks: PathBuf,
    /// File in which the radio keeps its credentials.
    pub credentials: PathBuf,
    /// Where the portal is found, with its port where that is not the usual one.
    pub portal: String,
}

/// A network of the simulated air.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimNetwork {
    /// Its name.
    pub ssid: String,
    /// Its password; empty for an open network.
    #[serde(default, alias = "pw", alias = "psk")]
    password: String,
    /// Strength of its signal, dBm.
    #[serde(default = "usual_signal", alias = "signal")]
    pub rssi: i32,
    /// Word for what goes wrong with every attempt to join it; none if nothing does.
    #[serde(default)]
    fault: Option<String>,
}

fn usual_signal() -> i32 {
    -60
}

/// Reads a file of networks: a JSON array of objects with `ssid`, `password`, `rssi` and `fault`, or an object whose
/// `networks` is such an array.
///
/// # Errors
/// It cannot be read, or says what cannot be; the error is in words for people.
pub fn networks(path: &Path) -> Result<Vec<SimNetwork>, String> {
    let file = fs::metadata(path).map_err(|error| error.to_string())?;
    if !file.is_file() {
        return Err("it is no file".to_string());
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
        .map_err(|error| format!("it is no list of networks: {error}"))?;
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
                "no fault is called `{fault}`: there are {}",
                words.join(", ")
            ));
        }
    }
    Ok(networks)
}

/// Credentials as the radio keeps them.
#[derive(Clone, Serialize, Deserialize)]
struct Credentials {
    ssid: String,
    password: String,
}

/// Simulated radio.
#[derive(Debug)]
pub struct SimRadio {
    wires: Arc<Wires>,
    silenced: watch::Receiver<bool>,
    options: RadioOptions,
    events: VecDeque<LinkEvent>,
    attempts: u64,
    /// The attempt that runs.
    joining: Option<Joining>,
    joined: bool,
}

/// An attempt to join and how it will end.
#[derive(Debug, Clone)]
struct Joining {
    /// When it ends; none if it never does.
    until: Option<Instant>,
    outcome: Result<WifiNetwork, LinkFailure>,
}

impl SimRadio {
    pub(super) fn new(wires: Arc<Wires>, options: RadioOptions) -> SimRadio {
        let has_credentials = read_credentials(&options.credentials).is_some();
        SimRadio {
            silenced: wires.link_up.subscribe(),
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
            let there = *self.silenced.borrow_and_update();
            if self.joined && !there {
                self.leave();
                return LinkEvent::Down(LinkFailure::Lost);
            }
            let until = self.joining.as_ref().and_then(|joining| joining.until);
            tokio::select! {
                () = moments::until(until) => self.end_attempt(),
                changed = self.silenced.changed() => if changed.is_err() {
                    std::future::pending().await
                }
            }
        }
    }

    pub(super) async fn follow(&mut self, plan: &WifiPlan) {
        let power = plan.tx_power.unwrap_or(TX_POWER);
        self.events.push_back(LinkEvent::TxPower(power));
        self.be_access_point(plan.access_point.as_ref());
        if plan.attempts != self.attempts {
            self.attempts = plan.attempts;
            self.leave();
            if let Some(stored) = read_credentials(&self.options.credentials) {
                self.joining = Some(self.attempt(&stored));
            }
        }
    }

    pub(super) async fn scan(&mut self) -> Vec<WifiNetwork> {
        self.air().iter().map(SimNetwork::seen).collect()
    }

    pub(super) async fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> Result<(), Unprovisioned> {
        self.leave();
        let candidate = Credentials {
            ssid: ssid.to_string(),
            password: password.expose().to_string(),
        };
        let attempt = self.attempt(&candidate);
        let ended = timeout(limit, moments::until(attempt.until)).await.is_ok();
        match attempt.outcome {
            _ if !ended => Err(Unprovisioned::Failed(LinkFailure::Timeout)),
            Err(failure) => Err(Unprovisioned::Failed(failure)),
            Ok(_) => write_credentials(&self.options.credentials, &candidate)
                .map_err(|error| Unprovisioned::NotStored(error.to_string())),
        }
    }

    pub(super) async fn forget(&mut self) -> Result<(), String> {
        let path = &self.options.credentials;
        // What an attempt left behind that broke off while it was stored holds the password as well.
        let forgotten = remove(&fresh(path)).and_then(|()| remove(path));
        let words = |error: io::Error| format!("{}: {error}", path.display());
        forgotten.and_then(|()| sync_folder(path)).map_err(words)
    }

    /// The networks that answer; none while the air is silenced.
    fn air(&self) -> Vec<SimNetwork> {
        if !*self.wires.link_up.borrow() {
            return Vec::new();
        }
        networks(&self.options.networks).unwrap_or_else(|error| {
            tracing::warn!(%error, "the file of networks cannot be used");
            Vec::new()
        })
    }

    fn attempt(&self, credentials: &Credentials) -> Joining {
        let now = Instant::now();
        let air = self.air();
        let network = air.iter().find(|network| network.ssid == credentials.ssid);
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
        // The air may have fallen silent while the attempt ran.
        let outcome = joining
            .outcome
            .and_then(|network| match *self.wires.link_up.borrow() {
                true => Ok(network),
                false => Err(LinkFailure::NotFound),
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

    fn be_access_point(&mut self, wanted: Option<&AccessPoint>) {
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

/// The stored credentials; unusable ones count as none, as for any radio.
fn read_credentials(path: &Path) -> Option<Credentials> {
    // Whoever opens a pipe waits for its other end.
    fs::metadata(path).ok().filter(Metadata::is_file)?;
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Replaces the stored credentials as a whole, in a file that only its owner can read.
fn write_credentials(path: &Path, credentials: &Credentials) -> io::Result<()> {
    let fresh = fresh(path);
    remove(&fresh)?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(&serde_json::to_vec(credentials)?)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    sync_folder(path)
}

/// Name of the credentials while they are written.
fn fresh(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Makes the names beside a file durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

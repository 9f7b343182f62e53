//! The Wi-Fi task: applies the plan to the radio, reports its events, and serves scans and credentials for the portal.
//!
//! **Invariant:** one task owns the radio; all other code sends requests through a [`Radio`].

pub mod chosen_panel;
pub mod network_manager;
pub mod secrets;

use std::{collections::BTreeMap, io, net::IpAddr, pin::pin, time::Duration};

use board::{
    moments::until,
    ports::{ProvisionError, Wifi, WifiNetwork},
};
use device::{
    input::{Input, LinkEvent, LinkFailure},
    output::WifiPlan,
    secret::Secret,
};
use runtime::inbox::{Inbox, Stopped};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::spawn_blocking,
    time::{Instant, timeout},
};

use self::chosen_panel::PanelChoice;

/// Timeout for an attempt to join a network.
pub const TRY_LIMIT: Duration = Duration::from_secs(15);

/// Time between two scans while the access point is up.
const SCAN_PERIOD: Duration = Duration::from_secs(10);

/// How long a client waits for the first scan.
const FIRST_SCAN_TIMEOUT: Duration = Duration::from_secs(3);

/// Most networks in the list.
const NETWORKS_MAX: usize = 32;

/// Most queued requests: one attempt to join, and one to forget.
const REQUESTS_MAX: usize = 2;

/// Sends requests to the Wi-Fi task.
#[derive(Debug, Clone)]
pub struct Radio {
    requests: mpsc::Sender<WifiRequest>,
    networks: watch::Receiver<Option<Vec<WifiNetwork>>>,
}

/// Receiver of the requests, for the Wi-Fi task.
#[derive(Debug)]
pub struct RadioRequests {
    requests: mpsc::Receiver<WifiRequest>,
    networks: watch::Sender<Option<Vec<WifiNetwork>>>,
}

/// A request to the Wi-Fi task.
#[derive(Debug)]
enum WifiRequest {
    Provision {
        ssid: String,
        password: Secret,
        panel: Option<PanelChoice>,
        reply: oneshot::Sender<Result<Option<String>, ProvisionFailure>>,
    },
    Forget {
        reply: oneshot::Sender<Result<(), String>>,
    },
}

/// Why credentials were not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvisionFailure {
    /// They were tried and failed.
    Tried(ProvisionError),
    /// Other credentials are being tried.
    Busy,
    /// The Wi-Fi task has stopped, or all networks were forgotten and a restart follows.
    Gone,
}

/// Makes a sender of requests and their receiver.
pub fn radio() -> (Radio, RadioRequests) {
    let (sender, receiver) = mpsc::channel(REQUESTS_MAX);
    let networks = watch::Sender::new(None);
    let radio = Radio {
        requests: sender,
        networks: networks.subscribe(),
    };
    let requests = RadioRequests {
        requests: receiver,
        networks,
    };
    (radio, requests)
}

impl Radio {
    /// Tries credentials and stores them if they are right, with the choice of a panel. Returns the address at which the clock
    /// will answer, if it is known.
    ///
    /// # Errors
    /// They were not stored.
    pub async fn provision(
        &self,
        ssid: String,
        password: Secret,
        panel: Option<PanelChoice>,
    ) -> Result<Option<String>, ProvisionFailure> {
        let (reply, result) = oneshot::channel();
        let request = WifiRequest::Provision {
            ssid,
            password,
            panel,
            reply,
        };
        self.requests
            .send(request)
            .await
            .map_err(|_| ProvisionFailure::Gone)?;
        result.await.map_err(|_| ProvisionFailure::Gone)?
    }

    /// Deletes the stored credentials and those that are being tried. Dropping the future cancels that if the Wi-Fi task
    /// has not started it yet.
    ///
    /// # Errors
    /// A text for people: the credentials may still be stored.
    pub async fn forget(&self) -> Result<(), String> {
        let stopped = || "the Wi-Fi task has stopped".to_string();
        let (reply, result) = oneshot::channel();
        self.requests
            .send(WifiRequest::Forget { reply })
            .await
            .map_err(|_| stopped())?;
        result.await.map_err(|_| stopped())?
    }

    /// The networks of the last scan, strongest first.
    pub async fn networks(&self) -> Vec<WifiNetwork> {
        let mut networks = self.networks.clone();
        match timeout(FIRST_SCAN_TIMEOUT, networks.wait_for(Option::is_some)).await {
            Ok(Ok(list)) => list.clone().unwrap_or_default(),
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }
}

/// Reports all events of the radio, and applies the plan, until the device stops. `listen` is the address at which the
/// clock listens.
pub async fn run(
    wifi: impl Wifi,
    plan: watch::Receiver<WifiPlan>,
    requests: RadioRequests,
    listen: IpAddr,
    inbox: Inbox,
) {
    let driver = WifiDriver {
        wifi,
        listen,
        plan,
        networks: requests.networks,
        inbox,
        scan_at: None,
        is_erased: false,
    };
    // Fails only if the device has stopped.
    let _ = driver.run(requests.requests).await;
}

struct WifiDriver<W> {
    wifi: W,
    listen: IpAddr,
    plan: watch::Receiver<WifiPlan>,
    networks: watch::Sender<Option<Vec<WifiNetwork>>>,
    inbox: Inbox,
    /// Time of the next scan; `None` without an access point.
    scan_at: Option<Instant>,
    /// All networks were forgotten and a restart follows, so no credentials are stored any more.
    is_erased: bool,
}

impl<W: Wifi> WifiDriver<W> {
    async fn run(mut self, mut requests: mpsc::Receiver<WifiRequest>) -> Result<(), Stopped> {
        loop {
            let scan_at = self.scan_at;
            tokio::select! {
                mut event = self.wifi.event() => {
                    if let LinkEvent::Up { ip, .. } = &mut event {
                        *ip = self.own_address(std::mem::take(ip));
                    }
                    send(&self.inbox, event).await?;
                }
                changed = self.plan.changed() => {
                    changed.map_err(|_| Stopped)?;
                    self.apply_plan().await;
                }
                Some(request) = requests.recv() => self.handle(request, &mut requests).await?,
                () = until(scan_at) => self.scan().await,
            }
        }
    }

    /// The address at which the clock answers: if it listens at one address, that is not the host's.
    fn own_address(&self, host: String) -> String {
        if self.listen.is_unspecified() { host } else { self.listen.to_string() }
    }

    async fn apply_plan(&mut self) {
        let plan = self.plan.borrow_and_update().clone();
        if plan.access_point.is_none() {
            self.scan_at = None;
            self.networks.send_replace(None);
        } else if self.scan_at.is_none() {
            // Scan before the access point is up, because many radios cannot scan while it is.
            self.scan().await;
        }
        self.wifi.follow(&plan).await;
    }

    async fn scan(&mut self) {
        let networks = strongest(self.wifi.scan().await);
        self.networks.send_replace(Some(networks));
        self.scan_at = Some(Instant::now() + SCAN_PERIOD);
    }

    /// Handles a request. A reply fails if the client has disconnected.
    async fn handle(
        &mut self,
        request: WifiRequest,
        requests: &mut mpsc::Receiver<WifiRequest>,
    ) -> Result<(), Stopped> {
        match request {
            WifiRequest::Provision { reply, .. } if self.is_erased => {
                let _ = reply.send(Err(ProvisionFailure::Gone));
            }
            WifiRequest::Provision {
                ssid,
                password,
                panel,
                reply,
            } => {
                send(&self.inbox, LinkEvent::Trying).await?;
                match self.attempt(&ssid, &password, requests).await {
                    JoinOutcome::Finished(result) => {
                        self.finish_attempt(result, panel, reply).await?
                    }
                    JoinOutcome::Forget(forget_reply) => {
                        send(&self.inbox, LinkEvent::Refused(LinkFailure::Lost)).await?;
                        let _ = reply.send(Err(ProvisionFailure::Gone));
                        self.forget(forget_reply).await;
                        // The attempt stopped the access point, which is needed if no restart follows.
                        let plan = self.plan.borrow().clone();
                        self.wifi.follow(&plan).await;
                    }
                }
            }
            WifiRequest::Forget { reply } => self.forget(reply).await,
        }
        Ok(())
    }

    /// Tries credentials. A request to forget all networks aborts the attempt.
    async fn attempt(
        &mut self,
        ssid: &str,
        password: &Secret,
        requests: &mut mpsc::Receiver<WifiRequest>,
    ) -> JoinOutcome {
        let mut attempt = pin!(self.wifi.provision(ssid, password, TRY_LIMIT));
        loop {
            tokio::select! {
                result = &mut attempt => return JoinOutcome::Finished(result),
                Some(request) = requests.recv() => match request {
                    WifiRequest::Forget { reply } => return JoinOutcome::Forget(reply),
                    WifiRequest::Provision { reply, .. } => {
                        let _ = reply.send(Err(ProvisionFailure::Busy));
                    }
                }
            }
        }
    }

    async fn finish_attempt(
        &mut self,
        result: Result<Option<String>, ProvisionError>,
        panel: Option<PanelChoice>,
        reply: oneshot::Sender<Result<Option<String>, ProvisionFailure>>,
    ) -> Result<(), Stopped> {
        // Before the event, because a clock that knows its network has no portal after a power cut.
        let stored = match panel.filter(|_| result.is_ok()) {
            Some(panel) => spawn_blocking(move || panel.store()).await,
            None => Ok(Ok(())),
        };
        let stored = stored.unwrap_or_else(|error| Err(io::Error::other(error)));
        let event = match &result {
            Ok(_) => LinkEvent::Provisioned,
            Err(ProvisionError::Failed(failure)) => LinkEvent::Refused(*failure),
            Err(ProvisionError::NotStored(error)) => {
                tracing::error!(%error, "cannot store the credentials of the network");
                LinkEvent::Refused(LinkFailure::Lost)
            }
        };
        self.inbox.settle(Input::Linked(event)).await?;
        let result = result.and_then(|ip| match stored {
            Ok(()) => Ok(ip.map(|ip| self.own_address(ip))),
            Err(error) => {
                tracing::error!(%error, "cannot store the choice of a panel");
                Err(ProvisionError::NotStored(error.to_string()))
            }
        });
        let _ = reply.send(result.map_err(ProvisionFailure::Tried));
        Ok(())
    }

    async fn forget(&mut self, reply: oneshot::Sender<Result<(), String>>) {
        // The caller has given up, so the clock keeps its network.
        if reply.is_closed() {
            return;
        }
        let result = self.wifi.forget().await;
        self.is_erased |= result.is_ok();
        let _ = reply.send(result);
    }
}

/// Outcome of an attempt to join a network.
enum JoinOutcome {
    /// The attempt has finished.
    Finished(Result<Option<String>, ProvisionError>),
    /// A request to forget all networks aborted the attempt; with its reply channel.
    Forget(oneshot::Sender<Result<(), String>>),
}

async fn send(inbox: &Inbox, event: LinkEvent) -> Result<(), Stopped> {
    inbox.send(Input::Linked(event)).await
}

/// Each named network once with its strongest signal, strongest first.
fn strongest(networks: Vec<WifiNetwork>) -> Vec<WifiNetwork> {
    let mut by_name: BTreeMap<String, WifiNetwork> = BTreeMap::new();
    for network in networks {
        if network.ssid.is_empty() {
            continue;
        }
        let known = by_name.get(&network.ssid);
        if known.is_none_or(|known| known.rssi < network.rssi) {
            by_name.insert(network.ssid.clone(), network);
        }
    }
    let mut list: Vec<WifiNetwork> = by_name.into_values().collect();
    list.sort_by_key(|network| std::cmp::Reverse(network.rssi));
    list.truncate(NETWORKS_MAX);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(ssid: &str, rssi: i32) -> WifiNetwork {
        WifiNetwork {
            ssid: ssid.to_string(),
            rssi,
            secured: true,
        }
    }

    #[test]
    fn networks_are_listed_once_and_the_strongest_first() {
        let seen = vec![
            network("far", -80),
            network("", -10),
            network("near", -40),
            network("far", -70),
            network("far", -90),
        ];
        assert_eq!(strongest(seen), [network("near", -40), network("far", -70)]);
        let many = (0..40).map(|at| network(&at.to_string(), -at)).collect();
        assert_eq!(strongest(many).len(), NETWORKS_MAX);
    }
}

//! Drives the radio: makes it follow the plan, reports what it says, and does for the portal what only it can.
//!
//! **Invariant:** the port is owned by one task; everybody else has a [`Radio`] to ask through.

pub mod network_manager;
pub mod secrets;

use std::{collections::BTreeMap, pin::pin, time::Duration};

use board::{
    moments::until,
    ports::{Unprovisioned, Wifi, WifiNetwork},
};
use device::{
    input::{Input, LinkEvent, LinkFailure},
    output::WifiPlan,
    secret::Secret,
};
use runtime::inbox::{Inbox, Stopped};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, timeout},
};

/// Longest time that credentials are tried.
pub const TRY_LIMIT: Duration = Duration::from_secs(15);

/// Time between two looks around while the access point is up.
const SCAN_PERIOD: Duration = Duration::from_secs(10);

/// Time a client waits for the first look around.
const FIRST_SCAN: Duration = Duration::from_secs(3);

/// Networks that are listed.
const NETWORKS_MAX: usize = 32;

/// Orders that may wait for the radio: one attempt, and one to forget.
const ORDERS_DEPTH: usize = 2;

/// A way to ask the radio; clones ask the same one.
#[derive(Debug, Clone)]
pub struct Radio {
    orders: mpsc::Sender<WifiRequest>,
    networks: watch::Receiver<Option<Vec<WifiNetwork>>>,
}

/// The radio's side of the orders.
#[derive(Debug)]
pub struct Orders {
    orders: mpsc::Receiver<WifiRequest>,
    networks: watch::Sender<Option<Vec<WifiNetwork>>>,
}

/// A request to the Wi-Fi task.
#[derive(Debug)]
enum WifiRequest {
    Provision {
        ssid: String,
        password: Secret,
        answer: oneshot::Sender<Result<(), NotProvisioned>>,
    },
    Forget {
        answer: oneshot::Sender<Result<(), String>>,
    },
}

/// Why credentials were not tried, or not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotProvisioned {
    /// They were tried.
    Tried(Unprovisioned),
    /// Other credentials are being tried.
    Busy,
    /// There is no radio any more, or it was told to forget every network.
    Gone,
}

/// Name suffix and password of the access point.
#[derive(Debug, Clone)]
pub struct AccessPointIdentity {
    /// Last three bytes of the hardware address, six lower-case hex digits.
    pub suffix: String,
    /// Password of the access point.
    pub password: Secret,
}

/// Makes a way to ask a radio.
pub fn radio() -> (Radio, Orders) {
    let (sender, receiver) = mpsc::channel(ORDERS_DEPTH);
    let networks = watch::Sender::new(None);
    let radio = Radio {
        orders: sender,
        networks: networks.subscribe(),
    };
    let orders = Orders {
        orders: receiver,
        networks,
    };
    (radio, orders)
}

impl Radio {
    /// Tries credentials and stores them if they are right.
    ///
    /// # Errors
    /// They were not stored.
    pub async fn provision(&self, ssid: String, password: Secret) -> Result<(), NotProvisioned> {
        let (answer, answered) = oneshot::channel();
        let order = WifiRequest::Provision {
            ssid,
            password,
            answer,
        };
        self.orders
            .send(order)
            .await
            .map_err(|_| NotProvisioned::Gone)?;
        answered.await.map_err(|_| NotProvisioned::Gone)?
    }

    /// Forgets the stored credentials, and those that are being tried; dropping the future leaves them where the radio
    /// has not begun.
    ///
    /// # Errors
    /// They may still be there; why, in words for people.
    pub async fn forget(&self) -> Result<(), String> {
        let gone = || "there is no radio any more".to_string();
        let (answer, answered) = oneshot::channel();
        self.orders
            .send(WifiRequest::Forget { answer })
            .await
            .map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// The networks in reach, strongest first, as of the last look around.
    pub async fn networks(&self) -> Vec<WifiNetwork> {
        let mut networks = self.networks.clone();
        match timeout(FIRST_SCAN, networks.wait_for(Option::is_some)).await {
            Ok(Ok(list)) => list.clone().unwrap_or_default(),
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }
}

/// Reports who the clock is and then all that the network says, and makes the radio follow the plan, until the
/// device is gone.
pub async fn run(
    wifi: impl Wifi,
    plan: watch::Receiver<WifiPlan>,
    orders: Orders,
    identity: AccessPointIdentity,
    inbox: Inbox,
) {
    let driver = WifiDriver {
        wifi,
        plan,
        networks: orders.networks,
        inbox,
        scan_at: None,
        forgetful: false,
    };
    // An error means that the device is gone, and with it everybody to report to.
    let _ = driver.run(orders.orders, identity).await;
}

struct WifiDriver<W> {
    wifi: W,
    plan: watch::Receiver<WifiPlan>,
    networks: watch::Sender<Option<Vec<WifiNetwork>>>,
    inbox: Inbox,
    /// When to look around next; none while nobody wants to know.
    scan_at: Option<Instant>,
    /// Everything was forgotten, and a restart follows: nothing is stored any more.
    forgetful: bool,
}

impl<W: Wifi> WifiDriver<W> {
    async fn run(
        mut self,
        mut orders: mpsc::Receiver<WifiRequest>,
        identity: AccessPointIdentity,
    ) -> Result<(), Stopped> {
        let AccessPointIdentity { suffix, password } = identity;
        tell(&self.inbox, LinkEvent::Identity { suffix, password }).await?;
        loop {
            let scan_at = self.scan_at;
            tokio::select! {
                event = self.wifi.event() => tell(&self.inbox, event).await?,
                changed = self.plan.changed() => {
                    changed.map_err(|_| Stopped)?;
                    self.follow().await;
                }
                Some(order) = orders.recv() => self.obey(order, &mut orders).await?,
                () = until(scan_at) => {
                    self.look_around().await;
                }
            }
        }
    }

    async fn follow(&mut self) {
        let plan = self.plan.borrow_and_update().clone();
        if plan.access_point.is_none() {
            self.scan_at = None;
            self.networks.send_replace(None);
        } else if self.scan_at.is_none() {
            // Before the access point comes up, which many radios cannot leave to look around.
            self.look_around().await;
        }
        self.wifi.follow(&plan).await;
    }

    async fn look_around(&mut self) {
        let networks = listed(self.wifi.scan().await);
        self.networks.send_replace(Some(networks));
        self.scan_at = Some(Instant::now() + SCAN_PERIOD);
    }

    async fn obey(
        &mut self,
        order: WifiRequest,
        orders: &mut mpsc::Receiver<WifiRequest>,
    ) -> Result<(), Stopped> {
        match order {
            WifiRequest::Provision { answer, .. } if self.forgetful => {
                // Whoever asked may have gone away.
                let _ = answer.send(Err(NotProvisioned::Gone));
            }
            WifiRequest::Provision {
                ssid,
                password,
                answer,
            } => {
                tell(&self.inbox, LinkEvent::Trying).await?;
                match self.attempt(&ssid, &password, orders).await {
                    JoinOutcome::Ended(outcome) => self.end_attempt(outcome, answer).await?,
                    JoinOutcome::Forgotten(forget) => {
                        tell(&self.inbox, LinkEvent::Refused(LinkFailure::Lost)).await?;
                        let _ = answer.send(Err(NotProvisioned::Gone));
                        self.forget(forget).await;
                        // Where the clock goes on after all it needs its access point back.
                        let plan = self.plan.borrow().clone();
                        self.wifi.follow(&plan).await;
                    }
                }
            }
            WifiRequest::Forget { answer } => self.forget(answer).await,
        }
        Ok(())
    }

    /// Tries credentials until that has ended, or until everything is to be forgotten.
    async fn attempt(
        &mut self,
        ssid: &str,
        password: &Secret,
        orders: &mut mpsc::Receiver<WifiRequest>,
    ) -> JoinOutcome {
        let mut trying = pin!(self.wifi.provision(ssid, password, TRY_LIMIT));
        loop {
            tokio::select! {
                outcome = &mut trying => return JoinOutcome::Ended(outcome),
                Some(order) = orders.recv() => match order {
                    WifiRequest::Forget { answer } => return JoinOutcome::Forgotten(answer),
                    WifiRequest::Provision { answer, .. } => {
                        let _ = answer.send(Err(NotProvisioned::Busy));
                    }
                }
            }
        }
    }

    async fn end_attempt(
        &mut self,
        outcome: Result<(), Unprovisioned>,
        answer: oneshot::Sender<Result<(), NotProvisioned>>,
    ) -> Result<(), Stopped> {
        let event = match &outcome {
            Ok(()) => LinkEvent::Provisioned,
            Err(Unprovisioned::Failed(failure)) => LinkEvent::Refused(*failure),
            Err(Unprovisioned::NotStored(error)) => {
                tracing::error!(%error, "credentials were not stored");
                LinkEvent::Refused(LinkFailure::Lost)
            }
        };
        self.inbox.settle(Input::Linked(event)).await?;
        // Whoever asked may have gone away; what was stored stays stored.
        let _ = answer.send(outcome.map_err(NotProvisioned::Tried));
        Ok(())
    }

    async fn forget(&mut self, answer: oneshot::Sender<Result<(), String>>) {
        // Whoever has given up waiting goes on with the network it has.
        if answer.is_closed() {
            return;
        }
        let outcome = self.wifi.forget().await;
        self.forgetful |= outcome.is_ok();
        let _ = answer.send(outcome);
    }
}

/// Outcome of an attempt to join a network.
enum JoinOutcome {
    /// It has ended.
    Ended(Result<(), Unprovisioned>),
    /// It was broken off, because everything is to be forgotten; where the answer to that goes.
    Forgotten(oneshot::Sender<Result<(), String>>),
}

async fn tell(inbox: &Inbox, event: LinkEvent) -> Result<(), Stopped> {
    inbox.send(Input::Linked(event)).await
}

/// Networks with a name, each once with its strongest signal, strongest first.
fn listed(networks: Vec<WifiNetwork>) -> Vec<WifiNetwork> {
    let mut strongest: BTreeMap<String, WifiNetwork> = BTreeMap::new();
    for network in networks {
        if network.ssid.is_empty() {
            continue;
        }
        let known = strongest.get(&network.ssid);
        if known.is_none_or(|known| known.rssi < network.rssi) {
            strongest.insert(network.ssid.clone(), network);
        }
    }
    let mut list: Vec<WifiNetwork> = strongest.into_values().collect();
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
        assert_eq!(listed(seen), [network("near", -40), network("far", -70)]);
        let many = (0..40).map(|at| network(&at.to_string(), -at)).collect();
        assert_eq!(listed(many).len(), NETWORKS_MAX);
    }
}

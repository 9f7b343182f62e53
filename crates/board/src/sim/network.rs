//! The simulated network: that of the host with a cable that the bench can unplug, or a simulated radio (`radio`).

use std::{sync::Arc, time::Duration};

use device::{
    input::{LinkEvent, LinkFailure},
    output::WifiPlan,
    secret::Secret,
};
use tokio::sync::watch;

use super::{
    radio::{RadioOptions, SimRadio},
    wires::Wires,
};
use crate::{
    host,
    ports::{ProvisionError, Wifi, WifiNetwork},
};

#[derive(Debug)]
pub enum SimWifi {
    Host(SimCable),
    Radio(Box<SimRadio>),
}

impl SimWifi {
    pub(super) fn new(wires: &Arc<Wires>, radio: Option<RadioOptions>) -> SimWifi {
        match radio {
            Some(options) => SimWifi::Radio(Box::new(SimRadio::new(Arc::clone(wires), options))),
            None => SimWifi::Host(SimCable::new(wires)),
        }
    }
}

impl Wifi for SimWifi {
    async fn event(&mut self) -> LinkEvent {
        match self {
            SimWifi::Host(cable) => cable.event().await,
            SimWifi::Radio(radio) => radio.event().await,
        }
    }

    async fn follow(&mut self, plan: &WifiPlan) {
        match self {
            SimWifi::Host(_) => {}
            SimWifi::Radio(radio) => radio.follow(plan).await,
        }
    }

    async fn scan(&mut self) -> Vec<WifiNetwork> {
        match self {
            SimWifi::Host(_) => Vec::new(),
            SimWifi::Radio(radio) => radio.scan().await,
        }
    }

    async fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> Result<Option<String>, ProvisionError> {
        match self {
            SimWifi::Host(_) => Err(ProvisionError::Failed(LinkFailure::NotFound)),
            SimWifi::Radio(radio) => radio.provision(ssid, password, limit).await,
        }
    }

    async fn forget(&mut self) -> Result<(), String> {
        match self {
            SimWifi::Host(_) => Ok(()),
            SimWifi::Radio(radio) => radio.forget().await,
        }
    }
}

/// The network of the host, with a cable that the bench can unplug.
#[derive(Debug)]
pub struct SimCable {
    plugged: watch::Receiver<bool>,
    reported: Reported,
}

/// The newest reported event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reported {
    Nothing,
    Unmanaged,
    Link(bool),
}

impl SimCable {
    fn new(wires: &Wires) -> SimCable {
        SimCable {
            plugged: wires.link_up.subscribe(),
            reported: Reported::Nothing,
        }
    }

    async fn event(&mut self) -> LinkEvent {
        if self.reported == Reported::Nothing {
            self.reported = Reported::Unmanaged;
            return LinkEvent::Unmanaged;
        }
        loop {
            let up = *self.plugged.borrow_and_update();
            if self.reported != Reported::Link(up) {
                self.reported = Reported::Link(up);
                return if up {
                    LinkEvent::Up {
                        ip: host::address().to_string(),
                        ssid: None,
                    }
                } else {
                    LinkEvent::Down(LinkFailure::Lost)
                };
            }
            if self.plugged.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

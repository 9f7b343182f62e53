//! Announces the clock by mDNS, and reports the announced name to the device.
//!
//! A name is probed before it is used (RFC 6762, 8.1).
//! If another host has the name, the clock uses the name with a number, both for its host and for its services, because
//! programs confuse the two.

use std::time::Duration;

use board::moments;
use device::{
    input::{Input, LinkEvent},
    output::Advert,
};
use net::mdns::{AnnouncedService, MdnsScope, Responder, ResponderEvent};
use runtime::{inbox::Inbox, tasks::Stop};
use tokio::{sync::watch, time::Instant};

/// Most names to try: the configured one, and then with a number.
const NAMES_MAX: u32 = 20;

/// Longest label of a host name, bytes (RFC 1035).
const LABEL_MAX: usize = 63;

#[derive(Debug, Clone, Copy)]
pub struct AdvertTimeouts {
    /// Time after which a failed announcement is logged.
    pub warn_after: Duration,
    /// Time until the next attempt.
    pub retry: Duration,
}

impl Default for AdvertTimeouts {
    fn default() -> AdvertTimeouts {
        AdvertTimeouts {
            warn_after: Duration::from_secs(10),
            retry: Duration::from_secs(60),
        }
    }
}

/// Configuration of the driver.
#[derive(Debug)]
pub struct AdvertConfig {
    /// The name to announce.
    pub adverts: watch::Receiver<Option<Advert>>,
    /// Networks to announce on. `None` if no other host could reach the clock.
    pub scope: Option<MdnsScope>,
    pub service: AnnouncedService,
    pub timeouts: AdvertTimeouts,
    /// For the announced name.
    pub inbox: Inbox,
    /// When to withdraw the announcement and stop.
    pub stop: Stop,
}

/// Why a name is no longer announced.
enum AdvertEnd {
    /// Another name is to be announced.
    Changed,
    /// The driver is stopped, or the device is gone.
    Stopped,
    /// Another host has the name.
    Taken,
    /// The announcement failed, or a timeout has passed.
    Failed,
}

/// Announces the newest name until it is stopped.
pub async fn run(config: AdvertConfig) {
    let Some(scope) = config.scope.clone() else {
        tracing::info!("only this machine can reach the clock: it is not announced on the network");
        config.stop.clone().stopped().await;
        return;
    };
    let mut driver = AdvertDriver {
        config,
        scope,
        warned: false,
    };
    loop {
        let advert = driver.config.adverts.borrow_and_update().clone();
        let end = match advert {
            Some(advert) => driver.announce(&advert.hostname).await,
            None => driver.until(None).await,
        };
        match end {
            AdvertEnd::Stopped => return,
            AdvertEnd::Changed | AdvertEnd::Taken | AdvertEnd::Failed => {}
        }
    }
}

struct AdvertDriver {
    config: AdvertConfig,
    scope: MdnsScope,
    /// A warning was logged since the last success.
    warned: bool,
}

impl AdvertDriver {
    /// Announces the clock under the first free name, until another one is to be announced.
    async fn announce(&mut self, hostname: &str) -> AdvertEnd {
        let mut number = 1;
        loop {
            let end = self
                .announce_as(hostname, &numbered(hostname, number))
                .await;
            match end {
                AdvertEnd::Changed | AdvertEnd::Stopped => return end,
                AdvertEnd::Taken if number < NAMES_MAX => number += 1,
                AdvertEnd::Taken | AdvertEnd::Failed => {
                    // Does nothing after another failure, which was logged already.
                    self.warn("all its names are taken");
                    number = 1;
                    let retry_at = Instant::now() + self.config.timeouts.retry;
                    if let end @ (AdvertEnd::Changed | AdvertEnd::Stopped) =
                        self.until(Some(retry_at)).await
                    {
                        return end;
                    }
                }
            }
        }
    }

    async fn announce_as(&mut self, hostname: &str, name: &str) -> AdvertEnd {
        let mut responder = match Responder::start(&self.scope, name, &self.config.service) {
            Ok(responder) => responder,
            Err(error) => {
                self.warn(&error.to_string());
                return AdvertEnd::Failed;
            }
        };
        let mut reported = false;
        let end = self
            .watch(&mut responder, hostname, name, &mut reported)
            .await;
        responder.end().await;
        match end {
            // The device is stopping and needs no report.
            AdvertEnd::Stopped => {}
            AdvertEnd::Changed | AdvertEnd::Taken | AdvertEnd::Failed if reported => {
                self.report(hostname, None).await
            }
            AdvertEnd::Changed | AdvertEnd::Taken | AdvertEnd::Failed => {}
        }
        end
    }

    /// Handles the events of a responder until its name is no longer to be announced.
    async fn watch(
        &mut self,
        responder: &mut Responder,
        hostname: &str,
        name: &str,
        reported: &mut bool,
    ) -> AdvertEnd {
        let started_at = Instant::now();
        let AdvertTimeouts { warn_after, retry } = self.config.timeouts;
        loop {
            let deadline = match (*reported, self.warned) {
                (true, _) => None,
                (false, false) => Some(started_at + warn_after),
                (false, true) => Some(started_at + retry),
            };
            let event = tokio::select! {
                event = responder.next_event() => event,
                end = until(&mut self.config, deadline) => match end {
                    AdvertEnd::Failed if !self.warned => {
                        self.warn("no network accepts it");
                        continue;
                    }
                    AdvertEnd::Changed | AdvertEnd::Stopped | AdvertEnd::Taken | AdvertEnd::Failed => return end,
                },
            };
            match event {
                ResponderEvent::Announced if *reported => {}
                ResponderEvent::Announced => {
                    *reported = true;
                    self.warned = false;
                    let port = self.config.service.port;
                    tracing::info!("the clock is found at http://{name}.local:{port}/");
                    self.report(hostname, Some(name)).await;
                }
                ResponderEvent::Taken => {
                    tracing::warn!(
                        "another device on the network has the name {name}, appending a number"
                    );
                    return AdvertEnd::Taken;
                }
                ResponderEvent::Broken(error) => {
                    self.warn(&error);
                    return AdvertEnd::Failed;
                }
            }
        }
    }

    /// Waits until another name is to be announced, at most until a deadline.
    async fn until(&mut self, deadline: Option<Instant>) -> AdvertEnd {
        until(&mut self.config, deadline).await
    }

    /// Logs a failure, once until the next success.
    fn warn(&mut self, error: &str) {
        if !self.warned {
            tracing::warn!(%error, "the clock cannot be announced on the network, retrying");
        }
        self.warned = true;
    }

    async fn report(&self, hostname: &str, name: Option<&str>) {
        let announced = LinkEvent::Announced {
            asked: hostname.to_string(),
            name: name.map(ToString::to_string),
        };
        // Fails if the device is gone; other tasks handle that.
        let _ = self.config.inbox.send(Input::Linked(announced)).await;
    }
}

async fn until(config: &mut AdvertConfig, deadline: Option<Instant>) -> AdvertEnd {
    tokio::select! {
        biased;
        () = config.stop.stopped() => AdvertEnd::Stopped,
        changed = config.adverts.changed() => match changed {
            Ok(()) => AdvertEnd::Changed,
            Err(_) => AdvertEnd::Stopped,
        },
        () = moments::until(deadline) => AdvertEnd::Failed,
    }
}

/// The name, with a number from the second on.
fn numbered(hostname: &str, number: u32) -> String {
    let suffix = match number {
        1 => String::new(),
        number => format!("-{number}"),
    };
    // A host name is ASCII.
    let length = hostname.len().min(LABEL_MAX.saturating_sub(suffix.len()));
    format!("{}{suffix}", hostname.get(..length).unwrap_or(hostname))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_fit_into_a_label() {
        assert_eq!(numbered("papertick-123456", 1), "papertick-123456");
        assert_eq!(numbered("papertick-123456", 2), "papertick-123456-2");
        let long = "a".repeat(LABEL_MAX);
        assert_eq!(numbered(&long, 1), long);
        assert_eq!(numbered(&long, 12).len(), LABEL_MAX);
    }
}

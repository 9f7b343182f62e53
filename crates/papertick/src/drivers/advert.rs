//! Announces the clock on the local network as the device wants it, and tells the device under which name it is found.
//!
//! A name is asked for before it is used (RFC 6762, 8.1).
//! If another host has the name, the clock takes the next one with a number, for its host and its services, because
//! programs take the one for the other.

use std::time::Duration;

use board::moments;
use device::{
    input::{Input, LinkEvent},
    output::Advert,
};
use net::mdns::{AnnouncedService, MdnsScope, Responder, ResponderEvent};
use runtime::{inbox::Inbox, tasks::Stop};
use tokio::{sync::watch, time::Instant};

/// Names that are tried: the clock's own, and it with a number.
const NAMES_MAX: u32 = 20;

/// Longest label of a host name, bytes (RFC 1035).
const LABEL_MAX: usize = 63;

/// Timeouts of the announcement.
#[derive(Debug, Clone, Copy)]
pub struct AdvertTimeouts {
    /// Time after which a clock that could not be announced says so.
    pub complain: Duration,
    /// Time until the next attempt.
    pub retry: Duration,
}

impl Default for AdvertTimeouts {
    fn default() -> AdvertTimeouts {
        AdvertTimeouts {
            complain: Duration::from_secs(10),
            retry: Duration::from_secs(60),
        }
    }
}

/// What the driver works with.
#[derive(Debug)]
pub struct Announcing {
    /// What the device wants.
    pub adverts: watch::Receiver<Option<Advert>>,
    /// Networks to announce on. `None` if no other host could reach the clock.
    pub reach: Option<MdnsScope>,
    /// What is announced besides the name.
    pub service: AnnouncedService,
    /// What the driver waits for.
    pub patience: AdvertTimeouts,
    /// Where the device hears of it.
    pub inbox: Inbox,
    /// When to take everything back.
    pub stop: Stop,
}

/// Why a name is no longer announced.
enum AdvertEnd {
    /// The device wants something else.
    Changed,
    /// It is time to stop, or the device is gone.
    Stopped,
    /// Somebody else has the name.
    Taken,
    /// It did not work.
    Failed,
}

/// Follows what the device wants until told to stop.
pub async fn run(announcing: Announcing) {
    let Some(reach) = announcing.reach.clone() else {
        tracing::info!("only this machine can reach the clock: it is not announced on the network");
        announcing.stop.clone().stopped().await;
        return;
    };
    let mut driver = AdvertDriver {
        announcing,
        reach,
        complained: false,
    };
    loop {
        let wanted = driver.announcing.adverts.borrow_and_update().clone();
        let over = match wanted {
            Some(advert) => driver.announce(&advert.hostname).await,
            None => driver.until(None).await,
        };
        match over {
            AdvertEnd::Stopped => return,
            AdvertEnd::Changed | AdvertEnd::Taken | AdvertEnd::Failed => {}
        }
    }
}

struct AdvertDriver {
    announcing: Announcing,
    reach: MdnsScope,
    /// It was said that the clock cannot be announced.
    complained: bool,
}

impl AdvertDriver {
    /// Announces the clock under the first name that is free, until something else is wanted.
    async fn announce(&mut self, hostname: &str) -> AdvertEnd {
        let mut number = 1;
        loop {
            let over = self
                .announce_as(hostname, &numbered(hostname, number))
                .await;
            match over {
                AdvertEnd::Changed | AdvertEnd::Stopped => return over,
                AdvertEnd::Taken if number < NAMES_MAX => number += 1,
                AdvertEnd::Taken | AdvertEnd::Failed => {
                    // Whatever else failed has said so.
                    self.complain("all its names are taken");
                    number = 1;
                    let retry_at = Instant::now() + self.announcing.patience.retry;
                    if let over @ (AdvertEnd::Changed | AdvertEnd::Stopped) =
                        self.until(Some(retry_at)).await
                    {
                        return over;
                    }
                }
            }
        }
    }

    async fn announce_as(&mut self, hostname: &str, name: &str) -> AdvertEnd {
        let mut responder = match Responder::start(&self.reach, name, &self.announcing.service) {
            Ok(responder) => responder,
            Err(error) => {
                self.complain(&error.to_string());
                return AdvertEnd::Failed;
            }
        };
        let mut told = false;
        let over = self.attend(&mut responder, hostname, name, &mut told).await;
        responder.end().await;
        match over {
            // Nobody asks any more.
            AdvertEnd::Stopped => {}
            AdvertEnd::Changed | AdvertEnd::Taken | AdvertEnd::Failed if told => {
                self.tell(hostname, None).await
            }
            AdvertEnd::Changed | AdvertEnd::Taken | AdvertEnd::Failed => {}
        }
        over
    }

    /// Stays with a responder until its name is no longer to be announced.
    async fn attend(
        &mut self,
        responder: &mut Responder,
        hostname: &str,
        name: &str,
        told: &mut bool,
    ) -> AdvertEnd {
        let begun = Instant::now();
        let AdvertTimeouts { complain, retry } = self.announcing.patience;
        loop {
            let deadline = match (*told, self.complained) {
                (true, _) => None,
                (false, false) => Some(begun + complain),
                (false, true) => Some(begun + retry),
            };
            let said = tokio::select! {
                said = responder.next_event() => said,
                over = until(&mut self.announcing, deadline) => match over {
                    AdvertEnd::Failed if !self.complained => {
                        self.complain("no network took it");
                        continue;
                    }
                    AdvertEnd::Changed | AdvertEnd::Stopped | AdvertEnd::Taken | AdvertEnd::Failed => return over,
                },
            };
            match said {
                ResponderEvent::Announced if *told => {}
                ResponderEvent::Announced => {
                    *told = true;
                    self.complained = false;
                    let port = self.announcing.service.port;
                    tracing::info!("the clock is found at http://{name}.local:{port}/");
                    self.tell(hostname, Some(name)).await;
                }
                ResponderEvent::Taken => {
                    tracing::warn!(
                        "another one is called {name} on the network, the clock takes a number"
                    );
                    return AdvertEnd::Taken;
                }
                ResponderEvent::Broken(error) => {
                    self.complain(&error);
                    return AdvertEnd::Failed;
                }
            }
        }
    }

    /// Waits until something else is wanted, at most until a deadline.
    async fn until(&mut self, deadline: Option<Instant>) -> AdvertEnd {
        until(&mut self.announcing, deadline).await
    }

    /// Says once that it does not work, until it has worked.
    fn complain(&mut self, error: &str) {
        if !self.complained {
            tracing::warn!(%error, "the clock cannot be announced on the network, it keeps trying");
        }
        self.complained = true;
    }

    async fn tell(&self, asked: &str, name: Option<&str>) {
        let announced = LinkEvent::Announced {
            asked: asked.to_string(),
            name: name.map(ToString::to_string),
        };
        // The loss of the device is noticed elsewhere.
        let _ = self.announcing.inbox.send(Input::Linked(announced)).await;
    }
}

async fn until(announcing: &mut Announcing, deadline: Option<Instant>) -> AdvertEnd {
    tokio::select! {
        biased;
        () = announcing.stop.stopped() => AdvertEnd::Stopped,
        changed = announcing.adverts.changed() => match changed {
            Ok(()) => AdvertEnd::Changed,
            Err(_) => AdvertEnd::Stopped,
        },
        () = moments::until(deadline) => AdvertEnd::Failed,
    }
}

/// The name with a number, from the second on.
fn numbered(hostname: &str, number: u32) -> String {
    let suffix = match number {
        1 => String::new(),
        number => format!("-{number}"),
    };
    // A host name has only letters that are one byte long.
    let kept = hostname.len().min(LABEL_MAX.saturating_sub(suffix.len()));
    format!("{}{suffix}", hostname.get(..kept).unwrap_or(hostname))
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

//! The wallet: Nostr Wallet Connect over a relay.

use std::{convert::Infallible, future, time::Duration};

use board::moments::until;
use device::{
    secret::{Endpoint, Secret},
    settings::pairing::PairingUri,
};
use feeds::{
    malformed::Malformed,
    nostr::{
        frame::{self, RelayMessage},
        wallet::{
            reaction::{Complaint, Reaction, StepRandomness},
            session::WalletSession,
        },
    },
};
use net::{
    url::Url,
    ws::{WebSocket, WsMessage},
};
use rustls::crypto::ring;

use super::{
    nostr::POLICY,
    session::{SessionEnd, SessionLink, SourceSession},
};

#[derive(Debug)]
pub struct Wallet {
    pairing: Option<WalletPairing>,
}

/// The relay and the session of a paired wallet.
#[derive(Debug)]
struct WalletPairing {
    relay: Endpoint,
    session: WalletSession,
}

impl Wallet {
    /// The wallet of a pairing URI. An invalid URI leaves the wallet off.
    pub fn paired(uri: &Secret, refresh_secs: u32) -> Wallet {
        let refresh = Duration::from_secs(refresh_secs.into());
        let pairing = PairingUri::parse(uri.expose()).ok().and_then(|pairing| {
            let session = WalletSession::new(&pairing, refresh).ok()?;
            // The other relays are for wallets that moved; those need a new pairing.
            let relay = pairing.relays.into_iter().next()?;
            Some(WalletPairing { relay, session })
        });
        Wallet { pairing }
    }
}

impl SourceSession for Wallet {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let Some(WalletPairing { relay, session }) = &mut self.pairing else {
            link.report_problem("the pairing cannot be read".to_owned())
                .await?;
            return future::pending().await;
        };
        let (clock, already_reported) = {
            let shared = &link.context().shared;
            (shared.clock.clone(), shared.already_reported.clone())
        };
        session.set_missed_requested(already_reported.missed());
        let mut socket = link.open(&Url::parse(relay.expose())?, POLICY).await?;
        send(&mut socket, session.connected(clock.now()).send).await?;
        loop {
            let poll_at = session.next_poll().map(|uptime| clock.instant(uptime));
            let step = tokio::select! {
                frame = link.next(&mut socket) => match message(frame?) {
                    Ok(message) => handle_message(session, link, message).await?,
                    Err(malformed) => {
                        link.reject_frame(malformed).await?;
                        continue;
                    }
                },
                () = until(poll_at) => {
                    let mut step = session.poll(clock.now(), &noise()?);
                    let failed = std::mem::take(&mut step.observations);
                    link.report_values(failed).await?;
                    step
                }
            };
            already_reported.record_missed(session.missed_requested());
            send(&mut socket, step.send).await?;
        }
    }
}

/// Reports the result of a message and returns the messages to send.
async fn handle_message(
    session: &mut WalletSession,
    link: &mut SessionLink<'_>,
    message: RelayMessage,
) -> Result<Reaction, SessionEnd> {
    let is_reply = match message {
        RelayMessage::Event { .. } | RelayMessage::EndOfStored { .. } => true,
        RelayMessage::Taken { accepted, .. } => accepted,
        RelayMessage::Closed { .. } | RelayMessage::Notice(_) | RelayMessage::Other => false,
    };
    let is_closed = matches!(message, RelayMessage::Closed { .. });
    let now = link.context().shared.clock.now();
    let mut step = session.receive(message, now, &noise()?);
    match step.complaint.take() {
        None if is_reply => {
            link.accept_frame(std::mem::take(&mut step.observations))
                .await?
        }
        None => {}
        Some(Complaint::Malformed(malformed)) => link.reject_frame(malformed).await?,
        Some(complaint) if is_closed => return Err(SessionEnd::because(complaint.to_string())),
        Some(complaint @ (Complaint::Wallet(_) | Complaint::Relay(_))) => {
            link.report_problem(complaint.to_string()).await?;
        }
    }
    Ok(step)
}

fn message(frame: WsMessage) -> Result<RelayMessage, Malformed> {
    match frame {
        WsMessage::Text(text) => frame::message(text.as_bytes()),
        WsMessage::Binary(_) => Err(Malformed("not-text")),
    }
}

async fn send(socket: &mut WebSocket, messages: Vec<String>) -> Result<(), SessionEnd> {
    for message in messages {
        socket.send_text(message).await?;
    }
    Ok(())
}

fn noise() -> Result<StepRandomness, SessionEnd> {
    let random = ring::default_provider().secure_random;
    let mut noise = StepRandomness {
        cipher: [0; 32],
        signature: [0; 32],
    };
    for bytes in [&mut noise.cipher, &mut noise.signature] {
        random
            .fill(bytes)
            .map_err(|_| SessionEnd::because("the host has no random numbers"))?;
    }
    Ok(noise)
}

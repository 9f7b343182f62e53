//! The session with a wallet, without I/O: messages and time in, messages and observations out.
//!
//! The session requests the balance once it knows the wallet's capabilities, then at every poll and after every
//! payment. One request is pending at a time; the next poll replaces one without a reply.

use std::{collections::VecDeque, fmt, time::Duration};

use device::{secret::Secret, settings::pairing::PairingUri};
use market::{
    Direction, FigureIdentity, Observation, Payment, Polled,
    now::{Now, UtcTime},
    units::Msats,
};

use super::{
    super::{
        event::{Bytes32, Signer, VerifiedEvent, key},
        frame::{self, Filter, RelayMessage},
        recent::Recent,
    },
    INFO, NOTIFICATION_NIP04, NOTIFICATION_NIP44, REPLY, REQUEST,
    cipher::{Cipher, EncryptedChannel},
    message::{self, Info, Transaction, WalletMethod},
    reaction::{Complaint, Reaction, StepRandomness},
};
use crate::malformed::Malformed;

/// Time within which a repeated payment is the same one.
pub const REPEAT_WINDOW: Duration = Duration::from_secs(120);

/// Remembered payments, so that none is reported twice.
const PAYMENTS_REMEMBERED: usize = 8;

/// Remembered events, so that a relay cannot repeat them.
const EVENTS_REMEMBERED: usize = 64;

/// Time before the start for which missed payments are requested, s.
const MISSED_SECS: u64 = 600;

/// Age from which a notification is ignored, s.
const NOTIFICATION_AGE_MAX_SECS: u64 = 900;

/// Earlier wall clock times are not used in events, s since 1970-01-01 UTC.
const CLOCK_FROM_SECS: u64 = 1_700_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletSessionState {
    /// The wallet's capabilities are not known yet.
    Bootstrapping,
    /// The wallet uses this cipher.
    Ready(Cipher),
}

/// A payment that was reported to the device, and when.
struct ReportedPayment {
    hash: String,
    /// A payment to oneself is sent and received with the same hash.
    direction: Option<Direction>,
    at: Duration,
}

pub struct WalletSession {
    wallet: String,
    identity: FigureIdentity,
    wallet_key: Bytes32,
    signer: Signer,
    secret: Secret,
    channel: EncryptedChannel,
    refresh: Duration,
    state: WalletSessionState,
    in_flight: Option<(Bytes32, WalletMethod)>,
    next_poll: Option<Duration>,
    /// The balance was requested, and there was no reply yet.
    balance_pending: bool,
    missed_requested: bool,
    balance: Option<Msats>,
    payments: VecDeque<ReportedPayment>,
    events: Recent<Bytes32, EVENTS_REMEMBERED>,
}

impl WalletSession {
    /// Creates a session; the balance is requested every `refresh`.
    ///
    /// # Errors
    /// The pairing has an invalid key.
    pub fn new(pairing: &PairingUri, refresh: Duration) -> Result<WalletSession, Malformed> {
        Ok(WalletSession {
            wallet: pairing.wallet.to_ascii_lowercase(),
            identity: pairing.identity(),
            wallet_key: key(&pairing.wallet).ok_or(Malformed("wallet-key"))?,
            signer: Signer::new(&pairing.secret).ok_or(Malformed("secret"))?,
            secret: pairing.secret.clone(),
            channel: EncryptedChannel::new(&pairing.secret, &pairing.wallet)
                .ok_or(Malformed("wallet-key"))?,
            refresh,
            state: WalletSessionState::Bootstrapping,
            in_flight: None,
            next_poll: None,
            balance_pending: false,
            missed_requested: false,
            balance: None,
            payments: VecDeque::new(),
            events: Recent::default(),
        })
    }

    /// Records that the missed payments were requested in an earlier session.
    pub fn set_missed_requested(&mut self, requested: bool) {
        self.missed_requested |= requested;
    }

    /// Returns whether the missed payments were requested.
    pub fn missed_requested(&self) -> bool {
        self.missed_requested
    }

    pub fn state(&self) -> WalletSessionState {
        self.state
    }

    /// Returns whether a request is pending.
    pub fn is_waiting(&self) -> bool {
        self.in_flight.is_some()
    }

    /// The balance, if known.
    pub fn balance(&self) -> Option<Msats> {
        self.balance
    }

    /// Starts a new connection; a pending request of the last one is lost.
    pub fn connected(&mut self, now: Now) -> Reaction {
        self.in_flight = None;
        self.balance_pending = false;
        self.next_poll = Some(match self.state {
            WalletSessionState::Bootstrapping => now.uptime.saturating_add(self.refresh),
            WalletSessionState::Ready(_) => now.uptime,
        });
        let info = Filter {
            kinds: vec![INFO],
            authors: vec![self.wallet.clone()],
            limit: Some(1),
            ..Filter::default()
        };
        // Two subscriptions, because the info event has no recipient.
        let replies = Filter {
            kinds: vec![REPLY, NOTIFICATION_NIP44, NOTIFICATION_NIP04],
            authors: vec![self.wallet.clone()],
            recipients: vec![self.signer.author()],
            ..Filter::default()
        };
        let [info_name, replies_name] = self.subscriptions();
        Reaction {
            send: vec![
                frame::subscribe(&info_name, &info),
                frame::subscribe(&replies_name, &replies),
            ],
            ..Reaction::default()
        }
    }

    /// Ends the session; the messages close its subscriptions.
    pub fn closed(&mut self) -> Vec<String> {
        self.state = WalletSessionState::Bootstrapping;
        self.in_flight = None;
        self.next_poll = None;
        self.subscriptions()
            .iter()
            .map(|name| frame::close(name))
            .collect()
    }

    /// Uptime at which [`WalletSession::poll`] is due.
    pub fn next_poll(&self) -> Option<Duration> {
        self.next_poll
    }

    /// Requests the balance if it is due. A request that is still pending is dropped and reported as a failed poll.
    pub fn poll(&mut self, now: Now, noise: &StepRandomness) -> Reaction {
        if self.next_poll.is_none_or(|at| now.uptime < at) {
            return Reaction::default();
        }
        let is_failed = self.balance_pending || self.state == WalletSessionState::Bootstrapping;
        let failed = is_failed.then_some(Observation::PollFailed);
        self.next_poll = Some(now.uptime.saturating_add(self.refresh));
        Reaction {
            send: self.request(WalletMethod::GetBalance, now, noise),
            observations: failed.into_iter().collect(),
            complaint: None,
        }
    }

    pub fn receive(&mut self, message: RelayMessage, now: Now, noise: &StepRandomness) -> Reaction {
        let outcome = match message {
            RelayMessage::Event { event, .. } => VerifiedEvent::verify(event)
                .map_err(Complaint::from)
                .and_then(|event| self.event(&event, now, noise)),
            RelayMessage::Closed { reason, .. }
            | RelayMessage::Taken {
                accepted: false,
                reason,
                ..
            } => Err(Complaint::Relay(
                reason
                    .chars()
                    .filter(|char| !char.is_control())
                    .take(200)
                    .collect(),
            )),
            RelayMessage::EndOfStored { .. }
            | RelayMessage::Notice(_)
            | RelayMessage::Taken { .. }
            | RelayMessage::Other => Ok(Reaction::default()),
        };
        outcome.unwrap_or_else(|complaint| Reaction {
            complaint: Some(complaint),
            ..Reaction::default()
        })
    }

    fn event(
        &mut self,
        event: &VerifiedEvent,
        now: Now,
        noise: &StepRandomness,
    ) -> Result<Reaction, Complaint> {
        if *event.author() != self.wallet_key {
            return Err(Malformed("author").into());
        }
        if !self.events.insert(*event.id()) {
            return Ok(Reaction::default());
        }
        match event.kind() {
            INFO => self.info(event, now, noise),
            REPLY => self.reply(event, now, noise),
            NOTIFICATION_NIP44 => self.notification(event, Cipher::Nip44, now, noise),
            // Wallets that support both ciphers send each notification twice.
            NOTIFICATION_NIP04 if self.state == WalletSessionState::Ready(Cipher::Nip44) => {
                Ok(Reaction::default())
            }
            NOTIFICATION_NIP04 => self.notification(event, Cipher::Nip04, now, noise),
            _ => Err(Malformed("kind").into()),
        }
    }

    fn info(
        &mut self,
        event: &VerifiedEvent,
        now: Now,
        noise: &StepRandomness,
    ) -> Result<Reaction, Complaint> {
        let was = self.state;
        self.state = WalletSessionState::Ready(Info::read(event)?.cipher);
        if self.state == was {
            return Ok(Reaction::default());
        }
        Ok(Reaction {
            send: self.request(WalletMethod::GetBalance, now, noise),
            ..Reaction::default()
        })
    }

    fn reply(
        &mut self,
        event: &VerifiedEvent,
        now: Now,
        noise: &StepRandomness,
    ) -> Result<Reaction, Complaint> {
        let WalletSessionState::Ready(negotiated) = self.state else {
            return Ok(Reaction::default());
        };
        // A reply to a dropped request comes too late.
        let request_id = event.tag_value("e").and_then(key);
        let Some((_, method)) = self.in_flight.filter(|(id, _)| request_id == Some(*id)) else {
            return Ok(Reaction::default());
        };
        let cipher = match event.tag_value("encryption") {
            Some(word) => Cipher::named(word).ok_or(Malformed("cipher"))?,
            None => negotiated,
        };
        let text = self.decrypt(cipher, event)?;
        self.in_flight = None;
        let result = message::reply(method, &text)?.map_err(Complaint::Wallet)?;
        match method {
            WalletMethod::GetBalance => {
                let balance = message::balance(&result)?;
                self.balance = Some(balance);
                self.balance_pending = false;
                Ok(Reaction {
                    send: self.request_missed(now, noise),
                    observations: vec![self.report(balance)],
                    complaint: None,
                })
            }
            WalletMethod::ListTransactions => {
                let missed = message::transactions(&result);
                let observations = missed
                    .iter()
                    .filter_map(|payment| self.payment(payment, now))
                    .collect();
                Ok(Reaction {
                    observations,
                    ..Reaction::default()
                })
            }
        }
    }

    fn decrypt(&self, cipher: Cipher, event: &VerifiedEvent) -> Result<String, Malformed> {
        let text = self.channel.decrypt(cipher, event.content())?;
        // Mask before the text is shortened, because a shortened text may end with a part of the secret.
        Ok(self.secret.hidden_in(&text))
    }

    fn notification(
        &mut self,
        event: &VerifiedEvent,
        cipher: Cipher,
        now: Now,
        noise: &StepRandomness,
    ) -> Result<Reaction, Complaint> {
        let age = clock_secs(now.utc).map(|secs| secs.saturating_sub(event.created_at()));
        if age.is_some_and(|age| age > NOTIFICATION_AGE_MAX_SECS) {
            return Ok(Reaction::default());
        }
        let text = self.decrypt(cipher, event)?;
        let transaction = message::notification(&text)?;
        let mut observations = Vec::new();
        if transaction.direction.is_some() {
            let Some(payment) = self.payment(&transaction, now) else {
                return Ok(Reaction::default());
            };
            observations.push(payment);
            let expected = self.expect_balance(&transaction);
            observations.extend(expected.map(|balance| self.report(balance)));
        }
        Ok(Reaction {
            send: self.refetch(now, noise),
            observations,
            complaint: None,
        })
    }

    /// The payment. `None` if it was already reported or has no amount.
    fn payment(&mut self, transaction: &Transaction, now: Now) -> Option<Observation> {
        let amount = transaction.amount?;
        if !transaction.hash.is_empty() {
            let is_repeated = self.payments.iter().any(|reported| {
                reported.hash == transaction.hash
                    && reported.direction == transaction.direction
                    && now.uptime.saturating_sub(reported.at) < REPEAT_WINDOW
            });
            if is_repeated {
                return None;
            }
            if self.payments.len() == PAYMENTS_REMEMBERED {
                self.payments.pop_front();
            }
            self.payments.push_back(ReportedPayment {
                hash: transaction.hash.clone(),
                direction: transaction.direction,
                at: now.uptime,
            });
        }
        Some(Observation::Payment(Payment {
            direction: transaction.direction,
            amount,
        }))
    }

    /// The balance that the next reply should have.
    fn expect_balance(&mut self, transaction: &Transaction) -> Option<Msats> {
        let (Msats(balance), Msats(amount)) = (self.balance?, transaction.amount?);
        let expected = match transaction.direction? {
            Direction::Received => balance.saturating_add(amount),
            Direction::Sent => balance.saturating_sub(amount.saturating_add(transaction.fees.0)),
        };
        self.balance = Some(Msats(expected));
        self.balance
    }

    fn report(&self, balance: Msats) -> Observation {
        Observation::Balance(Polled {
            identity: self.identity,
            value: balance,
        })
    }

    /// Requests the balance, unless a request is pending.
    fn refetch(&mut self, now: Now, noise: &StepRandomness) -> Vec<String> {
        match self.in_flight {
            None | Some((_, WalletMethod::GetBalance)) => {
                self.request(WalletMethod::GetBalance, now, noise)
            }
            Some((_, WalletMethod::ListTransactions)) => Vec::new(),
        }
    }

    /// Requests the payments missed before the start, once.
    fn request_missed(&mut self, now: Now, noise: &StepRandomness) -> Vec<String> {
        if self.missed_requested || clock_secs(now.utc).is_none() {
            return Vec::new();
        }
        self.missed_requested = true;
        self.request(WalletMethod::ListTransactions, now, noise)
    }

    fn request(&mut self, method: WalletMethod, now: Now, noise: &StepRandomness) -> Vec<String> {
        let WalletSessionState::Ready(cipher) = self.state else {
            return Vec::new();
        };
        let secs = clock_secs(now.utc).unwrap_or(now.uptime.as_secs());
        let text = match method {
            WalletMethod::GetBalance => {
                self.next_poll = Some(now.uptime.saturating_add(self.refresh));
                self.balance_pending = true;
                message::get_balance()
            }
            WalletMethod::ListTransactions => {
                message::list_transactions(secs.saturating_sub(MISSED_SECS))
            }
        };
        let Ok(content) = self.channel.encrypt(cipher, &text, &noise.cipher) else {
            return Vec::new();
        };
        let tags: [&[&str]; 2] = [&["p", &self.wallet], &["encryption", cipher.word()]];
        let request = self
            .signer
            .sign(secs, REQUEST, &tags, content, &noise.signature);
        self.in_flight = key(&request.id).map(|id| (id, method));
        vec![frame::publish(&request)]
    }

    fn subscriptions(&self) -> [String; 2] {
        let short = self.wallet.get(..8).unwrap_or_default();
        [format!("nwci-{short}"), format!("nwcr-{short}")]
    }
}

impl fmt::Debug for WalletSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WalletSession")
            .field("wallet", &self.wallet)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// The wall clock if it is plausible, s since 1970-01-01 UTC.
fn clock_secs(utc: Option<UtcTime>) -> Option<u64> {
    let secs = u64::try_from(utc?.unix_secs()).ok()?;
    (secs > CLOCK_FROM_SECS).then_some(secs)
}

//! Looks at every attempt to sign in, one after the other.
//!
//! The right password is looked at whoever else guesses: who waits is not sent away, addresses take turns, and what is
//! known already takes no turn at all. Only the answer to a wrong guess is kept back.

use std::{net::IpAddr, pin::Pin, sync::Arc, time::Duration};

use device::secret::Secret;
use passwords::Hasher;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep},
};

use super::{
    account::AuthAccount,
    failures::{self, Failures, Guesses},
    line::FairQueue,
    verdict::LoginVerdict,
};

/// Attempts that wait for their turn. A hash takes some 15 ms, so the last one waits for four seconds; on a small
/// computer for half a minute.
const WAITING_MAX: usize = 256;

/// Time in which attempts that wait are still looked at when the server stops.
const LAST_LOOK: Duration = Duration::from_millis(400);

/// A login attempt for the password checker.
pub struct LoginAttempt {
    pub(super) address: IpAddr,
    pub(super) account: Arc<AuthAccount>,
    pub(super) user_known: bool,
    pub(super) password: Secret,
    /// Names the credentials.
    pub(super) digest: [u8; 32],
    pub(super) answer: oneshot::Sender<LoginVerdict>,
}

/// The queue of the checker.
pub type Attempts = mpsc::Receiver<LoginAttempt>;

/// A login attempt whose password is being checked.
struct PasswordCheck {
    attempt: LoginAttempt,
    right: Pin<Box<dyn Future<Output = Option<bool>> + Send>>,
}

/// What the checker knows.
struct Checker {
    hasher: Hasher,
    line: FairQueue<LoginAttempt>,
    failures: Failures,
    wrong: Guesses,
}

/// Looks at attempts until the server has stopped.
pub async fn run(mut queue: Attempts, hasher: Hasher, stop: watch::Receiver<bool>) {
    let mut checker = Checker {
        hasher,
        line: FairQueue::new(WAITING_MAX),
        failures: Failures::default(),
        wrong: Guesses::default(),
    };
    let stopped = stopped(stop);
    tokio::pin!(stopped);
    let mut look = None;
    loop {
        tokio::select! {
            attempt = queue.recv() => match attempt {
                Some(attempt) => checker.arrived(attempt),
                None => return,
            },
            right = outcome(&mut look) => match (look.take(), right) {
                (Some(PasswordCheck { attempt, .. }), Some(right)) => checker.conclude(attempt, right),
                // Nobody hashes any more.
                (_, None) | (None, _) => return,
            },
            () = &mut stopped => return,
        }
        if look.is_none() {
            look = checker.next();
        }
    }
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // A lost sender counts as a stop.
    let _ = stop.wait_for(|stop| *stop).await;
    sleep(LAST_LOOK).await;
}

async fn outcome(look: &mut Option<PasswordCheck>) -> Option<bool> {
    match look {
        Some(look) => look.right.as_mut().await,
        None => std::future::pending().await,
    }
}

impl Checker {
    fn arrived(&mut self, attempt: LoginAttempt) {
        let Some(attempt) = self.recognised(attempt) else {
            return;
        };
        if let Some(attempt) = self.line.push(attempt.address, attempt) {
            let _ = attempt.answer.send(LoginVerdict::Busy);
        }
    }

    /// Begins with the next attempt that nothing is known of.
    fn next(&mut self) -> Option<PasswordCheck> {
        while let Some(attempt) = self.line.next() {
            if attempt.answer.is_closed() {
                continue;
            }
            // The same may have been looked at meanwhile.
            if let Some(attempt) = self.recognised(attempt) {
                let (hasher, stored) = (self.hasher.clone(), attempt.account.password.clone());
                let password = attempt.password.clone();
                let right = Box::pin(async move { hasher.matches(stored, password).await });
                return Some(PasswordCheck { attempt, right });
            }
        }
        None
    }

    /// Answers an attempt with credentials that were seen before; gives back one with others.
    fn recognised(&mut self, attempt: LoginAttempt) -> Option<LoginAttempt> {
        let accepted = attempt.account.accepts(&attempt.digest);
        if !accepted && !self.wrong.contains(&attempt.digest) {
            return Some(attempt);
        }
        self.answer(attempt, accepted);
        None
    }

    fn conclude(&mut self, attempt: LoginAttempt, password_right: bool) {
        let right = password_right & attempt.user_known;
        if right {
            attempt.account.accept(attempt.digest);
        } else {
            self.wrong.add(attempt.digest);
        }
        self.answer(attempt, right);
    }

    fn answer(&mut self, attempt: LoginAttempt, right: bool) {
        let LoginAttempt {
            address, answer, ..
        } = attempt;
        let verdict = if right {
            self.failures.forget(address);
            LoginVerdict::Admitted
        } else {
            let count = self.failures.add(address, Instant::now());
            if failures::is_told(count) {
                tracing::warn!(client = %address, failures = count, "sign-in refused; `papertick passwd` on this machine sets another password");
            }
            failures::wait(count).map_or(LoginVerdict::Unknown, LoginVerdict::Slowed)
        };
        let _ = answer.send(verdict);
    }
}

//! Verifies login attempts one at a time.
//!
//! A client with the right password must get in while others guess: attempts wait in a queue that is fair by address,
//! and credentials with a known result skip it. Only the responses to wrong guesses are delayed.

use std::{net::IpAddr, pin::Pin, sync::Arc, time::Duration};

use device::secret::Secret;
use passwords::Hasher;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep},
};

use super::{
    account::AuthAccount,
    failures::{self, Failures, WrongCredentials},
    fair_queue::FairQueue,
    verdict::LoginVerdict,
};

/// Most queued attempts. A hash takes about 15 ms, so the last one waits four seconds; on a small computer half a minute.
const QUEUE_MAX: usize = 256;

/// How long queued attempts are still verified after the shutdown signal.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(400);

/// A login attempt for the password checker.
pub struct LoginAttempt {
    pub(super) address: IpAddr,
    pub(super) account: Arc<AuthAccount>,
    pub(super) user_matches: bool,
    pub(super) password: Secret,
    /// Keyed digest of the credentials.
    pub(super) digest: [u8; 32],
    pub(super) reply: oneshot::Sender<LoginVerdict>,
}

/// Attempts on their way to the checker.
pub type Attempts = mpsc::Receiver<LoginAttempt>;

/// A login attempt whose password is being checked.
struct PasswordCheck {
    attempt: LoginAttempt,
    /// Whether the password is right; `None` if the hasher has stopped.
    result: Pin<Box<dyn Future<Output = Option<bool>> + Send>>,
}

struct Checker {
    hasher: Hasher,
    queue: FairQueue<LoginAttempt>,
    failures: Failures,
    wrong: WrongCredentials,
}

/// Verifies attempts until the server has stopped.
pub async fn run(mut attempts: Attempts, hasher: Hasher, stop: watch::Receiver<bool>) {
    let mut checker = Checker {
        hasher,
        queue: FairQueue::new(QUEUE_MAX),
        failures: Failures::default(),
        wrong: WrongCredentials::default(),
    };
    let stopped = stopped(stop);
    tokio::pin!(stopped);
    let mut check = None;
    loop {
        tokio::select! {
            attempt = attempts.recv() => match attempt {
                Some(attempt) => checker.enqueue(attempt),
                None => return,
            },
            right = check_result(&mut check) => match (check.take(), right) {
                (Some(PasswordCheck { attempt, .. }), Some(right)) => checker.finish(attempt, right),
                // The hasher has stopped.
                (_, None) | (None, _) => return,
            },
            () = &mut stopped => return,
        }
        if check.is_none() {
            check = checker.next_check();
        }
    }
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // A lost sender counts as a stop.
    let _ = stop.wait_for(|stop| *stop).await;
    sleep(SHUTDOWN_GRACE).await;
}

/// Waits for the result of a check; forever if there is none.
async fn check_result(check: &mut Option<PasswordCheck>) -> Option<bool> {
    match check {
        Some(check) => check.result.as_mut().await,
        None => std::future::pending().await,
    }
}

impl Checker {
    fn enqueue(&mut self, attempt: LoginAttempt) {
        let Some(attempt) = self.reply_if_known(attempt) else {
            return;
        };
        if let Some(rejected) = self.queue.push(attempt.address, attempt) {
            let _ = rejected.reply.send(LoginVerdict::Busy);
        }
    }

    /// Starts to verify the next queued attempt with unknown credentials.
    fn next_check(&mut self) -> Option<PasswordCheck> {
        while let Some(attempt) = self.queue.pop() {
            // The client has disconnected.
            if attempt.reply.is_closed() {
                continue;
            }
            // The same credentials may have been verified while this attempt waited.
            if let Some(attempt) = self.reply_if_known(attempt) {
                let (hasher, stored) = (self.hasher.clone(), attempt.account.password.clone());
                let password = attempt.password.clone();
                let result = Box::pin(async move { hasher.matches(stored, password).await });
                return Some(PasswordCheck { attempt, result });
            }
        }
        None
    }

    /// Replies to an attempt with credentials that were verified before. Returns an attempt with unknown credentials.
    fn reply_if_known(&mut self, attempt: LoginAttempt) -> Option<LoginAttempt> {
        let accepted = attempt.account.accepts(&attempt.digest);
        if !accepted && !self.wrong.contains(&attempt.digest) {
            return Some(attempt);
        }
        self.reply(attempt, accepted);
        None
    }

    fn finish(&mut self, attempt: LoginAttempt, password_right: bool) {
        let right = password_right & attempt.user_matches;
        if right {
            attempt.account.accept(attempt.digest);
        } else {
            self.wrong.add(attempt.digest);
        }
        self.reply(attempt, right);
    }

    fn reply(&mut self, attempt: LoginAttempt, right: bool) {
        let LoginAttempt { address, reply, .. } = attempt;
        let verdict = if right {
            self.failures.forget(address);
            LoginVerdict::Accepted
        } else {
            let count = self.failures.add(address, Instant::now());
            if failures::is_logged(count) {
                // Of IPv6 the /64 network of the client counts.
                let client =
                    if address.is_ipv6() { format!("{address}/64") } else { address.to_string() };
                tracing::warn!(
                    client,
                    failures = count,
                    "sign-in refused; `papertick passwd` on this machine sets another password"
                );
            }
            failures::delay(count).map_or(LoginVerdict::Unauthorized, LoginVerdict::Delayed)
        };
        let _ = reply.send(verdict);
    }
}

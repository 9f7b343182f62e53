//! Who may use the clock: basic authentication with the credentials that were stored when the device started.
//!
//! Slow hashes are checked one at a time by a task of their own; the header that was accepted last is known by
//! a keyed digest, so that a client pays for the slow hash only once.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use device::{
    secret::{PasswordHash, Secret},
    settings::{Settings, TEXT_MAX},
};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE},
};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    answer::{self, Response},
    parse::basic_credentials,
    password,
};

/// Longest `Authorization` header: the longest user name and password that can be stored, in base64.
const HEADER_MAX: usize = "Basic ".len() + (TEXT_MAX + ":".len() + TEXT_MAX).div_ceil(3) * 4;

/// Attempts that wait for their turn.
const WAITING_MAX: usize = 32;

/// Addresses whose failed attempts are remembered.
const ADDRESSES_MAX: usize = 1024;

/// Failed attempts before an address is slowed.
const FREE_FAILURES: u32 = 3;

/// Time an address waits after its first attempt too many; doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Longest time an address waits.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Time after which failed attempts are forgotten.
const FORGET: Duration = Duration::from_secs(15 * 60);

/// User name where none is stored.
const DEFAULT_USER: &str = "papertick";

/// One pair of credentials.
struct Account {
    /// None accepts any user name.
    user: Option<String>,
    password: PasswordHash,
    accepted: watch::Sender<Option<[u8; 32]>>,
}

impl Account {
    fn new(user: Option<String>, password: &PasswordHash) -> Account {
        Account {
            user,
            password: password.clone(),
            accepted: watch::Sender::new(None),
        }
    }
}

/// The gate all guarded requests go through.
pub(crate) struct Gate {
    control: Option<Account>,
    upload: Option<Account>,
    key: [u8; 32],
    attempts: mpsc::Sender<Attempt>,
}

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Come in.
    Admitted,
    /// No credentials, or wrong ones.
    Unknown,
    /// Too many wrong ones from that address; not looked at before so much time has passed.
    TooMany(Duration),
}

/// An attempt on its way to the checker.
pub(crate) struct Attempt {
    address: IpAddr,
    user_known: bool,
    password: Secret,
    stored: PasswordHash,
    answer: oneshot::Sender<Verdict>,
}

/// The queue of the checker.
pub(crate) type Attempts = mpsc::Receiver<Attempt>;

impl Gate {
    /// Makes the gate and the queue of its checker.
    pub(crate) fn new(settings: &Settings) -> (Gate, Attempts) {
        let (attempts, queue) = mpsc::channel(WAITING_MAX);
        let user = match settings.http_auth_user.as_str() {
            "" => DEFAULT_USER.to_string(),
            user => user.to_string(),
        };
        let control = settings
            .http_auth_enabled
            .then(|| Account::new(Some(user), &settings.http_auth_pass));
        let upload =
            (!settings.ota_pass.is_empty()).then(|| Account::new(None, &settings.ota_pass));
        let key = password::random().unwrap_or_else(|error| {
            tracing::error!(%error, "no random numbers; sign-ins are slow");
            [0; 32]
        });
        let gate = Gate {
            control,
            upload,
            key,
            attempts,
        };
        (gate, queue)
    }

    /// Judges a request to the control interface.
    pub(crate) async fn control(&self, headers: &HeaderMap, address: IpAddr) -> Verdict {
        self.judge(self.control.as_ref(), headers, address).await
    }

    /// Judges an upload.
    pub(crate) async fn upload(&self, headers: &HeaderMap, address: IpAddr) -> Verdict {
        self.judge(
            self.upload.as_ref().or(self.control.as_ref()),
            headers,
            address,
        )
        .await
    }

    async fn judge(
        &self,
        account: Option<&Account>,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> Verdict {
        let Some(account) = account else {
            return Verdict::Admitted;
        };
        let Some(header) = headers
            .get(AUTHORIZATION)
            .filter(|header| header.len() <= HEADER_MAX)
        else {
            return Verdict::Unknown;
        };
        let digest = self.digest(header.as_bytes());
        let accepted = *account.accepted.borrow();
        if accepted.is_some_and(|accepted| accepted.ct_eq(&digest).into()) {
            return Verdict::Admitted;
        }
        let Some((user, password)) = basic_credentials(header) else {
            return Verdict::Unknown;
        };
        let (answer, verdict) = oneshot::channel();
        let attempt = Attempt {
            address: network(address),
            user_known: account
                .user
                .as_deref()
                .is_none_or(|known| password::same(known, &user)),
            password,
            stored: account.password.clone(),
            answer,
        };
        if self.attempts.try_send(attempt).is_err() {
            return Verdict::TooMany(FIRST_WAIT);
        }
        let verdict = verdict.await.unwrap_or(Verdict::TooMany(FIRST_WAIT));
        // Without a key the digest would be one that others can compute.
        if verdict == Verdict::Admitted && self.key != [0; 32] {
            account.accepted.send_replace(Some(digest));
        }
        verdict
    }

    fn digest(&self, header: &[u8]) -> [u8; 32] {
        Sha256::new()
            .chain_update(self.key)
            .chain_update(header)
            .finalize()
            .into()
    }
}

impl Verdict {
    /// The answer to who is not admitted.
    pub(crate) fn refusal(self) -> Option<Response> {
        match self {
            Verdict::Admitted => None,
            Verdict::Unknown => {
                let mut response = answer::error(StatusCode::UNAUTHORIZED, "unauthorized");
                let challenge =
                    HeaderValue::from_static("Basic realm=\"papertick\", charset=\"UTF-8\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                Some(response)
            }
            Verdict::TooMany(wait) => {
                let mut response =
                    answer::error(StatusCode::TOO_MANY_REQUESTS, "too many attempts");
                response
                    .headers_mut()
                    .insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
                Some(response)
            }
        }
    }
}

/// What counts as one address: with IPv6 everybody has a whole network of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// Failed attempts of an address.
#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn not_before(self) -> Instant {
        match self.count.checked_sub(FREE_FAILURES) {
            None => self.last,
            Some(beyond) => {
                self.last
                    + FIRST_WAIT
                        .saturating_mul(1 << beyond.min(16))
                        .min(LONGEST_WAIT)
            }
        }
    }
}

/// Checks attempts one after the other, which also bounds the memory that slow hashes take.
pub(crate) async fn check(mut queue: Attempts, mut stop: watch::Receiver<bool>) {
    let mut failed = HashMap::new();
    loop {
        let attempt = tokio::select! {
            attempt = queue.recv() => attempt,
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let Some(attempt) = attempt else {
            return;
        };
        let Attempt {
            address,
            user_known,
            password,
            stored,
            answer,
        } = attempt;
        let now = Instant::now();
        let before = failed
            .get(&address)
            .copied()
            .filter(|failures: &Failures| now < failures.last + FORGET);
        let wait = before.map_or(Duration::ZERO, |failures| {
            failures.not_before().saturating_duration_since(now)
        });
        if !wait.is_zero() {
            let _ = answer.send(Verdict::TooMany(wait));
            continue;
        }
        let check = tokio::task::spawn_blocking(move || password::matches(&stored, &password));
        let right = check.await.unwrap_or(false) & user_known;
        if right {
            failed.remove(&address);
        } else {
            tracing::warn!(client = %address, "sign-in refused");
            let count = before
                .map_or(0, |failures| failures.count)
                .saturating_add(1);
            remember(
                &mut failed,
                address,
                Failures {
                    count,
                    last: Instant::now(),
                },
            );
        }
        let _ = answer.send(if right {
            Verdict::Admitted
        } else {
            Verdict::Unknown
        });
    }
}

fn remember(failed: &mut HashMap<IpAddr, Failures>, address: IpAddr, failures: Failures) {
    if failed.len() >= ADDRESSES_MAX && !failed.contains_key(&address) {
        let oldest = failed
            .iter()
            .min_by_key(|(_, failures)| failures.last)
            .map(|(address, _)| *address);
        oldest.and_then(|oldest| failed.remove(&oldest));
    }
    failed.insert(address, failures);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

    use base64::{Engine, prelude::BASE64_STANDARD};

    use super::*;

    fn basic(pair: &str) -> HeaderMap {
        let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(&value).unwrap())])
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn settings(password: &str) -> Settings {
        Settings {
            http_auth_enabled: true,
            http_auth_pass: password::hash(password).unwrap(),
            ..Settings::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_guesses_is_slowed_and_others_are_not() {
        let (gate, queue) = Gate::new(&settings("right"));
        let (_running, stop) = watch::channel(false);
        tokio::spawn(check(queue, stop));
        for guess in ["a", "b", "c"] {
            let headers = basic(&format!("papertick:{guess}"));
            assert_eq!(
                gate.control(&headers, address(1)).await,
                Verdict::Unknown,
                "{guess}"
            );
        }
        let right = basic("papertick:right");
        assert!(matches!(
            gate.control(&right, address(1)).await,
            Verdict::TooMany(_)
        ));
        assert_eq!(gate.control(&right, address(2)).await, Verdict::Admitted);
        // A header that was accepted before is not a guess.
        assert_eq!(gate.control(&right, address(1)).await, Verdict::Admitted);
        tokio::time::sleep(FIRST_WAIT).await;
        assert_eq!(
            gate.control(&basic("papertick:d"), address(1)).await,
            Verdict::Unknown
        );
        assert!(matches!(
            gate.control(&basic("papertick:e"), address(1)).await,
            Verdict::TooMany(_)
        ));
    }

    #[tokio::test]
    async fn headers_that_are_no_credentials_are_refused() {
        let (gate, queue) = Gate::new(&settings("right"));
        let (_running, stop) = watch::channel(false);
        tokio::spawn(check(queue, stop));
        let long = format!(
            "Basic {}",
            BASE64_STANDARD.encode(format!("papertick:{}", "x".repeat(600)))
        );
        for header in [
            "",
            "Basic",
            "Basic !!",
            "Bearer abc",
            "Basic cGFwZXJ0aWNr",
            &long,
        ] {
            let headers =
                HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(header).unwrap())]);
            assert_eq!(
                gate.control(&headers, address(1)).await,
                Verdict::Unknown,
                "{header}"
            );
        }
        assert_eq!(
            gate.control(&HeaderMap::new(), address(1)).await,
            Verdict::Unknown
        );
        assert_eq!(
            gate.control(&basic("other:right"), address(1)).await,
            Verdict::Unknown
        );
        assert_eq!(
            gate.control(&basic("papertick:right"), address(1)).await,
            Verdict::Admitted
        );
    }

    #[test]
    fn the_table_of_addresses_is_bounded() {
        let mut failed = HashMap::new();
        let start = Instant::now();
        for index in 0..2 * ADDRESSES_MAX {
            let address = IpAddr::from(u32::try_from(index).unwrap().to_be_bytes());
            let last = start + Duration::from_millis(index.try_into().unwrap());
            remember(&mut failed, address, Failures { count: 1, last });
        }
        assert_eq!(failed.len(), ADDRESSES_MAX);
        assert!(!failed.contains_key(&IpAddr::from([0, 0, 0, 0])));
    }

    #[test]
    fn ipv6_neighbours_count_as_one_address() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), address(1));
    }
}

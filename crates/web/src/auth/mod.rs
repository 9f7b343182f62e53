//! Basic authentication with the credentials that were stored when the device started.
//!
//! `checker` verifies attempts one at a time, in the order of `fair_queue`, and counts `failures`.
//! A keyed digest of accepted credentials is remembered, so that the slow hash runs only once per client.

mod account;
mod checker;
mod failures;
mod fair_queue;
mod verdict;

use std::{net::IpAddr, sync::Arc, time::Duration};

use device::settings::{Settings, TEXT_MAX};
use http::{HeaderMap, header::AUTHORIZATION};
use sha2::{Digest, Sha256};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::timeout,
};

use super::parse::basic_credentials;
use account::AuthAccount;
use checker::LoginAttempt;
pub use checker::{Attempts, run};
pub(crate) use failures::network;
pub use verdict::{LoginVerdict, use_sign_in_form};

/// Longest `Authorization` header: the longest user name and password that can be stored, in base64.
const HEADER_MAX: usize = "Basic ".len() + (TEXT_MAX + ":".len() + TEXT_MAX).div_ceil(3) * 4;

/// Most attempts in the channel to the checker, which reads them at once.
const ATTEMPTS_MAX: usize = 32;

/// Most responses that are delayed at the same time. Further wrong guesses get their response at once.
const DELAYED_MAX: usize = 256;

/// Checks the credentials of requests.
pub struct Authenticator {
    control: Option<Arc<AuthAccount>>,
    upload: Option<Arc<AuthAccount>>,
    key: [u8; 32],
    attempts: mpsc::Sender<LoginAttempt>,
    delayed: Semaphore,
    stop: watch::Receiver<bool>,
}

impl Authenticator {
    /// Makes the authenticator and the channel to its checker.
    pub fn new(settings: &Settings, stop: watch::Receiver<bool>) -> (Authenticator, Attempts) {
        let (attempts, queue) = mpsc::channel(ATTEMPTS_MAX);
        // Without a stored user name every user name is accepted.
        let user = Some(settings.http_auth_user.clone()).filter(|user| !user.is_empty());
        let control = settings
            .http_auth_enabled
            .then(|| AuthAccount::new(user, &settings.http_auth_pass));
        let upload =
            (!settings.ota_pass.is_empty()).then(|| AuthAccount::new(None, &settings.ota_pass));
        let authenticator = Authenticator {
            control,
            upload,
            // The key may be zero without random numbers: it only matters to an attacker with access to the digests.
            key: passwords::random().unwrap_or_default(),
            attempts,
            delayed: Semaphore::new(DELAYED_MAX),
            stop,
        };
        (authenticator, queue)
    }

    /// Checks the credentials of a request to the control interface.
    pub async fn control(&self, headers: &HeaderMap, address: IpAddr) -> LoginVerdict {
        self.check(self.control.as_ref(), headers, address).await
    }

    /// Checks the credentials of an upload.
    pub async fn upload(&self, headers: &HeaderMap, address: IpAddr) -> LoginVerdict {
        let account = self.upload.as_ref().or(self.control.as_ref());
        self.check(account, headers, address).await
    }

    async fn check(
        &self,
        account: Option<&Arc<AuthAccount>>,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> LoginVerdict {
        match account {
            Some(account) => Box::pin(self.check_against(account, headers, address)).await,
            None => LoginVerdict::Accepted,
        }
    }

    /// Checks the credentials of a request against an account.
    async fn check_against(
        &self,
        account: &Arc<AuthAccount>,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> LoginVerdict {
        let credentials = headers
            .get(AUTHORIZATION)
            .filter(|header| header.len() <= HEADER_MAX)
            .and_then(basic_credentials);
        let Some((user, password)) = credentials else {
            return LoginVerdict::Unauthorized;
        };
        let digest = self.digest(account, &user, password.expose());
        if account.accepts(&digest) {
            return LoginVerdict::Accepted;
        }
        let expected_user = account.user.as_deref();
        let (reply, verdict) = oneshot::channel();
        let attempt = LoginAttempt {
            address: network(address),
            account: Arc::clone(account),
            user_matches: expected_user.is_none_or(|expected| passwords::same(expected, &user)),
            password,
            digest,
            reply,
        };
        if self.attempts.send(attempt).await.is_err() {
            return LoginVerdict::Busy;
        }
        let verdict = verdict.await.unwrap_or(LoginVerdict::Busy);
        if let LoginVerdict::Delayed(delay) = verdict {
            self.delay(delay).await;
        }
        verdict
    }

    /// Delays a response, unless too many responses are delayed already or the server stops.
    async fn delay(&self, delay: Duration) {
        if let Ok(_permit) = self.delayed.try_acquire() {
            let mut stop = self.stop.clone();
            // The end of the delay and the shutdown signal both end the wait.
            let _ = timeout(delay, stop.wait_for(|stop| *stop)).await;
        }
    }

    /// Keyed digest of credentials.
    fn digest(&self, account: &AuthAccount, user: &str, password: &str) -> [u8; 32] {
        // If any user name is accepted, it is not part of the digest. A stored user name never contains a zero byte,
        // so the separators are unambiguous.
        let user = account.user.as_ref().map_or("", |_| user);
        Sha256::new()
            .chain_update(self.key)
            .chain_update(account.password.phc())
            .chain_update([0])
            .chain_update(user)
            .chain_update([0])
            .chain_update(password)
            .finalize()
            .into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    #![expect(clippy::disallowed_methods, reason = "tasks of tests")]

    use argon2::{
        Argon2, Params,
        password_hash::{PasswordHasher, SaltString},
    };
    use base64::{Engine, prelude::BASE64_STANDARD};
    use device::secret::PasswordHash;
    use http::HeaderValue;
    use passwords::{Blocks, hasher};
    use tokio::{
        task::JoinHandle,
        time::{Instant, sleep, sleep_until},
    };

    use super::*;

    fn basic(pair: &str) -> HeaderMap {
        let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(&value).unwrap())])
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn settings() -> Settings {
        let salt = SaltString::encode_b64(b"sixteen bytes 16").unwrap();
        // The cheapest parameters: these tests are not about the hash.
        let argon2 = Argon2::from(Params::new(Params::MIN_M_COST, 1, 1, None).unwrap());
        let hash = argon2.hash_password(b"right", &salt).unwrap().to_string();
        Settings {
            http_auth_enabled: true,
            http_auth_pass: PasswordHash::new(hash.clone()),
            ..Settings::default()
        }
    }

    /// An authenticator, its checker, and a hasher with a fixed duration per hash.
    #[derive(Clone)]
    struct Rig {
        authenticator: Arc<Authenticator>,
        hashed: watch::Sender<usize>,
        stop: watch::Sender<bool>,
    }

    impl Rig {
        fn new(hash_time: Duration) -> Rig {
            let (stop, hashed) = (watch::Sender::new(false), watch::Sender::new(0));
            let (authenticator, attempts) = Authenticator::new(&settings(), stop.subscribe());
            let (hasher, mut jobs) = hasher();
            tokio::spawn(run(attempts, hasher, stop.subscribe()));
            let count = hashed.clone();
            tokio::spawn(async move {
                while let Some(job) = jobs.recv().await {
                    sleep(hash_time).await;
                    count.send_modify(|count| *count += 1);
                    job.work(&mut Blocks::new());
                }
            });
            Rig {
                authenticator: Arc::new(authenticator),
                hashed,
                stop,
            }
        }

        async fn signs_in(&self, last: u8, password: &str) -> LoginVerdict {
            let headers = basic(&format!("papertick:{password}"));
            self.authenticator.control(&headers, address(last)).await
        }

        /// Sends different guesses from an address without waiting for the responses.
        fn guesses(
            &self,
            last: u8,
            count: usize,
            pause: Duration,
        ) -> Vec<JoinHandle<LoginVerdict>> {
            let start = Instant::now();
            let mut guesses = Vec::new();
            for number in 0..count {
                let rig = self.clone();
                guesses.push(tokio::spawn(async move {
                    sleep_until(start + pause * u32::try_from(number).unwrap()).await;
                    rig.signs_in(last, &format!("guess {number}")).await
                }));
            }
            guesses
        }
    }

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn only_an_address_that_guesses_is_slowed() {
        let rig = Rig::new(MILLISECOND);
        let millis = |wait: u64| LoginVerdict::Delayed(Duration::from_millis(wait));
        let unknown = LoginVerdict::Unauthorized;
        let expected = [
            unknown,
            unknown,
            unknown,
            millis(250),
            millis(500),
            millis(1000),
            millis(2000),
            millis(4000),
            millis(4000),
        ];
        for (number, verdict) in expected.into_iter().enumerate() {
            let begun = Instant::now();
            let actual = rig.signs_in(1, &format!("guess {number}")).await;
            assert_eq!(actual, verdict, "{number}");
            if let LoginVerdict::Delayed(wait) = verdict {
                assert!(begun.elapsed() >= wait, "{number}");
            }
        }
        let begun = Instant::now();
        assert_eq!(rig.signs_in(2, "wrong").await, unknown);
        assert_eq!(rig.signs_in(1, "right").await, LoginVerdict::Accepted);
        assert!(begun.elapsed() < Duration::from_millis(10));
    }

    /// Fifty different guesses per second from the address of the owner.
    #[tokio::test(start_paused = true)]
    async fn the_right_password_is_accepted_while_the_same_address_guesses() {
        let rig = Rig::new(Duration::from_millis(15));
        let guesses = rig.guesses(1, 1000, Duration::from_millis(20));
        sleep(Duration::from_secs(5)).await;
        for attempt in 0..23 {
            let begun = Instant::now();
            assert_eq!(
                rig.signs_in(1, "right").await,
                LoginVerdict::Accepted,
                "{attempt}"
            );
            assert!(begun.elapsed() < Duration::from_millis(100), "{attempt}");
            sleep(Duration::from_millis(400)).await;
        }
        for guess in guesses {
            let verdict = guess.await.unwrap();
            let refused = matches!(
                verdict,
                LoginVerdict::Unauthorized | LoginVerdict::Delayed(_)
            );
            assert!(refused, "{verdict:?}");
        }
    }

    /// The computer is too slow to verify all guesses.
    #[tokio::test(start_paused = true)]
    async fn guesses_of_one_address_do_not_block_other_addresses() {
        let rig = Rig::new(Duration::from_millis(200));
        let guesses = rig.guesses(1, 2000, Duration::from_millis(20));
        sleep(Duration::from_secs(30)).await;
        let begun = Instant::now();
        assert_eq!(rig.signs_in(2, "right").await, LoginVerdict::Accepted);
        assert!(begun.elapsed() < Duration::from_secs(1));
        // Known credentials skip the queue.
        assert_eq!(rig.signs_in(1, "right").await, LoginVerdict::Accepted);
        let mut busy = 0;
        for guess in guesses {
            busy += usize::from(guess.await.unwrap() == LoginVerdict::Busy);
        }
        assert!((1000..1900).contains(&busy), "{busy}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_shutdown_ends_all_waits() {
        let rig = Rig::new(Duration::from_millis(100));
        let guesses = rig.guesses(1, 100, Duration::ZERO);
        sleep(Duration::from_secs(2)).await;
        let begun = Instant::now();
        rig.stop.send_replace(true);
        // New attempts are still verified for a short time.
        assert_eq!(rig.signs_in(2, "right").await, LoginVerdict::Accepted);
        let mut busy = 0;
        for guess in guesses {
            busy += usize::from(guess.await.unwrap() == LoginVerdict::Busy);
        }
        assert!((70..80).contains(&busy), "{busy}");
        assert!(begun.elapsed() < Duration::from_millis(500));
        assert_eq!(rig.signs_in(2, "right").await, LoginVerdict::Accepted);
        assert_eq!(rig.signs_in(2, "other").await, LoginVerdict::Busy);
    }

    #[tokio::test]
    async fn headers_that_are_no_credentials_are_refused() {
        let rig = Rig::new(MILLISECOND);
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
            let verdict = rig.authenticator.control(&headers, address(1)).await;
            assert_eq!(verdict, LoginVerdict::Unauthorized, "{header}");
        }
        let none = rig
            .authenticator
            .control(&HeaderMap::new(), address(1))
            .await;
        assert_eq!(none, LoginVerdict::Unauthorized);
        assert_eq!(*rig.hashed.borrow(), 0);
        for (pair, verdict) in [
            ("other:right", LoginVerdict::Unauthorized),
            ("papertick:right", LoginVerdict::Accepted),
            ("other:right", LoginVerdict::Unauthorized),
            (":right", LoginVerdict::Unauthorized),
        ] {
            let actual = rig.authenticator.control(&basic(pair), address(1)).await;
            assert_eq!(actual, verdict, "{pair}");
        }
    }
}

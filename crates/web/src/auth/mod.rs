//! Who may use the clock: basic authentication with the credentials that were stored when the device started.
//!
//! `checker` looks at attempts one after the other, in the order of `line`, and remembers `failures`.
//! The credentials that were accepted are known by a keyed digest, so that a client pays for the slow hash only once.

mod account;
mod checker;
mod failures;
mod line;
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
pub use verdict::{LoginVerdict, leave_asking_to_page};

/// Longest `Authorization` header: the longest user name and password that can be stored, in base64.
const HEADER_MAX: usize = "Basic ".len() + (TEXT_MAX + ":".len() + TEXT_MAX).div_ceil(3) * 4;

/// Attempts on their way to the checker, who takes them at once.
const ATTEMPTS_MAX: usize = 32;

/// Answers that are kept back at the same time; beyond that a wrong guess is answered at once.
const KEPT_BACK_MAX: usize = 256;

/// The gate all guarded requests go through.
pub struct Gate {
    control: Option<Arc<AuthAccount>>,
    upload: Option<Arc<AuthAccount>>,
    key: [u8; 32],
    attempts: mpsc::Sender<LoginAttempt>,
    kept_back: Semaphore,
    stop: watch::Receiver<bool>,
}

impl Gate {
    /// Makes the gate and the queue of its checker.
    pub fn new(settings: &Settings, stop: watch::Receiver<bool>) -> (Gate, Attempts) {
        let (attempts, queue) = mpsc::channel(ATTEMPTS_MAX);
        // Where no name is stored, nobody could know which one to say.
        let user = Some(settings.http_auth_user.clone()).filter(|user| !user.is_empty());
        let control = settings
            .http_auth_enabled
            .then(|| AuthAccount::new(user, &settings.http_auth_pass));
        let upload =
            (!settings.ota_pass.is_empty()).then(|| AuthAccount::new(None, &settings.ota_pass));
        let gate = Gate {
            control,
            upload,
            // Without random numbers digests could be computed by others, who would have to see them first.
            key: passwords::random().unwrap_or_default(),
            attempts,
            kept_back: Semaphore::new(KEPT_BACK_MAX),
            stop,
        };
        (gate, queue)
    }

    /// Judges a request to the control interface.
    pub async fn control(&self, headers: &HeaderMap, address: IpAddr) -> LoginVerdict {
        self.judge(self.control.as_ref(), headers, address).await
    }

    /// Judges an upload.
    pub async fn upload(&self, headers: &HeaderMap, address: IpAddr) -> LoginVerdict {
        let account = self.upload.as_ref().or(self.control.as_ref());
        self.judge(account, headers, address).await
    }

    async fn judge(
        &self,
        account: Option<&Arc<AuthAccount>>,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> LoginVerdict {
        match account {
            Some(account) => Box::pin(self.look_at(account, headers, address)).await,
            None => LoginVerdict::Admitted,
        }
    }

    /// Judges the credentials that a request brings.
    async fn look_at(
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
            return LoginVerdict::Unknown;
        };
        let digest = self.digest(account, &user, password.expose());
        if account.accepts(&digest) {
            return LoginVerdict::Admitted;
        }
        let known = account.user.as_deref();
        let (answer, verdict) = oneshot::channel();
        let attempt = LoginAttempt {
            address: failures::network(address),
            account: Arc::clone(account),
            user_known: known.is_none_or(|known| passwords::same(known, &user)),
            password,
            digest,
            answer,
        };
        if self.attempts.send(attempt).await.is_err() {
            return LoginVerdict::Busy;
        }
        let verdict = verdict.await.unwrap_or(LoginVerdict::Busy);
        if let LoginVerdict::Slowed(wait) = verdict {
            self.keep_back(wait).await;
        }
        verdict
    }

    /// Lets who guesses wait for the answer, unless too many do or the server stops.
    async fn keep_back(&self, wait: Duration) {
        if let Ok(_place) = self.kept_back.try_acquire() {
            let mut stop = self.stop.clone();
            // Either end of the wait will do.
            let _ = timeout(wait, stop.wait_for(|stop| *stop)).await;
        }
    }

    /// Names credentials without telling anything of them.
    fn digest(&self, account: &AuthAccount, user: &str, password: &str) -> [u8; 32] {
        // Where any user name will do it makes no difference; else no user name has a zero in it that is right.
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
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

    use argon2::{
        Argon2, Params,
        password_hash::{PasswordHasher, SaltString},
    };
    use base64::{Engine, prelude::BASE64_STANDARD};
    use device::secret::PasswordHash;
    use http::{
        HeaderValue,
        header::{RETRY_AFTER, WWW_AUTHENTICATE},
    };
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
        // The cheapest there is: these tests are about who is let in.
        let argon2 = Argon2::from(Params::new(Params::MIN_M_COST, 1, 1, None).unwrap());
        let hash = argon2.hash_password(b"right", &salt).unwrap().to_string();
        Settings {
            http_auth_enabled: true,
            http_auth_pass: PasswordHash::new(hash.clone()),
            ..Settings::default()
        }
    }

    /// A gate, its checker, and a hasher that takes its time.
    #[derive(Clone)]
    struct Rig {
        gate: Arc<Gate>,
        hashed: watch::Sender<usize>,
        stop: watch::Sender<bool>,
    }

    impl Rig {
        fn new(hash_time: Duration) -> Rig {
            let (stop, hashed) = (watch::Sender::new(false), watch::Sender::new(0));
            let (gate, attempts) = Gate::new(&settings(), stop.subscribe());
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
                gate: Arc::new(gate),
                hashed,
                stop,
            }
        }

        async fn signs_in(&self, last: u8, password: &str) -> LoginVerdict {
            let headers = basic(&format!("papertick:{password}"));
            self.gate.control(&headers, address(last)).await
        }

        /// Sends guesses from an address, each another one, whether they are answered or not.
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
    async fn an_address_that_guesses_is_slowed_and_nobody_else() {
        let rig = Rig::new(MILLISECOND);
        let millis = |wait: u64| LoginVerdict::Slowed(Duration::from_millis(wait));
        let unknown = LoginVerdict::Unknown;
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
            let told = rig.signs_in(1, &format!("guess {number}")).await;
            assert_eq!(told, verdict, "{number}");
            if let LoginVerdict::Slowed(wait) = verdict {
                assert!(begun.elapsed() >= wait, "{number}");
            }
        }
        let begun = Instant::now();
        assert_eq!(rig.signs_in(2, "wrong").await, unknown);
        assert_eq!(rig.signs_in(1, "right").await, LoginVerdict::Admitted);
        assert!(begun.elapsed() < Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn who_signs_in_may_err_as_often_again() {
        let rig = Rig::new(MILLISECOND);
        for round in 0..2 {
            for guess in 0..3 {
                let told = rig.signs_in(1, &format!("guess {round} {guess}")).await;
                assert_eq!(told, LoginVerdict::Unknown, "{round} {guess}");
            }
            assert_eq!(rig.signs_in(1, "right").await, LoginVerdict::Admitted);
        }
        // The second time it was known and nobody looked: who polls from an address clears nothing for its guessers.
        let told = rig.signs_in(1, "one more").await;
        assert_eq!(told, LoginVerdict::Slowed(Duration::from_millis(250)));
    }

    /// Fifty guesses a second, each another one, from the address of the owner, who signs in for the first time.
    #[tokio::test(start_paused = true)]
    async fn the_right_password_is_looked_at_whoever_guesses_from_the_same_address() {
        let rig = Rig::new(Duration::from_millis(15));
        let guesses = rig.guesses(1, 1000, Duration::from_millis(20));
        sleep(Duration::from_secs(5)).await;
        for attempt in 0..23 {
            let begun = Instant::now();
            assert_eq!(
                rig.signs_in(1, "right").await,
                LoginVerdict::Admitted,
                "{attempt}"
            );
            assert!(begun.elapsed() < Duration::from_millis(100), "{attempt}");
            sleep(Duration::from_millis(400)).await;
        }
        for guess in guesses {
            let verdict = guess.await.unwrap();
            let refused = matches!(verdict, LoginVerdict::Unknown | LoginVerdict::Slowed(_));
            assert!(refused, "{verdict:?}");
        }
    }

    /// A computer so small that it cannot look at all guesses.
    #[tokio::test(start_paused = true)]
    async fn who_guesses_too_fast_for_the_clock_is_in_nobody_elses_way() {
        let rig = Rig::new(Duration::from_millis(200));
        let guesses = rig.guesses(1, 2000, Duration::from_millis(20));
        sleep(Duration::from_secs(30)).await;
        let begun = Instant::now();
        assert_eq!(rig.signs_in(2, "right").await, LoginVerdict::Admitted);
        assert!(begun.elapsed() < Duration::from_secs(1));
        // One that is known needs no turn.
        assert_eq!(rig.signs_in(1, "right").await, LoginVerdict::Admitted);
        let mut busy = 0;
        for guess in guesses {
            busy += usize::from(guess.await.unwrap() == LoginVerdict::Busy);
        }
        assert!((1000..1900).contains(&busy), "{busy}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wrong_guess_is_hashed_once() {
        let rig = Rig::new(MILLISECOND);
        for _ in 0..5 {
            assert_ne!(rig.signs_in(1, "wrong").await, LoginVerdict::Admitted);
        }
        let same = (0..20).map(|_| rig.signs_in(2, "also wrong"));
        for verdict in futures_util::future::join_all(same).await {
            assert_ne!(verdict, LoginVerdict::Admitted);
        }
        assert_eq!(*rig.hashed.borrow(), 2);
        let same = (0..20).map(|_| rig.signs_in(3, "right"));
        for verdict in futures_util::future::join_all(same).await {
            assert_eq!(verdict, LoginVerdict::Admitted);
        }
        assert_eq!(*rig.hashed.borrow(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_gone_is_not_looked_at() {
        let rig = Rig::new(Duration::from_millis(100));
        let guesses = rig.guesses(1, 50, Duration::ZERO);
        sleep(Duration::from_millis(50)).await;
        guesses.iter().for_each(JoinHandle::abort);
        assert_eq!(rig.signs_in(1, "right").await, LoginVerdict::Admitted);
        let hashed = *rig.hashed.borrow();
        assert!(hashed <= 4, "{hashed}");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_server_that_stops() {
        let rig = Rig::new(Duration::from_millis(100));
        let guesses = rig.guesses(1, 100, Duration::ZERO);
        sleep(Duration::from_secs(2)).await;
        let begun = Instant::now();
        rig.stop.send_replace(true);
        // Who comes last may still be right.
        assert_eq!(rig.signs_in(2, "right").await, LoginVerdict::Admitted);
        let mut busy = 0;
        for guess in guesses {
            busy += usize::from(guess.await.unwrap() == LoginVerdict::Busy);
        }
        assert!((70..80).contains(&busy), "{busy}");
        assert!(begun.elapsed() < Duration::from_millis(500));
        assert_eq!(rig.signs_in(2, "right").await, LoginVerdict::Admitted);
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
            let verdict = rig.gate.control(&headers, address(1)).await;
            assert_eq!(verdict, LoginVerdict::Unknown, "{header}");
        }
        let none = rig.gate.control(&HeaderMap::new(), address(1)).await;
        assert_eq!(none, LoginVerdict::Unknown);
        assert_eq!(*rig.hashed.borrow(), 0);
        for (pair, verdict) in [
            ("other:right", LoginVerdict::Unknown),
            ("papertick:right", LoginVerdict::Admitted),
            ("other:right", LoginVerdict::Unknown),
            (":right", LoginVerdict::Unknown),
        ] {
            let told = rig.gate.control(&basic(pair), address(1)).await;
            assert_eq!(told, verdict, "{pair}");
        }
    }

    #[test]
    fn refusals_say_when_to_come_back() {
        let rows = [
            (LoginVerdict::Unknown, 401, None),
            (
                LoginVerdict::Slowed(Duration::from_millis(250)),
                401,
                Some("1"),
            ),
            (LoginVerdict::Slowed(Duration::from_secs(4)), 401, Some("4")),
            (LoginVerdict::Busy, 503, Some("1")),
        ];
        for (verdict, status, wait) in rows {
            let response = verdict.refusal().unwrap();
            assert_eq!(response.status(), status, "{verdict:?}");
            let told = response.headers().get(RETRY_AFTER);
            assert_eq!(told.map(|wait| wait.to_str().unwrap()), wait, "{verdict:?}");
            let challenged = response.headers().contains_key(WWW_AUTHENTICATE);
            assert_eq!(challenged, status == 401, "{verdict:?}");
        }
        assert!(LoginVerdict::Admitted.refusal().is_none());
    }
}

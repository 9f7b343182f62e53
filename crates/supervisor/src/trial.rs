//! The trial of a new program: it must paint a picture and answer requests for a while, or the previous one runs again.
//!
//! The probes here are one way to fail. A trial also fails by the end of the device (`supervision`, `restarts`), and after
//! three starts without a result or with a damaged file (`programs`).

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    time::Duration,
};

use runtime::time_budget::TimeBudget;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

/// How long a new program must answer requests; tests shorten it.
pub(super) const TRIAL: Duration = Duration::from_secs(60);

/// Timeout of a trial as a multiple of its length.
const TIMEOUT_FACTOR: u32 = 5;

const TIMEOUT_MIN: Duration = Duration::from_secs(10);

/// Longest time between two requests.
const PROBE_PERIOD: Duration = Duration::from_secs(1);

/// Least number of requests in a trial.
const PROBES: u32 = 10;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

const REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Start of a successful response.
const SUCCESS: &[u8] = b"HTTP/1.1 200 ";

pub(super) enum TrialVerdict {
    /// The program works.
    Passed,
    /// The program does not work, with a reason for people.
    Failed(String),
}

pub(super) struct ProgramTrial {
    address: SocketAddr,
    length: Duration,
    timeout: TimeBudget,
    is_painted: bool,
    /// Answered requests in a row.
    answered: u32,
    probe: Pin<Box<dyn Future<Output = bool> + Send>>,
}

impl ProgramTrial {
    /// A trial of the program that listens on an address.
    pub(super) fn new(address: SocketAddr, length: Duration) -> ProgramTrial {
        let address = reachable(address);
        ProgramTrial {
            address,
            length,
            timeout: TimeBudget::of((length * TIMEOUT_FACTOR).max(TIMEOUT_MIN)),
            is_painted: false,
            answered: 0,
            probe: Box::pin(answers(address)),
        }
    }

    /// Records that the panels show a picture.
    pub(super) fn painted(&mut self) {
        self.is_painted = true;
    }

    /// Waits for the verdict. Cancel safe.
    pub(super) async fn verdict(&mut self) -> TrialVerdict {
        loop {
            let has_answered = tokio::select! {
                has_answered = &mut self.probe => has_answered,
                () = self.timeout.ended() => return TrialVerdict::Failed(self.failure().to_string()),
            };
            let (address, pause) = (self.address, self.pause());
            self.probe = Box::pin(async move {
                sleep(pause).await;
                answers(address).await
            });
            self.answered = if has_answered { self.answered.saturating_add(1) } else { 0 };
            // The first request has no pause before it.
            let answering = self.pause() * self.answered.saturating_sub(1);
            if self.is_painted && self.answered > 0 && answering >= self.length {
                return TrialVerdict::Passed;
            }
        }
    }

    /// Time between two requests.
    fn pause(&self) -> Duration {
        (self.length / PROBES).min(PROBE_PERIOD)
    }

    fn failure(&self) -> &'static str {
        match (self.is_painted, self.answered) {
            (false, 0) => "it neither painted nor answered requests",
            (false, _) => "it painted nothing",
            (true, _) => "it did not answer requests for long enough",
        }
    }
}

/// Address at which this machine reaches a clock that listens on an address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let localhost = match address.ip() {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    if address.ip().is_unspecified() {
        SocketAddr::new(localhost, address.port())
    } else {
        // Unchanged, because the address may have a scope.
        address
    }
}

/// Whether a clock answers the request.
async fn answers(address: SocketAddr) -> bool {
    let exchange = async {
        #[expect(
            clippy::disallowed_methods,
            reason = "a connection to this clock itself, which never uses a proxy"
        )]
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(REQUEST).await?;
        let mut start = [0; SUCCESS.len()];
        stream.read_exact(&mut start).await?;
        Ok::<bool, std::io::Error>(start == SUCCESS)
    };
    matches!(timeout(RESPONSE_TIMEOUT, exchange).await, Ok(Ok(true)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use tokio::net::TcpListener;

    use super::*;

    /// Whether a request is answered, by its number.
    type Answers = fn(usize) -> bool;

    /// The verdict of a short trial of a program that answers some of the requests.
    async fn verdict(answers: Answers, is_painted: bool) -> TrialVerdict {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut trial =
            ProgramTrial::new(listener.local_addr().unwrap(), Duration::from_millis(200));
        trial.timeout = TimeBudget::of(Duration::from_millis(800));
        if is_painted {
            trial.painted();
        }
        let serve = async {
            for number in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; REQUEST.len()];
                stream.read_exact(&mut request).await.unwrap();
                let code = if answers(number) { 200 } else { 500 };
                let answer = format!("HTTP/1.1 {code} x\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        };
        tokio::select! {
            verdict = trial.verdict() => verdict,
            () = serve => unreachable!(),
        }
    }

    #[tokio::test]
    async fn a_program_that_paints_and_answers_passes() {
        assert!(matches!(
            verdict(|_| true, true).await,
            TrialVerdict::Passed
        ));
    }

    #[tokio::test]
    async fn a_failed_trial_has_a_reason() {
        let too_short = "it did not answer requests for long enough";
        let rows: [(Answers, bool, &str); 4] = [
            (|_| true, false, "it painted nothing"),
            (|_| false, false, "it neither painted nor answered requests"),
            (|number| number < 2, true, too_short),
            // Not enough answers in a row.
            (|number| number % 4 != 3, true, too_short),
        ];
        for (answers, is_painted, expected) in rows {
            let TrialVerdict::Failed(reason) = verdict(answers, is_painted).await else {
                panic!("{expected}")
            };
            assert_eq!(reason, expected);
        }
    }

    #[test]
    fn a_clock_that_listens_on_all_addresses_is_probed_on_localhost() {
        for (address, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:81", "[::1]:81"),
            ("192.0.2.7:82", "192.0.2.7:82"),
            ("[fe80::1%2]:83", "[fe80::1%2]:83"),
        ] {
            assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        }
    }
}

//! The trial of a new program: it must paint a picture and answer requests for a while, or the one before it runs again.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    time::Duration,
};

use api::{operation::ProgramOperation, operations::path_of};
use runtime::time_budget::TimeBudget;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

/// Time for which a new program must answer, unless tests shorten it.
pub(super) const TRIAL: Duration = Duration::from_secs(60);

/// The trial fails after this many times its length.
const PATIENCE_FACTOR: u32 = 5;

/// The trial does not fail before this time, however short it is.
const PATIENCE_MIN: Duration = Duration::from_secs(10);

/// Longest time between two requests, and most of them in a trial.
const PROBE_PERIOD: Duration = Duration::from_secs(1);
const PROBES: u32 = 10;

/// Time in which an answer must come.
const ANSWER: Duration = Duration::from_secs(5);

/// The request of the trial.
fn request() -> String {
    let health = path_of(ProgramOperation::Health);
    format!("GET {health} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

/// Start of a response that counts.
const ANSWERED: &[u8] = b"HTTP/1.1 200 ";

/// Result of a trial.
pub(super) enum TrialVerdict {
    /// It works.
    Passed,
    /// It does not, for this reason in words for people.
    Failed(String),
}

/// A trial of a new program.
pub(super) struct ProgramTrial {
    place: SocketAddr,
    length: Duration,
    patience: TimeBudget,
    is_painted: bool,
    /// Requests in a row that were answered.
    answered: u32,
    probe: Pin<Box<dyn Future<Output = bool> + Send>>,
}

impl ProgramTrial {
    /// A trial of the program that listens there.
    pub(super) fn new(place: SocketAddr, length: Duration) -> ProgramTrial {
        let place = reachable(place);
        ProgramTrial {
            place,
            length,
            patience: TimeBudget::of((length * PATIENCE_FACTOR).max(PATIENCE_MIN)),
            is_painted: false,
            answered: 0,
            probe: Box::pin(answers(place)),
        }
    }

    /// Notes that a picture is on the glass.
    pub(super) fn painted(&mut self) {
        self.is_painted = true;
    }

    /// Waits for the verdict; dropping the future loses nothing.
    pub(super) async fn verdict(&mut self) -> TrialVerdict {
        loop {
            let has_answered = tokio::select! {
                has_answered = &mut self.probe => has_answered,
                () = self.patience.ended() => return TrialVerdict::Failed(self.lacks().to_string()),
            };
            let (place, pause) = (self.place, self.pause());
            self.probe = Box::pin(async move {
                sleep(pause).await;
                answers(place).await
            });
            self.answered = match has_answered {
                true => self.answered.saturating_add(1),
                false => 0,
            };
            // One before the first pause and one after each.
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

    fn lacks(&self) -> &'static str {
        match (self.is_painted, self.answered) {
            (false, 0) => "it neither painted nor answered requests",
            (false, _) => "it painted nothing",
            (true, _) => "it did not answer requests for long enough",
        }
    }
}

/// Address at which this machine reaches a clock that listens on an address.
fn reachable(place: SocketAddr) -> SocketAddr {
    let here = match place.ip() {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    match place.ip().is_unspecified() {
        true => SocketAddr::new(here, place.port()),
        // Unchanged, because the address may have a scope.
        false => place,
    }
}

/// Returns whether a clock answers.
async fn answers(place: SocketAddr) -> bool {
    let asked = async {
        #[expect(
            clippy::disallowed_methods,
            reason = "it leads to this very clock, which no proxy has to do with"
        )]
        let mut stream = TcpStream::connect(place).await?;
        stream.write_all(request().as_bytes()).await?;
        let mut answer = [0; ANSWERED.len()];
        stream.read_exact(&mut answer).await?;
        Ok::<bool, std::io::Error>(answer == ANSWERED)
    };
    matches!(timeout(ANSWER, asked).await, Ok(Ok(true)))
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
        trial.patience = TimeBudget::of(Duration::from_millis(800));
        if is_painted {
            trial.painted();
        }
        let serve = async {
            for number in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; request().len()];
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
    async fn a_program_that_paints_and_answers_for_long_enough_passes() {
        assert!(matches!(
            verdict(|_| true, true).await,
            TrialVerdict::Passed
        ));
    }

    #[tokio::test]
    async fn a_program_that_does_not_fails_for_a_reason() {
        let too_short = "it did not answer requests for long enough";
        let rows: [(Answers, bool, &str); 4] = [
            (|_| true, false, "it painted nothing"),
            (|_| false, false, "it neither painted nor answered requests"),
            (|number| number < 2, true, too_short),
            // Now and then is not enough.
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
    fn a_clock_that_listens_everywhere_is_asked_here() {
        for (place, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:81", "[::1]:81"),
            ("192.0.2.7:82", "192.0.2.7:82"),
            ("[fe80::1%2]:83", "[fe80::1%2]:83"),
        ] {
            assert_eq!(reachable(place.parse().unwrap()).to_string(), expected);
        }
    }
}

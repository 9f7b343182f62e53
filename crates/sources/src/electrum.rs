//! The owner's node through an Electrum server: headers and fees over one connection, one JSON document per line.

use std::{convert::Infallible, time::Duration};

use chain::{Header, rules::HeaderRefusal};
use device::sources::NodeConfig;
use feeds::{
    electrum::{self, ElectrumMessage, ElectrumRequest, LINE_MAX},
    malformed::Malformed,
};
use market::{HeadersReach, HeadersReply, MESSAGE_HEADERS_MAX};
use net::{
    AGENT,
    dialer::{BoxedStream, Destination, TransportSecurity},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{self, Instant},
};

use super::{
    node::{self, WrongHeaders, is_settled},
    session::{SessionEnd, SessionLink, SourceSession},
};

/// Longest time for a response.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval of the fee requests, which also detect a dead server.
pub const FEES_EVERY: Duration = Duration::from_secs(60);

/// Least time between two fee requests, which a new block brings forward.
pub const FEES_APART: Duration = Duration::from_secs(10);

/// Requests for older blocks before the server is taken to follow another chain.
const BACK_MAX: u32 = 8;

/// Growth of the number of blocks from one such request to the next.
const BACK_FACTOR: u32 = 4;

/// Responses in a row without a new header: enough for all stored headers at any number of headers per request.
const IDLE_MAX: u32 = 32;

const READ_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub struct Electrum {
    pub node: NodeConfig,
}

/// A connection to a server and its protocol state.
struct Talk<'a, 'b> {
    link: &'a mut SessionLink<'b>,
    stream: BoxedStream,
    read: Vec<u8>,
    last_id: u64,
    /// Newest block that it has announced and that was not handled yet.
    tip: Option<(u32, Header)>,
    /// A block from the future, to be submitted again.
    early: Option<(u32, Header)>,
}

impl SourceSession for Electrum {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let usual = electrum::port(self.node.network, self.node.tls);
        let (host, port) = node::place(&self.node.host, self.node.port, usual)?;
        let security =
            if self.node.tls { TransportSecurity::Tls } else { TransportSecurity::Plain };
        let destination = Destination {
            host,
            port,
            security,
        };
        let stream = link.dial(destination).await?;
        let mut talk = Talk {
            link,
            stream,
            read: Vec::new(),
            last_id: 0,
            tip: None,
            early: None,
        };
        talk.request(ElectrumRequest::Version).await?;
        let newest = talk.request(ElectrumRequest::Subscribe).await?;
        talk.tip = Some(electrum::tip(&newest).map_err(node::bad_answer)?);
        let mut fees_from = Instant::now();
        let mut fees_at = fees_from;
        let mut steps = talk.link.context().shared.clock.steps();
        loop {
            if let Some(newest) = talk.tip.take() {
                talk.follow(newest).await?;
                if talk.early.is_none() {
                    fees_at = fees_at.min(fees_from);
                }
                continue;
            }
            tokio::select! {
                line = talk.line() => talk.handle_notification(line?).await?,
                Ok(()) = steps.changed() => talk.tip = talk.early.take(),
                () = time::sleep_until(fees_at) => {
                    talk.update_fees(self.node.precise_fee).await?;
                    (fees_from, fees_at) = (Instant::now() + FEES_APART, Instant::now() + FEES_EVERY);
                    talk.tip = talk.tip.take().or(talk.early.take());
                }
            }
        }
    }
}

impl Talk<'_, '_> {
    async fn follow(&mut self, newest: (u32, Header)) -> Result<(), SessionEnd> {
        let reply = self.catch_up(newest).await?;
        self.early = Some(newest).filter(|_| reply.refused == Some(HeaderRefusal::Future));
        if let Some(refusal) = reply.refused {
            return self.link.report_problem(refusal.to_string()).await;
        }
        self.link.report_up().await
    }

    /// Submits the server's newest block, and the blocks before it as far as they are unknown.
    ///
    /// If the server's blocks do not connect to the chain, older ones are requested step by step.
    async fn catch_up(
        &mut self,
        (height, newest): (u32, Header),
    ) -> Result<HeadersReply, SessionEnd> {
        let reply = self
            .link
            .context()
            .submit_headers(0, vec![newest], HeadersReach::Newest)
            .await?;
        if is_settled(&reply)? {
            return Ok(reply);
        }
        let mut from = reply.height.map_or(0, |known| known + 1).min(height);
        let (mut back, mut tries, mut idle) = (1, 0, 0);
        // A branch with less work so far may have more work with the headers that follow.
        let mut before: Vec<Header> = Vec::new();
        loop {
            let headers = self.headers(from).await?;
            let count = u32::try_from(headers.len()).unwrap_or(u32::MAX);
            if count == 0 {
                return Err(WrongHeaders::Nothing.into());
            }
            let next = from.saturating_add(count);
            let reach = if next > height { HeadersReach::Newest } else { HeadersReach::More };
            before.extend(headers);
            let beyond = before.len().saturating_sub(MESSAGE_HEADERS_MAX);
            before.drain(..beyond);
            let reply = self
                .link
                .context()
                .submit_headers(0, before.clone(), reach)
                .await?;
            let is_settled = is_settled(&reply)?;
            if !is_settled || reply.is_new {
                before.clear();
            }
            match (is_settled, reach) {
                (true, HeadersReach::Newest) => return Ok(reply),
                // A block from the future ends what can be validated now.
                (true, HeadersReach::More) if reply.refused.is_some() => return Ok(reply),
                (true, HeadersReach::More) if reply.is_new => (from, tries, idle) = (next, 0, 0),
                // Give up if the headers stay known, or on a branch with less work.
                (true, HeadersReach::More) if idle == IDLE_MAX => {
                    return Err(WrongHeaders::Elsewhere.into());
                }
                (true, HeadersReach::More) => (from, idle) = (next, idle + 1),
                (false, _) if from == 0 || tries == BACK_MAX => {
                    return Err(WrongHeaders::Elsewhere.into());
                }
                (false, _) => {
                    from = from.saturating_sub(back);
                    (back, tries) = (back.saturating_mul(BACK_FACTOR), tries + 1);
                }
            }
        }
    }

    /// Headers from a height on, oldest first. Empty if the server has not reached it.
    async fn headers(&mut self, from: u32) -> Result<Vec<Header>, SessionEnd> {
        let answer = self.request(ElectrumRequest::Headers(from)).await?;
        electrum::headers(&answer).map_err(node::bad_answer)
    }

    async fn update_fees(&mut self, precise_fee: bool) -> Result<(), SessionEnd> {
        let Some(rates) = self.request_if_supported(ElectrumRequest::Fees).await? else {
            // If the server offers no fees, a ping detects whether it is alive.
            self.request(ElectrumRequest::Ping).await?;
            return Ok(());
        };
        match electrum::fees(&rates, precise_fee) {
            Ok(fees) => self.link.accept_frame(fees).await,
            Err(malformed) => self.link.reject_frame(malformed).await,
        }
    }

    /// Sends a request and returns the response.
    async fn request(&mut self, request: ElectrumRequest) -> Result<Value, SessionEnd> {
        let answer = self.request_or_refusal(request).await?;
        answer.map_err(|words| SessionEnd::because(format!("the server refuses: {words}")))
    }

    /// Sends a request that a server may not support.
    async fn request_if_supported(
        &mut self,
        request: ElectrumRequest,
    ) -> Result<Option<Value>, SessionEnd> {
        Ok(self.request_or_refusal(request).await?.ok())
    }

    async fn request_or_refusal(
        &mut self,
        request: ElectrumRequest,
    ) -> Result<Result<Value, String>, SessionEnd> {
        let answer = async {
            self.last_id += 1;
            let line = electrum::encode_request(request, self.last_id, AGENT);
            self.stream
                .write_all(line.as_bytes())
                .await
                .map_err(broken)?;
            loop {
                match self.line().await? {
                    Ok(ElectrumMessage::Answer(number, answer)) if number == self.last_id => {
                        return Ok(Ok(answer));
                    }
                    Ok(ElectrumMessage::Refused(number, words)) if number == self.last_id => {
                        return Ok(Err(words));
                    }
                    line => self.handle_notification(line).await?,
                }
            }
        };
        let answered = time::timeout(ANSWER_TIMEOUT, answer).await;
        answered.unwrap_or_else(|_| Err(SessionEnd::because("no answer in time")))
    }

    /// Handles a line that is not the awaited response.
    async fn handle_notification(
        &mut self,
        line: Result<ElectrumMessage, Malformed>,
    ) -> Result<(), SessionEnd> {
        match line {
            Ok(ElectrumMessage::Tip(height, header)) => self.tip = Some((height, header)),
            Ok(
                ElectrumMessage::Answer(..)
                | ElectrumMessage::Refused(..)
                | ElectrumMessage::Nothing,
            ) => {}
            Err(malformed) => self.link.reject_frame(malformed).await?,
        }
        Ok(())
    }

    /// Reads the next line. Cancel safe.
    async fn line(&mut self) -> Result<Result<ElectrumMessage, Malformed>, SessionEnd> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line = electrum::line(&self.read[..end]);
                self.read.drain(..=end);
                // Release the memory of a long line.
                self.read.shrink_to(READ_BYTES);
                return Ok(line);
            }
            if self.read.len() > LINE_MAX {
                return Err(SessionEnd::because("a line without end"));
            }
            self.read.reserve(READ_BYTES);
            let count = self.stream.read_buf(&mut self.read).await.map_err(broken)?;
            if count == 0 {
                return Err(SessionEnd::because("the server has closed the connection"));
            }
        }
    }
}

fn broken(error: std::io::Error) -> SessionEnd {
    SessionEnd::because(format!("the connection was lost ({})", error.kind()))
}

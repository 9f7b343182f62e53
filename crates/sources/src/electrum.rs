//! The owner's node by way of an Electrum server: headers and fees over one connection, a line each.

use std::{convert::Infallible, time::Duration};

use chain::{Header, rules::HeaderRefusal};
use device::sources::NodeConfig;
use feeds::{
    electrum::{self, ElectrumMessage, ElectrumRequest, LINE_MAX},
    malformed::Malformed,
};
use net::{
    AGENT,
    dialer::{BoxedStream, Destination, TransportSecurity},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{self, Instant, MissedTickBehavior},
};

use super::{
    by_height::{ByHeight, catch_up},
    node,
    session::{SessionEnd, SessionLink, SourceSession},
};

/// Longest time for an answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Time between two looks at the fees, which also tell whether the server is still there.
pub const FEES_EVERY: Duration = Duration::from_secs(60);

/// Bytes that are read at once.
const READ_BYTES: usize = 16 * 1024;

/// An Electrum server.
#[derive(Debug)]
pub struct Electrum {
    /// Where it is.
    pub node: NodeConfig,
}

/// A connection to a server, and what is known of its answers.
struct Talk<'a, 'b> {
    link: &'a mut SessionLink<'b>,
    stream: BoxedStream,
    read: Vec<u8>,
    asked: u64,
    /// Newest block that it has told of since it was looked at.
    tip: Option<(u32, Header)>,
    /// One whose time has not come: it is looked at again.
    early: Option<(u32, Header)>,
}

impl SourceSession for Electrum {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let usual = electrum::port(self.node.network, self.node.tls);
        let (host, port) = node::place(&self.node.host, self.node.port, usual)?;
        let security = match self.node.tls {
            true => TransportSecurity::Tls,
            false => TransportSecurity::Plain,
        };
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
            asked: 0,
            tip: None,
            early: None,
        };
        talk.ask(ElectrumRequest::Version).await?;
        let newest = talk.ask(ElectrumRequest::Subscribe).await?;
        talk.tip = Some(electrum::tip(&newest).map_err(node::useless)?);
        let mut ticks = time::interval_at(Instant::now() + FEES_EVERY, FEES_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut steps = talk.link.context().shared.clock.steps();
        loop {
            if let Some(newest) = talk.tip.take() {
                talk.follow(newest).await?;
                talk.look_at_fees(self.node.precise_fee).await?;
                continue;
            }
            tokio::select! {
                line = talk.line() => talk.note(line?).await?,
                Ok(()) = steps.changed() => talk.tip = talk.early.take(),
                _ = ticks.tick() => {
                    talk.look_at_fees(self.node.precise_fee).await?;
                    talk.tip = talk.tip.take().or(talk.early.take());
                }
            }
        }
    }
}

impl Talk<'_, '_> {
    async fn follow(&mut self, newest: (u32, Header)) -> Result<(), SessionEnd> {
        let context = self.link.context();
        let judged = catch_up(context, newest, self).await?;
        self.early = Some(newest).filter(|_| judged.refused == Some(HeaderRefusal::Future));
        if let Some(refusal) = judged.refused {
            return self.link.complain(refusal.to_string()).await;
        }
        self.link.well().await
    }

    async fn look_at_fees(&mut self, precise_fee: bool) -> Result<(), SessionEnd> {
        let Some(rates) = self.ask_if_known(ElectrumRequest::Fees).await? else {
            // A server that knows no fees is still to say that it is there.
            self.ask(ElectrumRequest::Ping).await?;
            return Ok(());
        };
        match electrum::fees(&rates, precise_fee) {
            Ok(fees) => self.link.understood(fees).await,
            Err(malformed) => self.link.nonsense(malformed).await,
        }
    }

    /// The answer to a question.
    async fn ask(&mut self, question: ElectrumRequest) -> Result<Value, SessionEnd> {
        let answer = self.ask_or_refuse(question).await?;
        answer.map_err(|words| SessionEnd::because(format!("the server refuses: {words}")))
    }

    /// The answer to a question that a server may not know.
    async fn ask_if_known(
        &mut self,
        question: ElectrumRequest,
    ) -> Result<Option<Value>, SessionEnd> {
        Ok(self.ask_or_refuse(question).await?.ok())
    }

    async fn ask_or_refuse(
        &mut self,
        question: ElectrumRequest,
    ) -> Result<Result<Value, String>, SessionEnd> {
        let answer = async {
            self.asked += 1;
            let line = electrum::ask(question, self.asked, AGENT);
            self.stream
                .write_all(line.as_bytes())
                .await
                .map_err(broken)?;
            loop {
                match self.line().await? {
                    Ok(ElectrumMessage::Answer(number, answer)) if number == self.asked => {
                        return Ok(Ok(answer));
                    }
                    Ok(ElectrumMessage::Refused(number, words)) if number == self.asked => {
                        return Ok(Err(words));
                    }
                    line => self.note(line).await?,
                }
            }
        };
        let answered = time::timeout(ANSWER_TIMEOUT, answer).await;
        answered.unwrap_or_else(|_| Err(SessionEnd::because("no answer in time")))
    }

    /// Takes note of a line that nobody waits for.
    async fn note(&mut self, line: Result<ElectrumMessage, Malformed>) -> Result<(), SessionEnd> {
        match line {
            Ok(ElectrumMessage::Tip(height, header)) => self.tip = Some((height, header)),
            Ok(
                ElectrumMessage::Answer(..)
                | ElectrumMessage::Refused(..)
                | ElectrumMessage::Nothing,
            ) => {}
            Err(malformed) => self.link.nonsense(malformed).await?,
        }
        Ok(())
    }

    /// The next line. Nothing is lost when this is dropped while it waits.
    async fn line(&mut self) -> Result<Result<ElectrumMessage, Malformed>, SessionEnd> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line = electrum::line(&self.read[..end]);
                self.read.drain(..=end);
                // What a long line has taken is not kept.
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

impl ByHeight for Talk<'_, '_> {
    type Error = SessionEnd;

    async fn headers(&mut self, from: u32) -> Result<Vec<Header>, SessionEnd> {
        let answer = self.ask(ElectrumRequest::Headers(from)).await?;
        electrum::headers(&answer).map_err(node::useless)
    }
}

fn broken(error: std::io::Error) -> SessionEnd {
    SessionEnd::because(format!("the connection broke off ({})", error.kind()))
}

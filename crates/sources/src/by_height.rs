//! Extends the device's chain to a node's newest block, where the node serves headers by height.
//!
//! If the node's blocks do not connect to the chain, older ones are requested step by step.

use std::fmt;

use chain::{Header, rules::HeaderRefusal};
use market::{HeadersReach, HeadersReply, MESSAGE_HEADERS_MAX};
use runtime::inbox::Stopped;

use super::SourceContext;

/// Requests for older blocks before the node is taken to follow another chain.
pub const BACK_MAX: u32 = 8;

/// Growth of the number of blocks from one such request to the next.
const BACK_FACTOR: u32 = 4;

/// Responses in a row without a new header: enough for all stored headers at any number of headers per request.
pub const IDLE_MAX: u32 = 32;

/// A node that serves headers by height.
pub trait ByHeight: Send {
    /// Why a request failed.
    type Error: From<Stopped> + From<WrongHeaders> + Send;

    /// Headers from a height on, oldest first. Empty if the node has not reached it.
    fn headers(
        &mut self,
        from: u32,
    ) -> impl Future<Output = Result<Vec<Header>, Self::Error>> + Send;
}

/// Why a chain could not be followed to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongHeaders {
    /// Its headers break the rules.
    Broken(HeaderRefusal),
    /// Its blocks do not connect to a known one.
    Elsewhere,
    /// It returns no headers for heights that it claims to have.
    Nothing,
}

impl fmt::Display for WrongHeaders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongHeaders::Broken(refusal) => write!(formatter, "a header breaks the rules: {refusal}"),
            WrongHeaders::Elsewhere => formatter.write_str(
                "its blocks do not connect to the known ones: it follows another chain, or is far behind",
            ),
            WrongHeaders::Nothing => formatter.write_str("it does not return the headers up to its newest block"),
        }
    }
}

/// Submits a node's newest block, and the blocks before it as far as they are unknown.
///
/// # Errors
/// The node does not respond, or its headers cannot be used.
pub async fn catch_up<N: ByHeight>(
    context: &SourceContext,
    (height, newest): (u32, Header),
    node: &mut N,
) -> Result<HeadersReply, N::Error> {
    let reply = context
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
        let headers = node.headers(from).await?;
        let count = u32::try_from(headers.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return Err(WrongHeaders::Nothing.into());
        }
        let next = from.saturating_add(count);
        let reach = match next > height {
            true => HeadersReach::Newest,
            false => HeadersReach::More,
        };
        before.extend(headers);
        let beyond = before.len().saturating_sub(MESSAGE_HEADERS_MAX);
        before.drain(..beyond);
        let reply = context.submit_headers(0, before.clone(), reach).await?;
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

/// Returns whether the headers connect to the chain.
///
/// # Errors
/// A header breaks a rule.
pub fn is_settled(reply: &HeadersReply) -> Result<bool, WrongHeaders> {
    match reply.refused {
        Some(refusal) if refusal.is_fault() => Err(WrongHeaders::Broken(refusal)),
        Some(HeaderRefusal::Unconnected) => Ok(false),
        Some(_) | None => Ok(true),
    }
}

//! Brings the chain that is kept up to a node's newest block, where the node tells headers by their heights.
//!
//! Where the node's blocks follow none that is kept, it is asked for ever older ones.

use std::fmt;

use chain::{Header, rules::HeaderRefusal};
use market::{HeadersReach, Judged, MESSAGE_HEADERS_MAX};
use runtime::inbox::Stopped;

use super::SourceContext;

/// How often older blocks are asked for before the node's chain is taken to be another one.
pub const BACK_MAX: u32 = 8;

/// By how many times more blocks each time.
const BACK_FACTOR: u32 = 4;

/// Answers in a row that bring nothing new: there are no more in all headers that are kept, whatever a node gives at once.
pub const IDLE_MAX: u32 = 32;

/// A node that tells headers by their heights.
pub trait ByHeight: Send {
    /// Why an answer was not had.
    type Error: From<Stopped> + From<Astray> + Send;

    /// Headers from a height on, oldest first; none from a height on that the node has not reached.
    fn headers(
        &mut self,
        from: u32,
    ) -> impl Future<Output = Result<Vec<Header>, Self::Error>> + Send;
}

/// Why a chain was not followed up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Astray {
    /// Its headers break the rules.
    Broken(HeaderRefusal),
    /// Its blocks follow none that is known here.
    Elsewhere,
    /// It tells no headers where it says that there are some.
    Nothing,
}

impl fmt::Display for Astray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Astray::Broken(refusal) => write!(formatter, "a header breaks the rules: {refusal}"),
            Astray::Elsewhere => formatter.write_str(
                "its blocks follow none that is known here: it is of another chain, or far behind",
            ),
            Astray::Nothing => formatter.write_str("it tells no headers up to its newest block"),
        }
    }
}

/// Hands in a node's newest block, and what comes before it as far as it is not known.
///
/// # Errors
/// The node gives no answer, or leads astray.
pub async fn catch_up<N: ByHeight>(
    context: &SourceContext,
    (height, newest): (u32, Header),
    node: &mut N,
) -> Result<Judged, N::Error> {
    let judged = context.judge(0, vec![newest], HeadersReach::Newest).await?;
    if is_settled(&judged)? {
        return Ok(judged);
    }
    let mut from = judged.height.map_or(0, |kept| kept + 1).min(height);
    let (mut back, mut tries, mut idle) = (1, 0, 0);
    // What is less work than what is kept may be more with what comes after it.
    let mut before: Vec<Header> = Vec::new();
    loop {
        let headers = node.headers(from).await?;
        let count = u32::try_from(headers.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return Err(Astray::Nothing.into());
        }
        let next = from.saturating_add(count);
        let reach = match next > height {
            true => HeadersReach::Newest,
            false => HeadersReach::More,
        };
        before.extend(headers);
        let beyond = before.len().saturating_sub(MESSAGE_HEADERS_MAX);
        before.drain(..beyond);
        let judged = context.judge(0, before.clone(), reach).await?;
        let is_settled = is_settled(&judged)?;
        if !is_settled || judged.is_new {
            before.clear();
        }
        match (is_settled, reach) {
            (true, HeadersReach::Newest) => return Ok(judged),
            // A block from the future ends what can be judged now.
            (true, HeadersReach::More) if judged.refused.is_some() => return Ok(judged),
            (true, HeadersReach::More) if judged.is_new => (from, tries, idle) = (next, 0, 0),
            // What is known, or is less work than what is kept, leads nowhere if it goes on like that.
            (true, HeadersReach::More) if idle == IDLE_MAX => return Err(Astray::Elsewhere.into()),
            (true, HeadersReach::More) => (from, idle) = (next, idle + 1),
            (false, _) if from == 0 || tries == BACK_MAX => return Err(Astray::Elsewhere.into()),
            (false, _) => {
                from = from.saturating_sub(back);
                (back, tries) = (back.saturating_mul(BACK_FACTOR), tries + 1);
            }
        }
    }
}

/// Tells whether headers have found their place.
///
/// # Errors
/// One of them breaks a rule.
pub fn is_settled(judged: &Judged) -> Result<bool, Astray> {
    match judged.refused {
        Some(refusal) if refusal.is_fault() => Err(Astray::Broken(refusal)),
        Some(HeaderRefusal::Unconnected) => Ok(false),
        Some(_) | None => Ok(true),
    }
}

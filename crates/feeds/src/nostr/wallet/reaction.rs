//! Input and output of one step of a wallet session.

use std::fmt;

use market::Observation;

use super::{super::event::Bytes32, message::WalletError};
use crate::malformed::Malformed;

/// Randomness for one step, from the operating system; never used twice.
#[derive(Clone, PartialEq, Eq)]
pub struct StepRandomness {
    pub cipher: Bytes32,
    pub signature: Bytes32,
}

impl fmt::Debug for StepRandomness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StepRandomness(..)")
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reaction {
    /// Messages to the relay, in this order.
    pub send: Vec<String>,
    pub observations: Vec<Observation>,
    /// What was wrong with the input.
    pub complaint: Option<Complaint>,
}

/// A problem with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Complaint {
    /// It cannot be parsed.
    Malformed(Malformed),
    /// The wallet has refused a request.
    Wallet(WalletError),
    /// The relay has refused a request or ended a subscription; its reason.
    Relay(String),
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Complaint::Malformed(malformed) => malformed.fmt(formatter),
            Complaint::Wallet(error) => error.fmt(formatter),
            Complaint::Relay(words) => write!(formatter, "the relay refused: {words}"),
        }
    }
}

impl From<Malformed> for Complaint {
    fn from(malformed: Malformed) -> Complaint {
        Complaint::Malformed(malformed)
    }
}

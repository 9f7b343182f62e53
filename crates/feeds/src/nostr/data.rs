//! Market data as replaceable events of one author; a *slot* is the subject of an event.

use std::collections::BTreeMap;

use market::{
    Observation,
    units::{Currency, FeeRate, Price},
};

use super::{
    event::{Bytes32, VerifiedEvent, key},
    frame::Filter,
    recent::Recent,
};
use crate::{malformed::Malformed, scalar};

pub const KIND: u16 = 30078;

/// Name of the subscription to data events.
pub const SUBSCRIPTION: &str = "papertick-data";

/// Remembered events, so that an event from two relays counts once.
pub const REMEMBERED: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DataSubject {
    Height,
    Fee,
    Price(Currency),
}

/// State of the data of one author.
#[derive(Debug, Clone)]
pub struct DataFeed {
    author: Bytes32,
    newest: BTreeMap<DataSubject, u64>,
    received: Recent<Bytes32, REMEMBERED>,
}

impl DataFeed {
    /// The feed of an author, given by 64 hex digits. `None` if they are no key.
    pub fn new(author: &str) -> Option<DataFeed> {
        Some(DataFeed {
            author: key(author)?,
            newest: BTreeMap::new(),
            received: Recent::default(),
        })
    }

    /// The subscribed events.
    pub fn filter(author: &str) -> Filter {
        Filter {
            kinds: vec![KIND],
            authors: vec![author.to_ascii_lowercase()],
            ..Filter::default()
        }
    }

    /// Parses an event. Empty if its subject is unknown, it is not the newest, or was already received.
    ///
    /// # Errors
    /// The event is of another kind or author, or its content cannot be parsed; then it does not count as the newest.
    pub fn accept(&mut self, event: &VerifiedEvent) -> Result<Vec<Observation>, Malformed> {
        if event.kind() != KIND {
            return Err(Malformed("kind"));
        }
        if *event.author() != self.author {
            return Err(Malformed("author"));
        }
        let Some(slot) = slot(event.tag_value("d").unwrap_or_default())? else {
            return Ok(Vec::new());
        };
        let newest = self.newest.get(&slot);
        if newest.is_some_and(|newest| event.created_at() < *newest)
            || !self.received.insert(*event.id())
        {
            return Ok(Vec::new());
        }
        let observations = slot.read(event.content())?;
        self.newest.insert(slot, event.created_at());
        Ok(observations)
    }
}

fn slot(name: &str) -> Result<Option<DataSubject>, Malformed> {
    match name {
        "" => Err(Malformed("slot")),
        "blockheight" => Ok(Some(DataSubject::Height)),
        "medianFee" => Ok(Some(DataSubject::Fee)),
        _ => match name.strip_prefix("price:") {
            Some(code) => Currency::parse(code)
                .map(|currency| Some(DataSubject::Price(currency)))
                .ok_or(Malformed("slot")),
            None => Ok(None),
        },
    }
}

impl DataSubject {
    fn read(self, content: &str) -> Result<Vec<Observation>, Malformed> {
        match self {
            DataSubject::Height => {
                let height = scalar::height(content).ok_or(Malformed("height"))?;
                Ok(vec![Observation::Block(height)])
            }
            DataSubject::Fee => {
                let plain = content.strip_prefix('+').unwrap_or(content);
                let rate = FeeRate::parse(plain).ok_or(Malformed("fee"))?;
                Ok(scalar::fees(rate, true).collect())
            }
            DataSubject::Price(currency) => {
                let price = Price::parse(content).ok_or(Malformed("price"))?;
                Ok(vec![Observation::Price(currency, price)])
            }
        }
    }
}

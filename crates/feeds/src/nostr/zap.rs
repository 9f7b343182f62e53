//! Zap receipts: claims that a recipient was paid.
//!
//! A *receipt* holds the paid invoice and, as JSON in a tag, the *request* for it.

use std::collections::VecDeque;

use market::{Zap, now::UtcTime, units::Msats};

use super::{
    bolt11,
    event::{Bytes32, NostrEvent, VerifiedEvent, key},
    frame::Filter,
};
use crate::malformed::Malformed;

pub const KIND: u16 = 9735;

/// Name of the subscription to zap receipts.
pub const SUBSCRIPTION: &str = "papertick-zap";

/// Greatest age of a receipt that is shown, s.
pub const AGE_MAX_SECS: u64 = 900;

/// Least amount that is shown.
pub const AMOUNT_MIN: Msats = Msats(1000);

/// Remembered receipts, so that none is shown twice.
pub const REMEMBERED: usize = 64;

/// Longest message that is used, characters.
const MESSAGE_MAX: usize = 512;

/// The receipts that were shown, so that none is shown twice, from whichever relay.
///
/// Receipts are compared by id, not by the time of the newest one, because several can have the same second and arrive
/// out of order.
#[derive(Debug, Clone, Default)]
pub struct ShownZaps {
    /// Ids and creation times, s since 1970-01-01 UTC; the oldest entry first.
    ids: VecDeque<(Bytes32, u64)>,
    /// Newest creation time of a dropped id, s since 1970-01-01 UTC.
    dropped_until: Option<u64>,
}

impl ShownZaps {
    /// Returns whether a receipt of that time may be new.
    fn may_be_new(&self, created_at: u64, now: Option<u64>) -> bool {
        let Some(now) = now else {
            return true;
        };
        // If the clock was set back, this time may be in the future; then it is ignored.
        let dropped_until = self
            .dropped_until
            .filter(|dropped_until| *dropped_until <= now);
        let is_newer = dropped_until.is_none_or(|dropped_until| created_at > dropped_until);
        is_newer && now.saturating_sub(created_at) <= AGE_MAX_SECS
    }

    /// Adds a receipt and returns whether it is new.
    fn insert(&mut self, id: Bytes32, created_at: u64, now: Option<u64>) -> bool {
        if self.ids.iter().any(|(known, _)| *known == id) {
            return false;
        }
        if self.ids.len() == REMEMBERED
            && let Some((_, made)) = self.ids.pop_front()
            && let Some(now) = now
        {
            // A receipt from the future must not suppress the ones until then.
            self.dropped_until = self.dropped_until.max(Some(made.min(now)));
        }
        self.ids.push_back((id, created_at));
        true
    }
}

/// The zaps of some recipients.
#[derive(Debug, Clone)]
pub struct ZapFeed {
    recipients: Vec<Bytes32>,
}

impl ZapFeed {
    /// A feed for recipients, each given by 64 hex digits. `None` if one is no key.
    pub fn new(recipients: &[impl AsRef<str>]) -> Option<ZapFeed> {
        let recipients: Option<Vec<Bytes32>> = recipients
            .iter()
            .map(|recipient| key(recipient.as_ref()))
            .collect();
        Some(ZapFeed {
            recipients: recipients?,
        })
    }

    /// The subscribed events.
    pub fn filter(recipients: &[impl AsRef<str>], now: Option<UtcTime>) -> Filter {
        let recipients = recipients
            .iter()
            .map(|recipient| recipient.as_ref().to_ascii_lowercase());
        Filter {
            kinds: vec![KIND],
            recipients: recipients.collect(),
            since: now
                .and_then(unix_secs)
                .map(|now| now.saturating_sub(AGE_MAX_SECS)),
            limit: Some(1),
            ..Filter::default()
        }
    }

    /// Parses an event. Empty if the receipt is too small, too old or already shown.
    ///
    /// # Errors
    /// The event is not a zap receipt for one of these recipients, or has no amount.
    pub fn accept(
        &self,
        event: &VerifiedEvent,
        now: Option<UtcTime>,
        shown: &mut ShownZaps,
    ) -> Result<Option<Zap>, Malformed> {
        if event.kind() != KIND {
            return Err(Malformed("kind"));
        }
        let mut recipients = event.tags("p").filter_map(|values| key(values.first()?));
        if !recipients.any(|recipient| self.recipients.contains(&recipient)) {
            return Err(Malformed("recipient"));
        }
        let receipt = Receipt::of(event)?;
        let now = now.and_then(unix_secs);
        let is_new = receipt.amount >= AMOUNT_MIN
            && shown.may_be_new(event.created_at(), now)
            && shown.insert(*event.id(), event.created_at(), now);
        if !is_new {
            return Ok(None);
        }
        Ok(Some(Zap {
            amount: receipt.amount.sats(),
            message: receipt.message,
        }))
    }
}

fn unix_secs(now: UtcTime) -> Option<u64> {
    u64::try_from(now.unix_secs()).ok()
}

#[derive(Debug, PartialEq, Eq)]
struct Receipt {
    amount: Msats,
    message: String,
}

impl Receipt {
    /// Parses a receipt. The amount is that of the invoice, else of the request, else of the receipt's own tag.
    fn of(event: &VerifiedEvent) -> Result<Receipt, Malformed> {
        let request: Option<NostrEvent> = event
            .tag_value("description")
            .and_then(|description| serde_json::from_str(description).ok());
        let invoice = event
            .tag_value("bolt11")
            .and_then(|invoice| bolt11::amount(invoice).ok().flatten());
        let amount = invoice
            .or_else(|| {
                digits(
                    request
                        .as_ref()?
                        .tags
                        .iter()
                        .find(|tag| tag.first().is_some_and(|name| name == "amount"))?
                        .get(1)?,
                )
            })
            .or_else(|| digits(event.tag_value("amount")?))
            .ok_or(Malformed("amount"))?;
        let own = event.content();
        let message = if own.is_empty() {
            request.map(|request| request.content).unwrap_or_default()
        } else {
            own.to_owned()
        };
        Ok(Receipt {
            amount,
            message: message.chars().take(MESSAGE_MAX).collect(),
        })
    }
}

/// Millisats from a text of digits only.
fn digits(text: &str) -> Option<Msats> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok().map(Msats) } else { None }
}

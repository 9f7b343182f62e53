//! The content of the wallet's encrypted messages.
//!
//! Wallets omit different fields or send them as `null`, so everything except the required figures is optional.

use std::fmt;

use market::{Direction, units::Msats};
use serde_json::{Value, json};

use super::{super::event::VerifiedEvent, cipher::Cipher};
use crate::{malformed::Malformed, scalar::Scalar};

/// Longest error text from a wallet that is used, characters.
const WORDS_MAX: usize = 200;

/// The capabilities of a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Names of the supported requests.
    pub methods: Vec<String>,
    /// The best cipher that both sides support.
    pub cipher: Cipher,
    /// Names of the notifications that it sends.
    pub notifications: Vec<String>,
}

impl Info {
    /// Parses the info event.
    ///
    /// # Errors
    /// The event has no method.
    pub fn read(event: &VerifiedEvent) -> Result<Info, Malformed> {
        let methods = words([event.content()]);
        if methods.is_empty() {
            return Err(Malformed("methods"));
        }
        let listed = |tag| words(event.tag(tag).unwrap_or_default());
        let supports_nip44 = listed("encryption")
            .iter()
            .any(|word| word == Cipher::Nip44.word());
        Ok(Info {
            methods,
            cipher: if supports_nip44 { Cipher::Nip44 } else { Cipher::Nip04 },
            notifications: listed("notifications"),
        })
    }
}

/// Splits words: one text with blanks, several texts, or both.
fn words(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let split = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    texts
        .into_iter()
        .flat_map(|text| split(text.as_ref()))
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletMethod {
    GetBalance,
    /// List the latest payments.
    ListTransactions,
}

/// Most payments per request.
pub const TRANSACTIONS_MAX: usize = 20;

impl WalletMethod {
    /// Name of the request.
    pub fn word(self) -> &'static str {
        match self {
            WalletMethod::GetBalance => "get_balance",
            WalletMethod::ListTransactions => "list_transactions",
        }
    }
}

/// Text of a request for the balance.
pub fn get_balance() -> String {
    json!({"method": WalletMethod::GetBalance.word(), "params": {}}).to_string()
}

/// Text of a request for the payments since a time, s since 1970-01-01 UTC.
pub fn list_transactions(from: u64) -> String {
    json!({
        "method": WalletMethod::ListTransactions.word(),
        "params": {"from": from, "limit": TRANSACTIONS_MAX, "unpaid": false},
    })
    .to_string()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletError {
    /// Error code.
    pub code: String,
    /// Text for the owner.
    pub message: String,
}

impl fmt::Display for WalletError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the wallet refused: {} {}",
            self.code, self.message
        )
    }
}

/// Parses a reply to a request.
///
/// # Errors
/// The text is not a reply to that request, or has neither a result nor an error.
pub fn reply(method: WalletMethod, text: &str) -> Result<Result<Value, WalletError>, Malformed> {
    let mut reply = object(text)?;
    let method_replied = reply
        .get("result_type")
        .and_then(Value::as_str)
        .ok_or(Malformed("type"))?;
    if method_replied != method.word() {
        return Err(Malformed("method"));
    }
    if let Some(error) = reply.get("error").and_then(refusal) {
        return Ok(Err(error));
    }
    match reply.get_mut("result").map(Value::take) {
        None | Some(Value::Null) => Err(Malformed("result")),
        Some(result @ (Value::Object(_) | Value::Array(_))) => Ok(Ok(result)),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Err(Malformed("result")),
    }
}

fn object(text: &str) -> Result<Value, Malformed> {
    let value: Value = serde_json::from_str(text).map_err(|_| Malformed("json"))?;
    if value.is_object() { Ok(value) } else { Err(Malformed("not-a-map")) }
}

fn refusal(error: &Value) -> Option<WalletError> {
    let words = |name| -> String {
        let text = error.get(name).and_then(Value::as_str).unwrap_or_default();
        text.chars()
            .filter(|char| !char.is_control())
            .take(WORDS_MAX)
            .collect()
    };
    let error = WalletError {
        code: words("code"),
        message: words("message"),
    };
    (!error.code.is_empty() || !error.message.is_empty()).then_some(error)
}

/// Parses the result of a balance request.
///
/// # Errors
/// The result has no balance.
pub fn balance(result: &Value) -> Result<Msats, Malformed> {
    result
        .get("balance")
        .and_then(msats)
        .ok_or(Malformed("balance"))
}

fn msats(value: &Value) -> Option<Msats> {
    match Scalar::from(value) {
        Scalar::Whole(number) => Some(Msats(number)),
        Scalar::Text(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            digits.parse().ok().map(Msats)
        }
        Scalar::Text(_) | Scalar::Float(_) | Scalar::Nil | Scalar::Odd => None,
    }
}

/// A payment according to the wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Direction, if given.
    pub direction: Option<Direction>,
    /// Amount, if given.
    pub amount: Option<Msats>,
    /// Fees; zero if not given.
    pub fees: Msats,
    /// Payment hash; empty if not given.
    pub hash: String,
    /// When it was settled, s since 1970-01-01 UTC.
    pub settled_at: Option<u64>,
}

fn transaction(value: &Value, direction: Option<Direction>) -> Transaction {
    Transaction {
        direction,
        amount: value.get("amount").and_then(msats),
        fees: value.get("fees_paid").and_then(msats).unwrap_or_default(),
        hash: value
            .get("payment_hash")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        settled_at: value.get("settled_at").and_then(Value::as_u64),
    }
}

/// Parses the result of a request for the latest payments, the earliest first.
pub fn transactions(result: &Value) -> Vec<Transaction> {
    let listed = result
        .get("transactions")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut transactions: Vec<Transaction> = listed
        .iter()
        .take(TRANSACTIONS_MAX)
        .map(|value| {
            let direction = match value.get("type").and_then(Value::as_str) {
                Some("incoming") => Some(Direction::Received),
                Some("outgoing") => Some(Direction::Sent),
                Some(_) | None => None,
            };
            transaction(value, direction)
        })
        .collect();
    transactions.sort_by_key(|transaction| transaction.settled_at);
    transactions
}

/// Parses a notification. It has a direction if it is about a payment.
///
/// # Errors
/// The text is not a notification.
pub fn notification(text: &str) -> Result<Transaction, Malformed> {
    let message = object(text)?;
    let direction = match message.get("notification_type").and_then(Value::as_str) {
        Some("payment_received") => Some(Direction::Received),
        Some("payment_sent") => Some(Direction::Sent),
        Some(_) => None,
        None => return Err(Malformed("type")),
    };
    let notification = message
        .get("notification")
        .ok_or(Malformed("notification"))?;
    Ok(transaction(notification, direction))
}

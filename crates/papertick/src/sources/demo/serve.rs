//! The relay's protocol from the server's side: subscriptions as MessagePack, and answers beside them.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time,
};

use super::market::Quotes;

/// Sockets that are open at once.
const SOCKETS_MAX: usize = 64;

/// Largest message of a client, bytes.
const MESSAGE_MAX: usize = 4 * 1024;

/// Longest time until a frame is on its way.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct Relay {
    quotes: watch::Sender<Quotes>,
    places: Arc<Semaphore>,
}

pub(super) fn router(quotes: watch::Sender<Quotes>) -> Router {
    let places = Arc::new(Semaphore::new(SOCKETS_MAX));
    Router::new()
        .route("/api/v2/ws", get(socket))
        .route("/api/v2/currencies", get(currencies))
        .route("/api/lastblock", get(last_block))
        .route("/api/lastprice", get(last_price))
        .route("/api/lastfee", get(last_fee))
        .with_state(Relay { quotes, places })
}

async fn socket(State(relay): State<Relay>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = Arc::clone(&relay.places).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let quotes = relay.quotes.subscribe();
    upgrade
        .max_message_size(MESSAGE_MAX)
        .max_frame_size(MESSAGE_MAX)
        .on_upgrade(move |socket| serve(socket, quotes, place))
}

async fn currencies(State(relay): State<Relay>) -> Json<Vec<String>> {
    Json(relay.quotes.borrow().prices.keys().cloned().collect())
}

async fn last_block(State(relay): State<Relay>) -> impl IntoResponse {
    bare(relay.quotes.borrow().height.to_string())
}

async fn last_fee(State(relay): State<Relay>) -> impl IntoResponse {
    bare(decimal(relay.quotes.borrow().fee_hundredths))
}

async fn last_price(State(relay): State<Relay>) -> Response {
    let quotes = relay.quotes.borrow();
    let prices: std::collections::BTreeMap<&String, String> = quotes
        .prices
        .iter()
        .map(|(code, price)| (code, decimal(*price)))
        .collect();
    Json(prices).into_response()
}

fn bare(text: String) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], text)
}

/// Writes hundredths.
fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// What a client may say.
#[derive(Deserialize)]
struct Request {
    r#type: String,
    #[serde(rename = "eventType")]
    event_type: String,
    currency: Option<String>,
    #[serde(default)]
    currencies: Vec<String>,
}

/// What a client follows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    Height,
    Fee,
    PreciseFee,
    Price(String),
}

/// What the relay says: one member per frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Msg(String),
    Error(String),
    BlockHeight(u32),
    BlockFee(u64),
    /// Hundredths; whole rates travel as integers.
    #[serde(serialize_with = "fee")]
    BlockFee2(u64),
    Price(std::collections::BTreeMap<String, String>),
}

#[expect(clippy::cast_precision_loss, reason = "fee rates are small")]
fn fee<S: serde::Serializer>(hundredths: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    if hundredths.is_multiple_of(100) {
        serializer.serialize_u64(hundredths / 100)
    } else {
        serializer.serialize_f64(*hundredths as f64 / 100.0)
    }
}

/// The client does not take what is said.
struct Gone;

async fn serve(
    mut socket: WebSocket,
    mut quotes: watch::Receiver<Quotes>,
    _place: OwnedSemaphorePermit,
) {
    let mut topics = BTreeSet::new();
    let mut told = quotes.borrow_and_update().clone();
    if say(&mut socket, Said::Msg("Welcome".to_owned()))
        .await
        .is_err()
    {
        return;
    }
    loop {
        let answers = tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(bytes))) => answer(&bytes, &mut topics, &told),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(Message::Text(_) | Message::Ping(_) | Message::Pong(_))) => Vec::new(),
            },
            changed = quotes.changed() => {
                if changed.is_err() {
                    return;
                }
                let newest = quotes.borrow_and_update().clone();
                let before = std::mem::replace(&mut told, newest);
                news(&topics, &before, &told)
            }
        };
        for answer in answers {
            if say(&mut socket, answer).await.is_err() {
                return;
            }
        }
    }
}

async fn say(socket: &mut WebSocket, said: Said) -> Result<(), Gone> {
    let bytes = rmp_serde::to_vec_named(&said).map_err(|_| Gone)?;
    let sent = time::timeout(SEND_TIMEOUT, socket.send(Message::Binary(bytes.into()))).await;
    sent.map_err(|_| Gone)?.map_err(|_| Gone)
}

/// What is answered to a request; nothing to what is not understood, as the real relays do.
fn answer(bytes: &[u8], topics: &mut BTreeSet<Topic>, quotes: &Quotes) -> Vec<Said> {
    let Ok(request) = rmp_serde::from_slice::<Request>(bytes) else {
        return Vec::new();
    };
    let wanted: Vec<Topic> = match request.event_type.as_str() {
        "blockheight" => vec![Topic::Height],
        "blockfee" => vec![Topic::Fee],
        "blockfee2" => vec![Topic::PreciseFee],
        "price" => match request.currency {
            Some(code) => vec![Topic::Price(code)],
            None => request.currencies.into_iter().map(Topic::Price).collect(),
        },
        _ => Vec::new(),
    };
    match request.r#type.as_str() {
        "subscribe" => wanted
            .into_iter()
            .flat_map(|topic| follow(topic, topics, quotes))
            .collect(),
        "unsubscribe" => wanted
            .iter()
            .flat_map(|topic| unfollow(topic, topics))
            .collect(),
        _ => Vec::new(),
    }
}

fn follow(topic: Topic, topics: &mut BTreeSet<Topic>, quotes: &Quotes) -> Vec<Said> {
    let mut said = Vec::new();
    if let Topic::Price(code) = &topic {
        if !quotes.prices.contains_key(code) {
            return vec![Said::Error(format!("{code} does not exist."))];
        }
        said.push(Said::Msg(format!("Subscribed to {code}")));
    }
    said.extend(state(&topic, quotes));
    topics.insert(topic);
    said
}

fn unfollow(topic: &Topic, topics: &mut BTreeSet<Topic>) -> Option<Said> {
    topics.remove(topic);
    match topic {
        Topic::Price(code) => Some(Said::Msg(format!("Unsubscribed to {code}"))),
        Topic::Height | Topic::Fee | Topic::PreciseFee => None,
    }
}

fn news(topics: &BTreeSet<Topic>, before: &Quotes, now: &Quotes) -> Vec<Said> {
    let said = |topic: &Topic| {
        let said = state(topic, now);
        said.filter(|said| state(topic, before).as_ref() != Some(said))
    };
    topics.iter().filter_map(said).collect()
}

fn state(topic: &Topic, quotes: &Quotes) -> Option<Said> {
    match topic {
        Topic::Height => Some(Said::BlockHeight(quotes.height)),
        Topic::Fee => Some(Said::BlockFee((quotes.fee_hundredths + 50) / 100)),
        Topic::PreciseFee => Some(Said::BlockFee2(quotes.fee_hundredths)),
        Topic::Price(code) => {
            let price = decimal(*quotes.prices.get(code)?);
            Some(Said::Price([(code.clone(), price)].into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(said: &Said) -> String {
        let bytes = rmp_serde::to_vec_named(said).unwrap();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn frames_are_those_of_real_relays() {
        let price = |text: &str| Said::Price([("USD".to_owned(), text.to_owned())].into());
        let rows = [
            (Said::Msg("Welcome".into()), "81a36d7367a757656c636f6d65"),
            (
                Said::BlockHeight(870_123),
                "81ab626c6f636b686569676874ce000d46eb",
            ),
            (Said::BlockFee(13), "81a8626c6f636b6665650d"),
            (
                Said::BlockFee2(1275),
                "81a9626c6f636b66656532cb4029800000000000",
            ),
            (Said::BlockFee2(1300), "81a9626c6f636b666565320d"),
            (
                price("64211.53"),
                "81a5707269636581a3555344a836343231312e3533",
            ),
            (
                Said::Error("XXX does not exist.".into()),
                "81a56572726f72b358585820646f6573206e6f742065786973742e",
            ),
        ];
        for (said, expected) in rows {
            assert_eq!(hex(&said), expected, "{said:?}");
        }
    }

    #[test]
    fn subscribers_hear_the_state_and_then_only_what_changed() {
        let mut quotes = Quotes::at(800_000);
        quotes.fee_hundredths = 1250;
        let mut topics = BTreeSet::new();
        let topic = |text: &str| {
            rmp_serde::to_vec_named(
                &[("type", "subscribe"), ("eventType", text)]
                    .into_iter()
                    .collect::<std::collections::BTreeMap<_, _>>(),
            )
            .unwrap()
        };
        assert_eq!(
            answer(&topic("blockfee"), &mut topics, &quotes),
            [Said::BlockFee(13)]
        );
        assert_eq!(
            answer(&topic("blockfee2"), &mut topics, &quotes),
            [Said::BlockFee2(1250)]
        );
        assert_eq!(answer(&topic("unheard"), &mut topics, &quotes), []);
        assert_eq!(answer(b"\xc1", &mut topics, &quotes), []);
        let steps = [
            (1260, vec![Said::BlockFee2(1260)]),
            (1270, vec![Said::BlockFee2(1270)]),
            (1430, vec![Said::BlockFee(14), Said::BlockFee2(1430)]),
        ];
        for (fee, expected) in steps {
            let before = quotes.clone();
            quotes.fee_hundredths = fee;
            assert_eq!(news(&topics, &before, &quotes), expected);
        }
    }
}

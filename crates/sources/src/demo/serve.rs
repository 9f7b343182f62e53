//! The server side of the relay protocol: MessagePack subscriptions, and HTTP responses.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::service_fn,
    upgrade::{self, OnUpgrade},
};
use hyper_util::rt::TokioIo;
use net::web_socket_server::{self as web_socket, ServerWebSocket};
use rmpv::{Value, decode, encode};
use runtime::tasks::Tasks;
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time,
};
use tokio_tungstenite::tungstenite::Message;

use super::market::RelayQuotes;

/// Simultaneous connections; others wait.
const SOCKETS_MAX: usize = 64;

/// Largest message of a client, bytes.
const MESSAGE_MAX: usize = 4 * 1024;

/// Pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Longest time to send a frame.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves all connections; ends with its task.
pub(super) async fn serve_all(
    listener: TcpListener,
    quotes: watch::Sender<RelayQuotes>,
    mut gone: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(SOCKETS_MAX));
    let mut connections = Tasks::new();
    loop {
        let (stream, place) = tokio::select! {
            Some(ended) = connections.ended() => {
                ended.log_panic();
                continue;
            }
            Ok(()) = gone.changed() => {
                connections.abort().await;
                connections = Tasks::new();
                continue;
            }
            accepted = accept(&listener, &places) => match accepted {
                Some(accepted) => accepted,
                None => return,
            },
        };
        if *gone.borrow() {
            continue;
        }
        let quotes = quotes.clone();
        connections.spawn("client of the demo", async move {
            handle_connection(stream, quotes).await;
            drop(place);
        });
    }
}

/// Waits for a free place, then for a client. `None` once the semaphore is closed.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Some((stream, place)),
            Err(error) => {
                tracing::warn!(%error, "the demo relay cannot take a connection");
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Handles the requests of a connection, and continues as a WebSocket after an upgrade.
async fn handle_connection(stream: TcpStream, quotes: watch::Sender<RelayQuotes>) {
    let (switched, mut upgrades) = mpsc::channel(1);
    let reply = service_fn(|request| {
        let reply = respond(request, &quotes, &switched);
        async move { Ok::<_, Infallible>(reply) }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), reply);
    if connection.with_upgrades().await.is_err() {
        return;
    }
    let Ok(upgrade) = upgrades.try_recv() else {
        return;
    };
    let upgrade: OnUpgrade = upgrade;
    if let Ok(upgraded) = upgrade.await {
        let socket = web_socket::over(upgraded, MESSAGE_MAX).await;
        serve(socket, quotes.subscribe()).await;
    }
}

fn respond(
    mut request: Request<Incoming>,
    quotes: &watch::Sender<RelayQuotes>,
    switched: &mpsc::Sender<OnUpgrade>,
) -> Response<Full<Bytes>> {
    let newest = quotes.borrow();
    match request.uri().path() {
        "/api/v2/ws" => {
            let Some(accept) = web_socket::handshake(request.headers()) else {
                return plain(StatusCode::UPGRADE_REQUIRED);
            };
            if switched.try_send(upgrade::on(&mut request)).is_err() {
                return plain(StatusCode::SERVICE_UNAVAILABLE);
            }
            let mut response = plain(StatusCode::SWITCHING_PROTOCOLS);
            web_socket::switch(&mut response, accept);
            response
        }
        "/api/v2/currencies" => {
            let codes: Vec<&String> = newest.prices.keys().collect();
            in_json(json!(codes).to_string())
        }
        "/api/lastblock" => in_json(newest.height.to_string()),
        "/api/lastfee" => in_json(decimal(newest.fee_hundredths)),
        "/api/lastprice" => {
            let prices = newest.prices.iter();
            let prices: BTreeMap<&String, String> = prices
                .map(|(code, price)| (code, decimal(*price)))
                .collect();
            in_json(json!(prices).to_string())
        }
        _ => plain(StatusCode::NOT_FOUND),
    }
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

fn in_json(text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Formats hundredths as a decimal.
fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RelayTopic {
    Height,
    Fee,
    PreciseFee,
    Price(String),
}

/// A frame to the client: a map with one entry.
#[derive(Debug, Clone, PartialEq)]
enum RelayFrame {
    Msg(String),
    Error(String),
    BlockHeight(u32),
    BlockFee(u64),
    /// Hundredths; whole rates are encoded as integers.
    BlockFee2(u64),
    Price(BTreeMap<String, String>),
}

impl RelayFrame {
    #[expect(clippy::cast_precision_loss, reason = "fee rates are small")]
    fn encode(&self) -> Vec<u8> {
        let (topic, value) = match self {
            RelayFrame::Msg(text) => ("msg", text.as_str().into()),
            RelayFrame::Error(text) => ("error", text.as_str().into()),
            RelayFrame::BlockHeight(height) => ("blockheight", (*height).into()),
            RelayFrame::BlockFee(rate) => ("blockfee", (*rate).into()),
            RelayFrame::BlockFee2(hundredths) if hundredths.is_multiple_of(100) => {
                ("blockfee2", (hundredths / 100).into())
            }
            RelayFrame::BlockFee2(hundredths) => ("blockfee2", (*hundredths as f64 / 100.0).into()),
            RelayFrame::Price(prices) => {
                let prices = prices.iter();
                let prices =
                    prices.map(|(code, price)| (code.as_str().into(), price.as_str().into()));
                ("price", Value::Map(prices.collect()))
            }
        };
        let mut bytes = Vec::new();
        encode::write_value(&mut bytes, &Value::Map(vec![(topic.into(), value)]))
            .expect("a Vec takes all bytes");
        bytes
    }
}

struct Gone;

async fn serve(mut socket: ServerWebSocket, mut quotes: watch::Receiver<RelayQuotes>) {
    let mut topics = BTreeSet::new();
    let mut quotes_sent = quotes.borrow_and_update().clone();
    if send(&mut socket, RelayFrame::Msg("Welcome".to_owned()))
        .await
        .is_err()
    {
        return;
    }
    loop {
        let replies = tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Binary(bytes))) => reply(&bytes, &mut topics, &quotes_sent),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(
                    Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
                )) => Vec::new(),
            },
            changed = quotes.changed() => {
                if changed.is_err() {
                    return;
                }
                let newest = quotes.borrow_and_update().clone();
                let before = std::mem::replace(&mut quotes_sent, newest);
                changed_frames(&topics, &before, &quotes_sent)
            }
        };
        for reply in replies {
            if send(&mut socket, reply).await.is_err() {
                return;
            }
        }
    }
}

async fn send(socket: &mut ServerWebSocket, frame: RelayFrame) -> Result<(), Gone> {
    let message = Message::Binary(frame.encode().into());
    let sent = time::timeout(SEND_TIMEOUT, socket.send(message)).await;
    sent.map_err(|_| Gone)?.map_err(|_| Gone)
}

/// The response to a command; empty if it is not understood, as with real relays.
fn reply(
    mut bytes: &[u8],
    topics: &mut BTreeSet<RelayTopic>,
    quotes: &RelayQuotes,
) -> Vec<RelayFrame> {
    let Ok(command) = decode::read_value(&mut bytes) else {
        return Vec::new();
    };
    let price = |code: &str| RelayTopic::Price(code.to_owned());
    let wanted: Vec<RelayTopic> = match command["eventType"].as_str() {
        Some("blockheight") => vec![RelayTopic::Height],
        Some("blockfee") => vec![RelayTopic::Fee],
        Some("blockfee2") => vec![RelayTopic::PreciseFee],
        Some("price") => match command["currency"].as_str() {
            Some(code) => vec![price(code)],
            None => {
                let codes = command["currencies"].as_array().into_iter().flatten();
                codes.filter_map(Value::as_str).map(price).collect()
            }
        },
        _ => Vec::new(),
    };
    match command["type"].as_str() {
        Some("subscribe") => wanted
            .into_iter()
            .flat_map(|topic| follow(topic, topics, quotes))
            .collect(),
        Some("unsubscribe") => wanted
            .iter()
            .flat_map(|topic| unfollow(topic, topics))
            .collect(),
        _ => Vec::new(),
    }
}

fn follow(
    topic: RelayTopic,
    topics: &mut BTreeSet<RelayTopic>,
    quotes: &RelayQuotes,
) -> Vec<RelayFrame> {
    let mut frames = Vec::new();
    if let RelayTopic::Price(code) = &topic {
        if !quotes.prices.contains_key(code) {
            return vec![RelayFrame::Error(format!("{code} does not exist."))];
        }
        frames.push(RelayFrame::Msg(format!("Subscribed to {code}")));
    }
    frames.extend(state(&topic, quotes));
    topics.insert(topic);
    frames
}

fn unfollow(topic: &RelayTopic, topics: &mut BTreeSet<RelayTopic>) -> Option<RelayFrame> {
    topics.remove(topic);
    match topic {
        RelayTopic::Price(code) => Some(RelayFrame::Msg(format!("Unsubscribed to {code}"))),
        RelayTopic::Height | RelayTopic::Fee | RelayTopic::PreciseFee => None,
    }
}

fn changed_frames(
    topics: &BTreeSet<RelayTopic>,
    before: &RelayQuotes,
    now: &RelayQuotes,
) -> Vec<RelayFrame> {
    let changed = |topic: &RelayTopic| {
        let frame = state(topic, now);
        frame.filter(|frame| state(topic, before).as_ref() != Some(frame))
    };
    topics.iter().filter_map(changed).collect()
}

fn state(topic: &RelayTopic, quotes: &RelayQuotes) -> Option<RelayFrame> {
    match topic {
        RelayTopic::Height => Some(RelayFrame::BlockHeight(quotes.height)),
        RelayTopic::Fee => Some(RelayFrame::BlockFee((quotes.fee_hundredths + 50) / 100)),
        RelayTopic::PreciseFee => Some(RelayFrame::BlockFee2(quotes.fee_hundredths)),
        RelayTopic::Price(code) => {
            let price = decimal(*quotes.prices.get(code)?);
            Some(RelayFrame::Price([(code.clone(), price)].into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_real_relays() {
        let price = |text: &str| RelayFrame::Price([("USD".to_owned(), text.to_owned())].into());
        #[rustfmt::skip]
        let rows = [
            (RelayFrame::Msg("Welcome".into()), "81a36d7367a757656c636f6d65"),
            (RelayFrame::BlockHeight(870_123), "81ab626c6f636b686569676874ce000d46eb"),
            (RelayFrame::BlockFee(13), "81a8626c6f636b6665650d"),
            (RelayFrame::BlockFee2(1275), "81a9626c6f636b66656532cb4029800000000000"),
            (RelayFrame::BlockFee2(1300), "81a9626c6f636b666565320d"),
            (price("64211.53"), "81a5707269636581a3555344a836343231312e3533"),
            (RelayFrame::Error("ZZZ does not exist.".into()), "81a56572726f72b35a5a5a20646f6573206e6f742065786973742e"),
        ];
        for (frame, expected) in rows {
            assert_eq!(hex::encode(frame.encode()), expected, "{frame:?}");
        }
    }

    #[test]
    fn subscribers_receive_the_state_and_then_only_changes() {
        let mut quotes = RelayQuotes::at(800_000);
        quotes.fee_hundredths = 1250;
        let mut topics = BTreeSet::new();
        let topic = |text: &str| {
            let members = [("type", "subscribe"), ("eventType", text)];
            let members = members.map(|(name, text)| (name.into(), text.into()));
            let mut bytes = Vec::new();
            encode::write_value(&mut bytes, &Value::Map(members.to_vec())).unwrap();
            bytes
        };
        assert_eq!(
            reply(&topic("blockfee"), &mut topics, &quotes),
            [RelayFrame::BlockFee(13)]
        );
        assert_eq!(
            reply(&topic("blockfee2"), &mut topics, &quotes),
            [RelayFrame::BlockFee2(1250)]
        );
        assert_eq!(reply(&topic("unheard"), &mut topics, &quotes), []);
        assert_eq!(reply(b"\xc1", &mut topics, &quotes), []);
        let steps = [
            (1260, vec![RelayFrame::BlockFee2(1260)]),
            (1270, vec![RelayFrame::BlockFee2(1270)]),
            (
                1430,
                vec![RelayFrame::BlockFee(14), RelayFrame::BlockFee2(1430)],
            ),
        ];
        for (fee, expected) in steps {
            let before = quotes.clone();
            quotes.fee_hundredths = fee;
            assert_eq!(changed_frames(&topics, &before, &quotes), expected);
        }
    }
}

//! The wallet source with a wallet that uses another implementation of the protocol.

use std::time::Duration;

use device::{secret::Secret, settings::pairing::PairingUri, sources::SourceConfig};
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use market::{Direction, Observation, Payment, Polled, source_id::SourceId, units::Msats};
use nostr::{
    event::{Event, EventBuilder, Kind, Tag},
    key::{Keys, PublicKey},
    nips::{nip04, nip44},
};
use nostr_relay_builder::MockRelay;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::rig::{Rig, accept};

const CLIENT: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
const WALLET: &str = "0000000000000000000000000000000000000000000000000000000000000002";
const REFRESH_SECS: u32 = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cipher {
    Nip44,
    Nip04,
}

impl Cipher {
    fn word(self) -> &'static str {
        match self {
            Cipher::Nip44 => "nip44_v2",
            Cipher::Nip04 => "nip04",
        }
    }
}

struct Wallet {
    keys: Keys,
    client: PublicKey,
    cipher: Cipher,
}

impl Wallet {
    fn new(cipher: Cipher) -> Wallet {
        let client = Keys::parse(CLIENT).unwrap().public_key();
        Wallet {
            keys: Keys::parse(WALLET).unwrap(),
            client,
            cipher,
        }
    }

    fn event(&self, kind: u16, tags: &[&[&str]], content: &str) -> Event {
        let tags = tags
            .iter()
            .map(|tag| Tag::parse(tag.iter().copied()).unwrap());
        let event = EventBuilder::new(Kind::from_u16(kind), content).tags(tags);
        event.sign_with_keys(&self.keys).unwrap()
    }

    fn info(&self) -> Event {
        let ciphers = match self.cipher {
            Cipher::Nip44 => "nip44_v2 nip04",
            Cipher::Nip04 => "nip04",
        };
        let tags: &[&[&str]] = &[
            &["encryption", ciphers],
            &["notifications", "payment_received"],
        ];
        self.event(13194, tags, "get_balance list_transactions notifications")
    }

    fn sealed(&self, text: &Value) -> String {
        let (secret, client) = (self.keys.secret_key(), &self.client);
        match self.cipher {
            Cipher::Nip44 => {
                nip44::encrypt(secret, client, text.to_string(), nip44::Version::V2).unwrap()
            }
            Cipher::Nip04 => nip04::encrypt(secret, client, text.to_string()).unwrap(),
        }
    }

    /// Decrypts a request after checking everything about it.
    fn open(&self, request: &Event) -> Value {
        request.verify().unwrap();
        assert_eq!(request.kind, Kind::from_u16(23194));
        assert_eq!(request.pubkey, self.client);
        let tags: Vec<Vec<String>> = request
            .tags
            .iter()
            .map(|tag| tag.as_slice().to_vec())
            .collect();
        let wallet = self.keys.public_key().to_hex();
        assert_eq!(
            tags,
            [["p", wallet.as_str()], ["encryption", self.cipher.word()]]
        );
        let (secret, client) = (self.keys.secret_key(), &self.client);
        let text = match self.cipher {
            Cipher::Nip44 => nip44::decrypt(secret, client, &request.content).unwrap(),
            Cipher::Nip04 => nip04::decrypt(secret, client, &request.content).unwrap(),
        };
        serde_json::from_str(&text).unwrap()
    }

    fn reply(&self, request: &Event, text: &Value) -> Event {
        let (client, id) = (self.client.to_hex(), request.id.to_hex());
        self.event(23195, &[&["p", &client], &["e", &id]], &self.sealed(text))
    }

    fn balance(&self, request: &Event, msats: u64) -> Event {
        self.reply(
            request,
            &json!({"result_type": "get_balance", "result": {"balance": msats}}),
        )
    }

    fn notification(&self, kind: &str, msats: u64, hash: &str) -> Event {
        let text = json!({
            "notification_type": kind,
            "notification": {"amount": msats, "payment_hash": hash, "settled_at": null},
        });
        let number = match self.cipher {
            Cipher::Nip44 => 23197,
            Cipher::Nip04 => 23196,
        };
        self.event(
            number,
            &[&["p", &self.client.to_hex()]],
            &self.sealed(&text),
        )
    }
}

fn uri(relay: &str) -> String {
    let wallet = Keys::parse(WALLET).unwrap().public_key().to_hex();
    let relay = relay.replace(':', "%3A").replace('/', "%2F");
    format!("nostr+walletconnect://{wallet}?relay={relay}&secret={CLIENT}")
}

fn config(relay: &str) -> SourceConfig {
    SourceConfig::Wallet {
        uri: Secret::new(uri(relay)),
        refresh_secs: REFRESH_SECS,
    }
}

fn balance(msats: u64) -> Observation {
    let pairing = PairingUri::parse(&uri("ws://wallet.example")).unwrap();
    Observation::Balance(Polled {
        identity: pairing.identity(),
        value: Msats(msats),
    })
}

fn payment(direction: Direction, msats: u64) -> Observation {
    Observation::Payment(Payment {
        direction: Some(direction),
        amount: Msats(msats),
    })
}

/// The next event published on a socket.
async fn published<S>(socket: &mut S) -> Event
where
    S: Stream<Item = Result<Message, tungstenite::Error>> + Unpin,
{
    loop {
        let Message::Text(text) = socket.next().await.unwrap().unwrap() else {
            continue;
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        if message[0] == "EVENT" {
            let event = if message[1].is_string() { &message[2] } else { &message[1] };
            return serde_json::from_value(event.clone()).unwrap();
        }
    }
}

/// Sends an event as a relay.
async fn send_event<S>(socket: &mut S, event: &Event)
where
    S: Sink<Message, Error = tungstenite::Error> + Unpin,
{
    let message = serde_json::to_string(&("EVENT", "any", event)).unwrap();
    socket.send(Message::text(message)).await.unwrap();
}

#[tokio::test]
async fn balance_and_payments_come_over_a_real_relay() {
    let relay = MockRelay::run().await.unwrap();
    let url = relay.url().await.to_string();
    let place = url.trim_start_matches("ws://").trim_end_matches('/');
    let tcp = tokio::net::TcpStream::connect(place).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(&url, tcp).await.unwrap();
    let wallet = Wallet::new(Cipher::Nip44);
    let publish = |event: &Event| Message::text(serde_json::to_string(&("EVENT", event)).unwrap());
    let filter =
        json!(["REQ", "requests", {"kinds": [23194], "#p": [wallet.keys.public_key().to_hex()]}]);
    socket
        .send(Message::text(filter.to_string()))
        .await
        .unwrap();
    socket.send(publish(&wallet.info())).await.unwrap();

    let mut rig = Rig::on_loopback(&[]);
    rig.plan(SourceId::Wallet, config(&url));
    let request = published(&mut socket).await;
    assert_eq!(
        wallet.open(&request),
        json!({"method": "get_balance", "params": {}})
    );
    socket
        .send(publish(&wallet.balance(&request, 4_242_000)))
        .await
        .unwrap();
    rig.until(|seen| *seen == balance(4_242_000)).await;

    let received = wallet.notification("payment_received", 21_000, "aa");
    socket.send(publish(&received)).await.unwrap();
    let seen = rig.until(|seen| *seen == balance(4_263_000)).await;
    assert!(
        seen.contains(&payment(Direction::Received, 21_000)),
        "{seen:?}"
    );
    let again = published(&mut socket).await;
    assert_eq!(wallet.open(&again)["method"], "get_balance");
    socket
        .send(publish(&wallet.balance(&again, 4_262_990)))
        .await
        .unwrap();
    rig.until(|seen| *seen == balance(4_262_990)).await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_older_wallet_is_polled_despite_lost_replies() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.clock.set(1_767_225_600_000);
    rig.plan(SourceId::Wallet, config("ws://wallet.example"));
    let mut socket = accept(&mut arrivals).await;
    let wallet = Wallet::new(Cipher::Nip04);
    for _ in 0..2 {
        let request = socket.next().await.unwrap().unwrap().into_text().unwrap();
        assert!(request.starts_with("[\"REQ\",\"nwc"), "{request}");
    }
    send_event(&mut socket, &wallet.info()).await;
    rig.up().await;
    let lost = published(&mut socket).await;
    let requested_at = Instant::now();
    wallet.open(&lost);
    let poll = published(&mut socket).await;
    assert_eq!(
        requested_at.elapsed().as_secs(),
        u64::from(REFRESH_SECS),
        "a lost reply is replaced by the next"
    );
    send_event(&mut socket, &wallet.balance(&lost, 1_000)).await;
    send_event(&mut socket, &wallet.balance(&poll, 1_000_000)).await;
    let seen = rig
        .until(|seen| matches!(seen, Observation::Balance(_)))
        .await;
    assert_eq!(
        seen.last(),
        Some(&balance(1_000_000)),
        "a late reply is ignored"
    );
    assert!(seen.contains(&Observation::PollFailed), "{seen:?}");

    let missed = published(&mut socket).await;
    assert_eq!(wallet.open(&missed)["method"], "list_transactions");
    let rejection = json!({
        "result_type": "list_transactions",
        "error": {"code": "RESTRICTED", "message": "no perms"},
        "result": null,
    });
    send_event(&mut socket, &wallet.reply(&missed, &rejection)).await;
    let problem = Observation::Complaint("the wallet refused: RESTRICTED no perms".to_owned());
    rig.until(|seen| *seen == problem).await;

    send_event(
        &mut socket,
        &wallet.notification("payment_sent", 5_000, "bb"),
    )
    .await;
    send_event(
        &mut socket,
        &wallet.notification("payment_sent", 5_000, "bb"),
    )
    .await;
    let seen = rig
        .until(|seen| matches!(seen, Observation::Balance(_)))
        .await;
    assert!(seen.contains(&payment(Direction::Sent, 5_000)), "{seen:?}");
    assert!(
        rig.is_quiet(Duration::from_secs(1)).await,
        "a repeated payment is reported once"
    );

    let closed = json!(["CLOSED", "nwcr-c6047f94", "auth-required"]).to_string();
    socket.send(Message::text(closed)).await.unwrap();
    assert_eq!(rig.down().await.0, "the relay refused: auth-required");
    let mut socket = accept(&mut arrivals).await;
    let request = published(&mut socket).await;
    assert_eq!(
        wallet.open(&request)["method"],
        "get_balance",
        "the wallet is known"
    );

    // A restarted session does not request the payments before the start again.
    rig.plan(SourceId::Wallet, config("ws://moved.example"));
    let mut socket = accept(&mut arrivals).await;
    send_event(&mut socket, &wallet.info()).await;
    let first = published(&mut socket).await;
    send_event(&mut socket, &wallet.balance(&first, 2_000)).await;
    let next = published(&mut socket).await;
    assert_eq!(wallet.open(&next)["method"], "get_balance");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn foreign_and_invalid_events_have_no_effect() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Wallet, config("ws://wallet.example"));
    let mut socket = accept(&mut arrivals).await;
    let wallet = Wallet::new(Cipher::Nip44);
    send_event(&mut socket, &wallet.info()).await;
    let request = published(&mut socket).await;
    let other_wallet = Wallet {
        keys: Keys::parse(&"03".repeat(32)).unwrap(),
        ..Wallet::new(Cipher::Nip44)
    };
    let forged = {
        let mut event = wallet.balance(&request, 1);
        event.content = other_wallet.balance(&request, 1).content;
        event
    };
    send_event(&mut socket, &other_wallet.balance(&request, 1)).await;
    send_event(&mut socket, &forged).await;
    send_event(&mut socket, &wallet.reply(&request, &json!("no reply"))).await;
    // An invalid reply still ends the request.
    let next = published(&mut socket).await;
    assert_ne!(next.id, request.id);
    send_event(&mut socket, &wallet.balance(&next, 7_000)).await;
    let seen = rig
        .until(|seen| matches!(seen, Observation::Balance(_)))
        .await;
    assert_eq!(seen.last(), Some(&balance(7_000)));
    assert!(!format!("{seen:?}").contains(CLIENT));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_invalid_pairing_leaves_the_wallet_off() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    let uri = Secret::new("nostr+walletconnect://nonsense");
    rig.plan(
        SourceId::Wallet,
        SourceConfig::Wallet {
            uri,
            refresh_secs: REFRESH_SECS,
        },
    );
    let problem = Observation::Complaint("the pairing cannot be read".to_owned());
    rig.until(|seen| *seen == problem).await;
    assert!(rig.is_quiet(Duration::from_secs(3600)).await);
    assert!(arrivals.try_recv().is_err());
    rig.stop().await;
}

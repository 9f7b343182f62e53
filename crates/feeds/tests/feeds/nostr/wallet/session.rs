//! Complete sessions with a simulated wallet.

use std::time::Duration;

use device::{secret::Secret, settings::pairing::PairingUri};
use feeds::{
    malformed::Malformed,
    nostr::{
        event::{NostrEvent, Signer, VerifiedEvent},
        frame::{RelayMessage, message},
        wallet::{
            cipher::{Cipher, EncryptedChannel},
            message::WalletError,
            reaction::{Complaint, Reaction, StepRandomness},
            session::{WalletSession, WalletSessionState},
        },
    },
};
use market::{
    Direction, Observation, Payment, Polled,
    now::{Now, UtcTime},
    units::Msats,
};
use serde_json::{Value, json};

use super::super::{AUTHOR, SECRET};

const WALLET: &str = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";
const START_SECS: i64 = 1_800_000_000;

/// Both sides of a session.
struct Scene {
    session: WalletSession,
    wallet: Signer,
    channel: EncryptedChannel,
    uptime: Duration,
    clock: bool,
    noise: u8,
}

impl Scene {
    fn new() -> Scene {
        let secret = Secret::new(format!("{:064x}", 2));
        let mut scene = Scene {
            session: WalletSession::new(&paired(), Duration::from_secs(60)).unwrap(),
            wallet: Signer::new(&secret).unwrap(),
            channel: EncryptedChannel::new(&secret, AUTHOR).unwrap(),
            uptime: Duration::from_secs(10),
            clock: true,
            noise: 0,
        };
        scene.session.connected(scene.now());
        scene
    }

    fn now(&self) -> Now {
        let unix_ms = START_SECS * 1000 + i64::try_from(self.uptime.as_millis()).unwrap();
        Now {
            uptime: self.uptime,
            utc: self.clock.then_some(UtcTime { unix_ms }),
        }
    }

    fn noise(&mut self) -> StepRandomness {
        self.noise += 1;
        StepRandomness {
            cipher: [self.noise; 32],
            signature: [self.noise; 32],
        }
    }

    fn wait(&mut self, secs: u64) {
        self.uptime += Duration::from_secs(secs);
    }

    fn poll(&mut self) -> Reaction {
        let (now, noise) = (self.now(), self.noise());
        self.session.poll(now, &noise)
    }

    fn receive(&mut self, event: NostrEvent) -> Reaction {
        let (now, noise) = (self.now(), self.noise());
        let subscription = "nwcr-c6047f94".into();
        self.session.receive(
            RelayMessage::Event {
                subscription,
                event,
            },
            now,
            &noise,
        )
    }

    fn wallet_event(&mut self, kind: u16, tags: &[&[&str]], content: String) -> NostrEvent {
        let created_at = u64::try_from(START_SECS).unwrap() + self.uptime.as_secs();
        let noise = self.noise().signature;
        self.wallet.sign(created_at, kind, tags, content, &noise)
    }

    fn info(&mut self, ciphers: &str) -> Reaction {
        let event = self.wallet_event(13194, &[&["encryption", ciphers]], "get_balance".into());
        self.receive(event)
    }

    fn reply(&mut self, cipher: Cipher, request: &str, text: &Value) -> Reaction {
        let noise = self.noise().cipher;
        let content = self
            .channel
            .encrypt(cipher, &text.to_string(), &noise)
            .unwrap();
        let event = self.wallet_event(23195, &[&["p", AUTHOR], &["e", request]], content);
        self.receive(event)
    }

    fn balance(&mut self, request: &str, balance: u64) -> Reaction {
        let text = json!({"result_type": "get_balance", "result": {"balance": balance}});
        self.reply(Cipher::Nip44, request, &text)
    }

    fn notify(&mut self, kind: u16, text: &Value) -> Reaction {
        let cipher = if kind == 23197 { Cipher::Nip44 } else { Cipher::Nip04 };
        let noise = self.noise().cipher;
        let content = self
            .channel
            .encrypt(cipher, &text.to_string(), &noise)
            .unwrap();
        let event = self.wallet_event(kind, &[&["p", AUTHOR]], content);
        self.receive(event)
    }

    /// Takes the only request of a step and decrypts it as the wallet does.
    fn request(&self, step: &Reaction) -> (String, Value, Vec<Vec<String>>) {
        let [frame] = step.send.as_slice() else {
            panic!("{step:?}");
        };
        let frame: Value = serde_json::from_str(frame).unwrap();
        assert_eq!(frame[0], "EVENT");
        let event: NostrEvent = serde_json::from_value(frame[1].clone()).unwrap();
        assert_eq!((event.kind, event.pubkey.as_str()), (23194, AUTHOR));
        let (id, tags) = (event.id.clone(), event.tags.clone());
        let cipher = Cipher::named(&tags[1][1]).unwrap();
        let text = self.channel.decrypt(cipher, &event.content).unwrap();
        VerifiedEvent::verify(event).unwrap();
        (id, serde_json::from_str(&text).unwrap(), tags)
    }

    /// A session without a pending request.
    fn settled(balance: u64) -> Scene {
        let mut scene = Scene::new();
        let step = scene.info("nip44_v2 nip04");
        let (id, ..) = scene.request(&step);
        let step = scene.balance(&id, balance);
        let (id, ..) = scene.request(&step);
        let step = scene.reply(
            Cipher::Nip44,
            &id,
            &json!({"result_type": "list_transactions", "result": {}}),
        );
        assert_eq!(step, Reaction::default());
        assert!(!scene.session.is_waiting());
        scene
    }
}

fn payment(direction: Direction, amount: u64) -> Observation {
    Observation::Payment(Payment {
        direction: Some(direction),
        amount: Msats(amount),
    })
}

fn paired() -> PairingUri {
    let uri = format!("nostr+walletconnect://{WALLET}?relay=ws://r&secret={SECRET}");
    PairingUri::parse(&uri).unwrap()
}

fn balance(msats: u64) -> Observation {
    Observation::Balance(Polled {
        identity: paired().identity(),
        value: Msats(msats),
    })
}

fn received(amount: u64, hash: &str) -> Value {
    json!({"notification_type": "payment_received", "notification": {"amount": amount, "payment_hash": hash}})
}

fn sent(amount: u64, fees: u64, hash: &str) -> Value {
    let notification = json!({"amount": amount, "fees_paid": fees, "payment_hash": hash});
    json!({"notification_type": "payment_sent", "notification": notification})
}

#[test]
fn subscriptions() {
    let mut scene = Scene::new();
    let step = scene.session.connected(scene.now());
    assert_eq!(
        step.send,
        [
            format!(
                r#"["REQ","nwci-c6047f94",{{"kinds":[13194],"authors":["{WALLET}"],"limit":1}}]"#
            ),
            format!(
                r##"["REQ","nwcr-c6047f94",{{"kinds":[23195,23197,23196],"authors":["{WALLET}"],"#p":["{AUTHOR}"]}}]"##
            ),
        ]
    );
    assert_eq!(
        scene.session.closed(),
        [
            r#"["CLOSE","nwci-c6047f94"]"#,
            r#"["CLOSE","nwcr-c6047f94"]"#
        ]
    );
}

#[test]
fn the_wallet_chooses_the_cipher() {
    for (ciphers, cipher, word) in [
        ("nip44_v2 nip04", Cipher::Nip44, "nip44_v2"),
        ("nip44_v2", Cipher::Nip44, "nip44_v2"),
        ("nip04", Cipher::Nip04, "nip04"),
        ("", Cipher::Nip04, "nip04"),
    ] {
        let mut scene = Scene::new();
        assert_eq!(scene.session.state(), WalletSessionState::Bootstrapping);
        assert_eq!(
            scene.poll(),
            Reaction::default(),
            "there is nothing to request"
        );
        let step = scene.info(ciphers);
        assert_eq!(scene.session.state(), WalletSessionState::Ready(cipher));
        let (_, text, tags) = scene.request(&step);
        assert_eq!(text, json!({"method": "get_balance", "params": {}}));
        assert_eq!(tags, [["p", WALLET], ["encryption", word]]);
        assert_eq!(scene.info(ciphers), Reaction::default(), "sent twice");
    }
    let mut scene = Scene::new();
    let event = scene.wallet_event(13194, &[&["encryption", "nip44_v2"]], String::new());
    assert_eq!(
        scene.receive(event).complaint,
        Some(Malformed("methods").into())
    );
    assert_eq!(scene.session.state(), WalletSessionState::Bootstrapping);
}

#[test]
fn balances_are_polled() {
    let mut scene = Scene::settled(4_242_000);
    assert_eq!(scene.session.balance(), Some(Msats(4_242_000)));
    assert_eq!(scene.poll(), Reaction::default(), "not yet");
    scene.wait(60);
    assert_eq!(scene.session.next_poll(), Some(scene.uptime));
    let step = scene.poll();
    let (id, text, _) = scene.request(&step);
    assert_eq!(text["method"], "get_balance");
    let step = scene.balance(&id, 5);
    assert_eq!((step.observations, step.send.len()), (vec![balance(5)], 0));
    assert!(!scene.session.is_waiting());
}

#[test]
fn a_wallet_without_an_info_event_fails_every_poll() {
    let mut scene = Scene::new();
    for _ in 0..3 {
        assert_eq!(scene.poll(), Reaction::default(), "not yet");
        scene.wait(60);
        let step = scene.poll();
        assert_eq!(
            (step.observations, step.send),
            (vec![Observation::PollFailed], vec![])
        );
    }
}

#[test]
fn a_lost_reply_is_replaced_by_the_next() {
    let mut scene = Scene::new();
    let step = scene.info("nip44_v2");
    let (lost, ..) = scene.request(&step);
    scene.wait(60);
    let step = scene.poll();
    assert_eq!(step.observations, [Observation::PollFailed]);
    let (id, ..) = scene.request(&step);
    assert_eq!(scene.balance(&lost, 1), Reaction::default(), "too late");
    assert_eq!(
        scene.balance(&"00".repeat(32), 1),
        Reaction::default(),
        "to no request"
    );
    assert_eq!(scene.balance(&id, 2).observations, [balance(2)]);
    assert_eq!(
        scene.balance(&id, 3),
        Reaction::default(),
        "answered already"
    );
}

#[test]
fn a_reply_may_be_in_the_other_cipher() {
    let mut scene = Scene::new();
    let step = scene.info("nip44_v2");
    let (id, ..) = scene.request(&step);
    let text = r#"{"result_type":"get_balance","result":{"balance":7}}"#;
    let content = scene
        .channel
        .encrypt(Cipher::Nip04, text, &[3; 32])
        .unwrap();
    let event = scene.wallet_event(23195, &[&["e", &id], &["encryption", "nip04"]], content);
    assert_eq!(scene.receive(event).observations, [balance(7)]);
}

#[test]
fn an_error_of_the_wallet_is_reported() {
    let mut scene = Scene::new();
    let step = scene.info("nip44_v2");
    let (id, ..) = scene.request(&step);
    let echo = format!("no, {SECRET}");
    let refusal =
        json!({"result_type": "get_balance", "error": {"code": "RESTRICTED", "message": echo}});
    let step = scene.reply(Cipher::Nip44, &id, &refusal);
    let error = WalletError {
        code: "RESTRICTED".into(),
        message: "no, ***".into(),
    };
    assert_eq!(step.complaint, Some(Complaint::Wallet(error)));
    assert!(!scene.session.is_waiting());
    scene.wait(60);
    assert_eq!(scene.poll().send.len(), 1, "it is requested again");
}

#[test]
fn missed_payments_are_requested_once() {
    let mut scene = Scene::new();
    let step = scene.info("nip44_v2");
    let (id, ..) = scene.request(&step);
    assert!(!scene.session.missed_requested());
    let step = scene.balance(&id, 100);
    assert!(scene.session.missed_requested());
    let (id, text, _) = scene.request(&step);
    let from = START_SECS + 10 - 600;
    assert_eq!(
        text,
        json!({"method": "list_transactions", "params": {"from": from, "limit": 20, "unpaid": false}})
    );
    let listed = json!({"result_type": "list_transactions", "result": {"transactions": [
        {"type": "outgoing", "amount": 2, "settled_at": 20, "payment_hash": "b"},
        {"type": "incoming", "amount": 1, "settled_at": 10, "payment_hash": "a"},
    ]}});
    let step = scene.reply(Cipher::Nip44, &id, &listed);
    assert_eq!(
        step.observations,
        [payment(Direction::Received, 1), payment(Direction::Sent, 2)]
    );
    assert_eq!(
        scene.session.balance(),
        Some(Msats(100)),
        "the balance includes them"
    );
    assert_eq!(
        scene.notify(23197, &received(1, "a")),
        Reaction::default(),
        "reported already"
    );
    scene.wait(60);
    let step = scene.poll();
    let (id, ..) = scene.request(&step);
    assert_eq!(scene.balance(&id, 100).send.len(), 0, "not again");
}

#[test]
fn missed_payments_of_an_earlier_session_are_not_requested_again() {
    for expected in [[true, false], [true, true], [false, true]] {
        let mut scene = Scene::new();
        for requested in expected {
            scene.session.set_missed_requested(requested);
        }
        assert!(scene.session.missed_requested(), "{expected:?}");
        let step = scene.info("nip44_v2");
        let (id, ..) = scene.request(&step);
        assert_eq!(scene.balance(&id, 100).send.len(), 0, "{expected:?}");
    }
    let mut scene = Scene::new();
    scene.session.set_missed_requested(false);
    assert!(!scene.session.missed_requested());
}

#[test]
fn without_a_clock_nothing_was_missed() {
    let mut scene = Scene::new();
    scene.clock = false;
    let step = scene.info("nip44_v2");
    let (id, ..) = scene.request(&step);
    let step = scene.balance(&id, 100);
    assert_eq!(
        (step.send.len(), step.observations),
        (0, vec![balance(100)])
    );
}

#[test]
fn payments_are_reported_and_change_the_expected_balance() {
    let mut scene = Scene::settled(1_000_000);
    let step = scene.notify(23197, &received(21_000, "a"));
    assert_eq!(
        step.observations,
        [payment(Direction::Received, 21_000), balance(1_021_000)]
    );
    let (_, text, _) = scene.request(&step);
    assert_eq!(text["method"], "get_balance");
    let step = scene.notify(23197, &sent(1_000, 21, "b"));
    assert_eq!(
        step.observations,
        [payment(Direction::Sent, 1_000), balance(1_019_979)]
    );
    assert_eq!(step.send.len(), 1, "another balance supersedes the first");
    let step = scene.notify(23197, &sent(u64::MAX, 1, "c"));
    assert_eq!(step.observations[1], balance(0), "never below zero");
}

#[test]
fn payments_before_the_first_balance() {
    let mut scene = Scene::new();
    let step = scene.notify(23197, &received(5, "a"));
    assert_eq!(step.observations, [payment(Direction::Received, 5)]);
    assert_eq!(step.send.len(), 0, "the cipher is not known yet");
    let step = scene.notify(23196, &received(6, "b"));
    assert_eq!(step.observations, [payment(Direction::Received, 6)]);
}

#[test]
fn the_twin_in_the_older_cipher_is_dropped() {
    let mut scene = Scene::settled(100);
    assert_eq!(scene.notify(23196, &received(5, "a")), Reaction::default());
    let mut older = Scene::new();
    older.info("nip04");
    let step = older.notify(23196, &sent(5_000, 2, "a"));
    assert_eq!(step.observations, [payment(Direction::Sent, 5_000)]);
}

#[test]
fn a_payment_is_reported_once() {
    let mut scene = Scene::settled(100);
    assert_eq!(scene.notify(23197, &received(5, "a")).observations.len(), 2);
    scene.wait(119);
    assert_eq!(scene.notify(23197, &received(5, "a")), Reaction::default());
    scene.wait(1);
    assert_eq!(
        scene.notify(23197, &received(5, "a")).observations.len(),
        2,
        "after the window"
    );
    for _ in 0..2 {
        assert_eq!(
            scene.notify(23197, &received(5, "")).observations.len(),
            2,
            "without a hash, nothing is known of it"
        );
    }
    for hash in ["b", "c", "d", "e", "f", "g", "h", "i"] {
        scene.notify(23197, &received(5, hash));
    }
    assert_eq!(
        scene.notify(23197, &received(5, "a")).observations.len(),
        2,
        "the last eight payments are remembered"
    );
}

#[test]
fn a_payment_to_oneself_is_sent_and_received() {
    let mut scene = Scene::settled(100_000);
    let out = scene.notify(23197, &sent(5_000, 0, "a"));
    assert_eq!(out.observations[0], payment(Direction::Sent, 5_000));
    let back = scene.notify(23197, &received(5_000, "a"));
    assert_eq!(back.observations[0], payment(Direction::Received, 5_000));
    assert_eq!(
        scene.notify(23197, &received(5_000, "a")),
        Reaction::default(),
        "each direction is reported once"
    );
}

#[test]
fn a_notification_is_accepted_for_a_quarter_of_an_hour() {
    for (age, expected) in [(899, 2), (900, 2), (901, 0)] {
        let mut scene = Scene::settled(100);
        let content = scene
            .channel
            .encrypt(Cipher::Nip44, &received(5, "c").to_string(), &[8; 32])
            .unwrap();
        let event = scene.wallet_event(23197, &[&["p", AUTHOR]], content);
        scene.wait(age);
        assert_eq!(
            scene.receive(event).observations.len(),
            expected,
            "after {age} s"
        );
    }
}

#[test]
fn other_notifications_only_refetch() {
    let mut scene = Scene::settled(100);
    let hold_invoice = json!({"notification_type": "hold_invoice_accepted", "notification": {"payment_hash": "a", "amount": 9}});
    let step = scene.notify(23197, &hold_invoice);
    assert_eq!((step.observations.len(), step.send.len()), (0, 1));
    assert_eq!(
        scene.notify(23197, &received(9, "a")).observations.len(),
        2,
        "the payment itself is reported"
    );
}

#[test]
fn a_request_for_payments_is_not_dropped_for_a_balance() {
    let mut scene = Scene::new();
    let step = scene.info("nip44_v2");
    let (id, ..) = scene.request(&step);
    scene.balance(&id, 100);
    assert!(scene.session.is_waiting());
    let step = scene.notify(23197, &received(5, "a"));
    assert_eq!((step.observations.len(), step.send.len()), (2, 0));
}

#[test]
fn foreign_and_invalid_events_are_ignored() {
    let mut scene = Scene::settled(100);
    let complaint = |step: Reaction| {
        assert_eq!((step.send.len(), step.observations.len()), (0, 0));
        step.complaint.unwrap()
    };
    let other_wallet = Signer::new(&Secret::new("03".repeat(32))).unwrap();
    let event = other_wallet.sign(5, 23197, &[], "x".into(), &[0; 32]);
    assert_eq!(complaint(scene.receive(event)), Malformed("author").into());
    let mut event = scene.wallet_event(23197, &[], "x".into());
    event.content.push('y');
    assert_eq!(complaint(scene.receive(event)), Malformed("id").into());
    let event = scene.wallet_event(1, &[], "x".into());
    assert_eq!(complaint(scene.receive(event)), Malformed("kind").into());
    for content in ["", "x", "#x", &"A".repeat(200)] {
        let event = scene.wallet_event(23197, &[], content.into());
        assert!(
            matches!(complaint(scene.receive(event)), Complaint::Malformed(_)),
            "{content}"
        );
    }
    let step = scene.notify(23197, &json!({}));
    assert_eq!(complaint(step), Malformed("type").into());
}

#[test]
fn messages_of_the_relay() {
    let mut scene = Scene::settled(100);
    for (text, refused) in [
        (
            r#"["CLOSED","nwcr-c6047f94","auth-required: who"]"#,
            Some("auth-required: who"),
        ),
        (r#"["OK","00",false,"blocked: you"]"#, Some("blocked: you")),
        (r#"["OK","00",true,""]"#, None),
        (r#"["EOSE","nwcr-c6047f94"]"#, None),
        (r#"["NOTICE","hello"]"#, None),
        (r#"["AUTH","x"]"#, None),
    ] {
        let (now, noise) = (scene.now(), scene.noise());
        let step = scene
            .session
            .receive(message(text.as_bytes()).unwrap(), now, &noise);
        assert_eq!(
            step.complaint,
            refused.map(|words| Complaint::Relay(words.into())),
            "{text}"
        );
    }
}

#[test]
fn a_new_connection_requests_the_balance_again() {
    let mut scene = Scene::settled(100);
    scene.wait(60);
    scene.poll();
    assert!(scene.session.is_waiting());
    assert_eq!(scene.session.connected(scene.now()).send.len(), 2);
    assert!(!scene.session.is_waiting());
    assert_eq!(scene.poll().send.len(), 1, "the cipher is still known");
    scene.session.closed();
    assert_eq!(
        (scene.session.state(), scene.session.is_waiting()),
        (WalletSessionState::Bootstrapping, false)
    );
    assert_eq!(scene.session.next_poll(), None);
}

#[test]
fn invalid_keys_are_refused() {
    let pairing = |wallet: &str, secret: &str| {
        let uri = format!("nostr+walletconnect://{wallet}?relay=ws://r&secret={secret}");
        WalletSession::new(&PairingUri::parse(&uri).unwrap(), Duration::from_secs(60)).map(|_| ())
    };
    assert_eq!(pairing(WALLET, SECRET), Ok(()));
    assert_eq!(pairing(WALLET, &"0".repeat(64)), Err(Malformed("secret")));
    assert_eq!(
        pairing(&"f".repeat(64), SECRET),
        Err(Malformed("wallet-key"))
    );
}

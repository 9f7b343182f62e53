//! The content of the wallet's messages, as tables.

use feeds::{
    malformed::Malformed,
    nostr::wallet::{
        cipher::Cipher,
        message::{self, Info, Transaction, WalletError, WalletMethod},
    },
};
use market::{Direction, units::Msats};

use super::super::verified;

#[test]
fn requests() {
    assert_eq!(
        message::get_balance(),
        r#"{"method":"get_balance","params":{}}"#
    );
    assert_eq!(
        message::list_transactions(1_747_000_000),
        r#"{"method":"list_transactions","params":{"from":1747000000,"limit":20,"unpaid":false}}"#
    );
}

#[test]
fn balances() {
    let read = |text: &str| {
        let result = message::reply(WalletMethod::GetBalance, text)?.unwrap();
        message::balance(&result)
    };
    #[rustfmt::skip]
    let rows = [
        (r#"{"result_type":"get_balance","result":{"balance":10000}}"#, Ok(10_000)),
        (r#"{"result_type":"get_balance","result":{"balance":2100000000000000}}"#, Ok(2_100_000_000_000_000)),
        (r#"{"result_type":"get_balance","result":{"balance":"123456789012345"}}"#, Ok(123_456_789_012_345)),
        (r#"{"result_type":"get_balance","error":null,"result":{"balance":0}}"#, Ok(0)),
        (r#"{"result_type":"get_balance","error":{},"result":{"balance":1}}"#, Ok(1)),
        (r#"{"result_type":"get_balance","result":{"balance":-1}}"#, Err("balance")),
        (r#"{"result_type":"get_balance","result":{"balance":1.5}}"#, Err("balance")),
        (r#"{"result_type":"get_balance","result":{"balance":""}}"#, Err("balance")),
        (r#"{"result_type":"get_balance","result":{"balance":"1e3"}}"#, Err("balance")),
        (r#"{"result_type":"get_balance","result":{"balance":"+1"}}"#, Err("balance")),
        (r#"{"result_type":"get_balance","result":{}}"#, Err("balance")),
        (r#"{"result_type":"get_balance","result":[]}"#, Err("balance")),
        (r#"{"result_type":"pay_invoice","result":{"balance":1}}"#, Err("method")),
        (r#"{"result_type":"get_balance","result":5}"#, Err("result")),
        (r#"{"result_type":"get_balance","result":null}"#, Err("result")),
        (r#"{"result_type":"get_balance"}"#, Err("result")),
        (r#"{"result_type":5}"#, Err("type")),
        ("{}", Err("type")),
        ("[]", Err("not-a-map")),
        ("not json", Err("json")),
        ("", Err("json")),
    ];
    for (text, balance) in rows {
        assert_eq!(read(text), balance.map(Msats).map_err(Malformed), "{text}");
    }
}

#[test]
fn refusals() {
    let text = r#"{"result_type":"get_balance","error":{"code":"UNAUTHORIZED","message":"no\nperms"},"result":null}"#;
    let error = message::reply(WalletMethod::GetBalance, text)
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error,
        WalletError {
            code: "UNAUTHORIZED".into(),
            message: "noperms".into(),
        }
    );
    assert_eq!(
        error.to_string(),
        "the wallet refused: UNAUTHORIZED noperms"
    );
}

#[test]
fn infos() {
    let read = |content: &str, tags: &[&[&str]]| Info::read(&verified(5, 13194, tags, content));
    let methods = "pay_invoice get_balance notifications";
    let sent: &[&str] = &["notifications", "payment_received payment_sent"];
    #[rustfmt::skip]
    let rows = [
        (&[&["encryption", "nip44_v2 nip04"][..], sent][..], Cipher::Nip44, 2),
        (&[&["encryption", "nip44_v2", "nip04"], sent], Cipher::Nip44, 2),
        (&[&["encryption", "nip04"], sent], Cipher::Nip04, 2),
        (&[&["encryption"], &["notifications", "payment_received", "payment_sent"]], Cipher::Nip04, 2),
        (&[], Cipher::Nip04, 0),
    ];
    for (tags, cipher, notifications) in rows {
        let info = read(methods, tags).unwrap();
        assert_eq!(
            info.methods,
            ["pay_invoice", "get_balance", "notifications"]
        );
        assert_eq!(
            (info.cipher, info.notifications.len()),
            (cipher, notifications),
            "{tags:?}"
        );
    }
    assert_eq!(read("", &[sent]), Err(Malformed("methods")));
    assert_eq!(read("  ", &[]), Err(Malformed("methods")));
}

#[test]
fn notifications() {
    let received = r#"{"notification_type":"payment_received","notification":{"type":"incoming","amount":21000,"fees_paid":0,
        "description":"test zap","payment_hash":"deadbeef","created_at":1747000000,"settled_at":1747000005}}"#;
    let sent = r#"{"notification_type":"payment_sent","notification":{"amount":"5000","fees_paid":1,"payment_hash":"abc",
        "invoice":null,"preimage":null,"settled_at":null}}"#;
    let hold_invoice =
        r#"{"notification_type":"hold_invoice_accepted","notification":{"payment_hash":"feed"}}"#;
    let bare = r#"{"notification_type":"payment_received","notification":{}}"#;
    #[rustfmt::skip]
    let rows = [
        (received, Some(Direction::Received), Some(21_000), 0, "deadbeef", Some(1_747_000_005)),
        (sent, Some(Direction::Sent), Some(5_000), 1, "abc", None),
        (hold_invoice, None, None, 0, "feed", None),
        (bare, Some(Direction::Received), None, 0, "", None),
    ];
    for (text, direction, amount, fees, hash, settled_at) in rows {
        let read = Transaction {
            direction,
            amount: amount.map(Msats),
            fees: Msats(fees),
            hash: hash.into(),
            settled_at,
        };
        assert_eq!(message::notification(text), Ok(read), "{text}");
    }
    for (text, reason) in [
        ("not-json", "json"),
        ("5", "not-a-map"),
        ("{}", "type"),
        (r#"{"notification_type":"payment_sent"}"#, "notification"),
    ] {
        assert_eq!(
            message::notification(text),
            Err(Malformed(reason)),
            "{text}"
        );
    }
}

#[test]
fn transactions() {
    let result = serde_json::json!({"transactions": [
        {"type": "outgoing", "amount": 3, "settled_at": 30},
        {"type": "incoming", "amount": 1, "settled_at": 10, "payment_hash": "aa"},
        {"type": "incoming", "amount": 2, "settled_at": 20},
        {"amount": 4, "settled_at": 40},
        7,
    ]});
    let read = message::transactions(&result);
    let amounts: Vec<_> = read
        .iter()
        .map(|payment| payment.amount.map(|Msats(amount)| amount))
        .collect();
    assert_eq!(amounts, [None, Some(1), Some(2), Some(3), Some(4)]);
    let directions: Vec<_> = read.iter().map(|payment| payment.direction).collect();
    let (incoming, outgoing) = (Some(Direction::Received), Some(Direction::Sent));
    assert_eq!(directions, [None, incoming, incoming, outgoing, None]);
    for nothing in [
        serde_json::json!({}),
        serde_json::json!({"transactions": 5}),
        serde_json::json!([]),
    ] {
        assert_eq!(message::transactions(&nothing), []);
    }
    let many = serde_json::json!({"transactions": vec![serde_json::json!({"amount": 1}); 500]});
    assert_eq!(
        message::transactions(&many).len(),
        message::TRANSACTIONS_MAX
    );
}

//! Requests, responses and logos of every pool, as tables.

use device::{
    secret::Secret,
    settings::pools::{self as core, UserField},
};
use feeds::{
    malformed::Malformed,
    pools::{self, MissingField, PoolAccount},
};
use market::{
    PoolStats,
    now::UtcTime,
    units::{Hashrate, Sats},
};

use crate::support::answer_of;

const NOW: UtcTime = UtcTime {
    unix_ms: 1_800_000_000_000,
};

fn account(user: &Secret) -> PoolAccount<'_> {
    PoolAccount {
        user,
        worker: "sub1",
        global: false,
        local_host: "umbrel.local:2019",
        now: Some(NOW),
    }
}

fn stats(
    hashrate: u128,
    daily: Option<u64>,
    workers: Option<u32>,
) -> Result<PoolStats, &'static str> {
    Ok(PoolStats {
        hashrate: Some(Hashrate(hashrate)),
        daily: daily.map(Sats),
        workers,
        refusal: None,
    })
}

/// An answer without figures.
fn unknown() -> Result<PoolStats, &'static str> {
    Ok(PoolStats::default())
}

fn refused(words: &str) -> Result<PoolStats, &'static str> {
    Ok(PoolStats::refused(words.into()))
}

#[test]
fn both_tables_agree() {
    let ids: Vec<_> = pools::POOLS.iter().map(|pool| pool.id).collect();
    assert_eq!(ids, core::ids());
    for pool in core::POOLS {
        let row = pools::find(pool.id).unwrap();
        let user = Secret::new("k3y");
        let request = row.request(account(&user)).unwrap();
        let header = request
            .headers
            .iter()
            .find(|(_, value)| value.expose().contains("k3y"));
        let sent_as = match header.map(|(name, _)| *name) {
            Some("X-API-KEY") => UserField::ApiKey,
            Some(_) => UserField::Token,
            None => UserField::Name,
        };
        assert_eq!(sent_as, pool.user, "{}", pool.id);
        let no_user = Secret::default();
        let global = row.request(PoolAccount {
            global: true,
            ..account(&no_user)
        });
        assert_eq!(global.is_ok(), pool.global, "{}", pool.id);
        let sample = row.body(&answer_of(pool.id)).unwrap();
        assert_eq!(sample.daily.is_some(), pool.earnings, "{}", pool.id);
    }
    assert_eq!(pools::find("OCEAN").map(|pool| pool.id), Some("ocean"));
    assert!(pools::find("kano").is_none());
}

#[test]
fn requests() {
    #[rustfmt::skip]
    let rows = [
        ("ocean", "https://api.ocean.xyz/v1/statsnap/me.1", None),
        ("noderunners", "https://pool.noderunners.network/api/v1/users/me.1", None),
        ("satoshi_radio", "https://pool.satoshiradio.nl/api/v1/users/me.1", None),
        ("braiins", "https://pool.braiins.com/accounts/profile/json/btc/", Some("Pool-Auth-Token")),
        ("public_pool", "https://public-pool.io:40557/api/client/me.1", None),
        ("local_public_pool", "http://umbrel.local:2019/api/client/me.1", None),
        ("gobrrr_pool", "https://pool.gobrrr.me/api/client/me.1", None),
        ("ckpool", "https://solo.ckpool.org/users/me.1", None),
        ("eu_ckpool", "https://eusolo.ckpool.org/users/me.1", None),
        ("nerdminers_org", "https://pool.nerdminers.org/users/me.1", None),
        ("nerdminer_io", "https://pool.nerdminer.io/users/me.1", None),
        ("foundry_usa", "https://api.foundryusapool.com/v2/earnings/sub1?coin=BTC&startDateUnixMs=1799827200000", Some("X-API-KEY")),
        ("viabtc", "https://www.viabtc.com/res/openapi/v1/hashrate?coin=BTC", Some("X-API-KEY")),
    ];
    for (id, url, header) in rows {
        let user = Secret::new("me.1");
        let request = pools::find(id).unwrap().request(account(&user)).unwrap();
        assert_eq!(request.url, url);
        let headers: Vec<_> = header.map(|name| (name, user)).into_iter().collect();
        assert_eq!(request.headers, headers, "{id}");
    }
}

#[test]
fn pasted_settings_may_have_a_scheme_or_blanks() {
    let key = Secret::new(" me.1\n");
    let request = pools::find("braiins").unwrap().request(account(&key));
    assert_eq!(
        request.unwrap().headers,
        [("Pool-Auth-Token", Secret::new("me.1"))]
    );

    let user = Secret::new("me.1");
    for local_host in ["http://umbrel.local:2019/", " umbrel.local:2019/ "] {
        let request = pools::find("local_public_pool")
            .unwrap()
            .request(PoolAccount {
                local_host,
                ..account(&user)
            });
        let url = "http://umbrel.local:2019/api/client/me.1";
        assert_eq!(request.unwrap().url, url, "{local_host}");
    }
}

#[test]
fn global_requests() {
    let no_user = Secret::default();
    for (id, url) in [
        (
            "noderunners",
            "https://pool.noderunners.network/api/v1/pool",
        ),
        ("satoshi_radio", "https://pool.satoshiradio.nl/api/v1/pool"),
    ] {
        let request = pools::find(id).unwrap().request(PoolAccount {
            global: true,
            ..account(&no_user)
        });
        assert_eq!(request.unwrap().url, url);
    }
}

#[test]
fn missing_parts() {
    let no_user = Secret::default();
    let some_user = Secret::new("me");
    let two_lines = Secret::new("me\r\nX-Other: 1");
    #[rustfmt::skip]
    let rows = [
        ("ocean", account(&no_user), MissingField::User),
        ("noderunners", account(&no_user), MissingField::User),
        ("braiins", account(&no_user), MissingField::User),
        ("viabtc", account(&two_lines), MissingField::Key),
        ("foundry_usa", PoolAccount { worker: "",..account(&some_user) }, MissingField::Worker),
        ("foundry_usa", PoolAccount { now: None,..account(&some_user) }, MissingField::Time),
        ("local_public_pool", PoolAccount { local_host: "",..account(&some_user) }, MissingField::Host),
    ];
    for (id, account, missing) in rows {
        assert_eq!(
            pools::find(id).unwrap().request(account),
            Err(missing),
            "{id}"
        );
    }
}

#[test]
fn settings_cannot_end_the_path() {
    for (typed, segment) in [
        ("a b", "a%20b"),
        ("a?b#c", "a%3Fb%23c"),
        ("a\r\nHost: x", "a%0D%0AHost:%20x"),
        ("café", "caf%C3%A9"),
        (" bc1q.rig-1 ", "bc1q.rig-1"),
    ] {
        let user = Secret::new(typed);
        let request = pools::find("ckpool")
            .unwrap()
            .request(account(&user))
            .unwrap();
        assert_eq!(
            request.url,
            format!("https://solo.ckpool.org/users/{segment}")
        );
    }
}

#[test]
fn every_unit_is_a_thousand_times_the_one_below_it() {
    let units = ["Kh/s", "Mh/s", "Gh/s", "Th/s", "Ph/s", "Eh/s", "Zh/s"];
    for (unit, thousands) in units.into_iter().zip(1..) {
        let body = format!(r#"{{"btc":{{"hash_rate_5m":2,"hash_rate_unit":"{unit}"}}}}"#);
        let expected = stats(2 * 1000_u128.pow(thousands), None, None);
        let read = pools::find("braiins").unwrap().body(body.as_bytes());
        assert_eq!(read, expected.map_err(Malformed), "{unit}");
    }
}

#[test]
fn answers() {
    #[rustfmt::skip]
    let rows = [
        ("ckpool", r#"{"hashrate1m":"1.2T"}"#, stats(1_200_000_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"45.7E"}"#, stats(45_700_000_000_000_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"123.45P"}"#, stats(123_450_000_000_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"1.23456K"}"#, stats(1235, None, None)),
        ("ckpool", r#"{"hashrate1m":"2.5Z"}"#, stats(2_500_000_000_000_000_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"1.5G"}"#, stats(1_500_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"750M"}"#, stats(750_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"0"}"#, stats(0, None, None)),
        ("ckpool", r#"{"hashrate1m":"0T"}"#, stats(0, None, None)),
        ("ckpool", r#"{"hashrate1m":"1e+03T"}"#, stats(1_000_000_000_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"1.23e+03E"}"#, stats(1_230_000_000_000_000_000_000, None, None)),
        ("ckpool", r#"{"hashrate1m":"1e+03"}"#, stats(1000, None, None)),
        ("ckpool", r#"{"hashrate1m":"4.5e-01K"}"#, stats(450, None, None)),
        ("ckpool", r#"{"hashrate1m":"9e-05K"}"#, stats(0, None, None)),
        ("ckpool", r#"{"hashrate1m":"1e+99T"}"#, Err("hashrate")),
        ("ckpool", r#"{"hashrate1m":"1eT"}"#, Err("hashrate")),
        ("ckpool", r#"{"error":"User not found"}"#, refused("User not found")),
        ("ckpool", r#"{"hashrate1m":""}"#, unknown()),
        ("ckpool", r#"{"hashrate1m":"1.2t"}"#, Err("hashrate")),
        ("ckpool", r#"{"hashrate1m":"998"}"#, stats(998, None, None)),
        ("ckpool", r#"{"hashrate1m":"-5T"}"#, Err("hashrate")),
        ("ckpool", r#"{"hashrate1m":5}"#, stats(5, None, None)),
        ("ckpool", r#"{}"#, unknown()),
        ("ckpool", "oops", Err("json")),
        (
            "public_pool",
            r#"{"workers":[{"hashRate":500e9},{"hashRate":300e9},{"hashRate":200e9}]}"#,
            stats(1_000_000_000_000, None, Some(3)),
        ),
        ("gobrrr_pool", r#"{"workers":[{"hashRate":123456789.4},{"hashRate":987654321.6}]}"#, stats(1_111_111_111, None, Some(2))),
        ("public_pool", r#"{"workers":[]}"#, stats(0, None, Some(0))),
        ("public_pool", r#"{"workers":[{"hashRate":0},{"hashRate":null}]}"#, stats(0, None, Some(2))),
        ("public_pool", r#"{}"#, unknown()),
        ("public_pool", "{", Err("json")),
        (
            "ocean",
            r#"{"result":{"hashrate_300s":"123456000000000","estimated_earn_next_block":0.0000025}}"#,
            stats(123_456_000_000_000, Some(250), None),
        ),
        ("ocean", r#"{"result":{"hashrate_300s":98765432100,"estimated_earn_next_block":0.0}}"#, stats(98_765_432_100, Some(0), None)),
        ("ocean", r#"{"result":{"hashrate_300s":"0","estimated_earn_next_block":"0.00000000"}}"#, stats(0, Some(0), None)),
        ("ocean", r#"{"result":{"hashrate_300s":1,"estimated_earn_next_block":"2.5E-7"}}"#, stats(1, Some(25), None)),
        ("ocean", r#"{"error":"No such user"}"#, refused("No such user")),
        ("ocean", r#"{"error":"","result":null}"#, unknown()),
        ("ocean", r#"{"result":{"hashrate_300s":""}}"#, unknown()),
        ("ocean", r#"{"result":{}}"#, unknown()),
        ("ocean", r#"{"result":{"hashrate_300s":"1e14"}}"#, stats(100_000_000_000_000, None, None)),
        (
            "braiins",
            r#"{"btc":{"hash_rate_5m":250.5,"hash_rate_unit":"Th/s","today_reward":0.00123456}}"#,
            stats(250_500_000_000_000, Some(123_456), None),
        ),
        (
            "braiins",
            r#"{"btc":{"hash_rate_5m":12.3,"hash_rate_unit":"Ph/s","today_reward":"0.0"}}"#,
            stats(12_300_000_000_000_000, Some(0), None),
        ),
        ("braiins", r#"{"btc":{"hash_rate_5m":5.0,"hash_rate_unit":"Gh/s"}}"#, stats(5_000_000_000, None, None)),
        ("braiins", r#"{"btc":{"hash_rate_5m":0.4,"hash_rate_unit":"Th/s"}}"#, stats(400_000_000_000, None, None)),
        ("braiins", r#"{"btc":{"hash_rate_5m":0,"hash_rate_unit":"h/s"}}"#, stats(0, None, None)),
        ("braiins", r#"{"btc":null}"#, unknown()),
        ("braiins", r#"{"btc":{"hash_rate_5m":5.0,"hash_rate_unit":"Xh/s"}}"#, Err("unit")),
        ("braiins", r#"{"btc":{"hash_rate_unit":"Th/s"}}"#, unknown()),
        ("braiins", r#"{"btc":{"hash_rate_5m":1e30,"hash_rate_unit":"Zh/s"}}"#, Err("hashrate")),
        (
            "foundry_usa",
            r#"[{"totalAmount":1,"hashrate":1},{"totalAmount":0.00056789,"hashrate":12345678901234}]"#,
            stats(12_345_678_901_234, Some(56_789), None),
        ),
        ("foundry_usa", r#"[{"hashrate":7}]"#, stats(7, None, None)),
        ("foundry_usa", r#"[{"totalAmount":0,"hashrate":0}]"#, stats(0, Some(0), None)),
        ("foundry_usa", r#"[{"totalAmount":1.0,"value":3}]"#, stats(3, Some(100_000_000), None)),
        ("foundry_usa", "[]", stats(0, Some(0), None)),
        ("foundry_usa", "{}", unknown()),
        ("foundry_usa", "5", unknown()),
        ("foundry_usa", r#"{"data":[{"totalAmount":0.00000123,"hashrate":42}]}"#, stats(42, Some(123), None)),
        ("foundry_usa", r#"{"result":[{"shareHashrate":"98765432"}]}"#, stats(98_765_432, None, None)),
        ("foundry_usa", r#"[{"hashrate":null}]"#, unknown()),
        ("foundry_usa", "[{", Err("json")),
        ("viabtc", r#"{"code":0,"data":{"hashrate_1hour":"55000000000000","active_workers":4}}"#, stats(55_000_000_000_000, None, Some(4))),
        ("viabtc", r#"{"code":0,"data":{"hashrate_1hour":12.6}}"#, stats(13, None, None)),
        ("viabtc", r#"{"code":7,"message":"Invalid API key","data":{"hashrate_1hour":1}}"#, refused("Invalid API key")),
        ("viabtc", r#"{"code":0,"data":null}"#, unknown()),
        ("viabtc", r#"{"code":0,"data":{"hashrate_1hour":"0","active_workers":0}}"#, stats(0, None, Some(0))),
    ];
    for (id, body, expected) in rows {
        let row = pools::find(id).unwrap();
        assert_eq!(
            row.body(body.as_bytes()),
            expected.map_err(Malformed),
            "{id} {body}"
        );
    }
    let long = vec![b' '; pools::BODY_MAX + 1];
    assert_eq!(pools::POOLS[0].body(&long), Err(Malformed("too-long")));
}

#[test]
fn a_refused_user_is_an_answer() {
    let user = Secret::new("me");
    // The status, and the pools that refuse the user of their own figures by it.
    let keys = &["braiins", "foundry_usa", "viabtc"][..];
    let all = &core::ids()[..];
    for (status, refusing) in [
        (200, &[][..]),
        (401, keys),
        (403, keys),
        (404, all),
        (429, &[]),
        (503, &[]),
    ] {
        let refuses = pools::POOLS
            .iter()
            .filter(|pool| pool.refuses(account(&user), status));
        let refuses: Vec<_> = refuses.map(|pool| pool.id).collect();
        assert_eq!(refuses, refusing, "{status}");
    }
    let global = PoolAccount {
        global: true,
        ..account(&user)
    };
    for (id, refuses) in [("noderunners", false), ("ckpool", true)] {
        assert_eq!(
            pools::find(id).unwrap().refuses(global, 404),
            refuses,
            "{id}"
        );
    }
}

#[test]
fn logos() {
    for (id, file, width, height, bytes) in [
        ("braiins", "braiins.bin", 37, 230, 1150),
        ("gobrrr_pool", "gobrrr.bin", 122, 122, 1952),
        ("noderunners", "noderunners.bin", 122, 122, 1952),
        ("ocean", "ocean.bin", 122, 122, 1952),
    ] {
        let logo = pools::find(id).unwrap().logo.unwrap();
        assert_eq!(
            (logo.file, logo.width, logo.height, logo.bytes()),
            (file, width, height, bytes)
        );
        assert_eq!(
            logo.url("https://x.example/logos//"),
            Some(format!("https://x.example/logos/{file}"))
        );
        assert_eq!(logo.url(""), None);
        let read = logo.read(id, &vec![0xA5; bytes]).unwrap();
        assert_eq!(
            (read.name.as_str(), read.width, read.rows.len()),
            (id, width, bytes)
        );
        for size in [0, bytes - 1, bytes + 1] {
            assert_eq!(logo.read(id, &vec![0; size]), Err(Malformed("size")));
        }
    }
    let with_logo = pools::POOLS
        .iter()
        .filter(|pool| pool.logo.is_some())
        .count();
    assert_eq!(with_logo, 4);
}

//! States of the sources: connections, errors, and counts of dropped messages.

use std::time::Duration;

use device::{
    Device,
    input::Input,
    memory::Memory,
    request::{Patch, Request},
    rotation,
    settings::{
        Settings,
        emit::{self, BuildIdentity},
    },
    sources::{RelayConfig, SourceConfig},
    view::SourceState,
};
use market::{Connection, Datum, Observation, Seen, source_id::SourceId, units::Currency};
use serde_json::{Value, json};

use crate::{
    script::Step,
    world::{BOARD, World},
};

impl World {
    fn observe(&mut self, source: SourceId, observation: Observation) {
        let input = Input::Observed(source, vec![observation]);
        self.device.handle(input, self.now);
    }

    fn request(&mut self, request: Request) {
        self.device.handle(Input::Request(request), self.now);
    }

    fn patch(&mut self, members: Value) {
        let Value::Object(body) = members else {
            unreachable!("a patch is an object")
        };
        self.request(Request::Patch(Patch {
            body,
            ..Patch::default()
        }));
    }

    fn source(&self, id: SourceId) -> Option<SourceState> {
        self.device.view().sources.get(&id).cloned()
    }

    fn is_up(&self, id: SourceId) -> Option<bool> {
        self.source(id).map(|state| state.up)
    }
}

#[test]
fn a_source_that_does_not_run_is_not_up() {
    let mut world = World::new(BOARD);
    assert_eq!(world.is_up(SourceId::Relay), Some(true));
    assert_eq!(world.is_up(SourceId::Zaps), None, "the source is disabled");

    let key = "b5127a08cf33616274800a4387881a9f98e04b9c37116e92de5250498635c422";
    world.patch(json!({"nostrZapNotify": true, "nostrZapPubkey": key}));
    let up = || Observation::Connection(Connection::Up);
    world.observe(SourceId::Zaps, up());
    assert_eq!(world.is_up(SourceId::Zaps), Some(true));
    world.patch(json!({"nostrZapNotify": false}));
    assert_eq!(world.is_up(SourceId::Zaps), None);

    world.request(Request::StopSources);
    assert_eq!(world.is_up(SourceId::Relay), Some(false));
    // A message that was queued when the source was stopped does not mark it as connected.
    world.observe(SourceId::Relay, up());
    assert_eq!(world.is_up(SourceId::Relay), Some(false));
    world.request(Request::RestartSources);
    world.observe(SourceId::Relay, up());
    assert_eq!(world.is_up(SourceId::Relay), Some(true));
}

#[test]
fn a_stopped_source_has_no_next_attempt() {
    let mut world = World::new(BOARD);
    let next_try = |world: &World| world.source(SourceId::Relay).unwrap().next_try;
    let down = || {
        Observation::Connection(Connection::Down {
            reason: "refused".into(),
            retry_in: Duration::from_secs(60),
        })
    };
    world.observe(SourceId::Relay, down());
    let at = world.now.uptime + Duration::from_secs(60);
    assert_eq!(next_try(&world), Some(at));
    world.request(Request::StopSources);
    assert_eq!(next_try(&world), None);
    // A message that was queued when the source was stopped.
    world.observe(SourceId::Relay, down());
    assert_eq!(next_try(&world), None);
    let error = world.source(SourceId::Relay).unwrap().last_error;
    assert_eq!(error.as_deref(), Some("refused"), "the last error stays");
}

#[test]
fn an_error_of_a_source_is_reported_until_the_next_connection() {
    let mut world = World::new(BOARD);
    let reported = |world: &World| {
        let state = world.source(SourceId::Relay).unwrap();
        (state.up, state.last_error)
    };
    let complaint = || "a frame that is no map".to_owned();
    world.observe(SourceId::Relay, Observation::Complaint(complaint()));
    assert_eq!(reported(&world), (true, Some(complaint())));
    world.observe(SourceId::Relay, Observation::Block(900_000));
    assert_eq!(reported(&world), (true, Some(complaint())));
    // A new connection clears the error.
    let up = Observation::Connection(Connection::Up);
    world.observe(SourceId::Relay, up);
    assert_eq!(reported(&world), (true, None));
}

#[test]
fn dropped_messages_are_counted_by_reason() {
    let mut world = World::new(BOARD);
    for (reason, count) in [("height", 1), ("not-a-map", 40), ("height", 2)] {
        world.observe(SourceId::Relay, Observation::Dropped(reason, count));
    }
    for height in [900_000, 0, 899_999, 950_000] {
        world.observe(SourceId::Relay, Observation::Block(height));
    }
    let state = world.source(SourceId::Relay).unwrap();
    let dropped: Vec<_> = state.dropped.into_iter().collect();
    assert_eq!(
        dropped,
        [
            ("height", 3),
            ("height-ahead", 1),
            ("lower-height", 2),
            ("not-a-map", 40)
        ]
    );
    assert!(state.up, "a dropped message does not end the connection");
}

fn codes(list: &str) -> Vec<Currency> {
    list.split(',').filter_map(Currency::parse).collect()
}

/// The currencies of the rotation.
fn rotating(world: &World) -> Vec<Currency> {
    let entries = rotation::sequence(&world.device.view().settings.active);
    let tickers = entries.iter().filter(|entry| entry.slot.screen == 20);
    tickers.filter_map(|entry| entry.slot.currency).collect()
}

/// The chosen currencies in the response of GET.
fn reported(world: &World) -> Value {
    let document = emit::document(&world.device.view(), &BuildIdentity::default());
    document["actCurrencies"].clone()
}

#[test]
fn a_currency_that_the_relay_lacks_is_skipped_but_stays_chosen() {
    let mut world = World::new(BOARD);
    let offers = |list: &str| Observation::Currencies(codes(list));
    assert_eq!(rotating(&world), codes("USD,EUR,JPY"));

    world.observe(SourceId::Relay, offers("GBP,EUR"));
    assert_eq!(rotating(&world), codes("EUR"));
    assert_eq!(reported(&world), json!(["EUR"]));
    let stored = |world: &World| world.device.settings().act_currencies.clone();
    assert_eq!(stored(&world), codes("USD,EUR,JPY"));
    let requested = |world: &World| match &world.device.desired().sources[&SourceId::Relay].config {
        SourceConfig::Relay(RelayConfig { currencies, .. }) => currencies.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        requested(&world),
        codes("USD,EUR,JPY"),
        "the relay may offer it again"
    );

    // One client sends back the list of GET, another adds a currency.
    world.patch(json!({"actCurrencies": reported(&world)}));
    assert_eq!(stored(&world), codes("USD,EUR,JPY"));
    world.patch(json!({"actCurrencies": ["EUR", "GBP"]}));
    assert_eq!(rotating(&world), codes("EUR,GBP"));

    // If the relay offers no chosen currency, the rotation uses its first one.
    world.observe(SourceId::Relay, offers("SEK,NOK"));
    assert_eq!(rotating(&world), codes("SEK"));
    assert_eq!(reported(&world), json!([]));
    world.observe(SourceId::Relay, offers("SEK,USD"));
    assert_eq!(rotating(&world), codes("USD"));

    world.observe(SourceId::Relay, offers("USD,EUR,GBP,JPY"));
    assert_eq!(rotating(&world), codes("EUR,GBP,USD,JPY"));
    assert_eq!(reported(&world), json!(["EUR", "GBP", "USD", "JPY"]));
}

#[test]
fn a_shorter_list_is_remembered_only_for_a_relay() {
    for (data_source, left) in [(0, "USD"), (1, "USD,EUR,JPY"), (2, "USD,EUR,JPY")] {
        let mut world = World::new(BOARD);
        world.observe(SourceId::Relay, Observation::Currencies(codes("USD")));
        let key = "b5127a08cf33616274800a4387881a9f98e04b9c37116e92de5250498635c422";
        world.run(&Step::Set("nostrPubKey".into(), key.into()));
        world.run(&Step::Set("dataSource".into(), data_source.into()));
        world.run(&Step::Reboot);
        assert_eq!(rotating(&world), codes(left), "{data_source}");
    }
}

#[test]
fn an_impossible_height_is_removed_from_the_memory() {
    let now = World::new(BOARD).now;
    let height = |value| {
        let datum = Datum {
            value,
            source: SourceId::Relay,
            seen: Seen::Before(None),
        };
        let mut memory = Memory::default();
        memory.market.height = Some(datum);
        let device = Device::new(BOARD, Settings::default(), memory, now);
        device.memory().market.height.map(|known| known.value)
    };
    assert_eq!(height(u32::MAX), None);
    assert_eq!(height(975_000), Some(975_000));
}

//! What is known of the sources: which of them are up, and what of theirs was dropped.

use device::{
    input::Input,
    market::{Connection, Observation},
    request::{Patch, Request},
    sources::SourceId,
    view::SourceState,
};
use serde_json::{Value, json};

use crate::world::{BOARD, World};

impl World {
    fn observe(&mut self, source: SourceId, observation: Observation) {
        let input = Input::Observed(source, vec![observation]);
        self.device.handle(input, self.now);
    }

    fn ask(&mut self, request: Request) {
        self.device.handle(Input::Asked(request), self.now);
    }

    fn patch(&mut self, members: Value) {
        let Value::Object(body) = members else {
            unreachable!("a patch is an object")
        };
        self.ask(Request::Patch(Patch {
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
    assert_eq!(world.is_up(SourceId::Zaps), None, "it is not asked for");

    let key = "b5127a08cf33616274800a4387881a9f98e04b9c37116e92de5250498635c422";
    world.patch(json!({"nostrZapNotify": true, "nostrZapPubkey": key}));
    let up = || Observation::Connection(Connection::Up);
    world.observe(SourceId::Zaps, up());
    assert_eq!(world.is_up(SourceId::Zaps), Some(true));
    world.patch(json!({"nostrZapNotify": false}));
    assert_eq!(world.is_up(SourceId::Zaps), None);

    world.ask(Request::StopSources);
    assert_eq!(world.is_up(SourceId::Relay), Some(false));
    // What was on its way as the source was stopped does not bring it back.
    world.observe(SourceId::Relay, up());
    assert_eq!(world.is_up(SourceId::Relay), Some(false));
    world.ask(Request::RestartSources);
    world.observe(SourceId::Relay, up());
    assert_eq!(world.is_up(SourceId::Relay), Some(true));
}

#[test]
fn what_is_dropped_is_counted_by_reason() {
    let mut world = World::new(BOARD);
    for (reason, count) in [("height", 1), ("not-a-map", 40), ("height", 2)] {
        world.observe(SourceId::Relay, Observation::Dropped(reason, count));
    }
    for height in [900_000, 0, 899_999] {
        world.observe(SourceId::Relay, Observation::Block(height));
    }
    let state = world.source(SourceId::Relay).unwrap();
    let dropped: Vec<_> = state.dropped.into_iter().collect();
    assert_eq!(
        dropped,
        [("height", 3), ("lower-height", 2), ("not-a-map", 40)]
    );
    assert!(state.up, "dropping something ends no connection");
}

//! Plans against running sources.

use std::time::Duration;

use device::sources::SourcePlan;
use futures_util::StreamExt;
use market::{Connection, Observation, source_id::SourceId};
use sources::{
    demo::market::RelayQuotes,
    demo::{DemoRelay, MarketPace},
    supervisor::Plans,
};
use tokio_tungstenite::tungstenite::Message;

use crate::rig::{Rig, accept, precise_fee, price, relay_config};

#[tokio::test]
async fn the_built_in_relay_is_followed() {
    let relay = DemoRelay::start(RelayQuotes::at(900_000), MarketPace::Still)
        .await
        .unwrap();
    let mut rig = Rig::on_loopback(&[relay.upstream()]);
    rig.plan(SourceId::Relay, relay_config());
    let seen = rig.until(|seen| *seen == price("EUR", "93459.33")).await;
    assert_eq!(
        seen[..2],
        [
            Observation::Connection(Connection::Connecting),
            Observation::Connection(Connection::Up),
        ]
    );
    assert!(seen.contains(&Observation::Block(900_000)), "{seen:?}");
    assert!(seen.contains(&precise_fee("4.25")), "{seen:?}");
    assert!(seen.contains(&price("USD", "108421.50")), "{seen:?}");
    let catalogue = |seen: &Observation| matches!(seen, Observation::Currencies(_));
    if !seen.iter().any(catalogue) {
        rig.until(catalogue).await;
    }
    relay.change(|quotes| quotes.height += 1);
    rig.until(|seen| *seen == Observation::Block(900_001)).await;
    relay.stop().await;
    let (reason, _) = rig.down().await;
    assert!(
        [
            "the connection broke off",
            "the server closed the connection"
        ]
        .contains(&reason.as_str()),
        "{reason}"
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn only_a_changed_plan_restarts_a_source() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut first = accept(&mut arrivals).await;
    for _ in 0..4 {
        assert!(matches!(
            first.next().await.unwrap().unwrap(),
            Message::Binary(_)
        ));
    }
    rig.plan(SourceId::Relay, relay_config());
    assert_eq!(
        rig.next().await.1,
        [Observation::Connection(Connection::Connecting)]
    );
    assert!(
        rig.is_quiet(Duration::from_secs(10)).await,
        "the same plan changes nothing"
    );

    rig.plans.send_modify(|plans: &mut Plans| {
        plans
            .entry(SourceId::Relay)
            .and_modify(|plan: &mut SourcePlan| plan.restarts += 1);
    });
    let _second = accept(&mut arrivals).await;
    assert!(
        first.next().await.is_none_or(|end| end.is_err()),
        "the first connection has ended"
    );

    rig.plans.send_replace(Plans::new());
    rig.stop().await;
    assert!(arrivals.try_recv().is_err(), "nothing connects any more");
}

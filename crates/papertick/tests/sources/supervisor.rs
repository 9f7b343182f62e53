//! Plans against running sources.

use std::{sync::Arc, time::Duration};

use device::sources::{Plan, SourcePlan};
use futures_util::StreamExt;
use market::{Connection, Observation, source_id::SourceId};
use tokio_tungstenite::tungstenite::Message;

use crate::rig::{Rig, accept, relay_config};

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

    rig.plans.send_modify(|plans: &mut Arc<Plan>| {
        Arc::make_mut(plans)
            .entry(SourceId::Relay)
            .and_modify(|plan: &mut SourcePlan| plan.restarts += 1);
    });
    let _second = accept(&mut arrivals).await;
    assert!(
        first.next().await.is_none_or(|end| end.is_err()),
        "the first connection has ended"
    );

    rig.plans.send_replace(Arc::default());
    rig.stop().await;
    assert!(
        arrivals.try_recv().is_err(),
        "a stopped source does not connect"
    );
}

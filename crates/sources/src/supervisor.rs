//! Keeps the running sources equal to the plan: starts, stops and restarts only what changed.

use std::{collections::BTreeMap, convert::Infallible, panic::AssertUnwindSafe, sync::Arc};

use device::sources::{Plan, SourcePlan};
use futures_util::FutureExt;
use market::source_id::SourceId;
use net::{backoff::Backoff, chance::Chance};
use runtime::{
    inbox::Stopped,
    outage::Outage,
    tasks::{Stop, Tasks},
};
use tokio::{sync::watch, time};
use tracing::Instrument;

use super::{SourceContext, SourceServices, run};

/// Runs the planned sources until the stop signal; all of them have ended when this returns.
pub async fn supervise(
    mut wanted: watch::Receiver<Arc<Plan>>,
    shared: SourceServices,
    mut stop: Stop,
) {
    let mut crew = RunningSources {
        shared,
        running: BTreeMap::new(),
    };
    loop {
        let plan = Arc::clone(&wanted.borrow_and_update());
        crew.follow(&plan).await;
        tokio::select! {
            biased;
            () = stop.stopped() => break,
            changed = wanted.changed() => if changed.is_err() { break },
        }
    }
    crew.follow(&Plan::new()).await;
}

struct RunningSources {
    shared: SourceServices,
    running: BTreeMap<SourceId, RunningSource>,
}

/// A running source. Dropping it stops the source.
struct RunningSource {
    plan: SourcePlan,
    task: Tasks,
}

impl RunningSources {
    /// Stops sources that were removed or changed, then starts the missing ones.
    async fn follow(&mut self, plans: &Plan) {
        let leaving = self
            .running
            .iter()
            .filter(|(id, running)| plans.get(id) != Some(&running.plan))
            .map(|(id, _)| *id);
        for id in stop_order(leaving) {
            if let Some(running) = self.running.remove(&id) {
                running.task.abort().await;
                tracing::debug!(source = id.name(), "source ended");
            }
        }
        for (&id, plan) in plans {
            self.running.entry(id).or_insert_with(|| {
                tracing::debug!(source = id.name(), "source starts");
                let context = SourceContext {
                    id,
                    identity: plan.identity,
                    route: plan.route.clone(),
                    shared: self.shared.clone(),
                    member: None,
                };
                let span = tracing::info_span!("source", name = id.name());
                let mut task = Tasks::new();
                let config = plan.config.clone();
                let start = move |context| run(config.clone(), context);
                task.spawn(id.name(), restart_on_panic(context, start).instrument(span));
                RunningSource {
                    plan: plan.clone(),
                    task,
                }
            });
        }
    }
}

/// Stop order: the source of zaps first, because a zap that arrives meanwhile would be shown by a clock that is about
/// to rest.
fn stop_order(leaving: impl Iterator<Item = SourceId>) -> Vec<SourceId> {
    let mut leaving: Vec<SourceId> = leaving.collect();
    leaving.sort_by_key(|id| *id != SourceId::Zaps);
    leaving
}

/// Runs a source, and restarts it after a delay if it panics.
async fn restart_on_panic<F>(context: SourceContext, start: impl Fn(SourceContext) -> F)
where
    F: Future<Output = Result<Infallible, Stopped>>,
{
    let mut backoff = Backoff::new(Chance::new());
    let mut outage = Outage::default();
    loop {
        // A panic drops the whole state of the run with its future: the next run shares nothing with it.
        match AssertUnwindSafe(start(context.clone()))
            .catch_unwind()
            .await
        {
            Ok(Err(Stopped)) => return,
            Err(_) => {
                tracing::error!("source panicked");
                let retry_in = backoff.failed(None);
                let reason = "it crashed".to_owned();
                let reported = context.report(&mut outage, reason, retry_in).await;
                if reported.is_err() {
                    return;
                }
                time::sleep(retry_in).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use device::{input::Input, sources::Route};
    use market::{Connection, FigureIdentity, Observation};
    use net::{dialer::Dialer, tls::Roots};
    use runtime::{clock::Clock, inbox::inbox};

    use super::*;
    use crate::{
        already_reported::AlreadyReported, known_peers::KnownPeers, logos::LogoCache,
        upstreams::Upstreams,
    };

    #[test]
    fn the_source_of_zaps_stops_first() {
        for leaving in [
            SourceId::ALL.to_vec(),
            vec![SourceId::Zaps],
            vec![SourceId::Relay, SourceId::Zaps],
        ] {
            let ended = stop_order(leaving.iter().copied());
            assert_eq!(ended[0], SourceId::Zaps, "{leaving:?}");
            assert_eq!(ended.len(), leaving.len());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_panics_is_restarted() {
        let (inbox, mut inputs) = inbox();
        let shared = SourceServices {
            dialer: Dialer::new(Roots::public()),
            upstreams: Arc::new(Upstreams::default()),
            inbox,
            clock: Clock::unset(),
            logos: LogoCache::new("unused"),
            already_reported: AlreadyReported::default(),
            known_peers: KnownPeers::default(),
        };
        let context = SourceContext {
            id: SourceId::Miner,
            identity: FigureIdentity::default(),
            route: Route::default(),
            shared,
            member: None,
        };
        let runs = AtomicU32::new(0);
        let start = |context: SourceContext| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move {
                context.send(vec![Observation::Block(run)]).await?;
                assert!(run > 1, "on purpose");
                Err(Stopped)
            }
        };
        restart_on_panic(context, start).await;
        let mut received = Vec::new();
        while let Some(message) = inputs.recv().await {
            let Input::Observed(SourceId::Miner, observations) = message.input else {
                panic!("unexpected input");
            };
            received.extend(observations);
        }
        assert_eq!(received.len(), 5, "{received:?}");
        assert!(matches!(
            received[1],
            Observation::Connection(Connection::Down { .. })
        ));
        assert_eq!(received[4], Observation::Block(2));
    }
}

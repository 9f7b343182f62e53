//! The market that another clock shares at the owner's broker: the door for MQTT leaves it here, and this source tells
//! the device what it is worth.

use std::{convert::Infallible, time::Duration};

use device::{
    limits::SHARED_EVERY,
    market::{Connection, Observation},
};
use interface::mqtt::shared::{Reached, SharedMarket, Worth, Worthless};
use tokio::{
    sync::watch,
    time::{sleep_until, timeout},
};

use super::{Context, at_broker::AtBroker, outage::Outage};
use runtime::inbox::Stopped;

/// Time that the broker has to tell what stands there, before it counts as nothing.
const GRACE: Duration = Duration::from_secs(2);

/// Tells the device for ever what another clock shares with one of this chain.
///
/// # Errors
/// The device has stopped.
pub async fn keep(context: &Context, chain: &str) -> Result<Infallible, Stopped> {
    let mut told = context.shared.market.clone();
    let mut line = Line {
        context,
        outage: Outage::default(),
        is_up: false,
        lasts_until: None,
    };
    line.connecting().await?;
    loop {
        let newest = told.borrow_and_update().clone();
        match newest {
            AtBroker::Away => {
                line.lasts_until = None;
                if line.is_up {
                    line.down("the broker is not there").await?;
                }
                changed(&mut told).await;
            }
            AtBroker::Nothing => {
                // It comes in a moment, or not at all.
                if timeout(GRACE, told.changed())
                    .await
                    .is_ok_and(|it| it.is_ok())
                {
                    continue;
                }
                line.wait("no other clock shares its market", &mut told)
                    .await?;
            }
            AtBroker::Told(market, reached) => {
                line.hear(&market, reached, chain, &mut told).await?;
            }
        }
    }
}

/// What the device is told of the source.
struct Line<'a> {
    context: &'a Context,
    outage: Outage,
    is_up: bool,
    /// Uptime until which somebody who shares is taken to be there; none if nobody is.
    lasts_until: Option<Duration>,
}

impl Line<'_> {
    /// Tells what a market is worth, and follows it until there is another one.
    async fn hear(
        &mut self,
        market: &SharedMarket,
        reached: Reached,
        chain: &str,
        told: &mut watch::Receiver<AtBroker>,
    ) -> Result<(), Stopped> {
        let clock = &self.context.shared.clock;
        let mut steps = clock.steps();
        let worth = loop {
            steps.mark_unchanged();
            match market.worth(chain, reached, clock.sure()) {
                Err(Worthless::NoTime) => {
                    let reason = "nobody knows the time yet, and so how old the shared market is";
                    self.down(reason).await?;
                    tokio::select! {
                        () = changed(told) => return Ok(()),
                        _ = steps.changed() => {}
                    }
                }
                Err(Worthless::Refused(word)) => break Err(word),
                Ok(worth) => break Ok(worth),
            }
        };
        let Worth {
            observations,
            lasts,
        } = match worth {
            Ok(worth) => worth,
            Err(word) => {
                let dropped = Observation::Dropped(word, 1);
                self.context.observed(vec![dropped]).await?;
                let reason = format!("what another clock shares is of no use here: {word}");
                return self.wait(&reason, told).await;
            }
        };
        self.context.observed(observations).await?;
        if let Some(lasts) = lasts {
            let until = clock.uptime() + lasts;
            self.lasts_until = self.lasts_until.max(Some(until));
            self.up().await?;
        }
        self.wait("no other clock has shared its market for some time", told)
            .await
    }

    /// Waits until there is something else at the broker; nobody counts as there, for this reason, once whoever was has
    /// been silent for too long, also while the machine slept.
    async fn wait(
        &mut self,
        reason: &str,
        told: &mut watch::Receiver<AtBroker>,
    ) -> Result<(), Stopped> {
        let clock = &self.context.shared.clock;
        let mut steps = clock.steps();
        while let Some(until) = self.lasts_until.filter(|until| *until > clock.uptime()) {
            tokio::select! {
                () = changed(told) => return Ok(()),
                () = sleep_until(clock.instant(until)) => {}
                // An error means that nobody can set the clock any more.
                Ok(_) = steps.changed() => {}
            }
        }
        self.lasts_until = None;
        self.down(reason).await?;
        changed(told).await;
        Ok(())
    }

    async fn connecting(&self) -> Result<(), Stopped> {
        self.say(Connection::Connecting).await
    }

    async fn up(&mut self) -> Result<(), Stopped> {
        if self.is_up {
            return Ok(());
        }
        if self.outage.end() {
            tracing::info!("another clock shares its market again");
        }
        self.is_up = true;
        self.say(Connection::Up).await
    }

    async fn down(&mut self, reason: &str) -> Result<(), Stopped> {
        self.is_up = false;
        let reported = self
            .outage
            .report(self.context, reason.into(), SHARED_EVERY);
        reported.await
    }

    async fn say(&self, connection: Connection) -> Result<(), Stopped> {
        let said = vec![Observation::Connection(connection)];
        self.context.observed(said).await
    }
}

/// Waits until the door says something else.
async fn changed(told: &mut watch::Receiver<AtBroker>) {
    // Without a door the clock is ending.
    if told.changed().await.is_err() {
        std::future::pending().await
    }
}

//! Performs what the device asks for, one effect after the other, and tells it what came of it.

use std::{io, path::PathBuf, time::Duration};

use device::{
    input::{Finished, Input},
    output::Effect,
};
use runtime::inbox::Inbox;
use sources::logos::LogoCache;
use storage::{crash_dump, keeper::StoreHandle};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};
use wifi::{Radio, secrets};

/// Time the radio has to forget.
const FORGET: Duration = Duration::from_secs(5);

/// Why nothing is erased any more.
const ENDS: &str = "the clock is being started again, ask it once more after that";

/// Whoever performs effects, and what they need for it.
#[derive(Debug)]
pub struct Performer {
    /// Where the outcome goes.
    pub inbox: Inbox,
    /// The settings and the memory.
    pub keeper: StoreHandle,
    /// The folder of everything that is stored.
    pub data_dir: PathBuf,
    /// The pictures of pools.
    pub logos: LogoCache,
    /// The credentials of the network.
    pub radio: Radio,
}

impl Performer {
    /// Performs what the device asks for; ends never, and tells by `restart` that the device is to be started again.
    ///
    /// From then on nothing is erased: the end of the process would cut it off, and what is half erased is worse than
    /// what is not.
    pub async fn run(&self, effects: &mut mpsc::Receiver<Effect>, restart: &Notify) {
        let mut may_erase = Ok(());
        while let Some(effect) = effects.recv().await {
            match effect {
                Effect::Reboot(reason) => {
                    tracing::info!(?reason, "restarting");
                    may_erase = Err(ENDS.to_string());
                    restart.notify_one();
                }
                Effect::Wipe => {
                    let outcome = match &may_erase {
                        Ok(()) => self.wipe_and_say().await,
                        Err(_) => may_erase.clone(),
                    };
                    self.tell(Finished::Wiped(outcome)).await;
                }
                Effect::ClearLogos => self.clear_logos().await,
                Effect::ForgetWifi => {
                    let outcome = match &may_erase {
                        Ok(()) => self.forget_network().await,
                        Err(_) => may_erase.clone(),
                    };
                    self.tell(Finished::Forgotten(outcome)).await;
                }
            }
        }
        std::future::pending().await
    }

    async fn tell(&self, finished: Finished) {
        // An error means that the device has ended and needs no result.
        let _ = self.inbox.send(Input::Finished(finished)).await;
    }

    async fn wipe_and_say(&self) -> Result<(), String> {
        tracing::warn!("everything is being wiped");
        let outcome = self.wipe().await;
        match &outcome {
            Ok(()) => tracing::warn!("everything was wiped"),
            Err(error) => tracing::error!(%error, "not everything was wiped"),
        }
        outcome
    }

    /// Wipes everything; the network last, because its credentials are the one thing that cannot be stored again.
    async fn wipe(&self) -> Result<(), String> {
        let words = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
        self.logos.clear().await.map_err(words("the pool logos"))?;
        self.keeper.wipe().await.map_err(words("the settings"))?;
        crash_dump::forget(&self.data_dir).map_err(words("the dump of a crash"))?;
        secrets::wipe(&self.data_dir).map_err(words("the access point's password"))?;
        self.forget_network()
            .await
            .map_err(|error| format!("the network's credentials: {error}"))
    }

    async fn forget_network(&self) -> Result<(), String> {
        let forgotten = timeout(FORGET, self.radio.forget()).await;
        let outcome = forgotten.unwrap_or_else(|_| Err("the radio does not answer".to_string()));
        match &outcome {
            Ok(()) => tracing::info!("the network's credentials were forgotten"),
            Err(error) => {
                tracing::error!(%error, "the network's credentials may still be there");
            }
        }
        outcome
    }

    async fn clear_logos(&self) {
        match self.logos.clear().await {
            Ok(deleted) => tracing::info!(deleted, "pool logos were cleared"),
            Err(error) => tracing::warn!(%error, "pool logos were not all cleared"),
        }
    }
}

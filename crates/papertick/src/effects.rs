//! Performs the effects of the device one after another, and reports the results to it.

use std::{io, path::PathBuf, time::Duration};

use device::{
    input::{Finished, Input},
    output::Effect,
};
use runtime::inbox::Inbox;
use sources::logos::LogoCache;
use storage::{crash_dump, store_thread::StoreHandle};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};
use wifi::{Radio, chosen_panel, secrets};

/// Timeout for the radio to delete its credentials.
const FORGET_TIMEOUT: Duration = Duration::from_secs(5);

/// Error of a wipe during a restart.
const RESTARTING: &str = "the clock is restarting, try again afterwards";

#[derive(Debug)]
pub struct EffectExecutor {
    pub inbox: Inbox,
    /// Writes settings and memory.
    pub store: StoreHandle,
    /// The data folder.
    pub data_dir: PathBuf,
    /// The logos of mining pools.
    pub logos: LogoCache,
    /// The radio, which has the credentials of the network.
    pub radio: Radio,
}

impl EffectExecutor {
    /// Performs the effects; never returns. `restart` notifies the process that the device is to restart.
    ///
    /// After a restart was requested, nothing is erased: the end of the process could leave it half erased.
    pub async fn run(&self, effects: &mut mpsc::Receiver<Effect>, restart: &Notify) {
        let mut may_erase = Ok(());
        while let Some(effect) = effects.recv().await {
            match effect {
                Effect::Reboot(reason) => {
                    tracing::info!(?reason, "restarting");
                    may_erase = Err(RESTARTING.to_string());
                    restart.notify_one();
                }
                Effect::Wipe => {
                    let result = match &may_erase {
                        Ok(()) => self.wipe_and_log().await,
                        Err(_) => may_erase.clone(),
                    };
                    self.report(Finished::Wiped(result)).await;
                }
                Effect::ClearLogos => self.clear_logos().await,
                Effect::ForgetWifi => {
                    let result = match &may_erase {
                        Ok(()) => self.forget_network().await,
                        Err(_) => may_erase.clone(),
                    };
                    self.report(Finished::Forgotten(result)).await;
                }
            }
        }
        std::future::pending().await
    }

    async fn report(&self, finished: Finished) {
        // Fails if the device has stopped and needs no result.
        let _ = self.inbox.send(Input::Finished(finished)).await;
    }

    async fn wipe_and_log(&self) -> Result<(), String> {
        tracing::warn!("everything is being wiped");
        let result = self.wipe().await;
        match &result {
            Ok(()) => tracing::warn!("everything was wiped"),
            Err(error) => tracing::error!(%error, "not everything was wiped"),
        }
        result
    }

    /// Wipes everything. The network comes last: after a failure, everything but its credentials can be saved again.
    async fn wipe(&self) -> Result<(), String> {
        let context = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
        self.logos
            .clear()
            .await
            .map_err(context("the pool logos"))?;
        self.store.wipe().await.map_err(context("the settings"))?;
        crash_dump::forget(&self.data_dir).map_err(context("the dump of a crash"))?;
        secrets::wipe(&self.data_dir).map_err(context("the access point's password"))?;
        chosen_panel::wipe(&self.data_dir).map_err(context("the chosen panel"))?;
        self.forget_network()
            .await
            .map_err(|error| format!("the network's credentials: {error}"))
    }

    async fn forget_network(&self) -> Result<(), String> {
        let forgotten = timeout(FORGET_TIMEOUT, self.radio.forget()).await;
        let result = forgotten.unwrap_or_else(|_| Err("the radio does not answer".to_string()));
        match &result {
            Ok(()) => tracing::info!("the network's credentials were forgotten"),
            Err(error) => {
                tracing::error!(%error, "the network's credentials may still be there");
            }
        }
        result
    }

    async fn clear_logos(&self) {
        match self.logos.clear().await {
            Ok(deleted) => tracing::info!(deleted, "pool logos were cleared"),
            Err(error) => tracing::warn!(%error, "pool logos were not all cleared"),
        }
    }
}

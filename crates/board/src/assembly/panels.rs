//! The port of the panels, and the task of their bus.

use std::{sync::Arc, time::Duration};

use render::Bitmap;
use tokio::sync::{mpsc, oneshot};

use device::{board::PanelFault, refresh::Refresh};

use super::{Hardware, PanelWorker};
use crate::{
    parts::ssd1680::sequence::{REFRESH_MAX, RESET_LIMIT},
    ports::{Outcome, Panels},
    wiring::{PANELS_MAX, STAGGER_MAX},
};

/// Longest time that the end of the program waits for running refreshes.
pub const LAST_REFRESH_LIMIT: Duration = Duration::from_secs(5);

/// Longest time of a refresh that waits for a shared reset line: the other panels end their refreshes, are reset and start
/// one after the other.
///
/// Panels that stay busy are reported sooner, by the task of the bus.
const REFRESH_LIMIT: Duration = Duration::from_secs(
    2 * REFRESH_MAX.as_secs()
        + 2 * RESET_LIMIT.as_secs()
        + PANELS_MAX as u64 * STAGGER_MAX.as_secs(),
);

#[derive(Debug)]
pub(super) struct PaintRequest {
    panel: usize,
    frame: Arc<Bitmap>,
    refresh: Refresh,
    answer: oneshot::Sender<Result<(), PanelFault>>,
}

/// The panels of a real board.
#[derive(Debug)]
pub struct AssembledPanels {
    count: usize,
    requests: mpsc::Sender<PaintRequest>,
    outcomes: mpsc::Receiver<(usize, Outcome)>,
}

#[derive(Debug)]
pub(super) struct PanelChannels {
    requests: mpsc::Receiver<PaintRequest>,
    outcomes: mpsc::Sender<(usize, Outcome)>,
}

/// The port of the panels, and the channels of its task.
pub(super) fn panels(count: usize) -> (AssembledPanels, PanelChannels) {
    let (request_sender, requests) = mpsc::channel(PANELS_MAX);
    // A panel accepts no frame before the end of its refresh, so the channel has room for every outcome.
    let (outcomes, outcome_receiver) = mpsc::channel(2 * PANELS_MAX);
    let port = AssembledPanels {
        count,
        requests: request_sender,
        outcomes: outcome_receiver,
    };
    (port, PanelChannels { requests, outcomes })
}

impl Panels for AssembledPanels {
    fn count(&self) -> usize {
        self.count
    }

    fn refresh_limit(&self) -> Duration {
        REFRESH_LIMIT
    }

    async fn start(
        &mut self,
        panel: usize,
        frame: &Arc<Bitmap>,
        refresh: Refresh,
    ) -> Result<(), PanelFault> {
        let (answer, answered) = oneshot::channel();
        let request = PaintRequest {
            panel,
            frame: Arc::clone(frame),
            refresh,
            answer,
        };
        self.requests
            .send(request)
            .await
            .map_err(|_| PanelFault::Bus)?;
        answered.await.unwrap_or(Err(PanelFault::Bus))
    }

    async fn idle(&mut self) -> Vec<(usize, Outcome)> {
        let Some(first) = self.outcomes.recv().await else {
            return std::future::pending().await;
        };
        let mut ended = vec![first];
        while let Ok(next) = self.outcomes.try_recv() {
            ended.push(next);
        }
        ended
    }
}

/// Serves the bus of the panels until the port is dropped and no panel refreshes.
pub(super) async fn serve<H: Hardware>(mut worker: PanelWorker<H>, channels: PanelChannels) {
    let PanelChannels {
        mut requests,
        outcomes: outcome_sender,
    } = channels;
    let hardware = worker.hardware().clone();
    let mut dropped_at = None;
    loop {
        let (outcomes, wake) = worker.poll();
        for outcome in outcomes {
            // The port may be dropped.
            let _ = outcome_sender.try_send(outcome);
        }
        // On emulated hardware a transfer advances `now`; wait until the timers have caught up.
        hardware.sleep_until(hardware.now()).await;
        if let Some(dropped_at) = dropped_at {
            let is_over = hardware.now() >= dropped_at + LAST_REFRESH_LIMIT;
            if is_over || !worker.is_refreshing() {
                return;
            }
        }
        tokio::select! {
            request = requests.recv(), if dropped_at.is_none() => match request {
                Some(PaintRequest { panel, frame, refresh, answer }) => {
                    let _ = answer.send(worker.show(panel, &frame, refresh));
                }
                None => dropped_at = Some(hardware.now()),
            },
            () = until(&hardware, wake.at) => {}
            () = worker.edge(), if wake.on_edge => {}
        }
    }
}

/// Waits until a moment; forever without one.
pub(super) async fn until<H: Hardware>(hardware: &H, moment: Option<Duration>) {
    match moment {
        Some(moment) => hardware.sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

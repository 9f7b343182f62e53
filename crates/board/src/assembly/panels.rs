//! The port of the panels, and the task of their bus.

use std::{sync::Arc, time::Duration};

use render::Bitmap;
use tokio::sync::{mpsc, oneshot};

use device::{board::PanelFault, refresh::Refresh};

use super::{Hardware, PanelWorker};
use crate::{
    parts::epaper::sequence::{RESET_LIMIT, SLEEP_SETTLE},
    ports::{Outcome, Panels},
    wiring::{PANELS_MAX, STAGGER_MAX, Wiring},
};

/// Longest time that the end of the program waits for running refreshes, for clearing the panels, and for the sleep of a
/// panel that is alone.
pub fn last_refresh_limit(wiring: &Wiring) -> Duration {
    let limits = wiring
        .panels
        .iter()
        .map(|panel| panel.model.refresh_limit());
    let refreshes = if wiring.clear_at_stop { 2 } else { 1 };
    let slowest = limits.max().unwrap_or_default() * refreshes;
    match wiring.panels.len() {
        1 => slowest + SLEEP_SETTLE,
        _ => slowest,
    }
}

/// Longest time of a refresh that waits for a shared reset line: the other panels end their refreshes, are reset and start
/// one after the other.
///
/// Panels that stay busy are reported sooner, by the task of the bus.
fn refresh_limit(wiring: &Wiring) -> Duration {
    let busy = wiring.panels.iter().map(|panel| panel.model.busy_limit());
    let longest = busy.max().unwrap_or_default();
    2 * longest + 2 * RESET_LIMIT + PANELS_MAX as u32 * STAGGER_MAX
}

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
    refresh_limit: Duration,
    requests: mpsc::Sender<PaintRequest>,
    outcomes: mpsc::Receiver<(usize, Outcome)>,
}

#[derive(Debug)]
pub(super) struct PanelChannels {
    requests: mpsc::Receiver<PaintRequest>,
    outcomes: mpsc::Sender<(usize, Outcome)>,
}

/// The port of the panels, and the channels of its task.
pub(super) fn panels(wiring: &Wiring) -> (AssembledPanels, PanelChannels) {
    let (request_sender, requests) = mpsc::channel(PANELS_MAX);
    // A panel accepts no frame before the end of its refresh, so the channel has room for every outcome.
    let (outcomes, outcome_receiver) = mpsc::channel(2 * PANELS_MAX);
    let port = AssembledPanels {
        count: wiring.panels.len(),
        refresh_limit: refresh_limit(wiring),
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
        self.refresh_limit
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

/// Serves the bus of the panels until the port is dropped and no panel refreshes; then waits at most for `last_refresh`.
pub(super) async fn serve<H: Hardware>(
    mut worker: PanelWorker<H>,
    channels: PanelChannels,
    last_refresh: Duration,
) {
    let PanelChannels {
        mut requests,
        outcomes: outcome_sender,
    } = channels;
    let hardware = worker.hardware().clone();
    let mut dropped_at = None;
    loop {
        let (outcomes, mut wake) = worker.poll();
        for outcome in outcomes {
            // The port may be dropped.
            let _ = outcome_sender.try_send(outcome);
        }
        // On emulated hardware a transfer advances `now`; wait until the timers have caught up.
        hardware.sleep_until(hardware.now()).await;
        if let Some(dropped_at) = dropped_at {
            if hardware.now() >= dropped_at + last_refresh || worker.can_end() {
                return;
            }
            // The deep sleep may have begun.
            wake = worker.poll().1;
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

//! The port of the panels: orders to whoever serves their bus, and what became of them.

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

/// Longest time that the end of the program waits for ink that moves.
pub const LAST_REFRESH_LIMIT: Duration = Duration::from_secs(5);

/// Time after which a refresh has ended even if it had to wait for a reset line that it shares: until the neighbours
/// ended theirs, were reset and started one after the other.
///
/// The bus itself names panels that stay busy, and sooner.
const PATIENCE: Duration = Duration::from_secs(
    2 * REFRESH_MAX.as_secs()
        + 2 * RESET_LIMIT.as_secs()
        + PANELS_MAX as u64 * STAGGER_MAX.as_secs(),
);

/// A request to paint one panel.
#[derive(Debug)]
pub(super) struct PaintRequest {
    panel: usize,
    frame: Arc<Bitmap>,
    refresh: Refresh,
    answer: oneshot::Sender<Result<(), PanelFault>>,
}

/// The panels of a board made from parts.
#[derive(Debug)]
pub struct AssembledPanels {
    count: usize,
    orders: mpsc::Sender<PaintRequest>,
    ended: mpsc::Receiver<(usize, Outcome)>,
}

/// The ends of the channels that whoever serves the bus holds.
#[derive(Debug)]
pub(super) struct PanelEnds {
    orders: mpsc::Receiver<PaintRequest>,
    ended: mpsc::Sender<(usize, Outcome)>,
}

/// The port of so many panels, and its other end.
pub(super) fn panels(count: usize) -> (AssembledPanels, PanelEnds) {
    let (orders, ordered) = mpsc::channel(PANELS_MAX);
    // A panel takes no picture before the last one has ended, so there is room for every end.
    let (ended, ends) = mpsc::channel(2 * PANELS_MAX);
    let port = AssembledPanels {
        count,
        orders,
        ended: ends,
    };
    let ends = PanelEnds {
        orders: ordered,
        ended,
    };
    (port, ends)
}

impl Panels for AssembledPanels {
    fn count(&self) -> usize {
        self.count
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }

    async fn start(
        &mut self,
        panel: usize,
        frame: &Arc<Bitmap>,
        refresh: Refresh,
    ) -> Result<(), PanelFault> {
        let (answer, answered) = oneshot::channel();
        let order = PaintRequest {
            panel,
            frame: Arc::clone(frame),
            refresh,
            answer,
        };
        self.orders.send(order).await.map_err(|_| PanelFault::Bus)?;
        answered.await.unwrap_or(Err(PanelFault::Bus))
    }

    async fn idle(&mut self) -> Vec<(usize, Outcome)> {
        let Some(first) = self.ended.recv().await else {
            return std::future::pending().await;
        };
        let mut ended = vec![first];
        while let Ok(next) = self.ended.try_recv() {
            ended.push(next);
        }
        ended
    }
}

/// Serves the bus of the panels until their port is gone, and then until no ink moves any more.
pub(super) async fn serve<H: Hardware>(mut worker: PanelWorker<H>, ends: PanelEnds) {
    let PanelEnds { mut orders, ended } = ends;
    let hardware = worker.hardware().clone();
    let mut gone_at = None;
    loop {
        let (outcomes, wake) = worker.turn();
        for outcome in outcomes {
            // Whoever asked may be gone.
            let _ = ended.try_send(outcome);
        }
        // What was sent has taken its time.
        hardware.sleep_until(hardware.now()).await;
        if let Some(gone_at) = gone_at {
            let is_over = hardware.now() >= gone_at + LAST_REFRESH_LIMIT;
            if is_over || !worker.is_refreshing() {
                return;
            }
        }
        tokio::select! {
            order = orders.recv(), if gone_at.is_none() => match order {
                Some(PaintRequest { panel, frame, refresh, answer }) => {
                    let _ = answer.send(worker.show(panel, &frame, refresh));
                }
                None => gone_at = Some(hardware.now()),
            },
            () = until(&hardware, wake.at) => {}
            () = worker.edge(), if wake.on_edge => {}
        }
    }
}

/// Waits until a moment, or for ever.
pub(super) async fn until<H: Hardware>(hardware: &H, moment: Option<Duration>) {
    match moment {
        Some(moment) => hardware.sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_may_wait_for_those_of_all_neighbours() {
        assert_eq!(PATIENCE, Duration::from_secs(38));
    }
}

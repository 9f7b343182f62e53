//! Reports to the supervisor that the device makes progress.

use std::{io, sync::Arc};

use runtime::panels::PanelsSnapshot;
use supervisor::messages::{BEAT_PERIOD, DeviceMessage};
use tokio::{sync::watch, time::sleep};

use crate::{drivers::painter::PaintProgress, main_loop::LivenessProbe};

/// Name of the task that reports to the supervisor. It ends when the supervisor is gone.
pub(crate) const SUPERVISOR_TASK: &str = "heartbeat";

/// Name of the task that waits for the first picture.
pub(crate) const FIRST_PICTURE: &str = "first picture";

/// What shows that the device makes progress.
#[derive(Clone)]
pub(crate) struct LivenessSources {
    pub(crate) main_loop: LivenessProbe,
    pub(crate) painter: watch::Receiver<PaintProgress>,
    pub(crate) glass: watch::Receiver<Arc<PanelsSnapshot>>,
}

impl LivenessSources {
    /// What the panels show.
    pub(crate) fn glass(&self) -> watch::Receiver<Arc<PanelsSnapshot>> {
        self.glass.clone()
    }
}

/// Reports the first picture on a panel to the supervisor. Returns when the supervisor is gone.
///
/// Nothing is reported while all panels fail.
pub(crate) async fn first_picture(mut glass: watch::Receiver<Arc<PanelsSnapshot>>) {
    let is_painted = glass.wait_for(|glass| glass.is_painted()).await.is_ok();
    if is_painted && DeviceMessage::Painted.send().is_err() {
        return;
    }
    std::future::pending().await
}

/// Sends heartbeats to the supervisor while the main loop answers and the painter is not stuck. Returns when the
/// supervisor is gone.
pub(crate) async fn heartbeat(
    sources: LivenessSources,
    send: impl Fn(DeviceMessage) -> io::Result<()>,
) {
    let LivenessSources {
        main_loop, painter, ..
    } = sources;
    let mut stuck_checks = 0;
    loop {
        stuck_checks = if painter.borrow().is_stuck() { stuck_checks + 1 } else { 0 };
        // Two checks, because the painter looks stuck after the whole process was suspended.
        if stuck_checks > 1 {
            tracing::error!("the painter makes no progress");
            if send(DeviceMessage::PainterStuck).is_err() {
                return;
            }
            // The supervisor ends this process.
            return std::future::pending().await;
        }
        if main_loop.rounds().await.is_err() {
            return;
        }
        if send(DeviceMessage::Beat).is_err() {
            return;
        }
        sleep(BEAT_PERIOD).await;
    }
}

/// Liveness probes of the main loop.
#[cfg(test)]
type LivenessProbes = tokio::sync::mpsc::Receiver<tokio::sync::oneshot::Sender<u64>>;

#[cfg(test)]
impl LivenessSources {
    /// Sources without a device, with the ends of the main loop and of the painter.
    pub(crate) fn manual() -> (
        LivenessSources,
        LivenessProbes,
        watch::Sender<PaintProgress>,
    ) {
        let (main_loop, probes) = LivenessProbe::manual();
        let progress = watch::Sender::new(PaintProgress::NotStarted);
        let blank = PanelsSnapshot {
            generation: 0,
            panels: Vec::new(),
        };
        let sources = LivenessSources {
            main_loop,
            painter: progress.subscribe(),
            glass: watch::Sender::new(Arc::new(blank)).subscribe(),
        };
        (sources, probes, progress)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_heartbeat_needs_a_main_loop_that_answers_and_a_painter_that_paints() {
        let (sources, mut probes, progress) = LivenessSources::manual();
        let sent = watch::Sender::new(Vec::new());
        let send = |message| {
            sent.send_modify(|sent| sent.push(message));
            Ok(())
        };
        let device = async {
            // Nothing is reported until there is a response.
            let first = probes.recv().await.unwrap();
            sleep(BEAT_PERIOD * 5).await;
            assert_eq!(*sent.borrow(), []);
            first.send(1).unwrap();
            probes.recv().await.unwrap().send(2).unwrap();
            probes.recv().await.unwrap().send(3).unwrap();
            assert_eq!(*sent.borrow(), [DeviceMessage::Beat, DeviceMessage::Beat]);
            progress.send_replace(PaintProgress::Painting(Instant::now()));
            probes.recv().await.unwrap().send(4).unwrap();
            assert!(probes.recv().await.is_none(), "it sends no more probes");
        };
        tokio::select! {
            biased;
            () = device => panic!("it dropped its probe"),
            () = heartbeat(sources, send) => panic!("it ended"),
            () = sleep(BEAT_PERIOD * 20) => {}
        }
        let last = sent.borrow().iter().skip(2).cloned().collect::<Vec<_>>();
        assert_eq!(
            last,
            [
                DeviceMessage::Beat,
                DeviceMessage::Beat,
                DeviceMessage::PainterStuck
            ]
        );
    }
}

//! Reports to the supervisor that the device is alive.

use std::{io, sync::Arc};

use runtime::glass::DisplaySnapshot;
use supervisor::messages::{BEAT_PERIOD, DeviceMessage};
use tokio::{sync::watch, time::sleep};

use crate::{drivers::painter::PaintProgress, main_loop::Rounds};

/// Name of the task that reports to the supervisor. It ends when the supervisor is gone.
pub(crate) const SUPERVISOR_TASK: &str = "heart";

/// Name of the task that waits for the first picture.
pub(crate) const FIRST_PICTURE: &str = "first picture";

/// What the sign of life is taken from.
#[derive(Clone)]
pub(crate) struct Pulse {
    pub(crate) rounds: Rounds,
    pub(crate) painter: watch::Receiver<PaintProgress>,
    pub(crate) glass: watch::Receiver<Arc<DisplaySnapshot>>,
}

impl Pulse {
    /// What the panels show.
    pub(crate) fn glass(&self) -> watch::Receiver<Arc<DisplaySnapshot>> {
        self.glass.clone()
    }
}

/// Tells the supervisor when a panel shows the first picture; ends when the supervisor is gone.
///
/// A painter that has given all panels up has painted nothing.
pub(crate) async fn first_picture(mut glass: watch::Receiver<Arc<DisplaySnapshot>>) {
    let is_painted = glass.wait_for(|glass| glass.is_painted()).await.is_ok();
    if is_painted && DeviceMessage::Painted.send().is_err() {
        return;
    }
    std::future::pending().await
}

/// Gives the supervisor a sign of life whenever the main loop comes round and the painter is not stuck; ends when it is
/// gone.
pub(crate) async fn heartbeat(pulse: Pulse, say: impl Fn(DeviceMessage) -> io::Result<()>) {
    let Pulse {
        rounds, painter, ..
    } = pulse;
    let mut looks_stuck = 0;
    loop {
        looks_stuck = if painter.borrow().is_stuck() {
            looks_stuck + 1
        } else {
            0
        };
        // After a time in which the whole process was stopped the painter gets its chance first.
        if looks_stuck > 1 {
            tracing::error!("the painter makes no progress");
            if say(DeviceMessage::PainterStuck).is_err() {
                return;
            }
            // The supervisor ends this process.
            return std::future::pending().await;
        }
        if rounds.next().await.is_err() {
            return;
        }
        if say(DeviceMessage::Beat).is_err() {
            return;
        }
        sleep(BEAT_PERIOD).await;
    }
}

/// Liveness probes of the main loop.
#[cfg(test)]
type LivenessProbes = tokio::sync::mpsc::Receiver<tokio::sync::oneshot::Sender<u64>>;

#[cfg(test)]
impl Pulse {
    /// One that is made by hand, with the main loop's and the painter's side of it.
    pub(crate) fn by_hand() -> (Pulse, LivenessProbes, watch::Sender<PaintProgress>) {
        let (rounds, asked) = Rounds::by_hand();
        let progress = watch::Sender::new(PaintProgress::Begun);
        let blank = DisplaySnapshot {
            generation: 0,
            panels: Vec::new(),
        };
        let pulse = Pulse {
            rounds,
            painter: progress.subscribe(),
            glass: watch::Sender::new(Arc::new(blank)).subscribe(),
        };
        (pulse, asked, progress)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_takes_a_main_loop_that_comes_round_and_a_painter_that_paints() {
        let (pulse, mut asked, progress) = Pulse::by_hand();
        let told = watch::Sender::new(Vec::new());
        let says = |word| {
            told.send_modify(|told| told.push(word));
            Ok(())
        };
        let life = async {
            // Nothing is reported until there is a response.
            let first = asked.recv().await.unwrap();
            sleep(BEAT_PERIOD * 5).await;
            assert_eq!(*told.borrow(), []);
            first.send(1).unwrap();
            asked.recv().await.unwrap().send(2).unwrap();
            asked.recv().await.unwrap().send(3).unwrap();
            assert_eq!(*told.borrow(), [DeviceMessage::Beat, DeviceMessage::Beat]);
            progress.send_replace(PaintProgress::Painting(Instant::now()));
            asked.recv().await.unwrap().send(4).unwrap();
            assert!(asked.recv().await.is_none(), "it asks no more");
        };
        tokio::select! {
            biased;
            () = life => panic!("it gave its end of the main loop up"),
            () = heartbeat(pulse, says) => panic!("it ended"),
            () = sleep(BEAT_PERIOD * 20) => {}
        }
        let last = told.borrow().iter().skip(2).cloned().collect::<Vec<_>>();
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

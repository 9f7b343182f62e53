//! The port of the LED strip, and the task of its bus.

use device::lights::Rgb;
use tokio::sync::{mpsc, oneshot};

use super::Hardware;
use crate::{
    parts::ws2812,
    ports::LedStrip,
    wiring::{Side, StripWiring},
};

#[derive(Debug)]
pub(super) struct ColoursRequest {
    colours: Vec<Rgb>,
    done: oneshot::Sender<()>,
}

/// The LED strip of a real board.
#[derive(Debug)]
pub struct AssembledStrip {
    requests: mpsc::Sender<ColoursRequest>,
}

/// The port of a strip, and the receiver of its requests.
pub(super) fn strip() -> (AssembledStrip, mpsc::Receiver<ColoursRequest>) {
    let (requests, receiver) = mpsc::channel(1);
    (AssembledStrip { requests }, receiver)
}

impl LedStrip for AssembledStrip {
    async fn show(&mut self, colours: &[Rgb]) {
        let (done, shown) = oneshot::channel();
        let request = ColoursRequest {
            colours: colours.to_vec(),
            done,
        };
        if self.requests.send(request).await.is_ok() {
            let _ = shown.await;
        }
    }
}

/// Serves the bus of the strip until the port is dropped.
pub(super) async fn serve<H: Hardware>(
    hardware: H,
    mut bus: H::Spi,
    wiring: StripWiring,
    mut requests: mpsc::Receiver<ColoursRequest>,
) {
    let mut fails = false;
    while let Some(ColoursRequest { mut colours, done }) = requests.recv().await {
        colours.resize(wiring.count, Rgb::BLACK);
        match wiring.begins {
            Side::Left => {}
            Side::Right => colours.reverse(),
        }
        let failed = ws2812::show(&mut bus, wiring.order, wiring.channels, colours).is_err();
        if failed && !fails {
            tracing::warn!(device = wiring.device, "cannot send colours to the strip");
        }
        fails = failed;
        hardware.sleep_until(hardware.now()).await;
        let _ = done.send(());
    }
}

//! The port of the LED strip, and whoever serves its bus.

use device::lights::Rgb;
use embedded_hal::spi::SpiBus;
use tokio::sync::{mpsc, oneshot};

use super::Hardware;
use crate::{
    parts::ws2812,
    ports::LedStrip,
    wiring::{Side, StripWiring},
};

/// Colours for the strip.
#[derive(Debug)]
pub(super) struct Colours {
    colours: Vec<Rgb>,
    done: oneshot::Sender<()>,
}

/// The LED strip of a board made from parts.
#[derive(Debug)]
pub struct AssembledStrip {
    orders: mpsc::Sender<Colours>,
}

/// The port of a strip, and its other end.
pub(super) fn strip() -> (AssembledStrip, mpsc::Receiver<Colours>) {
    let (orders, ordered) = mpsc::channel(1);
    (AssembledStrip { orders }, ordered)
}

impl LedStrip for AssembledStrip {
    async fn show(&mut self, colours: &[Rgb]) {
        let (done, shown) = oneshot::channel();
        let order = Colours {
            colours: colours.to_vec(),
            done,
        };
        if self.orders.send(order).await.is_ok() {
            let _ = shown.await;
        }
    }
}

/// Serves the bus of the strip until its port is gone.
pub(super) async fn serve<H: Hardware>(
    hardware: H,
    mut bus: H::Spi,
    wiring: StripWiring,
    mut orders: mpsc::Receiver<Colours>,
) {
    let mut fails = false;
    while let Some(Colours { mut colours, done }) = orders.recv().await {
        colours.resize(wiring.count, Rgb::BLACK);
        match wiring.begins {
            Side::Left => {}
            Side::Right => colours.reverse(),
        }
        let bytes = ws2812::encode(wiring.kind, colours);
        let failed = bus.write(&bytes).and_then(|()| bus.flush()).is_err();
        if failed && !fails {
            tracing::warn!(device = wiring.device, "the strip takes no colours");
        }
        fails = failed;
        hardware.sleep_until(hardware.now()).await;
        let _ = done.send(());
    }
}

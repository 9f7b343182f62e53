//! Drives the LED strip and the frontlight.

use board::ports::{Frontlight, LedStrip};
use device::lights::Rgb;
use tokio::sync::watch;

/// Shows the colours on the strip until their sender is dropped.
pub async fn strip(mut strip: impl LedStrip, mut colours: watch::Receiver<Vec<Rgb>>) {
    loop {
        let newest = colours.borrow_and_update().clone();
        strip.show(&newest).await;
        if colours.changed().await.is_err() {
            return;
        }
    }
}

/// Sets the duties of the frontlight until their sender is dropped.
pub async fn frontlight(mut frontlight: impl Frontlight, mut duties: watch::Receiver<Vec<u16>>) {
    loop {
        let newest = duties.borrow_and_update().clone();
        frontlight.set(&newest).await;
        if duties.changed().await.is_err() {
            return;
        }
    }
}

//! Makes the lights show what the device wants.

use board::ports::{Frontlight, LedStrip};
use device::lights::Rgb;
use tokio::sync::watch;

/// Follows the colours of the strip until their sender is gone.
pub async fn strip(mut strip: impl LedStrip, mut colours: watch::Receiver<Vec<Rgb>>) {
    loop {
        let wanted = colours.borrow_and_update().clone();
        strip.show(&wanted).await;
        if colours.changed().await.is_err() {
            return;
        }
    }
}

/// Follows the duties of the frontlight until their sender is gone.
pub async fn frontlight(mut frontlight: impl Frontlight, mut duties: watch::Receiver<Vec<u16>>) {
    loop {
        let wanted = duties.borrow_and_update().clone();
        frontlight.set(&wanted).await;
        if duties.changed().await.is_err() {
            return;
        }
    }
}

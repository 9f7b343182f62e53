//! Reports what buttons and light sensor say.

use std::time::Duration;

use board::ports::{Buttons, LightSensor};
use device::input::Input;
use tokio::time::{MissedTickBehavior, interval};

use crate::inbox::Inbox;

/// Time between two measurements of the light.
const LIGHT_PERIOD: Duration = Duration::from_secs(1);

/// Reports the buttons that are down at power-on, and then every change, until the device is gone.
pub async fn buttons(mut buttons: impl Buttons, inbox: Inbox) {
    let down = buttons.down().await;
    if inbox.tell(Input::Held(down)).await.is_err() {
        return;
    }
    loop {
        let down = buttons.changed().await;
        if inbox.tell(Input::Pressed(down)).await.is_err() {
            return;
        }
    }
}

/// Measures the light and reports when it has changed, until the device is gone.
pub async fn light(mut sensor: impl LightSensor, inbox: Inbox) {
    let mut reported = None;
    let mut ticks = interval(LIGHT_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let sensed = sensor.read().await;
        if reported == Some(sensed) {
            continue;
        }
        reported = Some(sensed);
        if inbox.tell(Input::Sensed(sensed)).await.is_err() {
            return;
        }
    }
}

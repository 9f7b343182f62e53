//! Reports what buttons, light sensor and network say.

use std::time::Duration;

use board::ports::{Buttons, LightSensor, Wifi};
use device::input::{Input, LinkEvent};
use tokio::time::{MissedTickBehavior, interval};

use crate::inbox::Inbox;

/// Time between two measurements of the light.
const LIGHT_PERIOD: Duration = Duration::from_secs(1);

/// Reports every change of the buttons until the device is gone.
pub async fn buttons(mut buttons: impl Buttons, inbox: Inbox) {
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

/// Reports who the device is on the network and then all that the network says, until the device is gone.
pub async fn network(mut wifi: impl Wifi, suffix: String, inbox: Inbox) {
    let mut event = LinkEvent::Identity { suffix };
    while inbox.tell(Input::Linked(event)).await.is_ok() {
        event = wifi.event().await;
    }
}

//! Reports the buttons and the light sensor.

use std::time::Duration;

use board::ports::{ButtonEdge, Buttons, LightSensor};
use device::input::{Contacts, Input};
use runtime::{clock::Clock, inbox::Inbox};
use tokio::time::{MissedTickBehavior, interval};

/// Time between two measurements of the light.
const LIGHT_PERIOD: Duration = Duration::from_secs(1);

/// Reports the buttons at power-on, and then each edge with its time, until the device is gone.
pub async fn buttons(mut buttons: impl Buttons, clock: Clock, inbox: Inbox) {
    let contacts = |ButtonEdge { down, at }| Contacts {
        down,
        at: clock.uptime_at(at),
    };
    let at_power_on = contacts(buttons.edge().await);
    if inbox
        .send(Input::ButtonsAtPowerOn(at_power_on))
        .await
        .is_err()
    {
        return;
    }
    loop {
        let pressed = contacts(buttons.edge().await);
        if inbox.send(Input::Pressed(pressed)).await.is_err() {
            return;
        }
    }
}

/// Measures the light and reports changes until the device is gone.
pub async fn light(mut sensor: impl LightSensor, inbox: Inbox) {
    let mut reported = None;
    let mut ticks = interval(LIGHT_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let reading = sensor.read().await;
        if reported == Some(reading) {
            continue;
        }
        reported = Some(reading);
        if inbox.send(Input::Sensed(reading)).await.is_err() {
            return;
        }
    }
}

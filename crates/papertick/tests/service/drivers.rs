//! The small drivers on the simulated board, in virtual time.

use std::time::Duration;

use board::{
    sim::{self, SimBoard, SimOptions},
    spec,
};
use device::{
    host::HostFacts,
    input::{Input, Sensed},
    lights::Rgb,
};
use papertick::drivers::{host, lights, senses};
use runtime::{
    inbox::{InboxMessage, inbox},
    tasks::Tasks,
};
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};

fn rev_b() -> SimBoard {
    sim::board(spec::find("rev-b").unwrap(), SimOptions::default())
}

/// The next input. `None` if there is none for 15 minutes.
async fn next(inputs: &mut mpsc::Receiver<InboxMessage>) -> Option<Input> {
    let message = timeout(Duration::from_secs(900), inputs.recv())
        .await
        .ok()?;
    message.map(|message| message.input)
}

#[tokio::test(start_paused = true)]
async fn the_lights_show_the_newest_values() {
    let board = rev_b();
    let (colours, strip) = watch::channel(vec![Rgb::BLACK; 4]);
    let (duties, frontlight) = watch::channel(vec![0; 7]);
    let mut tasks = Tasks::new();
    tasks.spawn("strip", lights::strip(board.strip, strip));
    tasks.spawn(
        "frontlight",
        lights::frontlight(board.frontlight.unwrap(), frontlight),
    );
    for step in 1..=4_u16 {
        colours.send_replace(vec![Rgb::from_u24(u32::from(step)); 4]);
        duties.send_replace(vec![step; 7]);
        sleep(Duration::from_millis(1)).await;
        let state = board.bench.state();
        assert_eq!(state.leds, vec![format!("#00000{step}"); 4]);
        assert_eq!(state.frontlight, vec![step; 7]);
    }
    drop((colours, duties));
    assert!(tasks.ended().await.is_some_and(|ended| !ended.panicked));
    assert!(tasks.ended().await.is_some_and(|ended| !ended.panicked));
}

#[tokio::test(start_paused = true)]
async fn light_is_reported_when_it_changes() {
    let board = rev_b();
    let (inbox, mut inputs) = inbox();
    let mut tasks = Tasks::new();
    tasks.spawn("light", senses::light(board.sensor.unwrap(), inbox));
    assert!(matches!(
        next(&mut inputs).await,
        Some(Input::Sensed(Sensed::Millilux(_)))
    ));
    assert!(
        next(&mut inputs).await.is_none(),
        "an unchanged value is reported once"
    );
    board.bench.set_millilux(Some(500)).unwrap();
    assert!(matches!(
        next(&mut inputs).await,
        Some(Input::Sensed(Sensed::Millilux(500)))
    ));
    board.bench.set_millilux(None).unwrap();
    assert!(matches!(
        next(&mut inputs).await,
        Some(Input::Sensed(Sensed::Absent))
    ));
}

#[tokio::test(start_paused = true)]
async fn the_machine_is_measured() {
    let (inbox, mut inputs) = inbox();
    let mut tasks = Tasks::new();
    let known = HostFacts {
        version: "4.0.0".into(),
        page_address: "192.168.1.7:8080".parse().ok(),
        ..HostFacts::default()
    };
    tasks.spawn("host", host::measure(known, inbox));
    let Some(Input::Host(facts)) = next(&mut inputs).await else {
        panic!("no facts of the host")
    };
    assert!(facts.heap_free.is_some_and(|bytes| bytes > 0));
    assert_eq!(
        (facts.version.as_str(), facts.page_address),
        ("4.0.0", "192.168.1.7:8080".parse().ok())
    );
}

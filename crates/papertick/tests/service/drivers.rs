//! The small drivers on the simulated board, in virtual time.

use std::time::Duration;

use board::{
    sim::{self, PowerCycle, SimBoard, SimOptions},
    spec,
};
use device::{
    host::HostFacts,
    input::{Contacts, Input, Sensed},
    lights::Rgb,
};
use papertick::drivers::{host, lights, senses};
use runtime::{
    clock::Clock,
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

/// The next input; none if a quarter of an hour brings none.
async fn next(inputs: &mut mpsc::Receiver<InboxMessage>) -> Option<Input> {
    let message = timeout(Duration::from_secs(900), inputs.recv())
        .await
        .ok()?;
    message.map(|message| message.input)
}

#[tokio::test(start_paused = true)]
async fn the_lights_follow() {
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
    assert!(next(&mut inputs).await.is_none(), "said once");
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

/// What the buttons of a board report, with the moments in ms.
struct Pressed {
    inputs: mpsc::Receiver<InboxMessage>,
    _tasks: Tasks,
}

impl Pressed {
    fn on(board: SimBoard) -> Pressed {
        let (inbox, inputs) = inbox();
        let mut tasks = Tasks::new();
        let clock = Clock::unset();
        tasks.spawn("buttons", senses::buttons(board.buttons, clock, inbox));
        Pressed {
            inputs,
            _tasks: tasks,
        }
    }

    async fn expect(&mut self, expected: &[(&str, u8, u64)]) {
        for (what, down, ms) in expected {
            let (told, contacts) = match next(&mut self.inputs).await {
                Some(Input::Held(contacts)) => ("held", contacts),
                Some(Input::Pressed(contacts)) => ("pressed", contacts),
                other => panic!("{other:?} instead of {what} {down:04b}"),
            };
            let at = Duration::from_millis(*ms);
            assert_eq!((told, contacts), (*what, Contacts { down: *down, at }));
        }
        assert!(next(&mut self.inputs).await.is_none(), "nothing else");
    }
}

#[tokio::test(start_paused = true)]
async fn presses_are_reported_with_their_moments() {
    let board = rev_b();
    let bench = board.bench.clone();
    let mut pressed = Pressed::on(board);
    let ms = Duration::from_millis;
    sleep(ms(50)).await;
    bench.press(&[4], ms(900)).await.unwrap();
    sleep(ms(50)).await;
    bench.press(&[2, 3], ms(100)).await.unwrap();
    let all = [
        ("held", 0, 0),
        ("pressed", 0b1000, 50),
        ("pressed", 0, 950),
        ("pressed", 0b0110, 1000),
        ("pressed", 0, 1100),
    ];
    pressed.expect(&all).await;
}

#[tokio::test(start_paused = true)]
async fn buttons_held_at_power_on_are_told_apart() {
    let options = SimOptions {
        held: PowerCycle {
            mask: 0b0001,
            held: Duration::from_millis(3200),
        },
        ..SimOptions::default()
    };
    let board = sim::board(spec::find("rev-b").unwrap(), options);
    let all = [("held", 0b0001, 0), ("pressed", 0, 3200)];
    Pressed::on(board).expect(&all).await;
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
    let Some(Input::Measured(facts)) = next(&mut inputs).await else {
        panic!("facts come")
    };
    assert!(facts.heap_free.is_some_and(|bytes| bytes > 0));
    assert_eq!(
        (facts.version.as_str(), facts.page_address),
        ("4.0.0", "192.168.1.7:8080".parse().ok())
    );
}

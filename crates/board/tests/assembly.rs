//! A board made from parts, on the emulated circuit: every port does what its part should.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{sync::Arc, time::Duration};

use board::{
    assembly::{AssembledBoard, AssembledButtons, assemble},
    parts::mcp23017::LineLevel,
    ports::{ButtonEdge, Buttons, Frontlight, LedStrip, LightSensor, Panels},
    wiring::{self, Sense, Wiring},
};
use device::{board::PanelFault, input::Sensed, lights::Rgb, refresh::Refresh};
use lab::circuit::{Circuit, Flow, PanelCondition};
use render::Bitmap;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

struct Bench {
    circuit: Circuit,
    board: AssembledBoard,
    buses: JoinSet<()>,
}

fn bench(wiring: &Wiring) -> Bench {
    bench_on(Circuit::new(wiring, Flow::Live), wiring)
}

fn bench_on(circuit: Circuit, wiring: &Wiring) -> Bench {
    let mut board = assemble(&circuit, wiring).unwrap();
    let mut buses = JoinSet::new();
    for bus in std::mem::take(&mut board.buses) {
        buses.spawn(bus.serve());
    }
    Bench {
        circuit,
        board,
        buses,
    }
}

/// The next edge of the buttons; without a limit virtual time would pass for ever.
async fn edge(buttons: &mut AssembledButtons) -> ButtonEdge {
    let next = timeout(Duration::from_secs(60), buttons.edge());
    next.await.expect("an edge within a minute")
}

fn picture(number: u32) -> Arc<Bitmap> {
    Arc::new(Bitmap::from_ink(122, 250, |x, y| {
        let place = u32::from(x / 6) * 7_919 + u32::from(y / 6) * 104_729 + number * 1_299_721;
        place.wrapping_mul(2_654_435_761) >> 30 == 0
    }))
}

impl Bench {
    /// Shows a picture on each panel and waits for all; how long that took.
    async fn show_all(&mut self, number: u32, refresh: Refresh) -> Duration {
        let begun = Instant::now();
        let panels = &mut self.board.panels;
        for panel in 0..panels.count() {
            let frame = picture(number + panel as u32);
            panels.start(panel, &frame, refresh).await.unwrap();
        }
        let mut ended = 0;
        while ended < panels.count() {
            for (panel, outcome) in panels.idle().await {
                assert_eq!(outcome, Ok(refresh));
                let glass = self.circuit.glass(panel).unwrap();
                assert!(glass == *picture(number + panel as u32), "panel {panel}");
                ended += 1;
            }
        }
        begun.elapsed()
    }

    fn assert_nothing_forbidden(&self) {
        assert_eq!(self.circuit.violations(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn the_panels_of_every_board_show_what_they_are_told_all_at_once() {
    // Beside them an example whose panels have a switched supply.
    let one_panel = include_str!("../../../docs/wiring/pi-one-panel.toml");
    for (name, text) in wiring::BASES.iter().chain(&[("one panel", one_panel)]) {
        let mut bench = bench(&wiring::read(text).unwrap().wiring);
        let full = bench.show_all(0, Refresh::Full).await;
        assert!(full < Duration::from_millis(2400), "{name}: {full:?}");
        // The preparations for the next refresh are over.
        sleep(Duration::from_secs(1)).await;
        let partial = bench.show_all(10, Refresh::Partial).await;
        assert!(partial < Duration::from_millis(660), "{name}: {partial:?}");
        bench.assert_nothing_forbidden();
    }
}

#[tokio::test(start_paused = true)]
async fn a_panel_that_fails_is_told_and_holds_up_no_other() {
    let mut bench = bench(&wiring::base("v8").unwrap());
    bench.show_all(0, Refresh::Full).await;
    bench.circuit.set_condition(5, PanelCondition::Silent);
    let panels = &mut bench.board.panels;
    for panel in 4..7 {
        let frame = picture(20);
        panels.start(panel, &frame, Refresh::Partial).await.unwrap();
    }
    assert_eq!(
        panels.start(4, &picture(1), Refresh::Full).await,
        Err(PanelFault::StartedBusy)
    );
    assert_eq!(panels.idle().await, [(5, Err(PanelFault::NotRefreshed))]);
    let mut others = panels.idle().await;
    if others.len() < 2 {
        others.extend(panels.idle().await);
    }
    others.sort_by_key(|(panel, _)| *panel);
    assert_eq!(
        others,
        [(4, Ok(Refresh::Partial)), (6, Ok(Refresh::Partial))]
    );
    let nobody = panels.start(8, &picture(1), Refresh::Full).await;
    assert_eq!(nobody, Err(PanelFault::Bus));
    let more = timeout(Duration::from_secs(60), panels.idle()).await;
    assert!(more.is_err(), "nothing refreshes");
    bench.assert_nothing_forbidden();
}

#[tokio::test(start_paused = true)]
async fn the_end_waits_for_ink_that_moves() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    bench.show_all(0, Refresh::Full).await;
    let frame = picture(9);
    bench
        .board
        .panels
        .start(3, &frame, Refresh::Full)
        .await
        .unwrap();
    sleep(Duration::from_millis(300)).await;
    assert!(bench.circuit.is_refreshing(3));
    drop(bench.board);
    while bench.buses.join_next().await.is_some() {}
    assert!(!bench.circuit.is_refreshing(3));
    assert!(bench.circuit.glass(3).unwrap() == *frame);
}

#[tokio::test(start_paused = true)]
async fn the_end_does_not_wait_for_ever_for_a_panel_that_is_stuck() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    bench.show_all(0, Refresh::Full).await;
    let frame = picture(9);
    bench
        .board
        .panels
        .start(3, &frame, Refresh::Full)
        .await
        .unwrap();
    sleep(Duration::from_millis(300)).await;
    bench.circuit.set_condition(3, PanelCondition::StuckBusy);
    drop(bench.board);
    let begun = Instant::now();
    while bench.buses.join_next().await.is_some() {}
    assert!(begun.elapsed() <= Duration::from_millis(5300));
}

#[tokio::test(start_paused = true)]
async fn buttons_are_edges_wherever_they_are() {
    let on_host = {
        let mut wiring = wiring::base("rev-b").unwrap();
        let lines = ["K1", "K2", "K3", "K4"].map(wiring::WiringLine::named);
        wiring.buttons.as_mut().unwrap().lines = lines.to_vec();
        wiring
    };
    let inverted = |mut wiring: Wiring| {
        for line in &mut wiring.buttons.as_mut().unwrap().lines {
            line.sense = Sense::Inverted;
        }
        wiring
    };
    let millis = Duration::from_millis;
    let by = [
        ("interrupt", wiring::base("rev-b").unwrap(), millis(2)),
        ("look", wiring::base("v8").unwrap(), millis(22)),
        ("edge", on_host, millis(2)),
    ];
    let plain = by.iter().cloned();
    let others = by.iter().cloned();
    let others = others.map(|(by, wiring, latest)| (by, inverted(wiring), latest));
    for (by, wiring, latest) in plain.chain(others) {
        let bench = bench(&wiring);
        let lines = &wiring.buttons.as_ref().unwrap().lines;
        let mut buttons = bench.board.buttons.unwrap();
        assert_eq!(edge(&mut buttons).await.down, 0);
        for (button, level, expected) in [
            (0, LineLevel::Low, 0b0001),
            (3, LineLevel::Low, 0b1001),
            (0, LineLevel::High, 0b1000),
            (3, LineLevel::High, 0b0000),
        ] {
            sleep(millis(1234)).await;
            bench.circuit.touch(&lines[button], level);
            let begun = Instant::now();
            let edge = edge(&mut buttons).await;
            assert_eq!(edge.down, expected, "{by}");
            let late = edge.at.duration_since(begun);
            assert!(late <= latest, "{by}: {late:?}");
        }
        let more = timeout(Duration::from_secs(5), buttons.edge()).await;
        assert!(more.is_err(), "nobody touches anything");
    }
}

#[tokio::test(start_paused = true)]
async fn buttons_are_seen_in_time_while_panels_refresh_whose_busy_lines_share_their_expander() {
    let wiring = wiring::base("v8").unwrap();
    let mut bench = bench(&wiring);
    bench.show_all(0, Refresh::Full).await;
    let mut buttons = bench.board.buttons.take().unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    let panels = &mut bench.board.panels;
    for panel in 0..panels.count() {
        let frame = picture(20);
        panels.start(panel, &frame, Refresh::Full).await.unwrap();
    }
    sleep(Duration::from_millis(300)).await;
    let lines = &wiring.buttons.as_ref().unwrap().lines;
    // Two buttons a moment apart, at ever other times between two looks at the busy lines.
    for round in 0..10 {
        assert!(bench.circuit.is_refreshing(7), "round {round}");
        for (level, expected) in [(LineLevel::Low, 0b0011), (LineLevel::High, 0b0000)] {
            bench.circuit.touch(&lines[0], level);
            sleep(Duration::from_millis(1)).await;
            bench.circuit.touch(&lines[1], level);
            let seen = timeout(Duration::from_millis(22), async {
                while edge(&mut buttons).await.down != expected {}
            });
            assert!(seen.await.is_ok(), "round {round}: {expected:#b}");
            sleep(Duration::from_millis(25)).await;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn buttons_of_an_expander_that_is_pulled_out_come_back_with_it() {
    let wiring = wiring::base("rev-b").unwrap();
    let bench = bench(&wiring);
    let line = &wiring.buttons.as_ref().unwrap().lines[1];
    let mut buttons = bench.board.buttons.unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    bench.circuit.unplug("exp1");
    bench.circuit.touch(line, LineLevel::Low);
    let while_out = timeout(Duration::from_secs(5), buttons.edge()).await;
    assert!(while_out.is_err(), "nothing is known of the buttons");
    bench.circuit.plug("exp1");
    assert_eq!(edge(&mut buttons).await.down, 0b0010);
    bench.circuit.touch(line, LineLevel::High);
    assert_eq!(edge(&mut buttons).await.down, 0);
}

#[tokio::test(start_paused = true)]
async fn buttons_that_answer_late_were_not_held_as_the_power_came_on() {
    let wiring = wiring::base("rev-b").unwrap();
    let line = &wiring.buttons.as_ref().unwrap().lines[0];
    for (is_late, expected) in [(false, &[0b0001][..]), (true, &[0, 0b0001])] {
        let circuit = Circuit::new(&wiring, Flow::Live);
        circuit.touch(line, LineLevel::Low);
        if is_late {
            circuit.unplug("exp1");
        }
        let mut bench = bench_on(circuit, &wiring);
        let mut buttons = bench.board.buttons.take().unwrap();
        sleep(Duration::from_secs(1)).await;
        if is_late {
            bench.circuit.plug("exp1");
        }
        for down in expected {
            assert_eq!(edge(&mut buttons).await.down, *down);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_button_that_is_pressed_before_the_bus_is_served_was_not_held_from_power_on() {
    let wiring = wiring::base("rev-b").unwrap();
    let mut bench = bench(&wiring);
    // The tasks of the buses have had no turn yet.
    let line = &wiring.buttons.as_ref().unwrap().lines[0];
    bench.circuit.touch(line, LineLevel::Low);
    let mut buttons = bench.board.buttons.take().unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    assert_eq!(edge(&mut buttons).await.down, 0b0001);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_line_that_is_stuck_keeps_nothing_busy() {
    let wiring = wiring::base("rev-b").unwrap();
    let bench = bench(&wiring);
    let mut buttons = bench.board.buttons.unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    let interrupt = wiring.expanders[0].interrupt.as_ref().unwrap();
    bench.circuit.touch(interrupt, LineLevel::Low);
    let changes = bench.circuit.changes();
    let before = *changes.borrow();
    sleep(Duration::from_secs(1)).await;
    let looks = *changes.borrow() - before;
    assert!(looks <= 210, "{looks} in a second");
    let line = &wiring.buttons.as_ref().unwrap().lines[0];
    bench.circuit.touch(line, LineLevel::Low);
    assert_eq!(edge(&mut buttons).await.down, 0b0001);
}

#[tokio::test(start_paused = true)]
async fn lights_and_sensor_do_as_they_are_told() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    let mut frontlight = bench.board.frontlight.take().unwrap();
    let duties = [0, 1, 2048, 4095, 5, 6, 7];
    frontlight.set(&duties).await;
    assert_eq!(bench.circuit.duties()[..7], duties);
    let begun = Instant::now();
    frontlight.set(&[7; 7]).await;
    assert!(
        begun.elapsed() < Duration::from_millis(2),
        "fast enough for a flash"
    );
    assert_eq!(bench.circuit.duties()[..7], [7; 7]);

    let mut sensor = bench.board.sensor.take().unwrap();
    bench.circuit.set_millilux(Some(10_000));
    assert_eq!(sensor.read().await, Sensed::Millilux(10_000));
    bench.circuit.set_millilux(None);
    assert_eq!(sensor.read().await, Sensed::Absent);
    bench.circuit.set_millilux(Some(20_000));
    assert_eq!(sensor.read().await, Sensed::Millilux(20_000));

    // The chain of this board begins on the right.
    let mut strip = bench.board.strip.take().unwrap();
    let colours = [1, 2, 3, 4].map(|red| Rgb {
        red,
        green: 0,
        blue: 9,
    });
    strip.show(&colours).await;
    let mut seen = bench.circuit.leds();
    seen.reverse();
    assert_eq!(seen, colours);
    bench.assert_nothing_forbidden();
}

#[tokio::test(start_paused = true)]
async fn a_frontlight_that_did_not_answer_for_a_while_shines_again() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    let mut frontlight = bench.board.frontlight.take().unwrap();
    assert!(frontlight.try_set(&[9; 7]).await);
    // Its supply dips: it is asleep when it is back.
    bench.circuit.unplug_frontlight();
    assert!(!frontlight.try_set(&[8; 7]).await);
    assert_eq!(bench.circuit.duties()[..7], [0; 7]);
    bench.circuit.plug_frontlight();
    assert!(frontlight.try_set(&[7; 7]).await);
    assert_eq!(bench.circuit.duties()[..7], [7; 7]);
    bench.assert_nothing_forbidden();
}

#[tokio::test(start_paused = true)]
async fn a_measurement_does_not_keep_the_frontlight_waiting() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    let mut frontlight = bench.board.frontlight.take().unwrap();
    let mut sensor = bench.board.sensor.take().unwrap();
    frontlight.set(&[0; 7]).await;
    let measuring = tokio::spawn(async move { sensor.read().await });
    sleep(Duration::from_millis(20)).await;
    let begun = Instant::now();
    frontlight.set(&[9; 7]).await;
    assert!(begun.elapsed() < Duration::from_millis(2));
    assert!(matches!(measuring.await.unwrap(), Sensed::Millilux(_)));
}

#[tokio::test(start_paused = true)]
async fn what_a_wiring_leaves_out_is_not_there() {
    let mut wiring = wiring::base("rev-b").unwrap();
    (wiring.strip, wiring.frontlight, wiring.sensor) = (None, None, None);
    wiring.buttons = None;
    let mut bench = bench(&wiring);
    assert!(bench.board.strip.is_none() && bench.board.frontlight.is_none());
    assert!(bench.board.sensor.is_none() && bench.board.buttons.is_none());
    bench.show_all(0, Refresh::Full).await;
}

#[test]
fn a_bus_on_a_thread_of_its_own_serves_without_the_runtime_waiting_for_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let wiring = wiring::base("rev-b").unwrap();
        let circuit = Circuit::new(&wiring, Flow::Live);
        let mut board = assemble(&circuit, &wiring).unwrap();
        let mut served = JoinSet::new();
        for bus in std::mem::take(&mut board.buses) {
            served.spawn(bus.serve_on_thread());
        }
        let mut strip = board.strip.take().unwrap();
        let colours = [Rgb {
            red: 1,
            green: 2,
            blue: 3,
        }; 4];
        strip.show(&colours).await;
        assert_eq!(circuit.leds(), colours);
        drop((board, strip));
        while let Some(ended) = served.join_next().await {
            ended.unwrap().unwrap();
        }
    });
}

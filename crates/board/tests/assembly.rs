//! A board assembled from drivers on an emulated circuit: tests of each port.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{sync::Arc, time::Duration};

use board::{
    assembly::{AssembledBoard, AssembledButtons, assemble, last_refresh_limit},
    parts::{epaper::Model, mcp23017::LineLevel},
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
    /// Model of the panels.
    model: &'static Model,
    /// Size of each panel.
    size: (u16, u16),
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
        model: wiring.panels[0].model,
        size: wiring.panels[0].size(),
        circuit,
        board,
        buses,
    }
}

/// The next edge of the buttons, with a timeout because virtual time would pass without end.
async fn edge(buttons: &mut AssembledButtons) -> ButtonEdge {
    let next = timeout(Duration::from_secs(60), buttons.edge());
    next.await.expect("an edge within a minute")
}

fn picture(number: u32) -> Arc<Bitmap> {
    picture_of((122, 250), number)
}

fn picture_of((width, height): (u16, u16), number: u32) -> Arc<Bitmap> {
    Arc::new(Bitmap::from_ink(width, height, |x, y| {
        let place = u32::from(x / 6) * 7_919 + u32::from(y / 6) * 104_729 + number * 1_299_721;
        place.wrapping_mul(2_654_435_761) >> 30 == 0
    }))
}

impl Bench {
    /// Shows a picture on each panel and waits for all. Returns the duration.
    async fn show_all(&mut self, number: u32, refresh: Refresh) -> Duration {
        let start = Instant::now();
        let panels = &mut self.board.panels;
        for panel in 0..panels.count() {
            let frame = picture_of(self.size, number + panel as u32);
            panels.start(panel, &frame, refresh).await.unwrap();
        }
        let mut ended = 0;
        while ended < panels.count() {
            for (panel, outcome) in panels.idle().await {
                assert_eq!(outcome, Ok(self.model.refresh(refresh)));
                let glass = self.circuit.glass(panel).unwrap();
                let expected = picture_of(self.size, number + panel as u32);
                assert!(glass == *expected, "panel {panel}");
                ended += 1;
            }
        }
        start.elapsed()
    }

    fn assert_no_violations(&self) {
        assert_eq!(self.circuit.violations(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn all_panels_of_every_board_refresh_in_parallel() {
    // The example for one panel is included because its supply is switched.
    let one_panel = include_str!("../../../docs/wiring/pi-one-panel.toml");
    for (name, text) in wiring::BASES.iter().chain(&[("one panel", one_panel)]) {
        let wiring = wiring::read(text).unwrap().wiring;
        let mut bench = bench(&wiring);
        let model = wiring.panels[0].model;
        // At most 5 % more than the panels themselves need, beside the transfers.
        let limit = |refresh, planes: u32| {
            let bits = u32::from(model.width.div_ceil(8)) * u32::from(model.height) * 8;
            let sent = wiring.panels.len() as u32 * planes * bits;
            let transfers = Duration::from_secs_f64(f64::from(sent) / f64::from(wiring.spi.hz));
            let time = model.refresh_time(refresh, wiring.panels[0].full);
            time.mul_f64(1.05) + transfers
        };
        // The first one is after the reset.
        bench.show_all(0, Refresh::Full).await;
        sleep(Duration::from_secs(1)).await;
        let full = bench.show_all(10, Refresh::Full).await;
        assert!(full < limit(Refresh::Full, 2), "{name}: {full:?}");
        // Wait until the next refresh is prepared.
        sleep(Duration::from_secs(1)).await;
        let partial = bench.show_all(20, Refresh::Partial).await;
        assert!(partial < limit(Refresh::Partial, 1), "{name}: {partial:?}");
        bench.assert_no_violations();
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_panel_is_reported_and_does_not_delay_the_others() {
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
    let missing = panels.start(8, &picture(1), Refresh::Full).await;
    assert_eq!(missing, Err(PanelFault::Bus));
    let more = timeout(Duration::from_secs(60), panels.idle()).await;
    assert!(more.is_err(), "no panel refreshes");
    bench.assert_no_violations();
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_a_running_refresh() {
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
async fn a_panel_that_is_alone_sleeps_after_the_end() {
    for (name, text) in wiring::BASES {
        let mut wiring = wiring::read(text).unwrap().wiring;
        // The supply stays on.
        wiring.spi.power = None;
        wiring.clear_at_stop = name.starts_with("waveshare");
        let mut bench = bench(&wiring);
        bench.show_all(0, Refresh::Full).await;
        let frame = picture_of(bench.size, 9);
        let panels = &mut bench.board.panels;
        panels.start(0, &frame, Refresh::Partial).await.unwrap();
        drop(bench.board);
        let start = Instant::now();
        while bench.buses.join_next().await.is_some() {}
        assert!(start.elapsed() < last_refresh_limit(&wiring), "{name}");
        let last = match wiring.clear_at_stop {
            true => Bitmap::paper(frame.width(), frame.height()),
            false => (*frame).clone(),
        };
        assert!(bench.circuit.glass(0).unwrap() == last, "{name}");
        let is_alone = wiring.panels.len() == 1;
        assert_eq!(bench.circuit.is_asleep(0), is_alone, "{name}");
        // The next run wakes it.
        if is_alone {
            let mut bench = bench_on(bench.circuit.clone(), &wiring);
            bench.show_all(20, Refresh::Full).await;
            bench.assert_no_violations();
            // It sleeps again if it is idle at the end.
            sleep(Duration::from_secs(60)).await;
            drop(bench.board);
            let buses = async { while bench.buses.join_next().await.is_some() {} };
            let ended = timeout(last_refresh_limit(&wiring), buses).await;
            assert!(ended.is_ok(), "{name}");
            assert!(bench.circuit.is_asleep(0), "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_panel_that_has_failed_alone_sleeps_after_the_end_too() {
    use PanelCondition::{BusyLost, Silent};
    for (name, condition) in [
        ("waveshare-7.5-v2", Silent),
        ("waveshare-7.5-v2", BusyLost),
        ("waveshare-4.2-v2", BusyLost),
    ] {
        let mut wiring = wiring::base(name).unwrap();
        // The supply stays on.
        wiring.spi.power = None;
        let mut bench = bench(&wiring);
        bench.show_all(0, Refresh::Full).await;
        bench.circuit.set_condition(0, condition);
        let frame = picture_of(bench.size, 9);
        let panels = &mut bench.board.panels;
        panels.start(0, &frame, Refresh::Partial).await.unwrap();
        let ended = panels.idle().await;
        assert_eq!(ended, [(0, Err(PanelFault::NotRefreshed))], "{name}");
        drop(bench.board);
        let start = Instant::now();
        while bench.buses.join_next().await.is_some() {}
        assert!(start.elapsed() <= last_refresh_limit(&wiring), "{name}");
        assert!(bench.circuit.is_asleep(0), "{name}, {condition:?}");
        assert_eq!(bench.circuit.violations(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_a_stuck_panel_only_for_a_limited_time() {
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
    let start = Instant::now();
    while bench.buses.join_next().await.is_some() {}
    assert!(start.elapsed() <= Duration::from_millis(5300));
}

#[tokio::test(start_paused = true)]
async fn edges_of_buttons_are_reported_by_interrupt_poll_and_host() {
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
        ("poll", wiring::base("v8").unwrap(), millis(22)),
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
            let start = Instant::now();
            let edge = edge(&mut buttons).await;
            assert_eq!(edge.down, expected, "{by}");
            let late = edge.at.duration_since(start);
            assert!(late <= latest, "{by}: {late:?}");
        }
        let more = timeout(Duration::from_secs(5), buttons.edge()).await;
        assert!(more.is_err(), "no button changes");
    }
}

#[tokio::test(start_paused = true)]
async fn buttons_are_reported_in_time_while_their_expander_polls_busy_lines() {
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
    // Two buttons 1 ms apart, each round at another time between two polls of the busy lines.
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
async fn buttons_work_again_when_their_expander_is_plugged_in_again() {
    let wiring = wiring::base("rev-b").unwrap();
    let bench = bench(&wiring);
    let line = &wiring.buttons.as_ref().unwrap().lines[1];
    let mut buttons = bench.board.buttons.unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    bench.circuit.unplug("exp1");
    bench.circuit.touch(line, LineLevel::Low);
    let while_unplugged = timeout(Duration::from_secs(5), buttons.edge()).await;
    assert!(while_unplugged.is_err(), "no edges without the expander");
    bench.circuit.plug("exp1");
    assert_eq!(edge(&mut buttons).await.down, 0b0010);
    bench.circuit.touch(line, LineLevel::High);
    assert_eq!(edge(&mut buttons).await.down, 0);
}

#[tokio::test(start_paused = true)]
async fn buttons_of_a_late_expander_do_not_count_as_held_at_power_on() {
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
async fn a_press_before_the_bus_task_runs_does_not_count_as_held_at_power_on() {
    let wiring = wiring::base("rev-b").unwrap();
    let mut bench = bench(&wiring);
    // The tasks of the buses have not run yet.
    let line = &wiring.buttons.as_ref().unwrap().lines[0];
    bench.circuit.touch(line, LineLevel::Low);
    let mut buttons = bench.board.buttons.take().unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    assert_eq!(edge(&mut buttons).await.down, 0b0001);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_interrupt_line_does_not_cause_a_busy_loop() {
    let wiring = wiring::base("rev-b").unwrap();
    let bench = bench(&wiring);
    let mut buttons = bench.board.buttons.unwrap();
    assert_eq!(edge(&mut buttons).await.down, 0);
    let interrupt = wiring.expanders[0].interrupt.as_ref().unwrap();
    bench.circuit.touch(interrupt, LineLevel::Low);
    let changes = bench.circuit.changes();
    let before = *changes.borrow();
    sleep(Duration::from_secs(1)).await;
    let changed = *changes.borrow() - before;
    assert!(changed <= 210, "{changed} changes in a second");
    let line = &wiring.buttons.as_ref().unwrap().lines[0];
    bench.circuit.touch(line, LineLevel::Low);
    assert_eq!(edge(&mut buttons).await.down, 0b0001);
}

#[tokio::test(start_paused = true)]
async fn strip_frontlight_and_sensor_work() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    let mut frontlight = bench.board.frontlight.take().unwrap();
    let duties = [0, 1, 2048, 4095, 5, 6, 7];
    frontlight.set(&duties).await;
    assert_eq!(bench.circuit.duties()[..7], duties);
    let start = Instant::now();
    frontlight.set(&[7; 7]).await;
    assert!(
        start.elapsed() < Duration::from_millis(2),
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

    // The first LED of this board is on the right.
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
    bench.assert_no_violations();
}

#[tokio::test(start_paused = true)]
async fn a_frontlight_recovers_after_its_driver_was_unplugged() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    let mut frontlight = bench.board.frontlight.take().unwrap();
    assert!(frontlight.try_set(&[9; 7]).await);
    // After a loss of power the driver sleeps.
    bench.circuit.unplug_frontlight();
    assert!(!frontlight.try_set(&[8; 7]).await);
    assert_eq!(bench.circuit.duties()[..7], [0; 7]);
    bench.circuit.plug_frontlight();
    assert!(frontlight.try_set(&[7; 7]).await);
    assert_eq!(bench.circuit.duties()[..7], [7; 7]);
    bench.assert_no_violations();
}

#[tokio::test(start_paused = true)]
async fn a_measurement_does_not_delay_the_frontlight() {
    let mut bench = bench(&wiring::base("rev-b").unwrap());
    let mut frontlight = bench.board.frontlight.take().unwrap();
    let mut sensor = bench.board.sensor.take().unwrap();
    frontlight.set(&[0; 7]).await;
    let measuring = tokio::spawn(async move { sensor.read().await });
    sleep(Duration::from_millis(20)).await;
    let start = Instant::now();
    frontlight.set(&[9; 7]).await;
    assert!(start.elapsed() < Duration::from_millis(2));
    assert!(matches!(measuring.await.unwrap(), Sensed::Millilux(_)));
}

#[tokio::test(start_paused = true)]
async fn a_board_has_only_the_parts_of_its_wiring() {
    let mut wiring = wiring::base("rev-b").unwrap();
    (wiring.strip, wiring.frontlight, wiring.sensor) = (None, None, None);
    wiring.buttons = None;
    let mut bench = bench(&wiring);
    assert!(bench.board.strip.is_none() && bench.board.frontlight.is_none());
    assert!(bench.board.sensor.is_none() && bench.board.buttons.is_none());
    bench.show_all(0, Refresh::Full).await;
}

#[test]
fn a_bus_on_its_own_thread_does_not_block_the_runtime() {
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

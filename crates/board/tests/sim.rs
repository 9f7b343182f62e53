//! The simulated board keeps the time of a real one, as seen through its ports and its bench.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{sync::Arc, time::Duration};

use board::{
    ports::{ButtonEdge, Buttons, LightSensor, Panels, Wifi},
    sim::{
        self, BenchError, FULL_REFRESH, PARTIAL_REFRESH, PanelTiming, PowerCycle, SimFault,
        SimOptions,
    },
    spec,
};
use device::{
    board::PanelFault,
    input::{LinkEvent, LinkFailure, Sensed},
    refresh::Refresh,
};
use render::Bitmap;
use tokio::time::{Instant, sleep, timeout};

const MOMENT: Duration = Duration::from_millis(1);

fn rev_b(options: SimOptions) -> sim::SimBoard {
    sim::board(spec::find("rev-b").unwrap(), options)
}

fn frame() -> Arc<Bitmap> {
    Arc::new(Bitmap::paper(122, 250))
}

#[tokio::test(start_paused = true)]
async fn panels_refresh_in_parallel_and_take_their_time() {
    for (refresh, takes) in [
        (Refresh::Full, FULL_REFRESH),
        (Refresh::Partial, PARTIAL_REFRESH),
    ] {
        let mut board = rev_b(SimOptions::default());
        let begun = Instant::now();
        for panel in 0..7 {
            board.panels.start(panel, &frame(), refresh).await.unwrap();
        }
        assert!(board.bench.state().panels.iter().all(|panel| panel.busy));
        let all: Vec<_> = (0..7).map(|panel| (panel, Ok(refresh))).collect();
        assert_eq!(board.panels.idle().await, all);
        assert_eq!(begun.elapsed(), takes);
        assert!(board.bench.state().panels.iter().all(|panel| !panel.busy));
    }
}

#[tokio::test(start_paused = true)]
async fn the_paper_shows_the_old_picture_until_the_refresh_ends() {
    let mut board = rev_b(SimOptions::default());
    let (first, second) = (frame(), frame());
    board.panels.start(0, &first, Refresh::Full).await.unwrap();
    board.panels.idle().await;
    board
        .panels
        .start(0, &second, Refresh::Partial)
        .await
        .unwrap();
    assert!(Arc::ptr_eq(&board.bench.shown(0).unwrap(), &first));
    board.panels.idle().await;
    assert!(Arc::ptr_eq(&board.bench.shown(0).unwrap(), &second));
    let panel = board.bench.state().panels[0].clone();
    assert_eq!((panel.full, panel.partial), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_busy_panel_takes_no_second_frame() {
    let mut board = rev_b(SimOptions::default());
    board
        .panels
        .start(3, &frame(), Refresh::Full)
        .await
        .unwrap();
    let again = board.panels.start(3, &frame(), Refresh::Full).await;
    assert_eq!(again, Err(PanelFault::StartedBusy));
}

#[tokio::test(start_paused = true)]
async fn a_stuck_panel_holds_up_no_other_and_comes_back_when_mended() {
    let mut board = rev_b(SimOptions::default());
    board.bench.set_fault(2, SimFault::BusyStuck).unwrap();
    for panel in 0..4 {
        board
            .panels
            .start(panel, &frame(), Refresh::Partial)
            .await
            .unwrap();
    }
    let partial = Ok(Refresh::Partial);
    let others = [(0, partial), (1, partial), (3, partial)];
    assert_eq!(board.panels.idle().await, others);
    assert!(
        timeout(Duration::from_secs(60), board.panels.idle())
            .await
            .is_err()
    );
    assert_eq!(board.bench.state().panels[2].fault, "busy-stuck");
    board.bench.set_fault(2, SimFault::None).unwrap();
    assert_eq!(board.panels.idle().await, [(2, partial)]);
}

#[tokio::test(start_paused = true)]
async fn instant_panels_take_no_time() {
    let mut board = rev_b(SimOptions {
        timing: PanelTiming::Instant,
        ..SimOptions::default()
    });
    let begun = Instant::now();
    board
        .panels
        .start(0, &frame(), Refresh::Full)
        .await
        .unwrap();
    assert_eq!(board.panels.idle().await, [(0, Ok(Refresh::Full))]);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_press_is_seen_down_and_up_and_ends_after_the_release() {
    let mut board = rev_b(SimOptions::default());
    let bench = board.bench.clone();
    let begun = Instant::now();
    let hold = Duration::from_millis(900);
    let ((), ()) = tokio::join!(async { bench.press(&[1, 3], hold).await.unwrap() }, async {
        for (down, at) in [(0, begun), (0b0101, begun), (0, begun + hold)] {
            assert_eq!(board.buttons.edge().await, ButtonEdge { down, at });
        }
        assert_eq!(begun.elapsed(), hold);
    });
}

#[tokio::test(start_paused = true)]
async fn presses_that_nobody_looked_at_are_told_with_their_moments() {
    let mut board = rev_b(SimOptions::default());
    let bench = board.bench.clone();
    let begun = Instant::now();
    let ms = Duration::from_millis;
    bench.press(&[2], ms(100)).await.unwrap();
    sleep(ms(50)).await;
    bench.press(&[2], ms(900)).await.unwrap();
    sleep(ms(5000)).await;
    let told = [(0, 0), (0b0010, 0), (0, 100), (0b0010, 150), (0, 1050)];
    for (down, at) in told {
        let at = begun + ms(at);
        assert_eq!(board.buttons.edge().await, ButtonEdge { down, at });
    }
    assert!(timeout(MOMENT, board.buttons.edge()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn of_very_many_presses_the_oldest_are_forgotten_and_the_state_is_right() {
    let mut board = rev_b(SimOptions::default());
    let bench = board.bench.clone();
    for _ in 0..1000 {
        bench.press(&[1], MOMENT).await.unwrap();
    }
    let mut down = None;
    let mut told = 0;
    while let Ok(edge) = timeout(MOMENT, board.buttons.edge()).await {
        assert_ne!(down, Some(edge.down), "an edge changes something");
        down = Some(edge.down);
        told += 1;
    }
    assert_eq!(down, Some(0));
    assert!((32..=128).contains(&told), "{told}");
}

#[test]
fn a_power_cycle_is_read_as_it_is_printed() {
    let cycle = PowerCycle {
        mask: 5,
        held: Duration::from_millis(3200),
    };
    assert_eq!(cycle.to_string(), "5 3200");
    for (text, read) in [
        ("5 3200", Some(cycle)),
        ("5", None),
        ("256 1", None),
        ("", None),
    ] {
        assert_eq!(PowerCycle::parse(text), read, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_ends_before_anybody_looks_is_told() {
    let held = Duration::from_millis(3200);
    let mut board = rev_b(SimOptions {
        held: PowerCycle { mask: 0b0001, held },
        ..SimOptions::default()
    });
    let begun = Instant::now();
    sleep(2 * held).await;
    // Somebody else has pressed meanwhile; the order of the edges is that of their moments.
    board.bench.press(&[3], held).await.unwrap();
    let told = [
        (0b0001, begun),
        (0, begun + held),
        (0b0100, begun + 2 * held),
        (0, begun + 3 * held),
    ];
    for (down, at) in told {
        assert_eq!(board.buttons.edge().await, ButtonEdge { down, at });
    }
}

#[tokio::test(start_paused = true)]
async fn a_press_that_is_abandoned_lets_go() {
    let mut board = rev_b(SimOptions::default());
    let press = board.bench.press(&[2], Duration::from_secs(30));
    assert!(timeout(MOMENT, press).await.is_err());
    assert!(board.bench.state().buttons.is_empty());
    let mut last = board.buttons.edge().await;
    while let Ok(edge) = timeout(MOMENT, board.buttons.edge()).await {
        last = edge;
    }
    assert_eq!(last.down, 0, "nothing is down");
}

#[tokio::test(start_paused = true)]
async fn buttons_held_at_power_on_are_down_for_their_time() {
    let held = Duration::from_millis(3200);
    let mut board = rev_b(SimOptions {
        held: PowerCycle { mask: 0b0001, held },
        ..SimOptions::default()
    });
    let begun = Instant::now();
    assert_eq!(board.buttons.edge().await.down, 0b0001);
    assert_eq!(board.bench.state().buttons, [1]);
    let at = begun + held;
    assert_eq!(board.buttons.edge().await, ButtonEdge { down: 0, at });
    assert_eq!(begun.elapsed(), held);
}

#[tokio::test(start_paused = true)]
async fn the_bench_refuses_what_the_board_does_not_have() {
    let board = rev_b(SimOptions::default());
    let long = Duration::from_secs(61);
    assert_eq!(
        board.bench.press(&[0], MOMENT).await,
        Err(BenchError::NoButton(0))
    );
    assert_eq!(
        board.bench.press(&[5], MOMENT).await,
        Err(BenchError::NoButton(5))
    );
    assert_eq!(
        board.bench.press(&[1], long).await,
        Err(BenchError::TooLong)
    );
    assert_eq!(
        board.bench.cycle_power(&[9], MOMENT),
        Err(BenchError::NoButton(9))
    );
    assert_eq!(
        board.bench.set_fault(7, SimFault::None),
        Err(BenchError::NoPanel(7))
    );
    assert!(board.bench.shown(7).is_err());
    let bare = sim::board(spec::find("rev-a").unwrap(), SimOptions::default());
    assert_eq!(bare.bench.set_millilux(Some(1)), Err(BenchError::NoSensor));
    assert!(bare.frontlight.is_none() && bare.sensor.is_none());
}

#[tokio::test(start_paused = true)]
async fn light_and_network_follow_the_bench() {
    let mut board = rev_b(SimOptions::default());
    let mut sensor = board.sensor.take().unwrap();
    board.bench.set_millilux(Some(500)).unwrap();
    assert_eq!(sensor.read().await, Sensed::Millilux(500));
    assert_eq!(board.bench.state().lux, Some(0.5));
    board.bench.set_millilux(None).unwrap();
    assert_eq!(sensor.read().await, Sensed::Absent);

    assert_eq!(board.wifi.event().await, LinkEvent::Unmanaged);
    assert!(matches!(
        board.wifi.event().await,
        LinkEvent::Up { ssid: None, .. }
    ));
    board.bench.set_link(false);
    assert_eq!(board.wifi.event().await, LinkEvent::Down(LinkFailure::Lost));
    assert_eq!(board.bench.state().link, "down");
}

#[tokio::test(start_paused = true)]
async fn a_power_cut_comes_after_the_answer() {
    let board = rev_b(SimOptions::default());
    let begun = Instant::now();
    let held = Duration::from_millis(3200);
    board.bench.cycle_power(&[1, 4], held).unwrap();
    assert_eq!(
        board.bench.power_cut().await,
        PowerCycle { mask: 0b1001, held }
    );
    assert!(begun.elapsed() >= Duration::from_millis(100));
}

//! The simulated board has the timing of a real one at its ports and its bench.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{sync::Arc, time::Duration};

use board::{
    ports::{ButtonEdge, Buttons, Panels},
    sim::{self, PowerCycle, SimFault, SimOptions},
    spec,
};
use device::refresh::Refresh;
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
async fn a_panel_shows_the_old_picture_until_the_refresh_ends() {
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
async fn a_stuck_panel_does_not_delay_the_others_and_works_after_its_repair() {
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
    assert_eq!(board.bench.state().panels[2].fault, SimFault::BusyStuck);
    board.bench.set_fault(2, SimFault::None).unwrap();
    assert_eq!(board.panels.idle().await, [(2, partial)]);
}

#[tokio::test(start_paused = true)]
async fn a_press_is_reported_as_two_edges_and_ends_after_the_release() {
    let mut board = rev_b(SimOptions::default());
    let bench = board.bench.clone();
    let start = Instant::now();
    let hold = Duration::from_millis(900);
    let ((), ()) = tokio::join!(async { bench.press(&[1, 3], hold).await.unwrap() }, async {
        for (down, at) in [(0, start), (0b0101, start), (0, start + hold)] {
            assert_eq!(board.buttons.edge().await, ButtonEdge { down, at });
        }
        assert_eq!(start.elapsed(), hold);
    });
}

#[tokio::test(start_paused = true)]
async fn queued_presses_are_reported_with_their_times() {
    let mut board = rev_b(SimOptions::default());
    let bench = board.bench.clone();
    let start = Instant::now();
    let ms = Duration::from_millis;
    bench.press(&[2], ms(100)).await.unwrap();
    sleep(ms(50)).await;
    bench.press(&[2], ms(900)).await.unwrap();
    sleep(ms(5000)).await;
    let expected = [(0, 0), (0b0010, 0), (0, 100), (0b0010, 150), (0, 1050)];
    for (down, at) in expected {
        let at = start + ms(at);
        assert_eq!(board.buttons.edge().await, ButtonEdge { down, at });
    }
    assert!(timeout(MOMENT, board.buttons.edge()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_hold_at_power_on_is_reported_even_after_its_end() {
    let held = Duration::from_millis(3200);
    let mut board = rev_b(SimOptions {
        held: PowerCycle { mask: 0b0001, held },
        ..SimOptions::default()
    });
    let start = Instant::now();
    sleep(2 * held).await;
    // Another button was pressed later; the edges are in the order of their times.
    board.bench.press(&[3], held).await.unwrap();
    let expected = [
        (0b0001, start),
        (0, start + held),
        (0b0100, start + 2 * held),
        (0, start + 3 * held),
    ];
    for (down, at) in expected {
        assert_eq!(board.buttons.edge().await, ButtonEdge { down, at });
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_press_releases_the_button() {
    let mut board = rev_b(SimOptions::default());
    let press = board.bench.press(&[2], Duration::from_secs(30));
    assert!(timeout(MOMENT, press).await.is_err());
    assert!(board.bench.state().buttons.is_empty());
    let mut last = board.buttons.edge().await;
    while let Ok(edge) = timeout(MOMENT, board.buttons.edge()).await {
        last = edge;
    }
    assert_eq!(last.down, 0, "no button is pressed");
}

//! Ratio of the refresh time of seven panels to that of one, in emulated time; `docs/performance.md` has the table.

use std::time::Duration;

use board::{
    parts::epaper::FullWaveform,
    wiring::{self, Wiring},
};
use device::refresh::Refresh;
use render::Bitmap;

use crate::rig::{self, Rig};

/// Greatest allowed ratio.
const GOAL: f64 = 1.10;

/// Greatest allowed ratio if the select lines are on a slow I2C bus, as in `docs/performance.md`.
const GOAL_OVER_SLOW_I2C: f64 = 1.11;

/// Greatest allowed ratio of the time of one panel, with its data, to the time of its waveform.
const GOAL_ALONE: f64 = 1.05;

/// The same for a partial refresh that changes all rows.
const GOAL_ALL_ROWS: f64 = 1.07;

/// A wiring of seven panels of a board, with these bus clocks.
fn seven(board: &str, spi_hz: u32, i2c_hz: u32) -> Wiring {
    let mut wiring = rig::wiring(board);
    wiring.panels.truncate(7);
    wiring.spi.hz = spi_hz;
    if let Some(i2c) = &mut wiring.i2c {
        i2c.hz = i2c_hz;
    }
    wiring
}

/// Ratios of a full and a partial refresh of all panels to that of a single panel.
fn ratios(wiring: &Wiring) -> (f64, f64) {
    let times = &wiring.panels[0].model.times;
    let mut rig = Rig::new(wiring);
    rig.show_all(0, Refresh::Full);
    let full = took(&mut rig, 10, Refresh::Full).as_secs_f64() / times.full.as_secs_f64();
    let partial =
        took(&mut rig, 20, Refresh::Partial).as_secs_f64() / times.whole_partial().as_secs_f64();
    rig.assert_no_violations();
    (full, partial)
}

/// Ratio of a partial refresh that changes half of the rows, as another figure does, to the time of its waveform.
fn figure_ratio(wiring: &Wiring) -> f64 {
    let model = wiring.panels[0].model;
    let (width, height) = wiring.panels[0].size();
    let picture = |ink: bool| Bitmap::from_ink(width, height, |_, y| ink && y >= height / 2);
    let mut rig = Rig::new(wiring);
    rig.worker.show(0, &picture(false), Refresh::Full).unwrap();
    rig.run();
    rig.worker
        .show(0, &picture(true), Refresh::Partial)
        .unwrap();
    let took = until_all_shown(&mut rig);
    took.as_secs_f64()
        / model
            .refresh_time(Refresh::Partial, FullWaveform::Measured)
            .as_secs_f64()
}

/// Shows pictures on all panels; returns the time.
fn took(rig: &mut Rig, first: u32, refresh: Refresh) -> Duration {
    for panel in 0..rig.worker.count() {
        rig.show(panel, first + panel as u32, refresh).unwrap();
    }
    until_all_shown(rig)
}

/// Time until the driver reports the last panel as complete.
fn until_all_shown(rig: &mut Rig) -> Duration {
    let started = rig.circuit.now();
    let ended = rig.run_until_shown();
    // The preparation of the next refresh does not count.
    rig.run();
    ended - started
}

#[test]
fn seven_panels_take_little_longer_than_one() {
    for (board, spi_hz, i2c_hz) in [
        ("rev-b", 10_000_000, 400_000),
        ("rev-b", 4_000_000, 400_000),
        ("rev-b", 10_000_000, 100_000),
        ("rev-b", 4_000_000, 100_000),
        ("v8", 10_000_000, 400_000),
        ("v8", 4_000_000, 400_000),
        ("v8", 10_000_000, 100_000),
        ("v8", 4_000_000, 100_000),
    ] {
        let (full, partial) = ratios(&seven(board, spi_hz, i2c_hz));
        println!("{board} {spi_hz} {i2c_hz}: full {full:.3}, partial {partial:.3}");
        let goal = match (board, i2c_hz) {
            ("v8", 100_000) => GOAL_OVER_SLOW_I2C,
            _ => GOAL,
        };
        assert!(
            full <= goal && partial <= goal,
            "{board} {spi_hz} {i2c_hz}: {full} {partial}"
        );
    }
}

#[test]
fn one_panel_takes_little_longer_than_its_own_time() {
    for name in wiring::displays() {
        let wiring = wiring::base(name).unwrap();
        let (full, all_rows) = ratios(&wiring);
        let figure = figure_ratio(&wiring);
        println!("{name}: full {full:.3}, all rows {all_rows:.3}, a figure {figure:.3}");
        assert!(
            full <= GOAL_ALONE && figure <= GOAL_ALONE && all_rows <= GOAL_ALL_ROWS,
            "{name}: {full} {figure} {all_rows}"
        );
    }
}

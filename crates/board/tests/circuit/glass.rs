//! The panels show the last picture after any order of pictures and faults.

use std::time::Duration;

use board::{
    parts::epaper::{FullWaveform, MODELS, PanelRotation, find},
    wiring::{self, BASES},
};
use device::refresh::Refresh;
use lab::circuit::PanelCondition;
use proptest::prelude::*;
use render::Bitmap;

use crate::rig::{Rig, picture, wiring};

fn boards() -> Vec<&'static str> {
    BASES.iter().map(|(name, _)| *name).collect()
}

#[test]
fn every_board_shows_pictures_by_full_and_partial_refreshes() {
    for board in boards() {
        let wiring = wiring(board);
        let model = wiring.panels[0].model;
        let mut rig = Rig::new(&wiring);
        let count = rig.worker.count();
        let outcomes = rig.show_all(0, Refresh::Full);
        assert_eq!(outcomes.len(), count, "{board}");
        assert!(outcomes.iter().all(|(_, end)| *end == Ok(Refresh::Full)));
        for round in 1..4 {
            let outcomes = rig.show_all(100 * round, Refresh::Partial);
            let refresh = model.refresh(Refresh::Partial);
            assert!(outcomes.iter().all(|(_, end)| *end == Ok(refresh)));
            let expected = match refresh {
                Refresh::Partial => (1, u64::from(round)),
                Refresh::Full => (u64::from(round) + 1, 0),
            };
            for panel in 0..count {
                rig.assert_shows(panel, 100 * round + panel as u32);
                assert_eq!(rig.circuit.refreshes(panel), expected);
            }
        }
        rig.assert_no_violations();
    }
}

#[test]
fn panels_refresh_at_once_unless_they_are_staggered() {
    let longest = |stagger: u64| {
        let mut wiring = wiring("rev-b");
        for panel in &mut wiring.panels {
            panel.stagger = Duration::from_millis(stagger);
        }
        let mut rig = Rig::new(&wiring);
        rig.show_all(0, Refresh::Full);
        let start = rig.circuit.now();
        let outcomes = rig.show_all(7, Refresh::Partial);
        assert_eq!(outcomes.len(), 7);
        rig.assert_no_violations();
        rig.circuit.now() - start
    };
    let (together, apart) = (longest(0), longest(100));
    assert!(together < Duration::from_millis(800), "{together:?}");
    let difference = apart - together;
    let expected = Duration::from_millis(500)..Duration::from_millis(620);
    assert!(expected.contains(&difference), "{difference:?}");
}

#[test]
fn panels_of_every_model_and_rotation_show_their_pictures() {
    for model in MODELS {
        for rotation in PanelRotation::ALL {
            for x_offset in [0, model.x_offset_max().min(1)] {
                let mut wiring = wiring("rev-a");
                wiring.panels.truncate(2);
                for panel in &mut wiring.panels {
                    panel.model = model;
                    panel.rotation = rotation;
                    panel.x_offset = x_offset;
                }
                let mut rig = Rig::new(&wiring);
                rig.show_all(0, Refresh::Full);
                rig.show_all(10, Refresh::Partial);
                rig.assert_shows(1, 11);
                rig.assert_no_violations();
            }
        }
    }
}

/// Also while the next refresh is being prepared.
#[test]
fn a_refresh_changes_any_rows() {
    for name in wiring::displays() {
        let wiring = wiring(name);
        let (width, height) = wiring.panels[0].size();
        let last = height - 1;
        let mut rig = Rig::new(&wiring);
        rig.show_all(0, Refresh::Full);
        let mut shown = picture((width, height), 0);
        for is_prepared in [true, false] {
            for (rows, refresh) in [
                (vec![0], Refresh::Partial),
                (vec![], Refresh::Partial),
                (vec![last], Refresh::Partial),
                (vec![20, 90], Refresh::Partial),
                (vec![90], Refresh::Full),
                (vec![5], Refresh::Partial),
            ] {
                let before = shown.clone();
                let changed = |x, y| before.is_ink(x, y) != rows.contains(&y);
                shown = Bitmap::from_ink(width, height, changed);
                rig.worker.show(0, &shown, refresh).unwrap();
                if is_prepared {
                    rig.run();
                } else {
                    rig.run_until_shown();
                }
                let glass = rig.circuit.glass(0).unwrap();
                assert!(glass == shown, "{name}, {rows:?}, {is_prepared}");
            }
        }
        rig.assert_no_violations();
    }
}

#[test]
fn large_panels_and_the_short_waveform_work_too() {
    let mut wiring = wiring("rev-b");
    for panel in &mut wiring.panels {
        panel.model = find("gdey029t94").unwrap();
        panel.full = FullWaveform::Warm;
    }
    let mut rig = Rig::new(&wiring);
    let start = rig.circuit.now();
    rig.show_all(0, Refresh::Full);
    let took = rig.circuit.now() - start;
    assert!(took < Duration::from_millis(2100), "{took:?}");
    let glass = rig.circuit.glass(3).unwrap();
    assert_eq!((glass.width(), glass.height()), (128, 296));
    rig.assert_shows(3, 3);
    rig.assert_no_violations();
}

#[test]
fn a_full_refresh_removes_ghosts() {
    let mut rig = Rig::new(&wiring("rev-b"));
    rig.show_all(0, Refresh::Full);
    for round in 1..=5 {
        rig.show_all(10 * round, Refresh::Partial);
    }
    assert!((1..=5).contains(&rig.circuit.ghosts(0)));
    rig.show_all(0, Refresh::Full);
    assert_eq!(rig.circuit.ghosts(0), 0);
}

#[test]
fn panels_can_share_a_reset_line() {
    let mut wiring = wiring("rev-b");
    let reset = wiring.panels[0].reset.clone();
    for panel in &mut wiring.panels {
        panel.reset = reset.clone();
    }
    let mut rig = Rig::new(&wiring);
    rig.show_all(0, Refresh::Full);
    // A panel fails while another one refreshes: the reset waits for that refresh, and all panels show their pictures.
    rig.circuit.set_condition(2, PanelCondition::Silent);
    rig.show(2, 52, Refresh::Partial).unwrap();
    rig.run();
    rig.circuit.set_condition(2, PanelCondition::Healthy);
    rig.show(5, 55, Refresh::Partial).unwrap();
    let soon = rig.circuit.now() + Duration::from_millis(100);
    rig.run_until(soon);
    rig.show(2, 62, Refresh::Partial).unwrap();
    assert_eq!(
        rig.run(),
        [(5, Ok(Refresh::Partial)), (2, Ok(Refresh::Full))]
    );
    rig.show(0, 60, Refresh::Partial).unwrap();
    assert_eq!(rig.run(), [(0, Ok(Refresh::Partial))]);
    for (panel, number) in [(0, 60), (1, 1), (2, 62), (5, 55), (6, 6)] {
        rig.assert_shows(panel, number);
    }
    rig.assert_no_violations();
}

#[derive(Debug, Clone)]
enum BoardEvent {
    Show(usize, u32, bool),
    Break(usize, PanelCondition),
    Wait(u64),
}

fn event() -> impl Strategy<Value = BoardEvent> {
    let condition = prop::sample::select(vec![
        PanelCondition::Healthy,
        PanelCondition::Healthy,
        PanelCondition::StuckBusy,
        PanelCondition::Silent,
        PanelCondition::Cold,
        PanelCondition::Slow,
        PanelCondition::PingPong,
        PanelCondition::Absent,
    ]);
    prop_oneof![
        6 => (0..8usize, 0..1000u32, any::<bool>())
            .prop_map(|(panel, number, full)| BoardEvent::Show(panel, number, full)),
        1 => (0..8usize, condition).prop_map(|(panel, condition)| BoardEvent::Break(panel, condition)),
        3 => (0..3000u64).prop_map(BoardEvent::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// When all panels are repaired, each shows exactly its next picture.
    #[test]
    fn panels_show_their_last_picture_after_any_pictures_and_faults(
        board in prop::sample::select(boards()),
        shares_reset in any::<bool>(),
        events in prop::collection::vec(event(), 1..30),
    ) {
        let mut wiring = wiring(board);
        if shares_reset {
            let reset = wiring.panels[0].reset.clone();
            for panel in &mut wiring.panels {
                panel.reset = reset.clone();
            }
        }
        let mut rig = Rig::new(&wiring);
        let count = rig.worker.count();
        let mut started = 0u64;
        let mut ended = 0u64;
        // A panel that is unplugged looks as if it had finished, and one that hangs between two refreshes as if it had
        // received what prepares the next one. The driver cannot detect that, so only a full refresh repairs it.
        let mut last_refresh = vec![Refresh::Partial; count];
        for event in events {
            match event {
                BoardEvent::Show(panel, number, full) => {
                    let panel = panel % count;
                    let refresh = if full { Refresh::Full } else { last_refresh[panel] };
                    started += u64::from(rig.show(panel, number, refresh).is_ok());
                }
                BoardEvent::Break(panel, condition) => {
                    let panel = panel % count;
                    if matches!(condition, PanelCondition::Absent | PanelCondition::StuckBusy) {
                        last_refresh[panel] = Refresh::Full;
                    }
                    rig.circuit.set_condition(panel, condition);
                }
                BoardEvent::Wait(millis) => {
                    let end = rig.circuit.now() + Duration::from_millis(millis);
                    ended += rig.run_until(end).len() as u64;
                }
            }
        }
        ended += rig.run().len() as u64;
        prop_assert_eq!(started, ended, "every started picture has a result");
        for panel in 0..count {
            rig.circuit.set_condition(panel, PanelCondition::Healthy);
        }
        // The first picture may still fail because of an earlier fault.
        for (panel, refresh) in last_refresh.iter().enumerate() {
            rig.show(panel, 2000 + panel as u32, *refresh).unwrap();
        }
        rig.run();
        for (panel, refresh) in last_refresh.into_iter().enumerate() {
            rig.show(panel, 3000 + panel as u32, refresh).unwrap();
        }
        let last = rig.run();
        prop_assert!(last.iter().all(|(_, end)| end.is_ok()), "{:?}", last);
        for panel in 0..count {
            rig.assert_shows(panel, 3000 + panel as u32);
        }
        rig.assert_no_violations();
    }
}

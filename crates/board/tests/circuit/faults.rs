//! A fault of a part is reported by name and does not affect the other parts.

use std::time::Duration;

use board::parts::mcp23017::LineLevel;
use device::{board::PanelFault, refresh::Refresh};
use lab::circuit::PanelCondition;

use crate::rig::{Rig, wiring};

#[test]
fn a_broken_panel_has_a_named_fault_and_recovers() {
    use PanelFault::{BusyStuck, NotRefreshed, Slow};
    for (board, condition, fault) in [
        ("rev-b", PanelCondition::StuckBusy, BusyStuck),
        ("v8", PanelCondition::StuckBusy, BusyStuck),
        ("rev-b", PanelCondition::Silent, NotRefreshed),
        ("v8", PanelCondition::Silent, NotRefreshed),
        ("rev-b", PanelCondition::Slow, Slow),
        ("v8", PanelCondition::Slow, Slow),
        // The host pulls the line to idle, an expander can only pull it up.
        ("rev-b", PanelCondition::Absent, NotRefreshed),
        ("v8", PanelCondition::Absent, BusyStuck),
        // The refresh runs on unseen, and nothing interrupts it.
        ("waveshare-7.5-v2", PanelCondition::BusyLost, NotRefreshed),
        ("waveshare-4.26", PanelCondition::BusyLost, NotRefreshed),
        ("waveshare-7.5-v2", PanelCondition::StuckBusy, BusyStuck),
        ("waveshare-7.5-v2", PanelCondition::Silent, NotRefreshed),
        ("waveshare-7.5-v2", PanelCondition::Slow, Slow),
        ("waveshare-7.5-v2", PanelCondition::Absent, NotRefreshed),
    ] {
        let mut rig = Rig::new(&wiring(board));
        rig.show_all(0, Refresh::Full);
        let count = rig.worker.count();
        let broken = 3.min(count - 1);
        rig.circuit.set_condition(broken, condition);
        for (panel, end) in rig.show_all(20, Refresh::Partial) {
            let expected = if panel == broken { Err(fault) } else { Ok(Refresh::Partial) };
            assert_eq!(end, expected, "{board}, {condition:?}, panel {panel}");
        }
        for panel in (0..count).filter(|panel| *panel != broken) {
            rig.assert_shows(panel, 20 + panel as u32);
        }
        // Each attempt on the broken panel fails with the same fault and does not affect the other panels.
        rig.circuit
            .advance(rig.circuit.now() + Duration::from_secs(5));
        rig.show(broken, 40, Refresh::Partial).unwrap();
        assert_eq!(rig.run(), [(broken, Err(fault))], "{board}, {condition:?}");
        rig.circuit.set_condition(broken, PanelCondition::Healthy);
        rig.show(broken, 41, Refresh::Partial).unwrap();
        assert_eq!(
            rig.run(),
            [(broken, Ok(Refresh::Full))],
            "{board}, {condition:?}"
        );
        rig.assert_shows(broken, 41);
        rig.assert_no_violations();
    }
}

/// Only a reset recovers a hung controller. A working one must not be reset, because that ends partial refreshes.
#[test]
fn a_panel_is_reset_only_after_a_fault() {
    for board in ["rev-b", "v8"] {
        let wiring = wiring(board);
        let line = &wiring.panels[3].reset;
        let mut rig = Rig::new(&wiring);
        rig.show_all(0, Refresh::Full);
        let mut is_reset_before = |number, condition| {
            rig.circuit.set_condition(3, condition);
            rig.show(3, number, Refresh::Partial).unwrap();
            let mut is_reset = false;
            for _ in 0..100 {
                rig.run_until(rig.circuit.now() + Duration::from_millis(1));
                is_reset |= rig.circuit.level(line) == LineLevel::Low;
            }
            rig.run();
            is_reset
        };
        assert!(!is_reset_before(10, PanelCondition::Healthy), "{board}");
        assert!(!is_reset_before(11, PanelCondition::Silent), "{board}");
        assert!(is_reset_before(12, PanelCondition::Healthy), "{board}");
        assert!(!is_reset_before(13, PanelCondition::Healthy), "{board}");
        rig.assert_shows(3, 13);
    }
}

#[test]
fn a_panel_that_is_broken_at_the_start_does_not_delay_the_others() {
    for condition in [
        PanelCondition::StuckBusy,
        PanelCondition::Absent,
        PanelCondition::Silent,
    ] {
        let mut rig = Rig::new(&wiring("rev-b"));
        rig.circuit.set_condition(0, condition);
        let outcomes = rig.show_all(0, Refresh::Full);
        assert_eq!(outcomes.iter().filter(|(_, end)| end.is_err()).count(), 1);
        assert!(
            outcomes
                .iter()
                .any(|(panel, end)| *panel == 0 && end.is_err())
        );
        rig.assert_shows(6, 6);
        rig.assert_no_violations();
    }
}

#[test]
fn the_driver_waits_for_a_refresh_of_an_earlier_run() {
    // The program was killed during a refresh and started again.
    let mut wiring = wiring("rev-b");
    wiring.panels.truncate(1);
    let mut rig = Rig::new(&wiring);
    rig.show(0, 1, Refresh::Full).unwrap();
    let middle = rig.circuit.now() + std::time::Duration::from_millis(1000);
    rig.run_until(middle);
    assert!(rig.circuit.is_refreshing(0));
    let circuit = rig.circuit.clone();
    drop(rig);
    let mut rig = Rig::on(circuit, &wiring);
    rig.show(0, 2, Refresh::Partial).unwrap();
    assert_eq!(rig.run(), [(0, Ok(Refresh::Full))]);
    rig.assert_shows(0, 2);
    rig.assert_no_violations();
}

#[test]
fn a_missing_expander_is_reported_and_may_be_plugged_in_again() {
    // The expander has the select lines of all panels.
    let mut rig = Rig::new(&wiring("v8"));
    rig.show_all(0, Refresh::Full);
    rig.circuit.unplug("exp2");
    let outcomes = rig.show_all(10, Refresh::Partial);
    assert_eq!(outcomes.len(), 8);
    assert!(outcomes.iter().all(|(_, end)| *end == Err(PanelFault::Bus)));
    rig.circuit.plug("exp2");
    let outcomes = rig.show_all(20, Refresh::Partial);
    assert!(outcomes.iter().all(|(_, end)| *end == Ok(Refresh::Full)));
    for panel in 0..8 {
        rig.assert_shows(panel, 20 + panel as u32);
    }
    rig.assert_no_violations();
}

#[test]
fn a_missing_expander_with_only_reset_lines_causes_no_fault() {
    let mut rig = Rig::new(&wiring("rev-b"));
    rig.show_all(0, Refresh::Full);
    rig.circuit.unplug("exp1");
    let outcomes = rig.show_all(10, Refresh::Partial);
    assert!(outcomes.iter().all(|(_, end)| *end == Ok(Refresh::Partial)));
    rig.circuit.plug("exp1");
    rig.show_all(20, Refresh::Partial);
    rig.assert_shows(4, 24);
    rig.assert_no_violations();
}

#[test]
fn an_expander_that_lost_power_is_configured_again_after_the_first_fault() {
    let mut rig = Rig::new(&wiring("v8"));
    rig.show_all(0, Refresh::Full);
    rig.circuit.unplug("exp2");
    rig.circuit.plug("exp2");
    rig.show_all(10, Refresh::Partial);
    let outcomes = rig.show_all(20, Refresh::Partial);
    assert!(outcomes.iter().all(|(_, end)| end.is_ok()), "{outcomes:?}");
    rig.assert_shows(7, 27);
}

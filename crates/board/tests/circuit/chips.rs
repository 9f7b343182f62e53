//! Inverters and the switched supply of the panels.

use board::{
    parts::mcp23017::LineLevel,
    wiring::{Sense, WiringLine},
};
use device::{board::PanelFault, refresh::Refresh};

use crate::rig::{Rig, wiring};

#[test]
fn inverted_lines_are_inverted_by_host_and_circuit() {
    // The lines of rev-b except reset are on the host, those of v8 on expanders.
    for board in ["rev-b", "v8"] {
        let mut wiring = wiring(board);
        let panel = &mut wiring.panels[0];
        for line in [&mut panel.select, &mut panel.busy, &mut panel.reset] {
            line.sense = Sense::Inverted;
        }
        let line = panel.select.clone();
        let mut rig = Rig::new(&wiring);
        rig.show_all(0, Refresh::Full);
        rig.show_all(10, Refresh::Partial);
        rig.assert_shows(0, 10);
        rig.assert_no_violations();
        // An idle select line is low before its inverter.
        let itself = WiringLine {
            sense: Sense::Straight,
            ..line.clone()
        };
        assert_eq!(rig.circuit.level(&itself), LineLevel::Low, "{board}");
        assert_eq!(rig.circuit.level(&line), LineLevel::High, "{board}");
    }
}

#[test]
fn panels_without_their_supply_do_nothing() {
    let mut wiring = wiring("rev-b");
    let power = WiringLine::named("POWER");
    wiring.spi.power = Some(power.clone());
    let mut rig = Rig::new(&wiring);
    rig.show_all(0, Refresh::Full);
    // A short circuit pulls the supply low.
    let shorted = rig.circuit.clone();
    shorted.touch(&power, LineLevel::Low);
    let before = shorted.glass(0);
    let failed = rig.show_all(10, Refresh::Partial);
    let all = |outcome| (0..7).map(|panel| (panel, outcome)).collect::<Vec<_>>();
    assert_eq!(failed, all(Err(PanelFault::NotRefreshed)));
    assert!(
        shorted.glass(0) == before,
        "the picture stays without power"
    );
    shorted.touch(&power, LineLevel::High);
    assert_eq!(rig.show_all(20, Refresh::Partial), all(Ok(Refresh::Full)));
    rig.assert_shows(6, 26);
}

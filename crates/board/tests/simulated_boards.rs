//! The simulations of the device run on every board of the table.

#[path = "../../device/tests/simulation/boards.rs"]
mod boards;

use board::spec::BOARDS;

#[test]
fn every_board_is_simulated() {
    for spec in BOARDS {
        assert!(
            boards::SIMULATED_BOARDS.contains(spec),
            "{} is not simulated",
            spec.name
        );
    }
}

//! Every board of the table is one on which the simulated lives of the device are lived.

#[path = "../../device/tests/simulation/boards.rs"]
mod boards;

use board::spec::BOARDS;

#[test]
fn every_board_is_lived_on() {
    for spec in BOARDS {
        assert!(boards::LIVED.contains(spec), "{} is not", spec.name);
    }
}

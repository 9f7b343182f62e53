//! Fuzzes wiring files. An invalid file is refused with at least one mistake. With a valid file, the panel driver
//! violates no data sheet.
#![no_main]

use board::{
    assembly::{ExpanderBus, PanelWorker},
    wiring::read,
};
use lab::circuit::{Circuit, Flow};

/// Most polls of the panel driver; enough for the resets.
const POLLS_MAX: usize = 50;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let wiring = match read(text) {
        Ok(file) => file.wiring,
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for mistake in mistakes {
                assert!(!mistake.to_string().contains('\n'));
            }
            return;
        }
    };
    let circuit = Circuit::new(&wiring, Flow::Stepped);
    let Ok(expander_bus) = ExpanderBus::open(&circuit, &wiring) else {
        panic!("a circuit has every bus");
    };
    let Ok(mut worker) = PanelWorker::open(circuit.clone(), expander_bus, &wiring) else {
        panic!("a circuit has every line");
    };
    for _ in 0..POLLS_MAX {
        let (_, wake) = worker.poll();
        let Some(at) = wake.at else { break };
        circuit.advance(at);
    }
    assert_eq!(circuit.violations(), Vec::<String>::new());
});

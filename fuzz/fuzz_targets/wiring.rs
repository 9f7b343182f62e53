//! Fuzzes wiring files: any text is refused in words, or says a wiring in which no part is misused.
#![no_main]

use board::{
    assembly::{ExpanderBus, PanelWorker},
    wiring::read,
};
use lab::circuit::{Circuit, Flow};

/// Turns of the panels' driver; enough for their resets.
const TURNS: usize = 50;

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
    let Ok(wire) = ExpanderBus::open(&circuit, &wiring) else {
        panic!("a circuit has every bus");
    };
    let Ok(mut worker) = PanelWorker::open(circuit.clone(), wire, &wiring) else {
        panic!("a circuit has every line");
    };
    for _ in 0..TURNS {
        let (_, wake) = worker.turn();
        let Some(at) = wake.at else { break };
        circuit.advance(at);
    }
    assert_eq!(circuit.violations(), Vec::<String>::new());
});

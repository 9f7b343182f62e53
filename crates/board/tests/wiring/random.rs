//! Random files: a file is parsed or has mistakes, and a board with any parsed wiring can be driven.

use board::{
    assembly::{ExpanderBus, PanelWorker},
    wiring::{Mistake, WiringFile, read},
};
use lab::circuit::{Circuit, Flow};
use proptest::prelude::*;

fn check(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Ok(file) => can_be_wired(&file),
        Err(mistakes) => {
            prop_assert!(!mistakes.is_empty());
            let lines = text.lines().count().max(1) + 1;
            for Mistake { line, what } in mistakes {
                prop_assert!(
                    line.is_none_or(|line| (1..=lines).contains(&line)),
                    "{line:?}"
                );
                prop_assert!(!what.is_empty() && !what.contains('\n'), "{what:?}");
            }
            Ok(())
        }
    }
}

/// Checks that no two outputs are connected, and that no output-only pin is an input.
fn can_be_wired(file: &WiringFile) -> Result<(), TestCaseError> {
    let wiring = &file.wiring;
    let circuit = Circuit::new(wiring, Flow::Stepped);
    let wire = ExpanderBus::open(&circuit, wiring).unwrap();
    let mut worker = PanelWorker::open(circuit.clone(), wire, wiring).unwrap();
    for _ in 0..100 {
        let (_, wake) = worker.poll();
        let Some(at) = wake.at else { break };
        circuit.advance(at);
    }
    prop_assert_eq!(circuit.violations(), Vec::<String>::new());
    Ok(())
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..12u32).prop_map(|number| format!("gpio:GPIO{number}")),
        (0..3u32).prop_map(|number| format!("chip:pins/{number}")),
        (1..3u32, 0..18u32).prop_map(|(expander, pin)| format!("exp{expander}:{pin}")),
        (0..8u32).prop_map(|pin| format!("!exp1:{pin}")),
    ]
}

fn panel() -> impl Strategy<Value = String> {
    (line(), line(), line()).prop_map(|(select, busy, reset)| {
        format!("[[panel]]\nselect = \"{select}\"\nbusy = \"{busy}\"\nreset = \"{reset}\"\n")
    })
}

fn file() -> impl Strategy<Value = String> {
    let base = prop::sample::select(vec!["", "", "base = \"rev-b\"\n", "base = \"v8\"\n"]);
    let spi = prop::sample::select(vec![
        "[spi]\ndevice = \"/dev/spidev0.0\"\ncommand = \"gpio:DC\"\n",
        "[spi]\nhz = 100_000\n",
        "",
    ]);
    let chips = prop::sample::select(vec![
        "",
        "[i2c]\ndevice = \"/dev/i2c-1\"\n[expander.exp1]\naddress = 0x20\n",
        "[i2c]\ndevice = \"/dev/i2c-1\"\n[expander.exp1]\naddress = 0x20\n[expander.exp2]\naddress = 0x21\n",
    ]);
    let panels = prop::collection::vec(panel(), 0..4);
    let buttons = prop::option::of(prop::collection::vec(line(), 4));
    (base, spi, chips, panels, buttons).prop_map(|(base, spi, chips, panels, buttons)| {
        let buttons = buttons.map_or_else(String::new, |lines| {
            format!("[buttons]\nlines = {lines:?}\n")
        });
        format!("{base}{spi}{chips}{}{buttons}", panels.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_of_random_parts(text in file()) {
        check(&text)?;
    }

    #[test]
    fn changed_examples(
        example in prop::sample::select(board::wiring::BASES.to_vec()),
        at in any::<prop::sample::Index>(),
        length in 0..20usize,
        with in "[ -~\\n]{0,10}",
    ) {
        let mut text: Vec<char> = example.1.chars().collect();
        let begin = at.index(text.len());
        let end = (begin + length).min(text.len());
        text.splice(begin..end, with.chars());
        check(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text)?;
    }
}

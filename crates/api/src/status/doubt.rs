//! Sentences about doubtful values: which sources disagree, since when, and until when.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use device::spoken;
use market::{HeightState, QuoteVerdict, source_id::SourceId};

use super::{
    ClaimedHeight, HeightStatus, MarketStatus, MarketValue, PriceStatus, Quantity, TruthStatus,
};

/// Units of spans with their lengths in seconds, the largest first.
const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];

/// Explains the doubtful values, unless they are invented.
pub(super) fn explain(truth: &mut TruthStatus, market: &MarketStatus) {
    if truth.height.anchor.is_none() {
        return;
    }
    let height = market.height.as_ref();
    truth.height.says = height.and_then(|shown| of_height(&truth.height, shown));
    for (code, price) in &mut truth.prices {
        let shown = market.prices.get(code);
        price.says = shown.and_then(|shown| of_price(price, shown, &format!(" {code}")));
    }
}

fn of_height(truth: &HeightStatus, shown: &MarketValue) -> Option<String> {
    let is_proven = |claim: &ClaimedHeight| {
        let mut proofs = truth.proofs.iter();
        proofs.any(|proof| (proof.source, proof.value) == (claim.source, claim.value))
    };
    let others = truth
        .claimed
        .iter()
        .filter(|claim| Quantity::Number(claim.value.into()) != shown.value && !is_proven(claim));
    let age = if truth.state.0 == HeightState::Disputed {
        others.clone().filter_map(|claim| claim.age_sec).max()
    } else {
        shown.age_sec
    };
    let others: Vec<_> = others
        .map(|claim| (claim.source.0, claim.value.to_string()))
        .collect();
    let provers = truth
        .proofs
        .iter()
        .filter(|proof| Quantity::Number(proof.value.into()) == shown.value);
    match (truth.state.0, &shown.value, truth.anchor) {
        (HeightState::Disputed, Quantity::Number(value), Some(anchor))
            if *value < anchor.into() =>
        {
            Some(format!(
                "{} from {} is impossible: the chain had {} blocks when this version was made; it is disputed until a source reports a possible height.",
                spoken::number(value),
                shown.source.0.name(),
                spoken::number(anchor),
            ))
        }
        (HeightState::Alone, ..) if provers.count() > 1 => {
            Some("The clock does not know the time yet: the block may be from the future.".into())
        }
        _ => sentence(truth.state.0.name(), shown, "", others, age),
    }
}

fn of_price(truth: &PriceStatus, shown: &MarketValue, unit: &str) -> Option<String> {
    let quotes = truth.quotes.as_ref();
    let voices = quotes.into_iter().flat_map(|quotes| &quotes.voices);
    let others = voices.filter(|voice| voice.verdict.0 == QuoteVerdict::Apart);
    let others = others.map(|voice| (voice.source.0, voice.value.clone()));
    let doubted = quotes.and_then(|quotes| quotes.doubted_sec);
    sentence(
        truth.state.0.name(),
        shown,
        unit,
        others.collect(),
        doubted.or(shown.age_sec),
    )
}

fn sentence(
    state: &str,
    shown: &MarketValue,
    unit: &str,
    others: Vec<(SourceId, String)>,
    age: Option<u64>,
) -> Option<String> {
    let source = shown.source.0.name();
    let value = match &shown.value {
        Quantity::Number(number) => spoken::number(number),
        Quantity::Text(text) => spoken::number(text),
    };
    let time = age.map_or("some time".into(), span);
    let others: Vec<String> = others
        .iter()
        .map(|(source, value)| format!("{} ({})", source.name(), spoken::number(value)))
        .collect();
    Some(match state {
        "alone" | "single" => format!(
            "For {time}, {value}{unit} has come from {source} alone; it is doubtful until another source confirms it."
        ),
        "claimed" => format!(
            "For {time}, no source has proven {value}{unit} from {source}; it is doubtful until one does."
        ),
        "disputed" if others.is_empty() => format!(
            "{value}{unit} from {source} contradicts what the clock has checked; it is disputed until most sources agree."
        ),
        "disputed" => format!(
            "For {time}, {value}{unit} from {source} has been contradicted by {}; it is disputed until most sources agree.",
            others.join(" and ")
        ),
        "stale" => format!(
            "{value}{unit} from {source} is {time} old; it is stale until the next value arrives."
        ),
        _ => return None,
    })
}

/// A span in its largest unit.
fn span(secs: u64) -> String {
    let unit = UNITS.iter().find(|(length, _)| secs >= *length);
    unit.map_or("0 s".into(), |(length, unit)| {
        format!("{} {unit}", secs / length)
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{schema::Word, status::ProvenHeight};

    const SHOWN: MarketValue = MarketValue {
        value: Quantity::Number(900_000),
        source: Word(SourceId::Relay),
        age_sec: None,
        earlier_run: false,
        state: None,
    };

    #[test]
    fn a_sentence_names_the_sources_the_time_and_what_ends_the_doubt() {
        let apart = [(SourceId::Explorer, "900500"), (SourceId::Node, "900499")];
        let apart = apart.map(|(source, value)| (source, value.to_string()));
        for (state, age, others, expected) in [
            ("proven", Some(5), vec![], None),
            (
                "alone",
                Some(59),
                vec![],
                Some(
                    "For 59 s, 900,000 has come from relay alone; it is doubtful until another source confirms it.",
                ),
            ),
            (
                "claimed",
                Some(60),
                vec![],
                Some(
                    "For 1 min, no source has proven 900,000 from relay; it is doubtful until one does.",
                ),
            ),
            (
                "disputed",
                Some(7_199),
                apart.to_vec(),
                Some(
                    "For 1 h, 900,000 from relay has been contradicted by explorer (900,500) and node (900,499); it is disputed until most sources agree.",
                ),
            ),
            (
                "disputed",
                None,
                vec![],
                Some(
                    "900,000 from relay contradicts what the clock has checked; it is disputed until most sources agree.",
                ),
            ),
            (
                "stale",
                None,
                vec![],
                Some(
                    "900,000 from relay is some time old; it is stale until the next value arrives.",
                ),
            ),
        ] {
            let says = sentence(state, &SHOWN, "", others, age);
            assert_eq!(says.as_deref(), expected);
        }
        assert_eq!([0, 3_599, 172_800].map(span), ["0 s", "59 min", "2 d"]);
    }

    #[test]
    fn a_height_is_doubted_for_its_own_reasons() {
        let proof = |source| ProvenHeight {
            source: Word(source),
            value: 900_000,
            hash: String::new(),
        };
        let mut truth = HeightStatus {
            state: Word(HeightState::Alone),
            says: None,
            chain: "main",
            anchor: Some(950_000),
            proven: None,
            tip_hash: None,
            tip_time: None,
            chain_work: None,
            peers: 0,
            agreeing: 2,
            reorgs: 0,
            last_reorg_depth: 0,
            proofs: vec![proof(SourceId::Node), proof(SourceId::Peers)],
            claimed: Vec::new(),
            tip_age_sec: None,
        };
        let says = of_height(&truth, &SHOWN).unwrap_or_default();
        assert!(
            says.starts_with("The clock does not know the time"),
            "{says}"
        );
        truth.state = Word(HeightState::Disputed);
        let says = of_height(&truth, &SHOWN).unwrap_or_default();
        assert!(says.contains("the chain had 950,000 blocks"), "{says}");
    }
}

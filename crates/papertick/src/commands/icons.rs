//! Requested icons that do not exist, and characters that no font has.

use std::collections::BTreeSet;

use device::cells::{Cell, Icon};
use runtime::standard_error::print_error;

use super::suggestion;

/// Says which of the icons on these cells there are not, and what was probably meant; and what of their texts is left out.
pub(crate) fn mention_unknown(cells: &[Cell]) {
    for words in unknown(cells).into_iter().chain(left_out(cells)) {
        print_error(&words);
    }
}

/// The characters of the owner's texts that no font has.
fn left_out(cells: &[Cell]) -> Option<String> {
    let texts = cells.iter().flat_map(|cell| {
        if let Cell::Text { text, .. } = cell {
            vec![text]
        } else if let Cell::Split { top, bottom } = cell {
            vec![top, bottom]
        } else {
            Vec::new()
        }
    });
    let missing: BTreeSet<char> = texts
        .flat_map(|text| text.chars())
        .filter(|ch| !ch.is_ascii() && !render::is_drawn(*ch))
        .collect();
    let listed: Vec<String> = missing.iter().map(|ch| format!("`{ch}`")).collect();
    let words = || format!("no font has {}: left out", listed.join(", "));
    (!listed.is_empty()).then(words)
}

fn unknown(cells: &[Cell]) -> Vec<String> {
    let names = || Icon::NAMED.iter().map(|(name, _)| *name);
    let mut said = Vec::new();
    for cell in cells {
        let Cell::NamedIcon { icon: None, text } = cell else {
            continue;
        };
        let name = text.split_once(':').map_or("", |(_, name)| name.trim());
        let help = match suggestion::nearest(name, names()) {
            Some(name) => format!("did you mean `mdi:{name}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        said.push(format!(
            "there is no icon `{}`, its panel stays empty: {help}",
            text.trim()
        ));
    }
    said
}

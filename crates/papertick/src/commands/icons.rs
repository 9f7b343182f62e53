//! Warnings for icons that do not exist and characters that no font has.

use std::collections::BTreeSet;

use device::cells::{Cell, Icon};
use runtime::standard_error::print_error;

use super::suggestion;

/// Prints warnings for the unknown icons and the missing characters on these cells.
pub(crate) fn warn_unknown(cells: &[Cell]) {
    for words in unknown_icons(cells)
        .into_iter()
        .chain(missing_characters(cells))
    {
        print_error(&words);
    }
}

/// A warning for the characters in texts that no font has.
fn missing_characters(cells: &[Cell]) -> Option<String> {
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
    let words = || format!("no font has {}: not shown", listed.join(", "));
    (!listed.is_empty()).then(words)
}

/// Warnings for unknown icons, with the most similar names.
fn unknown_icons(cells: &[Cell]) -> Vec<String> {
    let names = || Icon::NAMED.iter().map(|(name, _)| *name);
    let mut warnings = Vec::new();
    for cell in cells {
        let Cell::NamedIcon { icon: None, text } = cell else {
            continue;
        };
        let name = text.split_once(':').map_or("", |(_, name)| name.trim());
        let help = match suggestion::nearest(name, names()) {
            Some(name) => format!("did you mean `mdi:{name}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        warnings.push(format!(
            "unknown icon `{}`, its panel stays empty: {help}",
            text.trim()
        ));
    }
    warnings
}

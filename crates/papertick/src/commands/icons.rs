//! Icons that somebody asked for and that there are not.

use device::cells::{Cell, Icon};

use super::suggestion;
use crate::standard_error::say;

/// Says which of the icons on these cells there are not, and what was probably meant.
pub(crate) fn mention_unknown(cells: &[Cell]) {
    for words in unknown(cells) {
        say(&words);
    }
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

#[cfg(test)]
mod tests {
    use device::screens::custom;

    use super::*;

    #[test]
    fn icons_that_there_are_not_are_named() {
        let texts = ["mdi:wifi", "mdi:rocket", "MDI:zzzz", "mdi", "a"].map(String::from);
        let said = unknown(&custom::cells(&texts, None, 7));
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("`mdi:rocket`") && said[0].contains("`mdi:rocket-launch`?"));
        assert!(
            said[1].contains("`MDI:zzzz`") && said[1].contains("pickaxe"),
            "{said:?}"
        );
    }
}

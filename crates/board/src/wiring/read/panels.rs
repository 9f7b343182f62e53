//! Reads the panels and how often they are refreshed.

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::{
        Care, Mistake, PANELS_MAX, PanelWiring, STAGGER_MAX,
        sections::{self, Section},
        tree::{self, WiringValue, WiringValueKind},
    },
    Reader,
    lines::LineRole,
};
use crate::parts::ssd1680::{self, FullWaveform, Model, PanelRotation, ROW_BYTES, STRIDE, Setup};

/// Largest number of partial refreshes between two full ones.
const PARTIALS_MAX: u32 = 100_000;

/// Longest time between two full refreshes, hours.
const FULL_EVERY_MAX: u32 = 24 * 366;

impl Reader {
    pub(super) fn panels(&mut self, file: &mut Section, base: Option<usize>) -> Vec<PanelWiring> {
        let every = file.take("every-panel");
        let every = match every {
            Some(WiringValue {
                kind: WiringValueKind::Table(entries),
                ..
            }) => entries,
            Some(other) => {
                let why = format!("`every-panel` is {}", other.kind.word());
                self.mistakes
                    .push(file.wrong("every-panel", other.line, &why));
                BTreeMap::new()
            }
            None => BTreeMap::new(),
        };
        let is_missing = !file.has("panel");
        let Some(list) = file.list("panel", &mut self.mistakes) else {
            if is_missing {
                self.mistakes.push(file.missing("panel"));
            }
            return Vec::new();
        };
        let most = base.unwrap_or(PANELS_MAX);
        if list.value.is_empty() || list.value.len() > most {
            let extra = list.value.get(most).and_then(|panel| panel.line);
            self.mistakes.push(Mistake::at(
                extra.or(list.line),
                format!("{} panels where 1 to {most} may be", list.value.len()),
            ));
        }
        let mut panels = Vec::new();
        let before = self.mistakes.len();
        for (index, value) in list.value.into_iter().enumerate() {
            let title = format!("panel {}", index + 1);
            let WiringValueKind::Table(own) = value.kind else {
                let why = format!("{title} is {}", value.kind.word());
                self.mistakes.push(file.wrong("panel", value.line, &why));
                continue;
            };
            let entries = tree::merge(every.clone(), own);
            let section = Section::new(
                &title,
                value.line,
                sections::PANEL,
                entries,
                &mut self.mistakes,
            );
            panels.extend(self.panel(section));
        }
        let found = self.mistakes.split_off(before);
        self.mistakes.extend(once_per_cause(found));
        let sizes = |panel: &PanelWiring| (panel.setup.model.width, panel.setup.model.height);
        if panels
            .windows(2)
            .any(|pair| sizes(&pair[0]) != sizes(&pair[1]))
        {
            self.mistakes.push(Mistake::at(
                list.line,
                "the panels are of different sizes; use panels of one size".into(),
            ));
        }
        panels
    }

    fn panel(&mut self, mut section: Section) -> Option<PanelWiring> {
        let name = section.name.clone();
        let model = self.model(&mut section);
        let of = |what: &str| format!("{what} of {name}");
        let select = self.line(&mut section, "select", LineRole::Output, &of("select line"));
        let busy = self.line(&mut section, "busy", LineRole::Input, &of("busy line"));
        let reset = self.line(
            &mut section,
            "reset",
            LineRole::PanelReset,
            &of("reset line"),
        );
        let degrees = section.number("rotation", 0..=359, &mut self.mistakes);
        let rotation = degrees.and_then(|degrees| {
            let known = PanelRotation::DEGREES
                .iter()
                .find(|(known, _)| *known == i64::from(degrees.value));
            if known.is_none() {
                let why = format!("`rotation` is {} where 0 or 180 must be", degrees.value);
                self.mistakes
                    .push(section.wrong("rotation", degrees.line, &why));
            }
            known.map(|(_, rotation)| *rotation)
        });
        let offset_max = u32::from(ROW_BYTES) - STRIDE as u32 - 1;
        let x_offset = section.number("x-offset", 0..=offset_max, &mut self.mistakes);
        let full_line = section.line_of("full").or(section.line_of("model"));
        let full = section.word("full", FullWaveform::NAMED, &mut self.mistakes);
        let stagger = section.number(
            "stagger-ms",
            0..=STAGGER_MAX.as_millis() as u32,
            &mut self.mistakes,
        );
        let model = model?;
        let full = full.unwrap_or_default();
        if full == FullWaveform::Warm && model.times.fast_full.is_none() {
            let why = format!("`full` is \"d7\", which was never tested on {}", model.id);
            self.mistakes.push(section.wrong("full", full_line, &why));
        }
        Some(PanelWiring {
            setup: Setup {
                model,
                rotation: rotation.unwrap_or_default(),
                x_offset: x_offset.map_or(0, |offset| offset.value as u8),
                full,
            },
            select: self.require(&section, "select", select)?,
            busy: self.require(&section, "busy", busy)?,
            reset: self.require(&section, "reset", reset)?,
            stagger: Duration::from_millis(u64::from(stagger.map_or(0, |stagger| stagger.value))),
        })
    }

    fn model(&mut self, section: &mut Section) -> Option<&'static Model> {
        let Some(named) = section.text("model", &mut self.mistakes) else {
            return Some(&ssd1680::MODELS[0]);
        };
        let id = named.value.to_ascii_lowercase();
        let found = ssd1680::find(&id);
        if found.is_none() {
            let refused = ssd1680::REFUSED_MODELS
                .iter()
                .find(|(known, _)| *known == id);
            let is = format!("`model` is {:?}", named.value);
            self.mistakes.push(match refused {
                Some((_, why)) => Mistake::at(
                    named.line.or(section.line),
                    format!(
                        "{}: {is}, and {why}; this panel cannot be used",
                        section.name
                    ),
                ),
                None => section.wrong(
                    "model",
                    named.line,
                    &format!("{is}, which is not supported"),
                ),
            });
        }
        found
    }

    pub(super) fn care(&mut self, file: &mut Section) -> Care {
        let default = Care::default();
        let Some(mut section) = self.table(file, "care", "[care]", sections::CARE) else {
            return default;
        };
        let partials = section.number("full-after-partials", 0..=PARTIALS_MAX, &mut self.mistakes);
        let hours = section.number("full-every-hours", 0..=FULL_EVERY_MAX, &mut self.mistakes);
        Care {
            partials_max: partials.map_or(default.partials_max, |partials| partials.value),
            full_every: hours.map_or(default.full_every, |hours| {
                Duration::from_secs(u64::from(hours.value) * 60 * 60)
            }),
        }
    }
}

/// Merges equal mistakes of several panels on one line, as an entry for every panel makes them.
fn once_per_cause(mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let mut causes: Vec<(Option<usize>, String, Vec<String>)> = Vec::new();
    let mut others = Vec::new();
    for mistake in mistakes {
        let panel = mistake.what.strip_prefix("panel ");
        let split =
            panel.and_then(|what| what.split_at_checked(what.find(|c: char| !c.is_ascii_digit())?));
        let Some((number, what)) = split else {
            others.push(mistake);
            continue;
        };
        let known = causes
            .iter_mut()
            .find(|(line, known, _)| *line == mistake.line && known == what);
        match known {
            Some((_, _, panels)) => panels.push(number.to_owned()),
            None => causes.push((mistake.line, what.to_owned(), vec![number.to_owned()])),
        }
    }
    let merged = causes.into_iter().map(|(line, what, panels)| {
        let others = match &panels[1..] {
            [] => String::new(),
            others => format!(" (and {})", others.join(", ")),
        };
        Mistake::at(line, format!("panel {}{others}{what}", panels[0]))
    });
    others.extend(merged);
    others
}

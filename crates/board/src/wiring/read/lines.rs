//! Reads GPIO lines, and finds lines that are used twice.

use super::{
    super::{
        LineLocation, Mistake, Sense, UsedLine, WiringLine,
        sections::{Located, Section},
    },
    Reader,
};
use crate::parts::mcp23017;

/// A line with its use.
#[derive(Debug)]
pub(super) struct LineUse {
    role: LineRole,
    pub(super) line: UsedLine,
}

/// The use of a line, which decides whether parts may share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineRole {
    /// An output of one part.
    Output,
    /// An input of one part.
    Input,
    /// A reset line, which several panels may share.
    PanelReset,
    /// A reset line, which several expanders may share.
    ExpanderReset,
}

impl Reader {
    /// Reads a line that must be one of the host.
    pub(super) fn host_line(
        &mut self,
        section: &mut Section,
        key: &str,
        role: LineRole,
        what: &str,
    ) -> Option<WiringLine> {
        let what = format!("{what} of {}", section.name);
        let at = section.line_of(key);
        let line = self.line(section, key, role, &what)?;
        match line.place {
            LineLocation::Named(_) | LineLocation::Numbered { .. } => Some(line),
            LineLocation::Expander { .. } => {
                let why = format!("`{key}` must be a line of the host");
                self.mistakes.push(section.wrong(key, at, &why));
                None
            }
        }
    }

    /// Reads a line.
    pub(super) fn line(
        &mut self,
        section: &mut Section,
        key: &str,
        role: LineRole,
        what: &str,
    ) -> Option<WiringLine> {
        let read = section.text(key, &mut self.mistakes)?;
        self.use_line(section, key, role, what, read)
    }

    /// Parses a line and records its use.
    pub(super) fn use_line(
        &mut self,
        section: &Section,
        key: &str,
        role: LineRole,
        what: &str,
        read: Located<String>,
    ) -> Option<WiringLine> {
        let line = match parse(&read.value, &self.expanders) {
            Ok(line) => line,
            Err(why) => {
                let why = format!("`{key}` is {why}");
                let at = read.line.or(section.line).or(self.expanders_line);
                self.mistakes.push(section.wrong(key, at, &why));
                return None;
            }
        };
        if let LineLocation::Expander { pin, .. } = &line.place
            && role == LineRole::Input
            && mcp23017::OUTPUT_ONLY.contains(pin)
        {
            let why =
                format!("`{key}` is {line}: pins 7 and 15 of an expander can only be outputs");
            self.mistakes.push(section.wrong(key, read.line, &why));
        }
        if let Some(mistake) = self.conflict(section, key, role, &line, read.line) {
            self.mistakes.push(mistake);
        }
        self.lines.push(LineUse {
            role,
            line: UsedLine {
                line: line.clone(),
                what: what.to_owned(),
                at: read.line,
            },
        });
        Some(line)
    }

    /// The mistake of a line that is in use already, unless the two uses may share it.
    fn conflict(
        &self,
        section: &Section,
        key: &str,
        role: LineRole,
        line: &WiringLine,
        at: Option<usize>,
    ) -> Option<Mistake> {
        let may_share = |used: &LineUse| {
            matches!(role, LineRole::PanelReset | LineRole::ExpanderReset)
                && used.role == role
                && used.line.line.sense == line.sense
        };
        let mut others = self.lines.iter();
        let other = others.find(|used| used.line.line.place == line.place && !may_share(used))?;
        let other_role = other.role;
        let other = &other.line;
        let on_line = other
            .at
            .map_or_else(String::new, |line| format!(" (line {line})"));
        let what = if role == other_role && role != LineRole::Input && role != LineRole::Output {
            format!(
                "`{key}` is {line}, and {} as the {}{on_line}; write both with `!` or both without",
                other.line, other.what
            )
        } else {
            format!(
                "`{key}` is {}, already the {}{on_line}; write {key} = a line that nothing else is on",
                line.place, other.what
            )
        };
        let at = at.or(section.line).or(other.at);
        Some(Mistake::at(at, format!("{}: {what}", section.name)))
    }
}

/// Parses a line: `gpio:NAME`, `chip:LABEL/OFFSET` or `EXPANDER:PIN`, with `!` before it if it is inverted.
fn parse(text: &str, expanders: &[String]) -> Result<WiringLine, String> {
    let forms = || format!("{text:?}: it must be gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN");
    let (sense, rest) = match text.strip_prefix('!') {
        Some(rest) => (Sense::Inverted, rest),
        None => (Sense::Straight, text),
    };
    let (kind, name) = rest.split_once(':').ok_or_else(forms)?;
    let place = match kind {
        _ if name.is_empty() || name.chars().any(char::is_whitespace) => return Err(forms()),
        "gpio" => LineLocation::Named(name.to_owned()),
        "chip" => {
            let (chip, offset) = name.rsplit_once('/').ok_or_else(forms)?;
            let offset = offset.parse().map_err(|_| forms())?;
            if chip.is_empty() {
                return Err(forms());
            }
            LineLocation::Numbered {
                chip: chip.to_owned(),
                offset,
            }
        }
        expander if expanders.iter().any(|known| known == expander) => {
            let pin = name.parse().ok().filter(|pin| *pin < mcp23017::PINS);
            LineLocation::Expander {
                name: expander.to_owned(),
                pin: pin.ok_or_else(|| format!("{text:?}: an expander has pins 0 to 15"))?,
            }
        }
        // Without its pin, so that a missing expander is one mistake for all panels.
        other if is_word(other) => {
            return Err(match expanders {
                [] => format!("on the expander `{other}`, and there is none"),
                known => format!(
                    "on the expander `{other}`, and there is only {}",
                    known.join(", ")
                ),
            });
        }
        _ => return Err(forms()),
    };
    Ok(WiringLine { place, sense })
}

/// Returns whether a text can be a name.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 32
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

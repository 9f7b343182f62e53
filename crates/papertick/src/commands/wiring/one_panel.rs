//! The test of a board with one panel: a picture that reveals model, colours and rotation, and questions about it.

use std::{
    fs::OpenOptions,
    io::{BufRead, Write as _},
    path::Path,
};

use board::{
    parts::epaper::PanelRotation,
    spec,
    wiring::{self, Wiring},
};
use device::{
    cells::{BlockLine, Cell, Icon, Picture},
    settings::Settings,
};
use render::{Bitmap, Painter};

use crate::{failure::Failure, standard_output::print};

/// Distance of the two fields from the frame and from each other, px.
const MARGIN: u16 = 4;

/// Height of the lines of text before they are fitted, px.
const TEXT_PX: u32 = 60;

/// Models of which two exist, with a question that tells them apart: the first answer is the model that is meant.
const VARIANTS: [(&str, &str, [&str; 3]); 2] = [
    (
        "waveshare-4.2-v2",
        "There are two 4.2 in panels, and what suits one can damage the other. What is printed on the back of the board: \
         V2 (or Rev 2.2), or V1?",
        ["v2", "v1", "unknown"],
    ),
    (
        "waveshare-7.5-v2",
        "There are two 7.5 in V2 panels, GDEY075T7 (new, sold since October 2023) and GDEW075T7 (old). Which one is yours, by \
         the label on the panel or the day you bought it?",
        ["new", "old", "unknown"],
    ),
];

const SWAPPED: &str = "black and white are swapped, so this is not the panel that `model` names: do not use this wiring, and \
    compare `model` with the name on the panel and its board";

const CUT: &str = "a side of the frame is missing, so the panel is not of the size of `model`: do not use this wiring, and \
    compare `model` with the name on the panel and its board";

const CUT_OR_SHIFTED: &str = "a side of the frame is missing: if it is only one, write another `x-offset` for the panel \
    and test again; otherwise compare `model` with the name on the panel and its board";

/// Questions on a terminal.
pub(super) struct Questions<R>(pub(super) R);

impl<R: BufRead> Questions<R> {
    /// Asks until one of the answers is given, of which a beginning is enough if no other begins so; returns its index.
    fn ask(&mut self, question: &str, answers: &[&str]) -> Result<usize, Failure> {
        loop {
            print(&format!("{question} [{}] ", answers.join(", ")))?;
            let mut line = String::new();
            let read = self.0.read_line(&mut line);
            if read.map_or(true, |count| count == 0) {
                return Err(Failure::failed("there was no answer: nothing is stored"));
            }
            let line = line.trim().to_lowercase();
            let begins = |(_, answer): &(usize, &&str)| answer.starts_with(&line);
            let mut fitting = answers.iter().enumerate().filter(begins);
            if let (Some((index, _)), None) = (fitting.next(), fitting.next()) {
                return Ok(index);
            }
        }
    }

    /// Asks which of two models it is, if that cannot be told from its name. Nothing may be sent to the panel before.
    ///
    /// # Errors
    /// It is another one, or unknown.
    pub(super) fn confirm_model(&mut self, id: &str) -> Result<(), Failure> {
        let Some((_, question, answers)) = VARIANTS.iter().find(|(known, _, _)| *known == id)
        else {
            return Ok(());
        };
        match self.ask(question, answers)? {
            0 => Ok(()),
            _ => Err(Failure::failed(format!(
                "nothing was sent to the panel: {id} is only for the first of the two"
            ))),
        }
    }

    /// Shows the picture until it is upright, and asks about its colours and its frame; returns the rotation.
    ///
    /// # Errors
    /// It cannot be shown, is wrong, or there is no answer.
    pub(super) fn rotation(
        &mut self,
        mut wiring: Wiring,
        mut show: impl FnMut(&Wiring) -> Result<(), Failure>,
    ) -> Result<PanelRotation, Failure> {
        let arrow = ["up", "right", "down", "left"];
        let panel = loop {
            show(&wiring)?;
            let panel = &mut wiring.panels[0];
            match self.ask("Where does the arrow point?", &arrow)? {
                0 => break panel,
                quarters => panel.rotation = turned_back(panel.rotation, quarters),
            }
        };
        let colours = "Is the field BLACK black, and the field WHITE white?";
        if self.ask(colours, &["yes", "no"])? != 0 {
            return Err(Failure::failed(SWAPPED));
        }
        let frame = "Is the thin frame there on all four sides?";
        if self.ask(frame, &["yes", "no"])? != 0 {
            let may_shift = panel.model.x_offset_max() > 0;
            return Err(Failure::failed(if may_shift {
                CUT_OR_SHIFTED
            } else {
                CUT
            }));
        }
        Ok(panel.rotation)
    }
}

/// Whether the model must be confirmed before anything is sent.
pub(super) fn has_variants(id: &str) -> bool {
    VARIANTS.iter().any(|(known, _, _)| *known == id)
}

/// The rotation that undoes some quarter turns of the picture, clockwise.
fn turned_back(rotation: PanelRotation, quarters: usize) -> PanelRotation {
    let all = PanelRotation::ALL;
    let now = all.iter().position(|known| *known == rotation);
    all[(now.unwrap_or_default() + all.len() - quarters) % all.len()]
}

/// Stores the answer as a wiring file, or says what to write.
///
/// # Errors
/// A clock cannot use that rotation, or the file exists or cannot be written.
pub(super) fn store(
    base: &str,
    rotation: PanelRotation,
    output: Option<&Path>,
) -> Result<(), Failure> {
    let text = wiring_text(base, rotation);
    if let Ok(file) = wiring::read(&text) {
        spec::wired(&file.wiring).map_err(Failure::failed)?;
    }
    let Some(path) = output else {
        return print(&format!(
            "Write this into a file, or give -o FILE:\n\n{text}"
        ));
    };
    let cannot = |error| Failure::failed(format!("{} cannot be written: {error}", path.display()));
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)?;
    print(&format!(
        "Start the clock: papertick run --wiring {}\n",
        path.display()
    ))
}

fn wiring_text(base: &str, rotation: PanelRotation) -> String {
    format!(
        "base = {base:?}\n\n[every-panel]\nrotation = {}\n",
        rotation.degrees()
    )
}

/// The test picture.
pub(super) fn picture(name: &str, width: u16, height: u16) -> Bitmap {
    let (half, upper) = (width / 2, height / 2);
    let side = upper.min(width / 4);
    let line = |text: &str| BlockLine {
        text: text.into(),
        bold: true,
    };
    let block = |lines: Vec<BlockLine>| Cell::Block { lines, px: TEXT_PX };
    let size = format!("{width} x {height}");
    let (field_width, field_height) = (half - 2 * MARGIN, height - upper - 2 * MARGIN);
    let parts = [
        (
            0,
            0,
            cell(Cell::Icon(Icon::ArrowUpBold), side, upper, false),
        ),
        (
            side,
            0,
            cell(
                block(vec![line("UP"), line(name), line(&size)]),
                width - side,
                upper,
                false,
            ),
        ),
        (
            MARGIN,
            upper + MARGIN,
            cell(Cell::Title("BLACK".into()), field_width, field_height, true),
        ),
        (
            half + MARGIN,
            upper + MARGIN,
            cell(
                Cell::Title("WHITE".into()),
                field_width,
                field_height,
                false,
            ),
        ),
    ];
    Bitmap::from_ink(width, height, |x, y| {
        let is_frame = x == 0 || y == 0 || x == width - 1 || y == height - 1;
        let is_ink = |(left, top, part): &(u16, u16, Bitmap)| {
            x >= *left && y >= *top && part.is_ink(x - left, y - top)
        };
        is_frame || parts.iter().any(is_ink)
    })
}

fn cell(cell: Cell, width: u16, height: u16, inverted: bool) -> Bitmap {
    let mut style = device::panels::style(&Settings::default());
    style.inverted = inverted;
    Painter::new(width, height).paint(&Picture::new(vec![cell], style), 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// The rotations that are shown for some answers, and the outcome.
    fn interview(answers: &str) -> (Vec<u16>, Result<u16, String>) {
        let wiring = wiring::base("waveshare-7.5-v2").unwrap();
        let mut shown = Vec::new();
        let outcome = Questions(answers.as_bytes()).rotation(wiring, |wiring| {
            shown.push(wiring.panels[0].rotation.degrees());
            Ok(())
        });
        let outcome = outcome.map(PanelRotation::degrees);
        (shown, outcome.map_err(|failure| failure.message))
    }

    #[test]
    fn the_picture_is_turned_until_its_arrow_points_up() {
        let row = |answers, shown: &[u16]| {
            let (rotations, outcome) = interview(answers);
            assert_eq!(rotations, shown, "{answers}");
            assert_eq!(outcome, Ok(*shown.last().unwrap()), "{answers}");
        };
        row("up\nyes\nyes\n", &[0]);
        row("right\nUp\ny\ny\n", &[0, 270]);
        row("what\n\ndown\nu\ny\ny\n", &[0, 180]);
        row("l\nd\nu\ny\ny\n", &[0, 90, 270]);
        for (answers, part) in [
            ("up\nno\n", "black and white are swapped"),
            ("up\nyes\nno\n", "a side of the frame is missing"),
            ("up\nyes\n", "there was no answer"),
        ] {
            let message = interview(answers).1.unwrap_err();
            assert!(message.contains(part), "{answers}: {message}");
            assert!(!message.contains("try"), "{answers}: {message}");
        }
    }

    #[test]
    fn one_of_two_models_is_confirmed() {
        let confirm = |id, answers: &str| Questions(answers.as_bytes()).confirm_model(id).is_ok();
        for (id, answers, expected) in [
            ("waveshare-7.5-v2", "new\n", true),
            ("waveshare-7.5-v2", "old\n", false),
            ("waveshare-7.5-v2", "unknown\n", false),
            ("waveshare-7.5-v2", "", false),
            ("waveshare-4.2-v2", "V2\n", true),
            ("waveshare-4.2-v2", "v1\n", false),
            ("waveshare-4.2-v2", "v\n", false),
            ("gdey0213b74", "", true),
        ] {
            assert_eq!(confirm(id, answers), expected, "{id} {answers:?}");
        }
    }

    #[test]
    fn the_answer_is_a_wiring_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock.toml");
        store("waveshare-7.5-v2", PanelRotation::Left, Some(&path)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let panel = &wiring::read(&text).unwrap().wiring.panels[0];
        assert_eq!(
            (panel.model.id, panel.rotation.degrees()),
            ("waveshare-7.5-v2", 270)
        );
        let again = store("waveshare-7.5-v2", PanelRotation::Left, Some(&path));
        assert!(again.unwrap_err().message.contains("cannot be written"));
    }
}

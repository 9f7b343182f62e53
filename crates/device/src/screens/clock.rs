//! Time of day, with the date as label.

use alloc::{format, vec::Vec};

use super::{Scene, row, words};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Tile},
};

const TIME: SentenceTemplate = SentenceTemplate::new("It is {time}, {day} {month}.");
const TIME_UNKNOWN: SentenceTemplate = SentenceTemplate::new("The time is not known yet.");

/// Names of the months.
pub const MONTHS: [SentenceTemplate; 12] = [
    SentenceTemplate::new("January"),
    SentenceTemplate::new("February"),
    SentenceTemplate::new("March"),
    SentenceTemplate::new("April"),
    SentenceTemplate::new("May"),
    SentenceTemplate::new("June"),
    SentenceTemplate::new("July"),
    SentenceTemplate::new("August"),
    SentenceTemplate::new("September"),
    SentenceTemplate::new("October"),
    SentenceTemplate::new("November"),
    SentenceTemplate::new("December"),
];

/// Day and month, hours and minutes; only dashes on the label while the time is unknown.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(local) = scene.local() else {
        return row::labelled(Cell::label("-", "-"), Vec::new(), scene.panels);
    };
    let label = Cell::label(format!("{:02}", local.day), format!("{:02}", local.month));
    let text = words::time_of_day(local, scene.settings);
    row::labelled(label, row::digits(&text), scene.panels)
}

/// The time of day below the day of the week, and the date.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let Some(local) = scene.local() else {
        return Tile::unknown(["Time"]);
    };
    let (weekday, date) = (words::weekday(local), words::date(local));
    let time = Figure::number(words::time_of_day(local, scene.settings));
    let short = format!("{} {}", local.day, words::short(words::month(local)));
    Tile::new([weekday, words::short(weekday)], Vec::from([time])).line([
        format!("{date} {}", local.year),
        date,
        short,
    ])
}

/// The time of day and the date.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(local) = scene.local() else {
        return TIME_UNKNOWN.into();
    };
    let month = usize::from(local.month).checked_sub(1);
    let month = month.and_then(|month| MONTHS.get(month)).copied();
    let sentence = TIME
        .with("time", format!("{}:{:02}", local.hour, local.minute))
        .with("day", spoken::number(local.day));
    match month {
        Some(month) => sentence.with("month", month),
        None => sentence,
    }
}

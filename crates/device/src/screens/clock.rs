//! Time of day, with the date as label.

use alloc::{format, string::String, vec::Vec};

use super::{Scene, row, spoken};
use crate::cells::Cell;

/// Day and month, hours and minutes; without a plausible time only dashes on the label.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(local) = scene.local else {
        return row::labelled(Cell::label("-", "-"), Vec::new(), scene.panels);
    };
    let label = Cell::label(format!("{:02}", local.day), format!("{:02}", local.month));
    let (hour, minute) = (local.hour, local.minute);
    let text = match scene.settings.hide_lead_zero {
        true => format!("{hour}:{minute:02}"),
        false => format!("{hour:02}:{minute:02}"),
    };
    row::labelled(label, row::digits(&text), scene.panels)
}

/// The time of day and the date.
pub fn sentence(scene: &Scene<'_>) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let Some(local) = scene.local else {
        return spoken::unknown("The time");
    };
    let month = usize::from(local.month).checked_sub(1);
    let month = month.and_then(|month| MONTHS.get(month)).copied();
    let month = month.unwrap_or_default();
    format!(
        "It is {}:{:02}, {} {month}.",
        local.hour, local.minute, local.day
    )
}

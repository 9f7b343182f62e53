//! Time of day, with the date as label.

use alloc::{format, vec::Vec};

use super::{Scene, row};
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

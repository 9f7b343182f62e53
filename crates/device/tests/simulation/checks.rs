//! Checks after every input, and after every step of a simulation.

use std::time::Duration;

use device::{
    cells::{Cell, Picture},
    frames::{FrameContent, LOOK_MAX},
    input::Input,
    output::Desired,
    request::{Reply, Request},
    view::View,
};
use market::mark::Mark;

use crate::{
    model::Model,
    script::Step,
    world::{Update, World},
};

/// Secrets in the settings of the workload. They must never be visible.
pub const CANARIES: &[&str] = &["canary-proxy-password", "canary-pool-key"];

/// Pictures for other screens are checked when the uptime is a multiple of this.
const FRAME_EVERY_SECS: u64 = 7;

/// Asserts that panels, lights and state equal those of the model.
pub fn agree(view: &View, desired: &Desired, model: &Model) {
    let (picture, glass, now) = (&desired.picture, &model.glass, model.now.uptime);
    assert_eq!(view.mode, model.mode(), "the mode");
    assert_eq!(
        (view.current_screen, view.currency),
        model.slot,
        "the screen"
    );
    if let Some(texts) = &glass.texts {
        let shown: Vec<String> = picture.cells.iter().map(text).collect();
        assert_eq!(shown, *texts, "the panels");
        assert_eq!(picture.mark, glass.mark, "the mark");
        let (reported, marks) = ((view.stale, view.disputed), glass.current_marks);
        let expected = (marks.has(Mark::Stale), marks.has(Mark::Disputed));
        assert_eq!(reported, expected, "the reported marks");
        assert!(picture.mark >= marks.worst(), "a value without its mark");
    }
    assert_eq!(picture.cells.len(), view.board.panels, "one cell per panel");
    assert_eq!(style(picture), glass.style, "the style");
    assert_eq!(
        picture.full_refreshes, glass.full_refreshes,
        "full refreshes"
    );
    assert_eq!(picture.repaints, glass.repaints, "repaints of all panels");
    assert_eq!(*view.active, model.settings, "the settings");
    assert_eq!(view.dnd_active, model.is_quiet(), "Do Not Disturb");
    assert_eq!(
        desired.strip,
        model.lights.strip(&model.settings, now),
        "the strip"
    );
    assert_eq!(
        desired.frontlight,
        model.lights.duties(now),
        "the frontlight"
    );
}

/// The text of a panel: two lines as `A/B`, an icon by its name.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Icon(icon) => format!("({icon:?})"),
        Cell::Block { lines, .. } => {
            let lines = lines.iter().map(|line| line.text.as_str());
            lines
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        }
        cell => cell.mirror(),
    }
}

fn style(picture: &Picture) -> (String, bool, u32, [u32; 3]) {
    let style = &picture.style;
    let sizes = [
        style.digit_px,
        style.label_fit_pct,
        style.vertical_labels.into(),
    ];
    (
        style.font.id().into(),
        style.inverted,
        style.sats_variant.into(),
        sizes,
    )
}

/// Asserts the invariants after a step.
pub fn after(world: &World, step: &Step) {
    let view = world.device.view();
    let desired = world.device.desired();
    assert_eq!(view.data.len(), view.board.panels, "one text per panel");
    assert!(
        world.is_erasing() || world.stores(&view.settings),
        "the acknowledged settings differ from the stored ones after {step}"
    );
    network(world, step);
    let shown = format!("{view:?} {desired:?}");
    for canary in CANARIES {
        assert!(!shown.contains(canary), "{canary} is visible after {step}");
    }
    if let Some(deadline) = world.device.next_deadline(world.now) {
        assert!(deadline >= world.now.uptime, "an unhandled deadline");
    }
    frame(world, step);
}

/// Asserts that a picture for another screen equals that of the panels and has no password.
fn frame(world: &World, step: &Step) {
    // Cloning a device takes longer than most steps.
    if !world.now.uptime.as_secs().is_multiple_of(FRAME_EVERY_SECS) {
        return;
    }
    let mut device = world.device.clone();
    let picture = device.desired().picture;
    let view = device.view();
    let request = Request::Frame(FrameContent::Follow);
    let reply = device.handle(Input::Request(request), world.now).reply;
    let Some(Reply::Frame(frame)) = reply else {
        panic!("{reply:?} instead of a frame, after {step}");
    };
    assert!(
        !frame.picture.shows_password,
        "the frame shows a password, after {step}"
    );
    // The panels may hold back a price.
    let is_equal = frame.picture.cells == picture.cells && frame.picture.style == picture.style;
    assert!(
        is_equal || picture.shows_password || view.currency.is_some(),
        "{:?} instead of {:?}, after {step}",
        frame.picture.cells,
        picture.cells
    );
    let expected = frame.changes.expected();
    assert!(expected > Duration::ZERO && expected <= LOOK_MAX);
}

/// Checks that access point, radio, sources and announcement are consistent.
fn network(world: &World, step: &Step) {
    let Some(radio) = &world.radio else { return };
    let view = world.device.view();
    let desired = world.device.desired();
    // The state of the radio does not matter while the device waits for a restart.
    assert!(
        radio.erasing || desired.wifi.access_point.is_some() == radio.is_portal(),
        "the state of the access point is wrong after {step}"
    );
    assert_eq!(
        view.link.state == "connected",
        radio.is_up(),
        "{}, after {step}",
        view.link.state
    );
    if radio.is_portal() {
        assert!(
            desired.sources.is_empty() && desired.advert.is_none(),
            "sources or an announcement on the access point, after {step}"
        );
    }
    let stops_sources = |update: Update| update.stops_sources(world.now.uptime);
    if view.safe_mode.is_some() || world.update.is_some_and(stops_sources) {
        assert!(desired.sources.is_empty(), "a source runs, after {step}");
    } else if radio.is_up() && !radio.erasing {
        assert!(!desired.sources.is_empty(), "no source runs, after {step}");
    }
    radio.check_timeouts(&view.active, world.now.uptime);
}

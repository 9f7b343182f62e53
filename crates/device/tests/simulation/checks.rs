//! Checks after every input, and after every step of a simulation.

use std::time::Duration;

use device::{
    canvas::Layout,
    frames::{FrameContent, LOOK_MAX},
    output::Desired,
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

/// Asserts that mode, screen and settings equal those of the model, and that the panels have the reported marks.
pub fn agree(view: &View, desired: &Desired, model: &Model) {
    assert_eq!(view.mode, model.mode(), "the mode");
    assert_eq!(
        (view.current_screen, view.currency),
        model.slot,
        "the screen"
    );
    assert_eq!(*view.settings.active, model.settings, "the settings");
    let picture = &desired.picture;
    assert_eq!(picture.cells.len(), view.board.panels, "one cell per panel");
    let disputed = view.disputed.then_some(Mark::Disputed);
    let least = disputed.max(view.stale.then_some(Mark::Stale));
    assert!(picture.mark >= least, "a value without its mark");
}

/// Asserts the invariants after a step.
pub fn after(world: &World, step: &Step) {
    let view = world.device.view();
    let desired = world.device.desired();
    assert_eq!(view.data.len(), view.board.panels, "one text per panel");
    assert!(
        world.is_erasing() || world.stores(&view.settings.stored),
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
    // A snapshot takes longer than most steps.
    if !world.now.uptime.as_secs().is_multiple_of(FRAME_EVERY_SECS) {
        return;
    }
    let picture = world.device.desired().picture;
    let view = world.device.view();
    let frame = view
        .frame(FrameContent::Follow, Layout::Auto, world.now)
        .unwrap();
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
    radio.check_timeouts(&view.settings.active, world.now.uptime);
}

//! What must hold after every step of every life.

use std::time::Duration;

use device::{dnd, lights::Rgb};

use crate::{air::Air, model::Model, script::Step, world::World};

/// Silence after which the light in the room has had its way: flashes that wait for the panels are over.
const ROOM_SETTLES: Duration = Duration::from_secs(61);

/// Id of the clock's screen.
const TIME_SCREEN: u16 = 3;

/// Secrets that the workload plants; they may appear nowhere.
pub const CANARIES: &[&str] = &["canary-proxy-password", "canary-pool-key"];

/// Asserts the invariants after a step.
pub fn after(world: &World, model: &Model, step: &Step) {
    let view = world.device.view();
    let desired = world.device.desired();

    assert_eq!(
        view.mode,
        expected_mode(world, model),
        "the highest layer is visible"
    );
    assert_eq!(view.data.len(), view.board.panels, "one text per panel");
    assert_eq!(
        desired.picture.cells.len(),
        view.board.panels,
        "one cell per panel"
    );
    assert!(
        world.is_erasing() || world.would_find(&view.settings),
        "what is acknowledged is what a restart finds, after {step}"
    );
    lights(world, step);
    time(world, step);
    if let Step::Wait(silence) = step
        && *silence >= ROOM_SETTLES
        // Else it was started again meanwhile.
        && world.now.uptime >= *silence
    {
        room(world);
    }
    network(world, step);
    let shown = format!("{view:?} {desired:?}");
    for canary in CANARIES {
        assert!(!shown.contains(canary), "{canary} is visible after {step}");
    }
    if let Some(deadline) = world.device.next_deadline(world.now) {
        assert!(
            deadline >= world.now.uptime,
            "a deadline has passed unhandled"
        );
    }
}

/// Asserts that the counters of a picture only grow.
pub fn refreshes_only_grow(before: (u64, u64), world: &World) -> (u64, u64) {
    let picture = world.device.desired().picture;
    let now = (picture.full_refreshes, picture.repaints);
    assert!(now.0 >= before.0 && now.1 >= before.1, "a refresh was lost");
    now
}

fn expected_mode(world: &World, model: &Model) -> &'static str {
    let view = world.device.view();
    if world.is_erasing() {
        return "erasing";
    }
    if world.air.as_ref().is_some_and(Air::is_portal) {
        return "portal";
    }
    // The splash is below every layer and ends with the first data or touch.
    if view.mode == "splash" {
        "splash"
    } else {
        model.mode()
    }
}

/// The access point, the plan of the radio, the sources and the announcement belong together.
fn network(world: &World, step: &Step) {
    let Some(air) = &world.air else { return };
    let view = world.device.view();
    let desired = world.device.desired();
    assert_eq!(
        desired.wifi.access_point.is_some(),
        air.is_portal(),
        "the access point is up when it should not be, or the other way round, after {step}"
    );
    assert_eq!(
        view.link.state == "connected",
        air.is_up(),
        "{}, after {step}",
        view.link.state
    );
    if air.is_portal() {
        assert!(
            desired.sources.is_empty() && desired.advert.is_none(),
            "the clock talks to the world from its own access point, after {step}"
        );
    }
    if air.is_up() && !air.erasing {
        assert!(!desired.sources.is_empty(), "no source runs, after {step}");
    }
    air.has_patience(&view.active, world.now.uptime);
}

/// What follows from the time of day does so at every moment.
fn time(world: &World, step: &Step) {
    let view = world.device.view();
    let local = world.now.utc.map(|utc| view.active.zone().local(utc));
    assert_eq!(
        view.dnd_active,
        dnd::is_active(&view.active, local),
        "at {local:?}, after {step}"
    );
    if let Some(local) = local
        && (view.mode, view.current_screen) == ("rotation", TIME_SCREEN)
    {
        let hour = match view.active.hide_lead_zero {
            true => local.hour.to_string(),
            false => format!("{:02}", local.hour),
        };
        let time = format!("{hour}:{:02}", local.minute);
        let glass = world.glass();
        assert!(glass.ends_with(&time), "{glass} at {time}, after {step}");
    }
}

/// After some silence the frontlight is what the room and the settings ask for; nobody has switched it off by hand.
fn room(world: &World) {
    let view = world.device.view();
    let (settings, frontlight) = (&view.active, view.frontlight.unwrap());
    let Some(lux) = world.lux else { return };
    let toggle = settings.lux_light_toggle;
    let lit = if settings.fl_disable || (view.dnd_active && settings.fl_off_on_dnd) {
        false
    } else if toggle > 0 && settings.fl_off_when_dark && lux <= 1 {
        // Between the limits it depends on where the light came from.
        if lux == 1 {
            return;
        }
        false
    } else if settings.fl_always_on || toggle == 0 {
        true
    } else if lux == toggle {
        return;
    } else {
        lux < toggle
    };
    let target = if lit { frontlight.brightness } else { 0 };
    assert_eq!(frontlight.target, target, "in {lux} lux");
    assert_eq!(frontlight.duties, [target; 7], "in {lux} lux");
}

/// Muted is dark, and no light is on under Do Not Disturb that should not be.
fn lights(world: &World, step: &Step) {
    let view = world.device.view();
    let desired = world.device.desired();
    let is_dark = desired.strip.iter().all(|color| *color == Rgb::BLACK);
    // The bar of an update is the one thing that shows although the strip is switched off.
    if view.active.disable_leds && !view.updating {
        assert!(
            is_dark,
            "the strip is switched off and shines, after {step}"
        );
    }
    if view.dnd_active && view.active.fl_off_on_dnd {
        let target = view.frontlight.map(|frontlight| frontlight.target);
        assert_eq!(
            target,
            Some(0),
            "the frontlight is lit under Do Not Disturb, after {step}"
        );
    }
    if view.active.fl_disable {
        let target = world
            .device
            .view()
            .frontlight
            .map(|frontlight| frontlight.target);
        assert_eq!(
            target,
            Some(0),
            "the frontlight is muted and lit, after {step}"
        );
    }
    assert!(desired.frontlight.iter().all(|duty| *duty <= 4095));
}

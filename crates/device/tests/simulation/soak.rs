//! Thirty days of one clock with typical faults. Its state must not grow.

use std::time::Duration;

use device::input::Input;
use market::{Connection, Observation, source_id::SourceId};

use crate::{
    script::{PaymentDirection, Step},
    workload::Dice,
    world::{BOARD, World},
};

const DAYS: u64 = 30;

/// Time between prices, min. Real sources send more; fewer prices let the test finish within seconds.
const MINUTES: u64 = 3;

/// Greatest growth of the state from the first to the last day, percent.
const GROWTH_MAX_PCT: usize = 10;

fn run(world: &mut World, script: &str) {
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let step: Step = line.parse().unwrap();
        world.run(&step);
    }
}

/// Runs [`MINUTES`] minutes: a price, sometimes a block, sometimes a fault.
fn minutes(world: &mut World, dice: &mut Dice, height: &mut u32, count: u64) {
    let cents = 9_000_000 + dice.below(1_000_000);
    world.run(&Step::Price(
        "USD".into(),
        format!("{}.{:02}", cents / 100, cents % 100),
    ));
    if dice.below(3) == 0 {
        *height += 1;
        world.run(&Step::Block(*height));
    }
    match count % 80 {
        7 => {
            let reason = String::from("connection reset");
            let down = Connection::Down {
                reason,
                retry_in: Duration::from_secs(5),
            };
            world.handle(Input::Observed(
                SourceId::Relay,
                vec![Observation::Connection(down)],
            ));
        }
        9 => {
            let up = Observation::Connection(Connection::Up);
            world.handle(Input::Observed(SourceId::Relay, vec![up]));
        }
        14 => drop(world.run(&Step::Zap(dice.below(100_000)))),
        20 => drop(world.run(&Step::Payment(PaymentDirection::In, dice.below(100_000)))),
        26 => drop(world.run(&Step::Lux(u32::try_from(dice.below(300)).unwrap()))),
        40 => drop(world.run(&Step::Press(2, Duration::from_millis(100)))),
        50 => drop(world.run(&Step::Text("HODL".into()))),
        66 => drop(world.run(&Step::Block(*height - 3))),
        _ => {}
    }
    world.wait(Duration::from_secs(60 * MINUTES));
    // The log is only needed by tests that compare runs.
    world.log.clear();
}

#[test]
fn a_month_does_not_make_the_clock_grow() {
    let mut world = World::new(BOARD);
    let mut dice = Dice::new(30);
    let mut height = 900_000;
    run(
        &mut world,
        r#"
        clock 1767225600
        set timePerScreen=5
        set nostrZapNotify=true
        set ledFlashOnUpd=true
        set flMaxBrightness=100
        set dnd={"dndTimeEnabled":true,"startHour":22,"startMinute":0,"endHour":7,"endMinute":0}
        "#,
    );
    let mut first_day = 0;
    for day in 0..DAYS {
        for count in 0..24 * 60 / MINUTES {
            minutes(&mut world, &mut dice, &mut height, count);
        }
        // The history grows for a year, up to a bound that has its own test.
        let history = format!("{:?}", world.device.history());
        let size = format!("{:?}", world.device).len() - history.len();
        if day == 0 {
            first_day = size;
        }
        let most = first_day + first_day * GROWTH_MAX_PCT / 100;
        assert!(
            size <= most,
            "day {day}: the state has {size} bytes of text, {first_day} on the first day"
        );
    }
    let view = world.device.view();
    assert_eq!(
        view.market.height.as_ref().map(|known| known.value),
        Some(height)
    );
    assert!(view.notes.is_empty());
}

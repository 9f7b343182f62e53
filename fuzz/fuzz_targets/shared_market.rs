//! Fuzzes the market that another clock shares: what is read of it, what that is worth, and what a clock makes of it.
#![no_main]

use std::{sync::LazyLock, time::Duration};

use device::{
    device::Device,
    input::{Input, LinkEvent},
    limits::SHARED_AGE_MAX,
    market::{Observation, SharedValue},
    memory::Memory,
    now::{Now, UtcTime},
    secret::Endpoint,
    settings::Settings,
    sources::SourceId,
};
use interface::mqtt::shared::{self, Reached};

const NOW: Now = Now {
    uptime: Duration::from_secs(100),
    utc: Some(UtcTime {
        unix_ms: 1_767_225_600_000,
    }),
};

static CLOCK: LazyLock<Device> = LazyLock::new(|| {
    let settings = Settings {
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("broker"),
        mqtt_market: 2,
        ..Settings::default()
    };
    let mut clock = Device::new(board::spec::BOARDS[0], settings, Memory::default(), NOW);
    clock.handle(Input::Linked(LinkEvent::Unmanaged), NOW);
    clock
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, payload)) = bytes.split_first() else {
        return;
    };
    let Ok(market) = shared::read(payload) else {
        return;
    };
    let reached = match first % 2 {
        0 => Reached::Kept,
        _ => Reached::Live(Duration::from_secs(99)),
    };
    let utc = NOW.utc.filter(|_| first % 4 < 2);
    let now = Now { utc, ..NOW };
    let Ok(worth) = market.worth("main", reached, now) else {
        return;
    };
    for observation in &worth.observations {
        let Observation::Shared(shared) = observation else {
            continue;
        };
        assert!(shared.age <= SHARED_AGE_MAX && shared.origin.is_first_hand());
        if let SharedValue::Price(_, price) = shared.value {
            assert!(price.micros > 0);
        }
    }
    let mut clock = CLOCK.clone();
    clock.handle(Input::Observed(SourceId::Shared, worth.observations), now);
    // It goes no further.
    assert_eq!(shared::document(&clock.view(), "me", now), None);
    let later = Now {
        uptime: now.uptime + Duration::from_secs(7200),
        ..now
    };
    clock.handle(Input::Tick, later);
    let _ = clock.view();
});

//! Speed of the device in virtual time, and time to handle one input.

use std::{sync::Arc, time::Duration};

use device::{
    Device,
    board::BoardSpec,
    input::{Finished, Input, Sensed},
    memory::Memory,
    request::Request,
    settings::Settings,
};
use market::{
    Connection, Observation,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, Price},
};

const BOARD: BoardSpec = BoardSpec::EXAMPLE;

const START_MS: i64 = 1_767_225_600_000;
const DAY: Duration = Duration::from_secs(24 * 3600);
const PRICE_PERIOD: Duration = Duration::from_secs(10);
const BLOCK_PERIOD: Duration = Duration::from_secs(600);

fn main() {
    divan::main();
}

fn now(uptime: Duration) -> Now {
    let unix_ms = START_MS + i64::try_from(uptime.as_millis()).unwrap_or_default();
    Now {
        uptime,
        utc: UtcTime::plausible(unix_ms),
    }
}

fn device() -> Device {
    Device::new(
        BOARD,
        Settings::default(),
        Memory::default(),
        now(Duration::ZERO),
    )
}

fn observe(device: &mut Device, observation: Observation, uptime: Duration) {
    device.handle(
        Input::Observed(SourceId::Relay, vec![observation]),
        now(uptime),
    );
    let painted = Finished::Painted(device.desired().picture.serial);
    device.handle(Input::Finished(painted), now(uptime));
}

/// One day of a clock: a price every ten seconds, a block every ten minutes, and a tick at every deadline.
///
/// The printed rate is simulated days per second.
#[divan::bench(sample_count = 10)]
fn simulated_day(bencher: divan::Bencher<'_, '_>) {
    bencher
        .counter(divan::counter::ItemsCount::new(1u32))
        .bench_local(|| {
            let mut device = device();
            // Without a connected source the lights blink many times a minute.
            observe(
                &mut device,
                Observation::Connection(Connection::Up),
                Duration::ZERO,
            );
            let mut next_price = Duration::ZERO;
            let mut next_block = Duration::ZERO;
            let (mut height, mut micros) = (900_000, 95_432_000_000);
            loop {
                let deadline = device.next_deadline(now(next_price)).unwrap_or(DAY);
                let next = deadline.min(next_price).min(next_block);
                if next >= DAY {
                    return device;
                }
                if next == next_price {
                    micros += 1_000_000;
                    observe(
                        &mut device,
                        Observation::Price(Currency::USD, Price { micros }),
                        next,
                    );
                    next_price += PRICE_PERIOD;
                } else if next == next_block {
                    height += 1;
                    observe(&mut device, Observation::Block(height), next);
                    next_block += BLOCK_PERIOD;
                } else {
                    device.handle(Input::Tick, now(next));
                }
            }
        });
}

/// The most frequent inputs. Each is measured with the outputs for drivers and clients and the next deadline.
const INPUTS: &[&str] = &["price", "same-price", "light", "paint"];

/// One input of a device whose source is up and whose screen shows a price.
#[divan::bench(args = INPUTS, sample_size = 100)]
fn input(bencher: divan::Bencher<'_, '_>, kind: &str) {
    let mut device = device();
    observe(
        &mut device,
        Observation::Connection(Connection::Up),
        Duration::ZERO,
    );
    let show = Input::Request(Request::ShowCurrency(Currency::USD));
    device.handle(show, now(Duration::ZERO));
    let (mut uptime, mut micros) = (Duration::ZERO, 95_432_000_000);
    bencher.bench_local(|| {
        uptime += Duration::from_micros(1);
        let input = match kind {
            "light" => Input::Sensed(Sensed::Millilux(300_000)),
            "paint" => Input::Finished(Finished::Painted(1)),
            _ => {
                micros += if kind == "price" { 1_000_000 } else { 0 };
                let price = Observation::Price(Currency::USD, Price { micros });
                Input::Observed(SourceId::Relay, vec![price])
            }
        };
        let now = now(uptime);
        device.handle(input, now);
        (
            device.next_deadline(now),
            device.desired(),
            Arc::new(device.view()),
        )
    });
}

/// Baseline: a copy of the settings.
#[divan::bench(sample_size = 100)]
fn copy_of_the_settings(bencher: divan::Bencher<'_, '_>) {
    let settings = Settings::default();
    bencher.bench_local(|| settings.clone());
}

/// One block, with the new picture and the new view.
#[divan::bench]
fn block_to_picture(bencher: divan::Bencher<'_, '_>) {
    let mut device = device();
    let mut height = 900_000;
    bencher.bench_local(|| {
        height += 1;
        let uptime = Duration::from_millis(u64::from(height));
        observe(&mut device, Observation::Block(height), uptime);
        (device.desired(), device.view())
    });
}

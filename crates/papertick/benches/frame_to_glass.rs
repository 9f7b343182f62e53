//! From a relay's frame to the bitmaps that the board is handed: what the clock itself adds to the time of the ink.
//!
//! The yardstick beside it copies the bytes of the same bitmaps.

use std::time::Duration;

use board::spec::BOARDS;
use device::{
    Device,
    input::{Finished, Input},
    memory::Memory,
    now::{Now, UtcTime},
    settings::Settings,
    sources::SourceId,
};
use render::Painter;

fn main() {
    divan::main();
}

fn now(uptime: Duration) -> Now {
    Now {
        uptime,
        utc: UtcTime::plausible(1_767_225_600_000),
    }
}

/// The frame of a new block: a MessagePack map with one key.
fn frame(height: u32) -> Vec<u8> {
    let mut frame = b"\x81\xabblockheight\xce".to_vec();
    frame.extend(height.to_be_bytes());
    frame
}

#[divan::bench(sample_count = 1000)]
fn block_frame_to_bitmaps(bencher: divan::Bencher<'_, '_>) {
    let spec = BOARDS[0];
    let mut device = Device::new(
        spec,
        Settings::default(),
        Memory::default(),
        now(Duration::ZERO),
    );
    let mut painter = Painter::new(spec.panel_width, spec.panel_height);
    let mut height = 900_000;
    bencher.bench_local(|| {
        height += 1;
        let uptime = Duration::from_millis(u64::from(height));
        let observations = feeds::relay::frame(&frame(height), true).unwrap_or_default();
        device.handle(Input::Observed(SourceId::Relay, observations), now(uptime));
        let bitmaps = painter.paint_all(&device.desired().picture);
        device.handle(Input::Finished(Finished::Painted), now(uptime));
        bitmaps
    });
}

#[divan::bench(sample_count = 1000)]
fn copy_of_the_same_bitmaps(bencher: divan::Bencher<'_, '_>) {
    let spec = BOARDS[0];
    let device = Device::new(
        spec,
        Settings::default(),
        Memory::default(),
        now(Duration::ZERO),
    );
    let bitmaps =
        Painter::new(spec.panel_width, spec.panel_height).paint_all(&device.desired().picture);
    bencher.bench_local(|| divan::black_box(&bitmaps).clone());
}

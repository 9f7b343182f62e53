//! Time from a frame of the relay to the bitmaps that are sent to the panels, without the refresh of the panels.
//!
//! Measured once as function calls, and once through the queue, the main loop and the painter as in the clock. The
//! baseline copies the bytes of the same bitmaps.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use board::{
    ports::{Outcome, Panels},
    spec::BOARDS,
    wiring::Care,
};
use device::{
    Device,
    board::{BoardSpec, PanelFault},
    input::{Finished, Input},
    memory::Memory,
    refresh::Refresh,
    settings::Settings,
};
use market::{
    now::{Now, UtcTime},
    source_id::SourceId,
};
use papertick::{
    drivers::painter::{self, PaintProgress, PainterConfig},
    main_loop::{InitialState, MainLoop},
};
use render::{Bitmap, BoardPainter, Painter};
use runtime::{clock::Clock, inbox::inbox, panels::PanelsSnapshot, tasks::stop_signal};
use storage::{Store, disk::Folder, store_thread::StoreHandle};
use tokio::sync::{mpsc, watch};

const SAMPLES: u32 = 5000;

const FIRST_HEIGHT: u32 = 900_000;

/// Time between two frames through the whole clock; the panels are idle again by then.
const PAUSE: Duration = Duration::from_micros(500);

fn main() {
    let spec = BOARDS[0];
    let calls = calls(spec);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let clock = runtime.block_on(clock(spec));
    let copies = copies(spec);
    let baseline = median(&copies);
    println!("{SAMPLES} samples each          median       p99     slowest   median / copy");
    for (name, samples) in [
        ("frame to bitmaps, calls", calls),
        ("frame to bitmaps, clock", clock),
        ("copy of the bitmaps", copies),
    ] {
        let (median, p99) = (median(&samples), samples[samples.len() * 99 / 100]);
        println!(
            "{name:24} {median:>10.1?} {p99:>9.1?} {:>11.1?} {:>10.1}",
            samples[samples.len() - 1],
            median.as_secs_f64() / baseline.as_secs_f64()
        );
    }
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

fn sorted(mut samples: Vec<Duration>) -> Vec<Duration> {
    samples.sort_unstable();
    samples
}

fn device(spec: BoardSpec, now: Now) -> Device {
    Device::new(spec, Settings::default(), Memory::default(), now)
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

/// The observations in the frame of a new block.
fn block(height: u32) -> Input {
    let observations = feeds::relay::frame(&frame(height), true).unwrap();
    Input::Observed(SourceId::Relay, observations)
}

fn calls(spec: BoardSpec) -> Vec<Duration> {
    let mut device = device(spec, now(Duration::ZERO));
    let mut painter = Painter::new(spec.panel_width, spec.panel_height);
    let sample = |sample: u32| {
        let uptime = Duration::from_secs(u64::from(sample));
        let started = Instant::now();
        device.handle(block(FIRST_HEIGHT + sample), now(uptime));
        let bitmaps = painter.paint_all(&device.desired().picture);
        let took = started.elapsed();
        drop(bitmaps);
        let painted = Finished::Painted(device.desired().picture.serial);
        device.handle(Input::Finished(painted), now(uptime));
        took
    };
    sorted((0..SAMPLES).map(sample).collect())
}

/// Panels that finish at once and record when they receive a frame.
struct RecordingPanels {
    count: usize,
    started: Vec<usize>,
    start_sender: mpsc::UnboundedSender<Instant>,
}

impl Panels for RecordingPanels {
    fn count(&self) -> usize {
        self.count
    }

    async fn start(&mut self, panel: usize, _: &Arc<Bitmap>, _: Refresh) -> Result<(), PanelFault> {
        self.started.push(panel);
        self.start_sender.send(Instant::now()).unwrap();
        Ok(())
    }

    async fn idle(&mut self) -> Vec<(usize, Outcome)> {
        if self.started.is_empty() {
            std::future::pending::<()>().await;
        }
        let started = std::mem::take(&mut self.started);
        started
            .into_iter()
            .map(|panel| (panel, Ok(Refresh::Partial)))
            .collect()
    }
}

async fn clock(spec: BoardSpec) -> Vec<Duration> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::host();
    let (inbox, inputs) = inbox();
    let (store, _) = Store::open(Box::new(Folder::new(folder.path())));
    let initial = InitialState::with(spec, Settings::default());
    let (store, worker) = StoreHandle::new(store);
    worker.spawn_thread().unwrap();
    let (main_loop, receivers) = MainLoop::new(initial, clock, inputs, store);
    let (_stopper, stop) = stop_signal();
    tokio::spawn(main_loop.run(stop));
    let (start_sender, mut starts) = mpsc::unbounded_channel();
    let unknown = PanelsSnapshot::unknown(spec.panel_count(), spec.panel_size());
    tokio::spawn(painter::run(PainterConfig {
        panels: RecordingPanels {
            count: spec.panels,
            started: Vec::new(),
            start_sender,
        },
        renderer: BoardPainter::new(&spec),
        care: Care::NONE,
        pictures: receivers.picture.clone(),
        glass: watch::Sender::new(Arc::new(unknown)),
        progress: watch::Sender::new(PaintProgress::Waiting),
        inbox: inbox.clone(),
    }));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut samples = Vec::new();
    for sample in 0..SAMPLES {
        while starts.try_recv().is_ok() {}
        let started = Instant::now();
        inbox.send(block(FIRST_HEIGHT + sample)).await.unwrap();
        // A new block changes at least one digit, so at least one panel starts. The other panels start within the pause.
        let first = starts.recv().await.unwrap();
        tokio::time::sleep(PAUSE).await;
        let mut last = first;
        while let Ok(start) = starts.try_recv() {
            last = start;
        }
        samples.push(last - started);
    }
    sorted(samples)
}

fn copies(spec: BoardSpec) -> Vec<Duration> {
    let device = device(spec, now(Duration::ZERO));
    let bitmaps =
        Painter::new(spec.panel_width, spec.panel_height).paint_all(&device.desired().picture);
    let sample = |_| {
        let started = Instant::now();
        let copy = std::hint::black_box(&bitmaps).clone();
        let took = started.elapsed();
        drop(copy);
        took
    };
    sorted((0..SAMPLES).map(sample).collect())
}

//! Processor time of a refresh of seven panels, without the transfers on the buses, and memory of the drivers.
//!
//! `cargo bench -p board`. The parts are stubs that answer at once. The baseline `copy_fourteen_banks` copies as many
//! bytes as a refresh sends.

#![allow(clippy::unwrap_used)]

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use board::{
    assembly::{Edges, ExpanderBus, Hardware, PanelWorker},
    parts::{
        epaper::{MODELS, sequence::ssd16xx::command},
        mcp23017::LineLevel,
    },
    wiring::{self, PANELS_MAX, Pull, Wiring, WiringLine},
};
use device::refresh::Refresh;
use divan::{AllocProfiler, Bencher, black_box};
use embedded_hal::{
    digital::{self, InputPin, OutputPin},
    i2c::{self, I2c, Operation, SevenBitAddress},
    spi::{self, SpiBus},
};
use render::Bitmap;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Panels that are refreshed.
const PANELS: usize = 7;

fn main() {
    divan::main();
}

/// A board of stubs, which answer at once.
#[derive(Debug, Clone)]
struct StubBoard(Arc<State>);

#[derive(Debug)]
struct State {
    wiring: Wiring,
    now_nanos: AtomicU64,
    is_command: AtomicBool,
    selected: AtomicUsize,
    busy_until_nanos: [AtomicU64; PANELS_MAX],
}

/// Use of a line.
#[derive(Debug)]
enum Role {
    Command,
    Select(usize),
    Busy(usize),
    Other,
}

#[derive(Debug)]
struct Pin(StubBoard, Role);

#[derive(Debug)]
struct Bus(StubBoard);

impl StubBoard {
    fn new(wiring: &Wiring) -> StubBoard {
        StubBoard(Arc::new(State {
            wiring: wiring.clone(),
            now_nanos: AtomicU64::new(0),
            is_command: AtomicBool::new(false),
            selected: AtomicUsize::new(0),
            busy_until_nanos: Default::default(),
        }))
    }

    fn pin(&self, line: &WiringLine) -> Pin {
        let wiring = &self.0.wiring;
        let select = wiring.panels.iter().position(|panel| panel.select == *line);
        let busy = wiring.panels.iter().position(|panel| panel.busy == *line);
        let role = match (select, busy) {
            (Some(panel), _) => Role::Select(panel),
            (None, Some(panel)) => Role::Busy(panel),
            (None, None) if *line == wiring.spi.command => Role::Command,
            (None, None) => Role::Other,
        };
        Pin(self.clone(), role)
    }

    fn advance(&self, to: Duration) {
        let nanos = u64::try_from(to.as_nanos()).unwrap();
        self.0.now_nanos.fetch_max(nanos, Relaxed);
    }
}

impl Hardware for StubBoard {
    type Spi = Bus;
    type I2c = Bus;
    type HostOutput = Pin;
    type HostInput = Pin;
    type Claim = ();
    type Error = Infallible;

    fn claim(&self, _: &str) -> Result<(), Infallible> {
        Ok(())
    }

    fn spi(&self, _: &str, _: u32) -> Result<Bus, Infallible> {
        Ok(Bus(self.clone()))
    }

    fn i2c(&self, _: &str) -> Result<Bus, Infallible> {
        Ok(Bus(self.clone()))
    }

    fn output(&self, line: &WiringLine, _: LineLevel) -> Result<Pin, Infallible> {
        Ok(self.pin(line))
    }

    fn input(&self, line: &WiringLine, _: Pull) -> Result<Pin, Infallible> {
        Ok(self.pin(line))
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.now_nanos.load(Relaxed))
    }

    async fn sleep_until(&self, moment: Duration) {
        self.advance(moment);
    }
}

impl digital::ErrorType for Pin {
    type Error = Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        match self.1 {
            Role::Command => self.0.0.is_command.store(true, Relaxed),
            Role::Select(panel) => self.0.0.selected.store(panel, Relaxed),
            Role::Busy(_) | Role::Other => {}
        }
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        match self.1 {
            Role::Command => self.0.0.is_command.store(false, Relaxed),
            Role::Select(_) | Role::Busy(_) | Role::Other => {}
        }
        Ok(())
    }
}

impl InputPin for Pin {
    fn is_high(&mut self) -> Result<bool, Infallible> {
        let state = &self.0.0;
        Ok(match self.1 {
            Role::Busy(panel) => {
                state.now_nanos.load(Relaxed) < state.busy_until_nanos[panel].load(Relaxed)
            }
            Role::Command | Role::Select(_) | Role::Other => true,
        })
    }

    fn is_low(&mut self) -> Result<bool, Infallible> {
        Ok(!self.is_high()?)
    }
}

impl Edges for Pin {
    async fn leave(&mut self, _: LineLevel) {
        std::future::pending().await
    }
}

impl spi::ErrorType for Bus {
    type Error = Infallible;
}

impl SpiBus for Bus {
    fn read(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn write(&mut self, words: &[u8]) -> Result<(), Infallible> {
        let state = &self.0.0;
        if state.is_command.load(Relaxed) && words == [command::ACTIVATE] {
            let took = MODELS[0].times.whole_partial().as_nanos() as u64;
            let until = state.now_nanos.load(Relaxed) + took;
            state.busy_until_nanos[state.selected.load(Relaxed)].store(until, Relaxed);
        }
        black_box(words);
        Ok(())
    }

    fn transfer(&mut self, _: &mut [u8], _: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn transfer_in_place(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl i2c::ErrorType for Bus {
    type Error = Infallible;
}

impl I2c for Bus {
    fn transaction(
        &mut self,
        _: SevenBitAddress,
        _: &mut [Operation<'_>],
    ) -> Result<(), Infallible> {
        Ok(())
    }
}

fn worker() -> PanelWorker<StubBoard> {
    let wiring = wiring::base("rev-b").unwrap();
    let parts = StubBoard::new(&wiring);
    let wire = ExpanderBus::open(&parts, &wiring).unwrap();
    PanelWorker::open(parts, wire, &wiring).unwrap()
}

fn pictures() -> [Bitmap; 2] {
    [0, 1].map(|odd| Bitmap::from_ink(122, 250, |x, y| (x + y) % 2 == odd))
}

/// Shows a picture on all panels, up to the preparations for the next one.
fn show(worker: &mut PanelWorker<StubBoard>, picture: &Bitmap, refresh: Refresh) {
    for panel in 0..PANELS {
        worker.show(panel, picture, refresh).unwrap();
    }
    let mut shown = 0;
    loop {
        let (ended, wake) = worker.poll();
        shown += ended.iter().filter(|(_, outcome)| outcome.is_ok()).count();
        match wake.at {
            Some(at) => worker.hardware().advance(at),
            None => break,
        }
    }
    assert_eq!(shown, PANELS);
}

/// Baseline: copies both banks of seven panels to allocated memory.
#[divan::bench]
fn copy_fourteen_banks(bencher: Bencher<'_, '_>) {
    let bank = vec![0x5A_u8; 16 * 250];
    let mut place = vec![0_u8; 16 * 250];
    bencher.bench_local(|| {
        for _ in 0..2 * PANELS {
            place.copy_from_slice(black_box(&bank));
            black_box(&place);
        }
    });
}

#[divan::bench(args = [Refresh::Full, Refresh::Partial])]
fn seven_panels(bencher: Bencher<'_, '_>, refresh: Refresh) {
    let mut worker = worker();
    let pictures = pictures();
    show(&mut worker, &pictures[0], Refresh::Full);
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        show(&mut worker, &pictures[turn % 2], refresh);
    });
}

/// Memory of the drivers of the panels: the figure is the largest allocation.
#[divan::bench]
fn drivers_and_two_pictures(bencher: Bencher<'_, '_>) {
    let pictures = pictures();
    bencher.bench_local(|| {
        let mut worker = worker();
        show(&mut worker, &pictures[0], Refresh::Full);
        show(&mut worker, &pictures[1], Refresh::Partial);
        worker
    });
}

//! The painter on the simulated board, in virtual time.

use std::{sync::Arc, time::Duration};

use board::{
    assembly::assemble,
    parts::epaper,
    ports::{BUSY_LIMIT, Outcome, Panels},
    sim::{self, Bench, FULL_REFRESH, PARTIAL_REFRESH, SimFault, SimOptions},
    spec,
    wiring::{self, Care, Wiring},
};
use device::{
    board::{BoardSpec, PanelFault},
    cells::{Cell, Picture, Style},
    input::{Finished, Input},
    refresh::Refresh,
    settings::fonts::FontId,
    tile::{Figure, Tile},
};
use lab::circuit::{Circuit, Flow, I2cCondition, PanelCondition};
use papertick::drivers::painter::{
    self, CLEANING_ROUNDS, FIRST_VALUES, IDLE_BEFORE_REFRESH, NO_PARTIALS, PaintProgress,
    PainterConfig, RETRY_MAX, STEP_FACTOR,
};
use render::{Bitmap, BoardPainter};
use runtime::{
    inbox::{InboxMessage, inbox},
    panels::PanelsSnapshot,
    tasks::Tasks,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

const MOMENT: Duration = Duration::from_millis(1);

struct PainterRig {
    pictures: watch::Sender<Picture>,
    glass: watch::Receiver<Arc<PanelsSnapshot>>,
    bench: Bench,
    progress: watch::Receiver<PaintProgress>,
    inputs: mpsc::Receiver<InboxMessage>,
    _tasks: Tasks,
}

impl PainterRig {
    /// Starts a painter and lets it finish the first picture.
    async fn new(text: &str) -> PainterRig {
        PainterRig::with_care(text, Care::NONE).await
    }

    async fn with_care(text: &str, care: Care) -> PainterRig {
        let spec = spec::find("rev-b").unwrap();
        let board = sim::board(spec, SimOptions::default());
        let (pictures, follow) = watch::channel(picture(text));
        let unknown = PanelsSnapshot::unknown(spec.panel_count(), spec.panel_size());
        let (glass, shown) = watch::channel(Arc::new(unknown));
        let (progress, doing) = watch::channel(PaintProgress::Waiting);
        let (inbox, inputs) = inbox();
        let mut tasks = Tasks::new();
        let config = PainterConfig {
            panels: board.panels,
            renderer: BoardPainter::new(spec),
            care,
            pictures: follow,
            glass,
            progress,
            inbox,
        };
        tasks.spawn("painter", painter::run(config));
        let rig = PainterRig {
            pictures,
            glass: shown,
            bench: board.bench,
            progress: doing,
            inputs,
            _tasks: tasks,
        };
        sleep(FULL_REFRESH + MOMENT).await;
        rig
    }

    fn show(&self, change: impl FnOnce(&mut Picture)) {
        self.pictures.send_modify(change);
    }

    /// Serial numbers of the pictures that were reported as painted since the last call.
    fn reported(&mut self) -> Vec<u64> {
        let inputs = std::iter::from_fn(|| self.inputs.try_recv().ok());
        inputs
            .map(|message| {
                let Input::Finished(Finished::Painted(serial)) = message.input else {
                    panic!("unexpected input {:?}", message.input)
                };
                serial
            })
            .collect()
    }

    /// Full and partial refreshes of each panel so far.
    fn counts(&self) -> Vec<(u64, u64)> {
        let state = self.bench.state();
        state
            .panels
            .iter()
            .map(|panel| (panel.full, panel.partial))
            .collect()
    }

    /// Checks that the panels and the snapshot show what a new painter would draw.
    fn assert_shows(&self, text: &str) {
        let expected = render::Painter::new(122, 250).paint_all(&picture(text));
        let glass = self.glass.borrow();
        for (panel, expected) in expected.iter().enumerate() {
            assert_eq!(
                *self.bench.shown(panel).unwrap(),
                *expected,
                "panel {panel}"
            );
            assert_eq!(*glass.panels[panel].bitmap, *expected, "glass {panel}");
        }
    }
}

fn cells(text: &str) -> Vec<Cell> {
    text.chars().map(Cell::digit).collect()
}

fn picture(text: &str) -> Picture {
    let style = Style {
        font: FontId::all().next().unwrap(),
        digit_px: 180,
        label_fit_pct: 100,
        vertical_labels: true,
        inverted: false,
        sats_variant: 7,
    };
    Picture {
        serial: 1,
        ..Picture::new(cells(text), style)
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_picture_is_painted_fully() {
    let rig = PainterRig::new("1234567").await;
    assert_eq!(rig.counts(), [(1, 0); 7]);
    rig.assert_shows("1234567");
    let glass = rig.glass.borrow();
    assert_eq!(glass.generation, 1);
    assert!(
        glass
            .panels
            .iter()
            .all(|panel| panel.painted == 1 && panel.refresh == Refresh::Full)
    );
}

#[tokio::test(start_paused = true)]
async fn only_panels_that_differ_are_painted_partially() {
    let rig = PainterRig::new("1234567").await;
    rig.show(|picture| picture.cells = cells("1234589"));
    sleep(PARTIAL_REFRESH + MOMENT).await;
    assert_eq!(
        rig.counts(),
        [(1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1)]
    );
    rig.assert_shows("1234589");
    let painted: Vec<u64> = rig
        .glass
        .borrow()
        .panels
        .iter()
        .map(|panel| panel.painted)
        .collect();
    assert_eq!(painted, [1, 1, 1, 1, 1, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_looks_the_same_paints_nothing() {
    let rig = PainterRig::new("1234567").await;
    rig.show(|picture| picture.style.sats_variant = 3);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(rig.counts(), [(1, 0); 7]);
}

#[tokio::test(start_paused = true)]
async fn the_counters_paint_all_panels() {
    let rig = PainterRig::new("1234567").await;
    rig.show(|picture| picture.repaints += 1);
    sleep(PARTIAL_REFRESH + MOMENT).await;
    assert_eq!(rig.counts(), [(1, 1); 7]);
    rig.show(|picture| {
        picture.repaints += 1;
        picture.full_refreshes += 1;
    });
    sleep(FULL_REFRESH + MOMENT).await;
    assert_eq!(rig.counts(), [(2, 1); 7]);
}

#[tokio::test(start_paused = true)]
async fn a_newer_picture_replaces_a_queued_one() {
    let rig = PainterRig::new("0000000").await;
    let started = Instant::now();
    rig.show(|picture| picture.full_refreshes += 1);
    for number in 1..=150 {
        sleep(Duration::from_millis(10)).await;
        rig.show(|picture| picture.cells = cells(&format!("{number:07}")));
    }
    sleep(FULL_REFRESH + PARTIAL_REFRESH + MOMENT - started.elapsed()).await;
    assert_eq!(
        rig.counts(),
        [(2, 0), (2, 0), (2, 0), (2, 0), (2, 1), (2, 1), (2, 0)]
    );
    rig.assert_shows("0000150");
}

#[tokio::test(start_paused = true)]
async fn a_full_refresh_requested_while_busy_is_not_lost() {
    let rig = PainterRig::new("0000000").await;
    rig.show(|picture| picture.cells = cells("0000001"));
    sleep(MOMENT).await;
    // Requested while panel 6 is busy, and replaced by newer pictures before it is idle.
    rig.show(|picture| picture.full_refreshes += 1);
    sleep(MOMENT).await;
    for text in ["0000002", "0000003", "0000004"] {
        rig.show(|picture| picture.cells = cells(text));
        sleep(MOMENT).await;
    }
    sleep(PARTIAL_REFRESH + FULL_REFRESH).await;
    assert!(
        rig.counts().iter().all(|(full, _)| *full == 2),
        "{:?}",
        rig.counts()
    );
    rig.assert_shows("0000004");
}

#[tokio::test(start_paused = true)]
async fn a_stuck_panel_is_faulty_and_the_others_continue() {
    let rig = PainterRig::new("0000000").await;
    rig.bench.set_fault(3, SimFault::BusyStuck).unwrap();
    rig.show(|picture| picture.cells = cells("1111111"));
    sleep(PARTIAL_REFRESH + MOMENT).await;
    let one = render::Painter::new(122, 250).paint(&picture("1"), 0);
    {
        let glass = rig.glass.borrow();
        let shown = glass
            .panels
            .iter()
            .filter(|panel| *panel.bitmap == one)
            .count();
        assert_eq!(shown, 6, "the other panels are published at once");
    }
    sleep(BUSY_LIMIT).await;
    assert_eq!(
        rig.glass.borrow().panels[3].fault,
        Some(PanelFault::BusyStuck)
    );

    let started = Instant::now();
    rig.show(|picture| picture.cells = cells("2222222"));
    sleep(PARTIAL_REFRESH + MOMENT).await;
    assert_eq!(
        rig.counts()[4],
        (1, 2),
        "the others do not wait for the stuck panel"
    );
    assert!(started.elapsed() < BUSY_LIMIT);

    rig.bench.set_fault(3, SimFault::None).unwrap();
    sleep(FULL_REFRESH + MOMENT).await;
    assert_eq!(
        rig.counts()[3],
        (2, 1),
        "the panel is repainted when it recovers"
    );
    assert_eq!(rig.glass.borrow().panels[3].fault, None);
    rig.assert_shows("2222222");
}

#[tokio::test(start_paused = true)]
async fn each_paint_is_reported_once_with_its_serial_number() {
    let mut rig = PainterRig::new("0000000").await;
    assert_eq!(rig.reported(), [1]);
    rig.show(|picture| (picture.cells, picture.serial) = (cells("0000001"), 2));
    sleep(MOMENT).await;
    // While the second is painted the third is replaced by the fourth, which looks the same as the second.
    rig.show(|picture| (picture.cells, picture.serial) = (cells("0000002"), 3));
    sleep(MOMENT).await;
    rig.show(|picture| (picture.cells, picture.serial) = (cells("0000001"), 4));
    assert!(rig.reported().is_empty(), "the refresh is in progress");
    sleep(PARTIAL_REFRESH).await;
    assert_eq!(rig.reported(), [2, 4]);
    sleep(Duration::from_secs(60)).await;
    assert!(rig.reported().is_empty());
}

/// Panels whose port hangs, like a bus without an answer.
struct Hanging;

impl Panels for Hanging {
    fn count(&self) -> usize {
        7
    }

    async fn start(&mut self, _: usize, _: &Arc<Bitmap>, _: Refresh) -> Result<(), PanelFault> {
        std::future::pending().await
    }

    async fn idle(&mut self) -> Vec<(usize, Outcome)> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_port_is_detected() {
    let (progress, watched) = watch::channel(PaintProgress::Waiting);
    let (_pictures, follow) = watch::channel(picture("0000000"));
    let (inbox, _inputs) = inbox();
    let mut tasks = Tasks::new();
    let config = PainterConfig {
        panels: Hanging,
        renderer: BoardPainter::new(&BoardSpec::EXAMPLE),
        care: Care::NONE,
        pictures: follow,
        glass: watch::Sender::new(Arc::new(PanelsSnapshot::unknown(7, (122, 250)))),
        progress,
        inbox,
    };
    tasks.spawn("painter", painter::run(config));
    sleep(BUSY_LIMIT * STEP_FACTOR - MOMENT).await;
    assert!(!watched.borrow().is_stuck());
    sleep(2 * MOMENT).await;
    assert!(watched.borrow().is_stuck());
}

#[tokio::test(start_paused = true)]
async fn busy_panels_are_no_stuck_painter() {
    let rig = PainterRig::new("0000000").await;
    for panel in 0..7 {
        rig.bench.set_fault(panel, SimFault::BusyStuck).unwrap();
    }
    for text in ["1111111", "2222222", "3333333"] {
        rig.show(|picture| picture.cells = cells(text));
        sleep(BUSY_LIMIT - MOMENT).await;
        assert!(!rig.progress.borrow().is_stuck());
    }
    sleep(3 * STEP_FACTOR * BUSY_LIMIT).await;
    assert_eq!(*rig.progress.borrow(), PaintProgress::Waiting);
}

/// Panels that fail at every start, and record the times.
struct Failing {
    started: mpsc::Sender<Instant>,
    failed: Vec<(usize, Outcome)>,
}

impl Panels for Failing {
    fn count(&self) -> usize {
        1
    }

    async fn start(&mut self, panel: usize, _: &Arc<Bitmap>, _: Refresh) -> Result<(), PanelFault> {
        self.started.send(Instant::now()).await.unwrap();
        self.failed.push((panel, Err(PanelFault::NotRefreshed)));
        Ok(())
    }

    async fn idle(&mut self) -> Vec<(usize, Outcome)> {
        if self.failed.is_empty() {
            std::future::pending::<()>().await;
        }
        std::mem::take(&mut self.failed)
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_panel_is_retried_with_growing_pauses() {
    let (started, mut starts) = mpsc::channel(100);
    let panels = Failing {
        started,
        failed: Vec::new(),
    };
    let (_pictures, follow) = watch::channel(picture("0"));
    let (inbox, mut inputs) = inbox();
    let mut tasks = Tasks::new();
    let (glass, shown) = watch::channel(Arc::new(PanelsSnapshot::unknown(1, (122, 250))));
    let config = PainterConfig {
        panels,
        renderer: BoardPainter::new(&BoardSpec::EXAMPLE),
        care: Care::NONE,
        pictures: follow,
        glass,
        progress: watch::Sender::new(PaintProgress::Waiting),
        inbox,
    };
    tasks.spawn("painter", painter::run(config));
    tasks.spawn(
        "device",
        async move { while inputs.recv().await.is_some() {} },
    );
    let mut last = starts.recv().await.unwrap();
    let mut waits = Vec::new();
    for _ in 0..8 {
        let next = starts.recv().await.unwrap();
        waits.push((next - last).as_secs());
        last = next;
        assert_eq!(
            shown.borrow().panels[0].fault,
            Some(PanelFault::NotRefreshed)
        );
    }
    assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300]);
    let glass = shown.borrow().panels[0].clone();
    assert_eq!((glass.failures, glass.since), (9, None));
    assert_eq!(glass.retry_at, Some(last + RETRY_MAX));
}

/// A painter on an emulated circuit of eight panels, with its channels.
fn clock_on(
    circuit: &Circuit,
    wiring: &Wiring,
) -> (
    Tasks,
    watch::Sender<Picture>,
    watch::Receiver<Arc<PanelsSnapshot>>,
    watch::Receiver<PaintProgress>,
) {
    let board = assemble(circuit, wiring).unwrap();
    let mut tasks = Tasks::new();
    for bus in board.buses {
        tasks.spawn(bus.name, bus.serve());
    }
    // A board of other panels than a clock has is drawn as cells.
    let spec = spec::wired(wiring).unwrap_or(BoardSpec::EXAMPLE);
    let unknown = PanelsSnapshot::unknown(wiring.panels.len(), spec.panel_size());
    let (pictures, follow) = watch::channel(picture("00000000"));
    let (glass, shown) = watch::channel(Arc::new(unknown));
    let (progress, doing) = watch::channel(PaintProgress::Waiting);
    let (inbox, mut inputs) = inbox();
    let config = PainterConfig {
        panels: board.panels,
        renderer: BoardPainter::new(&spec),
        care: wiring.care,
        pictures: follow,
        glass,
        progress,
        inbox,
    };
    tasks.spawn("painter", painter::run(config));
    tasks.spawn(
        "device",
        async move { while inputs.recv().await.is_some() {} },
    );
    (tasks, pictures, shown, doing)
}

/// Runs panels that share one reset line with conditions that start later. Returns the wrongly reported panels with the
/// second of the report.
async fn faults_on_a_shared_line(
    conditions: &[(usize, PanelCondition)],
    from_secs: u64,
) -> Vec<String> {
    let mut wiring = wiring::base("v8").unwrap();
    let shared = wiring.panels[0].reset.clone();
    for panel in &mut wiring.panels {
        panel.reset = shared.clone();
        panel.model = epaper::find("gdem0213b74").unwrap();
        panel.stagger = Duration::from_millis(100);
    }
    let circuit = Circuit::new(&wiring, Flow::Live);
    let (mut tasks, mut pictures, mut shown, mut step) = (None, None, None, None);
    let mut blamed = Vec::new();
    for tenth in 0..2_000_u64 {
        if tenth == from_secs * 10 {
            for (panel, condition) in conditions {
                circuit.set_condition(*panel, *condition);
            }
        }
        if tenth == 0 {
            let (running, wanted, glass, doing) = clock_on(&circuit, &wiring);
            (tasks, pictures, shown, step) =
                (Some(running), Some(wanted), Some(glass), Some(doing));
        }
        if tenth % 70 == 0
            && let Some(pictures) = &pictures
        {
            let text = (tenth / 70 % 10).to_string().repeat(8);
            pictures.send_modify(|picture| picture.cells = cells(&text));
        }
        sleep(Duration::from_millis(100)).await;
        assert!(!step.as_ref().unwrap().borrow().is_stuck());
        for faulty in shown.as_ref().unwrap().borrow().faults() {
            let is_broken = conditions.iter().any(|(panel, condition)| {
                *panel == faulty.panel && *condition != PanelCondition::Cold
            });
            if !is_broken {
                blamed.push(format!("{} at {tenth}", faulty.panel));
            }
        }
    }
    drop(tasks);
    assert_eq!(circuit.violations(), Vec::<String>::new());
    blamed
}

#[tokio::test(start_paused = true)]
async fn a_panel_that_waits_for_a_stuck_neighbour_is_not_faulty() {
    use PanelCondition::{Cold, Silent, StuckBusy};
    let cold = [0, 1, 2, 4, 5, 6, 7].map(|panel| (panel, Cold));
    let cold_and_stuck: Vec<_> = cold.into_iter().chain([(3, StuckBusy)]).collect();
    for (conditions, from_secs) in [
        (&[(3, StuckBusy)][..], 0),
        (&[(3, StuckBusy)], 8),
        (&cold_and_stuck, 0),
        (&cold_and_stuck, 8),
        (&[(0, StuckBusy), (4, Silent)], 8),
        (&[(7, StuckBusy), (0, Silent), (1, StuckBusy)], 8),
    ] {
        let blamed = faults_on_a_shared_line(conditions, from_secs).await;
        assert_eq!(
            blamed,
            Vec::<String>::new(),
            "{conditions:?} from {from_secs} s"
        );
    }
}

const SOME_CARE: Care = Care {
    partials_max: 3,
    full_every: Duration::from_secs(24 * 60 * 60),
    interval: Duration::ZERO,
};

#[tokio::test(start_paused = true)]
async fn a_slow_panel_rests_between_its_refreshes() {
    let care = Care {
        interval: Duration::from_secs(180),
        ..SOME_CARE
    };
    let rig = PainterRig::with_care("0000000", care).await;
    assert_eq!(rig.counts(), [(0, 0); 7], "the first values come first");
    sleep(FIRST_VALUES).await;
    for text in ["0000001", "0000002", "0000003"] {
        rig.show(|picture| {
            picture.cells = cells(text);
            picture.full_refreshes += 1;
        });
        sleep(Duration::from_secs(50)).await;
    }
    assert_eq!(rig.counts()[6], (1, 0));
    sleep(Duration::from_secs(30) + FULL_REFRESH + MOMENT).await;
    assert_eq!(rig.counts()[6], (2, 0));
    assert_eq!(rig.counts()[0], (1, 0), "it has not changed");
    rig.assert_shows("0000003");
}

#[tokio::test(start_paused = true)]
async fn an_idle_panel_gets_a_full_refresh_after_some_partial_ones() {
    let rig = PainterRig::with_care("0000000", SOME_CARE).await;
    for text in ["0000001", "0000002", "0000003"] {
        rig.show(|picture| picture.cells = cells(text));
        sleep(PARTIAL_REFRESH + MOMENT).await;
    }
    assert_eq!(rig.counts()[6], (1, 3));
    sleep(IDLE_BEFORE_REFRESH - 2 * MOMENT).await;
    assert_eq!(
        rig.counts()[6],
        (1, 3),
        "the panel must be idle for a while first"
    );
    sleep(FULL_REFRESH + 3 * MOMENT).await;
    assert_eq!(rig.counts()[6], (2, 3));
    assert_eq!(
        rig.counts()[0],
        (1, 0),
        "the other panels had no partial refreshes"
    );
    rig.assert_shows("0000003");
    sleep(Duration::from_secs(60 * 60)).await;
    assert_eq!(rig.counts()[6], (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_hanging_bus_fails_its_panels_but_not_the_clock() {
    let wiring = wiring::base("v8").unwrap();
    let circuit = Circuit::new(&wiring, Flow::Live);
    let (_tasks, pictures, shown, step) = clock_on(&circuit, &wiring);
    sleep(Duration::from_secs(3)).await;
    circuit.set_i2c(I2cCondition::Hanging);
    pictures.send_modify(|picture| picture.cells = cells("11111111"));
    for second in 0..600 {
        sleep(Duration::from_secs(1)).await;
        assert!(!step.borrow().is_stuck(), "after {second} s");
    }
    assert_eq!(shown.borrow().faults().len(), 8);
    circuit.set_i2c(I2cCondition::Healthy);
    sleep(RETRY_MAX + Duration::from_secs(20)).await;
    assert_eq!(shown.borrow().faults(), []);
    let one = render::Painter::new(122, 250).paint(&picture("1"), 0);
    assert!((0..8).all(|panel| circuit.glass(panel).unwrap() == one));
}

#[tokio::test(start_paused = true)]
async fn each_known_panel_shows_figures_and_gets_the_refreshes_of_its_maker() {
    for name in wiring::displays() {
        let wiring = wiring::base(name).unwrap();
        let mut painter = BoardPainter::new(&spec::wired(&wiring).unwrap());
        let circuit = Circuit::new(&wiring, Flow::Live);
        let (_tasks, pictures, shown, _step) = clock_on(&circuit, &wiring);
        sleep(Duration::from_secs(30)).await;
        for number in 0..=wiring.care.partials_max {
            let figure = Figure::number(number.to_string());
            let tile = Tile::new(["Block height"], vec![figure]);
            pictures.send_modify(|picture| picture.tiles = vec![tile]);
            let shown_in = wiring.care.interval + 2 * wiring.panels[0].model.times.full;
            sleep(shown_in.max(IDLE_BEFORE_REFRESH / 2)).await;
            let expected = painter.paint(&pictures.borrow(), 0);
            assert!(circuit.glass(0).unwrap() == expected, "{name}: {number}");
        }
        sleep(IDLE_BEFORE_REFRESH + Duration::from_secs(30)).await;
        assert_eq!(circuit.refreshes(0).0, 2, "{name}");
        assert_eq!(shown.borrow().faults(), []);
        assert_eq!(circuit.violations(), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_partial_refresh_that_does_nothing_is_followed_by_full_ones_for_a_while() {
    let wiring = wiring::base("waveshare-4.2-v2").unwrap();
    let circuit = Circuit::new(&wiring, Flow::Live);
    let (_tasks, pictures, _shown, _step) = clock_on(&circuit, &wiring);
    let show = async |text: &str| {
        pictures.send_modify(|picture| picture.cells = cells(text));
        sleep(Duration::from_secs(60)).await;
        circuit.refreshes(0)
    };
    assert_eq!(show("1").await, (1, 0));
    assert_eq!(show("2").await, (1, 1));
    circuit.set_condition(0, PanelCondition::Silent);
    pictures.send_modify(|picture| picture.cells = cells("3"));
    sleep(Duration::from_secs(1)).await;
    circuit.set_condition(0, PanelCondition::Healthy);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(circuit.refreshes(0), (2, 1));
    assert_eq!(show("4").await, (3, 1));
    sleep(NO_PARTIALS).await;
    assert_eq!(show("5").await, (3, 2));
}

#[tokio::test(start_paused = true)]
async fn the_snapshot_has_the_time_of_the_last_refreshes() {
    let rig = PainterRig::new("0000000").await;
    let started = Instant::now();
    for text in ["0000001", "0000002"] {
        rig.show(|picture| picture.cells = cells(text));
        sleep(Duration::from_secs(30)).await;
    }
    let partials_and_time = |panel: usize| {
        let glass = rig.glass.borrow().panels[panel].clone();
        let at = glass.since.unwrap().saturating_duration_since(started);
        (glass.partials, at)
    };
    assert_eq!(
        partials_and_time(6),
        (2, Duration::from_secs(30) + PARTIAL_REFRESH)
    );
    assert_eq!(partials_and_time(0), (0, Duration::ZERO));
    rig.show(|picture| picture.full_refreshes += 1);
    sleep(FULL_REFRESH + MOMENT).await;
    assert_eq!(
        partials_and_time(6),
        (0, Duration::from_secs(60) + FULL_REFRESH)
    );
}

#[tokio::test(start_paused = true)]
async fn a_panel_that_is_never_idle_gets_a_full_refresh_too() {
    let rig = PainterRig::with_care("0000000", SOME_CARE).await;
    for round in 0..14 {
        rig.show(|picture| picture.cells = cells(["0000001", "0000002"][round % 2]));
        sleep(IDLE_BEFORE_REFRESH / 2).await;
    }
    assert_eq!(rig.counts()[6], (3, 12), "every seventh refresh is full");
}

#[tokio::test(start_paused = true)]
async fn a_due_full_refresh_comes_in_a_quiet_moment() {
    let moments: [fn(&mut Picture); 2] = [
        |picture| picture.is_quiet = true,
        // A change of screen.
        |picture| picture.repaints += 1,
    ];
    for moment in moments {
        let rig = PainterRig::with_care("0000000", SOME_CARE).await;
        for text in ["0000001", "0000002", "0000003"] {
            rig.show(|picture| picture.cells = cells(text));
            sleep(PARTIAL_REFRESH + MOMENT).await;
        }
        assert_eq!(rig.counts()[6], (1, 3));
        rig.show(moment);
        sleep(FULL_REFRESH + MOMENT).await;
        assert_eq!(rig.counts()[6], (2, 3));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cleaning_ends_with_the_picture() {
    let rig = PainterRig::new("0000000").await;
    rig.show(|picture| {
        picture.cleanings += 1;
        picture.full_refreshes += 1;
    });
    sleep(FULL_REFRESH + MOMENT).await;
    assert!(rig.bench.shown(3).unwrap().is_ink(0, 0));
    sleep((2 * CLEANING_ROUNDS + 1) * FULL_REFRESH).await;
    assert_eq!(rig.counts(), [(2 + 2 * u64::from(CLEANING_ROUNDS), 0); 7]);
    rig.assert_shows("0000000");
    assert!(!rig.progress.borrow().is_stuck());
}

#[tokio::test(start_paused = true)]
async fn every_panel_gets_a_full_refresh_once_a_day() {
    let rig = PainterRig::with_care("0000000", SOME_CARE).await;
    sleep(SOME_CARE.full_every - Duration::from_secs(1)).await;
    assert_eq!(rig.counts(), [(1, 0); 7]);
    sleep(Duration::from_secs(1) + FULL_REFRESH + MOMENT).await;
    assert_eq!(rig.counts(), [(2, 0); 7]);
    sleep(SOME_CARE.full_every + FULL_REFRESH).await;
    assert_eq!(rig.counts(), [(3, 0); 7]);
}

#[tokio::test(start_paused = true)]
async fn a_password_is_reported_until_the_panel_shows_another_picture() {
    let rig = PainterRig::new("1234567").await;
    let marked = || {
        let glass = rig.glass.borrow();
        let marked = glass.panels.iter().map(|panel| panel.shows_password);
        marked.collect::<Vec<bool>>()
    };
    assert_eq!(marked(), [false; 7]);
    rig.show(|picture| {
        picture.cells = cells("7654321");
        picture.shows_password = true;
        picture.repaints += 1;
    });
    sleep(PARTIAL_REFRESH + MOMENT).await;
    assert_eq!(marked(), [true; 7]);
    // A panel that was not repainted still shows it.
    rig.bench.set_fault(2, SimFault::BusyStuck).unwrap();
    rig.show(|picture| {
        picture.cells = cells("1234567");
        picture.shows_password = false;
        picture.repaints += 1;
    });
    sleep(BUSY_LIMIT * 2).await;
    assert_eq!(marked(), [false, false, true, false, false, false, false]);
}

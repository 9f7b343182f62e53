//! `papertick wiring test`: tests every part of a board.

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use board::{
    assembly::{
        AssembledBoard, AssembledButtons, AssembledFrontlight, AssembledPanels, AssembledStrip,
        Hardware, assemble,
    },
    linux::Linux,
    parts::pca9685::DUTY_MAX,
    ports::{ButtonEdge, Buttons, LedStrip, LightSensor, Panels},
    wiring::Wiring,
};
use clap::Args;
use device::{
    board::PanelFault,
    cells::{Cell, Picture},
    input::Sensed,
    lights::Rgb,
    refresh::Refresh,
    settings::Settings,
};
use render::{Bitmap, Painter};
use runtime::tasks::Tasks;
use tokio::time::{Instant, sleep, timeout_at};

use super::one_panel::{self, Questions};
use crate::{
    buses::{BusExecution, serve},
    failure::Failure,
    standard_output::print,
    wiring_file::{self, load_for_host},
};

const COLOUR_TIME: Duration = Duration::from_millis(500);

/// Brightness steps of the frontlight.
const LIGHT_STEPS: u16 = 20;

const LIGHT_STEP: Duration = Duration::from_millis(50);

/// The flags of `wiring test`.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Wiring file, or the name of a known board
    #[arg(value_name = "FILE|NAME")]
    file: PathBuf,

    /// Write the answers about a known board with one panel to this file, for `papertick run --wiring`
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,

    /// How long to echo buttons, s
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=600))]
    seconds: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PartResult {
    part: String,
    result: String,
    is_good: bool,
}

impl PartResult {
    fn new(part: impl Into<String>, result: impl Into<String>) -> PartResult {
        PartResult {
            part: part.into(),
            result: result.into(),
            is_good: true,
        }
    }

    fn failed(part: impl Into<String>, result: impl Into<String>) -> PartResult {
        PartResult {
            is_good: false,
            ..PartResult::new(part, result)
        }
    }

    fn fault(panel: String, fault: PanelFault) -> PartResult {
        PartResult::failed(panel, format!("{}: {}", fault.name(), fault.says()))
    }
}

/// Tests every part and prints the results.
///
/// # Errors
/// The file has mistakes, or a part does not answer.
pub(super) fn run(args: &TestArgs) -> Result<(), Failure> {
    let base = wiring_file::base(&args.file);
    if args.output.is_some() && base.is_none() {
        return Err(Failure::usage(
            "-o is for the name of a known board: write the answers into your own file",
        ));
    }
    let (_, file) = load_for_host(&args.file)?;
    let [panel] = file.wiring.panels.as_slice() else {
        return test(&file.wiring, args.seconds);
    };
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        if one_panel::has_variants(panel.model.id) {
            return Err(Failure::usage(format!(
                "there are two panels that may be meant by {}, so nothing was sent: use this command on a terminal, where it \
                 asks which one is connected",
                panel.model.id
            )));
        }
        show_progress("nothing is asked, because the standard input is no terminal\n");
        return test(&file.wiring, args.seconds);
    }
    let mut questions = Questions(stdin.lock());
    questions.confirm_model(panel.model.id)?;
    let mut shown_at: Option<Instant> = None;
    let show = |wiring: &Wiring| {
        let interval = wiring.care.interval;
        let rest = shown_at.map_or(Duration::ZERO, |at| interval.saturating_sub(at.elapsed()));
        if !rest.is_zero() {
            show_progress(&format!(
                "waiting for {} s, because the panel must rest\n",
                rest.as_secs()
            ));
            thread::sleep(rest);
        }
        shown_at = Some(Instant::now());
        test(wiring, args.seconds)
    };
    let rotation = questions.rotation(file.wiring, show)?;
    match base {
        Some(base) => one_panel::store(base, rotation, args.output.as_deref()),
        None => print(&format!(
            "Write `rotation = {}` for the panel\n",
            rotation.degrees()
        )),
    }
}

/// Tests every part of a board of this host, and prints the results.
fn test(wiring: &Wiring, seconds: u64) -> Result<(), Failure> {
    let cannot = |error: io::Error| Failure::failed(format!("cannot test the parts: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(cannot)?;
    let host = Linux(Instant::now());
    let results = runtime.block_on(test_all(&host, wiring, BusExecution::Threads, seconds));
    let results = results.map_err(Failure::failed)?;
    let width = results.iter().map(|part| part.part.len()).max();
    let width = width.unwrap_or_default();
    for PartResult { part, result, .. } in &results {
        print(&format!("{part:width$}  {result}\n"))?;
    }
    let bad: Vec<&str> = results
        .iter()
        .filter(|part| !part.is_good)
        .map(|part| part.part.as_str())
        .collect();
    if bad.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "not all parts answered: {}",
        bad.join(", ")
    )))
}

async fn test_all<H: Hardware>(
    hardware: &H,
    wiring: &Wiring,
    execution: BusExecution,
    seconds: u64,
) -> Result<Vec<PartResult>, String> {
    let AssembledBoard {
        mut panels,
        strip,
        frontlight,
        sensor,
        buttons,
        buses,
    } = assemble(hardware, wiring)?;
    let mut served = Tasks::new();
    serve(&mut served, buses, execution);
    let mut results = number(&mut panels, wiring).await;
    if let Some(strip) = strip {
        results.push(colour(strip, wiring).await);
    }
    if let Some(frontlight) = frontlight {
        results.push(dim(frontlight, panels.count()).await);
    }
    if let Some(mut sensor) = sensor {
        results.push(match sensor.read().await {
            Sensed::Millilux(millilux) => {
                let (lux, tenths) = (millilux / 1000, millilux % 1000 / 100);
                PartResult::new("light sensor", format!("{lux}.{tenths} lux"))
            }
            Sensed::Absent => PartResult::failed("light sensor", "does not answer"),
        });
    }
    if let Some(buttons) = buttons {
        results.push(echo(buttons, seconds).await);
    }
    // Waits for refreshes in progress before the lines are released.
    drop(panels);
    while served.ended().await.is_some() {}
    Ok(results)
}

/// Prints what happens now.
fn show_progress(line: &str) {
    // The results, which follow, fail as well.
    let _ = print(line);
}

/// Shows its number on each panel, on all at once as the clock does; on one panel the test picture.
async fn number(panels: &mut AssembledPanels, wiring: &Wiring) -> Vec<PartResult> {
    let frames = frames(wiring);
    show_progress(match frames.as_slice() {
        [_] => "the panel shows a test picture\n",
        _ => "each panel shows its number\n",
    });
    let started_at = Instant::now();
    let deadline = started_at + panels.refresh_limit();
    let mut results: Vec<Option<PartResult>> = Vec::new();
    for (panel, frame) in frames.into_iter().enumerate() {
        let started = panels.start(panel, &Arc::new(frame), Refresh::Full).await;
        let name = format!("panel {}", panel + 1);
        results.push(match started {
            Ok(()) => None,
            Err(fault) => Some(PartResult::fault(name, fault)),
        });
    }
    while results.iter().any(Option::is_none) {
        let Ok(ended) = timeout_at(deadline, panels.idle()).await else {
            break;
        };
        for (panel, result) in ended {
            let name = format!("panel {}", panel + 1);
            let millis = started_at.elapsed().as_millis();
            results[panel] = Some(match result {
                Ok(_) => PartResult::new(name, format!("shows it after {millis} ms")),
                Err(fault) => PartResult::fault(name, fault),
            });
        }
    }
    let no_answer =
        |panel: usize| PartResult::failed(format!("panel {}", panel + 1), "does not answer");
    results
        .into_iter()
        .enumerate()
        .map(|(panel, result)| result.unwrap_or_else(|| no_answer(panel)))
        .collect()
}

/// What the panels show.
fn frames(wiring: &Wiring) -> Vec<Bitmap> {
    let (width, height) = wiring.panels[0].size();
    match wiring.panels.as_slice() {
        [panel] => vec![one_panel::picture(panel.model.name, width, height)],
        panels => Painter::new(width, height).paint_all(&numbers(panels.len())),
    }
}

/// The numbers of the panels, from 1.
fn numbers(panels: usize) -> Picture {
    let cells = (1..=panels).map(|number| Cell::digit(number.to_string()));
    Picture::new(cells.collect(), device::panels::style(&Settings::default()))
}

async fn colour(mut strip: AssembledStrip, wiring: &Wiring) -> PartResult {
    let count = wiring.strip.as_ref().map_or(0, |strip| strip.count);
    show_progress("all LEDs show red, green and blue, then each one shows white\n");
    let full = [(48, 0, 0), (0, 48, 0), (0, 0, 48)];
    for (red, green, blue) in full {
        strip.show(&vec![Rgb { red, green, blue }; count]).await;
        sleep(COLOUR_TIME).await;
    }
    for led in 0..count {
        let mut colours = vec![Rgb::BLACK; count];
        colours[led] = Rgb {
            red: 48,
            green: 48,
            blue: 48,
        };
        strip.show(&colours).await;
        sleep(COLOUR_TIME / 2).await;
    }
    strip.show(&vec![Rgb::BLACK; count]).await;
    PartResult::new("strip", format!("colours were sent to {count} LEDs"))
}

async fn dim(mut frontlight: AssembledFrontlight, panels: usize) -> PartResult {
    show_progress("the frontlight gets brighter and darker\n");
    for step in (0..=LIGHT_STEPS).chain((0..LIGHT_STEPS).rev()) {
        let duty = DUTY_MAX / LIGHT_STEPS * step;
        if !frontlight.try_set(&vec![duty; panels]).await {
            return PartResult::failed("frontlight", "does not answer");
        }
        sleep(LIGHT_STEP).await;
    }
    PartResult::new("frontlight", "got brighter and darker")
}

async fn echo(mut buttons: AssembledButtons, seconds: u64) -> PartResult {
    show_progress(&format!("press the buttons, for {seconds} s\n"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seen = 0u8;
    let first = end.max(Instant::now() + Duration::from_secs(1));
    let mut edge = timeout_at(first, buttons.edge()).await;
    if edge.is_err() {
        return PartResult::failed("buttons", "do not answer");
    }
    while let Ok(ButtonEdge { down, .. }) = edge {
        let pressed: Vec<String> = (0..8)
            .filter(|button| down >> button & 1 == 1)
            .map(|button| format!("{}", button + 1))
            .collect();
        if !pressed.is_empty() {
            show_progress(&format!("  down: {}\n", pressed.join(" ")));
        }
        seen |= down;
        edge = timeout_at(end, buttons.edge()).await;
    }
    let pressed: Vec<String> = (0..8)
        .filter(|button| seen >> button & 1 == 1)
        .map(|button| (button + 1).to_string())
        .collect();
    if pressed.is_empty() {
        PartResult::new("buttons", "answer; none was pressed")
    } else {
        PartResult::new("buttons", format!("pressed: {}", pressed.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use board::{
        parts::{epaper::PanelRotation, mcp23017::LineLevel},
        wiring::{self, Sense},
    };
    use lab::circuit::{Circuit, Flow, PanelCondition};

    use super::*;

    fn lines_of(results: &[PartResult]) -> Vec<String> {
        results
            .iter()
            .map(|part| {
                let mark = if part.is_good { "" } else { "NOT " };
                format!("{mark}{}: {}", part.part, part.result)
            })
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn every_part_of_a_good_board_answers() {
        let wiring = wiring::base("rev-b").unwrap();
        let circuit = Circuit::new(&wiring, Flow::Live);
        let button_press = async {
            sleep(Duration::from_secs(8)).await;
            let line = &wiring.buttons.as_ref().unwrap().lines[1];
            circuit.touch(line, LineLevel::Low);
            sleep(Duration::from_millis(200)).await;
            circuit.touch(line, LineLevel::High);
        };
        let lit = |level: u8, which: usize| {
            let mut colour = [0; 3];
            colour[which] = level;
            let [red, green, blue] = colour;
            vec![Rgb { red, green, blue }; 4]
        };
        let observer = async {
            let mut seen = vec![circuit.leds()];
            let (started_at, mut brightest) = (Instant::now(), 0);
            while started_at.elapsed() < Duration::from_secs(10) {
                sleep(Duration::from_millis(20)).await;
                brightest = brightest.max(circuit.duties()[0]);
                if seen.last() != Some(&circuit.leds()) {
                    seen.push(circuit.leds());
                }
            }
            (seen, brightest)
        };
        let trial = test_all(&circuit, &wiring, BusExecution::Tasks, 10);
        let (results, (), (seen, brightest)) = tokio::join!(trial, button_press, observer);
        assert_eq!(seen[1..4], [0, 1, 2].map(|which| lit(48, which)));
        assert_eq!(seen.last(), Some(&vec![Rgb::BLACK; 4]));
        assert!(brightest >= 4000, "{brightest}");
        assert_eq!(circuit.duties()[0], 0);
        let lines = lines_of(&results.unwrap());
        assert!(
            lines[..7]
                .iter()
                .all(|line| line.contains(": shows it after 2")),
            "{lines:?}"
        );
        assert_eq!(
            lines[7..],
            [
                "strip: colours were sent to 4 LEDs",
                "frontlight: got brighter and darker",
                "light sensor: 80.0 lux",
                "buttons: pressed: 2",
            ]
        );
        let digit = |panel: usize| circuit.glass(panel).unwrap();
        let model = wiring.panels[0].model;
        let mut painter = render::Painter::new(model.width, model.height);
        for panel in 0..7 {
            let picture = numbers(7);
            assert_eq!(digit(panel), painter.paint(&picture, panel), "{panel}");
            let Cell::Digit(text) = &picture.cells[panel] else {
                panic!("{:?}", picture.cells[panel]);
            };
            assert_eq!(*text, (panel + 1).to_string());
        }
        assert_eq!(circuit.violations(), Vec::<String>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn parts_that_do_not_answer_are_listed_and_the_others_are_tested() {
        let wiring = wiring::base("rev-b").unwrap();
        let circuit = Circuit::new(&wiring, Flow::Live);
        circuit.set_condition(2, PanelCondition::Silent);
        circuit.set_condition(4, PanelCondition::StuckBusy);
        circuit.set_millilux(None);
        circuit.unplug("exp1");
        let results = test_all(&circuit, &wiring, BusExecution::Tasks, 0)
            .await
            .unwrap();
        let failed: Vec<String> = lines_of(&results)
            .into_iter()
            .filter(|line| line.starts_with("NOT "))
            .collect();
        let fault = |panel: u8, fault: PanelFault| {
            format!("NOT panel {panel}: {}: {}", fault.name(), fault.says())
        };
        assert_eq!(
            failed,
            [
                fault(3, PanelFault::NotRefreshed),
                fault(5, PanelFault::BusyStuck),
                "NOT light sensor: does not answer".into(),
                "NOT buttons: do not answer".into(),
            ]
        );
        assert_eq!(results.len(), 11);
    }

    #[tokio::test(start_paused = true)]
    async fn one_panel_shows_the_test_picture_however_it_is_turned() {
        let turned = |base| PanelRotation::ALL.map(|rotation| (base, rotation));
        for (base, rotation) in wiring::displays().flat_map(turned) {
            let mut wiring = wiring::base(base).unwrap();
            wiring.panels[0].rotation = rotation;
            let circuit = Circuit::new(&wiring, Flow::Live);
            let results = test_all(&circuit, &wiring, BusExecution::Tasks, 0)
                .await
                .unwrap();
            let row = format!("{base}, {rotation:?}");
            assert!(results[0].is_good, "{row}: {results:?}");
            assert_eq!(circuit.glass(0).as_ref(), frames(&wiring).first(), "{row}");
            assert_eq!(circuit.violations(), Vec::<String>::new(), "{row}");
        }
    }

    /// An inverted busy line, as a controller with the opposite level has it.
    #[tokio::test(start_paused = true)]
    async fn a_panel_of_the_opposite_busy_level_stays_busy() {
        let mut wiring = wiring::base("rev-b").unwrap();
        let circuit = Circuit::new(&wiring, Flow::Live);
        wiring.panels[0].busy.sense = Sense::Inverted;
        let results = test_all(&circuit, &wiring, BusExecution::Tasks, 0)
            .await
            .unwrap();
        let stuck = PartResult::fault("panel 1".into(), PanelFault::BusyStuck);
        assert_eq!(results[0], stuck);
        assert!(results[1].is_good);
        assert_eq!(circuit.violations(), Vec::<String>::new());
    }

    /// As far as it can be told: a controller that is busy at the opposite level.
    #[tokio::test(start_paused = true)]
    async fn the_panel_of_another_controller_has_a_fault() {
        for (named, connected) in [
            ("waveshare-7.5-v2", "waveshare-4.26"),
            ("waveshare-4.26", "waveshare-7.5-v2"),
        ] {
            let circuit = Circuit::new(&wiring::base(connected).unwrap(), Flow::Live);
            let wiring = wiring::base(named).unwrap();
            let results = test_all(&circuit, &wiring, BusExecution::Tasks, 0)
                .await
                .unwrap();
            let stuck = PartResult::fault("panel 1".into(), PanelFault::BusyStuck);
            assert_eq!(results, [stuck], "{named}, but {connected} is connected");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_frontlight_that_is_elsewhere_does_not_answer() {
        let mut wiring = wiring::base("rev-b").unwrap();
        let circuit = Circuit::new(&wiring, Flow::Live);
        wiring.frontlight.as_mut().unwrap().address = 0x43;
        let results = test_all(&circuit, &wiring, BusExecution::Tasks, 0)
            .await
            .unwrap();
        assert_eq!(lines_of(&results)[8], "NOT frontlight: does not answer");
    }
}

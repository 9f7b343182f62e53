//! The bytes that the driver sends to panels, and how it uses their busy line.

use std::{
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    time::Duration,
};

use board::parts::epaper::{
    self, FullWaveform, PanelBus, PanelDriver, PanelImage, PanelRotation, PollResult, Setup,
};
use device::{board::PanelFault, refresh::Refresh};
use render::Bitmap;

use crate::recorder::{Busy, RecordedLine, Recorder, Trace, recorder};

struct Rig {
    bus: PanelBus<Recorder, RecordedLine>,
    panel: PanelDriver<RecordedLine, Busy>,
    trace: Trace,
    now: Duration,
    /// Pauses and waits so far.
    waits: Vec<String>,
    /// How long each wait for the busy line takes.
    busy_wait: Duration,
    levels: Sender<Vec<bool>>,
}

fn setup(model: &str) -> Setup {
    Setup {
        model: epaper::find(model).unwrap(),
        rotation: PanelRotation::UpsideDown,
        x_offset: 0,
        full: FullWaveform::Measured,
    }
}

fn rig(setup: Setup, busy: &[bool]) -> Rig {
    let (recorder, trace) = recorder();
    let (levels, queued) = channel();
    levels.send(busy.to_vec()).unwrap();
    Rig {
        levels,
        bus: PanelBus::new(recorder.clone(), recorder.line("dc")),
        panel: PanelDriver::new(setup, recorder.line("cs"), Busy::new(queued)),
        trace,
        now: Duration::from_secs(100),
        waits: Vec::new(),
        busy_wait: Duration::from_secs(1),
    }
}

impl Rig {
    /// Polls the panel until it has a result. Each wait for the busy line takes `busy_wait`.
    fn run(&mut self) -> PollResult {
        self.waits.clear();
        loop {
            match self.panel.poll(&mut self.bus, self.now) {
                PollResult::More => {}
                PollResult::At(moment) => {
                    self.waits.push(format!("{:?}", moment - self.now));
                    self.now = moment;
                }
                PollResult::Idle(limit) => {
                    self.waits
                        .push(format!("idle within {:?}", limit - self.now));
                    self.now = limit.min(self.now + self.busy_wait);
                }
                end @ (PollResult::Shown(_) | PollResult::Failed(_) | PollResult::Rest) => {
                    return end;
                }
            }
        }
    }

    /// Queues levels of the busy line.
    fn panel_busy(&mut self, levels: &[bool]) {
        self.levels.send(levels.to_vec()).unwrap();
    }

    fn show(&mut self, refresh: Refresh) -> PollResult {
        self.show_line(refresh, None)
    }

    /// Shows a black line in this row.
    fn show_line(&mut self, refresh: Refresh, line: Option<u16>) -> PollResult {
        let setup = self.panel.setup();
        let (width, height) = (setup.model.width, setup.model.height);
        let bitmap = Bitmap::from_ink(width, height, |_, y| Some(y) == line);
        let frame = PanelImage::new(&bitmap, setup.model, setup.rotation);
        self.panel.show(Arc::new(frame), refresh).unwrap();
        self.run()
    }
}

/// Levels of a busy line that is high for one read in each refresh.
const HEALTHY: [bool; 5] = [false, false, true, false, false];

const FULL_213: &str = "\
[12]
[01 F9 00 00]
[3C 05]
[21 00 80]
[18 80]
[11 03]
[44 00 0F]
[45 00 00 F9 00]
[4E 00]
[4F 00 00]
[26 4000 bytes of FF]
[11 03]
[44 00 0F]
[45 00 00 F9 00]
[4E 00]
[4F 00 00]
[24 4000 bytes of FF]
[22 F7]
[20]
";

const PREPARE_213: &str = "\
[01 F9 00 00]
[3C 80]
[21 00 80]
[18 80]
[11 03]
[44 00 0F]
[45 00 00 F9 00]
[4E 00]
[4F 00 00]
[26 4000 bytes of FF]
[22 FF]
[11 03]
[44 00 0F]
[45 00 00 F9 00]
[4E 00]
[4F 00 00]
";

const PARTIAL_213: &str = "\
[24 4000 bytes of FF]
[20]
";

#[test]
fn a_full_refresh_sends_the_sequence_of_the_data_sheet() {
    let mut rig = rig(setup("gdey0213b74"), &HEALTHY);
    assert_eq!(rig.show(Refresh::Full), PollResult::Shown(Refresh::Full));
    assert_eq!(rig.trace.windows(), FULL_213);
    // The wait after the reset command, the read of the busy line, the refresh.
    assert_eq!(rig.waits, ["10ms", "20ms", "idle within 9.98s"]);
}

#[test]
fn the_next_partial_refresh_is_prepared_in_the_pause() {
    let mut rig = rig(setup("gdey0213b74"), &HEALTHY);
    rig.show(Refresh::Full);
    rig.trace.windows();
    assert_eq!(rig.run(), PollResult::Rest);
    assert_eq!(rig.trace.windows(), PREPARE_213);
    rig.panel_busy(&[false, true, false]);
    assert_eq!(
        rig.show(Refresh::Partial),
        PollResult::Shown(Refresh::Partial)
    );
    assert_eq!(rig.trace.windows(), PARTIAL_213);
    assert_eq!(rig.waits, ["20ms", "idle within 9.98s"]);
}

/// Levels of the busy line, how long it is awaited, and the end of a full refresh of a panel that takes 2 s.
#[test]
fn a_refresh_has_a_shortest_and_a_longest_time() {
    use PanelFault::{NotRefreshed, Slow};
    const LATE: [bool; 6] = [false, false, false, false, true, false];
    let shown = PollResult::Shown(Refresh::Full);
    for (busy, millis, expected) in [
        (&HEALTHY[..], 129, PollResult::Failed(NotRefreshed)),
        (&HEALTHY, 131, shown),
        (&HEALTHY, 4200, shown),
        (&HEALTHY, 4300, PollResult::Failed(Slow)),
        (&LATE, 200, shown),
        (&[false], 200, PollResult::Failed(NotRefreshed)),
    ] {
        let mut rig = rig(setup("gdey0213b74"), busy);
        rig.busy_wait = Duration::from_millis(millis);
        assert_eq!(rig.show(Refresh::Full), expected, "{busy:?}, {millis} ms");
    }
}

#[test]
fn other_models_have_other_parameters() {
    let mut large = rig(setup("gdey029t94"), &HEALTHY);
    large.show(Refresh::Full);
    // More bytes than the kernel accepts in one call.
    let expected = FULL_213
        .replace("F9 00", "27 01")
        .replace("4000 bytes of FF", "4096 bytes of FF 640 bytes of FF");
    assert_eq!(large.trace.windows(), expected);

    let mut warm = rig(
        Setup {
            full: FullWaveform::Warm,
            ..setup("gdey0213b74")
        },
        &HEALTHY,
    );
    warm.show(Refresh::Full);
    let expected = FULL_213.replace("[22 F7]", "[1A 64]\n[22 D7]");
    assert_eq!(warm.trace.windows(), expected);

    let mut shifted = rig(
        Setup {
            x_offset: 1,
            ..setup("gdey0213b74")
        },
        &HEALTHY,
    );
    shifted.show(Refresh::Full);
    let expected = FULL_213
        .replace("[44 00 0F]", "[44 01 10]")
        .replace("[4E 00]", "[4E 01]");
    assert_eq!(shifted.trace.windows(), expected);
}

const FULL_750: &str = "\
[01 07 07 3F 3F]
[06 17 17 28 17]
[15 00]
[60 22]
[00 1F]
[61 03 20 01 E0]
[92]
[50 29 07]
[E0 00]
[41 00]
[10 48000 bytes of 00]
[13 48000 bytes of FF]
[04]
[12]
[02]
";

const PARTIAL_750: &str = "\
[01 07 07 3F 3F]
[06 17 17 28 17]
[15 00]
[60 22]
[00 1F]
[61 03 20 01 E0]
[92]
[50 A9 07]
[E0 02]
[E5 6E]
[10 48000 bytes of FF]
[13 48000 bytes of FF]
[91]
[90 00 00 03 1F 00 64 00 64 01]
[13 100 bytes of 00]
[92]
[04]
[12]
[02]
";

/// The same with pictures as the bus sends them.
fn chunked(text: &str) -> String {
    let line = |line: &str| {
        let picture = line.trim_matches(['[', ']']).split_once(" bytes of ");
        let Some((count, value)) = picture else {
            return format!("{line}\n");
        };
        let (command, count) = count.split_once(' ').unwrap();
        let mut left: usize = count.parse().unwrap();
        let mut text = format!("[{command}");
        while left > 0 {
            let chunk = left.min(4096);
            text += &format!(" {chunk} bytes of {value}");
            left -= chunk;
        }
        text + "]\n"
    };
    text.lines().map(line).collect()
}

#[test]
fn a_uc8179_is_powered_only_during_a_refresh() {
    // Idle before the registers; busy and idle with the supply on; the start and the end of the refresh; idle with the
    // supply off.
    const BUSY_LOW: [bool; 6] = [true, false, true, false, true, true];
    let setup = Setup {
        rotation: PanelRotation::Upright,
        ..setup("waveshare-7.5-v2")
    };
    let mut rig = rig(setup, &BUSY_LOW);
    assert_eq!(rig.show(Refresh::Full), PollResult::Shown(Refresh::Full));
    assert_eq!(rig.trace.windows(), chunked(FULL_750));
    assert_eq!(rig.waits, ["20ms", "20ms", "idle within 12.811s", "10ms"]);
    rig.panel_busy(&[&[true], &BUSY_LOW[..]].concat());
    assert_eq!(
        rig.show_line(Refresh::Partial, Some(100)),
        PollResult::Shown(Refresh::Partial)
    );
    assert_eq!(rig.trace.windows(), chunked(PARTIAL_750));
}

const FULL_426: &str = "\
[12]
[01 DF 01 02]
[0C AE C7 C3 C0 80]
[3C 01]
[21 40 00]
[18 80]
[11 01]
[44 00 00 1F 03]
[45 DF 01 00 00]
[4E 00 00]
[4F DF 01]
[26 48000 bytes of FF]
[11 01]
[44 00 00 1F 03]
[45 DF 01 00 00]
[4E 00 00]
[4F DF 01]
[24 48000 bytes of FF]
[22 F7]
[20]
";

const PARTIAL_426: &str = "\
[01 DF 01 02]
[0C AE C7 C3 C0 80]
[3C 80]
[21 00 00]
[18 80]
[11 01]
[44 00 00 1F 03]
[45 DF 01 00 00]
[4E 00 00]
[4F DF 01]
[26 48000 bytes of FF]
[11 01]
[44 00 00 1F 03]
[45 DF 01 00 00]
[4E 00 00]
[4F DF 01]
[24 48000 bytes of FF]
[22 FF]
[11 01]
[44 00 00 1F 03]
[45 DF 01 00 00]
[4E 00 00]
[4F DF 01]
[45 7B 01 7B 01]
[4F 7B 01]
[24 100 bytes of 00]
[20]
";

#[test]
fn a_large_plane_gets_only_the_changed_rows() {
    let setup = Setup {
        rotation: PanelRotation::Upright,
        ..setup("waveshare-4.26")
    };
    let mut rig = rig(setup, &HEALTHY);
    rig.show(Refresh::Full);
    rig.trace.windows();
    rig.panel_busy(&[false, false, true, false]);
    let ended = rig.show_line(Refresh::Partial, Some(100));
    assert_eq!(ended, PollResult::Shown(Refresh::Partial));
    assert_eq!(rig.trace.windows(), chunked(PARTIAL_426));
}

const WINDOWS_579: &str = "\
[11 01]
[44 00 31]
[45 0F 01 00 00]
[4E 00]
[4F 0F 01]
[PLANE 13600 bytes of FF]
[91 00]
[C4 31 00]
[C5 0F 01 00 00]
[CE 31]
[CF 0F 01]
[SECOND 13600 bytes of FF]
";

#[test]
fn larger_siblings_have_other_addresses() {
    let full = |model: &str| {
        let mut rig = rig(setup(model), &HEALTHY);
        assert_eq!(rig.show(Refresh::Full), PollResult::Shown(Refresh::Full));
        rig.trace.windows()
    };
    assert_eq!(full("waveshare-4.26"), chunked(FULL_426));
    let old = WINDOWS_579.replace("PLANE", "26").replace("SECOND", "A6");
    let new = WINDOWS_579.replace("PLANE", "24").replace("SECOND", "A4");
    let expected = format!("[12]\n[21 40 10]\n[18 80]\n{old}{new}[22 F7]\n[20]\n");
    assert_eq!(full("waveshare-5.79"), chunked(&expected));
}

//! The ports of buttons, frontlight and light sensor, and the task of the I2C bus.

use std::time::Duration;

use device::input::Sensed;
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    time::Instant,
};

use super::{ExpanderBus, Hardware, InputLine, OutputLine, panels::until};
use crate::{
    parts::{
        bh1750::{self, Bh1750},
        mcp23017::LineLevel,
        pca9685::{Pca9685, WAKING},
    },
    ports::{ButtonEdge, Buttons, Frontlight, LightSensor},
    wiring::{LineLocation, Pull, Wiring, WiringLine},
};

/// Poll interval of buttons without edges or an interrupt line.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Poll interval of other buttons, in case an edge was lost.
const SAFETY_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Shortest time between two polls, even if the interrupt line is stuck or bounces.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(5);

/// Largest number of queued edges; then the oldest are dropped.
const EDGES_MAX: usize = 256;

/// A request to the task that owns the I2C bus.
#[derive(Debug)]
pub(super) enum I2cRequest {
    /// Sets the duties of the frontlight; replies whether the chip has accepted them.
    SetDuties(Vec<u16>, oneshot::Sender<bool>),
    Measure(oneshot::Sender<Sensed>),
}

/// The frontlight of a real board.
#[derive(Debug)]
pub struct AssembledFrontlight {
    requests: mpsc::Sender<I2cRequest>,
}

/// The light sensor of a real board.
#[derive(Debug)]
pub struct AssembledSensor {
    requests: mpsc::Sender<I2cRequest>,
}

/// The buttons of a real board.
#[derive(Debug)]
pub struct AssembledButtons {
    edges: broadcast::Receiver<ButtonEdge>,
    /// Keeps the task running.
    _requests: mpsc::Sender<I2cRequest>,
}

impl AssembledFrontlight {
    /// Sets the duty of each channel; returns whether the chip has accepted them.
    pub async fn try_set(&mut self, duties: &[u16]) -> bool {
        let (done, accepted) = oneshot::channel();
        let request = I2cRequest::SetDuties(duties.to_vec(), done);
        self.requests.send(request).await.is_ok() && accepted.await.unwrap_or_default()
    }
}

impl Frontlight for AssembledFrontlight {
    async fn set(&mut self, duties: &[u16]) {
        // The task logs a chip that does not answer. The next duties are another attempt.
        let _ = self.try_set(duties).await;
    }
}

impl LightSensor for AssembledSensor {
    async fn read(&mut self) -> Sensed {
        let (answer, answered) = oneshot::channel();
        let request = I2cRequest::Measure(answer);
        if self.requests.send(request).await.is_err() {
            return Sensed::Absent;
        }
        answered.await.unwrap_or(Sensed::Absent)
    }
}

impl Buttons for AssembledButtons {
    async fn edge(&mut self) -> ButtonEdge {
        loop {
            match self.edges.recv().await {
                Ok(edge) => return edge,
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// The parts on the I2C bus, and the buttons even if they are on the host.
pub(super) struct I2cBus<H: Hardware> {
    hardware: H,
    expanders: Option<ExpanderBus<H>>,
    frontlight: Option<FrontlightUnit<H>>,
    sensor: Option<Bh1750>,
    /// When the running measurement ends, and where its result is sent.
    measuring: Option<(Duration, oneshot::Sender<Sensed>)>,
    buttons: Option<ButtonUnit<H>>,
    /// When the buttons were read last.
    polled_at: Duration,
    requests: mpsc::Receiver<I2cRequest>,
}

/// The ports of the parts on the I2C bus.
#[derive(Debug, Default)]
pub(super) struct I2cPorts {
    pub(super) frontlight: Option<AssembledFrontlight>,
    pub(super) sensor: Option<AssembledSensor>,
    pub(super) buttons: Option<AssembledButtons>,
}

struct FrontlightUnit<H: Hardware> {
    chip: Pca9685,
    enable: Option<OutputLine<H>>,
    /// The chip is started and enabled.
    is_on: bool,
    /// The last request failed.
    fails: bool,
}

struct ButtonUnit<H: Hardware> {
    lines: Vec<InputLine<H>>,
    /// The interrupt line of the expander with all buttons, if only they trigger it.
    interrupt: Option<InputLine<H>>,
    edges: broadcast::Sender<ButtonEdge>,
    /// Buttons that are down, one bit each; `None` before the first successful read.
    down: Option<u8>,
    /// The first read failed, so the first successful one is not the state at power-on.
    is_late: bool,
}

impl<H: Hardware> I2cBus<H> {
    /// Opens the parts of the wiring; `None` if there are none.
    pub(super) fn open(
        hardware: &H,
        expanders: Option<&ExpanderBus<H>>,
        wiring: &Wiring,
    ) -> Result<Option<(I2cBus<H>, I2cPorts)>, String> {
        let (requests, receiver) = mpsc::channel(4);
        let mut ports = I2cPorts::default();
        let frontlight = match &wiring.frontlight {
            Some(frontlight) => {
                ports.frontlight = Some(AssembledFrontlight {
                    requests: requests.clone(),
                });
                let enable = frontlight.enable.as_ref();
                Some(FrontlightUnit {
                    chip: Pca9685 {
                        address: frontlight.address,
                        first: frontlight.first,
                        hz: frontlight.hz,
                    },
                    enable: enable
                        .map(|line| OutputLine::open(hardware, expanders, line, LineLevel::High))
                        .transpose()?,
                    is_on: false,
                    fails: false,
                })
            }
            None => None,
        };
        let sensor = wiring.sensor.as_ref().map(|sensor| {
            ports.sensor = Some(AssembledSensor {
                requests: requests.clone(),
            });
            Bh1750::new(&sensor.addresses)
        });
        let buttons = match &wiring.buttons {
            Some(wired) => {
                let (edges, receiver) = broadcast::channel(EDGES_MAX);
                ports.buttons = Some(AssembledButtons {
                    edges: receiver,
                    _requests: requests.clone(),
                });
                let open = |line: &WiringLine| InputLine::open(hardware, expanders, line, Pull::Up);
                let interrupt = match interrupt_of(wiring, &wired.lines) {
                    Some(interrupt) => {
                        if let Some(expanders) = expanders {
                            wired.lines.iter().for_each(|line| expanders.watch(line));
                        }
                        Some(open(interrupt)?)
                    }
                    None => None,
                };
                Some(ButtonUnit {
                    lines: wired.lines.iter().map(open).collect::<Result<_, _>>()?,
                    interrupt,
                    edges,
                    down: None,
                    is_late: false,
                })
            }
            None => None,
        };
        if frontlight.is_none() && sensor.is_none() && buttons.is_none() {
            return Ok(None);
        }
        let bus = I2cBus {
            hardware: hardware.clone(),
            expanders: expanders.cloned(),
            frontlight,
            sensor,
            measuring: None,
            buttons,
            polled_at: hardware.now(),
            requests: receiver,
        };
        Ok(Some((bus, ports)))
    }

    /// Serves the bus until all ports are dropped.
    pub(super) async fn serve(mut self) {
        let mut poll_at = self.read_buttons();
        loop {
            let now = self.hardware.now();
            self.hardware.sleep_until(now).await;
            let earliest = self.polled_at + POLL_INTERVAL_MIN;
            let measured_at = self.measuring.as_ref().map(|(end, _)| *end);
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => self.handle(request).await,
                    None => return,
                },
                () = until(&self.hardware, measured_at) => self.end_measurement(),
                () = until(&self.hardware, poll_at) => poll_at = self.read_buttons(),
                () = async {
                    self.hardware.sleep_until(earliest).await;
                    changed(&mut self.buttons).await;
                } => poll_at = self.read_buttons(),
            }
        }
    }

    async fn handle(&mut self, request: I2cRequest) {
        match request {
            I2cRequest::SetDuties(duties, done) => {
                let _ = done.send(self.set_duties(&duties).await);
            }
            I2cRequest::Measure(answer) => self.start_measurement(answer),
        }
    }

    async fn set_duties(&mut self, duties: &[u16]) -> bool {
        let (Some(unit), Some(expanders)) = (&mut self.frontlight, &self.expanders) else {
            return false;
        };
        let chip = unit.chip;
        let mut fails = false;
        if !unit.is_on {
            fails = expanders.with(|i2c| chip.wake(i2c)).is_err();
            let awake = self.hardware.now() + WAKING;
            self.hardware.sleep_until(awake).await;
            fails = fails || expanders.with(|i2c| chip.restart(i2c)).is_err();
        }
        fails = fails || expanders.with(|i2c| chip.set(i2c, duties)).is_err();
        if !fails && !unit.is_on {
            // Only with the duties set, because its registers are undefined before.
            let enabled = unit.enable.as_mut().map(|line| line.set(LineLevel::Low));
            fails = enabled.is_some_and(|enabled| enabled.is_err());
        }
        unit.is_on = !fails;
        if fails && !unit.fails {
            tracing::warn!(address = chip.address, "the frontlight does not answer");
        }
        unit.fails = fails;
        !fails
    }

    fn start_measurement(&mut self, answer: oneshot::Sender<Sensed>) {
        let (Some(sensor), Some(expanders)) = (&mut self.sensor, &self.expanders) else {
            let _ = answer.send(Sensed::Absent);
            return;
        };
        if expanders.with(|i2c| sensor.begin(i2c)).is_err() {
            let _ = answer.send(Sensed::Absent);
            return;
        }
        self.measuring = Some((self.hardware.now() + bh1750::MEASURING, answer));
    }

    fn end_measurement(&mut self) {
        let (Some((_, answer)), Some(sensor), Some(expanders)) =
            (self.measuring.take(), &mut self.sensor, &self.expanders)
        else {
            return;
        };
        let measured = expanders.with(|i2c| sensor.read(i2c));
        let sensed = match measured {
            Ok(Some(millilux)) => Sensed::Millilux(millilux),
            Ok(None) | Err(_) => Sensed::Absent,
        };
        let _ = answer.send(sensed);
    }

    /// Reads the buttons; returns when to read them again at the latest.
    pub(super) fn read_buttons(&mut self) -> Option<Duration> {
        let unit = self.buttons.as_mut()?;
        if let Some(expanders) = &self.expanders {
            expanders.clear_cache();
        }
        unit.read();
        self.polled_at = self.hardware.now();
        let is_notified = unit.interrupt.is_some() || unit.lines.iter().all(InputLine::has_edges);
        let interval = if is_notified { SAFETY_POLL_INTERVAL } else { POLL_INTERVAL };
        Some(self.polled_at + interval)
    }
}

impl<H: Hardware> ButtonUnit<H> {
    fn read(&mut self) {
        let mut down = 0;
        for (button, line) in self.lines.iter_mut().enumerate() {
            match line.level() {
                Ok(LineLevel::Low) => down |= 1 << button,
                Ok(LineLevel::High) => {}
                // Unknown: the state so far is kept.
                Err(_) => {
                    self.is_late |= self.down.is_none();
                    return;
                }
            }
        }
        if std::mem::take(&mut self.is_late) {
            self.report(0);
        }
        if self.down != Some(down) {
            self.report(down);
        }
    }

    fn report(&mut self, down: u8) {
        self.down = Some(down);
        // Without a receiver the edge is not needed.
        let _ = self.edges.send(ButtonEdge {
            down,
            at: Instant::now(),
        });
    }
}

/// Waits until the state of a button may have changed.
async fn changed<H: Hardware>(buttons: &mut Option<ButtonUnit<H>>) {
    let Some(unit) = buttons else {
        return std::future::pending().await;
    };
    if let Some(interrupt) = &mut unit.interrupt {
        return interrupt.leave(LineLevel::High).await;
    }
    let down = unit.down.unwrap_or_default();
    let lines = unit.lines.iter_mut().enumerate();
    let waits = lines.map(|(button, line)| {
        let level = match down >> button & 1 {
            0 => LineLevel::High,
            _ => LineLevel::Low,
        };
        Box::pin(line.leave(level))
    });
    let waits: Vec<_> = waits.collect();
    if waits.is_empty() {
        return std::future::pending().await;
    }
    futures_util::future::select_all(waits).await;
}

/// The interrupt line that only these buttons trigger. Reading the busy lines of a panel on the same expander would clear the
/// interrupt of a button.
fn interrupt_of<'a>(wiring: &'a Wiring, buttons: &[WiringLine]) -> Option<&'a WiringLine> {
    let expander_of = |line: &WiringLine| match &line.place {
        LineLocation::Expander { name, .. } => Some(name.clone()),
        LineLocation::Named(_) | LineLocation::Numbered { .. } => None,
    };
    let name = expander_of(buttons.first()?)?;
    let is_on_it = |line: &WiringLine| expander_of(line).as_ref() == Some(&name);
    let is_alone =
        buttons.iter().all(is_on_it) && !wiring.panels.iter().any(|panel| is_on_it(&panel.busy));
    let expander = wiring.expanders.iter().find(|known| known.name == name)?;
    expander.interrupt.as_ref().filter(|_| is_alone)
}

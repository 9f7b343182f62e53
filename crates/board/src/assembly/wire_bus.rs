//! Whoever serves the I2C bus for buttons, frontlight and light sensor, and the ports of these.

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

/// Time between two looks at buttons that tell nothing by themselves.
const LOOK: Duration = Duration::from_millis(20);

/// Time between two looks at buttons that do, in case a word was lost.
const SAFETY_LOOK: Duration = Duration::from_millis(250);

/// Shortest time between two looks, however often an interrupt line that is stuck or bounces asks for one.
const LOOKS_APART: Duration = Duration::from_millis(5);

/// Most edges of buttons that wait to be taken; then the oldest are left out.
const EDGES_MAX: usize = 256;

/// A request to the task that owns the I2C bus.
#[derive(Debug)]
pub(super) enum I2cRequest {
    /// Duties of the frontlight; whether it took them.
    Light(Vec<u16>, oneshot::Sender<bool>),
    /// What the light in the room is.
    Measure(oneshot::Sender<Sensed>),
}

/// The frontlight of a board made from parts.
#[derive(Debug)]
pub struct AssembledFrontlight {
    orders: mpsc::Sender<I2cRequest>,
}

/// The light sensor of a board made from parts.
#[derive(Debug)]
pub struct AssembledSensor {
    orders: mpsc::Sender<I2cRequest>,
}

/// The buttons of a board made from parts.
#[derive(Debug)]
pub struct AssembledButtons {
    edges: broadcast::Receiver<ButtonEdge>,
    /// Keeps the bus served.
    _orders: mpsc::Sender<I2cRequest>,
}

impl AssembledFrontlight {
    /// Sets the duty of each channel; tells whether the chip took them.
    pub async fn takes(&mut self, duties: &[u16]) -> bool {
        let (done, taken) = oneshot::channel();
        let order = I2cRequest::Light(duties.to_vec(), done);
        self.orders.send(order).await.is_ok() && taken.await.unwrap_or_default()
    }
}

impl Frontlight for AssembledFrontlight {
    async fn set(&mut self, duties: &[u16]) {
        // One that does not answer is told of where it is driven, and tried again with the next duties.
        let _ = self.takes(duties).await;
    }
}

impl LightSensor for AssembledSensor {
    async fn read(&mut self) -> Sensed {
        let (answer, answered) = oneshot::channel();
        if self.orders.send(I2cRequest::Measure(answer)).await.is_err() {
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

/// The parts on the I2C bus, and buttons wherever they are.
pub(super) struct WireBus<H: Hardware> {
    hardware: H,
    wire: Option<ExpanderBus<H>>,
    frontlight: Option<FrontlightUnit<H>>,
    sensor: Option<Bh1750>,
    /// Whoever waits for the measurement that runs, and when it ends.
    measuring: Option<(Duration, oneshot::Sender<Sensed>)>,
    buttons: Option<ButtonUnit<H>>,
    /// When the buttons were looked at last.
    looked_at: Duration,
    orders: mpsc::Receiver<I2cRequest>,
}

/// The ports of the parts on the I2C bus.
#[derive(Debug, Default)]
pub(super) struct WirePorts {
    pub(super) frontlight: Option<AssembledFrontlight>,
    pub(super) sensor: Option<AssembledSensor>,
    pub(super) buttons: Option<AssembledButtons>,
}

struct FrontlightUnit<H: Hardware> {
    chip: Pca9685,
    enable: Option<OutputLine<H>>,
    /// It was started, and is enabled.
    is_on: bool,
    fails: bool,
}

struct ButtonUnit<H: Hardware> {
    lines: Vec<InputLine<H>>,
    /// The interrupt line of the expander that all buttons are on, if it tells of nothing else.
    interrupt: Option<InputLine<H>>,
    edges: broadcast::Sender<ButtonEdge>,
    /// Buttons that were down, a bit each; none before they answered.
    down: Option<u8>,
    /// They did not answer at first: what they say then is not how they were as the power came on.
    is_late: bool,
}

impl<H: Hardware> WireBus<H> {
    /// Opens what the wiring says; none if it says nothing.
    pub(super) fn open(
        hardware: &H,
        wire: Option<&ExpanderBus<H>>,
        wiring: &Wiring,
    ) -> Result<Option<(WireBus<H>, WirePorts)>, String> {
        let (orders, ordered) = mpsc::channel(4);
        let mut ports = WirePorts::default();
        let frontlight = match &wiring.frontlight {
            Some(frontlight) => {
                ports.frontlight = Some(AssembledFrontlight {
                    orders: orders.clone(),
                });
                let enable = frontlight.enable.as_ref();
                Some(FrontlightUnit {
                    chip: Pca9685 {
                        address: frontlight.address,
                        first: frontlight.first,
                        hz: frontlight.hz,
                    },
                    enable: enable
                        .map(|line| OutputLine::open(hardware, wire, line, LineLevel::High))
                        .transpose()?,
                    is_on: false,
                    fails: false,
                })
            }
            None => None,
        };
        let sensor = wiring.sensor.as_ref().map(|sensor| {
            ports.sensor = Some(AssembledSensor {
                orders: orders.clone(),
            });
            Bh1750::new(&sensor.addresses)
        });
        let buttons = match &wiring.buttons {
            Some(wired) => {
                let (edges, taken) = broadcast::channel(EDGES_MAX);
                ports.buttons = Some(AssembledButtons {
                    edges: taken,
                    _orders: orders.clone(),
                });
                let open = |line: &WiringLine| InputLine::open(hardware, wire, line, Pull::Up);
                let interrupt = match interrupt_of(wiring, &wired.lines) {
                    Some(interrupt) => {
                        if let Some(wire) = wire {
                            wired.lines.iter().for_each(|line| wire.watch(line));
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
        let bus = WireBus {
            hardware: hardware.clone(),
            wire: wire.cloned(),
            frontlight,
            sensor,
            measuring: None,
            buttons,
            looked_at: hardware.now(),
            orders: ordered,
        };
        Ok(Some((bus, ports)))
    }

    /// Serves the bus until all ports are gone.
    pub(super) async fn serve(mut self) {
        let mut look_at = self.look();
        loop {
            let now = self.hardware.now();
            self.hardware.sleep_until(now).await;
            let rested_at = self.looked_at + LOOKS_APART;
            let measured_at = self.measuring.as_ref().map(|(end, _)| *end);
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.take(order).await,
                    None => return,
                },
                () = until(&self.hardware, measured_at) => self.end_measurement(),
                () = until(&self.hardware, look_at) => look_at = self.look(),
                () = async {
                    self.hardware.sleep_until(rested_at).await;
                    changed(&mut self.buttons).await;
                } => look_at = self.look(),
            }
        }
    }

    async fn take(&mut self, order: I2cRequest) {
        match order {
            I2cRequest::Light(duties, done) => {
                let _ = done.send(self.light(&duties).await);
            }
            I2cRequest::Measure(answer) => self.begin_measurement(answer),
        }
    }

    async fn light(&mut self, duties: &[u16]) -> bool {
        let (Some(unit), Some(wire)) = (&mut self.frontlight, &self.wire) else {
            return false;
        };
        let chip = unit.chip;
        let mut fails = false;
        if !unit.is_on {
            fails = wire.with(|i2c| chip.wake(i2c)).is_err();
            let awake = self.hardware.now() + WAKING;
            self.hardware.sleep_until(awake).await;
            fails = fails || wire.with(|i2c| chip.restart(i2c)).is_err();
        }
        fails = fails || wire.with(|i2c| chip.set(i2c, duties)).is_err();
        if !fails && !unit.is_on {
            // Only once the duties are there: what it had before power-on is nobody's wish.
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

    fn begin_measurement(&mut self, answer: oneshot::Sender<Sensed>) {
        let (Some(sensor), Some(wire)) = (&mut self.sensor, &self.wire) else {
            let _ = answer.send(Sensed::Absent);
            return;
        };
        if wire.with(|i2c| sensor.begin(i2c)).is_err() {
            let _ = answer.send(Sensed::Absent);
            return;
        }
        self.measuring = Some((self.hardware.now() + bh1750::MEASURING, answer));
    }

    fn end_measurement(&mut self) {
        let (Some((_, answer)), Some(sensor), Some(wire)) =
            (self.measuring.take(), &mut self.sensor, &self.wire)
        else {
            return;
        };
        let measured = wire.with(|i2c| sensor.read(i2c));
        let sensed = match measured {
            Ok(Some(millilux)) => Sensed::Millilux(millilux),
            Ok(None) | Err(_) => Sensed::Absent,
        };
        let _ = answer.send(sensed);
    }

    /// Looks at the buttons; tells when to look again at the latest.
    pub(super) fn look(&mut self) -> Option<Duration> {
        let unit = self.buttons.as_mut()?;
        if let Some(wire) = &self.wire {
            wire.begin_round();
        }
        unit.look();
        self.looked_at = self.hardware.now();
        let has_word = unit.interrupt.is_some() || unit.lines.iter().all(InputLine::has_edges);
        let pause = if has_word { SAFETY_LOOK } else { LOOK };
        Some(self.looked_at + pause)
    }
}

impl<H: Hardware> ButtonUnit<H> {
    fn look(&mut self) {
        let mut down = 0;
        for (button, line) in self.lines.iter_mut().enumerate() {
            match line.level() {
                Ok(LineLevel::Low) => down |= 1 << button,
                Ok(LineLevel::High) => {}
                // Nobody knows: what was is.
                Err(_) => {
                    self.is_late |= self.down.is_none();
                    return;
                }
            }
        }
        if std::mem::take(&mut self.is_late) {
            self.tell(0);
        }
        if self.down != Some(down) {
            self.tell(down);
        }
    }

    fn tell(&mut self, down: u8) {
        self.down = Some(down);
        // With nobody to take it nobody misses it.
        let _ = self.edges.send(ButtonEdge {
            down,
            at: Instant::now(),
        });
    }
}

/// Waits until a button may be another way than it was.
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

/// The interrupt line that tells of these buttons and of nothing else: reading the busy lines of an expander would
/// make it forget the buttons.
fn interrupt_of<'a>(wiring: &'a Wiring, buttons: &[WiringLine]) -> Option<&'a WiringLine> {
    let expander_of = |line: &WiringLine| match &line.place {
        LineLocation::Expander { name, .. } => Some(name.clone()),
        LineLocation::Named(_) | LineLocation::Numbered { .. } => None,
    };
    let name = expander_of(buttons.first()?)?;
    let is_there = |line: &WiringLine| expander_of(line).as_ref() == Some(&name);
    let is_alone =
        buttons.iter().all(is_there) && !wiring.panels.iter().any(|panel| is_there(&panel.busy));
    let expander = wiring.expanders.iter().find(|known| known.name == name)?;
    expander.interrupt.as_ref().filter(|_| is_alone)
}

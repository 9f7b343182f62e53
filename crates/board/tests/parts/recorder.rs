//! Buses and lines that record their transfers.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt::Write,
    sync::mpsc::{Receiver, Sender, channel},
};

use embedded_hal::{
    digital::{self, InputPin, OutputPin},
    i2c::{self, I2c, Operation, SevenBitAddress},
    spi::{self, SpiBus},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Line(&'static str, bool),
    Spi(Vec<u8>),
    Written(u8, Vec<u8>),
    Read(u8, usize),
}

#[derive(Debug, Clone)]
pub struct Recorder {
    events: Sender<Event>,
}

pub struct Trace {
    events: Receiver<Event>,
}

pub fn recorder() -> (Recorder, Trace) {
    let (sender, events) = channel();
    (Recorder { events: sender }, Trace { events })
}

impl Recorder {
    pub fn line(&self, name: &'static str) -> RecordedLine {
        RecordedLine {
            name,
            recorder: self.clone(),
        }
    }

    fn note(&self, event: Event) {
        let _ = self.events.send(event);
    }
}

impl Trace {
    /// The transfers on the bus of the panels, a line per select: the command bytes, then the data bytes.
    pub fn windows(&self) -> String {
        let mut text = String::new();
        let mut data = true;
        for event in self.events.try_iter() {
            match event {
                Event::Line("cs", false) => text.push('['),
                Event::Line("cs", true) => {
                    assert!(data, "the data/command line is high when idle");
                    text.push_str("]\n");
                }
                Event::Line("dc", level) => data = level,
                Event::Spi(bytes) if bytes.len() > 64 => {
                    assert!(data);
                    write!(text, " {} bytes of {:02X}", bytes.len(), bytes[0]).unwrap();
                }
                Event::Spi(bytes) => {
                    for byte in bytes {
                        let space = if data { " " } else { "" };
                        write!(text, "{space}{byte:02X}").unwrap();
                    }
                }
                other @ (Event::Line(..) | Event::Written(..) | Event::Read(..)) => {
                    panic!("{other:?}")
                }
            }
        }
        text
    }

    /// The transactions on an I2C bus, one per line.
    pub fn transactions(&self) -> String {
        let mut text = String::new();
        for event in self.events.try_iter() {
            match event {
                Event::Written(address, bytes) => {
                    write!(text, "{address:02X}:").unwrap();
                    for byte in bytes {
                        write!(text, " {byte:02X}").unwrap();
                    }
                    text.push('\n');
                }
                Event::Read(address, count) => {
                    writeln!(text, "{address:02X}: reads {count}").unwrap();
                }
                other @ (Event::Line(..) | Event::Spi(_)) => {
                    panic!("{other:?}")
                }
            }
        }
        text
    }

    pub fn spi_bytes(&self) -> Vec<u8> {
        self.events
            .try_iter()
            .flat_map(|event| match event {
                Event::Spi(bytes) => bytes,
                other @ (Event::Line(..) | Event::Written(..) | Event::Read(..)) => {
                    panic!("{other:?}")
                }
            })
            .collect()
    }
}

#[derive(Debug)]
pub struct RecordedLine {
    name: &'static str,
    recorder: Recorder,
}

impl digital::ErrorType for RecordedLine {
    type Error = Infallible;
}

impl OutputPin for RecordedLine {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.recorder.note(Event::Line(self.name, false));
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.recorder.note(Event::Line(self.name, true));
        Ok(())
    }
}

impl spi::ErrorType for Recorder {
    type Error = Infallible;
}

impl SpiBus for Recorder {
    fn read(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("panels and LEDs cannot be read")
    }

    fn write(&mut self, words: &[u8]) -> Result<(), Infallible> {
        self.note(Event::Spi(words.to_vec()));
        Ok(())
    }

    fn transfer(&mut self, _: &mut [u8], _: &[u8]) -> Result<(), Infallible> {
        panic!("panels and LEDs cannot be read")
    }

    fn transfer_in_place(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("panels and LEDs cannot be read")
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// An I2C bus on which only some addresses respond, with queued bytes.
#[derive(Debug)]
pub struct RecordedI2c {
    pub recorder: Recorder,
    pub present: Vec<u8>,
    pub answers: VecDeque<u8>,
}

impl i2c::ErrorType for RecordedI2c {
    type Error = i2c::ErrorKind;
}

impl I2c for RecordedI2c {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), i2c::ErrorKind> {
        if !self.present.contains(&address) {
            return Err(i2c::ErrorKind::NoAcknowledge(
                i2c::NoAcknowledgeSource::Address,
            ));
        }
        for operation in operations {
            match operation {
                Operation::Write(bytes) => {
                    self.recorder.note(Event::Written(address, bytes.to_vec()));
                }
                Operation::Read(bytes) => {
                    self.recorder.note(Event::Read(address, bytes.len()));
                    for byte in bytes.iter_mut() {
                        *byte = self.answers.pop_front().unwrap();
                    }
                }
            }
        }
        Ok(())
    }
}

/// A busy line with a queued level per read; the last level stays until others are queued.
#[derive(Debug)]
pub struct Busy {
    queued: Receiver<Vec<bool>>,
    levels: VecDeque<bool>,
}

impl Busy {
    pub fn new(queued: Receiver<Vec<bool>>) -> Busy {
        Busy {
            queued,
            levels: VecDeque::new(),
        }
    }
}

impl digital::ErrorType for Busy {
    type Error = Infallible;
}

impl InputPin for Busy {
    fn is_high(&mut self) -> Result<bool, Infallible> {
        for levels in self.queued.try_iter() {
            self.levels = levels.into();
        }
        let level = *self.levels.front().unwrap();
        if self.levels.len() > 1 {
            self.levels.pop_front();
        }
        Ok(level)
    }

    fn is_low(&mut self) -> Result<bool, Infallible> {
        self.is_high().map(|level| !level)
    }
}

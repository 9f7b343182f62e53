//! Records what the drivers of the crate `epdsi` send, in the format of `.ci/panel-oracle`, which builds and runs this.
//!
//! `main FOLDER`: FOLDER has the recordings of other drivers for the same panels, which contain the pictures.

use std::{cell::RefCell, convert::Infallible, fmt::Write as _, fs, rc::Rc};

use embedded_hal::{
    delay::DelayNs,
    digital::{self, InputPin, OutputPin},
    spi::{self, Operation, SpiDevice},
};
use epdsi::prelude::*;

/// The recording so far, and the level of the data line.
#[derive(Clone, Default)]
struct Wires(Rc<RefCell<(String, bool)>>);

struct ResetPin(Wires);

impl Wires {
    fn event(&self, text: &str) {
        let recording = &mut self.0.borrow_mut().0;
        if text != "wait" || !recording.ends_with("wait") {
            write!(recording, "\n{text}").unwrap();
        }
    }
}

impl spi::ErrorType for Wires {
    type Error = Infallible;
}

impl SpiDevice for Wires {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        for operation in operations {
            let Operation::Write(bytes) = operation else {
                panic!("only writes are simulated")
            };
            let (recording, is_data) = &mut *self.0.borrow_mut();
            for (index, byte) in bytes.iter().enumerate() {
                let before = match (*is_data, index) {
                    (false, _) => "\n",
                    (true, 0) if recording[recording.rfind('\n').unwrap_or(0)..].contains(' ') => {
                        ""
                    }
                    (true, 0) => " ",
                    (true, _) => "",
                };
                write!(recording, "{before}{byte:02X}").unwrap();
            }
        }
        Ok(())
    }
}

impl digital::ErrorType for Wires {
    type Error = Infallible;
}

/// The data line.
impl OutputPin for Wires {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.0.borrow_mut().1 = false;
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.0.borrow_mut().1 = true;
        Ok(())
    }
}

/// The busy line: a wait in the recording, and then idle.
impl InputPin for Wires {
    fn is_high(&mut self) -> Result<bool, Infallible> {
        self.event("wait");
        Ok(false)
    }

    fn is_low(&mut self) -> Result<bool, Infallible> {
        self.is_high().map(|is_high| !is_high)
    }
}

impl DelayNs for Wires {
    fn delay_ns(&mut self, nanos: u32) {
        self.event(&format!("pause {}", nanos.div_ceil(1_000_000)));
    }
}

impl digital::ErrorType for ResetPin {
    type Error = Infallible;
}

impl OutputPin for ResetPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.0.event("reset low");
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.0.event("reset high");
        Ok(())
    }
}

/// Records one panel in all modes.
macro_rules! record {
    ($folder:expr, $model:literal, $oracle:literal, $panel:ty, $controller:ident, $modes:ident) => {
        let known = fs::read_to_string(format!("{}/{}", $folder, $oracle)).unwrap();
        let shown: Vec<&str> = known
            .lines()
            .filter(|line| line.starts_with("shown"))
            .collect();
        for (mode, first, next) in [
            ("full", $modes::Full, $modes::Full),
            ("fast", $modes::FastFull, $modes::FastFull),
            ("partial", $modes::Full, $modes::Partial),
        ] {
            let mut wires = Wires::default();
            let bus = SpiBusWrapper::new(
                wires.clone(),
                wires.clone(),
                ResetPin(wires.clone()),
                wires.clone(),
            );
            let controller = $controller::for_panel::<$panel>().with_refresh_mode(first);
            let mut panel = EpdBuilder::<_, $panel>::new(controller).build(bus);
            panel.init(&mut wires).unwrap();
            let mut old = Vec::new();
            for (number, picture) in shown.iter().enumerate() {
                let rows = picture.rsplit(' ').next().unwrap().as_bytes();
                let new: Vec<u8> = rows
                    .chunks(2)
                    .map(|digits| {
                        !u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap()
                    })
                    .collect();
                let is_partial = mode == "partial" && number > 0;
                for (plane, data) in [
                    (
                        ColorChannel::RedYellow,
                        if is_partial { &old } else { &new },
                    ),
                    (ColorChannel::BlackWhite, &new),
                ] {
                    panel
                        .set_window(0, 0, <$panel>::WIDTH - 1, <$panel>::HEIGHT - 1)
                        .unwrap();
                    panel.set_cursor(0, 0).unwrap();
                    panel.write_frame(plane, data).unwrap();
                }
                panel
                    .controller_mut()
                    .set_refresh_mode(if number > 0 { next } else { first });
                panel.refresh(&mut wires).unwrap();
                wires.event(picture);
                old = new;
            }
            panel.sleep(&mut wires).unwrap();
            let recording = wires.0.borrow().0.trim_start().to_owned() + "\n";
            fs::write(format!("{}/{}.epdsi-{mode}", $folder, $model), recording).unwrap();
        }
    };
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    record!(
        folder,
        "gdem0213b74",
        "waveshare-2.13-v4.full",
        GDEM0213B74,
        Ssd1680Controller,
        Ssd1680RefreshMode
    );
    record!(
        folder,
        "waveshare-4.26",
        "waveshare-4.26.full",
        GDEQ0426T82,
        Ssd1677Controller,
        Ssd1677RefreshMode
    );
}

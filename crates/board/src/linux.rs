//! The hardware of a Linux host, by spidev, i2cdev and gpiocdev.

use std::{
    fmt::Display,
    fs::{self, DirEntry, File},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use embedded_hal::digital::{self, InputPin, OutputPin};
use gpiocdev::{
    Request,
    chip::{Chip, chips},
    find_named_line,
    line::{Bias, EdgeDetection, Info, Value},
    request::Builder,
    tokio::AsyncRequest,
};
use linux_embedded_hal::{
    I2cdev, SpidevBus,
    spidev::{SpiModeFlags, Spidev, SpidevOptions},
};
use tokio::time::{Instant, sleep_until};

use crate::{
    assembly::{Edges, Hardware, LineFault},
    parts::mcp23017::LineLevel,
    wiring::{FoundLine, LineLocation, Pull, Sense, WiringLine},
};

/// Consumer label of our GPIO lines.
pub const CONSUMER: &str = "papertick";

/// Labels of the GPIO chips of Raspberry Pis: line `GPIO8` of the header has the number 8 on its chip.
const PI_CHIPS: [&str; 3] = ["pinctrl-bcm2835", "pinctrl-bcm2711", "pinctrl-rp1"];

/// Highest number of a line of that header.
const PI_OFFSET_MAX: u32 = 27;

/// The host, with the origin of its time.
#[derive(Debug, Clone, Copy)]
pub struct Linux(pub Instant);

pub struct LinuxLine(AsyncRequest);

impl Hardware for Linux {
    type Spi = SpidevBus;
    type I2c = I2cdev;
    type HostOutput = LinuxLine;
    type HostInput = LinuxLine;
    type Claim = File;
    type Error = String;

    fn claim(&self, device: &str) -> Result<File, String> {
        let file = File::open(device).map_err(text)?;
        // Other programs do not lock it.
        let users = users(Path::new(device), Path::new("/"));
        match (file.try_lock(), users.as_slice()) {
            (Ok(()), []) => Ok(file),
            (Err(_), []) => Err("another program uses it".into()),
            (_, users) => Err(format!("it is in use by {}", users.join(", "))),
        }
    }

    fn spi(&self, device: &str, hz: u32) -> Result<SpidevBus, String> {
        let mut bus = Spidev::open(device).map_err(text)?;
        let mode = |mode| SpidevOptions::new().mode(mode).max_speed_hz(hz).build();
        let without_select = mode(SpiModeFlags::SPI_MODE_0 | SpiModeFlags::SPI_NO_CS);
        // Some hosts cannot disable the select line, which must be unconnected then.
        bus.configure(&without_select)
            .or_else(|_| bus.configure(&mode(SpiModeFlags::SPI_MODE_0)))
            .map_err(text)?;
        Ok(SpidevBus(bus))
    }

    fn i2c(&self, device: &str) -> Result<I2cdev, String> {
        I2cdev::new(device).map_err(text)
    }

    fn output(&self, line: &WiringLine, level: LineLevel) -> Result<LinuxLine, String> {
        open(output_request(line, find(&line.place), level)?)
    }

    fn input(&self, line: &WiringLine, pull: Pull) -> Result<LinuxLine, String> {
        open(input_request(line, find(&line.place), pull)?)
    }

    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep_until(&self, moment: Duration) {
        sleep_until(self.0 + moment).await;
    }
}

/// Looks up a line of the host; `None` if this user cannot find it.
pub fn find(place: &LineLocation) -> Option<FoundLine> {
    let (chip, info) = match place {
        LineLocation::Named(name) => find_named_line(name)
            .map(|found| (found.chip, found.info))
            .or_else(|| numbered(&PI_CHIPS, pi_offset(name)?))?,
        LineLocation::Numbered { chip, offset } => numbered(&[chip], *offset)?,
        LineLocation::Expander { .. } => return None,
    };
    Some(FoundLine {
        chip,
        number: info.offset,
        user: info.used.then_some(info.consumer),
    })
}

/// A line by its number on the chip with one of these labels.
fn numbered(labels: &[&str], offset: u32) -> Option<(PathBuf, Info)> {
    let label = |path: &PathBuf| Some(Chip::from_path(path).ok()?.info().ok()?.label);
    let mut paths = chips().ok()?.into_iter();
    let path = paths.find(|path| label(path).is_some_and(|label| labels.contains(&&*label)))?;
    let info = Chip::from_path(&path).ok()?.line_info(offset).ok()?;
    Some((path, info))
}

/// Number of a line of the header of a Raspberry Pi. Some kernels name these lines by their other functions.
fn pi_offset(name: &str) -> Option<u32> {
    let offset = name.strip_prefix("GPIO")?.parse().ok()?;
    (offset <= PI_OFFSET_MAX).then_some(offset)
}

/// Other programs that have a device file open, as far as this user may see them; processes are those below a root.
pub fn users(device: &Path, root: &Path) -> Vec<String> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let has_open = |process: &DirEntry| {
        let files = entries(&process.path().join("fd"));
        let mut files = files.filter_map(|file| fs::read_link(file.path()).ok());
        files.any(|file| file == device)
    };
    // `self` and `thread-self` are this process, too.
    let is_other = |entry: &DirEntry| {
        let number = entry.file_name().to_string_lossy().parse();
        number.is_ok_and(|number: u32| number != process::id())
    };
    let processes = entries(&root.join("proc")).filter(is_other);
    let users = processes.filter(has_open).map(|process| {
        let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
        let number = process.file_name();
        format!("{} (process {})", name.trim_end(), number.to_string_lossy())
    });
    users.collect()
}

fn output_request(
    line: &WiringLine,
    found: Option<FoundLine>,
    level: LineLevel,
) -> Result<Builder, String> {
    let mut request = request(line, found)?;
    request.as_output(match level {
        LineLevel::Low => Value::Inactive,
        LineLevel::High => Value::Active,
    });
    Ok(request)
}

fn input_request(
    line: &WiringLine,
    found: Option<FoundLine>,
    pull: Pull,
) -> Result<Builder, String> {
    let mut request = request(line, found)?;
    let changes = EdgeDetection::BothEdges;
    request.as_input().with_edge_detection(changes);
    request.with_bias(match pull {
        Pull::Up => Bias::PullUp,
        Pull::Down => Bias::PullDown,
        Pull::None => Bias::Disabled,
    });
    Ok(request)
}

fn request(line: &WiringLine, found: Option<FoundLine>) -> Result<Builder, String> {
    let found = found.ok_or("there is no such line for this user")?;
    let mut request = Request::builder();
    request.on_chip(found.chip).with_consumer(CONSUMER);
    request.with_line(found.number);
    if line.sense == Sense::Inverted {
        request.as_active_low();
    }
    Ok(request)
}

fn open(mut request: Builder) -> Result<LinuxLine, String> {
    let request = request.request().map_err(text)?;
    Ok(LinuxLine(AsyncRequest::new(request)))
}

fn text(error: impl Display) -> String {
    error.to_string()
}

fn line_result<T>(outcome: gpiocdev::Result<T>) -> Result<T, LineFault> {
    outcome.map_err(|_| LineFault)
}

impl digital::ErrorType for LinuxLine {
    type Error = LineFault;
}

impl OutputPin for LinuxLine {
    fn set_low(&mut self) -> Result<(), LineFault> {
        line_result(self.0.as_ref().set_lone_value(Value::Inactive))
    }

    fn set_high(&mut self) -> Result<(), LineFault> {
        line_result(self.0.as_ref().set_lone_value(Value::Active))
    }
}

impl InputPin for LinuxLine {
    fn is_high(&mut self) -> Result<bool, LineFault> {
        Ok(line_result(self.0.as_ref().lone_value())? == Value::Active)
    }

    fn is_low(&mut self) -> Result<bool, LineFault> {
        Ok(!self.is_high()?)
    }
}

impl Edges for LinuxLine {
    async fn leave(&mut self, level: LineLevel) {
        // Old edges may be queued: read edges until the level has changed.
        while self.is_high() == Ok(level == LineLevel::High)
            && self.0.read_edge_event().await.is_ok()
        {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use gpiocdev::line::{Config, Direction};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_of_the_host_advances_during_a_sleep() {
        let linux = Linux(Instant::now());
        for secs in [3, 3, 7] {
            linux.sleep_until(Duration::from_secs(secs)).await;
            assert_eq!(linux.now().as_secs(), secs);
        }
    }

    #[test]
    fn lines_of_the_header_of_a_pi_have_the_number_in_their_name() {
        for (name, expected) in [
            ("GPIO8", Some(8)),
            ("GPIO27", Some(27)),
            ("GPIO28", None),
            ("GPIO", None),
            ("SPI_CE0_N", None),
        ] {
            assert_eq!(pi_offset(name), expected, "{name}");
        }
    }

    #[test]
    fn programs_that_use_a_bus_are_named() {
        let root = tempfile::tempdir().unwrap();
        for (number, name, file) in [
            ("812", "python3\n", "/dev/spidev0.0"),
            ("900", "sensors\n", "/dev/i2c-1"),
            (&*process::id().to_string(), "papertick\n", "/dev/spidev0.0"),
        ] {
            let process = root.path().join("proc").join(number);
            fs::create_dir_all(process.join("fd")).unwrap();
            fs::write(process.join("comm"), name).unwrap();
            std::os::unix::fs::symlink(file, process.join("fd/3")).unwrap();
        }
        let users = |device| users(Path::new(device), root.path());
        assert_eq!(users("/dev/spidev0.0"), ["python3 (process 812)"]);
        assert_eq!(users("/dev/spidev0.1"), Vec::<String>::new());
    }

    /// The configuration of line 7 that is requested: not inverted, and inverted.
    fn requested(
        request: impl Fn(&WiringLine, Option<FoundLine>) -> Result<Builder, String>,
    ) -> [Config; 2] {
        [Sense::Straight, Sense::Inverted].map(|sense| {
            let line = WiringLine {
                sense,
                ..WiringLine::named("SEVEN")
            };
            let found = FoundLine {
                chip: "/dev/gpiochip3".into(),
                number: 7,
                user: None,
            };
            let missing = request(&line, None).err();
            assert_eq!(missing.unwrap(), "there is no such line for this user");
            let config = request(&line, Some(found)).unwrap().config();
            assert_eq!(config.chip(), "/dev/gpiochip3");
            assert_eq!(config.lines(), &[7]);
            config.line_config(7).unwrap().clone()
        })
    }

    #[test]
    fn a_line_is_requested_with_level_pull_and_inversion() {
        for (level, value) in [
            (LineLevel::Low, Value::Inactive),
            (LineLevel::High, Value::Active),
        ] {
            let straight = Config {
                direction: Some(Direction::Output),
                value: Some(value),
                ..Config::default()
            };
            let inverted = Config {
                active_low: true,
                ..straight.clone()
            };
            let configs = requested(|line, found| output_request(line, found, level));
            assert_eq!(configs, [straight, inverted]);
        }
        for (pull, bias) in [
            (Pull::Up, Bias::PullUp),
            (Pull::Down, Bias::PullDown),
            (Pull::None, Bias::Disabled),
        ] {
            let straight = Config {
                direction: Some(Direction::Input),
                bias: Some(bias),
                edge_detection: Some(EdgeDetection::BothEdges),
                ..Config::default()
            };
            let inverted = Config {
                active_low: true,
                ..straight.clone()
            };
            let configs = requested(|line, found| input_request(line, found, pull));
            assert_eq!(configs, [straight, inverted]);
        }
    }
}

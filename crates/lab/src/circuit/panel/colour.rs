//! An emulated panel of six or seven colours, of which it must show only black and white.

use board::parts::epaper::{
    Model,
    sequence::{
        colour::{BLACK, WHITE},
        uc8179::{DEEP_SLEEP_CHECK, command},
    },
};

use super::{
    Controller, PanelCondition, PanelState, Report, parameters,
    plane::{Plane, PowerOnNoise},
};

const COMMANDS: &[(u8, usize, usize)] = &[
    (command::PANEL, 2, 2),
    (0x01, 1, 6),
    (command::POWER_OFF, 1, 1),
    (0x03, 4, 4),
    (command::POWER_ON, 0, 0),
    (0x05, 4, 4),
    (0x06, 4, 4),
    (command::DEEP_SLEEP, 1, 1),
    (0x08, 4, 4),
    (command::REFRESH, 1, 1),
    (0x13, 2, 2),
    (0x30, 1, 1),
    (0x41, 1, 1),
    (0x50, 1, 1),
    (0x60, 2, 2),
    (command::SIZE, 4, 4),
    (0x82, 1, 1),
    (0x84, 1, 1),
    (0x86, 1, 1),
    (0xAA, 6, 6),
    (0xE0, 1, 1),
    (0xE3, 1, 1),
    (0xE6, 1, 1),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    PowerOn,
    PowerOff,
    Refresh,
}

#[derive(Debug)]
pub(super) struct ColourChip {
    model: &'static Model,
    plane: Plane,
    has_size: bool,
    has_power: bool,
    running: Option<Activity>,
}

impl ColourChip {
    pub(super) fn new(model: &'static Model, noise: &mut PowerOnNoise) -> ColourChip {
        ColourChip {
            model,
            plane: Plane::new(ColourChip::bytes(model), noise),
            has_size: false,
            has_power: false,
            running: None,
        }
    }

    fn bytes(model: &Model) -> usize {
        usize::from(model.width / 2) * usize::from(model.height)
    }

    /// The value of a pixel.
    fn colour(&self, pixel: usize) -> u8 {
        let shift = if pixel.is_multiple_of(2) { 4 } else { 0 };
        self.plane.byte(pixel / 2) >> shift & 0x0F
    }

    fn run(&mut self, activity: Activity, panel: &mut PanelState, report: &Report<'_>) {
        let times = &self.model.times;
        let time = match activity {
            Activity::PowerOn => times.power_on,
            Activity::PowerOff => times.power_off,
            Activity::Refresh => times.full - times.power_on - times.power_off,
        };
        self.running = Some(activity);
        panel.start(report.now, time);
    }

    fn refresh(&mut self, panel: &mut PanelState, report: &mut Report<'_>) {
        if !self.has_power {
            report.record("refreshed without its supply");
        }
        if !self.has_size {
            report.record("refreshed without a size");
        }
        let mut bytes = 0..ColourChip::bytes(self.model);
        if bytes.any(|at| !self.plane.is_written(at)) {
            report.record("refreshed from a plane that was not written");
        }
        if panel.condition != PanelCondition::Silent {
            self.run(Activity::Refresh, panel, report);
        }
    }
}

impl Controller for ColourChip {
    fn parameters(&self, code: u8) -> Option<(usize, usize)> {
        parameters(COMMANDS, code)
    }

    fn plane_bytes(&self, code: u8) -> Option<usize> {
        (code == command::WRITE_OLD).then(|| ColourChip::bytes(self.model))
    }

    fn reset(&mut self) {
        self.has_size = false;
        self.has_power = false;
        self.running = None;
    }

    fn unplug(&mut self) {
        self.has_power = false;
    }

    fn lose_supply(&mut self) {
        self.plane.lose();
    }

    fn command(&mut self, code: u8, panel: &mut PanelState, report: &mut Report<'_>) {
        if code == command::POWER_ON {
            self.run(Activity::PowerOn, panel, report);
        }
    }

    fn store(&mut self, _: u8, index: usize, byte: u8) {
        self.plane.store(index, byte);
    }

    fn set(&mut self, code: u8, bytes: &[u8], panel: &mut PanelState, report: &mut Report<'_>) {
        match (code, bytes) {
            (command::REFRESH, [_]) => self.refresh(panel, report),
            (command::POWER_OFF, [_]) => self.run(Activity::PowerOff, panel, report),
            (command::SIZE, [x_high, x_low, y_high, y_low]) => {
                let width = u16::from_be_bytes([*x_high, *x_low]);
                let height = u16::from_be_bytes([*y_high, *y_low]);
                self.has_size = (width, height) == (self.model.width, self.model.height);
            }
            (command::DEEP_SLEEP, [DEEP_SLEEP_CHECK]) => {
                if self.has_power {
                    report.record("deep sleep with its supply on");
                }
                panel.is_asleep = true;
            }
            (command::DEEP_SLEEP, _) => report.record("deep sleep without its check byte"),
            _ => {}
        }
    }

    fn end(&mut self, panel: &mut PanelState) {
        match self.running.take() {
            None => {}
            Some(Activity::PowerOn) => self.has_power = true,
            Some(Activity::PowerOff) => self.has_power = false,
            Some(Activity::Refresh) => {
                for pixel in 0..panel.glass.len() {
                    let colour = self.colour(pixel);
                    // A colour looks like neither.
                    let is_ink = match colour {
                        BLACK => true,
                        WHITE => false,
                        _ => pixel.is_multiple_of(3),
                    };
                    panel.refresh_pixel(pixel, !is_ink, is_ink, false);
                }
                panel.count(false);
            }
        }
    }

    fn check(&self, panel: &PanelState, report: &mut Report<'_>) {
        if self.has_power {
            panel.check_supply(report);
        }
    }
}

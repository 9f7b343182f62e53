//! PCA9685, the PWM driver of the frontlight, with sixteen outputs.

use std::time::Duration;

use embedded_hal::i2c::I2c;

/// Second address of every PCA9685, enabled at power-on.
pub const ALL_CALL: u8 = 0x70;

/// Outputs of one chip.
pub const CHANNELS: usize = 16;

pub const DUTY_MAX: u16 = 4095;

/// Time that the oscillator needs after sleep.
pub const WAKING: Duration = Duration::from_millis(1);

const OSCILLATOR_HZ: u32 = 25_000_000;

const MODE1: u8 = 0x00;
const MODE2: u8 = 0x01;
const FIRST_OUTPUT: u8 = 0x06;
const PRESCALE: u8 = 0xFE;

const SLEEP: u8 = 0x11;
const AWAKE: u8 = 0x21;
const RESTART: u8 = 0xA1;
const TOTEM_POLE: u8 = 0x04;

/// Bit of the second register of a pair that switches the output fully on or fully off.
const FULL: u8 = 0x10;

/// Frequencies of the prescaler, Hz.
pub const HZ: std::ops::RangeInclusive<u32> = 24..=1526;

/// One chip and its used outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pca9685 {
    pub address: u8,
    /// Output for the leftmost panel; the others follow.
    pub first: u8,
    /// Frequency of the outputs, Hz.
    pub hz: u32,
}

impl Pca9685 {
    /// Sets the frequency, which is only possible during sleep, and wakes the chip. Call [`Pca9685::restart`] after
    /// [`WAKING`].
    ///
    /// # Errors
    /// It does not answer.
    pub fn wake<I: I2c>(&self, i2c: &mut I) -> Result<(), I::Error> {
        i2c.write(self.address, &[MODE1, SLEEP])?;
        i2c.write(self.address, &[PRESCALE, prescale(self.hz)])?;
        i2c.write(self.address, &[MODE1, AWAKE])
    }

    /// Starts the outputs. Enable the output line only after duties are written.
    ///
    /// # Errors
    /// It does not answer.
    pub fn restart<I: I2c>(&self, i2c: &mut I) -> Result<(), I::Error> {
        i2c.write(self.address, &[MODE1, RESTART])?;
        i2c.write(self.address, &[MODE2, TOTEM_POLE])
    }

    /// Sets the duties of the panels, 0..=4095, leftmost first, in one write. Duties beyond the last output are ignored.
    ///
    /// # Errors
    /// It does not answer.
    pub fn set<I: I2c>(&self, i2c: &mut I, duties: &[u16]) -> Result<(), I::Error> {
        let room = CHANNELS.saturating_sub(usize::from(self.first));
        let mut bytes = vec![FIRST_OUTPUT + 4 * self.first];
        bytes.extend(duties.iter().take(room).copied().flat_map(registers));
        i2c.write(self.address, &bytes)
    }
}

/// Value of the prescaler for the nearest possible frequency.
pub fn prescale(hz: u32) -> u8 {
    let hz = hz.clamp(*HZ.start(), *HZ.end());
    let steps = OSCILLATOR_HZ / (u32::from(DUTY_MAX) + 1) / hz;
    u8::try_from(steps.saturating_sub(1)).map_or(u8::MAX, |value| value.max(3))
}

/// Registers of one output with a duty, at most 4095: on time and off time, each low byte first.
pub fn registers(duty: u16) -> [u8; 4] {
    let [low, high] = duty.to_le_bytes();
    match duty {
        0 => [0, 0, 0, FULL],
        1..DUTY_MAX => [0, 0, low, high],
        DUTY_MAX.. => [0, FULL, 0, 0],
    }
}

//! What the chips of real boards say and want to be told, in their own numbers.

/// Light that a BH1750 measured in its high-resolution mode, thousandths of a lux: 1.2 counts are one lux.
pub fn bh1750_millilux(count: u16) -> u32 {
    u32::from(count) * 10_000 / 12
}

/// Bit of the second register of a pair that switches the output fully on, or fully off.
const FULL: u8 = 0x10;

/// Largest duty of a PCA9685.
const DUTY_MAX: u16 = 4095;

/// Registers of one output of a PCA9685 at a duty of 0..=4095, more counting as that: when it goes on and when it
/// goes off, each low byte first.
pub fn pca9685_registers(duty: u16) -> [u8; 4] {
    let [low, high] = duty.to_le_bytes();
    match duty {
        0 => [0, 0, 0, FULL],
        1..DUTY_MAX => [0, 0, low, high],
        DUTY_MAX.. => [0, FULL, 0, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_light_sensor_are_lux() {
        for (count, millilux) in [
            (0, 0),
            (12, 10_000),
            (0x0BA6, 2_485_000),
            (0xFFFF, 54_612_500),
        ] {
            assert_eq!(bh1750_millilux(count), millilux, "{count}");
        }
    }

    #[test]
    fn duties_are_registers() {
        for (duty, registers) in [
            (0, [0x00, 0x00, 0x00, 0x10]),
            (1, [0x00, 0x00, 0x01, 0x00]),
            (2048, [0x00, 0x00, 0x00, 0x08]),
            (4094, [0x00, 0x00, 0xFE, 0x0F]),
            (4095, [0x00, 0x10, 0x00, 0x00]),
            (5000, [0x00, 0x10, 0x00, 0x00]),
        ] {
            assert_eq!(pca9685_registers(duty), registers, "{duty}");
        }
    }
}

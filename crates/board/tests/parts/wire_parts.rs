//! The bytes that the drivers send to the chips on I2C and to the strip.

use board::parts::{
    bh1750::Bh1750,
    mcp23017::{LineLevel, Mcp23017},
    pca9685::Pca9685,
    ws2812::{self, ColourOrder, LedChannels},
};
use device::lights::Rgb;
use embedded_hal::i2c::ErrorKind;

use crate::recorder::{RecordedI2c, Trace, recorder};

fn bus(present: &[u8], answers: &[u8]) -> (RecordedI2c, Trace) {
    let (recorder, trace) = recorder();
    let bus = RecordedI2c {
        recorder,
        present: present.to_vec(),
        answers: answers.iter().copied().collect(),
    };
    (bus, trace)
}

#[test]
fn an_expander_is_configured_from_its_latches_on_then_written_by_port() {
    let (mut i2c, trace) = bus(&[0x20], &[0x0E, 0x7F]);
    let mut expander = Mcp23017::new(0x20);
    for pin in 8..15 {
        expander.output(pin, LineLevel::High);
    }
    for pin in 0..4 {
        expander.input(pin);
        expander.watch(pin);
    }
    assert_eq!(expander.read(&mut i2c).unwrap(), 0x7F0E);
    assert_eq!(
        trace.transactions(),
        "\
20: 0A 40
20: 14 FF FF
20: 0C 0F 00
20: 00 7F 00
20: 08 00 00
20: 04 0F 00
20: 12
20: reads 2
"
    );
    expander.set(&mut i2c, 9, LineLevel::Low).unwrap();
    expander.set(&mut i2c, 7, LineLevel::Low).unwrap();
    expander.set(&mut i2c, 9, LineLevel::High).unwrap();
    assert_eq!(trace.transactions(), "20: 15 FD\n20: 14 7F\n20: 15 FF\n");
}

#[test]
fn an_expander_is_configured_again_after_a_fault() {
    let (mut i2c, trace) = bus(&[0x21], &[]);
    let mut expander = Mcp23017::new(0x21);
    expander.output(3, LineLevel::High);
    expander.set(&mut i2c, 3, LineLevel::Low).unwrap();
    trace.transactions();
    i2c.present.clear();
    assert!(expander.set(&mut i2c, 3, LineLevel::High).is_err());
    i2c.present.push(0x21);
    expander.set(&mut i2c, 3, LineLevel::Low).unwrap();
    assert_eq!(
        trace.transactions(),
        "\
21: 0A 00
21: 14 F7 FF
21: 0C 00 00
21: 00 77 7F
21: 08 00 00
21: 04 00 00
"
    );
    expander.forget();
    expander.set(&mut i2c, 3, LineLevel::High).unwrap();
    assert!(
        trace
            .transactions()
            .starts_with("21: 0A 00\n21: 14 FF FF\n")
    );
}

#[test]
fn the_frontlight_is_started_by_the_sequence_of_the_data_sheet() {
    let (mut i2c, trace) = bus(&[0x42], &[]);
    let frontlight = Pca9685 {
        address: 0x42,
        first: 1,
        hz: 1000,
    };
    frontlight.wake(&mut i2c).unwrap();
    frontlight.restart(&mut i2c).unwrap();
    frontlight
        .set(&mut i2c, &[0, 1, 2048, 4095, 5000, 0, 0])
        .unwrap();
    assert_eq!(
        trace.transactions(),
        "\
42: 00 11
42: FE 05
42: 00 21
42: 00 A1
42: 01 04
42: 0A 00 00 00 10 00 00 01 00 00 00 00 08 00 10 00 00 00 10 00 00 00 00 00 10 00 00 00 10
"
    );
}

#[test]
fn duties_beyond_the_last_output_are_ignored() {
    let (mut i2c, trace) = bus(&[0x40], &[]);
    let frontlight = Pca9685 {
        address: 0x40,
        first: 15,
        hz: 1000,
    };
    frontlight.set(&mut i2c, &[4095, 4095]).unwrap();
    assert_eq!(trace.transactions(), "40: 42 00 10 00 00\n");
}

#[test]
fn the_light_sensor_is_read_at_the_address_that_responds() {
    let (mut i2c, trace) = bus(&[0x23], &[0x0B, 0xA6, 0, 0]);
    let mut sensor = Bh1750::new(&[0x5C, 0x23]);
    assert_eq!(sensor.read(&mut i2c), Ok(None));
    sensor.begin(&mut i2c).unwrap();
    assert_eq!(sensor.read(&mut i2c), Ok(Some(2_485_000)));
    sensor.begin(&mut i2c).unwrap();
    assert_eq!(
        trace.transactions(),
        "23: 01\n23: 20\n23: reads 2\n23: 01\n23: 20\n"
    );
    // The sensor now has the other address, as after a change of its address pin.
    i2c.present = vec![0x5C];
    sensor.begin(&mut i2c).unwrap();
    assert_eq!(sensor.read(&mut i2c), Ok(Some(0)));
    i2c.present.clear();
    assert!(matches!(
        sensor.begin(&mut i2c),
        Err(ErrorKind::NoAcknowledge(_))
    ));
    assert_eq!(sensor.read(&mut i2c), Ok(None));
}

#[test]
fn each_bit_of_the_strip_is_a_pulse_of_four_bits() {
    let colour = Rgb {
        red: 0xFF,
        green: 0x00,
        blue: 0b1001_0110,
    };
    let (green, red, blue) = ([0x88; 4], [0xEE; 4], [0xE8, 0x8E, 0x8E, 0xE8]);
    let dark = [0x88; 4];
    #[rustfmt::skip]
    let rows = [
        (ColourOrder::Grb, LedChannels::Three, [green, red, blue].concat()),
        (ColourOrder::Rgb, LedChannels::Three, [red, green, blue].concat()),
        (ColourOrder::Grb, LedChannels::Four, [green, red, blue, dark].concat()),
    ];
    for (order, channels, expected) in rows {
        let (mut recorder, trace) = recorder();
        ws2812::show(&mut recorder, order, channels, [colour]).unwrap();
        let bytes = trace.spi_bytes();
        let (before, rest) = bytes.split_at(140);
        let (colours, after) = rest.split_at(expected.len());
        assert_eq!(colours, expected, "{order:?}, {channels:?}");
        assert_eq!((before, after), (&[0; 140][..], &[0; 140][..]));
    }
}

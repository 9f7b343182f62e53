//! Fuzzes the body of a change of settings: all of it is applied, or nothing.
#![no_main]

use std::{collections::BTreeMap, time::Duration};

use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    request::{Patch, Request},
    settings::Settings,
};
use market::now::Now;
use serde_json::Value;

const BOARD: BoardSpec = BoardSpec::EXAMPLE;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(Value::Object(body)) = serde_json::from_slice(bytes) else {
        return;
    };
    let now = Now {
        uptime: Duration::from_secs(1),
        utc: None,
    };
    let mut device = Device::new(BOARD, Settings::default(), Memory::default(), now);
    let before = device.settings().clone();
    let patch = Patch {
        body,
        hashes: BTreeMap::new(),
    };
    let output = device.handle(Input::Request(Request::Patch(patch)), now);
    if let Some(Err(_)) = output.reply {
        assert_eq!(*device.settings(), before);
    }
});

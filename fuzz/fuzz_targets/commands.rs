//! Fuzzes commands to the device: the name of a command on the first line, its body after it.
#![no_main]

use std::{sync::LazyLock, time::Duration};

use api::{operations, parameters::Parameters};
use device::{device::Device, input::Input, memory::Memory, settings::Settings, view::View};
use market::now::Now;

const NOW: Now = Now {
    uptime: Duration::ZERO,
    utc: None,
};

fn clock() -> Device {
    Device::new(
        board::spec::BOARDS[0],
        Settings::default(),
        Memory::default(),
        NOW,
    )
}

static VIEW: LazyLock<View> = LazyLock::new(|| clock().view());

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let line = bytes.iter().position(|byte| *byte == b'\n');
    let (name, body) = bytes.split_at(line.unwrap_or(bytes.len()));
    let Ok(name) = std::str::from_utf8(name) else {
        return;
    };
    let parameters = Parameters::body(body.strip_prefix(b"\n").unwrap_or(body));
    let Ok(call) = operations::command(name, parameters, &VIEW) else {
        return;
    };
    let mut device = clock();
    let output = device.handle(Input::Request(call.request), NOW);
    let reply = output.reply.expect("every request has a reply");
    let answer = call.reply_format.answer(reply, &device.view());
    assert!(answer.status == 200 || answer.body.is_some());
});

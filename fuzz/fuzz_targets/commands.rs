//! Fuzzes what clients ask of the device: a command's name on the first line, its body after it.
#![no_main]

use std::{sync::LazyLock, time::Duration};

use api::{given::Parameters, operations};
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
    let given = Parameters::body(body.strip_prefix(b"\n").unwrap_or(body));
    let Ok(asked) = operations::command(name, given, &VIEW) else {
        return;
    };
    let output = clock().handle(Input::Asked(asked.request), NOW);
    let answer = asked
        .told
        .answer(output.reply.expect("every request has a reply"));
    assert!(answer.status == 200 || answer.body.is_some());
});

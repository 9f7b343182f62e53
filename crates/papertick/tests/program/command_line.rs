//! The commands for running clocks and for data folders.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::fd::AsFd,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown},
    path::Path,
    process::{Command, Output, Stdio},
    thread,
};

use papertick::failure::Code;
use rustix::{
    fs::OFlags,
    process::{Pid, Signal, geteuid, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Action, Winsize, tcflow, tcgetattr, tcsetwinsize},
};
use serde_json::Value;

use crate::{
    clock::{Clock, Owned, eventually, folder, papertick},
    needs,
};

const MANUAL: &str = include_str!("../../../../docs/command-line.md");

fn to(clock: &Clock, line: &str) -> Command {
    let mut words: Vec<&str> = line.split(' ').collect();
    let host = clock.address().to_string();
    words.extend(["--host", &host]);
    papertick(&words)
}

fn result(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Output of a command that must succeed.
fn stdout_of(command: &mut Command) -> String {
    let (code, out, stderr) = result(&command.output().unwrap());
    assert_eq!(code, Some(0), "{command:?}: {stderr}");
    out
}

/// Checks exit code and message of a command that must fail.
fn assert_fails(command: &mut Command, code: Code, part: &str) {
    let (result, _, stderr) = result(&command.output().unwrap());
    assert_eq!(result, Some(code as i32), "{command:?}: {stderr}");
    assert!(stderr.contains(part), "{command:?}: {stderr}");
}

#[test]
fn commands_change_the_clock() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    assert!(stdout_of(&mut to(&clock, "ctl status")).contains("currentScreen"));
    stdout_of(&mut to(&clock, "ctl set ledBrightness=64 fontName=oswald"));
    let settings = stdout_of(&mut to(&clock, "ctl settings ledBrightness fontName"));
    assert_eq!(settings, "fontName       oswald\nledBrightness  64\n");
    let json = stdout_of(&mut to(&clock, "ctl settings otaPass --json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json, serde_json::json!({ "otaPassSet": false }));
    stdout_of(&mut to(&clock, "ctl show screen time"));
    let text = stdout_of(&mut to(&clock, "ctl status --json"));
    let status: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status["currentScreen"], 3);
    // The screen has no currency, and most values are unknown.
    let (file, picture) = (
        folder.path().join("status.json"),
        folder.path().join("time.png"),
    );
    fs::write(&file, text).unwrap();
    let mut render = papertick(&["render", "time", "--status", file.to_str().unwrap()]);
    stdout_of(render.arg("-o").arg(&picture));
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let picture = folder.path().join("panels.png");
    stdout_of(&mut to(
        &clock,
        &format!("ctl panels -o {}", picture.display()),
    ));
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let waits = stdout_of(&mut to(&clock, "ctl set otaEnabled=false"));
    assert!(waits.contains("papertick ctl restart"), "{waits}");
    assert!(stdout_of(&mut to(&clock, "ctl log")).contains("INFO"));
    // A closed output is no failure, in a terminal or not.
    assert!(
        to(&clock, "ctl panels")
            .output()
            .unwrap()
            .stdout
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn exit_codes() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    assert_fails(
        &mut to(&clock, "ctl set ledBrightness=300"),
        Code::Refused,
        "range:ledBrightness",
    );
    assert_fails(
        &mut to(&clock, "ctl show screen 77"),
        Code::Refused,
        "unknown screen id",
    );
    assert_fails(
        &mut to(&clock, "ctl panel 9"),
        Code::Refused,
        "it has 7 panels, 0 to 6",
    );
    assert_fails(
        &mut to(&clock, "ctl lights effect disco"),
        Code::Usage,
        "rainbow",
    );
    assert_fails(
        &mut to(&clock, "ctl update firmware /nowhere.img"),
        Code::Failed,
        "/nowhere.img",
    );
    let image = folder.path().join("clock.img");
    fs::write(&image, vec![b'x'; 300_000]).unwrap();
    let upload = format!("ctl update firmware {}", image.display());
    assert_fails(
        &mut to(&clock, &upload),
        Code::Refused,
        "ESP_ERR_OTA_VALIDATE_FAILED",
    );
    let unreachable = ["ctl", "status", "--host", "127.0.0.1:1"];
    assert_fails(
        &mut papertick(&unreachable),
        Code::Unreachable,
        "127.0.0.1:1",
    );
    let unknown = "`XYZ`, only USD";
    for line in ["ctl show currency XYZ", "ctl set actCurrencies=USD,XYZ"] {
        assert_fails(&mut to(&clock, line), Code::Refused, unknown);
    }
    // With --json each of them prints a document.
    let missing = "/nowhere.img";
    for (line, code, what) in [
        ("ctl show screen 3 --json", 0, ""),
        ("ctl health --json", 0, ""),
        ("ctl set ledBrightness=300 --json", 5, "range:ledBrightness"),
        ("ctl show currency XYZ --json", 5, unknown),
        ("ctl lights effect disco --json", 2, "rainbow"),
        ("ctl stauts --json", 2, "status"),
        ("ctl update firmware /nowhere.img --json", 1, missing),
        ("restore /nowhere.json --json", 1, "/nowhere.json"),
    ] {
        let (result, out, stderr) = result(&to(&clock, line).output().unwrap());
        assert_eq!(result, Some(code), "{line}: {stderr}");
        let document: Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{line}: {out}"));
        let error = document["error"].as_str().unwrap_or_default();
        assert!(error.contains(what), "{line}: {out}");
    }
    let (_, out, _) = result(
        &papertick(&[&unreachable[..], &["--json"]].concat())
            .output()
            .unwrap(),
    );
    assert!(out.contains("\"error\": \"no clock answers"), "{out}");
    for (code, what) in Code::TABLE {
        let row = format!("| {code} | {what} |");
        assert!(MANUAL.contains(&row), "{row}");
    }
}

/// The command still succeeds; the panel of the unknown icon stays empty.
#[test]
fn unknown_icons_and_characters_are_reported() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let picture = folder.path().join("panel.png");
    let render = ["render", "custom", "mdi:wfi", "☃", "-o"];
    let mut render = papertick(&render);
    render.arg(picture);
    for mut command in [render, to(&clock, "ctl show custom mdi:wfi ☃")] {
        let done = command.output().unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{stderr}");
        let unknown = "unknown icon `mdi:wfi`, its panel stays empty: did you mean `mdi:wifi`?";
        for words in [unknown, "no font has `☃`: not shown"] {
            assert!(stderr.contains(words), "{stderr}");
        }
    }
}

#[test]
fn a_password_is_set_by_file_or_variable() {
    let folder = folder();
    let data_dir = folder.path().to_str().unwrap();
    let clock = Clock::start(folder.path());
    let file = folder.path().join("password.txt");
    fs::write(&file, "correct horse\n").unwrap();
    let file = file.to_str().unwrap();
    let passwd = [
        "passwd",
        "--data-dir",
        data_dir,
        "--user",
        "satoshi",
        "--password-file",
        file,
    ];
    assert_fails(&mut papertick(&passwd), Code::Refused, "another clock");
    clock.end(Signal::TERM);
    let (code, _, stderr) = result(&papertick(&passwd).output().unwrap());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("satoshi") && !stderr.contains("correct horse"),
        "{stderr}"
    );
    let stored = fs::read_to_string(folder.path().join("settings.json")).unwrap();
    assert!(!stored.contains("correct horse"));

    let clock = Clock::start(folder.path());
    assert_eq!(clock.get("/api/status").status, 401);
    assert_fails(
        &mut to(&clock, "ctl status"),
        Code::Unauthorised,
        "PAPERTICK_PASSWORD",
    );
    let mut wrong = to(&clock, "ctl status --user satoshi");
    assert_fails(
        wrong.env("PAPERTICK_PASSWORD", "no"),
        Code::Unauthorised,
        "wrong",
    );
    let mut right = to(&clock, "ctl status --user satoshi");
    stdout_of(right.env("PAPERTICK_PASSWORD", "correct horse"));
    stdout_of(&mut to(
        &clock,
        &format!("ctl status --user satoshi --password-file {file}"),
    ));
    let mut piped = to(&clock, "ctl status --user satoshi --password-file -");
    stdout_of(piped.stdin(File::open(file).unwrap()));
    let mut watch = to(&clock, "watch --once --user satoshi");
    assert!(stdout_of(watch.env("PAPERTICK_PASSWORD", "correct horse")).contains('▀'));
    assert_fails(
        &mut to(&clock, "watch --once"),
        Code::Unauthorised,
        "PAPERTICK_PASSWORD",
    );
    clock.end(Signal::TERM);

    // An unusable password is refused.
    let long = folder.path().join("long.txt");
    fs::write(&long, "x".repeat(257)).unwrap();
    let mut too_long = passwd;
    *too_long.last_mut().unwrap() = long.to_str().unwrap();
    assert_fails(&mut papertick(&too_long), Code::Usage, "1 to 256 bytes");

    let clear = ["passwd", "--data-dir", data_dir, "--clear"];
    assert_eq!(papertick(&clear).output().unwrap().status.code(), Some(0));
    let clock = Clock::start(folder.path());
    assert_eq!(clock.get("/api/status").status, 200);
    assert_eq!(
        clock.setting("httpAuthPassSet"),
        false,
        "the password was removed"
    );
    let nowhere = ["passwd", "--data-dir", "/nowhere", "--clear"];
    assert_fails(&mut papertick(&nowhere), Code::Failed, "/nowhere");
    let foreign = crate::clock::folder();
    fs::write(foreign.path().join("letter.txt"), "hello").unwrap();
    let other = [
        "passwd",
        "--data-dir",
        foreign.path().to_str().unwrap(),
        "--clear",
    ];
    assert_fails(
        &mut papertick(&other),
        Code::Failed,
        "is not a data folder of papertick",
    );
    assert_eq!(fs::read_dir(foreign.path()).unwrap().count(), 1);
}

#[test]
fn the_default_user_is_papertick() {
    let folder = folder();
    let mut passwd = papertick(&["passwd", "--data-dir", folder.path().to_str().unwrap()]);
    stdout_of(passwd.env("PAPERTICK_NEW_PASSWORD", "correct horse"));
    let clock = Clock::start(folder.path());
    let status = || {
        let mut command = to(&clock, "ctl status");
        command.env("PAPERTICK_PASSWORD", "correct horse");
        command
    };
    stdout_of(&mut status());
    stdout_of(status().env("PAPERTICK_USER", "papertick"));
    assert_fails(
        status().env("PAPERTICK_USER", "other"),
        Code::Unauthorised,
        "wrong",
    );
}

/// A clock of another user could not read files of root.
#[test]
fn files_of_root_belong_to_the_owner_of_the_folder() {
    if !needs::met("root", geteuid().is_root()) {
        return;
    }
    let owner = 12_345;
    let folder = folder();
    chown(folder.path(), Some(owner), Some(owner)).unwrap();
    let foreign = tempfile::NamedTempFile::new_in(folder.path().parent().unwrap()).unwrap();
    fs::hard_link(foreign.path(), folder.path().join("lock")).unwrap();
    let data_dir = folder.path().to_str().unwrap();
    let mut passwd = papertick(&["passwd", "--data-dir", data_dir]);
    stdout_of(passwd.env("PAPERTICK_NEW_PASSWORD", "correct horse"));
    let files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        let facts = file.metadata().unwrap();
        assert_eq!(facts.uid() == owner, facts.nlink() == 1, "{file:?}");
    }
}

#[test]
fn settings_are_exported_and_imported() {
    let (folder, other) = (folder(), crate::clock::folder());
    let clock = Clock::start(folder.path());
    clock.patch(r#"{"ledBrightness": 33, "hostnamePrefix": "shop", "proxyPass": "planted"}"#);
    let file = folder.path().join("settings.json.kept");
    let name = file.to_str().unwrap().to_string();
    // Replaces a file that others could read.
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    stdout_of(&mut to(&clock, &format!("backup -o {name}")));
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    assert!(!fs::read_to_string(&file).unwrap().contains("planted"));

    let second = Clock::start(other.path());
    let dry = stdout_of(&mut to(&second, &format!("restore --dry-run {name}")));
    assert!(
        dry.contains("128 -> 33") && dry.contains("would change"),
        "{dry}"
    );
    assert_eq!(second.setting("ledBrightness"), 128);
    let done = stdout_of(&mut to(
        &second,
        &format!("restore --except hostnamePrefix {name}"),
    ));
    assert!(done.contains("1 setting changed"), "{done}");
    assert_eq!(second.setting("ledBrightness"), 33);
    assert_eq!(second.setting("hostnamePrefix"), "papertick");

    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(": 33", ": 333")).unwrap();
    let wrong = format!("restore {name}");
    assert_fails(
        &mut to(&second, &wrong),
        Code::Refused,
        "range:ledBrightness",
    );
    fs::write(&file, "{}").unwrap();
    assert_fails(&mut to(&second, &wrong), Code::Usage, "not a settings file");

    let at_rest = [
        "backup",
        "--data-dir",
        folder.path().to_str().unwrap(),
        "-o",
        &name,
    ];
    let mut at_rest = papertick(&at_rest);
    assert_fails(&mut at_rest, Code::Refused, "another clock");
    clock.end(Signal::TERM);
    second.end(Signal::TERM);
    stdout_of(&mut at_rest);
    assert_eq!(mode(), 0o600);
    let back = [
        "restore",
        "--data-dir",
        other.path().to_str().unwrap(),
        &name,
    ];
    let stored = || fs::read(other.path().join("settings.json")).unwrap();
    let before = stored();
    let dry = stdout_of(papertick(&back).arg("--dry-run"));
    assert!(dry.contains("would change"), "{dry}");
    assert_eq!(stored(), before, "a dry run changes nothing");
    stdout_of(&mut papertick(&back));
    let second = Clock::start(other.path());
    assert_eq!(second.setting("hostnamePrefix"), "shop");
    assert_eq!(second.setting("proxyPassSet"), true);
}

/// A terminal with a number of columns, and the program in it.
fn in_terminal(command: &mut Command, columns: u16) -> (File, Owned) {
    in_terminal_of(command, columns, "")
}

/// As `in_terminal`, with input that was typed before.
fn in_terminal_of(command: &mut Command, columns: u16, typed: &str) -> (File, Owned) {
    // A process of another test must not keep the terminal open.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let open = || {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(flags);
        options.open(Path::new(name.to_str().unwrap())).unwrap()
    };
    resize(&master, columns);
    let mut master = File::from(master);
    // Input before the terminal is open would be lost.
    let input = open();
    master.write_all(typed.as_bytes()).unwrap();
    let child = command
        .stdin(input)
        .stdout(open())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (master, Owned(child))
}

fn resize(master: &impl AsFd, columns: u16) {
    let size = Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).unwrap();
}

/// Reads a terminal until a condition holds.
fn read_until(terminal: &mut File, seen: &mut String, is_there: impl Fn(&str) -> bool) {
    let mut piece = [0; 4096];
    while !is_there(seen) {
        // Reading fails once the program has exited.
        let read = terminal.read(&mut piece).unwrap_or_default();
        assert!(read > 0, "the program exited: {}", seen.escape_debug());
        seen.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
}

#[test]
fn a_terminal_shows_the_panels_and_is_restored() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    for quit in [None, Some(b"xq".as_slice())] {
        watch_in_terminal(&clock, quit);
    }
}

/// Watches a clock until a signal, or until these keys are typed.
fn watch_in_terminal(clock: &Clock, quit: Option<&[u8]>) {
    stdout_of(&mut to(clock, "ctl show text HODL"));
    let (mut terminal, mut child) = in_terminal(&mut to(clock, "watch --with blocks"), 90);
    let modes = tcgetattr(&terminal).unwrap().local_modes;
    let mut seen = String::new();
    let frames = |count: usize| move |seen: &str| seen.matches("\x1b[H").count() >= count;
    let whole = move |seen: &str| frames(1)(seen) && seen.matches('▀').count() > 500;
    read_until(&mut terminal, &mut seen, whole);
    assert!(
        seen.starts_with("\x1b[?1049h\x1b[?25l"),
        "{}",
        seen.escape_debug()
    );
    let width = |seen: &str| {
        let frame = seen.rsplit("\x1b[H").next().unwrap();
        frame.split("\r\n").next().unwrap().matches('▀').count()
    };
    assert_eq!(width(&seen), 7 * 12, "as wide as the terminal");

    // A change and a new size are drawn.
    let before = seen.matches("\x1b[H").count();
    stdout_of(&mut to(clock, "ctl show text NEXT"));
    read_until(&mut terminal, &mut seen, frames(before + 1));
    let before = seen.matches("\x1b[H").count();
    resize(&terminal, 45);
    kill_process(Pid::from_child(&child), Signal::WINCH).unwrap();
    let ends = move |seen: &str| frames(before + 1)(seen) && seen.ends_with("\x1b[J");
    read_until(&mut terminal, &mut seen, ends);
    assert_eq!(width(&seen), 7 * 5);

    // Nothing is drawn without changes, so the next output is the end.
    match quit {
        Some(key) => terminal.write_all(key).unwrap(),
        None => kill_process(Pid::from_child(&child), Signal::INT).unwrap(),
    }
    let length = seen.len();
    read_until(&mut terminal, &mut seen, |seen| {
        seen.ends_with("\x1b[?1049l")
    });
    assert!(seen[length..].contains("\x1b[?25h"), "the cursor is back");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(tcgetattr(&terminal).unwrap().local_modes, modes);
}

#[test]
fn watch_reconnects_to_a_restarted_clock() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let address = clock.address().to_string();
    let (mut terminal, mut child) = in_terminal(&mut to(&clock, "watch --with blocks"), 90);
    let mut seen = String::new();
    read_until(&mut terminal, &mut seen, |seen| seen.contains("\x1b[H"));
    clock.end(Signal::TERM);
    read_until(&mut terminal, &mut seen, |seen| {
        seen.contains("the clock is away")
    });
    let clock = Clock::start_at(&address, folder.path());
    // The message below the picture has been removed.
    seen.clear();
    read_until(&mut terminal, &mut seen, |seen| {
        seen.contains("\x1b[H") && seen.ends_with("\x1b[J")
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(clock);
}

#[test]
fn watch_ends_in_a_stopped_terminal() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let (mut terminal, mut child) = in_terminal(&mut to(&clock, "watch --with blocks"), 90);
    let mut seen = String::new();
    read_until(&mut terminal, &mut seen, |seen| seen.ends_with("\x1b[J"));
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let stopped = File::open(name.to_str().unwrap()).unwrap();
    tcflow(&stopped, Action::OOff).unwrap();
    stdout_of(&mut to(&clock, "ctl show text NEXT"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    eventually("the program exits", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn watch_uses_the_graphics_of_the_terminal() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let drawn = stdout_of(&mut to(&clock, "watch --once --with kitty"));
    assert!(drawn.contains("\x1b_Ga=T,f=100"), "{drawn:?}");
    assert_fails(&mut to(&clock, "watch"), Code::Usage, "--once");
}

/// As `in_terminal`, in its own session with queries to the terminal; `answers` is the prepared answer.
fn in_own_terminal(program: &Command, answers: &str) -> (File, Owned) {
    let mut command = Command::new("/usr/bin/setsid");
    command.arg("--ctty").arg(program.get_program());
    command.args(program.get_args()).env_clear();
    in_terminal_of(&mut command, 90, answers)
}

#[test]
fn watch_queries_the_terminal() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let kitty = "\x1b_Gi=31;OK\x1b\\\x1b[?62;c";
    for (answers, part) in [
        (kitty, "\x1b_Ga=T,f=100"),
        ("\x1b[?62;4;c", "▀"),
        ("\x1b[?62;c", "▀"),
    ] {
        let (mut terminal, mut child) = in_own_terminal(&to(&clock, "watch"), answers);
        let mut seen = String::new();
        read_until(&mut terminal, &mut seen, |seen| {
            seen.contains("\x1b[H") && seen.ends_with("\x1b[J")
        });
        assert!(seen.contains(part), "{}", seen.escape_debug());
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_closed_pipe_ends_the_events_without_an_error() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let mut events = to(&clock, "ctl events");
    let mut child = events
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    // Makes events until the program notices the closed pipe.
    eventually("the program exits", || {
        stdout_of(&mut to(&clock, "ctl show text HODL"));
        child.try_wait().unwrap().is_some()
    });
    let (code, _, stderr) = result(&child.wait_with_output().unwrap());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let stopped = folder();
    let running = folder();
    let clock = Clock::start(running.path());
    let file = running.path().join("settings.json");
    let file = file.to_str().unwrap();
    stdout_of(&mut to(&clock, &format!("backup -o {file}")));
    drop(Clock::start(stopped.path()));
    let stopped = stopped.path().to_str().unwrap();
    let wiring = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wiring/v8.toml");
    for line in [
        "ctl status",
        "ctl status --json",
        "ctl settings fontName",
        "ctl panels",
        "ctl events",
        "ctl settings export",
        "watch --once",
        "backup",
        &format!("restore --dry-run {file}"),
    ] {
        assert_fails_when_full(to(&clock, line));
    }
    for line in [
        "--help",
        "completions bash",
        "render ticker",
        &format!("backup --data-dir {stopped}"),
        &format!("wiring check --file-only {wiring}"),
        &format!("wiring show {wiring}"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_fails_when_full(papertick(&words));
    }
}

/// Checks that a command fails with its standard output on a full disk.
fn assert_fails_when_full(mut command: Command) {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    let (code, _, stderr) = result(&output);
    assert_eq!(code, Some(Code::Failed as i32), "{command:?}: {stderr}");
    let names_output = stderr.contains("standard output: No space left");
    assert!(names_output, "{command:?}: {stderr}");
}

#[test]
fn only_visible_secrets_cause_a_warning() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let file = folder.path().join("secret");
    fs::write(&file, "correct horse\n").unwrap();
    let from_file = format!("ctl set otaPass=@{}", file.display());
    for (line, warns) in [
        ("ctl set otaPass=battery", true),
        ("ctl set otaPass=", false),
        (from_file.as_str(), false),
        ("ctl set fontName=inter", false),
    ] {
        let (code, _, stderr) = result(&to(&clock, line).output().unwrap());
        assert_eq!(code, Some(0), "{line}: {stderr}");
        assert_eq!(
            stderr.contains("others on this machine can see"),
            warns,
            "{line}: {stderr}"
        );
    }
    for (password, warns) in [("7letter", true), ("8letters", false)] {
        let data_dir = folder.path().join(password);
        fs::create_dir(&data_dir).unwrap();
        let mut passwd = papertick(&["passwd", "--data-dir", data_dir.to_str().unwrap()]);
        let output = passwd
            .env("PAPERTICK_NEW_PASSWORD", password)
            .output()
            .unwrap();
        let (code, _, stderr) = result(&output);
        assert_eq!(code, Some(0), "{password}: {stderr}");
        assert_eq!(stderr.contains("is short"), warns, "{password}: {stderr}");
    }
}

#[test]
fn a_password_is_typed_twice_without_echo() {
    for (second, code) in [("correct house", 2), ("correct horse", 0)] {
        let folder = folder();
        let mut command = Command::new("/usr/bin/setsid");
        command.args(["--ctty", "sh", "-c", "exec \"$@\" 2>&1", "sh"]);
        command
            .arg(env!("CARGO_BIN_EXE_papertick"))
            .args(["passwd", "--data-dir"]);
        command.arg(folder.path()).env_clear();
        let (mut terminal, mut child) = in_terminal_of(&mut command, 90, "");
        let mut seen = String::new();
        for (question, stderr) in [("New password: ", "correct horse"), ("Repeat it: ", second)] {
            read_until(&mut terminal, &mut seen, |seen| seen.ends_with(question));
            terminal
                .write_all(format!("{stderr}\n").as_bytes())
                .unwrap();
        }
        assert_eq!(child.wait().unwrap().code(), Some(code), "{seen}");
        let is_stored = folder.path().join("settings.json").exists();
        assert_eq!(is_stored, code == 0);
        assert!(!seen.contains("correct"), "{seen}");
    }
}

#[test]
fn bash_can_use_its_completions() {
    if !needs::met(
        "bash",
        Command::new("bash").arg("--version").output().is_ok(),
    ) {
        return;
    }
    let script = stdout_of(&mut papertick(&["completions", "bash"]));
    let mut bash = Command::new("bash")
        .args(["-c", COMPLETE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = bash.stdin.take().unwrap();
    let writer = thread::spawn(move || input.write_all(script.as_bytes()));
    let (code, out, stderr) = result(&bash.wait_with_output().unwrap());
    writer.join().unwrap().unwrap();
    let expected = "show\ninter interBold\nEUR\nblock-height block-fee-rate";
    assert_eq!((code, out.trim()), (Some(0), expected), "{stderr}");
}

/// Completes the last word of some lines, as bash splits them.
const COMPLETE: &str = r#"set -e; eval "$(cat)"
complete_words() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_LINE="${COMP_LINE// = /=}"; COMP_POINT=${#COMP_LINE}
    _papertick_word papertick "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    echo "${COMPREPLY[@]}"
}
complete_words papertick ctl sho
complete_words papertick ctl set fontName = int
complete_words papertick ctl show currency E
complete_words papertick render block-
"#;

/// Runs the commands of the documentation in order, in their own folder.
#[test]
fn every_command_of_the_documentation_works() {
    let (folder, at_rest) = (folder(), crate::clock::folder());
    Clock::start(at_rest.path()).end(Signal::TERM);
    let clock = Clock::start(folder.path());
    let program = Path::new(env!("CARGO_BIN_EXE_papertick"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let blocks = MANUAL.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let mut count = 0;
    for line in lines.filter(|line| !line.starts_with("export ")) {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", &path)
            .env("HOME", folder.path())
            .env("PAPERTICK_HOST", clock.address().to_string())
            .env("PAPERTICK_LISTEN", clock.address().to_string())
            .env("DATA", at_rest.path())
            .output()
            .unwrap();
        let (code, _, stderr) = result(&output);
        assert_eq!(code, Some(0), "{line}: {stderr}");
        count += 1;
    }
    assert!(count > 25, "{count}");
    eventually("the clock is still there", || {
        clock.get("/api/status").status == 200
    });
    for name in [
        "panels.png",
        "settings.json",
        "papertick.bash",
        "man1/papertick-ctl.1",
    ] {
        let length = fs::metadata(folder.path().join(name)).map(|file| file.len());
        assert!(length.is_ok_and(|length| length > 100), "{name}");
    }
}

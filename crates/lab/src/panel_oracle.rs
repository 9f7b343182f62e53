//! Compares the makers' own drivers of panels with ours, by recordings of `.ci/panel-oracle`.
//!
//! Each recording is sent to the emulated chip, which must show the pictures. Our driver shows the same pictures. What the
//! two have sent before the last refresh must be equal, except for the differences in `panel-differences.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::Path,
    time::Duration,
};

use board::{
    assembly::{ExpanderBus, Hardware, PanelWorker},
    parts::{
        epaper::{FullWaveform, PanelRotation, find, sequence::ssd16xx::command},
        mcp23017::LineLevel,
    },
    ports::Outcome,
    wiring::{self, Wiring},
};
use device::refresh::Refresh;
use embedded_hal::{digital::OutputPin, spi::SpiBus};
use render::Bitmap;
use sha2::{Digest, Sha256};

use crate::circuit::{Circuit, Flow};

/// The reviewed differences.
const REVIEWED: &str = include_str!("../panel-differences.md");

/// A wiring with one panel; its model is replaced.
const WIRING: &str = "waveshare-7.5-v2";

/// Data that is longer is a picture.
const PARAMETERS_MAX: usize = 40;

/// Command of an UC8179 that starts a refresh.
const UC_REFRESH: u8 = 0x12;

/// The makers' drivers look at the busy line at this interval.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The bit of a sequence of an SSD1680 that shows the picture.
const DISPLAYS: u8 = 0x04;

/// What a panel receives.
enum Sent<'a> {
    Reset,
    Command(u8, &'a [u8]),
}

/// One event of a recording.
enum Event {
    Reset(LineLevel),
    Pause(Duration),
    /// Waits until the panel is idle.
    Wait,
    /// A command and its data.
    Send(u8, Vec<u8>),
    /// The panel must show this picture now.
    Shown(Bitmap),
}

/// A difference: model, mode, what differs, and its value in both drivers.
type Difference = [String; 5];

/// Compares all recordings of a folder; returns a table, or the differences that are not reviewed and those that are gone.
///
/// # Errors
/// There are such differences, or a recording cannot be read.
pub fn compare(folder: &Path) -> Result<String, String> {
    let unread = |error| format!("{} cannot be read: {error}", folder.display());
    let (mut table, mut found) = (String::new(), BTreeSet::new());
    for (name, text) in recordings(folder).map_err(unread)? {
        let recording = name.rsplit_once('.').zip(parse(&text));
        let Some(((model, mode), events)) = recording else {
            return Err(format!("{name} is not a recording"));
        };
        let differences =
            compare_recording(model, mode, &events).map_err(|why| format!("{name}: {why}"))?;
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "{name:30} {:>3} reviewed differences",
            differences.len()
        );
        found.extend(
            differences.into_iter().map(|[what, theirs, ours]| {
                [model.to_owned(), mode.to_owned(), what, theirs, ours]
            }),
        );
    }
    let reviewed = reviewed();
    let list = |differences: Vec<&Difference>| {
        let rows = differences.into_iter().map(|row| row.join(" | "));
        rows.fold(String::new(), |list, row| list + "\n| " + &row + " |")
    };
    let new = list(found.difference(&reviewed).collect());
    let gone = list(reviewed.difference(&found).collect());
    if new.is_empty() && gone.is_empty() {
        return Ok(table);
    }
    Err(format!(
        "differences that are not in the list:{new}\ndifferences of the list that no longer occur:{gone}"
    ))
}

/// The recordings of a folder by their names.
fn recordings(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let read = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok((name, fs::read_to_string(entry.path())?))
    };
    fs::read_dir(folder)?.map(read).collect()
}

/// The rows of the reviewed table; one row can be for several modes.
fn reviewed() -> BTreeSet<Difference> {
    REVIEWED
        .lines()
        .filter_map(|line| {
            let cells = line
                .strip_prefix('|')?
                .split('|')
                .map(str::trim)
                .map(str::to_owned);
            <[String; 7]>::try_from(cells.collect::<Vec<_>>()).ok()
        })
        // The header.
        .skip(2)
        .flat_map(|[model, modes, what, theirs, ours, ..]| {
            let row = |mode: &str| [&model, mode, &what, &theirs, &ours].map(str::to_owned);
            modes.split(", ").map(row).collect::<Vec<_>>()
        })
        .collect()
}

fn parse(text: &str) -> Option<Vec<Event>> {
    let event = |line: &str| {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match (first, rest) {
            ("wait", "") => Event::Wait,
            ("reset", "low") => Event::Reset(LineLevel::Low),
            ("reset", "high") => Event::Reset(LineLevel::High),
            ("pause", millis) => Event::Pause(Duration::from_millis(millis.parse().ok()?)),
            ("shown", picture) => {
                let [width, height, rows] =
                    picture.split(' ').collect::<Vec<_>>().try_into().ok()?;
                let (width, height, rows) = (
                    width.parse::<u16>().ok()?,
                    height.parse().ok()?,
                    hex::decode(rows).ok()?,
                );
                let stride = usize::from(width).div_ceil(8);
                Event::Shown(Bitmap::from_ink(width, height, |x, y| {
                    let byte = rows.get(usize::from(y) * stride + usize::from(x) / 8);
                    byte.is_some_and(|byte| byte << (x % 8) & 0x80 != 0)
                }))
            }
            (command, data) => Event::Send(
                u8::from_str_radix(command, 16).ok()?,
                hex::decode(data).ok()?,
            ),
        })
    };
    text.lines().map(event).collect()
}

/// The differences between a recording and our driver.
fn compare_recording(
    model: &str,
    mode: &str,
    events: &[Event],
) -> Result<Vec<[String; 3]>, String> {
    let wiring = wiring(model, mode)?;
    let mut differences = feed(&wiring, events)?;
    let pictures: Vec<&Bitmap> = events
        .iter()
        .filter_map(|event| match event {
            Event::Shown(picture) => Some(picture),
            Event::Reset(_) | Event::Pause(_) | Event::Wait | Event::Send(..) => None,
        })
        .collect();
    let sent = events.iter().filter_map(|event| match event {
        Event::Send(command, data) => Some(Sent::Command(*command, data)),
        Event::Reset(_) => Some(Sent::Reset),
        Event::Pause(_) | Event::Wait | Event::Shown(_) => None,
    });
    let theirs = before_last_refresh(&sent.collect::<Vec<_>>());
    let circuit = Circuit::new(&wiring, Flow::Stepped);
    run(&circuit, &wiring, mode, &pictures)?;
    let commands = circuit.commands();
    let sent = commands
        .iter()
        .map(|(command, data)| Sent::Command(*command, data));
    let ours = before_last_refresh(&sent.collect::<Vec<_>>());
    for register in theirs.keys().chain(ours.keys()).collect::<BTreeSet<_>>() {
        let [theirs, ours] = [&theirs, &ours].map(|sent| {
            sent.get(register)
                .map_or_else(|| "-".to_owned(), |data| describe(data, &pictures))
        });
        if theirs != ours {
            differences.push([format!("{register:02X}"), theirs, ours]);
        }
    }
    let end = |command: u8, data: &[u8]| format!("{command:02X} {}", describe(data, &[]));
    let theirs = events.iter().rev().find_map(|event| match event {
        Event::Send(command, data) => Some(end(*command, data)),
        Event::Shown(_) => Some("-".to_owned()),
        Event::Reset(_) | Event::Pause(_) | Event::Wait => None,
    });
    let ours = commands.last().map(|(command, data)| end(*command, data));
    if let Some((theirs, ours)) = theirs.zip(ours).filter(|(theirs, ours)| theirs != ours) {
        differences.push(["end".to_owned(), theirs, ours]);
    }
    Ok(differences)
}

/// The wiring of a model whose picture is not turned.
fn wiring(model: &str, mode: &str) -> Result<Wiring, String> {
    let mut wiring = wiring::base(WIRING).ok_or("there is no wiring with one panel")?;
    for panel in &mut wiring.panels {
        panel.model = find(model).ok_or("the model is not supported")?;
        panel.rotation = PanelRotation::Upright;
        panel.full =
            if mode.ends_with("fast") { FullWaveform::Warm } else { FullWaveform::Measured };
    }
    Ok(wiring)
}

/// Sends a recording to the emulated chip; returns its violations, and the pictures that it does not show.
fn feed(wiring: &Wiring, events: &[Event]) -> Result<Vec<[String; 3]>, String> {
    let circuit = Circuit::new(wiring, Flow::Stepped);
    let open = |line, level| {
        circuit
            .output(line, level)
            .map_err(|error| error.to_string())
    };
    let panel = wiring.panels.first().ok_or("a wiring without a panel")?;
    let _power = wiring
        .spi
        .power
        .iter()
        .map(|line| open(line, LineLevel::High))
        .collect::<Result<Vec<_>, _>>()?;
    let _selected = open(&panel.select, LineLevel::Low)?;
    let (mut reset, mut is_data) = (
        open(&panel.reset, LineLevel::High)?,
        open(&wiring.spi.command, LineLevel::High)?,
    );
    let mut spi = circuit
        .spi(&wiring.spi.device, wiring.spi.hz)
        .map_err(|error| error.to_string())?;
    let (mut wrong, mut shown) = (Vec::new(), 0);
    for event in events {
        let Ok(()) = match event {
            Event::Reset(LineLevel::Low) => reset.set_low(),
            Event::Reset(LineLevel::High) => reset.set_high(),
            Event::Pause(time) => {
                circuit.advance(circuit.now() + *time);
                Ok(())
            }
            Event::Wait => {
                while let Some(change) = circuit.next_change() {
                    circuit.advance(change + BUSY_POLL_INTERVAL);
                }
                Ok(())
            }
            Event::Send(command, data) => is_data
                .set_low()
                .and_then(|()| spi.write(&[*command]))
                .and_then(|()| is_data.set_high())
                .and_then(|()| spi.write(data)),
            Event::Shown(picture) => {
                shown += 1;
                if circuit.glass(0).as_ref() != Some(picture) {
                    wrong.push([
                        format!("picture {shown}"),
                        "not shown".to_owned(),
                        "shown".to_owned(),
                    ]);
                }
                Ok(())
            }
        };
    }
    let violations: BTreeSet<String> = circuit
        .violations()
        .iter()
        .map(|text| general(text))
        .collect();
    let row = |violation| ["violation".to_owned(), violation, "-".to_owned()];
    wrong.extend(violations.into_iter().map(row));
    Ok(wrong)
}

/// A violation without the name of the panel, and the same for all commands that come too early.
fn general(violation: &str) -> String {
    let text = violation.split(": ").last().unwrap_or_default();
    match text.split_once(' ').map(|(_, rest)| rest.split_once(' ')) {
        Some(Some((_, when))) if text.starts_with("command ") => format!("commands {when}"),
        _ => text.to_owned(),
    }
}

/// Shows the pictures with our driver.
fn run(circuit: &Circuit, wiring: &Wiring, mode: &str, pictures: &[&Bitmap]) -> Result<(), String> {
    circuit.record();
    let wire = ExpanderBus::open(circuit, wiring)?;
    let mut worker = PanelWorker::open(circuit.clone(), wire, wiring)?;
    for (number, picture) in pictures.iter().enumerate() {
        let refresh = if mode.ends_with("partial") && number > 0 {
            Refresh::Partial
        } else {
            Refresh::Full
        };
        worker
            .show(0, picture, refresh)
            .map_err(|fault| fault.name().to_owned())?;
        let mut outcome = None;
        while outcome.is_none() {
            outcome = advance(circuit, &mut worker)?;
        }
        if outcome != Some(Ok(refresh)) {
            return Err(format!("our driver: picture {}: {outcome:?}", number + 1));
        }
        if circuit.glass(0).as_ref() != Some(*picture) {
            return Err(format!("our driver does not show picture {}", number + 1));
        }
    }
    while !worker.can_end() && advance(circuit, &mut worker).is_ok() {}
    let violations = circuit.violations();
    if violations.is_empty() {
        Ok(())
    } else {
        Err(format!("our driver: {}", violations.join("; ")))
    }
}

/// Lets our driver work until it has to wait; returns the outcome of a refresh.
fn advance(
    circuit: &Circuit,
    worker: &mut PanelWorker<Circuit>,
) -> Result<Option<Outcome>, String> {
    let (ended, wake) = worker.poll();
    if let Some(at) = wake.at {
        let edge = wake.on_edge.then(|| circuit.next_change()).flatten();
        circuit.advance(edge.map_or(at, |edge| at.min(edge)));
    } else if ended.is_empty() {
        return Err("our driver does not go on".to_owned());
    }
    Ok(ended.first().map(|(_, outcome)| *outcome))
}

/// The data of each command as of the last refresh: since a reset, or since the start for pictures.
///
/// The sequences of an SSD1680 since the reset that show nothing are listed before that of the refresh.
fn before_last_refresh(sent: &[Sent<'_>]) -> BTreeMap<u8, Vec<u8>> {
    let is_ssd = sent
        .iter()
        .any(|sent| matches!(sent, Sent::Command(command::WRITE_NEW, _)));
    let (mut registers, mut pictures) = (BTreeMap::<u8, Vec<u8>>::new(), BTreeMap::new());
    let (mut prepared, mut before) = (Vec::new(), BTreeMap::new());
    for sent in sent {
        match *sent {
            Sent::Reset | Sent::Command(command::SOFTWARE_RESET, _) if is_ssd => {
                registers.clear();
                prepared.clear();
            }
            Sent::Reset => registers.clear(),
            Sent::Command(command::ACTIVATE, _) if is_ssd => {
                let mut sequence = registers
                    .get(&command::UPDATE_SEQUENCE)
                    .cloned()
                    .unwrap_or_default();
                if sequence.iter().all(|sequence| sequence & DISPLAYS != 0) {
                    before = registers.clone();
                    before.append(&mut pictures.clone());
                    let all = before.entry(command::UPDATE_SEQUENCE);
                    all.and_modify(|all| all.splice(..0, prepared.clone()).for_each(drop));
                } else {
                    sequence.retain(|sequence| !prepared.contains(sequence));
                    prepared.append(&mut sequence);
                }
            }
            Sent::Command(command, data) if data.len() > PARAMETERS_MAX => {
                pictures.insert(command, data.to_vec());
            }
            Sent::Command(command, data) => {
                registers.insert(command, data.to_vec());
                if command == UC_REFRESH && !is_ssd {
                    before = registers.clone();
                    before.append(&mut pictures.clone());
                }
            }
        }
    }
    before
}

/// A value for the table. `pictures` are those that the panel has shown.
fn describe(data: &[u8], pictures: &[&Bitmap]) -> String {
    if data.is_empty() {
        return "sent".to_owned();
    }
    if data.len() <= PARAMETERS_MAX {
        return data
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect::<Vec<_>>()
            .join(" ");
    }
    if data.iter().all(|byte| *byte == data[0]) {
        return format!("all {:02X}", data[0]);
    }
    for (name, picture) in ["new picture", "old picture"]
        .into_iter()
        .zip(pictures.iter().rev())
    {
        let part = data.len() / usize::from(picture.height());
        for first in [0, picture.stride().saturating_sub(part)] {
            let place = match (part == picture.stride(), first) {
                (true, _) => "",
                (false, 0) => ", left",
                (false, _) => ", right",
            };
            if shows(data, picture, first, false) {
                return format!("{name}{place}");
            }
            if shows(data, picture, first, true) {
                return format!("inverse of the {name}{place}");
            }
        }
    }
    format!("data {}", hex::encode(&Sha256::digest(data)[..4]))
}

/// Returns whether data are the pixels of a picture, or their inverse, from a byte of its rows on; bit 1 is white.
fn shows(data: &[u8], picture: &Bitmap, first: usize, is_inverse: bool) -> bool {
    let part = data.len() / usize::from(picture.height());
    part > 0
        && (0..picture.height())
            .zip(data.chunks_exact(part))
            .all(|(y, row)| {
                let pixels = (8 * first as u16..picture.width()).zip(
                    row.iter()
                        .flat_map(|byte| (0..8).map(move |bit| byte << bit & 0x80)),
                );
                pixels
                    .into_iter()
                    .all(|(x, white)| picture.is_ink(x, y) == ((white == 0) != is_inverse))
            })
}

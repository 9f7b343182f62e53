//! The terminal: how large it is, what it can draw, and how it is left as it was.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Read, Write},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use tokio::{
    runtime::{self, Runtime},
    sync::watch,
};

use super::{kitty, size::Size, with::With};

/// Size of a terminal that does not say it.
const UNKNOWN: Size = Size {
    columns: 80,
    rows: 24,
};

/// Asks whether there are the graphics of kitty, and then for the kind of the terminal, which every one answers.
const QUESTIONS: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c";

/// Most bytes of answers.
const ANSWERS_MAX: usize = 1024;

/// Time for which an answer is waited for, tenths of a second.
const ANSWER_TENTHS: u8 = 3;

/// Begins on a screen of its own, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";

/// Gives the screen from before back.
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// Longest time that a terminal has for giving it back, before the program ends without.
const LEAVING_MAX: Duration = Duration::from_secs(1);

/// How large the terminal is now.
pub(super) fn size() -> Size {
    let Ok(told) = tcgetwinsize(io::stdout()) else {
        return UNKNOWN;
    };
    let some = |number: u16, otherwise: usize| match usize::from(number) {
        0 => otherwise,
        number => number,
    };
    Size {
        columns: some(told.ws_col, UNKNOWN.columns),
        rows: some(told.ws_row, UNKNOWN.rows),
    }
}

/// Tells whether there is a terminal to draw on.
pub(super) fn is_there() -> bool {
    io::stdout().is_terminal()
}

/// The best that the terminal says it can do.
pub(super) fn best() -> With {
    answers().map_or(With::Blocks, |answers| can(&answers))
}

/// What a terminal can do that answers this.
fn can(answers: &str) -> With {
    match answers.contains("\x1b_Gi=31;OK") {
        true => With::Kitty,
        false => With::Blocks,
    }
}

/// What the terminal answers; none if it cannot be asked.
fn answers() -> Option<String> {
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()?;
    let before = tcgetattr(&terminal).ok()?;
    tcsetattr(&terminal, OptionalActions::Now, &quiet(before.clone())).ok()?;
    let answers = asked(&mut terminal);
    // What was typed meanwhile is no answer to anything.
    let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
    answers
}

/// A terminal that shows nothing of what it is sent back and does not wait for a whole line.
fn quiet(mut mode: Termios) -> Termios {
    mode.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    mode.special_codes[SpecialCodeIndex::VMIN] = 0;
    mode.special_codes[SpecialCodeIndex::VTIME] = ANSWER_TENTHS;
    mode
}

fn asked(terminal: &mut File) -> Option<String> {
    terminal.write_all(QUESTIONS).ok()?;
    let mut answers = Vec::new();
    let mut piece = [0; 64];
    while answers.len() < ANSWERS_MAX {
        let read = terminal.read(&mut piece).ok()?;
        answers.extend_from_slice(&piece[..read]);
        // The answer to the second question is the last.
        let text = String::from_utf8_lossy(&answers);
        let ended = text
            .rsplit_once("\x1b[?")
            .is_some_and(|(_, kind)| kind.contains('c'));
        if read == 0 || ended {
            break;
        }
    }
    String::from_utf8(answers).ok()
}

/// A screen of its own, which gives the one from before back at its end.
///
/// It is written beside the program, because a terminal that is stopped takes nothing for as long as its owner likes.
#[derive(Debug)]
pub(super) struct TerminalScreen {
    content: watch::Sender<TerminalContent>,
    /// Dropped after the content, at whose end the terminal is given back.
    _left: RestoreWait,
}

/// Dropping it waits until the terminal is restored.
#[derive(Debug)]
struct RestoreWait(mpsc::Receiver<()>);

/// The text and the picture on the terminal.
#[derive(Debug, Default)]
struct TerminalContent {
    picture: String,
    words: String,
}

impl TerminalScreen {
    /// Begins.
    pub(super) fn enter() -> io::Result<TerminalScreen> {
        let (content, to_show) = watch::channel(TerminalContent::default());
        let (leave, left) = mpsc::channel();
        let waits = runtime::Builder::new_current_thread().build()?;
        thread::spawn(move || {
            show(to_show, &waits);
            // The program may have ended.
            let _ = leave.send(());
        });
        Ok(TerminalScreen {
            content,
            _left: RestoreWait(left),
        })
    }

    /// Draws a picture in the place of the one before; one that could not be written until then is left out.
    pub(super) fn draw(&self, picture: String) {
        let words = String::new();
        self.content
            .send_replace(TerminalContent { picture, words });
    }

    /// Says something below the picture.
    pub(super) fn say(&self, words: &str) {
        self.content.send_if_modified(|content| {
            let is_new = content.words != words;
            words.clone_into(&mut content.words);
            is_new
        });
    }
}

impl Drop for RestoreWait {
    fn drop(&mut self) {
        // A terminal that takes nothing cannot be given back.
        let _ = self.0.recv_timeout(LEAVING_MAX);
    }
}

/// Writes what is to be seen, always the newest, until nothing is any more.
fn show(mut content: watch::Receiver<TerminalContent>, waits: &Runtime) {
    print(ENTER);
    while waits.block_on(content.changed()).is_ok() {
        let text = {
            let TerminalContent { picture, words } = &*content.borrow_and_update();
            let below = if words.is_empty() {
                ""
            } else {
                "\r\x1b[0m\x1b[K"
            };
            format!("\x1b[H{picture}\x1b[0m\x1b[J{below}{words}")
        };
        print(&text);
    }
    print(kitty::CLEAR);
    print(LEAVE);
}

/// Writes to the terminal at once.
pub(super) fn print(text: &str) {
    let mut output = io::stdout().lock();
    // Nobody may look any more.
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}

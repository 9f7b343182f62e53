//! The terminal: its size and capabilities, and a screen that is restored at the end.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Read, Write},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetwinsize, tcsetattr,
};

use tokio::{
    runtime::{self, Runtime},
    sync::{Notify, watch},
};

use super::{drawing::DrawingMethod, kitty, size::Size};
use crate::standard_output;

/// Size of a terminal that does not report it.
const DEFAULT_SIZE: Size = Size {
    columns: 80,
    rows: 24,
};

/// Queries the graphics protocol of kitty, and then the device attributes, which every terminal answers.
const QUERIES: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c";

/// Largest answers of a terminal, bytes.
const ANSWERS_MAX: usize = 1024;

/// Timeout of an answer, tenths of a second.
const ANSWER_TENTHS: u8 = 3;

/// Switches to the alternate screen and hides the cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";

/// Shows the cursor and restores the screen.
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// Timeout to restore the terminal when the program ends.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn size() -> Size {
    let Ok(reported) = tcgetwinsize(io::stdout()) else {
        return DEFAULT_SIZE;
    };
    let or_default = |number: u16, otherwise: usize| match usize::from(number) {
        0 => otherwise,
        number => number,
    };
    Size {
        columns: or_default(reported.ws_col, DEFAULT_SIZE.columns),
        rows: or_default(reported.ws_row, DEFAULT_SIZE.rows),
    }
}

/// Whether standard output is a terminal.
pub(super) fn is_available() -> bool {
    io::stdout().is_terminal()
}

/// The best method that the terminal supports.
pub(super) fn best_method() -> DrawingMethod {
    query().map_or(DrawingMethod::Blocks, |answers| method_for(&answers))
}

/// The best method for a terminal with these answers.
fn method_for(answers: &str) -> DrawingMethod {
    if answers.contains("\x1b_Gi=31;OK") {
        DrawingMethod::Kitty
    } else {
        DrawingMethod::Blocks
    }
}

/// The answers of the terminal to the queries. `None` without a terminal.
fn query() -> Option<String> {
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()?;
    let before = tcgetattr(&terminal).ok()?;
    let mode = key_mode(before.clone(), 0, ANSWER_TENTHS);
    tcsetattr(&terminal, OptionalActions::Now, &mode).ok()?;
    let answers = read_answers(&mut terminal);
    // Discards input that was typed meanwhile.
    let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
    answers
}

/// Disables echo and line buffering. A read waits for this many bytes, or for this many tenths of a second.
fn key_mode(mut mode: Termios, bytes: u8, tenths: u8) -> Termios {
    mode.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    mode.special_codes[SpecialCodeIndex::VMIN] = bytes;
    mode.special_codes[SpecialCodeIndex::VTIME] = tenths;
    mode
}

/// Reads keys until one quits, or the terminal is closed.
fn read_keys(quit: &Notify) {
    let keys = io::stdin().lock().bytes();
    if keys
        .map_while(Result::ok)
        .any(|key| matches!(key, b'q' | b'Q'))
    {
        quit.notify_one();
    }
}

fn read_answers(terminal: &mut File) -> Option<String> {
    terminal.write_all(QUERIES).ok()?;
    let mut answers = Vec::new();
    let mut chunk = [0; 64];
    while answers.len() < ANSWERS_MAX {
        let read = terminal.read(&mut chunk).ok()?;
        answers.extend_from_slice(&chunk[..read]);
        // The answer to the second query is the last one.
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

/// The alternate screen of the terminal; dropping it restores the previous one.
///
/// A thread writes to the terminal, because writes block while the terminal is stopped (Ctrl-S).
#[derive(Debug)]
pub(super) struct TerminalScreen {
    quit: Arc<Notify>,
    _keys: Option<KeyMode>,
    content: watch::Sender<TerminalContent>,
    /// Dropped after `content`, which makes the thread restore the terminal.
    _restored: RestoreWait,
}

/// Standard input that passes each key at once; dropping it restores the previous mode.
#[derive(Debug)]
struct KeyMode(Termios);

impl Drop for KeyMode {
    fn drop(&mut self) {
        // Both fail if the terminal is gone. `OptionalActions::Flush` would wait for a stopped terminal.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// Dropping it waits until the terminal is restored.
#[derive(Debug)]
struct RestoreWait(mpsc::Receiver<()>);

/// The text and the picture on the terminal.
#[derive(Debug, Default)]
struct TerminalContent {
    picture: String,
    message: String,
}

impl TerminalScreen {
    /// Switches to the alternate screen.
    pub(super) fn enter() -> io::Result<TerminalScreen> {
        let (content, receiver) = watch::channel(TerminalContent::default());
        let (done, restored) = mpsc::channel();
        let runtime = runtime::Builder::new_current_thread().build()?;
        thread::spawn(move || {
            show(receiver, &runtime);
            // Fails if the program does not wait any more.
            let _ = done.send(());
        });
        let quit = Arc::new(Notify::new());
        // Fails if standard input is no terminal.
        let keys = tcgetattr(io::stdin()).ok().map(KeyMode);
        if let Some(KeyMode(mode)) = &keys {
            tcsetattr(
                io::stdin(),
                OptionalActions::Now,
                &key_mode(mode.clone(), 1, 0),
            )?;
            let quit = Arc::clone(&quit);
            thread::spawn(move || read_keys(&quit));
        }
        Ok(TerminalScreen {
            quit,
            _keys: keys,
            content,
            _restored: RestoreWait(restored),
        })
    }

    pub(super) async fn quit_key(&self) {
        self.quit.notified().await;
    }

    /// Replaces the picture. Pictures that were not written yet are skipped.
    pub(super) fn draw(&self, picture: String) {
        let message = String::new();
        self.content
            .send_replace(TerminalContent { picture, message });
    }

    /// Shows a message below the picture.
    pub(super) fn set_message(&self, message: &str) {
        self.content.send_if_modified(|content| {
            let is_new = content.message != message;
            message.clone_into(&mut content.message);
            is_new
        });
    }
}

impl Drop for RestoreWait {
    fn drop(&mut self) {
        // A stopped terminal cannot be restored.
        let _ = self.0.recv_timeout(RESTORE_TIMEOUT);
    }
}

/// Writes the newest content until its sender is dropped, then restores the terminal.
fn show(mut content: watch::Receiver<TerminalContent>, runtime: &Runtime) {
    print(ENTER);
    while runtime.block_on(content.changed()).is_ok() {
        let text = {
            let TerminalContent { picture, message } = &*content.borrow_and_update();
            let line = if message.is_empty() { "" } else { "\r\x1b[0m\x1b[K" };
            format!("\x1b[H{picture}\x1b[0m\x1b[J{line}{message}")
        };
        print(&text);
    }
    print(kitty::CLEAR);
    print(LEAVE);
}

/// Writes to the terminal at once.
fn print(text: &str) {
    // Fails if the terminal is gone.
    let _ = standard_output::try_write(text.as_bytes());
}

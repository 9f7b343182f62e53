//! A time limit for a test that talks to something which may never answer.

use std::{
    io::{self, Write},
    process,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

/// Time that a test may take, also on a machine that does ten other things.
const LIMIT: Duration = Duration::from_secs(180);

/// Time that a test gets to fail by itself when what it talks to has gone.
const GRACE: Duration = Duration::from_secs(20);

/// Watches over a test until it is dropped.
pub(crate) struct Limit {
    _open: Sender<()>,
}

impl Limit {
    /// Watches over the test that calls it: kills the process that it talks to when the time is over, and ends all tests
    /// if that does not end it. Without a limit a test that hangs hangs the run, and nobody learns which it was.
    pub(crate) fn new(other: Option<Pid>) -> Limit {
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let (open, ended) = channel::<()>();
        thread::spawn(move || {
            let is_over = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !is_over(LIMIT) {
                return;
            }
            let _ = writeln!(
                io::stderr(),
                "{test} takes longer than {} s",
                LIMIT.as_secs()
            );
            if let Some(other) = other {
                let _ = kill_process(other, Signal::KILL);
                if !is_over(GRACE) {
                    return;
                }
            }
            process::exit(1);
        });
        Limit { _open: open }
    }
}

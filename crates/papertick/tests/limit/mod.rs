//! A timeout for a test with a process that may never answer.

use std::{
    io::{self, Write},
    process,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

/// Timeout of a test, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// Time for a test to fail after its process was killed.
const GRACE: Duration = Duration::from_secs(20);

/// Limits the time of a test until it is dropped.
pub(crate) struct Limit {
    _open: Sender<()>,
}

impl Limit {
    /// After the timeout, kills the other process, and aborts all tests if that does not end the test. Without a limit
    /// the whole run would hang, without the name of the test.
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

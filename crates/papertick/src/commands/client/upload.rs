//! The upload of a file to a clock, in chunks, with a progress bar.

use std::{
    convert::Infallible,
    fs::File,
    io::{self, IsTerminal, Read, Write},
    path::Path,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use storage::disk::open_file;
use tokio::{sync::Notify, time::timeout};

use crate::{commands::files::cannot_read, failure::Failure};

/// Size of a chunk, bytes.
const CHUNK: usize = 32 * 1024;

/// Width of the progress bar, characters.
const BAR_WIDTH: u64 = 32;

/// Longest wait for `100 Continue`: a server that does not support it waits for the file.
const CONTINUE_TIMEOUT: Duration = Duration::from_secs(1);

/// Start and end of an upload: it starts when the server accepts it, and ends when the server has responded.
#[derive(Debug, Clone, Default)]
pub(crate) struct UploadProgress(Arc<ProgressState>);

#[derive(Debug, Default)]
struct ProgressState {
    accepted: Notify,
    is_stopped: AtomicBool,
}

impl UploadProgress {
    /// The server accepts the file.
    pub(crate) fn start(&self) {
        self.0.accepted.notify_one();
    }

    /// The server has responded.
    pub(crate) fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    async fn started(self) {
        // After the timeout the file is sent all the same.
        let _ = timeout(CONTINUE_TIMEOUT, self.0.accepted.notified()).await;
    }
}

pub(crate) struct FileUpload {
    file: File,
    progress: UploadProgress,
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    length: u64,
    sent: u64,
    bar: ProgressBar,
}

/// The progress bar on standard error, if that is a terminal.
#[derive(Debug)]
struct ProgressBar {
    is_terminal: bool,
    /// Percentage shown last.
    shown: Option<u64>,
}

impl FileUpload {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn open(path: &Path, progress: &UploadProgress) -> Result<FileUpload, Failure> {
        let failure = |error: io::Error| cannot_read(path, &error);
        let file = open_file(path).map_err(failure)?;
        let length = file.metadata().map_err(failure)?.len();
        Ok(FileUpload {
            file,
            progress: progress.clone(),
            wait: Some(Box::pin(progress.clone().started())),
            length,
            sent: 0,
            bar: ProgressBar {
                is_terminal: io::stderr().is_terminal(),
                shown: None,
            },
        })
    }

    /// Its length, bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }
}

impl Body for FileUpload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(context));
            self.wait = None;
        }
        if self.progress.0.is_stopped.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let left = usize::try_from(self.length - self.sent).unwrap_or(usize::MAX);
        let mut chunk = vec![0; CHUNK.min(left)];
        // If the file has become shorter, the upload ends early and the clock notices it by the length.
        let read = self.file.read(&mut chunk).unwrap_or_default();
        chunk.truncate(read);
        if chunk.is_empty() {
            self.bar.end();
            return Poll::Ready(None);
        }
        self.sent += chunk.len() as u64;
        let (sent, length) = (self.sent, self.length);
        self.bar.show(sent, length);
        Poll::Ready(Some(Ok(Frame::data(chunk.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.sent == self.length
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length - self.sent)
    }
}

impl ProgressBar {
    fn show(&mut self, sent: u64, length: u64) {
        let percent = percent(sent, length);
        if self.is_terminal && self.shown != Some(percent) {
            self.shown = Some(percent);
            // Fails if the terminal is gone.
            let _ = write!(io::stderr(), "\r{}", line(sent, length));
            if sent == length {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        if self.shown.take().is_some() {
            let _ = writeln!(io::stderr());
        }
    }
}

fn percent(sent: u64, length: u64) -> u64 {
    (sent * 100).checked_div(length).unwrap_or(100)
}

/// The text of the progress bar.
fn line(sent: u64, length: u64) -> String {
    let percent = percent(sent, length);
    let full = percent * BAR_WIDTH / 100;
    let bar: String = (0..BAR_WIDTH)
        .map(|at| if at < full { '#' } else { '.' })
        .collect();
    let (sent, length) = (sent / 1024, length / 1024);
    format!("[{bar}] {percent:>3} % {sent} of {length} KiB")
}

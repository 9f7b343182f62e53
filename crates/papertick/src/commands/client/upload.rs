//! A file on its way to a clock, piece by piece, with a bar that shows how far it is.

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

/// Bytes of a piece.
const PIECE: usize = 32 * 1024;

/// Letters of the whole bar.
const BAR: u64 = 32;

/// Longest wait for `100 Continue`: a server that does not know it only waits for the file.
const CONTINUE_TIME: Duration = Duration::from_secs(1);

/// Whether a file is sent: not before the server wants it, and no longer once it has answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct UploadProgress(Arc<ProgressState>);

#[derive(Debug, Default)]
struct ProgressState {
    wanted: Notify,
    is_stopped: AtomicBool,
}

impl UploadProgress {
    /// The server wants the file.
    pub(crate) fn start(&self) {
        self.0.wanted.notify_one();
    }

    /// The server has answered.
    pub(crate) fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    async fn started(self) {
        // After the time the file is sent as well.
        let _ = timeout(CONTINUE_TIME, self.0.wanted.notified()).await;
    }
}

/// A file that is being uploaded.
pub(crate) struct FileUpload {
    file: File,
    progress: UploadProgress,
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    length: u64,
    sent: u64,
    bar: Bar,
}

/// The progress bar on the error output, if that is a terminal.
#[derive(Debug)]
struct Bar {
    is_seen: bool,
    shown: Option<u64>,
}

impl FileUpload {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn of(path: &Path, progress: &UploadProgress) -> Result<FileUpload, Failure> {
        let unread = |error: io::Error| cannot_read(path, &error);
        let file = open_file(path).map_err(unread)?;
        let length = file.metadata().map_err(unread)?.len();
        Ok(FileUpload {
            file,
            progress: progress.clone(),
            wait: Some(Box::pin(progress.clone().started())),
            length,
            sent: 0,
            bar: Bar {
                is_seen: io::stderr().is_terminal(),
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
        let mut piece = vec![0; PIECE.min(left)];
        // A file that has become shorter breaks off, which the clock notices by the length.
        let read = self.file.read(&mut piece).unwrap_or_default();
        piece.truncate(read);
        if piece.is_empty() {
            self.bar.end();
            return Poll::Ready(None);
        }
        self.sent += piece.len() as u64;
        let (sent, length) = (self.sent, self.length);
        self.bar.show(sent, length);
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.sent == self.length
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length - self.sent)
    }
}

impl Bar {
    fn show(&mut self, sent: u64, length: u64) {
        let percent = percent(sent, length);
        if self.is_seen && self.shown != Some(percent) {
            self.shown = Some(percent);
            // Nobody may look any more.
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

/// The bar as it stands on a line.
fn line(sent: u64, length: u64) -> String {
    let percent = percent(sent, length);
    let full = percent * BAR / 100;
    let bar: String = (0..BAR)
        .map(|at| if at < full { '#' } else { '.' })
        .collect();
    let (sent, length) = (sent / 1024, length / 1024);
    format!("[{bar}] {percent:>3} % {sent} of {length} KiB")
}

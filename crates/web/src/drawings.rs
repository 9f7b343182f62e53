//! Draws pictures for other screens. A single task draws, so that equal pictures that are requested at the same time are
//! drawn once.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, Hash, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use api::documents::displays::ShownTiles;
use bytes::Bytes;
use device::{canvas::LayoutForm, frames::Frame};
use http::HeaderValue;
use render::{ScreenPainter, bmp, canvas::CanvasSpec, png, tiles::TileCanvas};
use tokio::{
    sync::{mpsc, oneshot},
    task::spawn_blocking,
};

use super::etag;

/// Requests in the queue; further clients wait.
const QUEUE: usize = 16;

/// Largest size of the pictures that are kept, bytes.
const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Largest number of pictures that are kept.
const KEPT_MAX: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    Png,
    Bmp,
}

impl ImageFormat {
    pub fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            ImageFormat::Png => "image/png",
            ImageFormat::Bmp => "image/bmp",
        })
    }
}

#[derive(Debug, Clone)]
pub struct ImageFile {
    /// Hash of what the picture shows, 12 hexadecimal digits. Its key is random at each start, so that a name tells nothing
    /// about the picture.
    pub name: String,
    pub format: ImageFormat,
    pub tag: HeaderValue,
    pub bytes: Bytes,
    /// How many tiles of a board are shown.
    pub tiles: Option<ShownTiles>,
    key: u64,
}

/// A frame to draw.
struct DrawJob {
    frame: Box<Frame>,
    spec: CanvasSpec,
    format: ImageFormat,
    reply: oneshot::Sender<ImageFile>,
}

/// A request to the drawing task.
enum DrawingRequest {
    /// Draw a frame.
    Draw(DrawJob),
    /// Return a kept PNG with this name.
    Find(String, oneshot::Sender<Option<ImageFile>>),
}

/// Queue of the drawing task.
pub struct Drawings {
    requests: mpsc::Sender<DrawingRequest>,
    drawn: Arc<AtomicU64>,
}

/// The other end of the queue.
pub struct DrawJobs {
    requests: mpsc::Receiver<DrawingRequest>,
    drawn: Arc<AtomicU64>,
}

/// Makes the queue of the drawing task.
pub fn queue() -> (Drawings, DrawJobs) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let drawn = Arc::new(AtomicU64::new(0));
    let drawings = Drawings {
        requests: sender,
        drawn: Arc::clone(&drawn),
    };
    let jobs = DrawJobs {
        requests: receiver,
        drawn,
    };
    (drawings, jobs)
}

impl Drawings {
    /// Draws a frame. `None` if the server stops.
    pub async fn draw(
        &self,
        frame: Box<Frame>,
        spec: CanvasSpec,
        format: ImageFormat,
    ) -> Option<ImageFile> {
        let (reply, drawing) = oneshot::channel();
        let job = DrawJob {
            frame,
            spec,
            format,
            reply,
        };
        self.requests.send(DrawingRequest::Draw(job)).await.ok()?;
        drawing.await.ok()
    }

    /// The kept PNG with a name. `None` if it is not kept any more.
    pub async fn find(&self, name: &str) -> Option<ImageFile> {
        let (reply, drawing) = oneshot::channel();
        let request = DrawingRequest::Find(name.into(), reply);
        self.requests.send(request).await.ok()?;
        drawing.await.ok()?
    }

    /// How many frames were drawn since the start.
    pub fn drawn(&self) -> u64 {
        self.drawn.load(Ordering::Relaxed)
    }
}

/// How many tiles of a board are shown. `None` if it is no board.
fn shown_tiles(shown: usize, frame: &Frame, spec: &CanvasSpec) -> Option<ShownTiles> {
    let is_board = spec.layout.form() == LayoutForm::Board;
    let of = frame.picture.tiles.len();
    is_board.then_some(ShownTiles { shown, of })
}

/// Draws until the server stops.
pub async fn run(mut jobs: DrawJobs) {
    let hasher = RandomState::new();
    let mut painter = ScreenPainter::default();
    let mut kept: VecDeque<ImageFile> = VecDeque::new();
    while let Some(request) = jobs.requests.recv().await {
        let DrawJob {
            frame,
            spec,
            format,
            reply,
        } = match request {
            DrawingRequest::Draw(job) => job,
            DrawingRequest::Find(name, reply) => {
                let is_it = |drawing: &&ImageFile| {
                    drawing.name == name && drawing.format == ImageFormat::Png
                };
                // The client may have disconnected.
                let _ = reply.send(kept.iter().rev().find(is_it).cloned());
                continue;
            }
        };
        if reply.is_closed() {
            continue;
        }
        let picture = &frame.picture;
        let cells = (&picture.cells, picture.mark, &frame.caption);
        let cells = Some(cells).filter(|_| picture.tiles.is_empty());
        let key = hasher.hash_one((&picture.tiles, cells, &picture.style, spec, format));
        let place = kept.iter().position(|drawing| drawing.key == key);
        let drawing = match place.and_then(|place| kept.remove(place)) {
            Some(drawing) => drawing,
            None => {
                let drawn = spawn_blocking(move || {
                    let drawn = painter.paint(&frame.picture, &frame.caption, &spec);
                    let TileCanvas { canvas, shown } = drawn;
                    let bytes = match format {
                        ImageFormat::Png => png::canvas(&canvas),
                        ImageFormat::Bmp => bmp::encode(&canvas),
                    };
                    (painter, bytes, shown_tiles(shown, &frame, &spec))
                });
                let Ok((used, bytes, tiles)) = drawn.await else {
                    // It panicked, and the painter is gone with it.
                    painter = ScreenPainter::default();
                    continue;
                };
                painter = used;
                jobs.drawn.fetch_add(1, Ordering::Relaxed);
                ImageFile {
                    format,
                    name: format!("{key:016x}").split_off(4),
                    tag: etag::tag(&format!("{key:016x}")),
                    bytes: bytes.into(),
                    tiles,
                    key,
                }
            }
        };
        kept.push_back(drawing.clone());
        let mut bytes: usize = kept.iter().map(|drawing| drawing.bytes.len()).sum();
        while kept.len() > KEPT_MAX || (bytes > KEPT_BYTES_MAX && kept.len() > 1) {
            let oldest = kept.pop_front();
            bytes -= oldest.map_or(0, |oldest| oldest.bytes.len());
        }
        // The client may have disconnected.
        let _ = reply.send(drawing);
    }
}

#[cfg(test)]
mod tests {
    use device::{
        Device,
        canvas::{Depth, Layout, Turn},
        frames::FrameContent,
        memory::Memory,
        settings::Settings,
    };
    use market::{mark::Mark, now::Now};

    use super::*;

    #[tokio::test]
    async fn a_frame_with_another_mark_is_another_picture() {
        let now = Now {
            uptime: std::time::Duration::ZERO,
            utc: None,
        };
        let board = board::spec::BOARDS[0];
        let device = Device::new(board, Settings::default(), Memory::default(), now);
        let frame = device
            .view()
            .frame(FrameContent::Screen(0), Layout::Cells, now);
        let mut frame = Box::new(frame.unwrap());
        let spec = CanvasSpec {
            width: 800,
            height: 480,
            turn: Turn::None,
            depth: Depth::One,
            layout: Layout::Cells,
            dark: None,
        };
        let (drawings, jobs) = queue();
        let draw = async move {
            let mut drawn: Vec<ImageFile> = Vec::new();
            for mark in [None, Some(Mark::Alone), Some(Mark::Stale)] {
                frame.picture.mark = mark;
                let file = drawings.draw(frame.clone(), spec, ImageFormat::Png);
                drawn.push(file.await.unwrap());
            }
            drawn
        };
        let ((), drawn) = tokio::join!(run(jobs), draw);
        for (one, next) in drawn.iter().zip(&drawn[1..]) {
            assert_ne!(one.tag, next.tag);
            assert_ne!(one.bytes, next.bytes);
        }
    }
}

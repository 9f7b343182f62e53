//! `papertick watch`: shows the panels of a clock live in a terminal.
//!
//! `picture` scales the panels to the terminal, `blocks` and `kitty` encode them (`drawing`), `terminal` detects the
//! capabilities of the terminal and restores it at the end.

mod blocks;
mod drawing;
mod kitty;
mod picture;
mod size;
mod terminal;

use std::{io, time::Duration};

use clap::{Arg, ArgMatches, Args, FromArgMatches};
use futures_util::{SinkExt, StreamExt};
use http::{StatusCode, header::AUTHORIZATION};
use net::dialer::BoxedStream;
use render::Bitmap;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::WebSocketConfig},
};

use super::client::{ClockClient, refusal, target::ClockTarget};
use crate::{failure::Failure, standard_output};
use drawing::DrawingMethod;
use picture::PanelImages;
use render::panel_frame;
use size::Size;
use terminal::TerminalScreen;

/// Largest message of a clock, bytes. A panel has a few thousand.
const MESSAGE_MAX: usize = 256 * 1024;

/// Time to wait for the other panels after the first one has arrived.
const SETTLE_TIME: Duration = Duration::from_millis(40);

/// Time until the next attempt to connect.
const RETRY: Duration = Duration::from_secs(2);

/// Timeout of the web socket handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The flags of `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    target: ClockTarget,

    #[command(flatten)]
    show: WatchShowArgs,
}

/// How the panels are shown.
#[derive(Debug, Args)]
pub(crate) struct WatchShowArgs {
    /// How to draw the panels [default: the best that the terminal supports]
    #[arg(long, value_enum)]
    with: Option<DrawingMethod>,

    /// Draw the panels once, as wide as the terminal or 80 columns, and exit
    #[arg(long)]
    once: bool,
}

/// Text of `--help` after the flags.
pub(crate) const EXAMPLES: &str = "\
Examples:
  papertick watch
  papertick watch --host papertick-1a2b3c.local:8080
  papertick watch --with blocks
  papertick watch --once

q or Ctrl-C exits and restores the terminal.";

/// The flags of the command in `ctl`, in addition to those of `ctl` itself.
pub(crate) fn arguments() -> Vec<Arg> {
    WatchShowArgs::augment_args(clap::Command::new("watch").disable_help_flag(true))
        .get_arguments()
        .cloned()
        .collect()
}

/// Shows the panels until a signal ends the program.
///
/// # Errors
/// No clock answers, or standard output is not a terminal.
pub fn run(args: &WatchArgs) -> Result<(), Failure> {
    watch(args.target.client()?, &args.show)
}

/// As `run`, with a client and the matches of a command.
pub(crate) fn run_with(client: ClockClient, matches: &ArgMatches) -> Result<(), Failure> {
    let args = WatchShowArgs::from_arg_matches(matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    watch(client, &args)
}

fn watch(mut client: ClockClient, args: &WatchShowArgs) -> Result<(), Failure> {
    if args.once {
        let method = args.with.unwrap_or(DrawingMethod::Blocks);
        let mut socket = open(&mut client)?;
        let panels = client.block_on(first(&mut socket))?;
        let picture = method.encode(&panels.bitmaps(), terminal::size());
        return standard_output::write(picture.as_bytes());
    }
    if !terminal::is_available() {
        return Err(Failure::usage(
            "standard output is not a terminal: --once draws the panels once",
        ));
    }
    let mut socket = open(&mut client)?;
    let method = args.with.unwrap_or_else(terminal::best_method);
    let screen = TerminalScreen::enter().map_err(cannot)?;
    loop {
        let ended = client.block_on(follow(&mut socket, method, &screen))?;
        if ended == WatchEnd::Quit {
            return Ok(());
        }
        screen.set_message("the clock is away, reconnecting");
        match client.block_on(pause(&screen))? {
            WatchEnd::Quit => return Ok(()),
            WatchEnd::Disconnected => {}
        }
        if let Ok(new) = open(&mut client) {
            socket = new;
        }
    }
}

type ClientWebSocket = WebSocketStream<BoxedStream>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchEnd {
    /// A signal or a key.
    Quit,
    /// The connection was closed.
    Disconnected,
}

/// Opens the stream of panels.
fn open(client: &mut ClockClient) -> Result<ClientWebSocket, Failure> {
    loop {
        match client.block_on(handshake(client)) {
            Ok(socket) => return Ok(socket),
            Err(HandshakeError::Unauthorised) => client.prompt_password()?,
            Err(HandshakeError::Failed(failure)) => return Err(failure),
        }
    }
}

/// Why the handshake failed.
enum HandshakeError {
    Unauthorised,
    Failed(Failure),
}

async fn handshake(client: &ClockClient) -> Result<ClientWebSocket, HandshakeError> {
    let failed = |what: String| HandshakeError::Failed(Failure::unreachable(what));
    let url = client.socket_url("/api/preview/ws");
    let mut request = url
        .into_client_request()
        .map_err(|error| failed(error.to_string()))?;
    if let Some(value) = client.authorization() {
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    let stream = client.connect().await.map_err(HandshakeError::Failed)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_MAX))
        .max_frame_size(Some(MESSAGE_MAX));
    let handshake = client_async_with_config(request, stream, Some(config));
    let result = timeout(HANDSHAKE_TIMEOUT, handshake)
        .await
        .map_err(|_| failed(format!("{} does not answer in time", client.url())))?;
    let (mut socket, _) = result.map_err(|error| {
        let tungstenite::Error::Http(response) = error else {
            return failed(format!(
                "the connection to {} failed: {error}",
                client.url()
            ));
        };
        if response.status() == StatusCode::UNAUTHORIZED {
            return HandshakeError::Unauthorised;
        }
        let document = response.body().as_deref();
        let document = document.and_then(|body| serde_json::from_slice(body).ok());
        HandshakeError::Failed(refusal(response.status(), document.as_ref(), None))
    })?;
    let start = socket.send(Message::text("start")).await;
    start.map_err(|error| failed(error.to_string()))?;
    Ok(socket)
}

async fn first(socket: &mut ClientWebSocket) -> Result<PanelImages, Failure> {
    let mut panels = PanelImages::default();
    loop {
        let wait = if panels.is_empty() { HANDSHAKE_TIMEOUT } else { SETTLE_TIME };
        match timeout(wait, next(socket)).await {
            Ok(Some((index, bitmap))) => {
                panels.put(index, bitmap);
            }
            Ok(None) => return Err(Failure::unreachable("the clock has closed the connection")),
            Err(_) if panels.is_empty() => {
                return Err(Failure::unreachable("the clock has sent no panels in time"));
            }
            Err(_) => return Ok(panels),
        }
    }
}

/// Draws the panels whenever they, or the terminal, have changed.
async fn follow(
    socket: &mut ClientWebSocket,
    method: DrawingMethod,
    screen: &TerminalScreen,
) -> Result<WatchEnd, Failure> {
    let mut resized = signal(SignalKind::window_change()).map_err(cannot)?;
    let mut ending = end_signal()?;
    let mut panels = PanelImages::default();
    let mut shown: Option<(PanelImages, Size)> = None;
    loop {
        let settled = !panels.is_empty();
        tokio::select! {
            biased;
            () = &mut ending => return Ok(WatchEnd::Quit),
            () = screen.quit_key() => return Ok(WatchEnd::Quit),
            _ = resized.recv() => shown = None,
            message = next(socket) => match message {
                Some((index, bitmap)) => {
                    panels.put(index, bitmap);
                    continue;
                }
                None => return Ok(WatchEnd::Disconnected),
            },
            () = sleep(SETTLE_TIME), if settled && !is_shown(shown.as_ref(), &panels) => {}
        }
        let size = terminal::size();
        if settled && shown.as_ref() != Some(&(panels.clone(), size)) {
            screen.draw(method.encode(&panels.bitmaps(), size));
            shown = Some((panels.clone(), size));
        }
    }
}

fn is_shown(shown: Option<&(PanelImages, Size)>, panels: &PanelImages) -> bool {
    shown.is_some_and(|(shown, _)| shown == panels)
}

fn cannot(error: io::Error) -> Failure {
    Failure::failed(format!("cannot watch: {error}"))
}

/// Waits before the next attempt to connect.
async fn pause(screen: &TerminalScreen) -> Result<WatchEnd, Failure> {
    let mut ending = end_signal()?;
    tokio::select! {
        () = &mut ending => Ok(WatchEnd::Quit),
        () = screen.quit_key() => Ok(WatchEnd::Quit),
        () = sleep(RETRY) => Ok(WatchEnd::Disconnected),
    }
}

/// A future that completes at a signal to end the program, such as Ctrl-C.
fn end_signal() -> Result<std::pin::Pin<Box<dyn Future<Output = ()>>>, Failure> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(cannot)?;
    Ok(Box::pin(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }))
}

/// The next panel. `None` if the connection is closed.
async fn next(socket: &mut ClientWebSocket) -> Option<(usize, Bitmap)> {
    loop {
        match socket.next().await?.ok()? {
            Message::Binary(bytes) => {
                if let Some(panel) = panel_frame::read(&bytes) {
                    return Some(panel);
                }
            }
            Message::Close(_) => return None,
            Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

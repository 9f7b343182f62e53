//! `papertick watch`: the panels of a clock, live in a terminal.
//!
//! `picture` puts the panels beside each other at the size that fits, `blocks` and `kitty` write that for the
//! terminals there are (`with`), `terminal` knows which one this is and leaves it as it was.

mod blocks;
mod kitty;
mod picture;
mod size;
mod terminal;
mod with;

use std::{io, time::Duration};

use api::{operation::ProgramOperation, operations::path_of};
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
use crate::failure::Failure;
use picture::PanelImages;
use render::panel_frame;
use size::Size;
use terminal::TerminalScreen;
use with::With;

/// Largest message of a clock, bytes: a panel takes a few thousand.
const MESSAGE_MAX: usize = 256 * 1024;

/// Time in which the rest of the panels follow the first.
const REST: Duration = Duration::from_millis(40);

/// Time after which a clock that broke off is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// Longest time until a clock has agreed to a web socket.
const HANDSHAKE: Duration = Duration::from_secs(10);

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
    /// What the panels are drawn with [default: what the terminal can do]
    #[arg(long, value_enum)]
    with: Option<With>,

    /// Draw the panels once, as wide as the terminal or 80 columns, and end
    #[arg(long)]
    once: bool,
}

/// What `--help` says after the flags.
pub(crate) const EXAMPLES: &str = "\
Examples:
  papertick watch
  papertick watch --host papertick-1a2b3c.local:8080
  papertick watch --with blocks
  papertick watch --once

Ctrl-C ends it and leaves the terminal as it was.";

/// The flags that `ctl watch` has besides those of `ctl`.
pub(crate) fn arguments() -> Vec<Arg> {
    WatchShowArgs::augment_args(clap::Command::new("watch").disable_help_flag(true))
        .get_arguments()
        .cloned()
        .collect()
}

/// Shows the panels until the program is ended.
///
/// # Errors
/// No clock answers, or this is no terminal.
pub fn run(args: &WatchArgs) -> Result<(), Failure> {
    watch(args.target.client()?, &args.show)
}

/// The same with a client and the matches of a command.
pub(crate) fn run_with(client: ClockClient, matches: &ArgMatches) -> Result<(), Failure> {
    let args = WatchShowArgs::from_arg_matches(matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    watch(client, &args)
}

fn watch(mut client: ClockClient, args: &WatchShowArgs) -> Result<(), Failure> {
    if args.once {
        let with = args.with.unwrap_or(With::Blocks);
        let mut socket = open(&mut client)?;
        let panels = client.block_on(first(&mut socket))?;
        terminal::print(&with.drawn(&panels.bitmaps(), terminal::size()));
        return Ok(());
    }
    if !terminal::is_there() {
        return Err(Failure::usage(
            "there is no terminal to draw on: --once draws the panels once",
        ));
    }
    let mut socket = open(&mut client)?;
    let with = args.with.unwrap_or_else(terminal::best);
    let screen = TerminalScreen::enter().map_err(cannot)?;
    loop {
        let ended = client.block_on(follow(&mut socket, with, &screen))?;
        if ended == WatchEnd::Asked {
            return Ok(());
        }
        screen.say("the clock is away; it is tried again");
        match client.block_on(pause())? {
            WatchEnd::Asked => return Ok(()),
            WatchEnd::Away => {}
        }
        if let Ok(again) = open(&mut client) {
            socket = again;
        }
    }
}

type ClientWebSocket = WebSocketStream<BoxedStream>;

/// Why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchEnd {
    /// Somebody wants to end it.
    Asked,
    /// The clock has broken off.
    Away,
}

/// Opens the stream of panels.
fn open(client: &mut ClockClient) -> Result<ClientWebSocket, Failure> {
    loop {
        match client.block_on(handshake(client)) {
            Ok(socket) => return Ok(socket),
            Err(Unopened::Unauthorised) => client.learn_password()?,
            Err(Unopened::Failed(failure)) => return Err(failure),
        }
    }
}

/// Why there is no stream.
enum Unopened {
    Unauthorised,
    Failed(Failure),
}

async fn handshake(client: &ClockClient) -> Result<ClientWebSocket, Unopened> {
    let failed = |what: String| Unopened::Failed(Failure::unreachable(what));
    let url = client.socket_url(path_of(ProgramOperation::Preview));
    let mut request = url
        .into_client_request()
        .map_err(|error| failed(error.to_string()))?;
    if let Some(value) = client.authorization() {
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    let stream = client.connect().await.map_err(Unopened::Failed)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_MAX))
        .max_frame_size(Some(MESSAGE_MAX));
    let agreed = client_async_with_config(request, stream, Some(config));
    let agreed = timeout(HANDSHAKE, agreed)
        .await
        .map_err(|_| failed(format!("{} does not answer in time", client.place())))?;
    let (mut socket, _) = agreed.map_err(|error| {
        let tungstenite::Error::Http(answer) = error else {
            return failed(format!("{} broke off: {error}", client.place()));
        };
        if answer.status() == StatusCode::UNAUTHORIZED {
            return Unopened::Unauthorised;
        }
        let document = answer.body().as_deref();
        let document = document.and_then(|body| serde_json::from_slice(body).ok());
        Unopened::Failed(refusal(answer.status(), document.as_ref(), None))
    })?;
    let start = socket.send(Message::text("start")).await;
    start.map_err(|error| failed(error.to_string()))?;
    Ok(socket)
}

/// The panels as they are now.
async fn first(socket: &mut ClientWebSocket) -> Result<PanelImages, Failure> {
    let mut panels = PanelImages::default();
    loop {
        let wait = if panels.is_empty() { HANDSHAKE } else { REST };
        match timeout(wait, next(socket)).await {
            Ok(Some((index, bitmap))) => {
                panels.put(index, bitmap);
            }
            Ok(None) => return Err(Failure::unreachable("the clock broke off")),
            Err(_) if panels.is_empty() => {
                return Err(Failure::unreachable("the clock shows no panels in time"));
            }
            Err(_) => return Ok(panels),
        }
    }
}

/// Draws the panels whenever they, or the terminal, have changed.
async fn follow(
    socket: &mut ClientWebSocket,
    with: With,
    screen: &TerminalScreen,
) -> Result<WatchEnd, Failure> {
    let mut resized = signal(SignalKind::window_change()).map_err(cannot)?;
    let mut ending = pin_ends()?;
    let mut panels = PanelImages::default();
    let mut shown: Option<(PanelImages, Size)> = None;
    loop {
        let settled = !panels.is_empty();
        tokio::select! {
            biased;
            () = &mut ending => return Ok(WatchEnd::Asked),
            _ = resized.recv() => shown = None,
            message = next(socket) => match message {
                Some((index, bitmap)) => {
                    panels.put(index, bitmap);
                    continue;
                }
                None => return Ok(WatchEnd::Away),
            },
            () = sleep(REST), if settled && !is_shown(shown.as_ref(), &panels) => {}
        }
        let size = terminal::size();
        if settled && shown.as_ref() != Some(&(panels.clone(), size)) {
            screen.draw(with.drawn(&panels.bitmaps(), size));
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

/// Waits before a clock is tried again.
async fn pause() -> Result<WatchEnd, Failure> {
    let mut ending = pin_ends()?;
    tokio::select! {
        () = &mut ending => Ok(WatchEnd::Asked),
        () = sleep(AGAIN) => Ok(WatchEnd::Away),
    }
}

/// Returns when a key or a signal ends the program.
fn pin_ends() -> Result<std::pin::Pin<Box<dyn Future<Output = ()>>>, Failure> {
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

/// The next panel that is told; none if the clock breaks off.
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

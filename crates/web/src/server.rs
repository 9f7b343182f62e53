//! Connections: how many there may be, how long they may dawdle, and how they end.

use std::{
    io,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{HeaderValue, StatusCode, header::CONNECTION};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use runtime::{
    tasks::{TaskExit, Tasks},
    waits::over,
};
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::{Instant, sleep, timeout},
};

use super::{
    places::ConnectionLimits, router, side_task::SideTask, slow::Impatient, state::ServerState,
};

/// Connections that wait to be accepted, such as those that come while the device is started again.
const BACKLOG: i32 = 1024;

/// Time in which the head of a request must arrive; also the time a connection may idle.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Longest head of a request, and bytes buffered per connection and direction.
const HEAD_MAX: usize = 16 * 1024;

/// Bytes that wait in the kernel for a client to take them; Linux takes twice as much.
const SEND_BUFFER: usize = 64 * 1024;

/// Header lines in a request.
const HEADERS_MAX: usize = 64;

/// Time a connection without a request is safe from being closed to make room.
const GRACE: Duration = Duration::from_secs(2);

/// Time that requests under way get to end when the server stops.
const STOP_TIME: Duration = Duration::from_secs(3);

/// Time in which the first request of a connection still comes in when the server stops: who was accepted is answered.
const FIRST_REQUEST_TIME: Duration = Duration::from_millis(500);

/// The same for one that was answered before, and may have sent more before it can know that the server stops.
const NEXT_REQUEST_TIME: Duration = Duration::from_millis(50);

/// Accepts and serves connections until the server is told to stop, or one of its parts ends.
pub async fn run(
    listener: TcpListener,
    state: Arc<ServerState>,
    mut tasks: mpsc::Receiver<SideTask>,
    mut parts: Tasks,
) {
    if let Err(error) = prepare(&listener) {
        tracing::debug!(%error, "the listening socket stays as it was");
    }
    tell_limit(&state.places);
    let (mut connections, mut beside) = (Tasks::new(), Tasks::new());
    let mut stop = state.services.shutdown.clone();
    let places = Arc::new(Semaphore::new(state.places.connections));
    let orders = watch::Sender::new(ConnectionOrder::Serve);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places, &orders) => accepted,
            Some(SideTask { name, work }) = tasks.recv() => {
                beside.spawn(name, work);
                continue;
            }
            Some(ended) = beside.ended() => {
                ended.log_panic();
                continue;
            }
            Some(ended) = connections.ended() => {
                ended.log_panic();
                continue;
            }
            _ = stop.wait_for(|stop| *stop) => break,
            Some(TaskExit { name, .. }) = parts.ended() => {
                if *state.services.shutdown.borrow() {
                    break;
                }
                // Without it some would wait for ever; the device is to be started again.
                tracing::error!(task = %name, "a part of the server broke off");
                return;
            }
        };
        let served = connection(accepted, Arc::clone(&state), orders.subscribe());
        connections.spawn("connection", served);
    }
    drop(listener);
    orders.send_replace(ConnectionOrder::Finish);
    let (connections, beside) = tokio::join!(connections.stop(STOP_TIME), beside.stop(STOP_TIME));
    let cut_off = connections.len() + beside.len();
    if cut_off > 0 {
        tracing::warn!(connections = cut_off, "connections cut off");
    }
    for name in parts.abort().await {
        tracing::debug!(task = %name, "stopped");
    }
}

fn prepare(listener: &TcpListener) -> io::Result<()> {
    rustix::net::listen(listener, BACKLOG)?;
    // Connections inherit it: without it, one that is not read could hold megabytes.
    set_socket_send_buffer_size(listener, SEND_BUFFER)?;
    Ok(())
}

fn tell_limit(places: &ConnectionLimits) {
    if let Some(files) = places.open_files {
        let (connections, followers) = (places.connections, places.followers());
        tracing::info!(
            connections,
            followers,
            "this program may have {files} files open, which bounds its clients"
        );
    }
}

/// An accepted connection.
struct AcceptedClient {
    stream: TcpStream,
    peer: SocketAddr,
    _place: OwnedSemaphorePermit,
}

/// An order to all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionOrder {
    /// Nothing in particular.
    Serve,
    /// Leave, if nothing is under way.
    MakeRoom,
    /// End what is under way, then leave.
    Finish,
}

impl ConnectionOrder {
    /// Tells whether nothing more is wanted of the client after this.
    fn is_last(self) -> bool {
        match self {
            ConnectionOrder::Serve | ConnectionOrder::MakeRoom => false,
            ConnectionOrder::Finish => true,
        }
    }
}

/// Asks idle connections to leave, unless all of them were asked to already.
fn make_room(orders: &watch::Sender<ConnectionOrder>) {
    orders.send_if_modified(|order| {
        let may_ask = !order.is_last();
        if may_ask {
            *order = ConnectionOrder::MakeRoom;
        }
        may_ask
    });
}

/// Waits for a place, then for a client; asks idle connections to leave while there is no place.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    orders: &watch::Sender<ConnectionOrder>,
) -> AcceptedClient {
    let place = loop {
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            break place;
        }
        make_room(orders);
        if let Ok(Ok(place)) = timeout(GRACE, Arc::clone(places).acquire_owned()).await {
            break place;
        }
    };
    let mut failed = false;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                return AcceptedClient {
                    stream,
                    peer,
                    _place: place,
                };
            }
            Err(error) => {
                if !std::mem::replace(&mut failed, true) {
                    tracing::warn!(%error, "connection not accepted");
                }
                make_room(orders);
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Serves a connection from its first byte on: one that says nothing costs next to nothing.
async fn connection(
    client: AcceptedClient,
    state: Arc<ServerState>,
    mut orders: watch::Receiver<ConnectionOrder>,
) {
    // Frames of the event stream are small and must not wait for each other.
    let _ = client.stream.set_nodelay(true);
    if Box::pin(speaks(&client.stream, &mut orders)).await {
        Box::pin(serve(client, state, orders)).await;
    }
}

/// Waits until a new client says something; tells whether it does in time.
async fn speaks(stream: &TcpStream, orders: &mut watch::Receiver<ConnectionOrder>) -> bool {
    let opened = Instant::now();
    // What was ordered before counts here too.
    orders.mark_changed();
    let mut limit = pin!(sleep(HEAD_TIME));
    // A look at the first byte, because a new socket counts as readable until it was tried.
    let mut first = [0];
    loop {
        tokio::select! {
            biased;
            said = stream.peek(&mut first) => return matches!(said, Ok(1..)),
            Ok(()) = orders.changed() => match *orders.borrow_and_update() {
                ConnectionOrder::Serve => {}
                ConnectionOrder::MakeRoom if opened.elapsed() < GRACE => {}
                ConnectionOrder::MakeRoom => return false,
                ConnectionOrder::Finish => limit.as_mut().reset(Instant::now() + FIRST_REQUEST_TIME),
            },
            () = limit.as_mut() => return false,
        }
    }
}

async fn serve(
    client: AcceptedClient,
    state: Arc<ServerState>,
    mut orders: watch::Receiver<ConnectionOrder>,
) {
    let AcceptedClient {
        stream,
        peer,
        _place,
    } = client;
    let work = ConnectionActivity::new(orders.clone());
    let service = hyper::service::service_fn(|request| {
        let busy = work.begin();
        let state = Arc::clone(&state);
        // In a box, because the connection keeps a place of its size while it idles.
        Box::pin(async move {
            let mut answer = router::answer(state, request, peer).await;
            if busy.is_last() && answer.status() != StatusCode::SWITCHING_PROTOCOLS {
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, std::convert::Infallible>(answer.map(|body| busy.keep(body)))
        })
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(Impatient::new(stream)), service)
        .with_upgrades();
    tokio::pin!(connection);
    let mut last_call = None;
    // What was ordered before counts here too.
    orders.mark_changed();
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%peer, %error, "connection ended");
                }
                return;
            }
            Ok(()) = orders.changed() => match *orders.borrow_and_update() {
                ConnectionOrder::Serve => {}
                ConnectionOrder::MakeRoom if work.idle_for() < GRACE => {}
                ConnectionOrder::MakeRoom => return,
                ConnectionOrder::Finish => last_call = Some(Box::pin(sleep(work.last_call()))),
            },
            () = over(&mut last_call) => {
                connection.as_mut().graceful_shutdown();
                last_call = None;
            }
        }
    }
}

/// Whether a connection has requests in progress, and since when it has none.
#[derive(Clone)]
struct ConnectionActivity {
    shared: Arc<ActivityState>,
}

/// State that all clones of a [`ConnectionActivity`] share.
struct ActivityState {
    orders: watch::Receiver<ConnectionOrder>,
    opened: Instant,
    begun: AtomicUsize,
    running: AtomicUsize,
    idle_since_ms: AtomicU64,
}

impl ConnectionActivity {
    fn new(orders: watch::Receiver<ConnectionOrder>) -> ConnectionActivity {
        ConnectionActivity {
            shared: Arc::new(ActivityState {
                orders,
                opened: Instant::now(),
                begun: AtomicUsize::new(0),
                running: AtomicUsize::new(0),
                idle_since_ms: AtomicU64::new(0),
            }),
        }
    }

    fn begin(&self) -> Busy {
        self.shared.begun.fetch_add(1, Ordering::Relaxed);
        self.shared.running.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(&self.shared))
    }

    /// How long to wait for one more request when the server stops.
    fn last_call(&self) -> Duration {
        if self.shared.running.load(Ordering::Relaxed) > 0 {
            Duration::ZERO
        } else if self.shared.begun.load(Ordering::Relaxed) > 0 {
            NEXT_REQUEST_TIME
        } else {
            FIRST_REQUEST_TIME
        }
    }

    fn idle_for(&self) -> Duration {
        if self.shared.running.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let since = Duration::from_millis(self.shared.idle_since_ms.load(Ordering::Relaxed));
        self.shared.opened.elapsed().saturating_sub(since)
    }
}

/// A request under way, until its answer is written.
struct Busy(Arc<ActivityState>);

impl Busy {
    /// Tells whether nothing more is wanted of the client after this.
    fn is_last(&self) -> bool {
        self.0.orders.borrow().is_last()
    }

    fn keep<B>(self, body: B) -> TrackedBody<B> {
        TrackedBody { body, _busy: self }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.idle_since_ms.store(now, Ordering::Relaxed);
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that counts as activity of its connection until it is dropped.
struct TrackedBody<B> {
    body: B,
    _busy: Busy,
}

impl<B: hyper::body::Body + Unpin> hyper::body::Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<B::Data>, B::Error>>> {
        std::pin::Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use device::{device::Device, memory::Memory, settings::Settings};
    use market::now::Now;
    use net::{dialer::Dialer, tls::Roots};
    use runtime::{glass::DisplaySnapshot, inbox::inbox, log_lines::LogLines};
    use updates::{
        installer::{Installer, InstallerConfig},
        newest::Newest,
    };

    use super::*;
    use crate::{proxy::PublicAccess, services::Services};

    fn services(shutdown: watch::Receiver<bool>) -> Services {
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let board = *board::spec::find("rev-b").unwrap();
        let device = Device::new(board, Settings::default(), Memory::default(), now);
        let means = InstallerConfig::without_slots(board, std::env::temp_dir(), inbox().0);
        let (installer, _) = Installer::new(means);
        Services {
            log: LogLines::new(),
            inbox: inbox().0,
            view: watch::Sender::new(Arc::new(device.view())).subscribe(),
            glass: watch::Sender::new(Arc::new(DisplaySnapshot::unknown(7, 122, 250))).subscribe(),
            identity: device::settings::emit::BuildIdentity::default(),
            allow_origins: Vec::new(),
            access: PublicAccess::default(),
            clock: runtime::clock::Clock::unset(),
            crashes: 0,
            newest: Newest::new(installer.clone(), watch::Sender::new(None).subscribe()).0,
            installer,
            data_dir: std::env::temp_dir(),
            bench: None,
            demo: None,
            dialer: Dialer::new(Roots::public()),
            radio: wifi::radio().0,
            connections: Some(8),
            shutdown,
        }
    }

    #[tokio::test]
    async fn a_part_that_breaks_off_ends_the_server() {
        let stop = watch::Sender::new(false);
        let (state, queues) = ServerState::new(services(stop.subscribe()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut parts = Tasks::new();
        parts.spawn("broken", async { panic!("on purpose") });
        parts.spawn("fine", std::future::pending());
        // Ends by itself, or this test never does.
        run(listener, Arc::new(state), queues.tasks, parts).await;
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_holds_little_of_what_waits_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        prepare(&listener).unwrap();
        let address = listener.local_addr().unwrap();
        #[allow(clippy::disallowed_methods, reason = "it is the client of a test")]
        let _client = TcpStream::connect(address).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        let held = rustix::net::sockopt::socket_send_buffer_size(&accepted).unwrap();
        assert_eq!(held, 2 * SEND_BUFFER);
    }
}

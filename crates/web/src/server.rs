//! Accepts connections, enforces limits and timeouts, and shuts down in order.

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
    connection_limits::ConnectionLimits, router, side_task::SideTask, state::ServerState,
    write_timeout::WriteTimeout,
};

/// Connections that wait to be accepted, for example while the device restarts.
const BACKLOG: i32 = 1024;

/// Timeout for the head of a request, and for an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest head of a request, and the buffer per connection and direction, bytes.
const HEAD_MAX: usize = 16 * 1024;

/// Send buffer in the kernel, bytes; Linux doubles it.
const SEND_BUFFER: usize = 64 * 1024;

/// Most header lines in a request.
const HEADERS_MAX: usize = 64;

/// A connection without a request is not closed to make room before it is this old.
const IDLE_GRACE: Duration = Duration::from_secs(2);

/// Time for the requests in progress when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the server waits at shutdown for the first request of an accepted connection.
const FIRST_REQUEST_WAIT: Duration = Duration::from_millis(500);

/// How long the server waits at shutdown for a further request, which the client may have sent already.
const NEXT_REQUEST_WAIT: Duration = Duration::from_millis(50);

/// Accepts and serves connections until the shutdown signal, or until one of the core tasks ends.
pub async fn run(
    listener: TcpListener,
    state: Arc<ServerState>,
    mut side_task_queue: mpsc::Receiver<SideTask>,
    mut core_tasks: Tasks,
) {
    if let Err(error) = configure(&listener) {
        tracing::debug!(%error, "cannot configure the listening socket");
    }
    log_limits(&state.limits);
    let (mut connections, mut side_tasks) = (Tasks::new(), Tasks::new());
    let mut stop = state.services.shutdown.clone();
    let permits = Arc::new(Semaphore::new(state.limits.connections));
    let orders = watch::Sender::new(ConnectionOrder::Serve);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &permits, &orders) => accepted,
            Some(SideTask { name, work }) = side_task_queue.recv() => {
                side_tasks.spawn(name, work);
                continue;
            }
            Some(ended) = side_tasks.ended() => {
                ended.log_panic();
                continue;
            }
            Some(ended) = connections.ended() => {
                ended.log_panic();
                continue;
            }
            _ = stop.wait_for(|stop| *stop) => break,
            Some(TaskExit { name, .. }) = core_tasks.ended() => {
                if *state.services.shutdown.borrow() {
                    break;
                }
                // Without this task some requests would wait forever, so the device must restart.
                tracing::error!(task = %name, "a task of the server ended unexpectedly");
                return;
            }
        };
        let served = connection(accepted, Arc::clone(&state), orders.subscribe());
        connections.spawn("connection", served);
    }
    drop(listener);
    orders.send_replace(ConnectionOrder::Finish);
    let (connections, side_tasks) = tokio::join!(
        connections.stop(STOP_TIMEOUT),
        side_tasks.stop(STOP_TIMEOUT)
    );
    let aborted = connections.len() + side_tasks.len();
    if aborted > 0 {
        tracing::warn!(connections = aborted, "connections aborted");
    }
    for name in core_tasks.abort().await {
        tracing::debug!(task = %name, "stopped");
    }
}

fn configure(listener: &TcpListener) -> io::Result<()> {
    rustix::net::listen(listener, BACKLOG)?;
    // Connections inherit it. Otherwise megabytes could be buffered for a client that does not read.
    set_socket_send_buffer_size(listener, SEND_BUFFER)?;
    Ok(())
}

fn log_limits(limits: &ConnectionLimits) {
    if let Some(files) = limits.open_files {
        tracing::info!(
            connections = limits.connections,
            event_clients = limits.event_clients(),
            "the limit of {files} open files limits the number of clients"
        );
    }
}

struct AcceptedClient {
    stream: TcpStream,
    peer: SocketAddr,
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionOrder {
    Serve,
    /// Close if no request is in progress.
    CloseIdle,
    /// Finish the requests in progress, then close.
    Finish,
}

impl ConnectionOrder {
    /// Whether the connection accepts no further requests.
    fn is_last(self) -> bool {
        match self {
            ConnectionOrder::Serve | ConnectionOrder::CloseIdle => false,
            ConnectionOrder::Finish => true,
        }
    }
}

/// Orders idle connections to close, unless all connections are closing already.
fn close_idle(orders: &watch::Sender<ConnectionOrder>) {
    orders.send_if_modified(|order| {
        let is_open = !order.is_last();
        if is_open {
            *order = ConnectionOrder::CloseIdle;
        }
        is_open
    });
}

/// Waits for a permit, then for a client. Closes idle connections while there is no permit.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
    orders: &watch::Sender<ConnectionOrder>,
) -> AcceptedClient {
    let permit = loop {
        if let Ok(permit) = Arc::clone(permits).try_acquire_owned() {
            break permit;
        }
        close_idle(orders);
        if let Ok(Ok(permit)) = timeout(IDLE_GRACE, Arc::clone(permits).acquire_owned()).await {
            break permit;
        }
    };
    let mut failed = false;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                return AcceptedClient {
                    stream,
                    peer,
                    _permit: permit,
                };
            }
            Err(error) => {
                if !std::mem::replace(&mut failed, true) {
                    tracing::warn!(%error, "connection not accepted");
                }
                close_idle(orders);
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Serves a connection after its first byte arrives, so that a silent connection needs little memory.
async fn connection(
    client: AcceptedClient,
    state: Arc<ServerState>,
    mut orders: watch::Receiver<ConnectionOrder>,
) {
    // Frames of the event stream are small and must be sent at once.
    let _ = client.stream.set_nodelay(true);
    if Box::pin(first_byte_arrives(&client.stream, &mut orders)).await {
        Box::pin(serve(client, state, orders)).await;
    }
}

/// Waits for the first byte of a new client. Returns false if it does not arrive in time.
async fn first_byte_arrives(
    stream: &TcpStream,
    orders: &mut watch::Receiver<ConnectionOrder>,
) -> bool {
    let opened = Instant::now();
    // The current order applies to this connection, too.
    orders.mark_changed();
    let mut deadline = pin!(sleep(HEAD_TIMEOUT));
    // `readable` would return at once, because tokio treats a new socket as readable until the first read.
    let mut first = [0];
    loop {
        tokio::select! {
            biased;
            peeked = stream.peek(&mut first) => return matches!(peeked, Ok(1..)),
            Ok(()) = orders.changed() => match *orders.borrow_and_update() {
                ConnectionOrder::Serve => {}
                ConnectionOrder::CloseIdle if opened.elapsed() < IDLE_GRACE => {}
                ConnectionOrder::CloseIdle => return false,
                ConnectionOrder::Finish => deadline.as_mut().reset(Instant::now() + FIRST_REQUEST_WAIT),
            },
            () = deadline.as_mut() => return false,
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
        _permit,
    } = client;
    let activity = ConnectionActivity::new(orders.clone());
    let service = hyper::service::service_fn(|request| {
        let guard = activity.request_started();
        let state = Arc::clone(&state);
        // Boxed, because an idle connection reserves memory for this future.
        Box::pin(async move {
            let mut response = router::handle(state, request, peer).await;
            if guard.is_last() && response.status() != StatusCode::SWITCHING_PROTOCOLS {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, std::convert::Infallible>(response.map(|body| guard.track(body)))
        })
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream)), service)
        .with_upgrades();
    tokio::pin!(connection);
    let mut shutdown_timer = None;
    // The current order applies to this connection, too.
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
                ConnectionOrder::CloseIdle if activity.idle_for() < IDLE_GRACE => {}
                ConnectionOrder::CloseIdle => return,
                ConnectionOrder::Finish => {
                    shutdown_timer = Some(Box::pin(sleep(activity.shutdown_wait())));
                }
            },
            () = over(&mut shutdown_timer) => {
                connection.as_mut().graceful_shutdown();
                shutdown_timer = None;
            }
        }
    }
}

/// Whether a connection has requests in progress, and since when it is idle.
#[derive(Clone)]
struct ConnectionActivity {
    shared: Arc<ActivityState>,
}

/// State that all clones of a [`ConnectionActivity`] share.
struct ActivityState {
    orders: watch::Receiver<ConnectionOrder>,
    opened: Instant,
    started: AtomicUsize,
    running: AtomicUsize,
    idle_since_ms: AtomicU64,
}

impl ConnectionActivity {
    fn new(orders: watch::Receiver<ConnectionOrder>) -> ConnectionActivity {
        ConnectionActivity {
            shared: Arc::new(ActivityState {
                orders,
                opened: Instant::now(),
                started: AtomicUsize::new(0),
                running: AtomicUsize::new(0),
                idle_since_ms: AtomicU64::new(0),
            }),
        }
    }

    fn request_started(&self) -> RequestGuard {
        self.shared.started.fetch_add(1, Ordering::Relaxed);
        self.shared.running.fetch_add(1, Ordering::Relaxed);
        RequestGuard(Arc::clone(&self.shared))
    }

    /// How long to wait for one more request at shutdown.
    fn shutdown_wait(&self) -> Duration {
        if self.shared.running.load(Ordering::Relaxed) > 0 {
            Duration::ZERO
        } else if self.shared.started.load(Ordering::Relaxed) > 0 {
            NEXT_REQUEST_WAIT
        } else {
            FIRST_REQUEST_WAIT
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

/// A request in progress, until its response is written.
struct RequestGuard(Arc<ActivityState>);

impl RequestGuard {
    /// Whether the connection accepts no further requests.
    fn is_last(&self) -> bool {
        self.0.orders.borrow().is_last()
    }

    fn track<B>(self, body: B) -> TrackedBody<B> {
        TrackedBody { body, _guard: self }
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.idle_since_ms.store(now, Ordering::Relaxed);
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response body that counts as activity of its connection until it is dropped.
struct TrackedBody<B> {
    body: B,
    _guard: RequestGuard,
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
    use runtime::{inbox::inbox, log_lines::LogLines, panels::PanelsSnapshot};
    use updates::{
        installer::{Installer, InstallerConfig},
        newest::NewestRelease,
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
        let config = InstallerConfig::without_slots(board, std::env::temp_dir(), inbox().0);
        let (installer, _) = Installer::new(config);
        Services {
            log: LogLines::new(),
            inbox: inbox().0,
            view: watch::Sender::new(Arc::new(device.view())).subscribe(),
            glass: watch::Sender::new(Arc::new(PanelsSnapshot::unknown(7, (122, 250)))).subscribe(),
            identity: device::settings::emit::BuildIdentity::default(),
            allow_origins: Vec::new(),
            access: PublicAccess::default(),
            clock: runtime::clock::Clock::unset(),
            port: 80,
            crashes: 0,
            newest: NewestRelease::new(installer.clone(), watch::Sender::new(None).subscribe()).0,
            installer,
            data_dir: std::env::temp_dir(),
            bench: None,
            demo: None,
            dialer: Dialer::new(Roots::public()),
            radio: wifi::radio().0,
            offers_panels: false,
            connections: Some(8),
            shutdown,
        }
    }

    #[tokio::test]
    async fn a_panic_in_a_core_task_ends_the_server() {
        let stop = watch::Sender::new(false);
        let (state, queues) = ServerState::new(services(stop.subscribe()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut core_tasks = Tasks::new();
        core_tasks.spawn("broken", async { panic!("on purpose") });
        core_tasks.spawn("fine", std::future::pending());
        // Must return by itself.
        run(listener, Arc::new(state), queues.side_tasks, core_tasks).await;
    }

    #[tokio::test]
    async fn the_send_buffer_of_a_connection_is_limited() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        configure(&listener).unwrap();
        let address = listener.local_addr().unwrap();
        #[expect(clippy::disallowed_methods, reason = "the client of a test")]
        let _client = TcpStream::connect(address).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        let size = rustix::net::sockopt::socket_send_buffer_size(&accepted).unwrap();
        assert_eq!(size, 2 * SEND_BUFFER);
    }
}

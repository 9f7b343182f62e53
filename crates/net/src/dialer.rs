//! The only place that opens outbound TCP connections, directly or through the owner's proxy.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use device::sources::{Proxy, ProxyKind, Route};
use futures_util::{StreamExt, stream::FuturesUnordered};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, duplex},
    net::{TcpSocket, TcpStream},
    sync::mpsc,
    time,
};
use tokio_rustls::TlsConnector;

use crate::{
    bypass::bypassed,
    proxy::{self, ProxyFailure},
    proxy_use::{ProxyUse, ProxyUses},
    resolver::{HostNames, NameService, NoAddress, Resolver},
    tls::{Own, Roots, TlsClient, TlsError},
    url::{Url, bracketed},
};

/// Longest time for one step of connecting.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(10);

/// Most addresses of a host that are tried.
pub const ADDRESSES_MAX: usize = 6;

/// Send buffer of a connection, bytes. It is small so that a slow connection blocks the writer, whose timeout can then
/// work. The kernel may use a multiple of it.
const SEND_BUFFER: u32 = 4 * 1024;

/// Time after which the next address of a host is tried in parallel.
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(300);

/// A connection of any kind.
pub trait Stream: AsyncRead + AsyncWrite + fmt::Debug + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + fmt::Debug + Send + Sync + Unpin> Stream for T {}

/// A connection to a destination, possibly through a proxy and with TLS.
pub type BoxedStream = Box<dyn Stream>;

/// Whether a connection is encrypted end to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportSecurity {
    /// Not encrypted.
    Plain,
    /// TLS with the destination, whose certificate is verified.
    Tls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination<'a> {
    /// Host name or address, an IPv6 address without brackets.
    pub host: &'a str,
    pub port: u16,
    /// Whether to use TLS.
    pub security: TransportSecurity,
}

impl<'a> From<&'a Url> for Destination<'a> {
    fn from(url: &'a Url) -> Destination<'a> {
        let security = if url.scheme.is_secure() {
            TransportSecurity::Tls
        } else {
            TransportSecurity::Plain
        };
        Destination {
            host: &url.host,
            port: url.port,
            security,
        }
    }
}

/// A failed connection: the step and the cause. Contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{step}: {failure}")]
pub struct DialError {
    pub step: ConnectStage,
    pub failure: ConnectFailure,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectStage {
    /// Looking up the destination's name.
    Resolve(String),
    Connect(String),
    /// Looking up the proxy's name.
    ResolveProxy(String),
    ConnectProxy(String),
    /// Negotiating the login with the proxy, and logging in.
    Login,
    /// Requesting the destination from the proxy.
    Request(String),
    Tls(String),
}

impl fmt::Display for ConnectStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectStage::Resolve(host) => write!(formatter, "looking up {host}"),
            ConnectStage::Connect(host_port) => write!(formatter, "connecting to {host_port}"),
            ConnectStage::ResolveProxy(host) => write!(formatter, "looking up the proxy {host}"),
            ConnectStage::ConnectProxy(host_port) => {
                write!(formatter, "connecting to the proxy {host_port}")
            }
            ConnectStage::Login => write!(formatter, "logging in at the proxy"),
            ConnectStage::Request(host_port) => {
                write!(formatter, "requesting {host_port} from the proxy")
            }
            ConnectStage::Tls(host) => write!(formatter, "securing the connection to {host}"),
        }
    }
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectFailure {
    #[error("no answer within {} s", STEP_TIMEOUT.as_secs())]
    Timeout,
    /// The name does not exist, or the lookup failed.
    #[error("no address found")]
    NotFound,
    /// The name has no IPv4 address, and SOCKS4 supports no other.
    #[error("no IPv4 address found, and this kind of proxy supports no other")]
    NoIpv4,
    /// The host is not a valid name for a certificate.
    #[error("the host is not a valid name for a certificate")]
    BadName,
    /// The certificate is invalid, or the TLS handshake failed.
    #[error("{0}")]
    Tls(String),
    /// The proxy refused the request.
    #[error("{0}")]
    Proxy(#[from] ProxyFailure),
    #[error("{0}")]
    Io(io::ErrorKind),
}

impl From<NoAddress> for ConnectFailure {
    fn from(error: NoAddress) -> ConnectFailure {
        match error {
            NoAddress::NotFound => ConnectFailure::NotFound,
            NoAddress::Timeout => ConnectFailure::Timeout,
        }
    }
}

impl From<io::Error> for ConnectFailure {
    fn from(error: io::Error) -> ConnectFailure {
        // TLS errors are wrapped in I/O errors and say more than the kind does.
        match error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<rustls::Error>())
        {
            Some(tls) => ConnectFailure::Tls(tls.to_string()),
            None => ConnectFailure::Io(error.kind()),
        }
    }
}

/// Number of connections so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DialCounts {
    /// Made without a proxy.
    pub direct: u64,
    /// Made through a proxy.
    pub proxied: u64,
    pub failed: u64,
}

/// A connection that arrives at an in-memory network.
#[derive(Debug)]
pub struct Arrival {
    /// Host and port of the connection.
    pub place: String,
    /// The server's end of the connection.
    pub stream: DuplexStream,
}

/// Buffer of an in-memory connection in each direction, bytes.
const MEMORY_BUFFER: usize = 64 * 1024;

/// Opens connections; clones share their state.
#[derive(Debug, Clone)]
pub struct Dialer {
    shared: Arc<DialerState>,
}

/// State that all clones of a dialer share.
#[derive(Debug)]
struct DialerState {
    transport: Transport,
    resolver: Resolver,
    roots: Roots,
    tls: Arc<ClientConfig>,
    proxy_uses: ProxyUses,
    direct: AtomicU64,
    proxied: AtomicU64,
    failed: AtomicU64,
}

impl Dialer {
    /// A dialer that trusts these root certificates.
    pub fn new(roots: Roots) -> Dialer {
        Dialer::with_names(roots, Arc::new(HostNames))
    }

    /// A dialer with another name service than the host's resolver.
    pub fn with_names(roots: Roots, names: Arc<dyn NameService>) -> Dialer {
        let send_buffer = Some(SEND_BUFFER);
        Dialer::over(Transport::Tcp { send_buffer }, roots, names)
    }

    /// A dialer for large uploads, with the host's default send buffer.
    pub fn for_uploads(roots: Roots) -> Dialer {
        let send_buffer = None;
        Dialer::over(Transport::Tcp { send_buffer }, roots, Arc::new(HostNames))
    }

    /// A dialer whose connections arrive in a queue instead of a network: for tests in virtual time.
    pub fn in_memory(roots: Roots, arrivals: mpsc::Sender<Arrival>) -> Dialer {
        Dialer::over(Transport::Memory(arrivals), roots, Arc::new(HostNames))
    }

    fn over(transport: Transport, roots: Roots, names: Arc<dyn NameService>) -> Dialer {
        let shared = DialerState {
            transport,
            resolver: Resolver::new(names),
            tls: roots.clone().client_config(),
            roots,
            proxy_uses: ProxyUses::default(),
            direct: AtomicU64::new(0),
            proxied: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        };
        Dialer {
            shared: Arc::new(shared),
        }
    }

    /// The resolver, for callers that need an address for another purpose than a connection.
    pub fn resolver(&self) -> &Resolver {
        &self.shared.resolver
    }

    /// A TLS client with its own certificates.
    ///
    /// # Errors
    /// A certificate or key cannot be read or used.
    pub fn own_tls(&self, own: Own<'_>) -> Result<TlsClient, TlsError> {
        self.shared.roots.clone().own_client(own)
    }

    /// Connects to a destination over a route.
    ///
    /// # Errors
    /// A step failed or took too long.
    pub async fn connect(
        &self,
        route: &Route,
        destination: Destination<'_>,
    ) -> Result<BoxedStream, DialError> {
        let tls = TlsClient(Arc::clone(&self.shared.tls));
        self.connect_by(route, destination, &tls).await
    }

    /// Connects to a destination over a route, with the given TLS client if the connection is secured.
    ///
    /// # Errors
    /// A step failed or took too long.
    pub async fn connect_by(
        &self,
        route: &Route,
        destination: Destination<'_>,
        tls: &TlsClient,
    ) -> Result<BoxedStream, DialError> {
        let proxy = route
            .proxy
            .as_ref()
            .filter(|proxy| is_used_for(proxy, destination.host));
        let shared = &self.shared;
        let made = match proxy {
            Some(proxy) => {
                let made = connect_through(shared, proxy, destination).await;
                shared.proxy_uses.record(proxy, made.as_ref().err());
                made
            }
            None => direct(shared, destination.host, destination.port).await,
        };
        let secured = match (made, destination.security) {
            (Ok(stream), TransportSecurity::Plain) => Ok(stream),
            (Ok(stream), TransportSecurity::Tls) => secure(tls, stream, destination.host).await,
            (Err(error), TransportSecurity::Plain | TransportSecurity::Tls) => Err(error),
        };
        let counter = match (&secured, proxy) {
            (Ok(_), Some(_)) => &self.shared.proxied,
            (Ok(_), None) => &self.shared.direct,
            (Err(_), _) => &self.shared.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        secured
    }

    /// The result of the last connection through a proxy; `None` before the first.
    pub fn proxy_use(&self, proxy: &Proxy) -> Option<ProxyUse> {
        self.shared.proxy_uses.last(proxy)
    }

    /// Number of connections so far.
    pub fn counts(&self) -> DialCounts {
        DialCounts {
            direct: self.shared.direct.load(Ordering::Relaxed),
            proxied: self.shared.proxied.load(Ordering::Relaxed),
            failed: self.shared.failed.load(Ordering::Relaxed),
        }
    }
}

async fn secure(tls: &TlsClient, raw: BoxedStream, host: &str) -> Result<BoxedStream, DialError> {
    step(ConnectStage::Tls(host.to_owned()), async {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ConnectFailure::BadName)?;
        let connector = TlsConnector::from(Arc::clone(&tls.0));
        let stream = connector.connect(name, raw).await?;
        Ok(Box::new(stream) as BoxedStream)
    })
    .await
}

/// Returns whether the route sends the host name to a proxy, which then resolves it.
pub fn goes_by_name(route: &Route, host: &str) -> bool {
    let proxy = route
        .proxy
        .as_ref()
        .filter(|proxy| is_used_for(proxy, host));
    proxy.is_some_and(|proxy| match proxy.kind {
        ProxyKind::HttpConnect | ProxyKind::Socks4a | ProxyKind::Socks5 => true,
        ProxyKind::Socks4 => false,
    })
}

fn is_used_for(proxy: &Proxy, host: &str) -> bool {
    !proxy.host.is_empty() && proxy.port != 0 && !bypassed(&proxy.bypass, host)
}

/// The network below the dialer.
#[derive(Debug)]
enum Transport {
    Tcp {
        /// Send buffer, bytes. `None` for the host's default.
        send_buffer: Option<u32>,
    },
    Memory(mpsc::Sender<Arrival>),
}

async fn direct(shared: &DialerState, host: &str, port: u16) -> Result<BoxedStream, DialError> {
    let lookup = ConnectStage::Resolve(host.to_owned());
    resolve_and_connect(
        shared,
        lookup,
        ConnectStage::Connect(host_port(host, port)),
        host,
        port,
    )
    .await
}

async fn resolve_and_connect(
    shared: &DialerState,
    lookup: ConnectStage,
    connect: ConnectStage,
    host: &str,
    port: u16,
) -> Result<BoxedStream, DialError> {
    match &shared.transport {
        Transport::Tcp { send_buffer } => {
            let addresses = step(lookup, resolve(shared, host, port)).await?;
            let tcp = step(connect, connect_any(addresses, *send_buffer)).await?;
            Ok(Box::new(tcp))
        }
        Transport::Memory(arrivals) => {
            let (ours, theirs) = duplex(MEMORY_BUFFER);
            let arrival = Arrival {
                place: host_port(host, port),
                stream: theirs,
            };
            let refused = |_| ConnectFailure::Io(io::ErrorKind::ConnectionRefused);
            step(connect, async {
                arrivals.send(arrival).await.map_err(refused)
            })
            .await?;
            Ok(Box::new(ours))
        }
    }
}

/// Connects to the proxy and requests the destination.
async fn connect_through(
    shared: &DialerState,
    proxy: &Proxy,
    Destination { host, port, .. }: Destination<'_>,
) -> Result<BoxedStream, DialError> {
    // Resolve before the connection to the proxy is opened.
    let ipv4 = match proxy.kind {
        ProxyKind::Socks4 => Some(
            step(
                ConnectStage::Resolve(host.to_owned()),
                resolve_ipv4(shared, host, port),
            )
            .await?,
        ),
        ProxyKind::HttpConnect | ProxyKind::Socks4a | ProxyKind::Socks5 => None,
    };
    let lookup = ConnectStage::ResolveProxy(proxy.host.to_string());
    let connect = ConnectStage::ConnectProxy(host_port(&proxy.host.masked(), proxy.port));
    let mut stream =
        resolve_and_connect(shared, lookup, connect, proxy.host.expose(), proxy.port).await?;
    if proxy.kind == ProxyKind::Socks5 {
        let login = async { Ok(proxy::socks5_login(&mut stream, &proxy.user, &proxy.pass).await?) };
        step(ConnectStage::Login, login).await?;
    }
    step(ConnectStage::Request(host_port(host, port)), async {
        match (proxy.kind, ipv4) {
            (ProxyKind::HttpConnect, _) => {
                proxy::http_connect(&mut stream, host, port, &proxy.user, &proxy.pass).await?;
            }
            (ProxyKind::Socks4, Some(address)) => proxy::socks4(&mut stream, address, port).await?,
            (ProxyKind::Socks4, None) => return Err(ConnectFailure::NoIpv4),
            (ProxyKind::Socks4a, _) => proxy::socks4a(&mut stream, host, port).await?,
            (ProxyKind::Socks5, _) => proxy::socks5_connect(&mut stream, host, port).await?,
        }
        Ok(())
    })
    .await?;
    Ok(stream)
}

async fn step<T>(
    step: ConnectStage,
    work: impl Future<Output = Result<T, ConnectFailure>>,
) -> Result<T, DialError> {
    let done = time::timeout(STEP_TIMEOUT, work)
        .await
        .unwrap_or(Err(ConnectFailure::Timeout));
    done.map_err(|failure| DialError { step, failure })
}

async fn resolve(
    shared: &DialerState,
    host: &str,
    port: u16,
) -> Result<Vec<SocketAddr>, ConnectFailure> {
    Ok(shared.resolver.look_up(host, port).await?)
}

async fn resolve_ipv4(
    shared: &DialerState,
    host: &str,
    port: u16,
) -> Result<Ipv4Addr, ConnectFailure> {
    let addresses = resolve(shared, host, port).await?;
    let ipv4 = addresses.iter().find_map(|address| match address.ip() {
        IpAddr::V4(ipv4) => Some(ipv4),
        IpAddr::V6(_) => None,
    });
    ipv4.ok_or(ConnectFailure::NoIpv4)
}

/// Tries addresses in turn, the next one as soon as one fails or is slow; returns the first connection.
async fn connect_any(
    addresses: Vec<SocketAddr>,
    send_buffer: Option<u32>,
) -> Result<TcpStream, ConnectFailure> {
    let mut waiting = addresses.into_iter().take(ADDRESSES_MAX);
    let mut attempts = FuturesUnordered::new();
    let mut failure = ConnectFailure::NotFound;
    loop {
        let next = waiting.next();
        attempts.extend(next.map(|address| connect_one(address, send_buffer)));
        if attempts.is_empty() {
            return Err(failure);
        }
        let next_after = if waiting.len() == 0 { STEP_TIMEOUT } else { NEXT_ADDRESS_AFTER };
        match time::timeout(next_after, attempts.next()).await {
            Ok(Some(Ok(tcp))) => return Ok(tcp),
            Ok(Some(Err(error))) => failure = error.into(),
            Ok(None) | Err(_) => {}
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where connections are made"
)]
async fn connect_one(address: SocketAddr, send_buffer: Option<u32>) -> io::Result<TcpStream> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if let Some(bytes) = send_buffer {
        socket.set_send_buffer_size(bytes)?;
    }
    socket.set_nodelay(true)?;
    socket.connect(address).await
}

fn host_port(host: &str, port: u16) -> String {
    format!("{}:{port}", bracketed(host))
}

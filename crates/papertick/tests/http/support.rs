//! A server on its own port, a fake device that records requests, and a simple client.

use std::{sync::Arc, time::Duration};

use board::sim::Bench;
use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    lights::Rgb,
    memory::Memory,
    request::{Changed, Reply, Request},
    secret::GeneratedPassword,
    settings::{Settings, emit::BuildIdentity},
    spoken,
    view::{FrontlightState, LinkState, View},
};
use market::{now::Now, offer::Offer, units::Currency};
use net::{dialer::Dialer, tls::Roots};
use render::Bitmap;
use runtime::{
    inbox::{InboxMessage, inbox},
    log_lines::LogLines,
    panels::{PanelState, PanelsSnapshot},
};
use serde_json::Value;
use sources::demo::DemoHand;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{Instant, timeout},
};
use updates::{
    installer::{Installer, InstallerConfig},
    newest::NewestRelease,
    policy::Signatures,
};
use web::proxy::PublicAccess;
use web::{serve, services::Services};
use wifi::Radio;

use crate::limit::Limit;

/// Timeout for events that should come at once.
pub(crate) const SOON: Duration = Duration::from_secs(10);

pub(crate) fn view_of(board: &str, settings: Settings) -> View {
    let board: BoardSpec = *board::spec::find(board).unwrap();
    let now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    View {
        hostname: "papertick-a1b2c3".into(),
        current_screen: 20,
        currency: Currency::parse("USD"),
        data: ["BTC/USD", " ", "$", "9", "5", "0", "0"]
            .map(String::from)
            .to_vec(),
        sentence: spoken::BLOCK_HEIGHT.with("height", spoken::number(900_123)),
        stale: false,
        truth: device::sources::Truth::default(),
        mode: "rotation",
        offer: Offer::new(
            ["USD", "EUR", "JPY"]
                .into_iter()
                .filter_map(Currency::parse)
                .collect(),
        ),
        lights: vec![Rgb::BLACK; board.leds],
        frontlight: board.frontlight.then(|| FrontlightState {
            on: true,
            duties: vec![2048; board.panels],
            target: 2048,
            brightness: 2048,
        }),
        millilux: board.light_sensor.then_some(15_760),
        link: LinkState {
            state: "connected",
            ip: "192.0.2.7".into(),
            rssi: -58,
            ..LinkState::default()
        },
        ..Device::new(board, settings, Memory::default(), now).view()
    }
}

/// The first snapshot of the panels.
pub(crate) fn glass_of(panels: usize) -> PanelsSnapshot {
    let panel = PanelState {
        painted: 1,
        since: Some(Instant::now()),
        ..PanelState::unknown(Arc::new(Bitmap::paper(122, 250)))
    };
    PanelsSnapshot {
        generation: 1,
        panels: vec![panel; panels],
    }
}

/// A server with a fake or a real device.
pub(crate) struct Clock {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) view: watch::Sender<Arc<View>>,
    pub(crate) glass: watch::Sender<Arc<PanelsSnapshot>>,
    pub(crate) shutdown: watch::Sender<bool>,
    pub(crate) requests: mpsc::Receiver<Request>,
    pub(crate) replies: mpsc::Sender<Reply>,
    pub(crate) server: JoinHandle<()>,
    pub(crate) folder: TempDir,
    pub(crate) time: runtime::clock::Clock,
    _limit: Limit,
}

pub(crate) struct Setup {
    pub(crate) board: &'static str,
    pub(crate) settings: Settings,
    pub(crate) allow_origins: Vec<String>,
    pub(crate) access: PublicAccess,
    pub(crate) bench: Option<Bench>,
    pub(crate) demo: Option<DemoHand>,
    pub(crate) connections: Option<usize>,
    pub(crate) dialer: Dialer,
    pub(crate) radio: Radio,
    pub(crate) offers_panels: bool,
    pub(crate) log: LogLines,
    pub(crate) device: Kind,
    pub(crate) generated_password: Option<GeneratedPassword>,
    pub(crate) signatures: Signatures,
    pub(crate) managed_by: Option<String>,
}

/// The device behind the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A fake device that records requests.
    StandIn,
    Real,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            board: "rev-b",
            settings: Settings::default(),
            allow_origins: Vec::new(),
            access: PublicAccess::default(),
            bench: None,
            demo: None,
            connections: None,
            dialer: Dialer::new(Roots::public()),
            radio: wifi::radio().0,
            offers_panels: false,
            log: LogLines::new(),
            device: Kind::StandIn,
            generated_password: None,
            signatures: Signatures::Required,
            managed_by: None,
        }
    }
}

impl Clock {
    /// Starts a clock with default settings on the default board.
    pub(crate) async fn start() -> Clock {
        Clock::with(Setup::default()).await
    }

    pub(crate) async fn with(setup: Setup) -> Clock {
        let (inbox, messages) = inbox();
        let board = *board::spec::find(setup.board).unwrap();
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let mut device = Box::new(Device::new(
            board,
            setup.settings.clone(),
            Memory::default(),
            now,
        ));
        if let Some(generated) = setup.generated_password {
            device.handle(Input::PasswordGenerated(generated), now);
        }
        let view = match setup.device {
            Kind::StandIn => view_of(setup.board, setup.settings),
            Kind::Real => device.view(),
        };
        let glass = watch::Sender::new(Arc::new(glass_of(view.board.panels)));
        let view = watch::Sender::new(Arc::new(view));
        let shutdown = watch::Sender::new(false);
        let (written, requests) = mpsc::channel(64);
        let (replies, scripted) = mpsc::channel(64);
        match setup.device {
            Kind::StandIn => tokio::spawn(fake_device(messages, written, scripted)),
            Kind::Real => tokio::spawn(core(*device, messages, view.clone())),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let board = view.borrow().board;
        let means = InstallerConfig {
            signatures: setup.signatures,
            managed_by: setup.managed_by,
            ..InstallerConfig::without_slots(board, folder.path().to_path_buf(), inbox.clone())
        };
        let (installer, _) = Installer::new(means);
        let time = runtime::clock::Clock::unset();
        let services = Services {
            inbox,
            view: view.subscribe(),
            glass: glass.subscribe(),
            identity: BuildIdentity {
                git_rev: "4.0.0-abc1234".into(),
                git_tag: "4.0.0".into(),
                last_build_time: Some(1_767_225_600),
                ..BuildIdentity::default()
            },
            allow_origins: setup.allow_origins,
            access: setup.access,
            clock: time.clone(),
            port: 8080,
            crashes: 2,
            newest: NewestRelease::new(installer.clone(), watch::Sender::new(None).subscribe()).0,
            installer,
            data_dir: folder.path().to_path_buf(),
            dialer: setup.dialer,
            log: setup.log,
            radio: setup.radio,
            offers_panels: setup.offers_panels,
            connections: setup.connections,
            bench: setup.bench,
            demo: setup.demo,
            shutdown: shutdown.subscribe(),
        };
        let server = tokio::spawn(serve(listener, services));
        Clock {
            address,
            view,
            glass,
            shutdown,
            requests,
            replies,
            server,
            folder,
            time,
            _limit: Limit::new(None),
        }
    }

    /// Starts a clock with the real device.
    pub(crate) async fn real() -> Clock {
        Clock::with(Setup {
            device: Kind::Real,
            ..Setup::default()
        })
        .await
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request without a body.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    /// Sends a POST without a body, as a browser's `fetch` does.
    pub(crate) async fn post(&self, path: &str) -> Answer {
        self.send("POST", path, &["Content-Length: 0"], "").await
    }

    /// Sends a request with a JSON body.
    pub(crate) async fn json(&self, method: &str, path: &str, body: &str) -> Answer {
        let length = format!("Content-Length: {}", body.len());
        self.send(
            method,
            path,
            &["Content-Type: application/json", &length],
            body,
        )
        .await
    }

    /// Sends a request on its own connection.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for header in headers {
            request.push_str(header);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        request.push_str(body);
        self.raw(request.as_bytes()).await
    }

    /// Sends bytes and reads the response until the connection closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        let mut received = Vec::new();
        timeout(SOON, stream.read_to_end(&mut received))
            .await
            .expect("an answer in time")
            .unwrap();
        Answer::parse(&received)
    }

    pub(crate) async fn next_request(&mut self) -> Request {
        timeout(SOON, self.requests.recv())
            .await
            .expect("a request in time")
            .unwrap()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut View)) {
        self.view.send_modify(|view| change(Arc::make_mut(view)));
    }
}

async fn fake_device(
    mut messages: mpsc::Receiver<InboxMessage>,
    written: mpsc::Sender<Request>,
    mut scripted: mpsc::Receiver<Reply>,
) {
    while let Some(message) = messages.recv().await {
        if let Input::Request(request) = message.input {
            let _ = written.try_send(request);
            let reply = scripted.try_recv().unwrap_or(Ok(Changed::default()));
            message.reply_to.send(Some(reply), None);
        }
    }
}

/// The real device, without a store and without time.
async fn core(
    mut device: Device,
    mut messages: mpsc::Receiver<InboxMessage>,
    view: watch::Sender<Arc<View>>,
) {
    let mut now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    while let Some(message) = messages.recv().await {
        now.uptime += Duration::from_secs(1);
        let output = device.handle(message.input, now);
        view.send_replace(Arc::new(device.view()));
        message.reply_to.send(output.reply, output.headers);
    }
}

/// A parsed response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn parse(bytes: &[u8]) -> Answer {
        let text = String::from_utf8_lossy(bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head in {text:?}"));
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap_or((line, "")))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
            .collect();
        Answer {
            status,
            headers,
            body: bytes[end + 4..].to_vec(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The body as JSON; checks the content type.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Number of event clients.
pub(crate) async fn followers(clock: &Clock) -> u64 {
    let metrics = clock.get("/metrics").await;
    let line = metrics
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("papertick_event_clients "));
    line.unwrap().parse().unwrap()
}

//! The real device, its main loop and its store behind a server.

use std::{net::SocketAddr, path::Path, sync::Arc};

use device::{
    settings::{Settings, emit::BuildIdentity},
    view::View,
};
use net::{dialer::Dialer, tls::Roots};
use papertick::main_loop::{InitialState, MainLoop};
use runtime::{
    clock::Clock, inbox::inbox, log_lines::LogLines, panels::PanelsSnapshot, tasks::stop_signal,
};
use storage::{Store, disk::Folder, store_thread::StoreHandle};
use tokio::{net::TcpListener, sync::watch};
use updates::{
    installer::{Installer, InstallerConfig},
    newest::NewestRelease,
};
use web::{serve, services::Services};

/// A clock that runs until the program ends.
pub struct Rig {
    pub address: SocketAddr,
    pub view: watch::Receiver<Arc<View>>,
}

/// Starts a clock that stores its settings in a folder.
pub async fn start(folder: &Path) -> Rig {
    let board = *board::spec::find("rev-b").unwrap();
    let clock = Clock::host();
    let (inbox, inputs) = inbox();
    let (radio, orders) = wifi::radio();
    let (store, _) = Store::open(Box::new(Folder::new(folder)));
    let initial = InitialState::with(board, Settings::default());
    let (store, worker) = StoreHandle::new(store);
    worker.spawn_thread().unwrap();
    let (main_loop, receivers) = MainLoop::new(initial, clock.clone(), inputs, store);
    let (stopper, stop) = stop_signal();
    tokio::spawn(main_loop.run(stop.clone()));
    let glass = watch::Sender::new(Arc::new(PanelsSnapshot::unknown(board.panels, (122, 250))));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = InstallerConfig::without_slots(board, folder.to_path_buf(), inbox.clone());
    let (installer, _) = Installer::new(config);
    let services = Services {
        log: LogLines::new(),
        inbox,
        view: receivers.view.clone(),
        glass: glass.subscribe(),
        identity: BuildIdentity::default(),
        allow_origins: Vec::new(),
        access: Default::default(),
        clock,
        port: 80,
        crashes: 0,
        newest: NewestRelease::new(installer.clone(), receivers.releases.clone()).0,
        installer,
        data_dir: folder.to_path_buf(),
        bench: None,
        demo: None,
        dialer: Dialer::new(Roots::public()),
        radio,
        offers_panels: false,
        connections: None,
        shutdown: stop.signal(),
    };
    let view = receivers.view.clone();
    tokio::spawn(async move {
        // The clock runs only while these exist.
        let _owned = (stopper, glass, receivers, orders);
        serve(listener, services).await;
    });
    Rig { address, view }
}

//! Hanging DNS lookups delay only other lookups, and not forever.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use board::spec;
use device::{
    input::{Contacts, Input},
    request::{Changed, Patch, Request},
    settings::Settings,
    sources::Route,
};
use net::{
    dialer::{Destination, Dialer, TransportSecurity},
    resolver::{LOOK_UPS_MAX, NameService},
    tls::Roots,
};
use papertick::main_loop::{InitialState, MainLoop};
use runtime::{
    clock::Clock,
    inbox::inbox,
    tasks::{Tasks, stop_signal},
};
use serde_json::{Map, json};
use storage::{Store, disk::Folder, store_thread::StoreHandle};
use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};

/// Timeout on a busy machine for events that should come at once.
const SOON: Duration = Duration::from_secs(5);

/// A resolver that hangs until it is released.
#[derive(Debug, Default)]
struct Hanging {
    look_ups: AtomicUsize,
    released: AtomicBool,
}

impl NameService for Hanging {
    fn look_up(&self, _: &str) -> io::Result<Vec<SocketAddr>> {
        self.look_ups.fetch_add(1, Ordering::SeqCst);
        while !self.released.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(vec![SocketAddr::from(([127, 0, 0, 1], 0))])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_lookups_block_neither_changes_nor_buttons() {
    let names = Arc::new(Hanging::default());
    let dialer = Dialer::with_names(Roots::public(), Arc::clone(&names) as Arc<dyn NameService>);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = move |dialer: Dialer, host: String| async move {
        let destination = Destination {
            host: &host,
            port,
            security: TransportSecurity::Plain,
        };
        dialer
            .connect(&Route::default(), destination)
            .await
            .map(drop)
    };
    let mut tasks = Tasks::new();
    for number in 0..4 * LOOK_UPS_MAX {
        let dialling = connect(dialer.clone(), format!("host-{number}.example"));
        tasks.spawn("dialling", async move {
            let _ = dialling.await;
        });
    }
    while names.look_ups.load(Ordering::SeqCst) < LOOK_UPS_MAX {
        sleep(Duration::from_millis(1)).await;
    }

    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(Box::new(Folder::new(folder.path())));
    let (store, worker) = StoreHandle::new(store);
    worker.spawn_thread().unwrap();
    let clock = Clock::unset();
    let board = *spec::find("rev-b").unwrap();
    let initial = InitialState::with(board, Settings::default());
    let (inbox, inputs) = inbox();
    let (main_loop, mut receivers) = MainLoop::new(initial, clock.clone(), inputs, store);
    let (_stopper, stop) = stop_signal();
    let mut device = Tasks::new();
    device.spawn("main loop", main_loop.run(stop));
    let patch = Request::Patch(Patch {
        body: Map::from_iter([("digitFontPx".to_string(), json!(200))]),
        ..Patch::default()
    });
    let patched = timeout(SOON, inbox.request(patch)).await.expect("in time");
    assert_eq!(patched.unwrap(), Ok(Changed::default()));
    // The button stops the rotation, which also changes the settings.
    for down in [1, 0] {
        let at = clock.now().uptime;
        let pressed = Input::Pressed(Contacts { down, at });
        inbox.send(pressed).await.unwrap();
        sleep(Duration::from_millis(100)).await;
    }
    let paused = receivers
        .view
        .wait_for(|view| !view.settings.active.timer_active);
    timeout(SOON, paused).await.expect("in time").unwrap();
    assert_eq!(names.look_ups.load(Ordering::SeqCst), LOOK_UPS_MAX);

    names.released.store(true, Ordering::SeqCst);
    while tasks.ended().await.is_some() {}
    let result = connect(dialer, "host-0.example".to_string()).await;
    assert_eq!(result, Ok(()));
}

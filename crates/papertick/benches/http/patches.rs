//! Durable changes of settings per second, compared with raw synced writes on the same disk.

use std::{
    fs::File,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{client::Client, rig};

const TIME: Duration = Duration::from_secs(3);

pub async fn run() {
    // Not the temporary folder, which may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let rig = rig::start(folder.path()).await;
    let size = {
        changes(rig.address, 1, Duration::from_millis(100)).await;
        largest(folder.path())
    };
    let raw = raw(folder.path(), size);
    println!("durable changes per second; the settings take {size} bytes on disk");
    println!("raw write and sync      {raw:8.0}");
    let replaced = replace(folder.path(), size);
    println!(
        "write two generations   {replaced:8.0}  ratio {:.2}",
        replaced / raw
    );
    for clients in [1, 64] {
        let rate = changes(rig.address, clients, TIME).await;
        println!(
            "{clients:2} clients              {rate:8.0}  ratio {:.2}",
            rate / raw
        );
    }
}

/// Changes of a setting per second. Each client alternates between two values of its own, so every request changes it.
async fn changes(address: std::net::SocketAddr, clients: u32, time: Duration) -> f64 {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        tasks.spawn(async move {
            let mut connections = Vec::new();
            for brightness in [client, client + 100] {
                let body = format!("{{\"ledBrightness\":{brightness}}}");
                let head = format!(
                    "PATCH /api/settings HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}",
                    body.len()
                );
                connections.push(Client::new(address, &format!("{head}\r\n\r\n{body}")).await);
            }
            let mut count = 0_u64;
            while started.elapsed() < time {
                connections[usize::from(count % 2 == 1)].send().await;
                count += 1;
            }
            count
        });
    }
    let count: u64 = tasks.join_all().await.into_iter().sum();
    count as f64 / started.elapsed().as_secs_f64()
}

/// Writes of the same size to a file, each synced before the next.
fn raw(folder: &Path, size: usize) -> f64 {
    let path = folder.join("baseline");
    let bytes = vec![b'x'; size];
    let started = Instant::now();
    let mut count = 0_u64;
    while started.elapsed() < TIME {
        let mut file = File::create(&path).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync_all().unwrap();
        count += 1;
    }
    count as f64 / started.elapsed().as_secs_f64()
}

/// The same, but keeps the previous file and syncs the folder, as is necessary to survive a power cut.
fn replace(folder: &Path, size: usize) -> f64 {
    let path = |name: &str| folder.join(name);
    let bytes = vec![b'x'; size];
    let started = Instant::now();
    let mut count = 0_u64;
    while started.elapsed() < TIME {
        let mut file = File::create(path("baseline.new")).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync_all().unwrap();
        std::fs::rename(path("baseline"), path("baseline.previous")).unwrap();
        std::fs::rename(path("baseline.new"), path("baseline")).unwrap();
        File::open(folder).unwrap().sync_all().unwrap();
        count += 1;
    }
    count as f64 / started.elapsed().as_secs_f64()
}

fn largest(folder: &Path) -> usize {
    let sizes = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len());
    usize::try_from(sizes.max().unwrap()).unwrap()
}

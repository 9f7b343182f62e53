//! Many event clients, half of which do not read: time from a change to the last reader, memory per client.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::{client::Client, rig};

/// Changes for each number of clients.
const ROUNDS: usize = 20;

/// A round ends when no event has arrived for this time.
const QUIET: Duration = Duration::from_millis(400);

pub async fn run() {
    for followers in [1000, 5000] {
        measure(followers).await;
    }
}

async fn measure(followers: usize) {
    let folder = tempfile::tempdir().unwrap();
    let rig = rig::start(folder.path()).await;
    let before = resident();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "followers",
            &rig.address.to_string(),
            &followers.to_string(),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let idle = resident();

    let next = format!(
        "POST /api/screen/next HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n",
        rig.address
    );
    let mut client = Client::new(rig.address, &next).await;
    let mut waits = Vec::new();
    for _ in 0..ROUNDS {
        let started = now();
        client.send().await;
        // One line per round: when the last reader received the event.
        let line = tokio::task::block_in_place(|| lines.next().unwrap().unwrap());
        let last: u128 = line.parse().unwrap();
        waits.push(Duration::from_nanos(
            u64::try_from(last.saturating_sub(started)).unwrap(),
        ));
        sleep(Duration::from_millis(150)).await;
    }
    let loaded = resident();
    child.stdin.take().unwrap().write_all(b"end\n").unwrap();
    child.wait().unwrap();
    waits.sort_unstable();
    let per = |bytes: u64| bytes.saturating_sub(before) / followers as u64 / 1024;
    println!(
        "{followers} followers, half of them not reading: change to last reader median {:?}, worst {:?}; {} KiB each idle, {} KiB each after {ROUNDS} changes",
        waits[waits.len() / 2],
        waits[waits.len() - 1],
        per(idle),
        per(loaded),
    );
    assert!(rig.view.has_changed().is_ok());
}

fn now() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

/// Memory of this process, bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// The other process: event clients, of which every second one reads.
pub fn follow(address: &str, clients: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (arrivals, mut arrived) = mpsc::channel(clients * 4);
        let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let mut not_reading = Vec::new();
        for index in 0..clients {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            if index % 2 == 0 {
                tokio::spawn(read(stream, arrivals.clone()));
            } else {
                not_reading.push(stream);
            }
        }
        // Skips the events at the start of each stream.
        while timeout(Duration::from_secs(1), arrived.recv())
            .await
            .is_ok()
        {}
        println!("ready");
        tokio::spawn(async move {
            let mut last = 0;
            loop {
                match timeout(QUIET, arrived.recv()).await {
                    Ok(Some(at)) => last = last.max(at),
                    _ if last > 0 => println!("{}", std::mem::take(&mut last)),
                    _ => {}
                }
            }
        });
        tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()))
            .await
            .unwrap()
            .unwrap();
        drop(not_reading);
    });
    // The reading tasks never end.
    std::process::exit(0);
}

async fn read(mut stream: TcpStream, arrivals: mpsc::Sender<u128>) {
    let mut buffer = vec![0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if buffer[..count]
            .windows(13)
            .any(|window| window == b"event: status")
        {
            let _ = arrivals.send(now()).await;
        }
    }
}

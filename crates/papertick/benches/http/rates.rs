//! Status and settings, compared with a bare server that sends the same bytes.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Response, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::{
    client::{self, Client},
    rig,
};

const CONNECTIONS: usize = 32;
const TIME: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;

pub async fn run() {
    let folder = tempfile::tempdir().unwrap();
    let rig = rig::start(folder.path()).await;
    println!(
        "responses per second over {CONNECTIONS} connections, median of {ROUNDS} rounds of {TIME:?} each"
    );
    for path in ["/api/status", "/api/settings"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", rig.address);
        let mut client = Client::new(rig.address, &request).await;
        let length = client.send().await;
        let bare_server = start_bare_server(Bytes::copy_from_slice(client.body(length))).await;
        let (mut papertick, mut baseline) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            papertick.push(client::rate(rig.address, &request, CONNECTIONS, TIME).await);
            baseline.push(client::rate(bare_server, &request, CONNECTIONS, TIME).await);
        }
        let (papertick, baseline) = (median(papertick), median(baseline));
        println!(
            "{path:14} {length:5} bytes  papertick {papertick:8.0}  bare {baseline:8.0}  ratio {:.2}",
            papertick / baseline
        );
    }
}

/// Starts a server that answers every request with the same bytes.
async fn start_bare_server(body: Bytes) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let body = body.clone();
            let service = service_fn(move |_| {
                let mut response = Response::new(Full::new(body.clone()));
                response
                    .headers_mut()
                    .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                async move { Ok::<_, Infallible>(response) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

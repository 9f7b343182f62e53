//! Downloads of releases through every kind of proxy.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    thread,
};

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    clock::eventually,
    programs::{firmware, working_program},
    updating::{UpdateRig, serve},
};

/// Reads up to a byte, without it.
fn until(client: &mut TcpStream, end: u8) -> io::Result<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    loop {
        client.read_exact(&mut byte)?;
        if byte[0] == end {
            return Ok(String::from_utf8(text).unwrap());
        }
        text.push(byte[0]);
    }
}

fn bytes<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads the request to a proxy of any kind; returns the kind, the user, and the target.
fn read_request(client: &mut TcpStream) -> io::Result<String> {
    match bytes(client)? {
        [4] => {
            let [1, high, low, ip @ ..] = bytes::<7>(client)? else {
                panic!("no connection is wanted")
            };
            until(client, 0)?;
            let port = u16::from_be_bytes([high, low]);
            let target = match ip {
                [0, 0, 0, _] => format!("socks4a {}:{port}", until(client, 0)?),
                ip => format!("socks4 {}:{port}", std::net::Ipv4Addr::from(ip)),
            };
            client.write_all(&[0, 90, 0, 0, 0, 0, 0, 0])?;
            Ok(target)
        }
        [5] => {
            let [count] = bytes(client)?;
            let mut methods = vec![0; usize::from(count)];
            client.read_exact(&mut methods)?;
            assert_eq!(methods, [2], "with a user there is no other way");
            client.write_all(&[5, 2])?;
            let [1, length] = bytes(client)? else {
                panic!("no user")
            };
            let mut user = vec![0; usize::from(length)];
            client.read_exact(&mut user)?;
            let [length] = bytes(client)?;
            client.read_exact(&mut vec![0; usize::from(length)])?;
            client.write_all(&[1, 0])?;
            let [5, 1, 0, 3, length] = bytes(client)? else {
                panic!("the proxy looks names up")
            };
            let mut host = vec![0; usize::from(length)];
            client.read_exact(&mut host)?;
            let port = u16::from_be_bytes(bytes(client)?);
            client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
            let text = |bytes| String::from_utf8(bytes).unwrap();
            Ok(format!("socks5 {}@{}:{port}", text(user), text(host)))
        }
        _ => {
            let first = until(client, b'\n')?;
            while until(client, b'\n')?.trim() != "" {}
            client.write_all(b"HTTP/1.1 200 Go ahead\r\n\r\n")?;
            let place = first.split_whitespace().nth(1).unwrap_or_default();
            Ok(format!("connect {place}"))
        }
    }
}

/// A proxy that connects all clients to one server, and reports the requests.
fn proxy(server: SocketAddr) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, sender) = (client.unwrap(), sender.clone());
            thread::spawn(move || {
                let Ok(request) = read_request(&mut client) else {
                    return;
                };
                // Fails if the test has ended.
                let _ = sender.send(request);
                let mut server = TcpStream::connect(server).unwrap();
                let (mut back, mut forth) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || io::copy(&mut client, &mut forth));
                let _ = io::copy(&mut server, &mut back);
                let _ = back.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    (address, requests)
}

#[test]
fn a_clock_updates_itself_through_every_kind_of_proxy() {
    for (kind, host, way) in [
        (1, "releases.invalid", "connect releases.invalid:"),
        // SOCKS4 does not resolve names.
        (2, "127.0.0.1", "socks4 127.0.0.1:"),
        (3, "releases.invalid", "socks4a releases.invalid:"),
        (4, "releases.invalid", "socks5 me@releases.invalid:"),
    ] {
        let rig = UpdateRig::new();
        let image = rig.image("4.9.0", &working_program());
        let target = updates::build::BuildFacts::own().target;
        let name = format!("papertick-rev-b-122x250-{target}.img");
        let digest = hex::encode(Sha256::digest(&image));
        let list = json!({ "tag_name": "v4.9.0", "assets": [
            { "name": name, "browser_download_url": name },
            { "name": format!("{name}.sha256"), "browser_download_url": format!("{name}.sha256") },
        ]});
        let server = serve(vec![
            ("new".to_string(), list.to_string().into_bytes()),
            (name.clone(), image),
            (format!("{name}.sha256"), digest.into_bytes()),
        ]);
        let (proxy, requests) = proxy(server);
        let clock = rig.clock();
        let settings = json!({
            "proxyEnabled": true, "proxyType": kind, "proxyHost": "127.0.0.1", "proxyPort": proxy.port(),
            "proxyUser": "me", "proxyPass": "sesame", "proxyBypass": "",
            "gitReleaseUrl": format!("http://{host}:{}/new", server.port()),
        });
        let answer = clock.patch(&settings.to_string());
        assert_eq!(answer.status, 200, "{way}: {}", answer.body);
        let answer = clock.send("POST", "/api/firmware/auto_update", "").unwrap();
        assert_eq!(answer.status, 200, "{way}: {}", answer.body);
        eventually("the new program runs", || {
            firmware(&clock)["version"] == "4.9.0"
        });
        let place = format!("{way}{}", server.port());
        let fetched = requests
            .try_iter()
            .filter(|request| *request == place)
            .count();
        assert_eq!(fetched, 3, "{way}: list, checksum and image");
        assert_eq!(firmware(&clock)["lastFailure"], json!(null), "{way}");
    }
}

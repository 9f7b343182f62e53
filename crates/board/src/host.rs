//! What a board needs to know of the host it runs on.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// Address by which the host is reached from its network; the loopback address without one.
pub fn address() -> IpAddr {
    // Connecting a datagram socket only looks up the route; nothing is sent.
    let route = UdpSocket::bind("0.0.0.0:0")
        .and_then(|socket| socket.connect("192.0.2.1:9").map(|()| socket))
        .and_then(|socket| socket.local_addr());
    route.map_or(Ipv4Addr::LOCALHOST.into(), |address| address.ip())
}

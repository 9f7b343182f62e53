//! The address of the host.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// Address of the host in its network; the loopback address without a network.
pub fn address() -> IpAddr {
    // Connecting a datagram socket only looks up the route; nothing is sent.
    let route = UdpSocket::bind("0.0.0.0:0")
        .and_then(|socket| socket.connect("192.0.2.1:9").map(|()| socket))
        .and_then(|socket| socket.local_addr());
    route.map_or(Ipv4Addr::LOCALHOST.into(), |address| address.ip())
}

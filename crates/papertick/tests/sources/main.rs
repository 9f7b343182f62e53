//! Sources against real sockets on loopback: relays, proxies, pools and networks that misbehave.

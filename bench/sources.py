#!/usr/bin/env python3
"""Measures the memory of papertick with every source enabled, over TLS if the source has TLS.

    cargo build --release -p papertick
    python3 bench/sources.py [--binary FILE] [--secs 60]

A server in this process simulates explorer, exchange, Nostr relays, pool and miner on loopback, and sends a message on
every socket once a second. The baseline is the same clock with only its default source in the same run.
`openssl` creates the certificate, which is valid for a day.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import built
from process import Running, family, memory, request

FIXTURES = pathlib.Path(__file__).parent.parent / "crates/feeds/tests/fixtures"
PING = b"\x89\x00"
KEY = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"


def frame(text):
    data = text.encode()
    head = bytes([0x81, len(data)]) if len(data) < 126 else b"\x81\x7e" + len(data).to_bytes(2, "big")
    return head + data


class Peer(threading.Thread):
    """One connection: a WebSocket with a message every second, or a single HTTP response."""

    def __init__(self, stream, counts):
        super().__init__(daemon=True)
        self.stream, self.counts = stream, counts

    def run(self):
        try:
            self.serve()
        except OSError:
            pass

    def serve(self):
        head = b""
        while b"\r\n\r\n" not in head:
            chunk = self.stream.recv(65536)
            if not chunk:
                return
            head += chunk
        request_line, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        path = request_line.split(" ")[1]
        self.counts[path] = self.counts.get(path, 0) + 1
        if "sec-websocket-key" in fields:
            self.serve_websocket(path, fields)
        else:
            body = self.body(path)
            self.stream.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.stream.close()

    def serve_websocket(self, path, fields):
        digest = hashlib.sha1((fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        protocol = fields.get("sec-websocket-protocol")
        self.stream.sendall((
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}\r\n"
            + (f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else "") + "\r\n").encode())
        self.stream.settimeout(1)
        is_nostr = path in ("/nostr", "/wallet")
        while True:
            try:
                message = self.read_frame()
            except TimeoutError:
                self.stream.sendall(frame('["NOTICE", "%s"]' % ("x" * 200)) if is_nostr else PING)
                continue
            if is_nostr and message.startswith(b'["REQ"'):
                self.stream.sendall(frame(json.dumps(["EOSE", json.loads(message)[1]])))

    def read_frame(self):
        """Reads a frame of a client: masked, not fragmented, shorter than 64 KiB."""
        head = self.read(2)
        length = head[1] & 0x7F
        if length == 126:
            length = int.from_bytes(self.read(2), "big")
        mask = self.read(4)
        return bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.read(length)))

    def read(self, count):
        data = b""
        while len(data) < count:
            chunk = self.stream.recv(count - len(data))
            if not chunk:
                raise OSError("closed")
            data += chunk
        return data

    def body(self, path):
        for part, fixture in [("system/info", "miner/info.json"), ("statsnap", "pools/ocean.json")]:
            if part in path:
                return (FIXTURES / fixture).read_bytes()
        if path.endswith("tip/height"):
            return b"900000"
        return b"{}"


def listen(counts, context=None):
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            stream, _ = listener.accept()
            try:
                stream = context.wrap_socket(stream, server_side=True) if context else stream
            except OSError:
                continue
            Peer(stream, counts).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def certificate(folder):
    pem, key = f"{folder}/ca.pem", f"{folder}/key.pem"
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", key, "-out", pem,
    ], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    return pem, context


def resident(running):
    return sum(memory(pid)[0] for pid in family(running.process.pid)) / 1024


def measure(command, settings, seconds):
    with Running(command) as running:
        status, body = request(running.port, "/api/settings", "PATCH", json.dumps(settings))
        assert " 200 " in status, (status, body)
        request(running.port, "/api/restart", "POST")
        time.sleep(seconds)
        _, body = request(running.port)
        return resident(running), json.loads(body)["sources"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--secs", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pem, context = certificate(folder)
        counts = {}
        tls_port, plain_port = listen(counts, context), listen(counts)
        host = f"localhost:{tls_port}"

        def command(name):
            return [
                options.binary, "run", "--listen", "127.0.0.1:{port}", "--data-dir", f"{folder}/{name}", "--ca-file", pem,
                *built.isolated(relay=f"wss://{host}/api/v2/ws", exchange=f"wss://{host}/exchange", ocean=f"https://{host}"),
            ]

        everything = {
            "dataSource": 1, "explorerInstance": host, "explorerSecure": True,
            "nostrRelay": f"wss://{host}/nostr", "nostrZapNotify": True, "nostrZapPubkey": KEY,
            "nwcEnabled": True,
            "nwcUri": f"nostr+walletconnect://{KEY}?relay=wss%3A%2F%2Flocalhost%3A{tls_port}%2Fwallet&secret={'1' * 64}",
            "miningPoolStats": True, "miningPoolName": "ocean", "miningPoolUser": "bench",
            "minerEnabled": True, "minerHostname": f"127.0.0.1:{plain_port}",
        }
        alone, one = measure(command("alone"), {}, options.secs)
        all_on, many = measure(command("all"), everything, options.secs)
    print(f"default source alone, {len(one)} source: {alone:.1f} MiB resident in both processes")
    print(f"every source on, {len(many)} sources: {all_on:.1f} MiB, ratio {all_on / alone:.2f}")
    for name, source in many.items():
        print(f"  {name}: up {source['up']}, last error {source.get('lastError')}")
    for path, count in sorted(counts.items()):
        print(f"  {count:4} x {path}", file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the cost of proving the height: a year of headers after the anchor, and then single blocks.

    cargo build --release -p papertick
    python3 bench/headers.py [--binary FILE] [--headers 52560] [--blocks 200] [--runs 5]

Peers in this process serve headers of the test network (`--chain regtest`) on loopback, because a year of them can be mined
in a second; checking one costs the same hashes and comparisons as on the main network, except for the change of difficulty
every 2016 blocks. The clock uses them once as the owner's node, and once as four public peers, of which it asks one at a
time. The baseline is the same clock without peers in the same run, measured at the same moments. The load of the machine
is printed before and after: other programs make the times longer, but do not change bytes and memory.
"""

import argparse
import hashlib
import json
import pathlib
import socket
import statistics
import struct
import tempfile
import threading
import time

import built
from mqtt import print_load
from process import Running, children, memory, request

MAGIC = bytes.fromhex("fabfb5da")
HEADER = struct.Struct("<i32s32sIII")
# The easiest difficulty, which half of all hashes meet: in the form of a header, and as a number.
EASY, TARGET = 0x207FFFFF, 0x7FFFFF << 232
FIRST = HEADER.pack(1, bytes(32), bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a"), 1296688602, EASY, 2)
MESSAGE_MAX = 2000
SPACING = 600

# Default number of public peers.
PEERS = 4

# Addresses without a server.
UNREACHABLE = [f"127.0.0.1:{port}" for port in range(1, PEERS + 1)]

# Ids of the screens that are shown before the memory is measured.
TIME_SCREEN, HEIGHT_SCREEN = 3, 0

# Time between two blocks, s: long enough to show one.
PAUSE = 0.25

# Timeout of every wait, s.
TIMEOUT = 120


def digest(data):
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


class Chain:
    """Headers from the first block."""

    def __init__(self, count):
        self.headers, self.heights = [], {}
        self.add(FIRST)
        first_time = int(time.time()) - count * SPACING
        for at in range(count):
            self.mine(first_time + at * SPACING)

    def add(self, header):
        self.heights[digest(header)] = len(self.headers)
        self.headers.append(header)

    def mine(self, when):
        before, nonce = digest(self.headers[-1]), 0
        while True:
            header = HEADER.pack(4, before, bytes(32), when, EASY, nonce)
            if int.from_bytes(digest(header), "little") <= TARGET:
                return self.add(header)
            nonce += 1

    def after(self, locator):
        height = next((self.heights[hash] for hash in locator if hash in self.heights), 0)
        return self.headers[height + 1:height + 1 + MESSAGE_MAX]


class Peer:
    """A peer that serves headers and counts the bytes of both directions."""

    def __init__(self, chain):
        self.chain, self.streams, self.sent, self.received, self.connected_at = chain, [], 0, 0, None
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            stream, _ = listener.accept()
            self.connected_at = self.connected_at or time.perf_counter()
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        try:
            while True:
                name, payload = self.read_message(stream)
                if name == b"version":
                    # Returns the version of the clock, with the service bit of a node with all blocks.
                    self.send(stream, b"version", payload[:4] + struct.pack("<Q", 1) + payload[12:])
                    self.send(stream, b"verack", b"")
                    self.streams.append(stream)
                elif name == b"getheaders":
                    locator = [payload[at:at + 32] for at in range(5, len(payload) - 32, 32)]
                    self.send_headers(stream, self.chain.after(locator))
        except OSError:
            pass

    def read_message(self, stream):
        head = self.read(stream, 24)
        return head[4:16].rstrip(b"\0"), self.read(stream, int.from_bytes(head[16:20], "little"))

    def read(self, stream, count):
        data = b""
        while len(data) < count:
            chunk = stream.recv(count - len(data))
            if not chunk:
                raise OSError("closed")
            data += chunk
        self.received += count
        return data

    def send(self, stream, name, payload):
        message = MAGIC + name.ljust(12, b"\0") + struct.pack("<I", len(payload)) + digest(payload)[:4] + payload
        self.sent += len(message)
        stream.sendall(message)

    def send_headers(self, stream, headers):
        count = bytes([len(headers)]) if len(headers) < 0xFD else b"\xfd" + struct.pack("<H", len(headers))
        self.send(stream, b"headers", count + b"".join(header + b"\0" for header in headers))

    def announce(self):
        for stream in self.streams:
            self.send_headers(stream, self.chain.headers[-1:])


class Clock(Running):
    """A clock that connects only to the peers of this process."""

    def __init__(self, binary, folder):
        command = [binary, "run", "--listen", "127.0.0.1:{port}", "--data-dir", str(folder), "--chain", "regtest"]
        super().__init__([*command, "--panel-timing", "instant", *built.isolated()])
        request(self.port)

    def set(self, settings):
        status, body = request(self.port, "/api/settings", "PATCH", json.dumps(settings))
        assert " 200 " in status, (status, body)

    def restart(self):
        before = self.device()
        request(self.port, "/api/restart", "POST")
        while self.device() in (before, None):
            time.sleep(0.001)

    def device(self):
        return next(iter(children(self.process.pid)), None)

    def until(self, height):
        """Waits until a height is proven; returns the time of the response that shows it."""
        first_time = time.perf_counter()
        while True:
            _, body = request(self.port)
            status = json.loads(body)
            truth = status["truth"]["height"]
            if (truth["state"], truth["proven"]) == ("proven", height):
                return time.perf_counter()
            assert time.perf_counter() - first_time < TIMEOUT, (truth, status["sources"])
            time.sleep(0.005)

    def resident(self):
        """Memory of the device, current and peak, KiB."""
        with open(f"/proc/{self.device()}/status") as file:
            most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        return memory(self.device())[0], most

    def spent(self):
        """Processor time of the device, s."""
        tasks = pathlib.Path(f"/proc/{self.device()}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in tasks) / 1e9


def run(binary, folder, chain, how, blocks):
    """Measures a clock with peers and a clock without."""
    peers = [Peer(chain) for _ in range(1 if how == "node" else PEERS)]
    with Clock(binary, folder / "with") as clock, Clock(binary, folder / "without") as other:
        height = len(chain.headers) - 1
        # The lights are off, because effects take processor time too.
        for one in (clock, other):
            one.set({"proofPeerMax": 0, "disableLeds": True, "flDisable": True})
        if how == "node":
            clock.set({"nodeKind": 1, "nodeHost": "127.0.0.1", "nodePort": peers[0].port})
        else:
            clock.set({"proofPeers": [f"127.0.0.1:{peer.port}" for peer in peers]})
            other.set({"proofPeers": UNREACHABLE})
        for one in (other, clock):
            one.restart()
        if how == "peers":
            # The other clock gets the same setting, because it takes memory too, but reaches no peer.
            for one in (other, clock):
                one.set({"proofPeerMax": PEERS})
        proven = clock.until(height)
        took = proven - min(peer.connected_at for peer in peers if peer.connected_at)
        sent, received = sum(peer.sent for peer in peers), sum(peer.received for peer in peers)
        # Both clocks paint the same screens, because fonts take memory too.
        for screen in (TIME_SCREEN, HEIGHT_SCREEN):
            for one in (clock, other):
                request(one.port, f"/api/show/screen?s={screen}", "POST")
            time.sleep(3)
        (now, most), (now_other, most_other) = clock.resident(), other.resident()
        figures = {
            "time to a proven tip, s": took,
            "sent by the peers, KiB": sent / 1024,
            "sent by the clock, KiB": received / 1024,
            "memory above that of a clock without peers, MiB": (now - now_other) / 1024,
            "the same of the peak memory, MiB": (most - most_other) / 1024,
            "memory of the clock without peers, MiB": now_other / 1024,
        }
        spent, spent_other, delays = clock.spent(), other.spent(), []
        for _ in range(blocks):
            chain.mine(int(time.time()))
            first_time = time.perf_counter()
            for peer in peers:
                peer.announce()
            delays.append(clock.until(len(chain.headers) - 1) - first_time)
            # The other clock handles as many requests.
            for _ in range(round(delays[-1] / 0.005)):
                request(other.port)
            time.sleep(PAUSE)
        sent_each = (sum(peer.sent for peer in peers) - sent) / blocks
        received_each = (sum(peer.received for peer in peers) - received) / blocks
        figures |= {
            "a block: until it is proven, ms": statistics.median(delays) * 1000,
            "a block: processor time, ms": (clock.spent() - spent - (other.spent() - spent_other)) / blocks * 1000,
            "a block: sent by the peers, bytes": sent_each,
            "a block: sent by the clock, bytes": received_each,
            "memory above that of the other clock after these blocks, MiB": (clock.resident()[0] - other.resident()[0]) / 1024,
        }
        return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--headers", type=int, default=52_560, help="default: a year")
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print_load("before")
    results = {}
    for how in ("node", "peers"):
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                chain = Chain(options.headers)
                for name, figure in run(options.binary, pathlib.Path(folder), chain, how, options.blocks).items():
                    results.setdefault(name, {}).setdefault(how, []).append(figure)
    print_load("after")
    print(f"| {options.headers} headers, median and spread of {options.runs} runs | the owner's node | {PEERS} peers |")
    print("|---|---|---|")
    for name, figures in results.items():
        cells = [f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})" for found in figures.values()]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures what it costs a clock to prove the height: a year of headers after the anchor, and then a block at a time.

    cargo build --release -p papertick
    python3 bench/headers.py [--binary FILE] [--headers 52560] [--blocks 200] [--runs 5]

Peers in this process serve headers on loopback, made on the network for tests (`--chain regtest`), where anybody can make a
year of them in a second; checking one costs the same hashes and comparisons as on the main network, but for the change of
difficulty every 2016 blocks. They are asked once as the owner's node, and once as four peers, of whom one is asked at a
time. The yardstick is the same clock without a peer in the same run, measured at the same moments. The load of the machine
is told before and after: what runs beside makes every time longer, not the bytes and the memory.
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
from mqtt import told_load
from process import Running, answer, children, memory

MAGIC = bytes.fromhex("fabfb5da")
HEADER = struct.Struct("<i32s32sIII")
# Half of all hashes will do: which of them, as a header says it and as a number.
EASY, TARGET = 0x207FFFFF, 0x7FFFFF << 232
FIRST = HEADER.pack(1, bytes(32), bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a"), 1296688602, EASY, 2)
MESSAGE_MAX = 2000
SPACING = 600

# Public peers that are asked at the same time, as a clock is delivered.
PEERS = 4

# Where nobody listens.
NOBODY = [f"127.0.0.1:{port}" for port in range(1, PEERS + 1)]

# Screens that are shown before memory is measured, by their ids.
TIME_SCREEN, HEIGHT_SCREEN = 3, 0

# Time between two blocks, s: long enough for one to be shown.
PAUSE = 0.25

# Longest time for anything, s.
PATIENCE = 120


def digest(data):
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


class Chain:
    """Headers from the first block on."""

    def __init__(self, count):
        self.headers, self.heights = [], {}
        self.add(FIRST)
        begun = int(time.time()) - count * SPACING
        for at in range(count):
            self.mine(begun + at * SPACING)

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
    """Whoever connects is told headers; the bytes of both ways are counted."""

    def __init__(self, chain):
        self.chain, self.streams, self.sent, self.received, self.met = chain, [], 0, 0, None
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            stream, _ = listener.accept()
            self.met = self.met or time.perf_counter()
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        try:
            while True:
                name, payload = self.hear(stream)
                if name == b"version":
                    # The same version back, by somebody who has all blocks.
                    self.say(stream, b"version", payload[:4] + struct.pack("<Q", 1) + payload[12:])
                    self.say(stream, b"verack", b"")
                    self.streams.append(stream)
                elif name == b"getheaders":
                    locator = [payload[at:at + 32] for at in range(5, len(payload) - 32, 32)]
                    self.tell(stream, self.chain.after(locator))
        except OSError:
            pass

    def hear(self, stream):
        head = self.take(stream, 24)
        return head[4:16].rstrip(b"\0"), self.take(stream, int.from_bytes(head[16:20], "little"))

    def take(self, stream, count):
        taken = b""
        while len(taken) < count:
            chunk = stream.recv(count - len(taken))
            if not chunk:
                raise OSError("closed")
            taken += chunk
        self.received += count
        return taken

    def say(self, stream, name, payload):
        message = MAGIC + name.ljust(12, b"\0") + struct.pack("<I", len(payload)) + digest(payload)[:4] + payload
        self.sent += len(message)
        stream.sendall(message)

    def tell(self, stream, headers):
        count = bytes([len(headers)]) if len(headers) < 0xFD else b"\xfd" + struct.pack("<H", len(headers))
        self.say(stream, b"headers", count + b"".join(header + b"\0" for header in headers))

    def announce(self):
        for stream in self.streams:
            self.tell(stream, self.chain.headers[-1:])


class Clock(Running):
    """A clock in processes of its own, which asks nobody else."""

    def __init__(self, binary, folder):
        command = [binary, "run", "--listen", "127.0.0.1:{port}", "--data-dir", str(folder), "--chain", "regtest"]
        super().__init__([*command, "--panel-timing", "instant", *built.alone()])
        answer(self.port)

    def set(self, settings):
        status, body = answer(self.port, "/api/settings", "PATCH", json.dumps(settings))
        assert " 200 " in status, (status, body)

    def restart(self):
        before = self.device()
        answer(self.port, "/api/restart", "POST")
        while self.device() in (before, None):
            time.sleep(0.001)

    def device(self):
        return next(iter(children(self.process.pid)), None)

    def until(self, height):
        """Waits until a height is proven; tells when it was."""
        begun = time.perf_counter()
        while True:
            _, body = answer(self.port)
            status = json.loads(body)
            truth = status["truth"]["height"]
            if (truth["state"], truth["proven"]) == ("proven", height):
                return time.perf_counter()
            assert time.perf_counter() - begun < PATIENCE, (truth, status["sources"])
            time.sleep(0.005)

    def resident(self):
        """Memory of the device, and the most that it ever was, KiB."""
        with open(f"/proc/{self.device()}/status") as file:
            most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        return memory(self.device())[0], most

    def spent(self):
        """Processor time of the device, s."""
        tasks = pathlib.Path(f"/proc/{self.device()}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in tasks) / 1e9


def run(binary, folder, chain, how, blocks):
    """One clock with peers and one without, from the first header on."""
    peers = [Peer(chain) for _ in range(1 if how == "node" else PEERS)]
    with Clock(binary, folder / "with") as clock, Clock(binary, folder / "without") as other:
        height = len(chain.headers) - 1
        # Lights take processor time as well, and are nothing of a proof.
        for one in (clock, other):
            one.set({"proofPeerMax": 0, "disableLeds": True, "flDisable": True})
        if how == "node":
            clock.set({"nodeKind": 1, "nodeHost": "127.0.0.1", "nodePort": peers[0].port})
        else:
            clock.set({"proofPeers": [f"127.0.0.1:{peer.port}" for peer in peers]})
            other.set({"proofPeers": NOBODY})
        for one in (other, clock):
            one.restart()
        if how == "peers":
            # The other one is told the same, for that takes memory too, and finds nobody.
            for one in (other, clock):
                one.set({"proofPeerMax": PEERS})
        proven = clock.until(height)
        took = proven - min(peer.met for peer in peers if peer.met)
        sent, received = sum(peer.sent for peer in peers), sum(peer.received for peer in peers)
        # What it takes to paint digits and labels is nothing of a proof either.
        for screen in (TIME_SCREEN, HEIGHT_SCREEN):
            for one in (clock, other):
                answer(one.port, f"/api/show/screen?s={screen}", "POST")
            time.sleep(3)
        (now, most), (now_other, most_other) = clock.resident(), other.resident()
        figures = {
            "time to a proven tip, s": took,
            "told by the peers, KiB": sent / 1024,
            "told by the clock, KiB": received / 1024,
            "memory above that of a clock without peers, MiB": (now - now_other) / 1024,
            "the same of the most that it ever was, MiB": (most - most_other) / 1024,
            "memory of the clock without peers, MiB": now_other / 1024,
        }
        spent, spent_other, delays = clock.spent(), other.spent(), []
        for _ in range(blocks):
            chain.mine(int(time.time()))
            begun = time.perf_counter()
            for peer in peers:
                peer.announce()
            delays.append(clock.until(len(chain.headers) - 1) - begun)
            # The other one answers as many questions.
            for _ in range(round(delays[-1] / 0.005)):
                answer(other.port)
            time.sleep(PAUSE)
        sent_each = (sum(peer.sent for peer in peers) - sent) / blocks
        received_each = (sum(peer.received for peer in peers) - received) / blocks
        figures |= {
            "a block: until it is proven, ms": statistics.median(delays) * 1000,
            "a block: processor time, ms": (clock.spent() - spent - (other.spent() - spent_other)) / blocks * 1000,
            "a block: told by the peers, bytes": sent_each,
            "a block: told by the clock, bytes": received_each,
            "memory above that of the other clock after these blocks, MiB": (clock.resident()[0] - other.resident()[0]) / 1024,
        }
        return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--headers", type=int, default=52_560, help="a year of them unless told otherwise")
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    told_load("before")
    results = {}
    for how in ("node", "peers"):
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                chain = Chain(options.headers)
                for name, figure in run(options.binary, pathlib.Path(folder), chain, how, options.blocks).items():
                    results.setdefault(name, {}).setdefault(how, []).append(figure)
    told_load("after")
    print(f"| {options.headers} headers, median and spread of {options.runs} runs | the owner's node | {PEERS} peers |")
    print("|---|---|---|")
    for name, figures in results.items():
        told = [f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})" for found in figures.values()]
        print(f"| {name} | {' | '.join(told)} |")


if __name__ == "__main__":
    main()

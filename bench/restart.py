#!/usr/bin/env python3
"""Measures what clients notice when the clock is started again or updated under load.

    cargo build --release -p papertick
    python3 bench/restart.py [--binary FILE] [--rate 200] [--clients 8] [--secs 12]

Half of the clients open a connection for each request, half keep theirs, and some follow `/events`. A request is late
from the moment at which it was due. One that meets the end of a kept connection is sent once more on a new one, as
every client of HTTP must do, and counts from when it was due all the same.
The yardstick is the same load on the same clock without a restart, right before.
"""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import built
from process import Running, answer, children

REQUEST = "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: {kept}\r\nContent-Length: {length}\r\n\r\n"


def connect(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def ask(client, kept, method="GET", path="/api/status", body=b""):
    """Sends a request and reads its answer; gives the body, and whether the connection goes on."""
    head = REQUEST.format(method=method, path=path, kept="keep-alive" if kept else "close", length=len(body))
    client.sendall(head.encode() + body)
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = client.recv(65536)
        if not chunk:
            raise ConnectionError("no answer")
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    if " 200 " not in lines[0]:
        raise RuntimeError(lines[0])
    headers = dict(line.split(": ", 1) for line in lines[1:])
    while len(body) < int(headers["content-length"]):
        chunk = client.recv(65536)
        if not chunk:
            raise ConnectionError("no whole answer")
        body += chunk
    return body, headers.get("connection") != "close"


class Load:
    """Clients that ask at a steady rate until they are told to stop."""

    def __init__(self, port, clients, rate, followers=4):
        self.port, self.period = port, clients / rate
        self.over = threading.Event()
        self.waits, self.refused, self.unanswered, self.again = [], 0, 0, 0
        self.streams, self.closed = followers, 0
        begun = time.perf_counter() + 0.1
        work = [(self.client, (index % 2 == 1, begun + index / rate)) for index in range(clients)]
        work += [(self.follower, ())] * followers
        self.threads = [threading.Thread(target=target, args=arguments) for target, arguments in work]
        for thread in self.threads:
            thread.start()

    def client(self, kept, due):
        connection = None
        while not self.over.is_set():
            time.sleep(max(0, due - time.perf_counter()))
            try:
                connection = self.once(connection, kept)
                self.waits.append((time.perf_counter() - due) * 1000)
            except ConnectionRefusedError:
                self.refused += 1
                connection = None
            except (OSError, RuntimeError):
                self.unanswered += 1
                connection = None
            due += self.period

    def once(self, connection, kept):
        if connection:
            try:
                return self.on(connection, kept)
            except OSError:
                self.again += 1
        return self.on(connect(self.port), kept)

    def on(self, connection, kept):
        _, goes_on = ask(connection, kept)
        if kept and goes_on:
            return connection
        connection.close()
        return None

    def follower(self):
        with connect(self.port) as stream:
            stream.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            stream.settimeout(0.2)
            last = b""
            while not self.over.is_set():
                try:
                    chunk = stream.recv(65536)
                except TimeoutError:
                    continue
                if not chunk:
                    break
                last = (last + chunk)[-100:]
            self.closed += b"data: closing" in last

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        waits = sorted(self.waits)
        return {
            "requests": len(waits) + self.refused + self.unanswered,
            "refused": self.refused,
            "unanswered": self.unanswered,
            "sent once more": self.again,
            "streams closed": f"{self.closed} of {self.streams}",
            "99 %, ms": round(waits[int(len(waits) * 0.99)], 1),
            "slowest, ms": round(waits[-1], 1),
        }


def firmware(port):
    with connect(port) as client:
        return json.loads(ask(client, False, path="/api/system/status")[0])["firmware"]


def post(port, path, body=b""):
    with connect(port) as client:
        return ask(client, False, "POST", path, body)[0]


def signed_image(binary, folder):
    """An image of the program itself, signed by a key that the clock trusts."""
    key, image, trusted = folder / "key", folder / "clock.img", folder / "data" / "update-keys"
    run = lambda *words: subprocess.run([binary, "image", *words], check=True, stdout=subprocess.DEVNULL)
    run("keygen", "--no-password", str(key))
    trusted.mkdir(parents=True)
    (trusted / "key.pub").write_bytes(pathlib.Path(f"{key}.pub").read_bytes())
    run("pack", "-o", str(image))
    run("sign", "--key", str(key), str(image))
    return image.read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--secs", type=float, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows, times = [], []

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        image = signed_image(options.binary, folder)
        command = [options.binary, "run", "--listen", "127.0.0.1:{port}", "--data-dir", str(folder / "data"),
                   *built.alone(), "--trial-seconds", "1"]
        with Running(command) as running:
            port, supervisor = running.port, running.process.pid
            answer(port)
            time.sleep(2)

            def under_load(name, act):
                load = Load(port, options.clients, options.rate)
                time.sleep(2)
                before = children(supervisor)[0]
                if act:
                    act()
                    began = time.perf_counter()
                    while before in children(supervisor):
                        time.sleep(0.001)
                    times.append((name, (time.perf_counter() - began) * 1000))
                time.sleep(max(0, options.secs - 4) if act else options.secs / 2)
                rows.append((name, load.end()))

            for _ in range(options.rounds):
                under_load("nothing", None)
                under_load("restart", lambda: post(port, "/api/restart"))
                slot = firmware(port)["running"]
                under_load("update", lambda: post(port, "/upload/firmware", image))
                now = firmware(port)
                assert now["running"] != slot and not now["trial"], now

    if options.json:
        print(json.dumps(rows, indent=2))
        return
    names = list(rows[0][1])
    print("| In the middle |", " | ".join(names), "|")
    print("|---" * (len(names) + 1) + "|")
    for name, row in rows:
        print(f"| {name} |", " | ".join(str(row[column]) for column in names), "|")
    for name, took in times:
        print(f"{name}: {took:.0f} ms from the answer until the one before had ended")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures the effect of a restart and of an update on clients under load.

    cargo build --release -p papertick
    python3 bench/restart.py [--binary FILE] [--rate 200] [--clients 8] [--secs 12]

Half of the clients open a connection for each request, half keep their connection alive, and some read `/events`. The
latency of a request counts from the time at which it was due. If a kept-alive connection is closed, its request is sent
again on a new one, as every HTTP client must do, and still counts from the time at which it was due.
The baseline is the same load on the same clock without a restart, immediately before. As a service manager does, this
script holds the socket and starts the clock again when it ends with status 75 to run the program of an update.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import built
from process import children, request

REQUEST = "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\nContent-Length: {length}\r\n\r\n"


def connect(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def exchange(client, keep_alive, method="GET", path="/api/status", body=b""):
    """Sends a request on a connection and reads the response; returns its body, and whether the connection stays open."""
    connection = "keep-alive" if keep_alive else "close"
    head = REQUEST.format(method=method, path=path, connection=connection, length=len(body))
    client.sendall(head.encode() + body)
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = client.recv(65536)
        if not chunk:
            raise ConnectionError("no response")
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    if " 200 " not in lines[0]:
        raise RuntimeError(lines[0])
    headers = dict(line.split(": ", 1) for line in lines[1:])
    while len(body) < int(headers["content-length"]):
        chunk = client.recv(65536)
        if not chunk:
            raise ConnectionError("incomplete response")
        body += chunk
    return body, headers.get("connection") != "close"


class Service:
    """A clock whose socket is held by this process, as by a service manager."""

    START = 'exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"'

    def __init__(self, command):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port, self.command = self.socket.getsockname()[1], command
        self.start()
        threading.Thread(target=self.keep, daemon=True).start()

    def start(self):
        self.process = subprocess.Popen(
            ["sh", "-c", self.START, "sh", *self.command],
            stdin=self.socket, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def keep(self):
        while self.process.wait() == 75:
            time.sleep(0.1)
            self.start()

    def devices(self):
        try:
            return children(self.process.pid)
        except FileNotFoundError:
            return []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Load:
    """Clients that send requests at a steady rate until `end`."""

    def __init__(self, port, clients, rate, followers=4):
        self.port, self.period = port, clients / rate
        self.over = threading.Event()
        self.latencies, self.refused, self.unanswered, self.resent = [], 0, 0, 0
        self.streams, self.closed = followers, 0
        started = time.perf_counter() + 0.1
        work = [(self.client, (index % 2 == 1, started + index / rate)) for index in range(clients)]
        work += [(self.follower, ())] * followers
        self.threads = [threading.Thread(target=target, args=arguments) for target, arguments in work]
        for thread in self.threads:
            thread.start()

    def client(self, keep_alive, due):
        connection = None
        while not self.over.is_set():
            time.sleep(max(0, due - time.perf_counter()))
            try:
                connection = self.send(connection, keep_alive)
                self.latencies.append((time.perf_counter() - due) * 1000)
            except ConnectionRefusedError:
                self.refused += 1
                connection = None
            except (OSError, RuntimeError):
                self.unanswered += 1
                connection = None
            due += self.period

    def send(self, connection, keep_alive):
        if connection:
            try:
                return self.send_on(connection, keep_alive)
            except OSError:
                self.resent += 1
        return self.send_on(connect(self.port), keep_alive)

    def send_on(self, connection, keep_alive):
        _, stays_open = exchange(connection, keep_alive)
        if keep_alive and stays_open:
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
        latencies = sorted(self.latencies)
        return {
            "requests": len(latencies) + self.refused + self.unanswered,
            "refused": self.refused,
            "unanswered": self.unanswered,
            "sent again": self.resent,
            "streams closed": f"{self.closed} of {self.streams}",
            "99 %, ms": round(latencies[int(len(latencies) * 0.99)], 1),
            "slowest, ms": round(latencies[-1], 1),
        }


def firmware(port):
    with connect(port) as client:
        return json.loads(exchange(client, False, path="/api/system/status")[0])["firmware"]


def post(port, path, body=b""):
    with connect(port) as client:
        return exchange(client, False, "POST", path, body)[0]


def signed_image(binary, folder):
    """An image of the program, signed with a key that the clock trusts."""
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
        command = [options.binary, "run", "--data-dir", str(folder / "data"), *built.isolated(), "--trial-seconds", "1"]
        with Service(command) as service:
            port = service.port
            request(port)
            time.sleep(2)

            def under_load(name, act):
                load = Load(port, options.clients, options.rate)
                time.sleep(2)
                before = service.devices()[0]
                if act:
                    act()
                    began = time.perf_counter()
                    while before in service.devices():
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
    print("| During the load |", " | ".join(names), "|")
    print("|---" * (len(names) + 1) + "|")
    for name, row in rows:
        print(f"| {name} |", " | ".join(str(row[column]) for column in names), "|")
    for name, took in times:
        print(f"{name}: {took:.0f} ms from the response until the previous process had ended")


if __name__ == "__main__":
    sys.exit(main())

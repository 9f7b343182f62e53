#!/usr/bin/env python3
"""Measures the processes of papertick: start, memory, idle CPU.

    cargo build --release -p papertick
    python3 bench/process.py [--binary FILE] [--idle-secs 60] [--starts 20]

Each figure is printed with its target and with the same figure of `python3 -m http.server` from the same run,
so that a slow machine is not mistaken for a slow program.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import built

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def family(pid):
    found = [pid]
    for child in children(pid):
        found += family(child)
    return found


def memory(pid):
    """Resident and proportional set size, KiB; shared pages count once in the latter."""
    figures = {}
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss"):
                figures[name] = int(rest.split()[0])
    return figures["Rss"], figures["Pss"]


def cpu(pid):
    """Processor time used so far, s."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def request(port, path="/api/status", method="GET", body=""):
    """Connects, waiting until the port is open, and sends a request; returns the status line and body of the response."""
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            break
        except ConnectionRefusedError:
            time.sleep(0.0005)
    with connection:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}"
        connection.sendall(f"{head}\r\n\r\n{body}".encode())
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0].decode(), body


class Running:
    """A server process on a free port."""

    def __init__(self, command):
        self.port = free_port()
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [word.format(port=self.port) for word in command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def since(self):
        return (time.perf_counter() - self.started) * 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def first_frame(running):
    """Waits until the panels are painted for the first time."""
    while True:
        _, body = request(running.port, "/api/panels/0.png")
        _, last = request(running.port, "/api/panels/6.png")
        if body != last:
            return running.since()
        time.sleep(0.001)


def starts(command, count, path, wait_for_frame):
    answers, frames = [], []
    for _ in range(count):
        with Running(command) as running:
            status, _ = request(running.port, path)
            answers.append(running.since())
            assert " 200 " in status, status
            if wait_for_frame:
                frames.append(first_frame(running))
    return answers, frames


def spread(figures):
    figures = sorted(figures)
    return statistics.median(figures), figures[int(len(figures) * 0.9)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--idle-secs", type=float, default=60)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = {}

    with tempfile.TemporaryDirectory() as folder:
        listen = ["--listen", "127.0.0.1:{port}", "--data-dir", folder]
        instant = [options.binary, "demo", *listen, "--panel-timing", "instant"]
        baseline = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "{port}"]

        answers, frames = starts(instant, options.starts, "/api/status", True)
        others, _ = starts(baseline, options.starts, "/", False)
        results["start to first answer, ms"] = (*spread(answers), 50, spread(others)[0])
        results["start to first frame, ms"] = (*spread(frames), None, None)

        quiet = [options.binary, "run", *listen, *built.isolated()]
        for name, command, settings in [
            ("idle", quiet, '{"disableLeds": true}'),
            ("idle, an LED blinks because the relay is out of reach", quiet, '{"disableLeds": false}'),
            ("demo, a block every few seconds flashes the lights", [options.binary, "demo", *listen], "{}"),
        ]:
            with Running(command) as running, Running(baseline) as other:
                status, _ = request(running.port, "/api/settings", "PATCH", settings)
                assert " 200 " in status, status
                request(other.port, "/")
                time.sleep(10)
                pids = family(running.process.pid)
                before, other_before = sum(map(cpu, pids)), cpu(other.process.pid)
                started = time.perf_counter()
                time.sleep(options.idle_secs)
                seconds = time.perf_counter() - started
                used = (sum(map(cpu, pids)) - before) / seconds * 100
                other_used = (cpu(other.process.pid) - other_before) / seconds * 100
                resident = sum(memory(pid)[0] for pid in pids) / 1024
                proportional = sum(memory(pid)[1] for pid in pids) / 1024
                other_resident = memory(other.process.pid)[0] / 1024
            target = 0.3 if name.startswith("idle") else None
            results[f"CPU, % of a core ({name})"] = (used, used, target, other_used)
            results[f"resident memory of both processes, MiB ({name})"] = (resident, resident, 25, other_resident)
            results[f"the same, shared pages once, MiB ({name})"] = (proportional, proportional, None, None)

    if options.json:
        print(json.dumps({name: row for name, row in results.items()}, indent=2))
        return
    print("| Figure | Median | 90 % | Target | Python's http.server | Ratio |")
    print("|---|---|---|---|---|---|")
    for name, (median, high, target, other) in results.items():
        ratio = f"{median / other:.2f}" if other and other >= 0.1 else ""
        target = f"< {target:g}" if target is not None else ""
        other = f"{other:.2f}" if other is not None else ""
        print(f"| {name} | {median:.2f} | {high:.2f} | {target} | {other} | {ratio} |")


if __name__ == "__main__":
    main()

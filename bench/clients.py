#!/usr/bin/env python3
"""Measures the memory of idle clients: for each client, and how much is freed after they disconnect.

    cargo build --release -p papertick
    python3 bench/clients.py [--binary FILE] [--clients 2000] [--gone-secs 60] [--kinds silent,kept,following,signing]

`silent` clients connect and send nothing, `kept` clients send one request and keep the connection open, `following`
clients read `/events`. They run in other processes, so that only the limit on open files bounds their number.
The baseline is the memory of a silent or kept client at Python's `http.server` in the same run.
`signing` sends a hundred requests with wrong passwords; its baseline is the memory after the first one.
"""

import argparse
import base64
import concurrent.futures
import multiprocessing
import pathlib
import resource
import select
import socket
import sys
import tempfile
import time

import built
from process import Running, children, memory, request

REQUESTS = {
    "silent": b"",
    "kept": b"GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "following": b"GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
}

# Open files that a process needs for other purposes.
SPARE = 64

# Clients of the baseline, which has a thread for each client and a backlog of five.
THREADS = 200


def run_clients(port, kind, count, pipe):
    """Opens clients and reads their data until the pipe gets a message."""
    poll = select.epoll()
    clients, waiting, refused = {}, set(), 0
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        client.sendall(REQUESTS[kind])
        client.setblocking(False)
        clients[client.fileno()] = client
        poll.register(client, select.EPOLLIN)
        if REQUESTS[kind]:
            waiting.add(client.fileno())
    poll.register(pipe.fileno(), select.EPOLLIN)
    is_reported = False
    while True:
        for number, _ in poll.poll(0.2):
            if number == pipe.fileno():
                pipe.recv()
                return
            received = clients[number].recv(65536)
            if number in waiting:
                refused += not received.startswith(b"HTTP/1.1 200")
                waiting.discard(number)
            if not received:
                poll.unregister(number)
        if not waiting and not is_reported:
            is_reported = True
            pipe.send(refused)


def start_clients(port, kind, count):
    """Starts as many processes as the limit on open files requires; waits until all clients have a response."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    most = min(hard - SPARE, 10000)
    processes, refused = [], 0
    for start in range(0, count, most):
        ours, theirs = multiprocessing.Pipe()
        arguments = (port, kind, min(most, count - start), theirs)
        process = multiprocessing.Process(target=run_clients, args=arguments)
        process.start()
        processes.append((process, ours))
    for _, pipe in processes:
        refused += pipe.recv()
    return processes, refused


def program(running):
    """Pid of the serving process: the child of the supervisor of a clock, or the baseline server itself."""
    return (children(running.process.pid) or [running.process.pid])[0]


def resident(running):
    """Resident memory of the serving process, KiB."""
    return memory(program(running))[0]


def cost(command, kind, count, gone_secs):
    """Memory before, with and after the clients, KiB; memory for each client; number of refused clients."""
    with Running(command) as running:
        # The first request allocates memory that does not depend on the number of clients.
        request(running.port, "/")
        time.sleep(5)
        before = resident(running)
        processes, refused = start_clients(running.port, kind, count)
        time.sleep(7)
        during = resident(running)
        for process, pipe in processes:
            pipe.send("end")
            process.join()
        time.sleep(gone_secs)
        after = resident(running)
    return before, during, after, (during - before) / max(1, count - refused), refused


def sign_in(port, number):
    """Signs in with a new wrong password; returns the status."""
    pair = base64.b64encode(f"papertick:{number}".encode()).decode()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        head = f"GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Basic {pair}"
        client.sendall(f"{head}\r\n\r\n".encode())
        return client.recv(65536).split()[1].decode()


def signing(command, count):
    """Memory after one sign-in and after many at once, KiB."""
    with Running(command) as running:
        request(running.port, "/api/settings", "PATCH", '{"httpAuthEnabled": true, "httpAuthPass": "correct horse"}')
        device = program(running)
        request(running.port, "/api/restart", "POST")
        while program(running) in (device, running.process.pid):
            time.sleep(0.1)
        assert sign_in(running.port, 0) == "401"
        one = resident(running)
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            statuses = set(pool.map(lambda number: sign_in(running.port, number), range(1, count)))
        assert statuses == {"401"}, statuses
        return one, resident(running)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary")
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--gone-secs", type=float, default=60)
    parser.add_argument("--kinds", default=",".join([*REQUESTS, "signing"]))
    options = parser.parse_args()
    binary = options.binary or built.program("release")
    kinds = options.kinds.split(",")

    def clock(folder):
        command = [binary, "run", "--listen", "127.0.0.1:{port}", "--data-dir", folder]
        return [*command, "--panel-timing", "instant", *built.isolated()]

    with tempfile.TemporaryDirectory() as folder:
        status = pathlib.Path(folder, "api/status")
        status.parent.mkdir()
        status.write_text("{}")
        server = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder]
        server += ["--protocol", "HTTP/1.1", "{port}"]
        others = {kind: cost(server, kind, min(options.clients, THREADS), 0)[3] for kind in ("silent", "kept")}

    names = ["Clients", "Refused", "Before, MiB", "With them, MiB", "After, MiB", "After to before", "KiB each", "Ratio"]
    print("| " + " | ".join(names) + " |")
    print("|---" * len(names) + "|")
    for kind in REQUESTS:
        if kind not in kinds:
            continue
        with tempfile.TemporaryDirectory() as folder:
            before, during, after, each, refused = cost(clock(folder), kind, options.clients, options.gone_secs)
        other = others.get("kept" if kind == "following" else kind)
        ratio = f"{each / other:.2f}" if other else ""
        figures = [before / 1024, during / 1024, after / 1024]
        figures = " | ".join(f"{figure:.1f}" for figure in figures)
        print(f"| {options.clients} {kind} | {refused} | {figures} | {after / before:.2f} | {each:.1f} | {ratio} |", flush=True)
    if "signing" in kinds:
        with tempfile.TemporaryDirectory() as folder:
            one, many = signing(clock(folder), 100)
        print(f"after 1 sign-in {one / 1024:.1f} MiB, after 100 at once {many / 1024:.1f} MiB, ratio {many / one:.2f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures what clients cost that do nothing: memory for each, and how much of it is given back when they have gone.

    cargo build --release -p papertick
    python3 bench/clients.py [--binary FILE] [--clients 2000] [--gone-secs 60] [--kinds silent,kept,following,signing]

`silent` clients connect and say nothing, `kept` ones ask once and keep the connection, `following` ones follow
`/events`. They live in processes of their own, so that only the limit on open files bounds how many there are.
The yardstick is what a client costs Python's `http.server` in the same run, whose clients can be silent or kept.
`signing` clients sign in a hundred times with wrong passwords; the yardstick is the memory after the first one.
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
from process import Running, answer, children, memory

REQUESTS = {
    "silent": b"",
    "kept": b"GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "following": b"GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
}

# Open files that a process keeps for itself.
SPARE = 64

# Clients of the yardstick, which has a thread for each and lets five wait.
THREADS = 200


def crowd(port, kind, count, pipe):
    """Holds clients until it is told to end, and reads whatever they are sent."""
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
    told = False
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
        if not waiting and not told:
            told = True
            pipe.send(refused)


def gather(port, kind, count):
    """Starts as many processes as the limit on open files asks for; waits until all clients are answered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    most = min(hard - SPARE, 10000)
    crowds, refused = [], 0
    for start in range(0, count, most):
        ours, theirs = multiprocessing.Pipe()
        arguments = (port, kind, min(most, count - start), theirs)
        process = multiprocessing.Process(target=crowd, args=arguments)
        process.start()
        crowds.append((process, ours))
    for _, pipe in crowds:
        refused += pipe.recv()
    return crowds, refused


def program(running):
    """The process that serves: the clock's has a supervisor, the yardstick's has not."""
    return (children(running.process.pid) or [running.process.pid])[0]


def resident(running):
    """Memory of the process that serves, KiB."""
    return memory(program(running))[0]


def cost(command, kind, count, gone_secs):
    """Memory before, with and after the clients, KiB; what each of them takes; how many were refused."""
    with Running(command) as running:
        # What is made once for all clients is not theirs.
        answer(running.port, "/")
        time.sleep(5)
        before = resident(running)
        crowds, refused = gather(running.port, kind, count)
        time.sleep(7)
        during = resident(running)
        for process, pipe in crowds:
            pipe.send("end")
            process.join()
        time.sleep(gone_secs)
        after = resident(running)
    return before, during, after, (during - before) / max(1, count - refused), refused


def sign_in(port, number):
    """Tries a password that nobody has tried; returns the status."""
    pair = base64.b64encode(f"papertick:{number}".encode()).decode()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        head = f"GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Basic {pair}"
        client.sendall(f"{head}\r\n\r\n".encode())
        return client.recv(65536).split()[1].decode()


def signing(command, count):
    """Memory after one sign-in and after many at once, KiB."""
    with Running(command) as running:
        answer(running.port, "/api/settings", "PATCH", '{"httpAuthEnabled": true, "httpAuthPass": "correct horse"}')
        device = program(running)
        answer(running.port, "/api/restart", "POST")
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
        return [*command, "--panel-timing", "instant", *built.alone()]

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

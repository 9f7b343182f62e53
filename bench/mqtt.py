#!/usr/bin/env python3
"""Measures clocks at one MQTT broker: the cost of the connection for a clock, and the latency of messages to many clocks.

    cargo build --release -p papertick
    python3 bench/mqtt.py [--binary FILE] [--clocks 20] [--idle-secs 60] [--down-secs 5]

Needs Mosquitto with its clients. Each clock runs in its own process with a demo market and has its own name; the
broker listens on loopback. The baseline of memory and processor time is the same clock without a broker in the same
run, and for the broker the same broker before the first clock, so that a slow machine is not mistaken for a slow
program. The load of the machine is printed before and after: other programs make the times longer.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

import built
from process import Running, children, cpu, free_port, memory, request

CONFIGURATION = """listener {port} 127.0.0.1
allow_anonymous true
persistence false
max_queued_messages 0
"""


class Broker:
    """Mosquitto on a free port, which can be killed and started again."""

    def __init__(self, folder):
        self.port = free_port()
        self.file = folder / "mosquitto.conf"
        self.file.write_text(CONFIGURATION.format(port=self.port))
        self.start()

    def start(self):
        self.process = subprocess.Popen(["mosquitto", "-c", str(self.file)], stderr=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def client(self, program, *words):
        return [program, "-h", "127.0.0.1", "-p", str(self.port), *words]

    def until(self, topic_filter, count, is_expected, begin=lambda: None):
        """Subscribes until a number of topics have an expected payload; returns the time since `begin`, s."""
        command = self.client("mosquitto_sub", "-t", topic_filter, "-F", "%t %p")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as subscriber:
            time.sleep(0.5)
            started, seen = time.perf_counter(), set()
            begin()
            for line in subscriber.stdout:
                topic, _, payload = line.partition(" ")
                if is_expected(payload):
                    seen.add(topic)
                if len(seen) == count:
                    break
            took = time.perf_counter() - started
            subscriber.terminate()
        assert len(seen) == count, f"{len(seen)} of {count}"
        return took

    def publish(self, topic, payload):
        subprocess.run(self.client("mosquitto_pub", "-t", topic, "-m", payload), check=True)


def clock(stack, binary, folder, number):
    data = folder / f"clock-{number}"
    command = [binary, "demo", "--listen", "127.0.0.1:{port}", "--data-dir", str(data)]
    running = stack.enter_context(Running(command))
    status, _ = request(running.port)
    assert " 200 " in status, status
    return running


def change(running, body):
    status, _ = request(running.port, "/api/settings", "PATCH", body)
    assert " 200 " in status, status


def device(running):
    return children(running.process.pid)[0]


def cost(running, seconds):
    """Memory of the device, KiB, and processor time, percent of a core."""
    pid = device(running)
    before = cpu(pid)
    time.sleep(seconds)
    return memory(pid)[0], (cpu(pid) - before) / seconds * 100


def cost_of_changes(running, seconds):
    """Processor time with one change a second, percent of a core."""
    pid = device(running)
    before = cpu(pid)
    started = time.monotonic()
    for second in range(1, int(seconds) + 1):
        change(running, f'{{"ledBrightness": {100 + second % 2}}}')
        time.sleep(max(0, started + second - time.monotonic()))
    return (cpu(pid) - before) / (time.monotonic() - started) * 100


def print_load(moment):
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(f"load of the machine {moment}: {load:.1f} on {cores} cores", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--clocks", type=int, default=20)
    parser.add_argument("--idle-secs", type=float, default=60)
    parser.add_argument("--down-secs", type=float, default=5, help="how long the broker is stopped")
    options = parser.parse_args()
    print_load("before")
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(Broker(folder))
        time.sleep(1)
        empty = memory(broker.process.pid)[0]
        clocks = [clock(stack, options.binary, folder, number) for number in range(options.clocks)]
        print_load("with all clocks, none at the broker")
        alone = cost(clocks[0], options.idle_secs)
        changed_alone = cost_of_changes(clocks[0], options.idle_secs)

        def connect():
            for number, running in enumerate(clocks):
                change(running, f'{{"mqttEnabled": true, "mqttHost": "127.0.0.1", "mqttPort": {broker.port}, '
                                f'"hostnamePrefix": "clock-{number}"}}')

        states = broker.until("papertick/+/state", len(clocks), bool, connect)
        connected = cost(clocks[0], options.idle_secs)
        changed = cost_of_changes(clocks[0], options.idle_secs)
        changed_settings = broker.until(
            "papertick/+/settings", len(clocks), lambda payload: '"ledBrightness":77' in payload,
            lambda: broker.publish("papertick/group/all/set", '{"ledBrightness": 77}'),
        )
        answered = broker.until(
            "papertick/+/result", len(clocks), bool,
            lambda: broker.publish("papertick/group/all/cmd/identify", ""),
        )
        size = memory(broker.process.pid)[0]
        broker.kill()
        time.sleep(options.down_secs)
        started = time.perf_counter()
        broker.start()
        # Retained messages are sent to a later subscriber too, so no clock is missed.
        time.sleep(1)
        broker.until("papertick/+/status", len(clocks), lambda payload: payload.startswith("online"))
        back = time.perf_counter() - started
        print_load("after")

    print(f"resident memory of the device, MiB: {alone[0] / 1024:.1f} alone, {connected[0] / 1024:.1f} at the broker")
    print(f"processor time of the device on a demo market, % of a core: {alone[1]:.2f} alone, {connected[1]:.2f} at the broker")
    print(f"the same with one change of a setting a second: {changed_alone:.2f} alone, {changed:.2f} at the broker")
    print(f"{options.clocks} clocks: all states are published {states:.1f} s after the first setting")
    print(f"the last clock answered a command to the group after {answered:.2f} s")
    print(f"the last clock published a change of settings after {changed_settings:.2f} s")
    print(f"after the broker was killed for {options.down_secs:.0f} s, the last clock reconnected {back:.0f} s after its start")
    each = (size - empty) / options.clocks
    print(f"resident memory of the broker, MiB: {empty / 1024:.1f} alone, {size / 1024:.1f} with all clocks, {each:.0f} KiB for each")


if __name__ == "__main__":
    main()

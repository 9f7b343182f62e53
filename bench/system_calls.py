#!/usr/bin/env python3
"""Counts the system calls of a block on a board with frontlight, and measures the processor time of a blinking LED.

    cargo build --release -p papertick
    python3 bench/system_calls.py [--binary FILE] [--blocks 10] [--blink-secs 60]

Needs strace. A peer in this process serves blocks to the clock as the node of its owner. The calls of the idle clock in the
same time are subtracted, and so is the processor time of a clock with disabled LEDs.
"""

import argparse
import pathlib
import signal
import subprocess
import tempfile
import time

import built
from headers import Chain, Clock, Peer

# Headers before the first counted block.
HEADERS = 10

# Time for a block: the effect of the strip takes 1.5 s, the flash of the frontlight 0.6 s.
BLOCK_SECS = 3

# Time after a start until other work is done, s: the first picture, the fade, and the grace period of a missing source.
SETTLE_SECS = 12


def system_calls(device, trace, steps):
    """Number of system calls of the device during the steps, BLOCK_SECS each."""
    command = ["strace", "-f", "-c", "-U", "calls,name", "-o", str(trace), "-p", str(device)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as strace:
        time.sleep(1)
        for step in steps:
            step()
            time.sleep(BLOCK_SECS)
        strace.send_signal(signal.SIGINT)
    total = next(line for line in trace.read_text().splitlines() if line.split()[1:] == ["total"])
    return int(total.split()[0])


def calls_per_block(binary, folder, blocks):
    chain = Chain(HEADERS)
    peer = Peer(chain)

    def block():
        chain.mine(int(time.time()))
        peer.announce()

    with Clock(binary, folder / "blocks") as clock:
        clock.set({"proofPeerMax": 0, "nodeKind": 1, "nodeHost": "127.0.0.1", "nodePort": peer.port})
        clock.restart()
        clock.until(HEADERS)
        time.sleep(SETTLE_SECS)
        idle = system_calls(clock.device(), folder / "idle", [lambda: None] * blocks)
        return (system_calls(clock.device(), folder / "trace", [block] * blocks) - idle) / blocks


def blinking(binary, folder, seconds):
    """Additional processor time of a clock that blinks because a source is missing, % of a core."""
    with Clock(binary, folder / "blinks") as blinks, Clock(binary, folder / "dark") as dark:
        blinks.set({"disableLeds": False})
        dark.set({"disableLeds": True})
        time.sleep(SETTLE_SECS)
        before, started = blinks.spent() - dark.spent(), time.perf_counter()
        time.sleep(seconds)
        return (blinks.spent() - dark.spent() - before) / (time.perf_counter() - started) * 100


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--blink-secs", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        print("| Figure | | Target |")
        print("|---|---|---|")
        calls = calls_per_block(options.binary, folder, options.blocks)
        print(f"| system calls of a block on a board with frontlight | {calls:.0f} | 200 |", flush=True)
        share = blinking(options.binary, folder, options.blink_secs)
        print(f"| a blinking LED, % of a core | {share:.2f} | 0.1 |")


if __name__ == "__main__":
    main()

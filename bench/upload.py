#!/usr/bin/env python3
"""Measures an upload of nearly the largest allowed image: peak memory, and the time until the new program serves.

    cargo build --release -p papertick
    python3 bench/upload.py [--binary FILE] [--mib 63] [--rounds 3]

The image is the program with random bytes appended, which cannot be compressed and do not affect it.
The baseline of the memory is the same process immediately before the upload.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import built
from restart import firmware, post
from process import Running, children, memory, request


def figure(pid, name):
    """A memory figure of a process in `/proc/PID/status`, KiB."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":"))


def image(binary, folder, mib):
    """Packs the program with random bytes appended; returns the path and size of the image."""
    program = folder / "papertick"
    shutil.copy(binary, program)
    packed = folder / "clock.img"

    def pack():
        subprocess.run([program, "image", "pack", "-o", packed], check=True, stdout=subprocess.DEVNULL)
        return packed.stat().st_size

    rest = mib * 1024 * 1024 - pack()
    with open(program, "ab") as file:
        file.write(os.urandom(rest))
    return packed, pack()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=built.program("release"))
    parser.add_argument("--mib", type=int, default=63)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            packed, size = image(options.binary, folder, options.mib)
            body = packed.read_bytes()
            command = [options.binary, "run", "--listen", "127.0.0.1:{port}", "--data-dir", str(folder / "data"),
                       *built.isolated(), "--unsigned-updates", "--trial-seconds", "1"]
            with Running(command) as running:
                request(running.port)
                time.sleep(5)
                device = children(running.process.pid)[0]
                idle = memory(device)[0]
                # Resets the peak memory of the process in the kernel.
                pathlib.Path(f"/proc/{device}/clear_refs").write_text("5")
                started = time.perf_counter()
                post(running.port, "/upload/firmware", body)
                answered = time.perf_counter()
                most = figure(device, "VmHWM")
                while firmware(running.port)["running"] == "factory":
                    time.sleep(0.002)
                serves = time.perf_counter()
                rows.append((idle / 1024, most / 1024, answered - started, serves - answered, size))
    median = lambda column: statistics.median(row[column] for row in rows)
    idle, most = median(0), max(row[1] for row in rows)
    print("| An upload of | Idle, MiB | Peak, MiB | Ratio | Above idle, MiB | Upload, s | Response to new program, s |")
    print("|---|---|---|---|---|---|---|")
    print(f"| {rows[0][4] / 1024 / 1024:.1f} MiB | {idle:.1f} | {most:.1f} | {most / idle:.2f} | {most - idle:.1f} "
          f"| {median(2):.1f} | {median(3):.2f} |")


if __name__ == "__main__":
    main()

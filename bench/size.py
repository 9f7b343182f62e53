#!/usr/bin/env python3
"""Measures how much features add to the size of the program, by the symbols of their crates.

  python3 bench/size.py
"""

import json
import os
import re
import subprocess
import tempfile

# Crates and modules of each feature; without crates that other features use too.
FEATURES = {
    "crash dumps": [
        "diagnostics", "crash_handler", "crash_context", "minidump_writer", "minidump_common", "goblin", "scroll",
        "procfs_core", "process_backend", "process_reader", "memmap2", "error_graph", "failspot", "range_map", "debugid",
        "uuid", "papertick::crash_dumps",
    ],
    "images, signatures and slots": [
        "minisign", "minisign_verify", "scrypt", "ct_codecs", "semver", "feeds::image", "feeds::release",
        "papertick::updates", "papertick::commands::image", "papertick::commands::release",
    ],
    "power cuts": [
        "papertick::power_cuts", "storage::power_cuts", "storage::sim_disk",
    ],
    "figures of the allocator": ["diagnostics::heap_count"],
}


def build(features=()):
    """Builds the program with symbols and returns its path."""
    environment = dict(os.environ, CARGO_PROFILE_RELEASE_STRIP="none")
    command = ["cargo", "build", "--release", "--locked", "-p", "papertick", "--message-format", "json-render-diagnostics"]
    if features:
        command += ["--features", ",".join(features)]
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    artifacts = (json.loads(line) for line in out.splitlines())
    return [artifact["executable"] for artifact in artifacts if artifact.get("executable")][-1]


def stripped(program):
    """Size of the program without symbols, bytes."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["strip", "-o", file.name, program], check=True)
        return os.path.getsize(file.name)


def symbols(program):
    """Size and path of every symbol that has a size."""
    out = subprocess.run(["nm", "-S", "-C", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        fields = line.split(maxsplit=3)
        if len(fields) == 4 and len(fields[1]) == 16:
            yield int(fields[1], 16), re.sub(r"^[<&*()\[\] ]*(?:dyn |mut )*", "", fields[3])


def main():
    program = build()
    whole = stripped(program)
    found = list(symbols(program))
    print(f"{'the program, stripped':32} {whole:>10,} bytes")
    for feature, parts in FEATURES.items():
        within = tuple(part + "::" for part in parts)
        size = sum(size for size, path in found if path.startswith(within))
        print(f"{feature:32} {size:>10,} bytes, {100 * size / whole:.1f} %")
    traced = stripped(build(["heap-trace"])) - whole
    print(f"{'the feature heap-trace':32} {traced:>10,} bytes, in builds that have it")


if __name__ == "__main__":
    main()

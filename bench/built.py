"""Path of the measured program, and the flags that keep it from connecting to public servers."""

import json
import pathlib
import subprocess

# Unreachable addresses for the upstreams that a clock uses by default, so that a measurement does not reach public servers.
UNREACHABLE = {name: "ws://127.0.0.1:1" for name in ("relay", "exchange", "coinbase", "bitstamp")} | {"sntp": "127.0.0.1:1", "seeds": ""}

ROOT = pathlib.Path(__file__).resolve().parent.parent


def isolated(**upstreams):
    """Flags for a clock that connects only to the named upstreams."""
    return [word for name, address in (UNREACHABLE | upstreams).items() for word in ("--upstream", f"{name}={address}")]


def program(profile):
    """Path of the program in the target folder of Cargo."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    return str(pathlib.Path(metadata["target_directory"]) / profile / "papertick")

"""The program that is measured: where Cargo leaves it, and what keeps it from asking anybody outside."""

import json
import pathlib
import subprocess

# Where everybody is who would be asked without being chosen, so that nobody hears of a measurement.
NOWHERE = {name: "ws://127.0.0.1:1" for name in ("relay", "exchange", "coinbase", "bitstamp")} | {"sntp": "127.0.0.1:1", "seeds": ""}

ROOT = pathlib.Path(__file__).resolve().parent.parent


def alone(**elsewhere):
    """The flags for a clock that asks nobody but those who are elsewhere."""
    return [word for name, place in (NOWHERE | elsewhere).items() for word in ("--upstream", f"{name}={place}")]


def program(profile):
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    return str(pathlib.Path(metadata["target_directory"]) / profile / "papertick")

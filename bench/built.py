"""Says where Cargo leaves the program: under `target`, unless somebody says otherwise."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def program(profile):
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    return str(pathlib.Path(metadata["target_directory"]) / profile / "papertick")

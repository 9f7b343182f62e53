#!/usr/bin/env python3
"""Checks offline that every dependency has a licence that deny.toml allows; prints the dependencies without one."""

import json
import re
import subprocess
import sys
import tomllib

with open("deny.toml", "rb") as file:
    ALLOWED = tomllib.load(file)["licenses"]["allow"]


def is_allowed(expression):
    """Evaluates an SPDX expression with AND, OR and brackets; WITH belongs to the licence before it."""
    words = re.sub(r"[\w.+-]+( WITH [\w.+-]+)?", lambda found: found[0].lower() if found[0] in ("AND", "OR") else str(found[0] in ALLOWED), expression)
    return eval(words.replace("/", " or "), {"__builtins__": {}})


version = subprocess.check_output(["rustc", "-vV"], text=True)
host = next(line.split()[1] for line in version.splitlines() if line.startswith("host:"))
command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host]
metadata = json.loads(subprocess.check_output(command))
used = {node["id"] for node in metadata["resolve"]["nodes"]}
packages = [package for package in metadata["packages"] if package["id"] in used]
refused = [package for package in packages if not package["license"] or not is_allowed(package["license"])]
for package in refused:
    print(f"{package['name']} {package['version']}: {package['license'] or 'no licence'}")
print(f"{len(packages)} packages, {len(refused)} with a licence that is not allowed")
sys.exit(1 if refused else 0)

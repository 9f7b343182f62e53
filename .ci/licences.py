#!/usr/bin/env python3
"""Checks offline that every dependency has an allowed licence; prints the dependencies without one."""

import json
import subprocess
import sys

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "MITNFA", "Unicode-3.0", "Unlicense", "Zlib",
}


def alternatives(expression):
    """The alternatives of an SPDX expression, each a set of licences; supports AND, OR, WITH and brackets."""
    tokens = expression.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ").split()
    position = 0

    def any_of():
        nonlocal position
        ways = all_of()
        while position < len(tokens) and tokens[position] == "OR":
            position += 1
            ways = ways + all_of()
        return ways

    def all_of():
        nonlocal position
        ways = one()
        while position < len(tokens) and tokens[position] == "AND":
            position += 1
            others = one()
            ways = [left | right for left in ways for right in others]
        return ways

    def one():
        nonlocal position
        if tokens[position] == "(":
            position += 1
            ways = any_of()
            position += 1
            return ways
        name = tokens[position]
        position += 1
        if position < len(tokens) and tokens[position] == "WITH":
            name += " WITH " + tokens[position + 1]
            position += 2
        return [{name}]

    return any_of()


def main():
    version = subprocess.check_output(["rustc", "-vV"], text=True)
    host = next(line.split()[1] for line in version.splitlines() if line.startswith("host:"))
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host]
    metadata = json.loads(subprocess.check_output(command))
    used = {node["id"] for node in metadata["resolve"]["nodes"]}
    packages = [package for package in metadata["packages"] if package["id"] in used]
    refused = [
        f"{package['name']} {package['version']}: {package['license'] or 'no licence'}"
        for package in packages
        if not package["license"]
        or not any(way <= ALLOWED for way in alternatives(package["license"]))
    ]
    for line in refused:
        print(line)
    print(f"{len(packages)} packages, {len(refused)} with a licence that is not allowed")
    sys.exit(1 if refused else 0)


main()

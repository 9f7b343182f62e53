"""Clocks under test, controlled by their HTTP API."""

import json
import os
import re
import signal
import urllib.error
import urllib.request

from .processes import START_MAX, CheckFailed, Process, free_port, until

# Unreachable addresses for all other upstreams, so that no public server is contacted.
UNREACHABLE = "ws://127.0.0.1:1"
UPSTREAMS = [
    f"relay={UNREACHABLE}", f"exchange={UNREACHABLE}", f"coinbase={UNREACHABLE}", f"bitstamp={UNREACHABLE}", "seeds=",
    "sntp=127.0.0.1:1",
]


class Clock:
    """A clock with its own settings."""

    def __init__(self, program, folder, settings, authority=None):
        self.program, self.folder, self.authority = program, folder, authority
        self.port = free_port()
        self.start()
        self.patch({"priceWitnesses": [], "proofPeerMax": 0, **settings})
        self.restart()

    def start(self):
        command = [self.program, "run", "--listen", f"127.0.0.1:{self.port}", "--data-dir", self.folder]
        command += ["--chain", "regtest", "--panel-timing", "instant", "--log", "debug"]
        command += [word for upstream in UPSTREAMS for word in ("--upstream", upstream)]
        if self.authority:
            command += ["--ca-file", self.authority]
        self.process = Process(command, self.folder.with_suffix(".log"))
        self.process.until_ready(self.status)

    def status(self):
        """The status; None while the clock does not respond."""
        try:
            return self.request("/api/status")
        except OSError:
            return None

    def request(self, path, method="GET", body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                text = response.read().decode()
        except urllib.error.HTTPError as error:
            raise CheckFailed(f"{method} {path}: {error.code} {error.read().decode()}") from None
        return json.loads(text) if text.startswith("{") else text

    def patch(self, settings):
        self.request("/api/settings", "PATCH", settings)

    def restart(self):
        """Restarts the device, and waits for the new process."""
        before = self.devices()
        self.request("/api/restart", "POST")
        self.until_replaced(before)

    def kill(self):
        """Kills the supervisor and the device."""
        self.process.kill()

    def kill_device(self):
        """Kills the device and waits until the supervisor has started another one."""
        before = self.devices()
        for device in before:
            os.kill(device, signal.SIGKILL)
        self.until_replaced(before)

    def devices(self):
        """Pids of the children of the supervisor."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return {int(number) for number in file.read().split()}

    def until_replaced(self, before):
        until("the clock has restarted", START_MAX, lambda: not self.devices() & before and self.status())

    def truth(self):
        return self.request("/api/status")["truth"]["height"]

    def source(self, name):
        """State of a source; None if the status has none."""
        return self.request("/api/status")["sources"].get(name)

    def proxied(self):
        """Number of connections through a proxy."""
        found = re.search(r'^papertick_outbound_connections_total\{route="proxy"\} (\d+)', self.request("/metrics"), re.M)
        return int(found.group(1))

    def shows(self, node, state):
        """True if the clock shows the newest block of a node with this state."""
        height, tip = node.tip()
        status = self.request("/api/status")
        truth, shown = status["truth"]["height"], status["market"].get("height") or {}
        return (truth["state"], truth.get("proven"), truth.get("tipHash"), shown.get("value")) == (state, height, tip, height)

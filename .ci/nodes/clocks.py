"""Clocks that ask a node, seen from the outside: by their control interface."""

import json
import os
import re
import signal
import urllib.error
import urllib.request

from .processes import START_MAX, Broken, Process, free_port, until

# Everything that a clock would ask besides, which is nowhere: nobody outside is to be asked.
NOBODY = "ws://127.0.0.1:1"
ELSEWHERE = [f"relay={NOBODY}", f"exchange={NOBODY}", f"coinbase={NOBODY}", f"bitstamp={NOBODY}", "seeds=", "sntp=127.0.0.1:1"]


class Clock:
    """A clock with settings of its own."""

    def __init__(self, program, folder, settings, authority=None):
        self.program, self.folder, self.authority = program, folder, authority
        self.port = free_port()
        self.start()
        self.patch({"priceWitnesses": [], "proofPeerMax": 0, **settings})
        self.restart()

    def start(self):
        command = [self.program, "run", "--listen", f"127.0.0.1:{self.port}", "--data-dir", self.folder]
        command += ["--chain", "regtest", "--panel-timing", "instant", "--log", "debug"]
        command += [word for upstream in ELSEWHERE for word in ("--upstream", upstream)]
        if self.authority:
            command += ["--ca-file", self.authority]
        self.process = Process(command, self.folder.with_suffix(".log"))
        self.process.until_there(self.answers)

    def answers(self):
        try:
            return self.ask("/api/status")
        except OSError:
            return None

    def ask(self, path, method="GET", body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                told = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Broken(f"{method} {path}: {error.code} {error.read().decode()}") from None
        return json.loads(told) if told.startswith("{") else told

    def patch(self, settings):
        self.ask("/api/settings", "PATCH", settings)

    def restart(self):
        """Starts the device again, and waits until it is another one."""
        before = self.devices()
        self.ask("/api/restart", "POST")
        self.until_other_than(before)

    def kill(self):
        """Ends supervisor and device at once, without a word."""
        self.process.kill()

    def kill_device(self):
        """Ends the device alone; its supervisor starts another one."""
        before = self.devices()
        for device in before:
            os.kill(device, signal.SIGKILL)
        self.until_other_than(before)

    def devices(self):
        """What the supervisor has started."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return {int(number) for number in file.read().split()}

    def until_other_than(self, before):
        until("the clock is there again", START_MAX, lambda: not self.devices() & before and self.answers())

    def truth(self):
        return self.ask("/api/status")["truth"]["height"]

    def source(self, name):
        """How a source is; none while there is none."""
        return self.ask("/api/status")["sources"].get(name)

    def proxied(self):
        """Connections through a proxy."""
        found = re.search(r'^papertick_outbound_connections_total\{route="proxy"\} (\d+)', self.ask("/metrics"), re.M)
        return int(found.group(1))

    def shows(self, node, state):
        """Whether the newest block of a node is shown, and how good it is."""
        height, tip = node.tip()
        status = self.ask("/api/status")
        truth, shown = status["truth"]["height"], status["market"].get("height") or {}
        return (truth["state"], truth.get("proven"), truth.get("tipHash"), shown.get("value")) == (state, height, tip, height)

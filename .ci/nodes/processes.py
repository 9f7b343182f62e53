"""Child processes of a check: each uses free ports on loopback and its own folder, and is killed at the end."""

import os
import signal
import socket
import subprocess
import time

# Timeout of the start and the end of a process, s.
START_MAX = 60

# Poll interval, s.
POLL_SECS = 0.1

# Started processes.
running = []


class CheckFailed(Exception):
    """A check failed."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, timeout, poll):
    """Polls until the result is truthy; returns the result and the elapsed seconds."""
    started = time.monotonic()
    while True:
        result = poll()
        took = time.monotonic() - started
        if result:
            return result, took
        if took > timeout:
            raise CheckFailed(f"{what}: not within {timeout} s")
        time.sleep(POLL_SECS)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Process:
    """A child process in a new session, with its output in a file."""

    def __init__(self, command, log, environment=None):
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=os.environ | (environment or {}), start_new_session=True,
            )
        running.append(self)

    @property
    def pid(self):
        return self.process.pid

    def signal(self, number):
        """Sends a signal to the process and its descendants."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(START_MAX)
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"{self.log.stem} does not end") from None

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def until_ready(self, poll):
        def is_ready():
            if self.process.poll() is not None:
                raise CheckFailed(f"{self.log.stem} has ended:\n{self.last_output()}")
            return poll()

        until(f"{self.log.stem} is ready", START_MAX, is_ready)

    def last_output(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


def kill_all():
    for process in running:
        if process.process.poll() is None:
            process.signal(signal.SIGCONT)
            process.kill()

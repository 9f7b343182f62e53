"""Programs that a check runs: each on a free port of loopback, in a folder of its own, and ended with the check."""

import os
import signal
import socket
import subprocess
import time

# Longest time for a program to be there, s.
START_MAX = 60

# Time between two looks, s.
LOOK_EVERY = 0.1

# What is running.
running = []


class Broken(Exception):
    """What was to hold does not."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, within, look):
    """Waits until a look shows something; tells it, and after how many seconds."""
    begun = time.monotonic()
    while True:
        seen = look()
        took = time.monotonic() - begun
        if seen:
            return seen, took
        if took > within:
            raise Broken(f"{what}: not within {within} s")
        time.sleep(LOOK_EVERY)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Process:
    """A program in a session of its own, whose output goes to a file."""

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
        """To the program and all that it has started."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(START_MAX)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.log.stem} does not end") from None

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def until_there(self, look):
        def there():
            if self.process.poll() is not None:
                raise Broken(f"{self.log.stem} has ended:\n{self.last_words()}")
            return look()

        until(f"{self.log.stem} is there", START_MAX, there)

    def last_words(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


def end_all():
    for process in running:
        if process.process.poll() is None:
            process.signal(signal.SIGCONT)
            process.kill()

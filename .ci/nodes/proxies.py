"""Proxies that people run, one of each kind that a clock speaks to; SOCKS4a has none that installs, so that one is ours."""

import shutil
import socket
import struct
import threading

from .processes import Broken, Process, free_port, listens

# What a setting calls each kind.
HTTP_CONNECT, SOCKS4, SOCKS4A, SOCKS5 = 1, 2, 3, 4

DANTE = """logoutput: stderr
internal: 127.0.0.1 port = {port}
external: 127.0.0.1
socksmethod: none
clientmethod: none
client pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}
socks pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}
"""


def program(name):
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
    if not found:
        raise Broken(f"the program `{name}` is not there: .ci/run installs it")
    return found


def begun(folder, name, command, port):
    process = Process(command, folder / f"{name}.log")
    process.until_there(lambda: listens(port))
    return port


def tinyproxy(folder):
    port, rules = free_port(), folder / "tinyproxy.conf"
    rules.write_text(f"Port {port}\nListen 127.0.0.1\n")
    return begun(folder, "tinyproxy", [program("tinyproxy"), "-d", "-c", rules], port)


def microsocks(folder):
    port = free_port()
    return begun(folder, "microsocks", [program("microsocks"), "-i", "127.0.0.1", "-p", port], port)


def dante(folder):
    port, rules = free_port(), folder / "danted.conf"
    rules.write_text(DANTE.format(port=port))
    return begun(folder, "danted", [program("danted"), "-f", rules], port)


def socks4a(_):
    """Carries what asks for a name, and nothing else."""
    listener = socket.create_server(("127.0.0.1", 0))

    def carry(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def until_zero(stream):
        text = b""
        while (byte := stream.recv(1)) not in (b"", b"\0"):
            text += byte
        return text.decode()

    def serve(stream):
        version, command, port, address = struct.unpack("!BBH4s", stream.recv(8, socket.MSG_WAITALL))
        until_zero(stream)
        if (version, command, address[:3]) != (4, 1, bytes(3)):
            stream.sendall(struct.pack("!BBH4s", 0, 91, 0, bytes(4)))
            stream.close()
            return
        try:
            target = socket.create_connection((until_zero(stream), port))
        except OSError:
            stream.sendall(struct.pack("!BBH4s", 0, 91, 0, bytes(4)))
            stream.close()
            return
        stream.sendall(struct.pack("!BBH4s", 0, 90, 0, bytes(4)))
        threading.Thread(target=carry, args=(stream, target), daemon=True).start()
        carry(target, stream)

    def accept():
        while True:
            stream, _ = listener.accept()
            threading.Thread(target=serve, args=(stream,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


# Each kind, whose it is, and by which name it is told where to go: SOCKS4 knows none.
KINDS = [
    ("HTTP CONNECT (tinyproxy)", HTTP_CONNECT, tinyproxy, "localhost"),
    ("SOCKS4 (Dante)", SOCKS4, dante, "127.0.0.1"),
    ("SOCKS4a (ours)", SOCKS4A, socks4a, "localhost"),
    ("SOCKS5 (Dante)", SOCKS5, dante, "127.0.0.1"),
    ("SOCKS5 (microsocks)", SOCKS5, microsocks, "localhost"),
]

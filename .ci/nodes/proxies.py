"""Proxies of each kind that a clock supports. No packaged proxy supports SOCKS4a, so this module contains one."""

import shutil
import socket
import struct
import threading

from .processes import CheckFailed, Process, free_port, listens

# Values of `proxyType`.
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
        raise CheckFailed(f"the program `{name}` is missing: .ci/run installs it")
    return found


def start(folder, name, command, port):
    process = Process(command, folder / f"{name}.log")
    process.until_ready(lambda: listens(port))
    return port


def tinyproxy(folder):
    port, rules = free_port(), folder / "tinyproxy.conf"
    rules.write_text(f"Port {port}\nListen 127.0.0.1\n")
    return start(folder, "tinyproxy", [program("tinyproxy"), "-d", "-c", rules], port)


def microsocks(folder):
    port = free_port()
    return start(folder, "microsocks", [program("microsocks"), "-i", "127.0.0.1", "-p", port], port)


def dante(folder):
    port, rules = free_port(), folder / "danted.conf"
    rules.write_text(DANTE.format(port=port))
    return start(folder, "danted", [program("danted"), "-f", rules], port)


def socks4a(_):
    """A SOCKS4a proxy that accepts only host names."""
    listener = socket.create_server(("127.0.0.1", 0))

    def relay(one, other):
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

    def read_string(stream):
        """Reads a string that ends with a zero byte."""
        text = b""
        while (byte := stream.recv(1)) not in (b"", b"\0"):
            text += byte
        return text.decode()

    def serve(stream):
        version, command, port, address = struct.unpack("!BBH4s", stream.recv(8, socket.MSG_WAITALL))
        read_string(stream)
        if (version, command, address[:3]) != (4, 1, bytes(3)):
            stream.sendall(struct.pack("!BBH4s", 0, 91, 0, bytes(4)))
            stream.close()
            return
        try:
            target = socket.create_connection((read_string(stream), port))
        except OSError:
            stream.sendall(struct.pack("!BBH4s", 0, 91, 0, bytes(4)))
            stream.close()
            return
        stream.sendall(struct.pack("!BBH4s", 0, 90, 0, bytes(4)))
        threading.Thread(target=relay, args=(stream, target), daemon=True).start()
        relay(target, stream)

    def accept():
        while True:
            stream, _ = listener.accept()
            threading.Thread(target=serve, args=(stream,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


# Name of the proxy, value of `proxyType`, function to start it, and target host: SOCKS4 supports no host names.
KINDS = [
    ("HTTP CONNECT (tinyproxy)", HTTP_CONNECT, tinyproxy, "localhost"),
    ("SOCKS4 (Dante)", SOCKS4, dante, "127.0.0.1"),
    ("SOCKS4a (built in)", SOCKS4A, socks4a, "localhost"),
    ("SOCKS5 (Dante)", SOCKS5, dante, "127.0.0.1"),
    ("SOCKS5 (microsocks)", SOCKS5, microsocks, "localhost"),
]

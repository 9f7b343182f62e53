"""Nodes that people run: bcoin, an independent full node, and ElectrumX on top of it; both on a network of one's own."""

import base64
import json
import shutil
import struct
import subprocess
import urllib.request

from .processes import Broken, Process, free_port, listens

# Where the blocks' rewards go: to anybody, whose script is `1`; in the form of address that the node takes.
ANYBODY = "Gdj5bzLLUhMjQFe3WiukAMfxBTHTuWgw7f"

# That script, and how it is named in what is paid and opened where that is spent.
SCRIPT = bytes([0x51])
PAYS_SCRIPT = bytes.fromhex("a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87")
OPENS_SCRIPT = bytes([len(SCRIPT)]) + SCRIPT

# What says that an output is for nobody, and that two bytes tell the length of what it holds.
HOLDS = bytes([0x6A, 0x4D])

# The password that the node wants.
KEY = "correct-horse"

# Nobody listens there.
NOWHERE = "127.0.0.1:1"

# What it takes for its own address, which has to look like a public one.
ADDRESS = "100.0.0.1"

# Time between two looks of the Electrum server at its node, ms.
LOOK_MS = 500


class Node:
    """A full node, with the blocks of a folder that another one has left."""

    def __init__(self, programs, folder, like=None):
        self.programs, self.folder = programs, folder
        self.port, self.rpc_port = free_port(), free_port()
        if like:
            shutil.copytree(like, folder)
        self.start()

    def start(self):
        # Told an address, it asks nobody outside for its own; what it would ask for blocks is nowhere.
        options = {
            "network": "regtest", "prefix": self.folder, "host": "127.0.0.1", "port": self.port, "http-host": "127.0.0.1",
            "http-port": self.rpc_port, "api-key": KEY, "no-wallet": "true", "workers": "false", "listen": "true",
            "public-host": ADDRESS, "only": NOWHERE, "log-file": "false", "log-level": "info",
        }
        script = self.programs / "node_modules/bcoin/bin/node"
        command = ["node", script, *(f"--{name}={value}" for name, value in options.items())]
        self.process = Process(command, self.folder.with_suffix(".log"), {"NODE_BACKEND": "js"})
        self.process.until_there(lambda: listens(self.rpc_port) and listens(self.port))

    def stop(self):
        self.process.stop()

    def kill(self):
        self.process.kill()

    def ask(self, method, *params):
        login = base64.b64encode(f"x:{KEY}".encode()).decode()
        body = json.dumps({"id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.rpc_port}/", body, {"Authorization": f"Basic {login}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            told = json.load(answer)
        if told["error"]:
            raise Broken(f"{method} {params}: {told['error']['message']}")
        return told["result"]

    def mine(self, count):
        return self.ask("generatetoaddress", count, ANYBODY)

    def tip(self):
        """Height and hash of its newest block."""
        told = self.ask("getblockchaininfo")
        return told["blocks"], told["bestblockhash"]

    def pay(self, height, size, rate):
        """Lets a payment wait that spends the reward of a block; it has about so many bytes, and pays so much for each."""
        block = self.ask("getblock", self.ask("getblockhash", height), True, True)
        reward = block["tx"][0]
        data = HOLDS + struct.pack("<H", size) + bytes(size)
        value = round(reward["vout"][0]["value"] * 100_000_000)
        spent = bytes.fromhex(reward["txid"])[::-1] + struct.pack("<I", 0)
        inputs = b"\1" + spent + bytes([len(OPENS_SCRIPT)]) + OPENS_SCRIPT + b"\xff" * 4
        # Ten bytes are those of version, time and so on; more precise it need not be.
        whole = 10 + len(inputs) + 9 + len(PAYS_SCRIPT) + 11 + len(data)
        paid = struct.pack("<QB", value - round(whole * rate), len(PAYS_SCRIPT)) + PAYS_SCRIPT
        held = struct.pack("<QBH", 0, 0xFD, len(data)) + data
        payment = struct.pack("<i", 1) + inputs + b"\2" + paid + held + bytes(4)
        self.ask("sendrawtransaction", payment.hex())

    def learn(self, other):
        """Takes the blocks of another node that it does not have."""
        height, tip = other.tip()
        missing = []
        while height > self.tip()[0] or self.ask("getblockhash", height) != tip:
            missing.append(other.ask("getblock", tip, False))
            height -= 1
            tip = other.ask("getblockhash", height)
        for block in reversed(missing):
            said = self.ask("submitblock", block)
            if said is not None:
                raise Broken(f"a block is refused: {said}")
        if self.tip() != other.tip():
            raise Broken(f"{self.tip()} is not {other.tip()}")


class Electrum:
    """An Electrum server on a node, with TLS and without."""

    def __init__(self, programs, folder, node):
        self.programs, self.folder, self.node = programs, folder, node
        self.port, self.tls_port = free_port(), free_port()
        folder.mkdir()
        self.certificate, self.key = folder / "certificate.pem", folder / "key.pem"
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        subprocess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", names, "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", self.key, "-out",
            self.certificate,
        ], check=True, capture_output=True)
        self.start()

    def start(self):
        settings = {
            "COIN": "Bitcoin", "NET": "regtest", "DB_DIRECTORY": str(self.folder), "ALLOW_ROOT": "1",
            "DAEMON_URL": f"http://x:{KEY}@127.0.0.1:{self.node.rpc_port}/", "SSL_CERTFILE": str(self.certificate), "SSL_KEYFILE": str(self.key),
            "SERVICES": f"tcp://127.0.0.1:{self.port},ssl://127.0.0.1:{self.tls_port}",
            "PEER_DISCOVERY": "off", "PEER_ANNOUNCE": "", "DAEMON_POLL_INTERVAL_BLOCKS": str(LOOK_MS),
            "COST_SOFT_LIMIT": "0", "COST_HARD_LIMIT": "0",
        }
        command = [self.programs / "bin/python", self.programs / "bin/electrumx_server"]
        self.process = Process(command, self.folder.with_suffix(".log"), settings)
        self.process.until_there(lambda: listens(self.port) and listens(self.tls_port))

    def stop(self):
        self.process.stop()

    def kill(self):
        self.process.kill()

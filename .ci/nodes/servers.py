"""Independent servers on regtest: bcoin, a full node, and ElectrumX on top of it."""

import base64
import json
import shutil
import struct
import subprocess
import urllib.request

from .processes import CheckFailed, Process, free_port, listens

# P2SH address for block rewards; its redeem script is `OP_1`, so the outputs are spendable without a signature.
ANYONE_CAN_SPEND = "Gdj5bzLLUhMjQFe3WiukAMfxBTHTuWgw7f"

# The redeem script, the output script for it, and the input script that spends such an output.
REDEEM_SCRIPT = bytes([0x51])
OUTPUT_SCRIPT = bytes.fromhex("a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87")
INPUT_SCRIPT = bytes([len(REDEEM_SCRIPT)]) + REDEEM_SCRIPT

# OP_RETURN and OP_PUSHDATA2: begin of an unspendable output with data.
DATA_OUTPUT = bytes([0x6A, 0x4D])

# Password of the node.
KEY = "correct-horse"

# An address without a server.
UNREACHABLE = "127.0.0.1:1"

# The address that the node announces as its own; it has to look public.
ADDRESS = "100.0.0.1"

# Interval in which the Electrum server polls its node, ms.
POLL_MS = 500


class Node:
    """A full node; `like` is the data folder of another node whose blocks it copies."""

    def __init__(self, programs, folder, like=None):
        self.programs, self.folder = programs, folder
        self.port, self.rpc_port = free_port(), free_port()
        if like:
            shutil.copytree(like, folder)
        self.start()

    def start(self):
        # With a configured address it does not ask public servers for its own, and `only` prevents public peers.
        options = {
            "network": "regtest", "prefix": self.folder, "host": "127.0.0.1", "port": self.port, "http-host": "127.0.0.1",
            "http-port": self.rpc_port, "api-key": KEY, "no-wallet": "true", "workers": "false", "listen": "true",
            "public-host": ADDRESS, "only": UNREACHABLE, "log-file": "false", "log-level": "info",
        }
        script = self.programs / "node_modules/bcoin/bin/node"
        command = ["node", script, *(f"--{name}={value}" for name, value in options.items())]
        self.process = Process(command, self.folder.with_suffix(".log"), {"NODE_BACKEND": "js"})
        self.process.until_ready(lambda: listens(self.rpc_port) and listens(self.port))

    def stop(self):
        self.process.stop()

    def kill(self):
        self.process.kill()

    def call(self, method, *params):
        """Calls a method of the JSON-RPC interface."""
        login = base64.b64encode(f"x:{KEY}".encode()).decode()
        body = json.dumps({"id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.rpc_port}/", body, {"Authorization": f"Basic {login}"})
        with urllib.request.urlopen(request, timeout=60) as response:
            reply = json.load(response)
        if reply["error"]:
            raise CheckFailed(f"{method} {params}: {reply['error']['message']}")
        return reply["result"]

    def mine(self, count):
        return self.call("generatetoaddress", count, ANYONE_CAN_SPEND)

    def tip(self):
        """Height and hash of the newest block."""
        info = self.call("getblockchaininfo")
        return info["blocks"], info["bestblockhash"]

    def pay(self, height, size, rate):
        """Adds a transaction of about `size` bytes to the mempool that spends the reward of a block and pays `rate` sat/byte."""
        block = self.call("getblock", self.call("getblockhash", height), True, True)
        reward = block["tx"][0]
        data = DATA_OUTPUT + struct.pack("<H", size) + bytes(size)
        value = round(reward["vout"][0]["value"] * 100_000_000)
        spent = bytes.fromhex(reward["txid"])[::-1] + struct.pack("<I", 0)
        inputs = b"\1" + spent + bytes([len(INPUT_SCRIPT)]) + INPUT_SCRIPT + b"\xff" * 4
        # Ten bytes for version, lock time and counts; the size need not be exact.
        total = 10 + len(inputs) + 9 + len(OUTPUT_SCRIPT) + 11 + len(data)
        payment_output = struct.pack("<QB", value - round(total * rate), len(OUTPUT_SCRIPT)) + OUTPUT_SCRIPT
        data_output = struct.pack("<QBH", 0, 0xFD, len(data)) + data
        transaction = struct.pack("<i", 1) + inputs + b"\2" + payment_output + data_output + bytes(4)
        self.call("sendrawtransaction", transaction.hex())

    def copy_blocks(self, other):
        """Submits the missing blocks of another node."""
        height, tip = other.tip()
        missing = []
        while height > self.tip()[0] or self.call("getblockhash", height) != tip:
            missing.append(other.call("getblock", tip, False))
            height -= 1
            tip = other.call("getblockhash", height)
        for block in reversed(missing):
            error = self.call("submitblock", block)
            if error is not None:
                raise CheckFailed(f"a block is rejected: {error}")
        if self.tip() != other.tip():
            raise CheckFailed(f"{self.tip()} is not {other.tip()}")


class Electrum:
    """An Electrum server of a node, with and without TLS."""

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
            "PEER_DISCOVERY": "off", "PEER_ANNOUNCE": "", "DAEMON_POLL_INTERVAL_BLOCKS": str(POLL_MS),
            "COST_SOFT_LIMIT": "0", "COST_HARD_LIMIT": "0",
        }
        command = [self.programs / "bin/python", self.programs / "bin/electrumx_server"]
        self.process = Process(command, self.folder.with_suffix(".log"), settings)
        self.process.until_ready(lambda: listens(self.port) and listens(self.tls_port))

    def stop(self):
        self.process.stop()

    def kill(self):
        self.process.kill()

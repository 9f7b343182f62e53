"""Bitcoin Core's own engine as judge: thousands of mutated messages of headers, and the same verdict of crate `chain`.

    judge.py PROGRAM SEED COUNT       PROGRAM is the example `judge` of crate `chain`

Runs in the Python that has py-bitcoinkernel. On the network of one's own a block costs two hashes, so what is changed
there is mined again and breaks one rule alone; of the main network there are genuine headers, whose changes lack work.
A message is judged as a node does it: its headers follow each other, and each is judged when those before it were taken.
Rules that only whole blocks can break are not asked about. Difficulty that changes is judged on the genuine headers
alone: nobody can mine two thousand of them for a test.
"""

import collections
import hashlib
import itertools
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import types

import pbk
import pbk.capi.bindings as engine

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GENUINE = ROOT / "crates/chain/tests/headers/mainnet-0-4099.bin"

HEADER = struct.Struct("<i32s32sIII")
EASY = 0x207FFFFF
AHEAD_MAX = 2 * 60 * 60
MEDIAN_OF = 11

# Time by which a block is clearly on one side of what is too far ahead, while both judges have a clock of their own, s.
CLEAR = 60

# Messages of one chain.
MESSAGES = 50

# How many blocks back a message begins at most; beyond what is kept the two differ by design.
BACK_MAX = 12

# What breaks a rule that needs no other header, or only those before it, is one kind of refusal to the engine.
KINDS = {
    pbk.BlockValidationResult.MISSING_PREV: {"unconnected"},
    pbk.BlockValidationResult.TIME_FUTURE: {"future"},
    pbk.BlockValidationResult.INVALID_HEADER: {"no-work", "wrong-bits", "too-old", "old-version"},
}


def digest(header):
    return hashlib.sha256(hashlib.sha256(header).digest()).digest()


def named(hash):
    return hash[::-1].hex()


def median(times):
    return sorted(times)[len(times) // 2]


class Engine:
    """A chain that Bitcoin Core's engine keeps."""

    def __init__(self, network, folder):
        self.context = pbk.make_context(network)
        options = pbk.ChainstateManagerOptions(self.context, str(folder), str(folder / "blocks"))
        options.update_block_tree_db_in_memory(True)
        options.update_chainstate_db_in_memory(True)
        self.manager = pbk.ChainstateManager(options)

    def hear(self, headers):
        """How many headers it takes, and why not the next one; none where it takes all."""
        before = None
        for at, header in enumerate(headers):
            if before is not None and header[4:36] != digest(before):
                return at, pbk.BlockValidationResult.MISSING_PREV
            state = pbk.BlockValidationState()
            taken = engine.btck_chainstate_manager_process_block_header(self.manager, pbk.BlockHeader(header), state)
            if taken != 0:
                return at, state.block_validation_result
            before = header
        return len(headers), None

    def newest(self):
        entry = self.manager.best_entry
        return entry.height, named(bytes(entry.block_hash))


class Ours:
    """A chain that crate `chain` keeps."""

    def __init__(self, program, network):
        self.process = subprocess.Popen([program, network], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self):
        self.process.stdin.write("\n")

    def hear(self, headers):
        self.process.stdin.write(f"{int(time.time())} {b''.join(headers).hex()}\n")
        self.process.stdin.flush()
        taken, broken, height, tip = self.process.stdout.readline().split()
        return int(taken), broken, (int(height), tip)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


class Maker:
    """Makes messages on the network of one's own, most of which break a rule."""

    def __init__(self, dice, first):
        self.dice = dice
        self.first = first
        # By hash: every header that keeps the rules, and its height; the first block's is known to both.
        self.known = {digest(first): (first, 0)}
        self.tip = digest(first)

    def ancestors(self, hash):
        """Headers down to the first block, newest first."""
        while hash != digest(self.first):
            header, _ = self.known[hash]
            yield header
            hash = header[4:36]

    def times(self, hash, headers=()):
        """Of the newest blocks up to some headers after a block, oldest first."""
        before = [*itertools.islice(self.ancestors(hash), MEDIAN_OF), self.first][:MEDIAN_OF]
        return [HEADER.unpack(header)[3] for header in [*reversed(before), *headers]][-MEDIAN_OF:]

    def mine(self, version, before, root, when, bits):
        """A header with the work that its bits ask for, as far as somebody can do it."""
        size, digits = bits >> 24, bits & 0x7FFFFF
        target = digits << 8 * (size - 3) if size >= 3 else digits >> 8 * (3 - size)
        for nonce in range(1 << 10):
            header = HEADER.pack(version, before, root, when, bits, nonce)
            if int.from_bytes(digest(header), "little") <= target:
                break
        return header

    def take(self, headers):
        """Remembers headers that both have taken."""
        for header in headers:
            _, height = self.known[header[4:36]]
            self.known[digest(header)] = (header, height + 1)

    def good(self, before, count):
        """Headers that keep the rules, after a block; some are as old or as new as they may be."""
        made, now = [], int(time.time())
        for _ in range(count):
            after = median(self.times(before, made))
            when = after + self.dice.choice([1, 1, 1, 2, 30, 600])
            if self.dice.random() < 0.1:
                when = max(when, now + self.dice.choice([-3600, 0, AHEAD_MAX - CLEAR]))
            version = self.dice.choice([4, 4, 5, 0x20000000, 0x7FFFFFFF])
            made.append(self.mine(version, digest(made[-1]) if made else before, self.dice.randbytes(32), when, EASY))
        return made

    def clear_message(self):
        """A message in which no block is so close to what is too far ahead that two clocks decide."""
        while True:
            name, headers = self.message()
            ahead = [HEADER.unpack(header)[3] - time.time() - AHEAD_MAX for header in headers]
            if all(abs(seconds) >= CLEAR / 2 for seconds in ahead):
                return name, headers

    def best(self):
        """The blocks of the chain with most work."""
        return {digest(header) for header in self.ancestors(self.tip)} | {digest(self.first)}

    def is_of_best(self, header):
        """Tells whether a header follows a block of the chain with most work, or nobody's."""
        before = header[4:36]
        return before not in self.known or before in self.best()

    def message(self):
        """Headers after a block of the best chain, or of another one from where it leaves that."""
        best = self.best()
        _, height = self.known[self.tip]
        low = max(0, height - BACK_MAX)
        near = [hash for hash, (_, height) in self.known.items() if height >= low]
        before = self.tip if self.dice.random() < 0.6 else self.dice.choice(near)
        way = []
        for header in self.ancestors(before):
            if digest(header) in best:
                break
            way.append(header)
        count = self.dice.randint(1, 7)
        headers = way[::-1] + self.good(before, count)
        name = "none"
        if self.dice.random() < 0.8:
            change = self.dice.choice(CHANGES)
            name = change.__name__
            headers = change(self, headers, self.dice.randrange(len(way), len(headers)))
        return name, headers

    def remade(self, headers, at, **fields):
        """The headers with one of them changed and mined again, and with those after it on top of that."""
        made = headers[:at]
        for place in range(at, len(headers)):
            version, before, root, when, bits, _ = HEADER.unpack(headers[place])
            if place == at:
                version, before, root = fields.get("version", version), fields.get("before", before), fields.get("root", root)
                when, bits = fields.get("when", when), fields.get("bits", bits)
            else:
                before = digest(made[-1])
            made.append(self.mine(version, before, root, when, bits))
        return made


def a_bit(maker, headers, at):
    """Not mined again."""
    changed = bytearray(headers[at])
    changed[maker.dice.randrange(80)] ^= 1 << maker.dice.randrange(8)
    return [*headers[:at], bytes(changed), *headers[at + 1:]]


def a_mined_bit(maker, headers, at):
    changed = bytearray(headers[at])
    changed[maker.dice.randrange(76)] ^= 1 << maker.dice.randrange(8)
    version, before, root, when, bits, _ = HEADER.unpack(changed)
    return maker.remade(headers, at, version=version, before=before, root=root, when=when, bits=bits)


def a_nonce(maker, headers, at):
    """The next one, good or not."""
    fields = HEADER.unpack(headers[at])
    return [*headers[:at], HEADER.pack(*fields[:5], fields[5] ^ 1), *headers[at + 1:]]


def a_time(maker, headers, at):
    after, ahead = median(maker.times(headers[0][4:36], headers[:at])), int(time.time()) + AHEAD_MAX
    when = maker.dice.choice([0, 1, after - 1, after, after + 1, ahead - CLEAR, ahead + CLEAR, 0x7FFFFFFF, 0xFFFFFFFF])
    return maker.remade(headers, at, when=when)


def a_difficulty(maker, headers, at):
    bits = maker.dice.choice([
        0, 1, 0x01000000, 0x01003456, 0x01FEDCBA, 0x02008000, 0x1D00FFFF, 0x1F7FFFFF, 0x2000FFFF, 0x20100000, 0x207FFFFE,
        0x20800000, 0x20800001, 0x20FFFFFF, 0x2100FFFF, 0x21007FFF, 0x21010000, 0x2200007F, 0x220000FF, 0x23000001, 0xFF000001,
        0xFFFFFFFF, maker.dice.randrange(1 << 32),
    ])
    return maker.remade(headers, at, bits=bits)


def a_version(maker, headers, at):
    version = maker.dice.choice([-(1 << 31), -1, 0, 1, 2, 3, 4, 5, 0x20000000, 0x7FFFFFFF])
    return maker.remade(headers, at, version=version)


def a_parent(maker, headers, at):
    """Nobody's, the first block's, or that of any block there is."""
    before = maker.dice.choice([bytes(32), maker.dice.randbytes(32), digest(maker.first), maker.dice.choice(list(maker.known))])
    return maker.remade(headers, at, before=before)


def an_order(maker, headers, at):
    others = list(headers)
    maker.dice.shuffle(others)
    return others


def one_less(maker, headers, at):
    return [*headers[:at], *headers[at + 1:]] or headers


def one_twice(maker, headers, at):
    return [*headers[:at + 1], *headers[at:]]


def the_first_block(maker, headers, at):
    return [*headers[:at], maker.first, *headers[at:]]


CHANGES = [
    a_bit, a_mined_bit, a_nonce, a_time, a_time, a_difficulty, a_difficulty, a_version, a_parent, an_order, one_less, one_twice,
    the_first_block,
]


def same(ours, theirs):
    """Tells whether two verdicts are one."""
    (taken, broken, tip), (their_taken, kind, their_tip) = ours, theirs
    if (taken, tip) != (their_taken, their_tip):
        return False
    return broken == "-" if kind is None else broken in KINDS[kind]


def without_own_parent(headers, taken, known):
    """Tells whether the header that was refused follows none: then a second rule that it breaks may be named as well."""
    return taken < len(headers) and headers[taken][4:36] not in known


def judged(counts, name, headers, ours, theirs, known):
    taken, broken, tip = ours
    if without_own_parent(headers, taken, known):
        # One judge looks at the work first, the other at the parent: refused is refused.
        assert broken == "unconnected", broken
        alike = theirs[1] in (pbk.BlockValidationResult.MISSING_PREV, pbk.BlockValidationResult.INVALID_HEADER)
        alike = alike and (taken, tip) == (theirs[0], theirs[2])
    else:
        alike = same(ours, theirs)
    counts[f"{name}: {broken}"] += 1
    if not alike:
        listing = "\n".join(header.hex() for header in headers)
        sys.exit(f"{name}: here {ours}, there {theirs}, of the message\n{listing}")


def own_network(program, dice, count, counts):
    """Messages that are mined, on chains from the first block on."""
    ours = Ours(program, "regtest")
    first = mined_first()
    for _ in range(-(-count // MESSAGES)):
        with tempfile.TemporaryDirectory() as folder:
            ours.begin()
            kept = Engine(pbk.ChainType.REGTEST, pathlib.Path(folder))
            maker = Maker(dice, first)
            for _ in range(MESSAGES):
                name, headers = maker.clear_message()
                verdict = ours.hear(headers)
                their_taken, kind = 0, pbk.BlockValidationResult.MISSING_PREV
                # A chain with less work is remembered there, and not here: who goes on with it tells all of it again.
                if maker.is_of_best(headers[0]):
                    their_taken, kind = kept.hear(headers)
                known = set(maker.known) | {digest(header) for header in headers[:their_taken]}
                judged(counts, name, headers, verdict, (their_taken, kind, kept.newest()), known)
                maker.take(header for header in headers[:their_taken] if header != first)
                maker.tip = bytes.fromhex(verdict[2][1])[::-1]
            del kept
    ours.end()


def mined_first():
    """The first block of the network of one's own."""
    root = bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a")
    return HEADER.pack(1, bytes(32), root, 1296688602, EASY, 2)


def main_network(program, dice, count, counts):
    """Genuine headers up to some height, over a change of difficulty or two, and changed ones after them."""
    data = GENUINE.read_bytes()
    genuine = [data[at:at + 80] for at in range(0, len(data), 80)]
    ours = Ours(program, "main")
    for _ in range(-(-count // MESSAGES)):
        with tempfile.TemporaryDirectory() as folder:
            ours.begin()
            kept = Engine(pbk.ChainType.MAINNET, pathlib.Path(folder))
            edge = dice.choice([1, 2016, 4032])
            height = max(1, edge + dice.randint(-20, 20))
            for start in range(1, height, 2000):
                message = genuine[start:min(start + 2000, height)]
                verdict = ours.hear(message)
                theirs = (*kept.hear(message), kept.newest())
                judged(counts, "genuine", message, verdict, theirs, {digest(header) for header in genuine})
            for _ in range(MESSAGES):
                start = max(1, min(height, len(genuine) - 1) - dice.randrange(BACK_MAX))
                headers = genuine[start:start + dice.randint(1, 40)]
                name = "genuine"
                if dice.random() < 0.8:
                    change = dice.choice([a_bit, a_nonce, an_order, one_less, one_twice])
                    name = change.__name__
                    headers = change(types.SimpleNamespace(dice=dice), headers, dice.randrange(len(headers)))
                their_taken, kind = kept.hear(headers)
                verdict = ours.hear(headers)
                known = {digest(header) for header in genuine[:height]} | {digest(header) for header in headers[:their_taken]}
                judged(counts, f"main, {name}", headers, verdict, (their_taken, kind, kept.newest()), known)
                height = max(height, verdict[2][0] + 1)
            del kept
    ours.end()


def main():
    program, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    dice = random.Random(seed)
    counts = collections.Counter()
    own_network(program, dice, count, counts)
    main_network(program, dice, count // 5, counts)
    for name, times in sorted(counts.items()):
        print(f"  {times:6} x {name}")
    print(f"{sum(counts.values())} messages, one verdict")


if __name__ == "__main__":
    main()

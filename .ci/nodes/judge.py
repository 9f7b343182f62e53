"""Compares crate `chain` with the engine of Bitcoin Core: both must give the same verdict on thousands of mutated headers.

    judge.py PROGRAM SEED COUNT       PROGRAM is the example `judge` of crate `chain`

Needs py-bitcoinkernel. On regtest a block costs two hashes, so mutated headers are mined again and break a single rule;
on the main network genuine headers are mutated, which then lack work.
A message is validated as a node does it: its headers must follow each other, and each is validated after the previous
ones were accepted. Rules that apply only to whole blocks are not tested. Changes of the difficulty are tested only with
genuine headers, because two thousand headers of the main network cannot be mined for a test.
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
import pbk.capi.bindings as bindings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GENUINE = ROOT / "crates/chain/tests/headers/mainnet-0-4099.bin"

HEADER = struct.Struct("<i32s32sIII")
EASY = 0x207FFFFF
AHEAD_MAX = 2 * 60 * 60
MEDIAN_OF = 11

# Distance of block times from the limit of the future, s: both implementations read the system time, but not at once.
FUTURE_MARGIN = 60

# Messages per chain.
MESSAGES = 50

# Deepest start of a message below the tip; the implementations differ by design beyond the headers that `chain` stores.
BACK_MAX = 12

# Verdicts of crate `chain` by the verdict of the engine, which has fewer kinds.
KINDS = {
    pbk.BlockValidationResult.MISSING_PREV: {"unconnected"},
    pbk.BlockValidationResult.TIME_FUTURE: {"future"},
    pbk.BlockValidationResult.INVALID_HEADER: {"no-work", "wrong-bits", "too-old", "old-version"},
}


def digest(header):
    return hashlib.sha256(hashlib.sha256(header).digest()).digest()


def display_hex(hash):
    return hash[::-1].hex()


def median(times):
    return sorted(times)[len(times) // 2]


class Engine:
    """A chain in the engine of Bitcoin Core."""

    def __init__(self, network, folder):
        self.context = pbk.make_context(network)
        options = pbk.ChainstateManagerOptions(self.context, str(folder), str(folder / "blocks"))
        options.update_block_tree_db_in_memory(True)
        options.update_chainstate_db_in_memory(True)
        self.manager = pbk.ChainstateManager(options)

    def validate(self, headers):
        """Number of accepted headers, and why the next one is rejected; None if all are accepted."""
        before = None
        for at, header in enumerate(headers):
            if before is not None and header[4:36] != digest(before):
                return at, pbk.BlockValidationResult.MISSING_PREV
            state = pbk.BlockValidationState()
            result = bindings.btck_chainstate_manager_process_block_header(self.manager, pbk.BlockHeader(header), state)
            if result != 0:
                return at, state.block_validation_result
            before = header
        return len(headers), None

    def tip(self):
        entry = self.manager.best_entry
        return entry.height, display_hex(bytes(entry.block_hash))


class ChainCrate:
    """A chain in crate `chain`."""

    def __init__(self, program, network):
        self.process = subprocess.Popen([program, network], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self):
        self.process.stdin.write("\n")

    def validate(self, headers):
        """Number of accepted headers, the rule that the next one breaks or `-`, and the tip."""
        self.process.stdin.write(f"{int(time.time())} {b''.join(headers).hex()}\n")
        self.process.stdin.flush()
        accepted, broken_rule, height, tip = self.process.stdout.readline().split()
        return int(accepted), broken_rule, (int(height), tip)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


class Generator:
    """Generates messages on regtest, most of which break a rule."""

    def __init__(self, rng, first):
        self.rng = rng
        self.first = first
        # Valid headers with their heights, by hash; both implementations know the genesis block.
        self.known = {digest(first): (first, 0)}
        self.tip = digest(first)

    def ancestors(self, hash):
        """Headers back to the genesis block, newest first."""
        while hash != digest(self.first):
            header, _ = self.known[hash]
            yield header
            hash = header[4:36]

    def times(self, hash, headers=()):
        """Times of the last blocks before and including `headers`, oldest first."""
        before = [*itertools.islice(self.ancestors(hash), MEDIAN_OF), self.first][:MEDIAN_OF]
        return [HEADER.unpack(header)[3] for header in [*reversed(before), *headers]][-MEDIAN_OF:]

    def mine(self, version, before, root, when, bits):
        """A header with the work of its bits, if a few hashes are enough to find it."""
        size, digits = bits >> 24, bits & 0x7FFFFF
        target = digits << 8 * (size - 3) if size >= 3 else digits >> 8 * (3 - size)
        for nonce in range(1 << 10):
            header = HEADER.pack(version, before, root, when, bits, nonce)
            if int.from_bytes(digest(header), "little") <= target:
                break
        return header

    def add(self, headers):
        """Adds headers that both implementations accepted."""
        for header in headers:
            _, height = self.known[header[4:36]]
            self.known[digest(header)] = (header, height + 1)

    def valid_headers(self, before, count):
        """Valid headers after a block; some have the earliest or latest allowed time."""
        mined, now = [], int(time.time())
        for _ in range(count):
            after = median(self.times(before, mined))
            when = after + self.rng.choice([1, 1, 1, 2, 30, 600])
            if self.rng.random() < 0.1:
                when = max(when, now + self.rng.choice([-3600, 0, AHEAD_MAX - FUTURE_MARGIN]))
            version = self.rng.choice([4, 4, 5, 0x20000000, 0x7FFFFFFF])
            mined.append(self.mine(version, digest(mined[-1]) if mined else before, self.rng.randbytes(32), when, EASY))
        return mined

    def unambiguous_message(self):
        """A message without block times close to the limit of the future, where the time of validation would decide."""
        while True:
            name, headers = self.message()
            ahead = [HEADER.unpack(header)[3] - time.time() - AHEAD_MAX for header in headers]
            if all(abs(seconds) >= FUTURE_MARGIN / 2 for seconds in ahead):
                return name, headers

    def best(self):
        """Hashes of the chain with most work."""
        return {digest(header) for header in self.ancestors(self.tip)} | {digest(self.first)}

    def extends_best(self, header):
        """True if a header follows a block of the chain with most work, or an unknown block."""
        before = header[4:36]
        return before not in self.known or before in self.best()

    def message(self):
        """Headers after a block of the best chain, or a whole fork from the block where it leaves the best chain."""
        best = self.best()
        _, height = self.known[self.tip]
        low = max(0, height - BACK_MAX)
        near = [hash for hash, (_, height) in self.known.items() if height >= low]
        before = self.tip if self.rng.random() < 0.6 else self.rng.choice(near)
        fork = []
        for header in self.ancestors(before):
            if digest(header) in best:
                break
            fork.append(header)
        count = self.rng.randint(1, 7)
        headers = fork[::-1] + self.valid_headers(before, count)
        name = "none"
        if self.rng.random() < 0.8:
            mutate = self.rng.choice(MUTATIONS)
            name = mutate.__name__
            headers = mutate(self, headers, self.rng.randrange(len(fork), len(headers)))
        return name, headers

    def mined_again(self, headers, at, **fields):
        """The headers with one of them changed and mined again, and the following ones mined on top of it."""
        mined = headers[:at]
        for index in range(at, len(headers)):
            version, before, root, when, bits, _ = HEADER.unpack(headers[index])
            if index == at:
                version, before, root = fields.get("version", version), fields.get("before", before), fields.get("root", root)
                when, bits = fields.get("when", when), fields.get("bits", bits)
            else:
                before = digest(mined[-1])
            mined.append(self.mine(version, before, root, when, bits))
        return mined


def flip_bit(generator, headers, at):
    """Flips a bit of a header without mining it again."""
    changed = bytearray(headers[at])
    changed[generator.rng.randrange(80)] ^= 1 << generator.rng.randrange(8)
    return [*headers[:at], bytes(changed), *headers[at + 1:]]


def flip_bit_and_mine(generator, headers, at):
    changed = bytearray(headers[at])
    changed[generator.rng.randrange(76)] ^= 1 << generator.rng.randrange(8)
    version, before, root, when, bits, _ = HEADER.unpack(changed)
    return generator.mined_again(headers, at, version=version, before=before, root=root, when=when, bits=bits)


def change_nonce(generator, headers, at):
    """Changes the nonce; on regtest the work may still be enough."""
    fields = HEADER.unpack(headers[at])
    return [*headers[:at], HEADER.pack(*fields[:5], fields[5] ^ 1), *headers[at + 1:]]


def change_time(generator, headers, at):
    after, ahead = median(generator.times(headers[0][4:36], headers[:at])), int(time.time()) + AHEAD_MAX
    when = generator.rng.choice([
        0, 1, after - 1, after, after + 1, ahead - FUTURE_MARGIN, ahead + FUTURE_MARGIN, 0x7FFFFFFF, 0xFFFFFFFF,
    ])
    return generator.mined_again(headers, at, when=when)


def change_difficulty(generator, headers, at):
    bits = generator.rng.choice([
        0, 1, 0x01000000, 0x01003456, 0x01FEDCBA, 0x02008000, 0x1D00FFFF, 0x1F7FFFFF, 0x2000FFFF, 0x20100000, 0x207FFFFE,
        0x20800000, 0x20800001, 0x20FFFFFF, 0x2100FFFF, 0x21007FFF, 0x21010000, 0x2200007F, 0x220000FF, 0x23000001, 0xFF000001,
        0xFFFFFFFF, generator.rng.randrange(1 << 32),
    ])
    return generator.mined_again(headers, at, bits=bits)


def change_version(generator, headers, at):
    version = generator.rng.choice([-(1 << 31), -1, 0, 1, 2, 3, 4, 5, 0x20000000, 0x7FFFFFFF])
    return generator.mined_again(headers, at, version=version)


def change_parent(generator, headers, at):
    """Sets the parent to an unknown block, the genesis block, or any known block."""
    rng = generator.rng
    before = rng.choice([bytes(32), rng.randbytes(32), digest(generator.first), rng.choice(list(generator.known))])
    return generator.mined_again(headers, at, before=before)


def shuffle(generator, headers, at):
    shuffled = list(headers)
    generator.rng.shuffle(shuffled)
    return shuffled


def drop_header(generator, headers, at):
    return [*headers[:at], *headers[at + 1:]] or headers


def repeat_header(generator, headers, at):
    return [*headers[:at + 1], *headers[at:]]


def insert_genesis(generator, headers, at):
    return [*headers[:at], generator.first, *headers[at:]]


MUTATIONS = [
    flip_bit, flip_bit_and_mine, change_nonce, change_time, change_time, change_difficulty, change_difficulty, change_version,
    change_parent, shuffle, drop_header, repeat_header, insert_genesis,
]


def is_same(verdict, engine_verdict):
    """True if both verdicts are equal."""
    (accepted, broken_rule, tip), (engine_accepted, kind, engine_tip) = verdict, engine_verdict
    if (accepted, tip) != (engine_accepted, engine_tip):
        return False
    return broken_rule == "-" if kind is None else broken_rule in KINDS[kind]


def lacks_parent(headers, accepted, known):
    """True if the rejected header has an unknown parent: the implementations may then report different rules."""
    return accepted < len(headers) and headers[accepted][4:36] not in known


def compare(counts, name, headers, verdict, engine_verdict, known):
    accepted, broken_rule, tip = verdict
    if lacks_parent(headers, accepted, known):
        # One implementation checks the work first, the other the parent; only the rejection must be equal.
        assert broken_rule == "unconnected", broken_rule
        is_equal = engine_verdict[1] in (pbk.BlockValidationResult.MISSING_PREV, pbk.BlockValidationResult.INVALID_HEADER)
        is_equal = is_equal and (accepted, tip) == (engine_verdict[0], engine_verdict[2])
    else:
        is_equal = is_same(verdict, engine_verdict)
    counts[f"{name}: {broken_rule}"] += 1
    if not is_equal:
        listing = "\n".join(header.hex() for header in headers)
        sys.exit(f"{name}: crate `chain` {verdict}, engine {engine_verdict}, for the message\n{listing}")


def test_regtest(program, rng, count, counts):
    """Tests generated messages on chains from the genesis block."""
    crate = ChainCrate(program, "regtest")
    first = genesis()
    for _ in range(-(-count // MESSAGES)):
        with tempfile.TemporaryDirectory() as folder:
            crate.begin()
            engine = Engine(pbk.ChainType.REGTEST, pathlib.Path(folder))
            generator = Generator(rng, first)
            for _ in range(MESSAGES):
                name, headers = generator.unambiguous_message()
                verdict = crate.validate(headers)
                engine_accepted, kind = 0, pbk.BlockValidationResult.MISSING_PREV
                # The engine stores forks with less work and the crate does not: a peer has to send a whole fork again.
                if generator.extends_best(headers[0]):
                    engine_accepted, kind = engine.validate(headers)
                known = set(generator.known) | {digest(header) for header in headers[:engine_accepted]}
                compare(counts, name, headers, verdict, (engine_accepted, kind, engine.tip()), known)
                generator.add(header for header in headers[:engine_accepted] if header != first)
                generator.tip = bytes.fromhex(verdict[2][1])[::-1]
            del engine
    crate.end()


def genesis():
    """The genesis block of regtest."""
    root = bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a")
    return HEADER.pack(1, bytes(32), root, 1296688602, EASY, 2)


def test_main_network(program, rng, count, counts):
    """Tests genuine headers up to a height near a change of difficulty, and mutated ones after them."""
    data = GENUINE.read_bytes()
    genuine = [data[at:at + 80] for at in range(0, len(data), 80)]
    crate = ChainCrate(program, "main")
    for _ in range(-(-count // MESSAGES)):
        with tempfile.TemporaryDirectory() as folder:
            crate.begin()
            engine = Engine(pbk.ChainType.MAINNET, pathlib.Path(folder))
            change_height = rng.choice([1, 2016, 4032])
            height = max(1, change_height + rng.randint(-20, 20))
            for start in range(1, height, 2000):
                message = genuine[start:min(start + 2000, height)]
                verdict = crate.validate(message)
                engine_verdict = (*engine.validate(message), engine.tip())
                compare(counts, "genuine", message, verdict, engine_verdict, {digest(header) for header in genuine})
            for _ in range(MESSAGES):
                start = max(1, min(height, len(genuine) - 1) - rng.randrange(BACK_MAX))
                headers = genuine[start:start + rng.randint(1, 40)]
                name = "genuine"
                if rng.random() < 0.8:
                    mutate = rng.choice([flip_bit, change_nonce, shuffle, drop_header, repeat_header])
                    name = mutate.__name__
                    headers = mutate(types.SimpleNamespace(rng=rng), headers, rng.randrange(len(headers)))
                engine_accepted, kind = engine.validate(headers)
                verdict = crate.validate(headers)
                known = {digest(header) for header in genuine[:height]} | {digest(header) for header in headers[:engine_accepted]}
                compare(counts, f"main, {name}", headers, verdict, (engine_accepted, kind, engine.tip()), known)
                height = max(height, verdict[2][0] + 1)
            del engine
    crate.end()


def main():
    program, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rng = random.Random(seed)
    counts = collections.Counter()
    test_regtest(program, rng, count, counts)
    test_main_network(program, rng, count // 5, counts)
    for name, times in sorted(counts.items()):
        print(f"  {times:6} x {name}")
    print(f"{sum(counts.values())} messages with equal verdicts")


if __name__ == "__main__":
    main()

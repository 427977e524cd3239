#!/usr/bin/env python3
"""Runs an MSCCL XML file by what its documents say, knowing nothing of who wrote it, and checks the collective.

usage: run_msccl.py FILE msccl|msccl-azure|rccl [ROOT]
"""

import collections
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

LIMITS = {"msccl": (256, 216, 32), "msccl-azure": (64, 1024, 32), "rccl": (64, 64, 128)}
RECEIVES, SENDS = ("r", "rrc", "rcs", "rrcs", "rrs"), ("s", "rcs", "rrcs", "rrs")
STEP = "s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep".split()


def check_text(text, dialect):
    assert "<?" not in text and "\t" not in text and "'" not in text, "not the subset that parsers take"
    assert all(len(value) < 255 for value in re.findall(r'"([^"]*)"', text))
    algo = ElementTree.fromstring(text)
    steps, blocks, channels = LIMITS[dialect]
    assert int(algo.get("nchannels")) <= channels
    for gpu in algo:
        assert len(gpu) <= blocks
        assert [int(tb.get("id")) for tb in gpu] == list(range(len(gpu)))
        assert len(gpu) + sum(len(tb) for tb in gpu) + len(algo) <= 4096
        for tb in gpu:
            assert len(tb) <= steps and all(step.keys() == STEP for step in tb)
            assert all(int(step.get("cnt")) < 72 for step in tb)
            assert all(int(step.get("depid")) <= 127 for step in tb)
            for step in tb:
                assert step.get("type") not in RECEIVES or tb.get("recv") != "-1"
                assert step.get("type") not in SENDS or tb.get("send") != "-1"
                if step.get("depid") != "-1":
                    other = gpu[int(step.get("depid"))][int(step.get("deps"))]
                    assert other.get("hasdep") == "1", "waits for a step that says nobody does"
        for role in "send", "recv":
            used = [(tb.get(role), tb.get("chan")) for tb in gpu if tb.get(role) != "-1"]
            assert len(used) == len(set(used)), "two blocks share a connection"
            assert all(n <= 32 for n in collections.Counter(chan for _, chan in used).values())
    return algo


def start(coll, in_place, rank, ranks, chunks, root, memory):
    """What the buffers of a rank hold: a bag of (chunk of the whole, rank that it came from)."""
    def put(buffer, offset, chunk, source):
        memory[buffer, offset] = collections.Counter({(chunk, source): 1})
    part = chunks // ranks
    for c in range(chunks):
        if coll in ("allreduce", "reduce", "reduce_scatter", "reducescatter"):
            shared = in_place and (coll == "allreduce" or (coll == "reduce" and rank == root))
            put("o" if shared else "i", c, c, rank)
        elif coll in ("broadcast", "scatter"):
            if rank == root:
                shared = in_place and coll == "broadcast"
                put("o" if shared else "i", c, c, root)
        elif coll == "alltoall":
            put("i", c, (rank, c), rank)
        elif c // part == rank:
            shared = in_place and (coll == "allgather" or rank == root)
            put(*(("o", c) if shared else ("i", c % part)), c, rank)


def wanted(coll, in_place, rank, ranks, chunks, root):
    """(buffer, offset, bag) for what a rank must end with."""
    part = chunks // ranks
    everybody = lambda c: collections.Counter({(c, r): 1 for r in range(ranks)})
    for c in range(chunks):
        if coll == "allreduce" or (coll == "reduce" and rank == root):
            yield "o", c, everybody(c)
        elif coll in ("reduce_scatter", "reducescatter") and c // part == rank:
            yield *(("i", c) if in_place else ("o", c % part)), everybody(c)
        elif coll == "broadcast":
            yield "o", c, collections.Counter({(c, root): 1})
        elif coll == "scatter" and c // part == rank:
            shared = in_place and rank == root
            yield *(("i", c) if shared else ("o", c % part)), collections.Counter({(c, root): 1})
        elif coll == "alltoall":
            source = c // part
            yield "o", c, collections.Counter({((source, rank * part + c % part), source): 1})
        elif coll == "allgather" or (coll == "gather" and rank == root):
            yield "o", c, collections.Counter({(c, c // part): 1})


def run(algo, root, seed):
    ranks, chunks = int(algo.get("ngpus")), int(algo.get("nchunksperloop"))
    coll, in_place = algo.get("coll"), algo.get("inplace") == "1"
    memory = [{} for _ in range(ranks)]
    for rank in range(ranks):
        start(coll, in_place, rank, ranks, chunks, root, memory[rank])
    fifos = collections.defaultdict(collections.deque)
    done = [[0] * len(gpu) for gpu in algo]

    def step_once(rank, block):
        tb = algo[rank][block]
        if done[rank][block] == len(tb):
            return False
        step = tb[done[rank][block]]
        kind, count = step.get("type"), int(step.get("cnt"))
        if step.get("depid") != "-1" and done[rank][int(step.get("depid"))] <= int(step.get("deps")):
            return False
        inbound = (int(tb.get("recv")), rank, tb.get("chan"))
        outbound = (rank, int(tb.get("send")), tb.get("chan"))
        if kind in RECEIVES and not fifos[inbound]:
            return False
        if kind in SENDS and len(fifos[outbound]) >= 2:
            return False
        here = memory[rank]
        source = [(step.get("srcbuf"), int(step.get("srcoff")) + i) for i in range(count)]
        target = [(step.get("dstbuf"), int(step.get("dstoff")) + i) for i in range(count)]
        if kind == "s":
            fifos[outbound].append([here[place].copy() for place in source])
        elif kind in RECEIVES:
            message = fifos[inbound].popleft()
            assert len(message) == count, "a receive is not as long as its send"
            adds = kind in ("rrc", "rrcs", "rrs")
            assert adds or source == target, "a verifier wants one place"
            values = [here[place] + data for place, data in zip(source, message)] if adds else message
            if kind != "rrs":
                here.update(zip(target, values))
            if kind in SENDS:
                fifos[outbound].append([value.copy() for value in values])
        elif kind == "cpy":
            here.update(zip(target, [here[place].copy() for place in source]))
        elif kind == "re":
            here.update(zip(target, [here[t] + here[s] for t, s in zip(target, source)]))
        else:
            assert kind == "nop"
        done[rank][block] += 1
        return True

    order = [(rank, block) for rank in range(ranks) for block in range(len(algo[rank]))]
    rng, moved = random.Random(seed), True
    while moved:
        rng.shuffle(order)
        moved = False
        for place in order:
            moved = step_once(*place) or moved
    assert all(done[r][b] == len(algo[r][b]) for r, b in order), "some blocks are stuck"
    assert not any(fifos.values()), "messages are left"
    for rank in range(ranks):
        for buffer, offset, bag in wanted(coll, in_place, rank, ranks, chunks, root):
            assert memory[rank].get((buffer, offset)) == bag, f"rank {rank} ends with the wrong {buffer}{offset}"


def main():
    text = open(sys.argv[1], encoding="ascii").read()
    algo = check_text(text, sys.argv[2])
    for seed in range(3):
        run(algo, int(sys.argv[3]) if len(sys.argv) > 3 else 0, seed)
    print(f"right: {algo.get('coll')}, {sum(len(tb) for gpu in algo for tb in gpu)} steps")


main()

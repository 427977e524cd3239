#!/usr/bin/env python3
"""Runs an MSCCL++ execution plan by what its executor does, knowing nothing of who wrote it, and checks the collective.

A block is several threads: thread n signals and waits for the n-th channel of an operation, all share in copying and
adding, whichever does which part, and they meet in a nop. What is put is seen at once, or only after the next signal;
ports read and write at once, or as late as they can. Ranks begin when they like, twice in a row, and whoever has ended
uses its buffers for something else.

usage: run_mscclpp.py FILE [--root RANK] [--slices N] [--damage]
Of the slices of chunks that blocks of their own work on, the first N are run, or 1.
--damage breaks the plan in many ways and counts which of them are seen.
"""

import collections
import copy
import json
import random
import sys

from mscclpp_plan import DATA, SIGNALS, WAITS, check_op, keep_slices, read


def threads_of(block):
    """One more than an operation ever names channels, semaphores or targets."""
    widest = max([len(op.get("channel_ids", op.get("semaphore_ids", [0]))) for op in block["ops"]]
                 + [len(op["dst_buff"]) for op in block["ops"] if op["name"] == "put"])
    return widest + 1


class Machine:
    """Threads that cannot go on are parked, by what they wait for, until that may have come."""

    def __init__(self, plan, root, seed, late, calls=2):
        self.plan, self.root, self.late, self.calls = plan, root, late, calls
        self.rng = random.Random(seed)
        self.gpus, self.ranks, self.slices = plan["gpus"], len(plan["gpus"]), plan["slices"]
        self.memory = [{} for _ in self.gpus]
        self.signals = collections.Counter()  # by the end that is to wait
        self.waits = collections.Counter()
        self.ports = [collections.deque() for _ in self.gpus]
        self.queued = collections.Counter()  # by end, of what is in ports
        self.told = {}  # by semaphore: what was put before it was released
        self.call = [-1] * self.ranks
        self.running = [0] * self.ranks  # threads
        self.blocks = {}
        self.pieces = {}  # by operation
        self.ready, self.parked = [], collections.defaultdict(list)
        self.ended = 0

    # What is in a slot: the sum of numbers that stand for what ranks have of a chunk.
    def label(self, call, rank, chunk, slice_):
        return hash((call, rank, chunk, slice_, 12345)) & 0xFFFFFFFFFFFF

    def place(self, rank, buffer, index):
        coll, gpu = self.plan["collective"], self.gpus[rank]
        if self.plan["inplace"]:
            if coll in ("allreduce", "broadcast") and buffer == "i":
                return ("o", index)
            if coll == "allgather" and buffer == "i":
                return ("o", rank * gpu["input_chunks"] + index)
            if coll == "reducescatter" and buffer == "o":
                return ("i", rank * gpu["output_chunks"] + index)
            assert coll != "alltoall", "an alltoall in place is not known here"
        return (buffer, index)

    def slots(self, rank, place, slice_):
        """Of a range of chunks, those that a slice has."""
        return [(*self.place(rank, place["type"], place["index"] + i), slice_) for i in range(place["size"])]

    def garbage(self):
        return self.rng.getrandbits(60)

    def begin(self, rank):
        self.call[rank] += 1
        gpu, coll, call = self.gpus[rank], self.plan["collective"], self.call[rank]
        memory = self.memory[rank] = {}
        for slice_ in range(self.slices):
            for buffer, count in ("o", gpu["output_chunks"]), ("i", gpu["input_chunks"]), ("s", gpu["scratch_chunks"]):
                for index in range(count):
                    key = (*self.place(rank, buffer, index), slice_)
                    has = buffer == "i" and (coll != "broadcast" or rank == self.root)
                    memory[key] = self.label(call, rank, index, slice_) if has else memory.get(key, self.garbage())
        # Whatever overlaps the input keeps it: inputs were written last, scratch is apart.
        for number, block in enumerate(gpu["threadblocks"]):
            threads = threads_of(block)
            # How many threads have come to an operation, or further.
            reached = [threads] + [0] * len(block["ops"])
            self.blocks[rank, number] = {"at": [0] * threads, "reached": reached, "unseen": [[] for _ in range(threads)],
                                         "met": [], "who": {}}
            self.running[rank] += threads
            self.ready += [(rank, number, thread) for thread in range(threads)]

    def wanted(self, rank, call, slice_):
        coll, gpu = self.plan["collective"], self.gpus[rank]
        for index in range(gpu["output_chunks"]):
            if coll == "allgather":
                value = self.label(call, index // gpu["input_chunks"], index % gpu["input_chunks"], slice_)
            elif coll == "alltoall":
                part = gpu["output_chunks"] // self.ranks
                value = self.label(call, index // part, rank * part + index % part, slice_)
            elif coll == "broadcast":
                value = self.label(call, self.root, index, slice_)
            else:
                chunk = index if coll == "allreduce" else rank * gpu["output_chunks"] + index
                value = sum(self.label(call, r, chunk, slice_) for r in range(self.ranks))
            yield (*self.place(rank, "o", index), slice_), value

    def end(self, rank):
        for slice_ in range(self.slices):
            for key, value in self.wanted(rank, self.call[rank], slice_):
                assert self.memory[rank][key] == value, f"rank {rank} ends with the wrong {key[0]}{key[1]}"
        self.memory[rank] = {key: self.garbage() for key in self.memory[rank]}
        self.ended += 1

    def write(self, rank, key, value):
        assert self.running[rank] > 0, f"rank {rank} is written to while it does not run"
        self.memory[rank][key] = value

    def unseen(self, block, thread):
        """What a thread has put, or another before they met, and has not told of."""
        return block["met"] + block["unseen"][thread]

    def show(self, writes):
        for write in writes:
            if not write["seen"]:
                self.write(write["rank"], write["key"], write["value"])
                write["seen"] = True

    def parts(self, block, thread, op, count):
        """Which of so many pieces of work are a thread's: each has one that does it, by chance."""
        who = block["who"].get(id(op))
        if who is None:
            who = block["who"][id(op)] = collections.defaultdict(list)
            for piece in range(count):
                who[self.rng.randrange(len(block["at"]))].append(piece)
        return who.get(thread, ())

    def signal(self, end):
        self.signals[end] += 1
        self.wake(end)

    def wake(self, key):
        if key in self.parked:
            self.ready += self.parked.pop(key)

    def step(self, actor):
        """Does the next operation of a thread, or parks it."""
        rank, number, thread = actor
        block, spec = self.blocks[rank, number], self.gpus[rank]["threadblocks"][number]
        at = block["at"][thread]
        op = spec["ops"][at]
        name, kind = op["name"], op.get("channel_type")
        if name == "nop":
            if block["reached"][at] < len(block["at"]):
                self.parked[rank, number, "nop"].append(actor)
                return False
            # The first to leave: what any of them wrote was written before what any does next.
            if block["reached"][at + 1] == 0:
                block["met"] = [write for some in [block["met"], *block["unseen"]] for write in some if not write["seen"]]
                block["unseen"] = [[] for _ in block["unseen"]]
        elif name in WAITS + SIGNALS:
            if thread < len(op["channel_ids"]):
                end = (kind, rank, spec["of"][kind][op["channel_ids"][thread]])
                if name in WAITS:
                    if not self.hear(end, actor):
                        return False
                elif kind == "port":
                    self.push(rank, ("signal", end))
                else:
                    if name == "signal":
                        self.show(self.unseen(block, thread))
                    self.signal((kind, *self.plan["ends"][end]))
        elif name == "flush":
            # The executor looks at how many outputs there are.
            if thread < len(op["dst_buff"]):
                end = (kind, rank, spec["of"][kind][op["channel_ids"][thread]])
                if self.queued[end] > 0:
                    self.parked["flush", end].append(actor)
                    return False
        elif name in ("sem_release", "sem_acquire"):
            if thread < len(op["semaphore_ids"]):
                end = ("semaphore", rank, op["semaphore_ids"][thread])
                if name == "sem_release":
                    self.told.setdefault(end, []).extend(self.unseen(block, thread))
                    self.signal(end)
                else:
                    if not self.hear(end, actor):
                        return False
                    block["unseen"][thread].extend(self.told.pop(end, []))
        else:
            self.move(rank, spec, block, thread, op)
        block["at"][thread] += 1
        block["reached"][at + 1] += 1
        if block["reached"][at + 1] == len(block["at"]):
            self.wake((rank, number, "nop"))
        if at + 1 < len(spec["ops"]):
            return True
        self.running[rank] -= 1
        if self.running[rank] == 0:
            self.end(rank)
        return False

    def hear(self, end, actor):
        """Whether somebody has signalled who was not heard yet."""
        if self.signals[end] <= self.waits[end]:
            self.parked[end].append(actor)
            return False
        self.waits[end] += 1
        return True

    def pieces_of(self, rank, spec, op, slice_):
        """What a put moves: number of the range, source, rank and target; of a copy or sum, sources and target."""
        if op["name"] != "put":
            sources = [self.slots(rank, place, slice_) for place in op["src_buff"]]
            return list(zip(zip(*sources), self.slots(rank, op["dst_buff"][0], slice_)))
        pieces = []
        for i, (source, target) in enumerate(zip(op["src_buff"], op["dst_buff"])):
            peer, buffer = spec["remote"][op["channel_type"]][target["buffer_id"]]
            there = self.slots(peer, {"type": buffer, **target}, slice_)
            pieces += [(i, s, (peer, t)) for s, t in zip(self.slots(rank, source, slice_), there)]
        return pieces

    def move(self, rank, spec, block, thread, op):
        if id(op) not in self.pieces:
            self.pieces[id(op)] = self.pieces_of(rank, spec, op, op.get("tbg_info", {"tb_id": 0})["tb_id"])
        pieces, memory = self.pieces[id(op)], self.memory[rank]
        if op.get("channel_type") == "port":
            for i, source, target in pieces:
                if i == thread:
                    end = ("port", rank, spec["of"]["port"][op["channel_ids"][i]])
                    self.push(rank, ("put", end, source, target))
            return
        for i in self.parts(block, thread, op, len(pieces)):
            if op["name"] != "put":
                sources, target = pieces[i]
                memory[target] = sum(memory[source] for source in sources)
                continue
            _, source, (peer, key) = pieces[i]
            if self.late:
                assert self.running[peer] > 0, f"rank {peer} is written to while it does not run"
                block["unseen"][thread].append({"rank": peer, "key": key, "value": memory[source], "seen": False})
            else:
                self.write(peer, key, memory[source])

    def push(self, rank, entry):
        self.ports[rank].append(entry)
        self.queued[entry[1]] += 1
        if not self.late:
            self.pump(rank)

    def pump(self, rank):
        if not self.ports[rank]:
            return False
        entry = self.ports[rank].popleft()
        end = entry[1]
        if entry[0] == "put":
            peer, key = entry[3]
            self.write(peer, key, self.memory[rank][entry[2]])
        else:
            self.signal((end[0], *self.plan["ends"][end]))
        self.queued[end] -= 1
        if self.queued[end] == 0:
            self.wake(("flush", end))
        return True

    def turn(self, slow, burst):
        """Lets everybody who can go on do so once, or as long as they can."""
        actors, self.ready = self.ready, []
        self.rng.shuffle(actors)
        actors.sort(key=lambda actor: actor[0] == slow)
        moved = False
        for number, actor in enumerate(actors):
            if actor[0] == slow and moved:
                self.ready += actors[number:]
                break
            before = self.blocks[actor[:2]]["at"][actor[2]]
            more = self.step(actor)
            while burst and more:
                more = self.step(actor)
            moved |= self.blocks[actor[:2]]["at"][actor[2]] > before
            if more:
                self.ready.append(actor)
        return moved

    def run(self):
        burst = self.rng.random() < 0.5
        # Somebody goes on only when nobody else can.
        slow = self.rng.choice([None, *range(self.ranks)])
        while self.ended < self.ranks * self.calls:
            idle = [r for r in range(self.ranks) if self.running[r] == 0 and self.call[r] + 1 < self.calls]
            idle = [r for r in idle if r != slow] or idle
            moved = self.turn(slow, burst)
            # Ports and those who have not begun take their time.
            busy = [r for r in range(self.ranks) if self.ports[r]]
            if busy and (not moved or self.rng.random() < (0.05 if self.late else 0.5)):
                moved = self.pump(self.rng.choice(busy)) or moved
            if idle and (not moved or (idle != [slow] and self.rng.random() < 0.3)):
                self.begin(self.rng.choice(idle))
                moved = True
            assert moved, "some blocks are stuck"
        for rank in range(self.ranks):
            while self.pump(rank):
                raise AssertionError("a port was still at work when the kernel had ended")
        ends = set(self.signals) | set(self.waits)
        assert all(self.signals[end] == self.waits[end] for end in ends), "signals are left that nobody waited for"


def run(plan, root, seeds):
    for seed in seeds:
        Machine(plan, root, seed, late=seed % 2 == 1).run()


def places(plan, names):
    return [(r, b, o) for r, gpu in enumerate(plan["gpus"]) for b, block in enumerate(gpu["threadblocks"])
            for o, op in enumerate(block["ops"]) if op["name"] in names]


def ops_of(plan, place):
    return plan["gpus"][place[0]]["threadblocks"][place[1]]["ops"]


def drop_channel(plan, place, channel):
    op = ops_of(plan, place)[place[2]]
    op["channel_ids"] = [c for i, c in enumerate(op["channel_ids"]) if i != channel]
    if not op["channel_ids"]:
        op.clear()
        op["name"] = "nop"


def drop_pair(plan, rng):
    """A signal and the wait for it: nothing is left over, but somebody goes on too early."""
    sent, waited = collections.defaultdict(list), collections.defaultdict(list)
    for names, found in (SIGNALS, sent), (WAITS, waited):
        # Blocks of a GPU that share a channel go on from each other, in the order of their numbers.
        for place in places(plan, names):
            op, block = ops_of(plan, place)[place[2]], plan["gpus"][place[0]]["threadblocks"][place[1]]
            for i, channel in enumerate(op["channel_ids"]):
                end = (op["channel_type"], place[0], block["of"][op["channel_type"]][channel])
                found[end if names == WAITS else (end[0], *plan["ends"][end])].append((place, i))
    end = rng.choice(sorted(sent))
    n = rng.randrange(len(sent[end]))
    drop_channel(plan, *sent[end][n])
    drop_channel(plan, *waited[end][n])


def drop_one(names):
    def damage(plan, rng):
        place = rng.choice(places(plan, names))
        drop_channel(plan, place, rng.randrange(len(ops_of(plan, place)[place[2]]["channel_ids"])))
    return damage


def drop_nop(plan, rng):
    place = rng.choice(places(plan, ("nop",)))
    del ops_of(plan, place)[place[2]]


def swap(plan, rng):
    """A wait and what it was for, or a signal and what it tells of: whole operations change places."""
    place = rng.choice(places(plan, ("wait", "signal")))
    ops = ops_of(plan, place)
    step = 1 if ops[place[2]]["name"] == "wait" else -1
    others = [o for o in range(place[2] + step, len(ops) if step > 0 else -1, step) if ops[o]["name"] in DATA]
    if not others:
        return False
    ops[place[2]], ops[others[0]] = ops[others[0]], ops[place[2]]
    return True


def other_slot(plan, rng):
    op = ops_of(plan, place := rng.choice(places(plan, ("put",))))[place[2]]
    target = rng.choice(op["dst_buff"])
    if target["index"] == 0:
        return False
    target["index"] -= 1
    return True


def damage(plan, root):
    always = drop_one(WAITS), drop_one(SIGNALS), other_slot
    kinds = {"a wait is gone": always[0], "a signal is gone": always[1],
             "a signal and its wait are gone": drop_pair, "two operations are swapped": swap,
             "a nop is gone": drop_nop, "a put goes elsewhere": other_slot}
    for what, harm in kinds.items():
        seen, tries = 0, 0
        for seed in range(20):
            broken = copy.deepcopy(plan)
            if harm(broken, random.Random(seed)) is False:
                continue
            tries += 1
            try:
                for gpu in broken["gpus"]:
                    for block in gpu["threadblocks"]:
                        for op in block["ops"]:
                            check_op(op, gpu, block)
                run(broken, root, range(100 * seed, 100 * seed + 30))
            except (AssertionError, KeyError):
                seen += 1
        print(f"{what}: {seen} of {tries} seen")
        # Some waits only say what others have said; but a count that is wrong never goes unseen.
        assert seen == tries if harm in always else 2 * seen >= tries, what


def main():
    arguments = sys.argv[1:]
    root = int(arguments[arguments.index("--root") + 1]) if "--root" in arguments else 0
    plan = json.load(open(arguments[0], encoding="ascii"))
    read(plan)
    ops = [len(block["ops"]) for gpu in plan["gpus"] for block in gpu["threadblocks"]]
    most, slices = max(len(gpu["threadblocks"]) for gpu in plan["gpus"]), plan["slices"]
    keep_slices(plan, int(arguments[arguments.index("--slices") + 1]) if "--slices" in arguments else 1)
    run(plan, root, range(4))
    if "--damage" in arguments:
        damage(plan, root)
    print(f"right: {plan['collective']}, {sum(ops)} operations, {most} blocks, {slices} slices")


main()

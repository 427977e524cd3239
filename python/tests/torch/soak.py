#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random collectives by tacos and by the oracle.

usage: PYTHONPATH=build/python python/tests/torch/soak.py [--cases 500] [--seed 1] [--ranks 2,3,4,5]

Cases are dealt out to runs with each number of ranks, and to groups in them: all ranks, and all but the first.
"""

import argparse
import os
import pathlib
import sys

import torch
import torch.distributed as dist

import tacos.torch
from tacos.torch import fallback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases  # noqa: E402
import ranks as starting  # noqa: E402


def make_groups(members):
    if not hasattr(dist.Backend, "ORACLE"):
        dist.Backend.register_backend("oracle", fallback.create)
    return [dist.new_group(members, backend=backend) for backend in ("tacos", "oracle")]


def work(rank, size, seed, numbers, transport):
    os.environ["TACOS_TRANSPORT"] = transport
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size)
    everybody = list(range(size))
    pairs = [(everybody, make_groups(everybody))]
    if size > 2:
        pairs.append((everybody[1:], make_groups(everybody[1:])))
    differences = []
    for turn, (members, (group, oracle)) in enumerate(pairs):
        if rank in members:
            differences += cases.compare(seed, numbers[turn::len(pairs)], group, oracle, members)
    counted = tacos.torch.counts(pairs[0][1][0])
    dist.barrier()
    return differences, counted


def soak(count, seed, sizes, transports=("auto", "tcp")):
    """What differed, and how the collectives were done."""
    runs = [(size, transport) for size in sizes for transport in transports]
    differences, counted = [], {}
    for turn, (size, transport) in enumerate(runs):
        numbers = list(range(count))[turn::len(runs)]
        answers = starting.run_ranks(work, size, seed, numbers, transport, limit=starting.LIMIT + 2 * len(numbers))
        for found, _ in answers:
            differences += [f"{size} ranks, {transport}, {one}" for one in found]
        for what, number in answers[0][1].items():
            counted[what] = counted.get(what, 0) + number
    return differences, counted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", default="2,3,4,5")
    args = parser.parse_args()
    differences, counted = soak(args.cases, args.seed, [int(size) for size in args.ranks.split(",")])
    for what, number in sorted(counted.items()):
        print(f"{number:>5} {what}")
    for one in differences[:20]:
        print(one)
    print(f"{args.cases} cases, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

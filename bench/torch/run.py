#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All-Reduce among processes of this machine: tacos beside gloo, in one run.

usage: PYTHONPATH=build/python bench/torch/run.py [--ranks 4] [--sizes 4KiB,1MiB,64MiB] [--rounds 7] [--json]

Both groups are made by the same processes and take turns, round by round, so that whatever else the machine does hits
both. A round is so many calls in a row as take about 0.1 s; the figure is that of the best round and of the median one,
of the slowest rank. Results are compared before anything is timed.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size_of(text):
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(text[: -len(unit)]) * factor
    return int(text)


def time_round(group, tensor, calls):
    dist.barrier(group=group)
    start = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(tensor, group=group)
    return (time.perf_counter() - start) / calls


def check(groups, size):
    results = []
    for group in groups.values():
        tensor = torch.arange(size // 4, dtype=torch.float32) % 97 + dist.get_rank()
        dist.all_reduce(tensor, group=group)
        results.append(tensor)
    if not torch.equal(*results):
        sys.exit(f"the results of {' and '.join(groups)} differ")


def measure(size, groups, rounds):
    check(groups, size)
    tensor = torch.zeros(size // 4, dtype=torch.float32)
    calls = {}
    for name, group in groups.items():
        once = torch.tensor(time_round(group, tensor, 3))
        dist.all_reduce(once, op=dist.ReduceOp.MAX, group=groups["gloo"])
        calls[name] = max(2, min(2000, int(0.1 / once.item())))
    times = {name: [] for name in groups}
    for _ in range(rounds):
        for name, group in groups.items():
            taken = torch.tensor(time_round(group, tensor, calls[name]), dtype=torch.float64)
            dist.all_reduce(taken, op=dist.ReduceOp.MAX, group=groups["gloo"])
            times[name].append(taken.item())
    return times


def work(rank, args, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    import tacos.torch

    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=args.ranks)
    groups = {"tacos": dist.new_group(backend="tacos"), "gloo": dist.new_group(backend="gloo")}
    for size in args.sizes:
        times = measure(size, groups, args.rounds)
        if rank == 0:
            report(size, times, args)
    if rank == 0 and not tacos.torch.native():
        sys.exit("this was gloo twice: the extension of tacos is not there")


def report(size, times, args):
    best = {name: min(one) for name, one in times.items()}
    middle = {name: statistics.median(one) for name, one in times.items()}
    line = {"ranks": args.ranks, "bytes": size, "tacos_us": best["tacos"] * 1e6, "gloo_us": best["gloo"] * 1e6,
            "ratio": best["gloo"] / best["tacos"], "median_ratio": middle["gloo"] / middle["tacos"]}
    if args.json:
        print(json.dumps(line), flush=True)
    else:
        print(f"{size:>10} bytes  tacos {line['tacos_us']:>10.1f} us  gloo {line['gloo_us']:>10.1f} us  "
              f"{line['ratio']:.2f}x ({line['median_ratio']:.2f}x of medians)", flush=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--sizes", default="4KiB,1MiB,64MiB")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.sizes = [size_of(text) for text in args.sizes.split(",")]
    mp.spawn(work, (args, free_port()), nprocs=args.ranks)


if __name__ == "__main__":
    main()

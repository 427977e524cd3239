#!/usr/bin/env python3
"""How long synthesis takes at every size, and what it reaches: presets up to 64 NPUs, every collective, both models.

Each case is made once, by one thread. Seconds are those of the processor, for the whole program: network, synthesis,
bound and verification. With --save the results are kept as lines of a file, and cases that are there already are not
made again; with --against they are compared with those of another file, case by case.

usage: quick.py [NETWORK...] [--engine NAME] [--collectives LIST] [--sizes LIST] [--models LIST] [--every N]
                [--binary FILE] [--jobs N] [--save FILE] [--against FILE]

Exits 1 when some result is more than half a percent slower than before.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = ("dgx1,dragonfly:4x5,hetero-switch,ring:16,mi250:1,tpu-v3,ndv2:4,torus:8x8,h100:8,mesh:8x8,tpu-v4,switch:16,"
            "switch-2d,rail:4x8,dgx2:2,a100:2,leaf-spine:4x4x2,a100:8,rfs,h100:4,hetero-mesh,fat-tree:4")
COLLECTIVES = "all-reduce,all-gather,reduce-scatter,broadcast,reduce,gather,scatter,all-to-all"
SIZES = "1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,64MiB,1GiB"
# What a result may be slower than before, and from when on it is worth a line.
ALLOWED = 0.005
WORTH_A_LINE = 0.02


def make(binary, engine, case):
    network, collective, size, model = case
    command = [binary, "synth", network, collective, "--size", size, "--link-model", model, "--engine", engine,
               "--threads", "1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        out, err = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    line = {"case": list(case), "s": round(usage.ru_utime + usage.ru_stime, 4)}
    if child.returncode != 0:
        return {**line, "failure": err.strip()}
    made = json.loads(out)
    return {**line, "us": made["collective_time_us"], "engine": made["engine"], "chunks": made["chunks"],
            "bound_us": made["bound_us"], "hash": made["schedule_hash"]}


def read(path):
    if not path or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {tuple(line["case"]): line for line in lines}


def summary(name, lines):
    seconds = sorted(line["s"] for line in lines)
    print(f"{name}: {len(seconds)} cases, {sum(seconds):.1f} s in all, median {statistics.median(seconds):.3f} s, "
          f"worst {seconds[-1]:.2f} s; over 1 s: {sum(s > 1 for s in seconds)}, "
          f"over 0.3 s: {sum(s > 0.3 for s in seconds)}")


def compare(now, before):
    both = [case for case in now if case in before and "us" in now[case] and "us" in before[case]]
    if not both:
        print("nothing to compare")
        return False
    summary("before", [before[case] for case in both])
    summary("now", [now[case] for case in both])
    change = {case: now[case]["us"] / before[case]["us"] - 1 for case in both}
    slower = sorted((case for case in both if change[case] > ALLOWED), key=lambda case: -change[case])
    faster = [case for case in both if change[case] < -ALLOWED]
    same = sum(now[case]["hash"] == before[case].get("hash") for case in both)
    print(f"same bytes: {same}; slower by more than {ALLOWED:.1%}: {len(slower)}; faster: {len(faster)}")
    for case in slower:
        print(f"  slower {change[case]:+.2%}  {' '.join(case)}: {before[case]['us']} -> {now[case]['us']} us "
              f"({before[case]['engine']} -> {now[case]['engine']})")
    for case in sorted(faster, key=lambda case: change[case]):
        if change[case] < -WORTH_A_LINE:
            print(f"  faster {change[case]:+.2%}  {' '.join(case)}: {before[case]['us']} -> {now[case]['us']} us")
    return bool(slower)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--collectives", default=COLLECTIVES)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--models", default="hold,pipelined")
    parser.add_argument("--every", type=int, default=1, help="make one case of so many")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "tacos")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    options = parser.parse_args()
    cases = list(itertools.product(options.networks or NETWORKS.split(","), options.collectives.split(","),
                                   options.sizes.split(","), options.models.split(",")))[::options.every]
    known = read(options.save)
    made = {case: known[case] for case in cases if case in known}
    out = options.save.open("a", encoding="utf-8") if options.save else None
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        missing = [case for case in cases if case not in made]
        for line in pool.map(lambda case: make(options.binary, options.engine, case), missing):
            made[tuple(line["case"])] = line
            if out:
                out.write(json.dumps(line) + "\n")
                out.flush()
    made = {case: line for case, line in made.items() if "us" in line}
    if not made:
        sys.exit("no case could be made")
    summary(options.engine, list(made.values()))
    for case in sorted(made, key=lambda case: -made[case]["s"])[:5]:
        print(f"  {made[case]['s']:.2f} s  {' '.join(case)}  ({made[case]['engine']})")
    worse = options.against is not None and compare(made, read(options.against))
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()

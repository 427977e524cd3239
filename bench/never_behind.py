#!/usr/bin/env python3
"""Where `auto` stands beside the algorithms that people know: every network of the suite, every collective.

For each network, collective, size and link model `tacos compare` makes all that apply. One that keeps to the
network as given and is faster than `auto` is a miss; one that passes NPUs, as if they forwarded, can do what
`auto` may not, and is told apart. Prints misses as they come, then what `auto` adopted.

usage: never_behind.py [NETWORK...] [--collectives LIST] [--sizes LIST] [--models LIST] [--jobs N] [--log FILE]

With --log every comparison is kept as a line of the file, and what is there already is not made again.
Exits 1 when there is a miss.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TACOS = ROOT / "build" / "release" / "bin" / "tacos"
COLLECTIVES = "all-reduce,all-gather,reduce-scatter,broadcast,reduce,gather,scatter,all-to-all"
SIZES = "1KiB,64KiB,1MiB,64MiB,1GiB"
# Less than this part of the time is what whole bytes in a chunk and the order of chunks make.
EQUAL = 1e-5


def compare(network, collective, size, model):
    """Time and engine of `auto`, and (algorithm, time, forwarded) of all that are faster."""
    command = [TACOS, "compare", network[0], collective, *network[1:], "--size", size, "--link-model", model, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"failure": done.stderr.strip()}
    rows = {row["algorithm"]: row for row in json.loads(done.stdout)["rows"]}
    ours = rows.pop("tacos")
    return {"us": ours["collective_time_us"], "engine": ours["engine"], "seconds": ours["synthesis_seconds"],
            "adopted": ours["engine"] in rows,
            "faster": [[row["algorithm"], row["collective_time_us"], row["forwarded"]] for row in rows.values()
                       if row["collective_time_us"] < ours["collective_time_us"] * (1 - EQUAL)]}


def read_log(path):
    if not path or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {line["case"]: line for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--collectives", default=COLLECTIVES)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--models", default="hold,pipelined")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log", type=pathlib.Path)
    options = parser.parse_args()
    known = json.loads((ROOT / "bench" / "suite" / "cases.json").read_text(encoding="utf-8"))["networks"]
    networks = {name: known.get(name, [name]) for name in options.networks} or known
    cases = {f"{name} {collective} {size} {model}": (networks[name], collective, size, model)
             for name, collective, size, model in itertools.product(
                 networks, options.collectives.split(","), options.sizes.split(","), options.models.split(","))}
    made = {case: line for case, line in read_log(options.log).items() if case in cases}
    misses, failures, adopted, forwarded = 0, 0, collections.Counter(), []

    def judge(case, line):
        nonlocal misses, failures
        if "failure" in line:
            failures += 1
            print(f"failed   {case}: {line['failure']}", flush=True)
            return
        adopted[line["engine"]] += line["adopted"]
        for algorithm, time, passes in line["faster"]:
            text = f"{case}: {algorithm} {time:.3f} us, {line['engine']} {line['us']:.3f} us"
            if passes:
                forwarded.append(text)
            else:
                misses += 1
                print(f"behind   {text}", flush=True)

    for case, line in made.items():
        judge(case, line)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(compare, *arguments): case for case, arguments in cases.items() if case not in made}
        for future in concurrent.futures.as_completed(running):
            case = running[future]
            line = {"case": case} | future.result()
            if options.log:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(line) + "\n")
            judge(case, line)
    for line in sorted(forwarded):
        print(f"forwards {line}")
    names = ", ".join(f"{name} {count}" for name, count in adopted.most_common() if count)
    print(f"{len(cases)} comparisons, {misses} times behind, {failures} failed; faster past NPUs that would have to "
          f"forward: {len(forwarded)}; adopted: {names or 'none'}")
    sys.exit(1 if misses or failures else 0)


if __name__ == "__main__":
    main()

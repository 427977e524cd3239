#!/usr/bin/env python3
"""Where `auto` stands beside the algorithms that people know: every network of the suite, every collective.

For each network, collective, size and link model `tacos compare` makes all that apply. One that keeps to the
network as given and is faster than `auto` is a miss; one that passes NPUs, as if they forwarded, can do what
`auto` may not, and is told apart. Prints misses as they come, then what `auto` adopted.

usage: never_behind.py [NETWORK...] [--collectives LIST] [--sizes LIST] [--models LIST]

Exits 1 when there is a miss.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TACOS = ROOT / "build" / "release" / "bin" / "tacos"
COLLECTIVES = "all-reduce,all-gather,reduce-scatter,broadcast,reduce,gather,scatter,all-to-all"
SIZES = "1KiB,64KiB,1MiB,64MiB,1GiB"


def compare(network, collective, size, model):
    """The rows of a comparison, or nothing where there is no schedule."""
    command = [TACOS, "compare", network[0], collective, *network[1:], "--size", size, "--link-model", model, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--collectives", default=COLLECTIVES)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--models", default="hold,pipelined")
    options = parser.parse_args()
    known = json.loads((ROOT / "bench" / "suite" / "cases.json").read_text())["networks"]
    networks = {name: known.get(name, [name]) for name in options.networks} or known
    comparisons = misses = 0
    adopted, forwarded = collections.Counter(), []
    for name, network in networks.items():
        for collective in options.collectives.split(","):
            for size in options.sizes.split(","):
                for model in options.models.split(","):
                    rows = {row["algorithm"]: row for row in compare(network, collective, size, model)}
                    if "tacos" not in rows:
                        continue
                    comparisons += 1
                    ours = rows.pop("tacos")
                    where = f"{name} {collective} {size} {model}"
                    if ours["engine"] in rows:
                        adopted[ours["engine"]] += 1
                    for row in rows.values():
                        if row["collective_time_us"] >= ours["collective_time_us"]:
                            continue
                        faster = (f"{where}: {row['algorithm']} {row['collective_time_us']:.3f} us, "
                                  f"{ours['engine']} {ours['collective_time_us']:.3f} us")
                        if row["forwarded"]:
                            forwarded.append(faster)
                        else:
                            misses += 1
                            print(f"behind   {faster}", flush=True)
    for line in forwarded:
        print(f"forwards {line}")
    print(f"{comparisons} comparisons, {misses} times behind; faster past NPUs that would have to forward: "
          f"{len(forwarded)}; adopted: " + (", ".join(f"{name} {count}" for name, count in adopted.most_common()) or "none"))
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Plans every preset of up to 32 GPUs for a runtime, and has an independent reader run every file. Long.

usage: every_preset.py TACOS FORMAT [--effort N] [--jobs N] [PRESET...]
e.g. tests/export/every_preset.py build/release/bin/tacos mscclpp
Prints a row for each preset: files of each collective, operations or steps of the largest, seconds; fails when a reader
disagrees, or files leave out a size.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PRESETS = ["dgx1", *(f"ndv2:{n}" for n in range(1, 5)), *(f"dgx2:{n}" for n in (1, 2)), *(f"a100:{n}" for n in range(1, 5)),
           *(f"h100:{n}" for n in range(1, 5)), *(f"mi250:{n}" for n in (1, 2)), "tpu-v3", "tpu-v4", "switch-2d"]
COLLECTIVES = ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"]
MORE = {"msccl": ["reduce"], "rccl": ["reduce", "gather", "scatter"]}
LEAST, MOST = 64 << 10, 1 << 30
HERE = pathlib.Path(__file__).parent


def check_ranges(entries):
    assert entries[0]["min_bytes"] <= LEAST and entries[-1]["max_bytes"] >= MOST, "sizes are left out"
    assert all(a["max_bytes"] + 1 == b["min_bytes"] for a, b in zip(entries, entries[1:])), "sizes are left out"


def read(file, format_):
    reader = [HERE / "run_mscclpp.py", file] if format_ == "mscclpp" else [HERE / "run_msccl.py", file, format_]
    done = subprocess.run([sys.executable, *reader], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{file}: {done.stderr.strip().splitlines()[-1]}"
    return int(re.search(r"(\d+) (?:operations|steps)", done.stdout)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tacos")
    parser.add_argument("format")
    parser.add_argument("--effort", default="1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("presets", nargs="*", default=PRESETS)
    given = parser.parse_args()
    collectives = COLLECTIVES + MORE.get(given.format, [])
    print(f"{'':<12}" + "".join(f"{name:>16}" for name in collectives) + f"{'largest':>10}{'plan':>8}{'read':>8}")
    for preset in given.presets:
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            plan, begin = pathlib.Path(folder) / "plan", time.monotonic()
            subprocess.run([given.tacos, "plan", preset, "-o", plan, "--collectives", ",".join(collectives), "--sizes",
                            "64KiB..1GiB", "--format", given.format, "--effort", given.effort],
                           check=True, stdout=subprocess.DEVNULL)
            made = time.monotonic()
            entries = json.loads((plan / "plan.json").read_text())["entries"]
            of = {name: [entry for entry in entries if entry["collective"] == name] for name in collectives}
            for some in of.values():
                check_ranges(some)
            sizes = list(pool.map(lambda entry: read(plan / entry["exported"], given.format), entries))
            files = "".join(f"{len(of[name]):>16}" for name in collectives)
            print(f"{preset:<12}{files}{max(sizes):>10}{made - begin:>8.1f}{time.monotonic() - made:>8.1f}", flush=True)


main()

#!/usr/bin/env python3
"""Runs the cases of cases.json and prints speed and quality side by side.

A case with "each_network" stands for one case on every network of "networks"; "share_on" changes its
target for some; "beside" is another way to do the same, without "own_args", for comparison; "links_GBps" are the
links into the NPU that needs longest; "threads" is how many there are, whatever the option says. Every schedule is
verified by the program before its time counts. Times are the minimum and median of several runs on one thread; bytes
per delivery is peak memory beyond that of an empty run. The groups "scale", "scale-unequal" and "all-reduce-large"
take minutes and run only when named; use --runs 1 --threads 2 with them.

usage: run.py [GROUP...] [--runs N] [--json FILE] [--threads N]
"""

import argparse
import json
import math
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TACOS = ROOT / "build" / "release" / "bin" / "tacos"
LARGE = ["scale", "scale-unequal", "all-reduce-large"]


def expanded(group, networks):
    """The cases of a group, those that run on each network written out, with all their arguments."""
    for case in group:
        if not case.get("each_network"):
            yield with_own_args(case)
            continue
        share_on = case.get("share_on", {})
        for name, network in networks.items():
            yield with_own_args(case | {
                "id": f"{case['id']}-{name}",
                "args": [network[0], *case["args"], *network[1:]],
                "target_share": share_on.get(name, case["target_share"]),
            })


def with_own_args(case):
    shared = case["args"]
    case = case | {"args": shared + case.get("own_args", [])}
    if "beside" in case:
        case["beside"] = case["beside"] | {"args": shared + case["beside"]["args"]}
    return case


def synth(args, threads):
    """One run of synth; its JSON."""
    command = [TACOS, "synth", *args, "--json", "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    if result["verified"] is not True:
        sys.exit(f"{args}: not verified")
    return result


def measure(case, runs, threads, idle_bytes):
    threads = case.get("threads", threads)
    results = [synth(case["args"], threads) for _ in range(runs)]
    if len({result["schedule_hash"] for result in results}) != 1:
        sys.exit(f"{case['id']}: runs differ")
    seconds = [result["synthesis_seconds"] for result in results]
    first = results[0]
    row = {
        "id": case["id"],
        "npus": first["npus"],
        "collective_time_us": first["collective_time_us"],
        "efficiency": first["efficiency"],
        "bandwidth_share": first["bandwidth_bound_us"] / first["collective_time_us"],
        "bound": first["bound_name"],
        "min_seconds": min(seconds),
        "median_seconds": statistics.median(seconds),
        "verify_seconds": min(result["verify_seconds"] for result in results),
        "transfers": first["transfers"],
        "ns_per_delivery": min(seconds) / max(1, first["transfers"]) * 1e9,
        "bytes_per_delivery": (first["peak_rss_bytes"] - idle_bytes) / max(1, first["transfers"]),
        "peak_gib": max(result["peak_rss_bytes"] for result in results) / 2**30,
        "schedule_hash": first["schedule_hash"],
    }
    if "beside" in case:
        row["beside_us"] = synth(case["beside"]["args"], threads)["collective_time_us"]
    if "links_GBps" in case:
        row["of_integer_bound"] = integer_bound_us(first, case["links_GBps"]) / row["collective_time_us"]
    row["verdict"] = verdict(case, row)
    return row


def integer_bound_us(result, links_GBps):
    """What the NPU with the slowest links into it, of 0.5 us each, needs in whole chunks."""
    chunk_bytes = -(-result["size_bytes"] // result["chunks"])
    steps_ps = [500_000 + -(-chunk_bytes * 1000 // bandwidth) for bandwidth in links_GBps]
    needed = result["chunks"] - result["chunks_per_npu"]
    short, enough = 0, needed * min(steps_ps)
    while enough - short > 1:
        middle = (short + enough) // 2
        if sum(middle // step for step in steps_ps) >= needed:
            enough = middle
        else:
            short = middle
    return enough / 1e6


def verdict(case, row):
    """What the case's targets say of a row, and how it compares with the rival."""
    words = []
    if "target_seconds" in case:
        seconds = row["min_seconds"] + (row["verify_seconds"] if case.get("with_verification") else 0)
        met = seconds <= case["target_seconds"]
        words.append(f"{'met' if met else 'MISSED'}: {seconds:.3f} of {case['target_seconds']} s")
    if "target_verify_seconds" in case:
        met = row["verify_seconds"] <= case["target_verify_seconds"]
        words.append(f"verify {'met' if met else 'MISSED'}: {case['target_verify_seconds']} s")
    if "target_gib" in case:
        met = row["peak_gib"] <= case["target_gib"]
        words.append(f"{row['peak_gib']:.2f} GiB {'met' if met else 'MISSED'}: {case['target_gib']}")
    if "of_integer_bound" in row:
        met = row["of_integer_bound"] >= 0.98
        words.append(f"{100 * row['of_integer_bound']:.2f}% of the integer bound{'' if met else ' MISSED: 98'}")
    if "target_us" in case:
        # Published to two decimals.
        met = row["collective_time_us"] <= case["target_us"] + 0.005
        words.append(f"{'met' if met else 'MISSED'}: {case['target_us']:.2f} us")
    if "target_share" in case:
        met = row["bandwidth_share"] >= case["target_share"]
        words.append(f"{'met' if met else 'MISSED'}: {100 * row['bandwidth_share']:.2f} of "
                     f"{100 * case['target_share']:.0f}% of bandwidth")
    if "target_of_bound" in case:
        met = row["efficiency"] >= case["target_of_bound"]
        words.append(f"{'met' if met else 'MISSED'}: {100 * row['efficiency']:.2f} of "
                     f"{100 * case['target_of_bound']:g}% of the bound")
    if "target_times_bound" in case:
        times = 1 / row["efficiency"]
        met = times <= case["target_times_bound"]
        words.append(f"{'met' if met else 'MISSED'}: {times:.2f} of {case['target_times_bound']}x the bound")
    if "beside" in case:
        ratio = row["beside_us"] / row["collective_time_us"]
        least = case["beside"].get("at_least", 0)
        words.append(f"{case['beside']['name']} {row['beside_us']:,.2f} us: {ratio:.3f}x"
                     f"{'' if ratio >= least else f' MISSED: {least:g}'}")
    if "rival_us" in case:
        ratio = case["rival_us"] / row["collective_time_us"]
        words.append(f"{case['rival']} {case['rival_us']:,.2f} us: {ratio:.3f}x{'' if ratio >= 0.999 else ' SLOWER'}")
    if "rival_seconds" in case:
        words.append(f"{case['rival_seconds'] / row['min_seconds']:,.0f}x the published")
    return ", ".join(words)


def growth(rows):
    """Exponent of a least-squares line through log time against log NPUs."""
    points = [(math.log(row["npus"]), math.log(row["min_seconds"])) for row in rows]
    mean_x = statistics.mean(x for x, _ in points)
    mean_y = statistics.mean(y for _, y in points)
    return (sum((x - mean_x) * (y - mean_y) for x, y in points)
            / sum((x - mean_x) ** 2 for x, _ in points))


def machine():
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.strip()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    version = subprocess.run([TACOS, "--version"], capture_output=True, text=True, check=True)
    return {"commit": commit, "cpu": cpu, "program": version.stdout.strip()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="groups of cases.json; all but the large ones by default")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", help="append one JSON line per row to this file")
    options = parser.parse_args()
    cases = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
    networks = cases.pop("networks")
    context = machine()
    print(f"{context['program']}, {context['commit']}, {context['cpu']}, {options.threads} thread(s), "
          f"best of {options.runs} runs")
    idle_bytes = synth(["ring:2", "all-gather"], 1)["peak_rss_bytes"]
    rows = {}
    for group in options.groups or [group for group in cases if group not in LARGE]:
        if group not in cases:
            sys.exit(f"unknown group '{group}'; known are {', '.join(cases)}")
        print(f"\n{group:24} {'NPUs':>6} {'time us':>11} {'of bound':>8} {'synth s':>8} {'median':>8} "
              f"{'verify s':>8} {'ns/del':>7} {'B/del':>6}  verdict")
        for case in expanded(cases[group], networks):
            row = measure(case, options.runs, options.threads, idle_bytes)
            rows[group, row["id"]] = row
            print(f"{row['id']:24} {row['npus']:6} {row['collective_time_us']:11.2f} "
                  f"{100 * row['efficiency']:7.2f}% {row['min_seconds']:8.4f} "
                  f"{row['median_seconds']:8.4f} {row['verify_seconds']:8.4f} "
                  f"{row['ns_per_delivery']:7.0f} {row['bytes_per_delivery']:6.1f}  {row['verdict']}")
            if options.json:
                with open(options.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(context | {"threads": options.threads} | row) + "\n")
    scale = [row for (group, name), row in rows.items() if group == "scale" and name.startswith("mesh")]
    if scale:
        exponent = growth(scale)
        print(f"\ngrowth from {scale[0]['npus']:,} to {scale[-1]['npus']:,} NPUs: N^{exponent:.2f} "
              f"({'met' if exponent <= 2.1 else 'MISSED'}: 2.1)")
    pair = [("all-gather", "mesh-32x32"), ("all-gather", "mesh-64x64")]
    if set(pair) <= rows.keys():
        exponent = growth([rows[key] for key in pair])
        print(f"\ngrowth from 1,024 to 4,096 NPUs: N^{exponent:.2f} "
              f"({'met' if exponent <= 2.2 else 'MISSED'}: 2.2)")


if __name__ == "__main__":
    main()

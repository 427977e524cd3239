#!/usr/bin/env python3
"""Writes docs/results.md, its plots in docs/results, and the table of README.md: every figure made anew.

usage: run.py [--into FOLDER] [--quick]

--into writes somewhere else than into docs and leaves README.md alone; --quick does little of everything, to see
that it works.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bandwidth
import failures
import growth
import published
import utilization
from program import ROOT, number, run, table

BEGIN, END = "<!-- From docs/results.md, by tools/dev paper -->\n", "<!-- end -->\n"


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    return f"{run('--version').strip()}, {os.cpu_count()} cores of {cpu}"


def readme_table(sweeps, grown, meshes):
    """What a visitor sees first."""
    def sweep(name, collective):
        return next(one for one in sweeps if (one.name, one.collective, one.model) == (name, collective, "hold"))

    def synthesis(family, npus):
        return next(answer for answer in grown[family] if answer["npus"] == npus)

    def made(answer):
        return f"{number(answer['synthesis_seconds'])} s, {100 * growth.of_whole_chunks(answer):.0f}%"

    largest = 2**30
    mesh, h100 = sweep("mesh", "all-reduce"), sweep("h100:4", "all-gather").ours(largest)
    rs_ag = next(row for row in mesh.rows if row["algorithm"] == "rs-ag" and row["size_bytes"] == largest)
    huge, exchange = synthesis("All-Gather, mesh", 40_000), synthesis("All-to-All, mesh", 64)
    rows = [
        ["All-Gather, mesh 32x32, one core", "1,024",
         made(synthesis("All-Gather, mesh", 1024)) + " of what whole chunks allow", "92 s [1]"],
        ["All-Gather, mesh 20x20 with 50/100 GB/s links, one core", "400",
         made(synthesis("All-Gather, mesh 50/100", 400)) + " of what whole chunks allow", "85 s [1]"],
        ["All-Reduce, mesh 5x5, 50 GB/s, 0.2 us, 1 GB", "25",
         f"{meshes['5x5', 'hold']['algbw_GBps']:.1f} GB/s (`hold`), {meshes['5x5', 'pipelined']['algbw_GBps']:.1f} "
         "(`pipelined`)", f"73.1 GB/s [2]; limit {published.limit(meshes['5x5', 'hold']):.1f}"],
        ["All-Reduce, mesh 8x8, 1 GiB", "64",
         f"{mesh.ours(largest)['algbw_GBps']:.1f} GB/s, {100 * mesh.ours(largest)['efficiency']:.1f}% of the bound",
         f"{rs_ag['algbw_GBps']:.1f} GB/s: Reduce-Scatter, then All-Gather"],
        ["All-Gather, h100:4 (NVSwitch + InfiniBand), 1 GiB", "32",
         f"{number(h100['synthesis_seconds'])} s, {100 * h100['efficiency']:.1f}% of the bound", ""],
        ["All-Gather, mesh 200x200, two cores", "40,000",
         f"{made(huge)} of what whole chunks allow, {huge['peak_rss_bytes'] / 2**30:.1f} GiB",
         "2.52 h, in the paper of [1]"],
        ["All-to-All, mesh 8x8, 1 GiB each", "64", made(exchange) + " of the bound", ""],
    ]
    return table(["", "NPUs", "tacos: to synthesize, result", "others"], rows).replace("---:|", "---|")


def replace_table(text, rows):
    found = re.search(re.escape(BEGIN) + ".*?" + re.escape(END), text, re.DOTALL)
    if not found:
        sys.exit(f"README.md: there is no table between '{BEGIN.strip()}' and '{END.strip()}'")
    return text[:found.start()] + BEGIN + "\n" + rows + "\n" + END + text[found.end():]


def write(path, text):
    beside = path.with_name(path.name + ".partial")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "docs")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    # Plots are drawn beside the old ones, which stay until everything is there.
    folder = options.into / "results.partial"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start, parts, values = time.monotonic(), [], {}
    for module in (bandwidth, growth, failures, published, utilization):
        print(f"{time.monotonic() - start:5.0f} s  {module.__doc__.strip()}", file=sys.stderr, flush=True)
        text, values[module.__name__] = module.section(folder, options.quick)
        parts.append(text)
    minutes = (time.monotonic() - start) / 60
    page = ("# Results\n\nWritten by `tools/dev paper`: every figure here was made by the commands beside it, and every "
            f"schedule was verified. {machine()}; it took {minutes:.0f} minutes. Speed-ups are as measured, also where "
            "they are 1.00. Times of schedules are the same on every machine, times to synthesize are not.\n\n"
            + "\n".join(parts))
    shutil.rmtree(options.into / "results", ignore_errors=True)
    folder.rename(options.into / "results")
    write(options.into / "results.md", page)
    if options.into == ROOT / "docs" and not options.quick:
        readme = ROOT / "README.md"
        write(readme, replace_table(readme.read_text(encoding="utf-8"),
                                    readme_table(values["bandwidth"], values["growth"], values["published"])))
    print(f"{options.into / 'results.md'}: {minutes:.1f} minutes", file=sys.stderr)


if __name__ == "__main__":
    main()

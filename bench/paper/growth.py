"""(b) Time to synthesize against the number of NPUs."""

import math
import statistics

from program import ask, draw, number, shown, table

# Seconds of the public code of TACOS, v1.3.0, by NPUs: one chunk per NPU, one core, medians.
TACOS_MESH = {64: 0.019, 256: 1.04, 529: 10.9, 1024: 91.7, 1296: 205}
TACOS_MIXED_MESH = {64: 0.10, 256: 13.4, 400: 84.6}

# name: (networks, collective and options, published seconds)
FAMILIES = {
    "All-Gather, mesh": ([f"mesh:{n}x{n}" for n in (8, 16, 23, 32, 36, 64, 100)],
                         ["all-gather", "--engine", "matching", "--chunks", "1"], TACOS_MESH),
    "All-Gather, mesh 50/100": ([f"mesh:{n}x{n},bw=50GBps/100GBps" for n in (8, 16, 20, 32, 50)],
                                ["all-gather", "--engine", "matching", "--chunks", "1"], TACOS_MIXED_MESH),
    "All-Reduce, mesh": ([f"mesh:{n}x{n}" for n in (4, 8, 16, 32, 64)], ["all-reduce", "--size", "1GiB"], {}),
    "All-to-All, mesh": ([f"mesh:{n}x{n}" for n in (4, 8, 16)], ["all-to-all", "--size", "1GiB"], {}),
    "All-Gather, torus": ([f"torus:{n}x{n}x{n}" for n in (8, 16, 32, 64, 100)], ["all-gather"], {}),
}
# The one that takes minutes, with two threads.
LARGE = ["synth", "mesh:200x200", "all-gather", "--engine", "matching", "--chunks", "1"]
RUNS = 3


def measure(command, threads, runs):
    """The fastest of some runs."""
    answers = [ask(*command, "--threads", threads) for _ in range(runs)]
    best = min(answers, key=lambda answer: answer["synthesis_seconds"])
    return best | {"command": command, "threads": threads}


def exponent(points):
    """Of a least-squares line through the logarithms."""
    return statistics.linear_regression(*zip(*((math.log(x), math.log(y)) for x, y in points))).slope


def of_whole_chunks(answer):
    """Share of the bound for whole chunks where that is what limits, else of the bound."""
    return answer.get("chunk_bound_us", answer["bound_us"]) / answer["collective_time_us"]


def section(folder, quick):
    measured, rows, lines = {}, [], []
    for name, (networks, options, published) in FAMILIES.items():
        answers = [measure(["synth", network, *options], 1, 1 if quick else RUNS)
                   for network in (networks[:2] if quick else networks)]
        if name == "All-Gather, mesh" and not quick:
            answers.append(measure(LARGE, 2, 1))
        measured[name] = answers
        lines.append((name, [(answer["npus"], answer["synthesis_seconds"]) for answer in answers]))
        if published:
            lines.append((f"{name.replace('All-Gather, ', '')}: TACOS 1.3.0", sorted(published.items())))
        for answer in answers:
            theirs = published.get(answer["npus"])
            rows.append([name, f"{answer['npus']:,}", f"{answer['transfers']:,}", number(answer["synthesis_seconds"]),
                         number(answer["verify_seconds"]), number(answer["peak_rss_bytes"] / 2**20),
                         f"{100 * of_whole_chunks(answer):.1f}%",
                         f"{number(theirs)} ({theirs / answer['synthesis_seconds']:,.0f}x)" if theirs else ""])
    draw(folder / "growth.svg", "Time to synthesize", {"title": "NPUs", "unit": "number"},
         {"title": "seconds", "unit": "number"}, lines)
    last = measured["All-Gather, mesh"][-4:]
    slope = exponent([(answer["npus"], answer["synthesis_seconds"]) for answer in last])
    text = ("## Time to synthesize\n\n![seconds against NPUs](results/growth.svg)\n\n"
            "One thread (mesh 200x200: two), the fastest of three runs; `auto` unless it says `--engine`. "
            "`of the bound`: for whole chunks where those limit. Tori are made by symmetry. TACOS: its public code, "
            "v1.3.0, medians on one quiet core.\n\n"
            + table(["", "NPUs", "transfers", "synthesis, s", "verification, s", "MiB", "of the bound",
                     "TACOS 1.3.0, s"], rows)
            + f"\nAll-Gather on meshes of {last[0]['npus']:,} to {last[-1]['npus']:,} NPUs: N^{slope:.2f}. For example "
              f"`{shown(last[0]['command'])}`.\n")
    return text, measured

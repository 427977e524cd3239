"""(c) Networks with links that have failed or are slow: ten draws each."""

import random
import statistics

from program import ask, number, shown, table

NETWORKS = ("mesh:8x8", "torus:8x8", "dragonfly:4x5,bw=400GBps/200GBps", "hetero-mesh:6x6", "h100:4")
SHARE = 0.05
SLOW = (0.1, 0.25, 0.5)
DRAWS = 10
COLLECTIVES = ("all-reduce", "all-gather")
SIZE = "64MiB"


def pairs(network):
    """Neighbours, each pair once."""
    links = ask("topology", "show", network)["links"]
    return sorted({tuple(sorted((link["src"], link["dst"]))) for link in links})


def drawn(network, seed, treatment):
    """--fail options for so many of the pairs."""
    rng = random.Random(f"{network} {seed} {treatment}")
    all_pairs = pairs(network)
    some = rng.sample(all_pairs, max(1, round(SHARE * len(all_pairs))))
    options = []
    for a, b in sorted(some):
        options += ["--fail", f"link:{a}-{b}" if treatment == "removed" else f"slow:{a}-{b}={rng.choice(SLOW)}"]
    return options


def compared(network, collective, treatment, count):
    """Comparisons on networks on which the collective is possible at all."""
    found, seed = [], 0
    while len(found) < count:
        seed += 1
        command = ["compare", network, collective, "--size", SIZE, *drawn(network, seed, treatment)]
        # Exit code 4: no schedule exists.
        answer = ask(*command, accept=(4,))
        if answer:
            found.append((command, answer["rows"]))
    return found


def span(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})" if values else "-"


def speedups(rounds, choose):
    """Of each round, of the best of those that are chosen."""
    best = (min((row["speedup"] for row in rows if choose(row)), default=None) for _, rows in rounds)
    return [value for value in best if value is not None]


def section(folder, quick):
    del folder
    rows, example = [], None
    for network in NETWORKS[2:3] if quick else NETWORKS:
        for collective in COLLECTIVES:
            whole = ask("compare", network, collective, "--size", SIZE)["rows"]
            healthy = next(row for row in whole if row["algorithm"] == "tacos")["collective_time_us"]
            for treatment in ("removed", "slowed"):
                rounds = compared(network, collective, treatment, 1 if quick else DRAWS)
                example = example or rounds[0][0]
                ours = [next(row for row in some if row["algorithm"] == "tacos") for _, some in rounds]
                rows.append([
                    f"{network.split(',')[0]}, {collective}, {treatment}",
                    span([row["collective_time_us"] / healthy for row in ours]),
                    f"{100 * min(row['efficiency'] for row in ours):.1f}%",
                    span(speedups(rounds, lambda row: row["algorithm"] != "tacos" and not row["forwarded"])),
                    span(speedups(rounds, lambda row: row["algorithm"] != "tacos")),
                    span(speedups(rounds, lambda row: row["algorithm"] == "ring")),
                    span(speedups(rounds, lambda row: row["algorithm"] == "direct")),
                    number(max(row["synthesis_seconds"] for row in ours)),
                ])
    return (f"## Failed and slow links\n\n{SIZE}, link model `hold`. Of each network {100 * SHARE:.0f}% of its pairs of "
            f"neighbours, drawn at random, have lost their link, or have a tenth, a quarter or a half of its bandwidth "
            f"left; {DRAWS} draws each, the median and in brackets the least and the most. Draws that cut the network "
            "in two are drawn again.\n\n"
            + table(["", "times the healthy network's", "of the bound, least", "best other, as given",
                     "best other, forwarding too", "ring", "direct", "synthesis at most, s"], rows)
            + f"\nFor example `{shown(example)}`.\n"), rows

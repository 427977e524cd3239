"""(e) How many links are busy over time: ours, ring and direct."""

from program import ask, draw, run, shown, table

NETWORKS = ("mesh:8x8", "torus:4x4x4")
ALGORITHMS = {"tacos": "auto", "ring": "ring", "direct": "direct"}
SIZE = "64MiB"
BINS = 100


def transfers(spec, engine):
    """(start, bytes, links) of every transfer, and the time of all; microseconds."""
    command = ["synth", spec, "all-reduce", "--size", SIZE, "--engine", engine]
    result = ask(*command)
    chunk = result["size_bytes"] / result["chunks"]
    found = {}
    for line in run(*command, "--trace", "-").splitlines():
        if line.startswith("#"):
            continue
        start, _, _, _, _, _, links = line.split()
        key = (int(start) / 1e6, links)
        found[key] = found.get(key, 0) + chunk
    moves = [(start, size, [int(link) for link in links.split(",")]) for (start, links), size in found.items()]
    return command, result, moves


def busy_share(moves, links, end):
    """Of BINS parts of the time, how many of the links are busy on average."""
    bins = [0.0] * BINS
    for start, size, route in moves:
        head = start
        for link in route:
            latency = links[link]["latency_ps"] / 1e6
            busy = latency + size / links[link]["bandwidth_Bps"] * 1e6
            first, last = head / end * BINS, (head + busy) / end * BINS
            for i in range(int(first), min(BINS, int(last) + 1)):
                bins[i] += max(0.0, min(last, i + 1) - max(first, i))
            head += latency
    return [share / len(links) for share in bins]


def section(folder, quick):
    text, rows = "", []
    for spec in NETWORKS[:1] if quick else NETWORKS:
        links = ask("topology", "show", spec)["links"]
        lines = []
        for name, engine in ALGORITHMS.items():
            network = spec if engine == "auto" else f"{spec},forward=yes"
            command, result, moves = transfers(network, engine)
            end = result["collective_time_us"]
            share = busy_share(moves, links, end)
            lines.append((name, [((i + 0.5) / BINS * end, value) for i, value in enumerate(share)]))
            rows.append([f"{spec}, {name}", f"{end:,.1f}", f"{100 * sum(share) / BINS:.1f}%", f"{100 * max(share):.1f}%",
                         f"`{shown(command)} --trace -`"])
        plot = f"utilization-{spec.replace(':', '-')}.svg"
        draw(folder / plot, f"Links that are busy, All-Reduce of {SIZE} on {spec}",
             {"title": "us", "unit": "number", "linear": True}, {"title": "links", "unit": "percent", "linear": True}, lines)
        text += f"![utilization on {spec}](results/{plot})\n\n"
    return (f"## Links that are busy over time\n\nAll-Reduce of {SIZE}, link model `hold`, from the traces; ring and "
            f"direct forward past NPUs.\n\n{text}"
            + table(["", "time, us", "busy on average", "at most", "command"], rows)), rows

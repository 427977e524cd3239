"""(a) Bandwidth of every algorithm against the size of the buffer."""

import itertools

from program import ask, number, shown, size_name, table

NETWORKS = {
    "ring": "ring:16",
    "fully connected": "fc:16",
    "mesh": "mesh:8x8",
    "3D grid": "mesh:4x4x4",
    "torus": "torus:4x4x4",
    "2D switch": "switch-2d",
    "3D-RFS": "rfs",
    "DragonFly": "dragonfly:4x5,bw=400GBps/200GBps",
    "DGX-1": "dgx1",
    "h100:4": "h100:4",
}
COLLECTIVES = ("all-reduce", "all-gather")
SIZES = "1KiB..1GiB"
MODELS = ("hold", "pipelined")
# Of the eleven, those that the summaries show.
SHOWN = (2**10, 2**16, 2**20, 2**26, 2**30)


class Sweep:
    """One network, collective and link model, all algorithms at all sizes."""

    def __init__(self, name, collective, model, sizes, folder):
        self.name, self.collective, self.model = name, collective, model
        self.plot = f"{name.lower().replace(' ', '-').replace(':', '-')}-{collective}-{model}.svg"
        self.command = ["compare", NETWORKS[name], collective, "--sizes", sizes, "--link-model", model]
        self.rows = ask(*self.command, "--plot", folder / self.plot)["rows"]
        self.sizes = sorted({row["size_bytes"] for row in self.rows})

    def ours(self, size):
        return next(row for row in self.rows if row["size_bytes"] == size and row["algorithm"] == "tacos")

    def others(self, size, forwarded):
        """Fastest first."""
        return sorted((row for row in self.rows if row["size_bytes"] == size and row["algorithm"] != "tacos"
                       and row["forwarded"] == forwarded), key=lambda row: row["collective_time_us"])

    def algorithms(self):
        """By their time for the largest buffer."""
        last = self.sizes[-1]
        return [row["algorithm"] for row in sorted((row for row in self.rows if row["size_bytes"] == last),
                                                   key=lambda row: row["collective_time_us"])]

    def cell(self, algorithm, size):
        found = [row for row in self.rows if row["algorithm"] == algorithm and row["size_bytes"] == size]
        return f"{number(found[0]['busbw_GBps'])}{' *' if found[0]['forwarded'] else ''}" if found else "-"

    def bound(self, size):
        ours = self.ours(size)
        return number(ours["busbw_GBps"] / ours["efficiency"]) if ours["efficiency"] else "-"

    def details(self):
        """The plot and all numbers."""
        algorithms = self.algorithms()
        rows = [[size_name(size), self.bound(size), *(self.cell(name, size) for name in algorithms)]
                for size in self.sizes]
        return (f"\n<details><summary>{self.name}, {self.collective}, {self.model}</summary>\n\n"
                f"![{self.collective} on {self.name}, {self.model}](results/{self.plot})\n\n"
                f"`{shown(self.command)}`: bus bandwidth in GB/s; * passes NPUs, as if they forwarded\n\n"
                f"{table(['buffer', 'bound', *algorithms], rows)}\n</details>\n")


def best_other(sweep, size):
    others = sweep.others(size, False)
    if not others:
        return "none"
    adopted = ", adopted" if sweep.ours(size)["engine"] == others[0]["algorithm"] else ""
    return f"{others[0]['speedup']:.2f} {others[0]['algorithm']}{adopted}"


def of_bound(sweep, size):
    return f"{100 * sweep.ours(size)['efficiency']:.1f}%"


def summary(sweeps, sizes, cell):
    return table(["", *map(size_name, sizes)],
                 [[sweep.name, *(cell(sweep, size) for size in sizes if size in sweep.sizes)] for sweep in sweeps])


def each_other(sweeps):
    """Speed-up over each of the others for the largest buffer."""
    names = sorted({name for sweep in sweeps for name in sweep.algorithms()} - {"tacos"})
    def cell(sweep, name):
        found = [row for row in sweep.rows if row["algorithm"] == name and row["size_bytes"] == sweep.sizes[-1]]
        return f"{found[0]['speedup']:.2f}{' *' if found[0]['forwarded'] else ''}" if found else ""
    return table(["", *names], [[sweep.name, *(cell(sweep, name) for name in names)] for sweep in sweeps])


def forwarding_wins(sweeps):
    """Where an algorithm that passes NPUs beats ours."""
    rows = []
    for sweep in sweeps:
        for size in sweep.sizes:
            fastest = sweep.others(size, True)[:1]
            if fastest and fastest[0]["speedup"] < 0.9999:
                row = fastest[0]
                rows.append([sweep.name, sweep.collective, sweep.model, size_name(size), row["algorithm"],
                             f"{1 / row['speedup']:.2f}", number(row["collective_time_us"]),
                             number(sweep.ours(size)["collective_time_us"])])
    if not rows:
        return "No algorithm that passes NPUs is faster than ours here.\n"
    return ("Algorithms that pass NPUs can do what ours may not on these networks: a message crosses several links "
            "for one serialization, and no NPU on its way must hold it before it goes on. So it is there sooner, or "
            "chunks can be larger, and pay latency less often, before filling the links takes too long. "
            "With `forward=yes` in the network, `auto` takes them too. They are ahead here:\n\n"
            + table(["network", "collective", "model", "buffer", "algorithm", "times as fast", "theirs, us", "ours, us"], rows))


def section(folder, quick):
    names = ["DGX-1"] if quick else NETWORKS
    sizes = "1MiB..4MiB" if quick else SIZES
    sweeps = [Sweep(name, collective, model, sizes, folder)
              for collective in COLLECTIVES for model in MODELS for name in names]
    shown_sizes = [size for size in SHOWN if size in sweeps[0].sizes]
    text = (f"## Bandwidth against size\n\nEvery algorithm on every network, from {sizes.replace('..', ' to ')}, "
            f"in both link models, all verified and timed by the same code: `{shown(sweeps[0].command)}` and so on. "
            "Algorithms that send to NPUs that are no neighbours (halving-doubling on a mesh, say) are made as if NPUs "
            "forwarded; ours keeps to the network as given. `rs-ag` is the matching of this project: Reduce-Scatter, "
            "then All-Gather.\n")
    for collective, model in itertools.product(COLLECTIVES, MODELS):
        some = [sweep for sweep in sweeps if (sweep.collective, sweep.model) == (collective, model)]
        text += (f"\n### {collective}, {model}\n\nTimes as long as ours the best other takes that keeps to the network; `adopted` "
                 f"where `auto` took it:\n\n{summary(some, shown_sizes, best_other)}"
                 f"\nOurs, of the bound:\n\n{summary(some, shown_sizes, of_bound)}"
                 f"\nTimes as long as ours each other takes at {size_name(some[0].sizes[-1])} (* passes NPUs):\n\n"
                 f"{each_other(some)}")
    text += f"\n### Where passing NPUs wins\n\n{forwarding_wins(sweeps)}\n### All numbers\n"
    text += "".join(sweep.details() for sweep in sweeps)
    return text, sweeps

#!/usr/bin/env python3
"""Collectives on real wires: ours, the MPI library's, and algorithms that people know, in one run.

usage: bench/wires/run.py [--size 4MB] [--iterations 3] [--link-model hold] [--networks NAME,...]
                          [--collectives NAME,...] [--only-ours] [--into FILE]

Builds each network with tools/testbed, probes it, synthesizes for what it is like, and runs everything on it with tacos-mpi run. Needs what
tools/testbed needs, a release build, and a machine that does nothing else; docs/wires.md has the table.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"
TESTBED = ROOT / "tools" / "testbed"


def two_boxes():
    """Two boxes of four, everybody joined to everybody inside, and one cable of a quarter between them."""
    links = []
    for box in (0, 4):
        links += [(box + a, box + b, 50) for a in range(4) for b in range(4) if a != b]
    links += [(3, 4, 12.5), (4, 3, 12.5)]
    return {"name": "two boxes", "npus": 8,
            "links": [{"src": a, "dst": b, "bandwidth_Bps": int(g * 1e9), "latency_ps": 500000} for a, b, g in links]}


# Name: topology, failures, an order of NPUs in which a ring is as short as can be.
NETWORKS = {
    "mesh 3x3": ("mesh:3x3", [], "0,1,2,5,8,7,4,6,3"),
    "mesh 3x3 100/50": ("mesh:3x3,bw=100GBps/50GBps", [], "0,1,2,5,8,7,4,6,3"),
    "mesh 3x3 link 3-4 dead": ("mesh:3x3", ["link:3-4"], "0,1,2,5,8,7,4,6,3"),
    "mesh 3x3 link 0-1 dead": ("mesh:3x3", ["link:0-1"], "0,3,6,7,8,5,2,1,4"),
    "mesh 4x4": ("mesh:4x4", [], "0,1,2,3,7,6,5,9,10,11,15,14,13,12,8,4"),
    "ring 6, link 0-1 slow": ("ring:6", ["slow:0-1=0.5"], None),
    "two boxes": (two_boxes, [], None),
}
# The library's own choices by number (coll_tuned).
LIBRARY = {
    "all-reduce": {"recursive doubling": 3, "ring": 4, "segmented ring": 5, "Rabenseifner": 6},
    "all-gather": {"Bruck": 2, "recursive doubling": 3, "ring": 4, "neighbour exchange": 5},
    "all-to-all": {"linear": 1, "pairwise": 2, "Bruck": 3},
}
BASELINES = ("ring", "bidirectional-ring")


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)

    def probe(self):
        """What the wires are like, for us and for those who let nodes forward."""
        measured = self.folder / "measured.json"
        said = subprocess.run([TESTBED, "run", "--", BIN / "tacos-mpi", "probe", ROOT / "build/testbed/wires.json",
                               "--transport", "tcp", "-o", measured], capture_output=True, text=True, check=False)
        if said.returncode != 0:
            sys.exit(f"wires: {said.stderr.strip().splitlines()[-1]}")
        print(said.stdout.splitlines()[2], flush=True)
        network = json.loads(measured.read_text())
        (self.folder / "forward.json").write_text(json.dumps({**network, "npus_forward": True}))

    def synthesize(self, collective, network="measured.json", extra=()):
        """The file, and what its schedule is planned to take; nothing where there is none."""
        file = self.folder / "schedule.tacos"
        said = subprocess.run([BIN / "tacos", "synth", self.folder / network, collective, "--size", self.arguments.size,
                               "--link-model", self.arguments.link_model, "-o", file, "--json", *extra],
                              capture_output=True, text=True, check=False)
        return (file, json.loads(said.stdout)) if said.returncode == 0 else None

    def ring(self):
        """A ring of as many NPUs over links as fast as the fastest of these, for ranks in an order of choice."""
        network = json.loads((self.folder / "measured.json").read_text())
        fastest = max((link for link in network["links"] if not link.get("failed")), key=lambda link: link["bandwidth_Bps"])
        npus = network["npus"]
        ends = [pair for a in range(npus) for pair in ((a, (a + 1) % npus), ((a + 1) % npus, a))]
        (self.folder / "ring.json").write_text(json.dumps(
            {"npus": npus, "links": [{**fastest, "src": a, "dst": b} for a, b in ends]}))
        return "ring.json"

    def run(self, file, mca=(), order=None):
        command = [TESTBED, "run", *(["--order", order] if order else [])]
        for key, value in mca:
            command += ["--mca", key, str(value)]
        command += ["--", BIN / "tacos-mpi", "run", file, "--transport", "tcp", "--check", "--json",
                    "--iterations", str(self.arguments.iterations)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if said.returncode != 0:
            sys.exit(f"wires: {said.stderr.strip().splitlines()[-1]}")
        row = json.loads(said.stdout)["rows"][0]
        if row["wrong"] != 0:
            sys.exit(f"wires: {row['wrong']} elements are wrong")
        return row

    def measure(self, collective, order):
        """Rows of (who, time in us, planned time in us or None)."""
        file, report = self.synthesize(collective)
        first = self.run(file)
        rows = [("ours", first["time_us"], report["collective_time_us"], report["bound_us"]),
                ("library's default", first["library_time_us"], None, None)]
        if self.arguments.only_ours:
            return rows
        for name, number in LIBRARY[collective].items():
            tuned = [("coll_tuned_use_dynamic_rules", 1),
                     (f"coll_tuned_{collective.replace('-', '')}_algorithm", number)]
            rows.append((f"library's {name}", self.run(file, tuned)["library_time_us"], None, None))
            if order and "ring" in name:
                rows.append((f"library's {name}, best placement", self.run(file, tuned, order)["library_time_us"], None, None))
        for name in BASELINES:
            made = self.synthesize(collective, "forward.json", ["--engine", name])
            if made:
                rows.append((f"{name} by us", self.run(made[0])["time_us"], made[1]["collective_time_us"], None))
        made = self.synthesize(collective, self.ring(), ["--engine", "bidirectional-ring"]) if order else None
        if made:
            rows.append(("bidirectional-ring by us, best placement", self.run(made[0], order=order)["time_us"], None, None))
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="4MB")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--link-model", default="hold", choices=("hold", "pipelined"))
    parser.add_argument("--only-ours", action="store_true", help="what was predicted beside what was measured")
    parser.add_argument("--networks", default=",".join(name.replace(",", ";") for name in NETWORKS))
    parser.add_argument("--collectives", default=",".join(LIBRARY))
    parser.add_argument("--into", help="also write the rows as JSON")
    arguments = parser.parse_args()
    all_rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in (one.replace(";", ",") for one in arguments.networks.split(",")):
            topology, failures, order = NETWORKS[name]
            if callable(topology):
                path = pathlib.Path(folder) / "network.json"
                path.write_text(json.dumps(topology()))
                topology = path
            fails = [word for spec in failures for word in ("--fail", spec)]
            built = subprocess.run([TESTBED, "up", topology, *fails], check=False)
            if built.returncode != 0:
                sys.exit(built.returncode)
            bench = Bench(arguments, folder)
            try:
                bench.probe()
                for collective in arguments.collectives.split(","):
                    rows = bench.measure(collective, order)
                    ours = rows[0][1]
                    print(f"\n{collective} of {arguments.size}, {name}", flush=True)
                    for who, time, planned, bound in rows:
                        print(f"  {who:<44} {time / 1e3:>10.1f} ms {time / ours:>8.2f}"
                              + (f"   predicted / measured {planned / time:.2f}" if planned else "")
                              + (f", measured / bound {time / bound:.2f}" if bound else ""), flush=True)
                        all_rows.append({"network": name, "collective": collective, "size": arguments.size, "who": who,
                                         "time_us": time, "planned_us": planned, "bound_us": bound})
            finally:
                subprocess.run([TESTBED, "down"], check=True)
    if arguments.into:
        pathlib.Path(arguments.into).write_text(json.dumps(all_rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

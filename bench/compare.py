#!/usr/bin/env python3
"""Compares this tree with an earlier one on the cases of the suite: what changed, what got slower.

BASE is a git revision, which is built beside this tree first, or the path of a program that is there
already. Runs of the two take turns, so that whatever else the machine does slows both; the least time
of each counts. A case is slower when its least time is beyond the threshold in two rounds.

usage: compare.py BASE [GROUP...] [--runs N] [--threads N] [--percent P]

Exits 1 when a case got slower by more than P percent, or took longer for a slower schedule.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "suite"))
import run as suite  # noqa: E402

# Below this many seconds the clock and the start of threads say more than the work.
LEAST_SECONDS = 0.004


def program_of(base, folder):
    """The program that BASE names, built if need be."""
    if pathlib.Path(base).is_file():
        return pathlib.Path(base).resolve()
    tree = pathlib.Path(folder) / "base"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, base], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release", "--", "--quiet", "tacos"], cwd=tree, check=True)
    return tree / "build" / "release" / "bin" / "tacos"


def synth(program, args, threads):
    """What the program makes of a case, or nothing when it refuses."""
    command = [program, "synth", *args, "--json", "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


class Case:
    """One case, run by both programs in turn."""

    def __init__(self, args, programs, threads):
        self.args, self.programs, self.threads = args, programs, threads
        self.results = [None, None]
        self.seconds = [float("inf"), float("inf")]

    def measure(self, runs):
        for _ in range(runs):
            for side in (0, 1):
                result = synth(self.programs[side], self.args, self.threads)
                if result is not None:
                    self.results[side] = result
                    self.seconds[side] = min(self.seconds[side], result["synthesis_seconds"])
            if max(self.seconds) > 5:
                break

    def slower(self, percent):
        return max(self.seconds) > LEAST_SECONDS and self.seconds[1] > self.seconds[0] * (1 + percent / 100)

    def change(self):
        """What is different about the schedule, or nothing."""
        before, after = self.results
        if before is None or after is None:
            return None if before is after else "only one of them makes it"
        if before["schedule_hash"] == after["schedule_hash"]:
            return None
        faster = 100 * (before["collective_time_us"] / after["collective_time_us"] - 1)
        return (f"{before['engine']} {before['collective_time_us']:.3f} -> "
                f"{after['engine']} {after['collective_time_us']:.3f} us, {faster:+.2f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("groups", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--percent", type=float, default=3)
    options = parser.parse_args()
    suite_cases = json.loads((ROOT / "bench" / "suite" / "cases.json").read_text())
    networks = suite_cases.pop("networks")
    groups = options.groups or [name for name in suite_cases if name not in suite.LARGE]
    same = changed = slower = worse = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = [program_of(options.base, folder), suite.TACOS]
        try:
            for name in groups:
                for described in suite.expanded(suite_cases[name], networks):
                    case = Case(described["args"], programs, options.threads)
                    case.measure(options.runs)
                    if case.slower(options.percent):
                        case.measure(2 * options.runs)
                    change = case.change()
                    same += change is None
                    changed += change is not None
                    worse += change is not None and "%" in change and ", -" in change
                    if change:
                        print(f"changed  {described['id']:<44} {change}", flush=True)
                    if case.slower(options.percent):
                        slower += 1
                        print(f"slower   {described['id']:<44} {case.seconds[0]:.4f} -> {case.seconds[1]:.4f} s "
                              f"({case.seconds[1] / case.seconds[0]:.2f}x)", flush=True)
        finally:
            if programs[0].is_relative_to(folder):
                subprocess.run(["git", "worktree", "remove", "--force", programs[0].parents[3]], cwd=ROOT, check=True)
    print(f"{same} cases have the same schedule, {changed} another ({worse} of them a slower one); "
          f"{slower} took over {options.percent:g}% longer to synthesize")
    sys.exit(1 if slower or worse else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the Python package costs: importing it, a call beyond the library's, the columns of a schedule, Ctrl-C.

PYTHONPATH=build/python python3 bench/python/figures.py

Times are at best, of several; those of the processor, which other work on the machine does not change, beside them.
"""

import os
import subprocess
import sys
import time
from typing import Callable

import numpy as np

import tacos

CANCELLED = [("torus:16x16", "all-reduce", {"effort": 9}), ("mesh:16x16", "all-reduce", {"effort": 9}),
             ("mesh:64x64", "all-gather", {"chunks": 8}), ("mesh:12x12", "all-to-all", {"effort": 9}),
             ("h100:8", "all-reduce", {"effort": 9}), ("dragonfly:8x9", "all-reduce", {"effort": 9}),
             ("torus:16x16", "all-gather", {"size": "1KiB", "effort": 9})]


class Clock:
    """Seconds on the wall and of the processor since it was made, those of children too."""

    def __init__(self) -> None:
        self._begin = self._now()

    @staticmethod
    def _now() -> "tuple[float, float]":
        times = os.times()
        return time.perf_counter(), sum(times[:4])

    def read(self) -> np.ndarray:
        return np.subtract(self._now(), self._begin)


def best(measure: Callable[[], np.ndarray], times: int) -> np.ndarray:
    return np.min([measure() for _ in range(times)], axis=0)


def import_seconds(code: str) -> np.ndarray:
    clock = Clock()
    subprocess.run([sys.executable, "-c", code], check=True)
    return clock.read()


def overhead_seconds(topology: tacos.Topology) -> np.ndarray:
    """Of a call of which the library's own parts are known."""
    begin = time.perf_counter()
    r = tacos.synthesize(topology, "all-gather", size="1MiB", threads=1)
    taken = time.perf_counter() - begin
    return np.array([taken - r.synthesis_seconds - r.verify_seconds - r.bound_seconds])


def columns_seconds(schedule: tacos.Schedule) -> np.ndarray:
    schedule._columns = None
    clock = Clock()
    columns = schedule.columns
    taken = clock.read()
    assert len(columns) == len(schedule) and columns.start[-1] == np.max(columns.start)
    return taken


def stop_seconds(spec: str, collective: str, keywords: dict, after: float) -> np.ndarray:
    """From an exception in the listener until the call has ended."""
    begin = time.perf_counter()
    asked: list = []

    def listen(_: float) -> None:
        if time.perf_counter() - begin > after:
            asked.append(Clock())
            raise KeyboardInterrupt

    try:
        tacos.synthesize(spec, collective, **{"size": "1GiB", **keywords}, progress=listen)
    except KeyboardInterrupt:
        return asked[0].read()
    return np.zeros(2)


def main() -> None:
    taken = best(lambda: import_seconds("import tacos"), 10)
    for less in ("pass", "import numpy"):
        wall, processor = taken - best(lambda less=less: import_seconds(less), 10)
        print(f"import tacos, beyond '{less}': {wall:.3f} s ({processor:.3f} s of the processor)")
    ring = tacos.Topology("ring:8")
    print(f"tacos.synthesize, beyond the library's calls: {1e3 * best(lambda: overhead_seconds(ring), 300)[0]:.3f} ms")
    for spec, keywords in (("mesh:64x64", {}), ("switch:4096,unwind=2", {"engine": "ring"})):
        schedule = tacos.synthesize(spec, "all-gather", size="1GiB", effort=1, **keywords).schedule
        first = columns_seconds(schedule)
        wall, processor = best(lambda made=schedule: columns_seconds(made), 5)
        print(f"columns of {len(schedule):,} transfers ({spec}): {wall:.3f} s ({processor:.3f} s of the processor); "
              f"for the first time {first[0]:.3f} s ({first[1]:.3f} s)")
    for spec, collective, keywords in CANCELLED:
        stops = [stop_seconds(spec, collective, keywords, after) for after in (0.2, 0.7, 1.5, 3)]
        wall, processor = np.max(stops, axis=0)
        print(f"Ctrl-C in {collective} on {spec}, at worst: {1e3 * wall:.0f} ms ({1e3 * processor:.0f} ms of the processor)")


if __name__ == "__main__":
    main()

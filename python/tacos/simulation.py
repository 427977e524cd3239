# SPDX-License-Identifier: MIT
"""What a machine makes of a schedule: the order of its transfers without their times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

import numpy as np

from . import _core, _units
from ._arguments import flag_of, number_of, seed_of, text_of, texts_of, threads_of
from ._progress import Progress, shown
from .errors import InputError
from .schedule import Schedule, SomeSchedule, as_schedule

if TYPE_CHECKING:
    import numpy.typing as npt


class Simulation:
    """How long it takes, what links do meanwhile, and which transfers decide it.

    >>> import tacos
    >>> schedule = tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB").schedule
    >>> as_planned = tacos.simulate(schedule)
    >>> as_planned.time_us <= schedule.time_us
    True
    >>> tacos.simulate(schedule, slow=["0-1=0.5"]).time_us > as_planned.time_us
    True
    """

    def __init__(self, planned: Schedule, found: Dict[str, Any]) -> None:
        self.planned_us = planned.time_us
        self.time_us: float = found["time"] * 1e-6
        #: By link, in picoseconds.
        self.busy: npt.NDArray[np.int64] = found["busy"]
        #: Mean over the links that work.
        self.utilization: float = found["utilization"]
        #: The chain of transfers that decides when the last one ends, as dicts.
        self.critical_path: List[Dict[str, Any]] = found["critical_path"]
        self.latency_us: float = found["latency"] * 1e-6
        self.serialization_us: float = found["serialization"] * 1e-6
        self.waiting_us: float = found["waiting"] * 1e-6
        #: In microseconds, increasing, of all draws; empty without `jitter`.
        self.jittered_us: npt.NDArray[np.float64] = found["jittered"] * 1e-6
        #: The transfers with their times, where they were asked for.
        self.schedule = None if found["bundle"] is None else Schedule._of(found["bundle"], verified=False)

    def link_utilization(self) -> npt.NDArray[np.float64]:
        """By link, the share of the time in which it is busy."""
        return self.busy * 1e-6 / self.time_us if self.time_us else np.zeros(len(self.busy))

    def __repr__(self) -> str:
        ratio = self.time_us / self.planned_us if self.planned_us else 1
        against = "as planned" if ratio == 1 else f"{abs(ratio - 1):.1%} {'later' if ratio > 1 else 'sooner'} than planned"
        return f"<tacos.Simulation {_core.format_time(round(self.time_us * 1e6))}, {against}>"


def simulate(schedule: SomeSchedule, *, link_model: Optional[str] = None, size: Optional[_units.Size] = None,
             slow: Sequence[str] = (), jitter: float = 0, seed: int = 1, keep_schedule: bool = False,
             threads: Optional[int] = None, progress: Progress = None) -> Simulation:
    """Runs a schedule as a machine would, and what-ifs: the options of `tacos simulate`.

    `slow` has texts such as `"3-4=0.5"`, what is left of a bandwidth. With `jitter` every transfer takes up to so many
    percent longer, by chance, in 32 draws. `keep_schedule` keeps the transfers with their times.
    """
    planned = as_schedule(schedule)
    percent = number_of(jitter, "jitter")
    if not 0 <= percent <= 1000:
        raise InputError(f"jitter: '{jitter}' is not a number of percent from 0 to 1000")
    what_if = _core.WhatIf(None if link_model is None else text_of(link_model, "link_model"),
                           None if size is None else _units.size_text(size), texts_of(slow, "slow"), percent,
                           seed_of(seed))
    planned._check(progress)
    with shown("simulating", progress) as listener:
        found = _core.simulate(planned._bundle, what_if, flag_of(keep_schedule, "keep_schedule"), threads_of(threads),
                               listener)
    return Simulation(planned, found)

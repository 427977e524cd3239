# SPDX-License-Identifier: MIT
"""When something of a network fails, or works again: a schedule for the network as it is now."""

from __future__ import annotations

import os
from typing import Optional, Sequence, Union

from . import _core
from ._progress import Progress, shown
from ._threads import threads_of
from .problem import _texts
from .schedule import Schedule
from .synthesis import Result


class Repair(Result):
    """A schedule for the network as it is now, verified; how much of the one before is in it.

    >>> import tacos
    >>> before = tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB").schedule
    >>> after = tacos.repair(before, fail=["link:5-6"])
    >>> after.verified, after.slowdown > 1
    (True, True)
    """

    __slots__ = ("before_us", "kept_transfers", "new_transfers")

    def __init__(self, outcome: _core.Outcome, before: Schedule, kept: int, added: int) -> None:
        super().__init__(outcome, effort=1)
        self.before_us = before.time_us
        #: That still take their chunks over the same links.
        self.kept_transfers = kept
        self.new_transfers = added

    @property
    def slowdown(self) -> float:
        """How many times as long as before."""
        return self.time_us / self.before_us if self.before_us else 1.0


def repair(schedule: Union[Schedule, Result], *, fail: Sequence[str] = (), restore: Sequence[str] = (),
           way: str = "best", plans: Union[None, str, "os.PathLike[str]"] = None, threads: Optional[int] = None,
           progress: Progress = None) -> Repair:
    """Makes a schedule right for its network as it is now: `tacos repair`, docs/repair.md.

    `fail` is what broke since (`"link:3-4"`, `"npu:5"`, `"slow:3-4=0.25"`), `restore` what works again. `way` is
    `"best"`, `"keep"` (the transfers that still work) or `"fresh"`; `plans` a folder of `tacos contingency`.
    """
    planned = schedule.schedule if isinstance(schedule, Result) else schedule
    with shown("repairing", progress) as listener:
        outcome, kept, added = _core.repair(planned._bundle, _texts(fail, "fail"), _texts(restore, "restore"), way,
                                            None if plans is None else os.fspath(plans), threads_of(threads), listener)
    return Repair(outcome, planned, kept, added)

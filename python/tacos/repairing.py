# SPDX-License-Identifier: MIT
"""When something of a network fails, or works again: a schedule for the network as it is now."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Union

from . import _core, _units
from ._arguments import Path, path_of, text_of, texts_of, threads_of
from ._progress import Progress, shown
from .schedule import Schedule, SomeSchedule, as_schedule
from .synthesis import Result


class Repair(Result):
    """A schedule for the network as it is now, verified; how much of the one before is in it.

    >>> import tacos
    >>> before = tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB").schedule
    >>> after = tacos.repair(before, fail=["link:5-6"])
    >>> after.verified, after.slowdown > 1
    (True, True)
    """

    __slots__ = ("before_us", "kept_transfers", "new_transfers", "interruption")

    def __init__(self, outcome: _core.Outcome, before: Schedule, kept: int, added: int,
                 interruption: Optional[Interruption] = None) -> None:
        super().__init__(outcome, effort=1)
        self.before_us = before.time_us
        #: That still take their chunks over the same links.
        self.kept_transfers = kept
        self.new_transfers = added
        #: Of a failure while the schedule ran, with `at`; else nothing.
        self.interruption = interruption

    @property
    def end_us(self) -> float:
        """When all is finished, counted from the beginning of the schedule that was where that was running."""
        return self.time_us + (self.interruption.begins_us if self.interruption else 0.0)

    @property
    def slowdown(self) -> float:
        """How many times as long as before, all in all."""
        return self.end_us / self.before_us if self.before_us else 1.0

    def to_dict(self) -> Dict[str, Any]:
        """The keys of `tacos repair --json`, as far as they depend on the result."""
        found = {**super().to_dict(), "before_us": self.before_us, "kept_transfers": self.kept_transfers,
                 "new_transfers": self.new_transfers}
        if self.interruption is not None:
            found.update(self.interruption.to_dict(), end_us=self.end_us)
        return found


class Interruption:
    """A failure while a schedule ran, and how the rest of it is done."""

    __slots__ = ("at_us", "begins_us", "resumption", "arrived_moves", "under_way_moves", "lost_moves", "restarted_sums")

    def __init__(self, at: int, begins: int, resumption: str, arrived_moves: int, under_way_moves: int, lost_moves: int,
                 restarted_sums: int) -> None:
        self.at_us = at * 1e-6
        #: When the new schedule begins: then, or with the first transfer that was under way and goes on.
        self.begins_us = begins * 1e-6
        #: "continued", "replanned" or "restarted".
        self.resumption = resumption
        #: Chunks that had been moved, that were under way and arrived, and that were under way over links that failed.
        self.arrived_moves = arrived_moves
        self.under_way_moves = under_way_moves
        self.lost_moves = lost_moves
        #: Sums that had shares of NPUs that are gone, and take some of the others from the inputs again.
        self.restarted_sums = restarted_sums

    def to_dict(self) -> Dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self) -> str:
        return (f"<tacos.Interruption at {_core.format_time(round(self.at_us * 1e6))}, {self.resumption}: "
                f"{self.arrived_moves} chunks moved, {self.under_way_moves} under way, {self.lost_moves} lost>")


def repair(schedule: SomeSchedule, *, fail: Sequence[str] = (), restore: Sequence[str] = (),
           way: str = "best", plans: Optional[Path] = None,
           at: Union[None, float, str] = None, threads: Optional[int] = None, progress: Progress = None) -> Repair:
    """Makes a schedule right for its network as it is now: `tacos repair`, docs/repair.md.

    `fail` is what broke since (`"link:3-4"`, `"npu:5"`, `"slow:3-4=0.25"`), `restore` what works again. `way` is
    `"best"`, `"keep"` (the transfers that still work) or `"fresh"`; `plans` what `contingency` made, or its folder.
    With `at`, a time such as `"40us"` or a number of microseconds, it broke while the schedule ran: what has arrived by then
    counts, and the result has the rest.

    >>> import tacos
    >>> before = tacos.synthesize("mesh:4x4", "all-gather", size="16MiB")
    >>> rest = tacos.repair(before, fail=["link:5-6"], at="40us")
    >>> rest.interruption.resumption, rest.interruption.arrived_moves > 0, rest.end_us >= before.time_us
    ('continued', True, True)
    """
    planned = as_schedule(schedule)
    wishes = _core.RepairWishes()
    wishes.failures = texts_of(fail, "fail")
    wishes.restored = texts_of(restore, "restore")
    wishes.way = text_of(way, "way")
    wishes.plans = None if plans is None else path_of(plans)
    wishes.at = None if at is None else _units.time_text(at, "at")
    wishes.threads = threads_of(threads)
    with shown("repairing", progress) as listener:
        outcome, kept, added, resumed = _core.repair(planned._bundle, wishes, listener)
    interruption = None if resumed is None else Interruption(at=_core.parse_time(str(wishes.at)), **resumed)
    return Repair(outcome, planned, kept, added, interruption)

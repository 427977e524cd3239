# SPDX-License-Identifier: MIT
"""What the time of a schedule is made of, seen from the links that limit it, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

from . import _core
from .synthesis import Bound

if TYPE_CHECKING:
    from .schedule import Schedule


class Remedy(NamedTuple):
    """A change to the network or the problem, and what it leads to."""

    what: str
    bound_us: float
    #: Of what is synthesized then, where that was tried.
    time_us: Optional[float]


class Explanation:
    """The time of a schedule: the bandwidth bound, and what comes on top of it. The parts add up.

    >>> import tacos
    >>> schedule = tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB").schedule
    >>> why = tacos.explain(schedule)
    >>> round(why.bound.bandwidth.time_us + sum(why.gap_us.values()) - schedule.time_us, 3)
    0.0
    """

    def __init__(self, schedule: Schedule, found: Dict[str, Any]) -> None:
        self.schedule = schedule
        self.bound = Bound(**found["bound"])
        #: Until the links that limit it get busy (`fill`), after they have sent their last (`drain`), while they wait for
        #: data (`waiting`), while `latency` or gap holds them, for data that crosses them in vain (`extra`).
        self.gap_us = {part: found[part] * 1e-6 for part in ("fill", "drain", "waiting", "latency", "extra")}
        self.limiting_links: int = found["limiting_links"]
        #: How many of them carry nothing.
        self.unused_limiting_links: int = found["unused_limiting_links"]
        self.faster_links = _remedies(found["faster_links"])
        #: Another size, or chunks and engine left open.
        self.other_problems = _remedies(found["other_problems"])

    @property
    def efficiency(self) -> float:
        """Bound over time: 1 where nothing can be faster."""
        return self.bound.time_us / self.schedule.time_us if self.schedule.time_us else 1.0

    def __str__(self) -> str:
        def time(microseconds: float) -> str:
            return _core.format_time(round(microseconds * 1e6))

        schedule = self.schedule
        lines = [f"{schedule.collective} on {schedule.topology.name} takes {time(schedule.time_us)}, "
                 f"{self.efficiency:.1%} of the bound",
                 f"limit: {time(self.bound.bandwidth.time_us)}, {self.bound.bandwidth.because}"]
        lines += [f"{part}: {time(gap)}" for part, gap in self.gap_us.items() if gap >= 1e-3]
        lines += [f"{one.what}: the bound becomes {time(one.bound_us)}" for one in self.faster_links]
        lines += [f"{one.what}: {time(one.time_us or 0)}" for one in self.other_problems]
        return "\n".join(lines)

    def __repr__(self) -> str:
        most = max(self.gap_us, key=lambda part: self.gap_us[part])
        return (f"<tacos.Explanation {self.schedule.collective} on {self.schedule.topology.name}: {self.efficiency:.1%} of "
                f"the bound, most of the rest is {most}>")


def _remedies(rows: Any) -> List[Remedy]:
    return [Remedy(what, bound * 1e-6, None if time is None else time * 1e-6) for what, bound, time in rows]

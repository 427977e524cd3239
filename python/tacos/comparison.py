# SPDX-License-Identifier: MIT
"""Ours beside the algorithms that people know, made, verified and timed by the same code."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core, _units
from ._arguments import effort_of, seed_of, text_of, threads_of
from ._optional import need
from ._progress import Progress, shown
from .errors import InputError
from .problem import Collective, Group, Network, Problem, as_problem
from .schedule import Schedule
from .synthesis import Bound


class Row(NamedTuple):
    """One algorithm at one size."""

    algorithm: str
    size: int
    time_us: float
    algbw_GBps: float
    busbw_GBps: float
    #: Of the bound.
    efficiency: float
    #: How many times as long as ours it takes.
    speedup: float
    #: Mean of all links; unknown where the schedule is too long to be simulated.
    utilization: Optional[float]
    #: Whether routes pass NPUs, as if they forwarded.
    forwarded: bool
    schedule: Schedule


class Comparison:
    """All algorithms at one size or several, the fastest first.

    >>> import tacos
    >>> c = tacos.compare("ring:8", "all-reduce", size="64MiB")
    >>> c.rows[0].algorithm, round(c["ring"].speedup, 2)
    ('tacos', 1.1...)
    """

    def __init__(self, problem: Problem, rounds: List[Dict[str, Any]]) -> None:
        self.problem = problem
        self.sizes = [one["size"] for one in rounds]
        self.bounds = {one["size"]: Bound(**one["bound"]) for one in rounds}
        self.rows = [_row(row, one["size"], self.bounds[one["size"]]) for one in rounds for row in one["rows"]]
        #: (algorithm, why not).
        self.left_out: List[Tuple[str, str]] = rounds[-1]["left_out"]

    def __getitem__(self, algorithm: str) -> Row:
        """That algorithm, at the largest size."""
        found = [row for row in self.rows if row.algorithm == algorithm]
        if not found:
            reasons = dict(self.left_out)
            raise KeyError(f"{algorithm} {reasons[algorithm]}" if algorithm in reasons else algorithm)
        return found[-1]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def best_other(self) -> Optional[Row]:
        """The fastest that is not ours, at the largest size."""
        return next((row for row in self.rows if row.size == self.sizes[-1] and row.algorithm != "tacos"), None)

    def to_dataframe(self) -> Any:
        """A `pandas.DataFrame`, a row for each algorithm and size."""
        pandas = need("pandas", "Comparison.to_dataframe")
        return pandas.DataFrame([row._asdict() for row in self.rows]).drop(columns="schedule")

    def plot(self, *, ax: Any = None) -> Any:
        """Bus bandwidth with matplotlib: bars at one size, lines over several. Returns the axes."""
        from . import _plots
        return _plots.plot_comparison(self, ax)

    def _repr_html_(self) -> str:
        from . import _html
        return _html.comparison(self)

    def __repr__(self) -> str:
        ours = self["tacos"]
        other = self.best_other
        beside = f"; the best other, {other.algorithm}, {other.speedup:.2f} times as long" if other else ""
        return (f"<tacos.Comparison {self.problem.collective} of {_core.format_size(self.sizes[-1])} on "
                f"{self.problem.topology.name}: {ours.efficiency:.1%} of the bound{beside}>")


def compare(topology: Union[Network, Problem], collective: Optional[Collective] = None, *,
            size: Optional[_units.Size] = None, sizes: Union[None, str, Sequence[_units.Size]] = None,
            group: Optional[Group] = None, fail: Sequence[str] = (), relay: bool = True, link_model: str = "hold",
            seed: int = 1, effort: int = 5, threads: Optional[int] = None, progress: Progress = None) -> Comparison:
    """Ours beside the algorithms that people know, at one size or, with `sizes`, at several: a list, or a range such as
    `"1KiB..1GiB"`, which is gone through by powers of four.

    Ours is made for the network as given, others as if its NPUs forwarded.
    """
    problem = as_problem(topology, collective, {"size": size, "group": group, "fail": fail, "relay": relay})
    if size is not None and sizes is not None:
        raise InputError("size and sizes say different things; leave one of them out")
    counts = [problem.size] if sizes is None else _sizes(sizes)
    rounds = []
    for count in counts:
        with shown(f"comparing at {_core.format_size(count)}", progress) as listener:
            rounds.append(_core.compare(problem._task, count, text_of(link_model, "link_model"), seed_of(seed),
                                        effort_of(effort), threads_of(threads), listener))
    return Comparison(problem, rounds)


def _sizes(sizes: Union[str, Sequence[_units.Size]]) -> List[int]:
    if isinstance(sizes, str):
        least, most = map(_core.parse_size, _units.size_range(sizes))
        if least > most:
            raise InputError(f"sizes: {_core.format_size(least)} is more than {_core.format_size(most)}")
        return [least << shift for shift in range(0, 64, 2) if least << shift <= most]
    try:
        counts = [_core.parse_size(_units.size_text(one)) for one in sizes]
    except TypeError:
        raise InputError(f"sizes is a list, or a range such as '1KiB..1GiB', not {sizes!r}") from None
    if not counts:
        raise InputError("sizes has none in it")
    return counts


def _row(row: Dict[str, Any], size: int, bound: Bound) -> Row:
    schedule = Schedule._of(row["bundle"], verified=True)
    time = schedule.time_us
    return Row(row["algorithm"], size, time, schedule.algbw_GBps, schedule.busbw_GBps,
               bound.time_us / time if time else 1.0, row["speedup"], row["utilization"], row["forwarded"], schedule)

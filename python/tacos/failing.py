# SPDX-License-Identifier: MIT
"""What failures cost before any has happened: the answers to each, and how bandwidth falls as links fail."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

from . import _core, _units
from ._arguments import Path, effort_of, output_of, path_of, seed_of, text_of, threads_of, whole_of
from ._optional import need
from ._progress import Progress, shown
from .errors import InputError
from .problem import Collective, Group, Network, Problem, as_problem


class Contingency(NamedTuple):
    """What to do when one thing fails."""

    #: `"link:3-4"` or `"npu:5"`.
    fail: str
    #: The failure that the answer was made for: this one, or one that a symmetry of the network takes to it.
    like: str
    #: In the folder; empty where no schedule can help, and then there are no times.
    file: str
    time_us: Optional[float]
    bound_us: Optional[float]
    #: How many times as long as with nothing broken.
    slowdown: Optional[float]
    kept_transfers: int
    new_transfers: int


class ContingencyPlan:
    """The answers to every single failure, in a folder that `repair(..., plans=...)` takes them from."""

    def __init__(self, folder: Path) -> None:
        place = path_of(folder)
        self._take(os.fsdecode(place), _core.read_contingency(place))

    def _take(self, folder: str, read: Dict[str, Any]) -> None:
        self.folder = folder
        self.network: str = read["network"]
        self.collective: str = read["collective"]
        self.link_model: str = read["link_model"]
        #: With nothing broken.
        self.time_us: float = read["time"] * 1e-6
        self.bound_us: float = read["bound"] * 1e-6
        #: Cables, then NPUs.
        self.rows = [self._row(*row) for row in read["rows"]]

    def _row(self, fail: str, like: str, file: str, time: int, bound: int, kept: int, added: int) -> Contingency:
        if not file:
            return Contingency(fail, like, file, None, None, None, kept, added)
        slowdown = time * 1e-6 / self.time_us if self.time_us else 1.0
        return Contingency(fail, like, file, time * 1e-6, bound * 1e-6, slowdown, kept, added)

    @classmethod
    def load(cls, folder: Path) -> ContingencyPlan:
        """One that was made before."""
        return cls(folder)

    @classmethod
    def _of(cls, folder: str, read: Dict[str, Any]) -> ContingencyPlan:
        self = object.__new__(cls)
        self._take(folder, read)
        return self

    @property
    def worst(self) -> Optional[Contingency]:
        """The failure after which it takes longest, of those that a schedule can help."""
        possible = [row for row in self.rows if row.time_us is not None]
        # Of those that cost the same, the first.
        return max(possible, key=lambda row: row.time_us or 0.0) if possible else None

    @property
    def hopeless(self) -> List[Contingency]:
        """Failures after which no schedule exists."""
        return [row for row in self.rows if row.time_us is None]

    def __getitem__(self, fail: str) -> Contingency:
        """The answer to a failure such as `"link:3-4"`."""
        for row in self.rows:
            if row.fail == fail:
                return row
        raise KeyError(fail)

    def to_dict(self) -> Dict[str, Any]:
        """The object of `tacos contingency --json`."""
        def plain(row: Optional[Contingency]) -> Optional[Dict[str, Any]]:
            return row and {"fail": row.fail, "like": row.like, "collective_time_us": row.time_us, "bound_us": row.bound_us,
                            "slowdown": row.slowdown}

        return {"topology": self.network, "collective": self.collective, "link_model": self.link_model,
                "collective_time_us": self.time_us, "bound_us": self.bound_us, "worst": plain(self.worst),
                "rows": [plain(row) for row in self.rows]}

    def to_dataframe(self) -> Any:
        """A `pandas.DataFrame`, a row for each failure."""
        return need("pandas", "ContingencyPlan.to_dataframe").DataFrame(self.rows, columns=Contingency._fields)

    def plot(self, *, ax: Any = None) -> Any:
        """Draws with matplotlib how much longer it takes after each failure, the worst first, those that are alike as one.
        Returns the axes."""
        from . import _plots
        return _plots.plot_contingency(self, ax)

    def __fspath__(self) -> str:
        return self.folder

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        worst = self.worst
        after = f", after {worst.fail} {_time(worst.time_us or 0.0)}" if worst else ""
        return (f"<tacos.ContingencyPlan {self.collective} on {self.network}: {_time(self.time_us)}{after}; "
                f"{len(self)} failures: {self.folder}>")


def contingency(topology: Union[Network, Problem], collective: Union[Collective, Path, None] = None,
                folder: Optional[Path] = None, *, size: Optional[_units.Size] = None,
                group: Optional[Group] = None, fail: Sequence[str] = (), relay: bool = True, tolerate: int = 1,
                link_model: str = "hold", effort: int = 5, seed: int = 1, threads: Optional[int] = None,
                progress: Progress = None) -> ContingencyPlan:
    """Makes the answers to every single failure of a network, in a folder: `tacos contingency`, docs/repair.md.

    A failure is that of a cable (both directions, all parallel links) or of an NPU; those that are alike have one answer.
    `fail` is what is broken already. A call that was interrupted goes on where it was.

    >>> import tacos, tempfile, os
    >>> folder = os.path.join(tempfile.mkdtemp(), "answers")
    >>> made = tacos.contingency("mesh:3x3", "all-gather", folder, size="9MiB", effort=1)
    >>> len(made), made["link:4-5"].slowdown > 1, made["npu:4"].like
    (21, True, 'npu:4')
    >>> schedule = tacos.synthesize("mesh:3x3", "all-gather", size="9MiB", effort=1)
    >>> tacos.repair(schedule, fail=["link:4-5"], plans=made).time_us == made["link:4-5"].time_us
    True
    """
    if isinstance(topology, Problem) and folder is None:
        # Which says what the collective is.
        collective, folder = None, collective
    if folder is None:
        raise InputError("say in which folder the answers are to be")
    # More than one failure at once has no answers for now.
    whole_of(tolerate, "tolerate", 1, 1)
    problem = as_problem(topology, collective, {"size": size, "group": group, "fail": fail, "relay": relay})
    place = output_of(folder)
    with shown("planning", progress) as listener:
        return ContingencyPlan._of(os.fsdecode(place), _core.contingency(
            problem._task, _wishes(link_model, effort, seed, threads), place, listener))


class ResilienceRow(NamedTuple):
    """What is left when a share of the cables has failed."""

    failed_percent: int
    failed_cables: int
    #: Draws after which participants still reach each other; the times are of those, and none where there are none.
    draws: int
    cut_off: int
    mean_time_us: Optional[float]
    worst_time_us: Optional[float]
    mean_bound_us: Optional[float]
    mean_algbw_GBps: Optional[float]


class Resilience:
    """How a collective gets slower as more and more cables fail; the first row is of the whole network."""

    __slots__ = ("problem", "rows")

    def __init__(self, problem: Problem, rows: Sequence[Sequence[int]]) -> None:
        self.problem = problem
        self.rows = [_resilience_row(problem.size, *row) for row in rows]

    def to_dict(self) -> Dict[str, Any]:
        """The object of `tacos resilience --json`."""
        return {"topology": self.problem.topology.name, "collective": self.problem._task.kind,
                "size_bytes": self.problem.size, "rows": [row._asdict() for row in self.rows]}

    def to_dataframe(self) -> Any:
        """A `pandas.DataFrame`, a row for each share of cables."""
        return need("pandas", "Resilience.to_dataframe").DataFrame(self.rows, columns=ResilienceRow._fields)

    def plot(self, *, ax: Any = None) -> Any:
        """Draws bandwidth against failed cables with matplotlib; returns the axes."""
        from . import _plots
        return _plots.plot_resilience(self, ax)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        first, last = self.rows[0], self.rows[-1]
        left = "cut off" if last.mean_algbw_GBps is None else f"{last.mean_algbw_GBps:.2f} GB/s"
        return (f"<tacos.Resilience {self.problem.collective} on {self.problem.topology.name}: "
                f"{first.mean_algbw_GBps or 0.0:.2f} GB/s, {left} with {last.failed_percent}% of its cables failed>")


def resilience(topology: Union[Network, Problem], collective: Optional[Collective] = None, *,
               size: Optional[_units.Size] = None, group: Optional[Group] = None, fail: Sequence[str] = (),
               relay: bool = True, draws: int = 5, link_model: str = "hold", effort: int = 1, seed: int = 1,
               threads: Optional[int] = None, progress: Progress = None) -> Resilience:
    """How bandwidth falls as 1, 2, 5 and 10% of the cables fail, `draws` times by chance: `tacos resilience`.

    >>> import tacos
    >>> found = tacos.resilience("torus:4x4", "all-gather", size="16MiB", draws=2)
    >>> [row.failed_cables for row in found.rows], found.rows[4].mean_time_us > found.rows[0].mean_time_us
    ([0, 1, 1, 2, 3], True)
    """
    problem = as_problem(topology, collective, {"size": size, "group": group, "fail": fail, "relay": relay})
    wishes = _wishes(link_model, effort, seed, threads)
    wishes.draws = whole_of(draws, "draws", 1, 1000)
    with shown("breaking links", progress) as listener:
        return Resilience(problem, _core.resilience(problem._task, wishes, listener))


def _wishes(link_model: str, effort: int, seed: int, threads: Optional[int]) -> _core.FailureWishes:
    wishes = _core.FailureWishes()
    wishes.link_model = text_of(link_model, "link_model")
    wishes.effort = effort_of(effort)
    wishes.seed = seed_of(seed)
    wishes.threads = threads_of(threads)
    return wishes


def _resilience_row(size: int, percent: int, cables: int, draws: int, cut_off: int, mean: int, worst: int,
                    bound: int) -> ResilienceRow:
    if draws == 0:
        return ResilienceRow(percent, cables, draws, cut_off, None, None, None, None)
    return ResilienceRow(percent, cables, draws, cut_off, mean * 1e-6, worst * 1e-6, bound * 1e-6,
                         size * 1e3 / mean if mean else 0.0)


def _time(microseconds: float) -> str:
    return _core.format_time(round(microseconds * 1e6))

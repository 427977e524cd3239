# SPDX-License-Identifier: MIT
"""From a problem to a schedule that is verified, and the bound that no schedule can beat."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core, _units
from ._arguments import Path, effort_of, path_of, seed_of, text_of, threads_of, whole_of
from ._progress import Progress, shown
from .errors import VerificationError
from .problem import Collective, Group, Network, Problem, as_problem
from .schedule import Schedule
from .topology import Topology


class Limit(NamedTuple):
    """A proven lower limit on the time."""

    time_us: float
    #: "cut", "partition", "flow", "combined", "growth" or "latency".
    name: str
    #: Whether it is the largest of its kind, not just the largest found.
    exact: bool
    #: One sentence: what proves it.
    because: str
    #: The NPUs and switches of the cut that everything has to get into, where it is one.
    receivers: List[int]
    #: By NPU, the part that it is in, where it is a partition.
    parts: List[int]
    #: By link, its length, where it is a flow: bytes times distance, over length times bandwidth.
    lengths: List[int]


class Bound:
    """What no schedule can beat: `time_us` at the least, `because` of something in the network.

    >>> import tacos
    >>> tacos.bound("mesh:4x4", "all-reduce", size="64MiB").because
    'all 16 NPUs must exchange 30 copies of the buffer, over 2.4 TB/s in all'
    """

    __slots__ = ("best", "bandwidth", "chunk_bound_us", "attainable_us")

    def __init__(self, best: Dict[str, Any], bandwidth: Dict[str, Any], chunk_count: Optional[int],
                 attainable: Optional[int]) -> None:
        self.best = _limit(best)
        #: With latency left out.
        self.bandwidth = _limit(bandwidth)
        #: For the chunks of the schedule, each in a transfer of its own; where that is known.
        self.chunk_bound_us = None if chunk_count is None else chunk_count * 1e-6
        #: What packing trees allows by bandwidth alone, where that is known.
        self.attainable_us = None if attainable is None else attainable * 1e-6

    @property
    def time_us(self) -> float:
        return self.best.time_us

    @property
    def because(self) -> str:
        return self.best.because

    def __repr__(self) -> str:
        return f"<tacos.Bound {_time(self.time_us)} ({self.best.name}): {self.because}>"


class Tried(NamedTuple):
    """An engine that was asked, and what it reached; nothing where it was left out."""

    engine: str
    form: str
    time_us: Optional[float]


class Result:
    """A schedule that was synthesized, verified and compared with what is possible.

    >>> import tacos
    >>> r = tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB")
    >>> r
    <tacos.Result all-reduce on mesh:4x4: 950... us, 88...% of the bound, verified>
    >>> r.verified, r.engine
    (True, 'trees')
    """

    __slots__ = ("schedule", "bound", "verified", "tried", "trials", "effort", "synthesis_seconds", "verify_seconds",
                 "bound_seconds")

    def __init__(self, outcome: _core.Outcome, effort: int) -> None:
        if outcome.violations:
            raise VerificationError(f"the schedule is wrong: {outcome.violations[0]}", outcome.violations)
        self.schedule = Schedule._of(outcome.bundle, verified=True)
        self.bound = Bound(**outcome.bound)
        #: By the referee, who shares no code with synthesis; without that there is no result.
        self.verified = True
        self.tried = [Tried(engine, form, None if time is None else time * 1e-6)
                      for engine, form, time in outcome.compared]
        self.trials = outcome.trials
        self.effort = effort
        self.synthesis_seconds = outcome.synthesis_seconds
        self.verify_seconds = outcome.verify_seconds
        self.bound_seconds = outcome.bound_seconds

    @property
    def topology(self) -> Topology:
        return self.schedule.topology

    @property
    def time_us(self) -> float:
        """The collective time: when the last transfer ends."""
        return self.schedule.time_us

    @property
    def efficiency(self) -> float:
        """Bound over time: 1 where nothing can be faster."""
        return self.bound.time_us / self.time_us if self.time_us else 1.0

    @property
    def algbw_GBps(self) -> float:
        return self.schedule.algbw_GBps

    @property
    def busbw_GBps(self) -> float:
        return self.schedule.busbw_GBps

    @property
    def engine(self) -> str:
        return self.schedule.engine

    def to_dict(self) -> Dict[str, Any]:
        """The keys of `tacos synth --json`, as far as they depend on the result."""
        schedule = self.schedule
        collective = schedule.collective
        return {
            "topology": self.topology.name,
            "npus": self.topology.num_npus,
            "links": self.topology._core.num_working_links,
            "participants": len(collective.participants),
            "collective": collective.kind,
            "size_bytes": collective.size,
            "engine": self.engine,
            "seed": schedule.seed,
            "effort": self.effort,
            "trials": self.trials,
            "link_model": schedule.link_model,
            "collective_time_us": self.time_us,
            "algbw_GBps": self.algbw_GBps,
            "busbw_GBps": self.busbw_GBps,
            "bound_us": self.bound.time_us,
            "bound_name": self.bound.best.name,
            "bandwidth_bound_us": self.bound.bandwidth.time_us,
            "bound_exact": self.bound.bandwidth.exact,
            "efficiency": self.efficiency,
            "chunks": collective.num_chunks,
            "form": collective.form,
            "transfers": len(schedule),
            "verified": self.verified,
            "schedule_hash": schedule.hash,
        }

    def plot(self, kind: str = "timeline", **keywords: Any) -> Any:
        """Draws the schedule: `Schedule.plot`."""
        return self.schedule.plot(kind, **keywords)

    def _repr_html_(self) -> str:
        from . import _html
        return _html.result(self)

    def __repr__(self) -> str:
        return (f"<tacos.{type(self).__name__} {self.schedule.collective} on {self.topology.name}: {_time(self.time_us)}, "
                f"{self.efficiency:.1%} of the bound, verified>")


def synthesize(topology: Union[Network, Problem], collective: Optional[Collective] = None, *,
               size: Optional[_units.Size] = None, group: Optional[Group] = None, fail: Sequence[str] = (),
               relay: bool = True, chunks: Optional[int] = None, engine: str = "auto", form: Optional[str] = None,
               link_model: str = "hold", effort: int = 5, seed: int = 1, trials: Optional[int] = None,
               threads: Optional[int] = None, stream: Optional[Path] = None, progress: Progress = None) -> Result:
    """A schedule for a collective on a network, verified; the options are those of `tacos synth`.

    `size`, `group`, `fail` and `relay` are as for `Problem`. `chunks` is how many each NPU's part, or the buffer of an
    All-Reduce, is cut into; nothing lets the engine choose. `effort` is 1, the first good schedule, to 9, all that ever
    paid. `link_model` is `"hold"` or `"pipelined"`, `form` `"direct"` or `"gathered"`. The result depends on none of
    `threads`, `stream` (a directory for schedules larger than memory) and `progress`.

    Raises `InfeasibleError` where NPUs cannot reach each other. Ctrl-C stops it.

    >>> import tacos
    >>> tacos.synthesize("mesh:4x4", "all-gather", size="16MiB", effort=1)
    <tacos.Result all-gather on mesh:4x4: 16... us, 9...% of the bound, verified>
    >>> tacos.synthesize("ring:4", "all-gather", fail=["link:0-1", "link:2-3"])
    Traceback (most recent call last):
        ...
    tacos.errors.InfeasibleError: ring:4 fail link:0-1 fail link:2-3: no schedule exists: NPU 0 cannot reach NPU 1
    """
    problem = as_problem(topology, collective, {"size": size, "group": group, "fail": fail, "relay": relay})
    wishes = _core.Wishes()
    wishes.chunks = None if chunks is None else whole_of(chunks, "chunks", 1)
    wishes.engine = text_of(engine, "engine")
    wishes.form = None if form is None or text_of(form, "form") == "auto" else form
    wishes.link_model = text_of(link_model, "link_model")
    wishes.effort = effort_of(effort)
    wishes.seed = seed_of(seed)
    wishes.trials = None if trials is None else whole_of(trials, "trials", 1, 1_000_000)
    wishes.threads = threads_of(threads)
    wishes.stream = b"" if stream is None else path_of(stream)
    with shown("synthesizing", progress) as listener:
        outcome = _core.synthesize(problem._task, wishes, listener)
    return Result(outcome, wishes.effort)


def bound(topology: Union[Network, Problem], collective: Optional[Collective] = None, *,
          size: Optional[_units.Size] = None, group: Optional[Group] = None, fail: Sequence[str] = (),
          relay: bool = True, link_model: str = "hold", progress: Progress = None) -> Bound:
    """The least time that any schedule needs, proven.

    >>> import tacos
    >>> round(tacos.bound("ring:8", "all-gather", size="8MiB").time_us, 1)
    73.9
    """
    problem = as_problem(topology, collective, {"size": size, "group": group, "fail": fail, "relay": relay})
    with shown("bounding", progress) as listener:
        return Bound(**_core.bound(problem._task, text_of(link_model, "link_model"), listener))


def _limit(row: Dict[str, Any]) -> Limit:
    return Limit(row["time"] * 1e-6, row["name"], row["exact"], row["text"], row["receivers"], row["parts"],
                 row["lengths"])


def _time(microseconds: float) -> str:
    return _core.format_time(round(microseconds * 1e6))

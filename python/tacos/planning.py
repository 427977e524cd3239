# SPDX-License-Identifier: MIT
"""Plans: a folder with the few schedules that serve all sizes of some collectives on a network."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core, _units
from ._arguments import Path, effort_of, flag_of, listed, output_of, path_of, seed_of, text_of, texts_of, threads_of
from ._optional import need
from ._progress import Progress, shown
from .errors import InputError
from .problem import Group, Network, _group_words, as_topology
from .schedule import Schedule


class PlanPoint(NamedTuple):
    """What a schedule takes at one size, beside what no schedule can beat."""

    size: int
    time_us: float
    bound_us: float


class PlanEntry(NamedTuple):
    """A schedule of a plan, and what it is for."""

    collective: str
    participants: List[int]
    #: The sizes that it serves, both included.
    least: int
    most: int
    file: str
    exported: str
    engine: str
    form: str
    chunks: int
    points: List[PlanPoint]


class Plan:
    """What is in the folder of a plan."""

    def __init__(self, folder: Path) -> None:
        place = path_of(folder)
        self._take(os.fsdecode(place), _core.read_plan(place))

    def _take(self, folder: str, read: Dict[str, Any]) -> None:
        self.folder = folder
        self.network: str = read["network"]
        self.npus: int = read["npus"]
        self.link_model: str = read["link_model"]
        self.least: int = read["least"]
        self.most: int = read["most"]
        self.format: str = read["format"]
        self.entries = [_entry(entry) for entry in read["entries"]]

    @classmethod
    def load(cls, folder: Path) -> Plan:
        """A plan that was made before."""
        return cls(folder)

    @classmethod
    def _of(cls, folder: str, read: Dict[str, Any]) -> Plan:
        self = object.__new__(cls)
        self._take(folder, read)
        return self

    def find(self, collective: str, size: _units.Size) -> PlanEntry:
        """The schedule for a collective of some size, among all NPUs or those of the first group."""
        count = _core.parse_size(_units.size_text(size))
        for entry in self.entries:
            if entry.collective == collective and entry.least <= count <= entry.most:
                return entry
        raise InputError(f"the plan has no {collective} of {_core.format_size(count)}; it is for "
                         f"{', '.join(sorted({entry.collective for entry in self.entries}))} of "
                         f"{_core.format_size(self.least)} to {_core.format_size(self.most)}")

    def schedule(self, entry: PlanEntry) -> Schedule:
        """The schedule itself, at the size that it was made for."""
        return Schedule.load(os.path.join(self.folder, entry.file))

    def to_dataframe(self) -> Any:
        """A `pandas.DataFrame`, a row for each schedule and size at which it was timed."""
        pandas = need("pandas", "Plan.to_dataframe")
        return pandas.DataFrame([{"collective": entry.collective, "size": point.size, "time_us": point.time_us,
                                  "bound_us": point.bound_us, "engine": entry.engine, "file": entry.file}
                                 for entry in self.entries for point in entry.points])

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return (f"<tacos.Plan {len(self)} schedules for {_core.format_size(self.least)} to "
                f"{_core.format_size(self.most)} on {self.network}: {self.folder}>")


def plan(topology: Network, collectives: Union[str, Sequence[str]], sizes: Union[str, Tuple[_units.Size, _units.Size]],
         folder: Path, *, groups: Sequence[Group] = (), fail: Sequence[str] = (),
         format: str = "", in_place: bool = False, protocol: str = "Simple", credits: bool = False,
         link_model: str = "hold", effort: int = 5, seed: int = 1, threads: Optional[int] = None,
         progress: Progress = None) -> Plan:
    """Makes the schedules that serve all sizes of some collectives, in a folder: `tacos plan`, docs/plan.md.

    `sizes` is `"64KiB..1GiB"` or a pair. With `format` all of them are exported too, as by `export`. A call
    that was interrupted goes on where it was.

    >>> import tacos, tempfile, os
    >>> folder = os.path.join(tempfile.mkdtemp(), "plan")
    >>> made = tacos.plan("ring:4", "all-gather", "64KiB..256KiB", folder, effort=1)
    >>> made.find("all-gather", "128KiB").participants
    [0, 1, 2, 3]
    """
    network = as_topology(topology)
    failures = texts_of(fail, "fail")
    if failures:
        network = network.fail(*failures)
    least, most = _units.size_range(sizes)
    wishes = _core.PlanWishes()
    wishes.collectives = texts_of(collectives.split(",") if isinstance(collectives, str) else collectives, "collectives")
    wishes.least, wishes.most = least, most
    wishes.groups = [_group_words(group) or "" for group in listed(groups, "groups")]
    wishes.link_model = text_of(link_model, "link_model")
    wishes.seed = seed_of(seed)
    wishes.effort = effort_of(effort)
    wishes.format = text_of(format, "format")
    wishes.in_place = flag_of(in_place, "in_place")
    wishes.protocol = text_of(protocol, "protocol")
    wishes.credits = flag_of(credits, "credits")
    wishes.threads = threads_of(threads)
    place = output_of(folder)
    with shown("planning", progress) as listener:
        return Plan._of(os.fsdecode(place), _core.make_plan(network._core, wishes, place, listener))


def _entry(read: Dict[str, Any]) -> PlanEntry:
    points = [PlanPoint(size, time * 1e-6, bound * 1e-6) for size, time, bound in read.pop("points")]
    return PlanEntry(points=points, **read)

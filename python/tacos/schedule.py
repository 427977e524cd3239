# SPDX-License-Identifier: MIT
"""Schedules: every transfer of a collective, in start order."""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arguments import Path, flag_of, output_of, path_of, text_of, threads_of
from ._optional import need
from ._progress import Progress, shown
from .errors import InputError, VerificationError
from .topology import Topology

if TYPE_CHECKING:
    import numpy.typing as npt

    from .comparison import Row
    from .explanation import Explanation
    from .synthesis import Result


class Transfer(NamedTuple):
    """One or several chunks over one link, or over a route of links through switches."""

    start_ps: int
    op: str
    links: Tuple[int, ...]
    chunks: Tuple[int, ...]


class Columns:
    """A schedule as read-only arrays, one element for each transfer, which share the library's memory.

    `start` is in picoseconds; `op` is 0 for a copy and 1 for a reduction. `links` and `chunks` are flat: transfer i has
    `links[link_offsets[i]:link_offsets[i + 1]]`, and its chunks likewise. `simple` says that every transfer is one chunk
    over one link, so that `links[i]` and `chunks[i]` hold.
    """

    __slots__ = ("start", "op", "links", "chunks", "simple", "_first_link", "_first_chunk")

    def __init__(self, start: npt.NDArray[np.int64], op: npt.NDArray[np.uint8], links: npt.NDArray[np.uint32],
                 chunks: npt.NDArray[np.uint32], first_link: Optional[npt.NDArray[np.uint64]],
                 first_chunk: Optional[npt.NDArray[np.uint64]]) -> None:
        self.start = start
        self.op = op
        self.links = links
        self.chunks = chunks
        self.simple = first_link is None
        self._first_link = first_link
        self._first_chunk = first_chunk

    @property
    def link_offsets(self) -> npt.NDArray[np.uint64]:
        if self._first_link is None:
            self._first_link = _counted(len(self.start))
        return self._first_link

    @property
    def chunk_offsets(self) -> npt.NDArray[np.uint64]:
        if self._first_chunk is None:
            self._first_chunk = _counted(len(self.start))
        return self._first_chunk

    @property
    def link(self) -> npt.NDArray[np.uint32]:
        """The first link of each transfer."""
        return self.links if self.simple else self.links[self.link_offsets[:-1]]

    @property
    def last_link(self) -> npt.NDArray[np.uint32]:
        """The last link of each transfer, which ends where the data is for."""
        return self.links if self.simple else self.links[self.link_offsets[1:] - np.uint64(1)]

    @property
    def chunk(self) -> npt.NDArray[np.uint32]:
        """The first chunk of each transfer."""
        return self.chunks if self.simple else self.chunks[self.chunk_offsets[:-1]]

    def __len__(self) -> int:
        return len(self.start)


class Collective:
    """What a schedule does: who has which chunk before and after."""

    __slots__ = ("kind", "name", "form", "size", "num_chunks", "participants", "root", "_bus_factor")

    def __init__(self, kind: str, name: str, form: str, size: int, num_chunks: int, chunk_argument: int,
                 bus_factor: float, participants: List[int], root: Optional[int]) -> None:
        self.kind = kind
        self.name = name
        self.form = form
        self.size = size
        self.num_chunks = num_chunks
        self.participants = participants
        self.root = root
        self._bus_factor = bus_factor

    def __str__(self) -> str:
        return self.name if self.root is None else f"{self.name}:{self.root}"

    def __repr__(self) -> str:
        return f"<tacos.Collective {self}: {_core.format_size(self.size)} in {self.num_chunks} chunks>"


class VerifyReport:
    """What the referee says; true where the schedule is correct."""

    __slots__ = ("violations", "num_violations", "num_transfers", "time_us")

    def __init__(self, violations: List[str], num_violations: int, num_transfers: int, collective_time: int) -> None:
        self.violations = violations
        self.num_violations = num_violations
        self.num_transfers = num_transfers
        self.time_us = collective_time * 1e-6

    @property
    def valid(self) -> bool:
        return self.num_violations == 0

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        found = "correct" if self.valid else f"{self.num_violations} violations, the first: {self.violations[0]}"
        return f"<tacos.VerifyReport {found}>"


class Schedule:
    """All transfers of a collective on a network, with what is needed to check and run them.

    >>> import tacos
    >>> schedule = tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule
    >>> schedule
    <tacos.Schedule all-gather of 4 MiB on ring:4: 16 transfers, 32.457 us>
    >>> next(iter(schedule))
    Transfer(start_ps=0, op='copy', links=(0,), chunks=(0, 1))
    >>> schedule.columns.start
    array([       0,        0, ..., 21471520, 21471520])
    """

    __slots__ = ("_bundle", "_columns", "_topology", "_collective", "_verified")

    def __init__(self, path: Path) -> None:
        self._take(_core.read_bundle(path_of(path)), verified=False)

    def _take(self, bundle: _core.Bundle, verified: bool) -> None:
        self._bundle = bundle
        self._columns: Optional[Columns] = None
        self._topology: Optional[Topology] = None
        self._collective: Optional[Collective] = None
        self._verified = verified

    @classmethod
    def _of(cls, bundle: _core.Bundle, verified: bool) -> Schedule:
        self = object.__new__(cls)
        self._take(bundle, verified)
        return self

    @classmethod
    def load(cls, path: Path) -> Schedule:
        """From a file that `save` or `tacos synth -o` has written; transfers are read when they are needed."""
        return cls(path)

    def save(self, path: Path, *, threads: Optional[int] = None, progress: Progress = None) -> None:
        """Writes a schedule file (docs/schedule-format.md)."""
        with shown("writing", progress) as listener:
            self._bundle.write(output_of(path), threads_of(threads), listener)

    def save_trace(self, path: Path, *, threads: Optional[int] = None, progress: Progress = None) -> None:
        """Writes one line for each chunk moved: `start_ps end_ps src dst chunk copy|reduce links`."""
        with shown("writing", progress) as listener:
            self._bundle.write_trace(output_of(path), threads_of(threads), listener)

    @property
    def topology(self) -> Topology:
        if self._topology is None:
            self._topology = Topology._of(self._bundle.topology)
        return self._topology

    @property
    def collective(self) -> Collective:
        if self._collective is None:
            self._collective = Collective(**self._bundle.collective)
        return self._collective

    @property
    def link_model(self) -> str:
        return self._bundle.link_model

    @property
    def engine(self) -> str:
        return self._bundle.engine

    @property
    def seed(self) -> int:
        return self._bundle.seed

    @property
    def time_ps(self) -> int:
        """When the last transfer ends, in picoseconds."""
        return self._bundle.collective_time

    @property
    def time_us(self) -> float:
        return self.time_ps * 1e-6

    @property
    def hash(self) -> str:
        """Equal schedules have equal hashes."""
        return self._bundle.hash

    @property
    def algbw_GBps(self) -> float:
        """Bytes of the buffer per time."""
        return self.collective.size * 1e-3 / self.time_us if self.time_ps else 0.0

    @property
    def busbw_GBps(self) -> float:
        """As nccl-tests counts it."""
        return self.algbw_GBps * self.collective._bus_factor

    @property
    def columns(self) -> Columns:
        """All transfers as arrays; decoded once, when they are first asked for."""
        if self._columns is None:
            self._columns = Columns(**self._bundle.columns(threads_of(None)))
        return self._columns

    @property
    def chunk_offsets(self) -> npt.NDArray[np.int64]:
        """Where each chunk begins in the buffer, in bytes, and where the last one ends."""
        return self._bundle.chunk_offsets()

    def ends(self) -> npt.NDArray[np.int64]:
        """When each transfer ends, in picoseconds."""
        return _core.ends(self._bundle)

    def __len__(self) -> int:
        return self._bundle.num_transfers

    def __iter__(self) -> Iterator[Transfer]:
        """Transfer by transfer, in start order; nothing is kept of them."""
        walk = self._bundle.walk()
        while batch := walk.next():
            for start, reduces, links, chunks in batch:
                yield Transfer(start, "reduce" if reduces else "copy", links, chunks)

    def to_dataframe(self) -> Any:
        """A `pandas.DataFrame`, a row for each transfer.

        >>> import tacos
        >>> frame = tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule.to_dataframe()
        >>> list(frame.columns)
        ['start_us', 'end_us', 'op', 'src', 'dst', 'link', 'chunk', 'num_links', 'num_chunks']
        >>> len(frame)
        16
        """
        pandas = need("pandas", "Schedule.to_dataframe")
        columns = self.columns
        links = self.topology.links
        return pandas.DataFrame({
            "start_us": columns.start * 1e-6,
            "end_us": self.ends() * 1e-6,
            "op": pandas.Categorical.from_codes(columns.op, ["copy", "reduce"]),
            "src": links.src[columns.link],
            "dst": links.dst[columns.last_link],
            "link": columns.link,
            "chunk": columns.chunk,
            "num_links": 1 if columns.simple else np.diff(columns.link_offsets),
            "num_chunks": 1 if columns.simple else np.diff(columns.chunk_offsets),
        })

    def verify(self, *, threads: Optional[int] = None, progress: Progress = None) -> VerifyReport:
        """Has the referee replay it, who shares no code with synthesis.

        >>> import tacos
        >>> bool(tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule.verify())
        True
        """
        with shown("verifying", progress) as listener:
            report = VerifyReport(**self._bundle.verify(threads_of(threads), listener))
        self._verified = report.valid
        return report

    def _check(self, progress: Progress) -> None:
        """Nobody could run a schedule that is not correct."""
        if not self._verified:
            report = self.verify(progress=progress)
            if not report:
                raise VerificationError(f"not a correct {self.collective}: {report.violations[0]}", report.violations)

    def export(self, path: Path, format: str, *, in_place: bool = False, protocol: str = "Simple", credits: bool = False,
               progress: Progress = None) -> None:
        """Writes it as another program reads it: `msccl`, `mscclpp`, `perfetto`, ... (docs/export.md).

        With `in_place` input and output are the same memory; `protocol` is that of the runtime, `"Simple"`, `"LL"` or
        `"LL128"`; with `credits` receivers keep the order of senders that share a port.
        """
        place, options = output_of(path), _export_options(in_place, protocol, credits)
        self._check(progress)
        with shown("exporting", progress) as listener:
            self._bundle.export_file(place, text_of(format, "format"), options, listener)

    def to_text(self, format: str, *, in_place: bool = False, protocol: str = "Simple", credits: bool = False,
                progress: Progress = None) -> str:
        """The same as a text, for formats that are one file.

        >>> import tacos
        >>> schedule = tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule
        >>> schedule.to_text("dot").splitlines()[0]
        'digraph "ring:4" {'
        """
        options = _export_options(in_place, protocol, credits)
        self._check(progress)
        with shown("exporting", progress) as listener:
            return self._bundle.export_text(text_of(format, "format"), options, listener)

    def to_svg(self, *, timeline: bool = False, progress: Progress = None) -> str:
        """A picture: the network, its links coloured by how busy they are, or with `timeline` when each is busy.

        >>> import tacos
        >>> tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule.to_svg(timeline=True)[:4]
        '<svg'
        """
        self._check(progress)
        with shown("drawing", progress) as listener:
            bound = _core.bound_of(self._bundle, listener)["best"]["time"]
            return _core.draw_schedule(self._bundle, flag_of(timeline, "timeline"), bound, listener)

    def explain(self, *, threads: Optional[int] = None, progress: Progress = None) -> Explanation:
        """What its time is made of, and what would help: `tacos explain`.

        >>> import tacos
        >>> why = tacos.synthesize("mesh:4x4", "all-gather", size="1MiB").schedule.explain()
        >>> why.bound.bandwidth.name, why.faster_links[0].what
        ('cut', 'all links twice as fast')
        """
        from .explanation import Explanation
        self._check(progress)
        with shown("explaining", progress) as listener:
            return Explanation(self, _core.explain(self._bundle, threads_of(threads), listener))

    def utilization(self, bins: int = 100) -> npt.NDArray[np.float64]:
        """How busy the links are over time: the mean share over all links that work, for equal spans of time.

        >>> import tacos
        >>> tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule.utilization(4)
        array([1., 1., 1., 1.])
        """
        from . import _plots
        return _plots.utilization(self, bins)

    def plot(self, kind: str = "timeline", *, ax: Any = None, **keywords: Any) -> Any:
        """Draws it with matplotlib, returns the axes: `"timeline"`, what links carry when, or `"utilization"`."""
        from . import _plots
        return _plots.plot_schedule(self, kind, ax, keywords)

    def view(self, other: Optional[SomeSchedule] = None, *, path: Optional[Path] = None, open_browser: bool = True,
             threads: Optional[int] = None, progress: Progress = None) -> str:
        """Opens the viewer page on it, or on it and another beside it, in a browser; returns where the page is.

        With `path` the page is written there, else to a temporary file that stays.
        """
        from . import _view
        shown_together = [self] if other is None else [self, as_schedule(other)]
        return _view.view(shown_together, path, open_browser, threads, progress)

    def _repr_html_(self) -> str:
        from . import _html
        return _html.schedule(self)

    def __copy__(self) -> Schedule:
        return self

    def __deepcopy__(self, _: Any) -> Schedule:
        return self

    def __reduce__(self) -> Any:
        return (_restore, (_to_bytes(self), self._verified))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.hash == other.hash and self.topology == other.topology

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return (f"<tacos.Schedule {self.collective} of {_core.format_size(self.collective.size)} on "
                f"{self.topology.name}: {_core.format_count(len(self))} transfers, {_core.format_time(self.time_ps)}>")


#: A schedule, what has one, or the file of one.
SomeSchedule = Union[Schedule, "Result", "Row", Path]


def as_schedule(some: SomeSchedule) -> Schedule:
    made = some if isinstance(some, Schedule) else getattr(some, "schedule", None)
    if isinstance(made, Schedule):
        return made
    if isinstance(some, (str, os.PathLike)):
        return Schedule(some)
    raise InputError(f"{some!r} is no schedule, and has none")


def verify(schedule: SomeSchedule, *, threads: Optional[int] = None, progress: Progress = None) -> VerifyReport:
    """Has the referee replay a schedule: `Schedule.verify`."""
    return as_schedule(schedule).verify(threads=threads, progress=progress)


def export(schedule: SomeSchedule, path: Path, format: str, *, in_place: bool = False, protocol: str = "Simple",
           credits: bool = False, progress: Progress = None) -> None:
    """Writes a schedule as another program reads it: `Schedule.export`.

    >>> import tacos, tempfile, os
    >>> schedule = tacos.synthesize("ring:4", "all-gather", size="4MiB").schedule
    >>> path = os.path.join(tempfile.mkdtemp(), "ring.xml")
    >>> tacos.export(schedule, path, "msccl")
    >>> open(path).read(5)
    '<algo'
    """
    as_schedule(schedule).export(path, format, in_place=in_place, protocol=protocol, credits=credits, progress=progress)


def explain(schedule: SomeSchedule, *, threads: Optional[int] = None, progress: Progress = None) -> Explanation:
    """What the time of a schedule is made of, and what would help: `Schedule.explain`."""
    return as_schedule(schedule).explain(threads=threads, progress=progress)


def view(schedule: SomeSchedule, other: Optional[SomeSchedule] = None, *, path: Optional[Path] = None,
         open_browser: bool = True, threads: Optional[int] = None, progress: Progress = None) -> str:
    """Opens the viewer page on a schedule, or on two side by side: `Schedule.view`."""
    return as_schedule(schedule).view(other, path=path, open_browser=open_browser, threads=threads, progress=progress)


def _counted(count: int) -> npt.NDArray[np.uint64]:
    offsets = np.arange(count + 1, dtype=np.uint64)
    offsets.flags.writeable = False
    return offsets


def _export_options(in_place: bool, protocol: str, credits: bool) -> _core.ExportOptions:
    return _core.ExportOptions(flag_of(in_place, "in_place"), text_of(protocol, "protocol"), flag_of(credits, "credits"))


def _to_bytes(schedule: Schedule) -> bytes:
    """The bytes of its file."""
    with tempfile.TemporaryDirectory(prefix="tacos-") as folder:
        path = os.path.join(folder, "schedule.tacos")
        schedule.save(path, progress=False)
        with open(path, "rb") as file:
            return file.read()


def _restore(data: bytes, verified: bool) -> Schedule:
    """Transfers are read when they are needed, so the file stays as long as the schedule."""
    handle, path = tempfile.mkstemp(prefix="tacos-", suffix=".tacos")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    bundle = _core.read_bundle(path_of(path))
    weakref.finalize(bundle, os.unlink, path)
    return Schedule._of(bundle, verified)

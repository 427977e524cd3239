# SPDX-License-Identifier: MIT
"""Networks: NPUs and switches joined by directed links."""

from __future__ import annotations

import json
import warnings as _warnings
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core, _units
from ._arguments import Path, flag_of, listed, output_of, path_of, text_of, texts_of, whole_of, write_text
from ._optional import need
from .errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt


class Topology:
    """A network, by a spec such as `"torus:8x8,bw=50GBps,lat=0.5us"` or from a file.

    Nothing about it can be changed; methods that change something return another network.

    >>> import tacos
    >>> mesh = tacos.Topology("mesh:4x4")
    >>> mesh
    <tacos.Topology mesh:4x4: 16 NPUs, 48 links>
    >>> mesh.links.bandwidth[:3]
    array([50000000000, 50000000000, 50000000000])

    A file may be in any of the formats of docs/import.md; `format` says which where that cannot be told
    from what is in it, and `latency` what links have whose file does not say, such as `["pcie=0.4us"]`.
    What an importer was not sure of is a Python warning.
    """

    __slots__ = ("_core", "_links")

    def __init__(self, spec: Path, *, format: str = "", latency: Sequence[str] = ()) -> None:
        loaded, doubts = _core.load_topology(path_of(spec), text_of(format, "format"), texts_of(latency, "latency"))
        _tell(doubts)
        self._take(loaded)

    def _take(self, core: _core.Topology) -> None:
        self._core = core
        self._links: Optional[Links] = None

    @classmethod
    def _of(cls, core: _core.Topology) -> Topology:
        self = object.__new__(cls)
        self._take(core)
        return self

    @classmethod
    def parse(cls, text: str, *, name: str = "text", format: str = "", latency: Sequence[str] = ()) -> Topology:
        """A network from the text of a file; `name` names it in errors.

        >>> import tacos
        >>> tacos.Topology.parse(tacos.Topology("ring:4").to_json()).num_npus
        4
        """
        parsed, doubts = _core.parse_topology(text_of(text, "text"), text_of(name, "name"), text_of(format, "format"),
                                              texts_of(latency, "latency"))
        _tell(doubts)
        return cls._of(parsed)

    @classmethod
    def from_links(cls, links: Sequence[Sequence[Any]], *, npus: int, switches: int = 0, name: str = "links",
                   names: Sequence[str] = (), forward: bool = False) -> Topology:
        """A network from rows of (src, dst, bandwidth, latency); NPUs come before switches.

        Bandwidths are in GB/s or texts such as `"100Gbps"`, latencies in microseconds or texts.

        >>> import tacos
        >>> tacos.Topology.from_links([(0, 1, 25, 0.7), (1, 0, "200Gbps", "700ns")], npus=2)
        <tacos.Topology links: 2 NPUs, 2 links>
        """
        rows = []
        for row in listed(links, "links"):
            try:
                src, dst, bandwidth, latency = row
            except (TypeError, ValueError):
                raise InputError(f"a link is (src, dst, bandwidth, latency), not {row!r}") from None
            rows.append((whole_of(src, "src", 0), whole_of(dst, "dst", 0), _units.bandwidth_of(bandwidth),
                         _units.time_of(latency), 0, 0))
        return cls._made(name, npus, switches, np.array(rows, dtype=np.int64).reshape(-1, 6), names, forward)

    @classmethod
    def _made(cls, name: str, npus: int, switches: int, rows: npt.NDArray[np.int64], names: Sequence[str],
              forward: bool) -> Topology:
        if whole_of(npus, "npus", -2**31, 2**32 - 1) < 1:
            raise InputError(f"a network has at least one NPU, not {npus}")
        return cls._of(_core.make_topology(text_of(name, "name"), npus, whole_of(switches, "switches", 0, 2**32 - 1), rows,
                                           texts_of(names, "names"), flag_of(forward, "forward")))

    @classmethod
    def from_matrices(cls, bandwidth: npt.ArrayLike, latency: npt.ArrayLike = 0.5, *, switches: int = 0,
                      name: str = "matrix", names: Sequence[str] = ()) -> Topology:
        """A network from a matrix of bandwidths in GB/s, by row (from) and column (to); 0 is no link.

        `latency` is in microseconds, a matrix or one number for all links. The last `switches` rows are
        switches.

        >>> import tacos, numpy as np
        >>> ring = np.roll(np.eye(4), 1, axis=1) * 50
        >>> tacos.Topology.from_matrices(ring + ring.T, latency=0.7).num_links
        8
        """
        rates, delays = _matrices(bandwidth, latency)
        whole_of(switches, "switches", 0, 2**31)
        src, dst = np.nonzero(rates)
        rows = np.zeros((len(src), 6), dtype=np.int64)
        rows[:, 0], rows[:, 1] = src, dst
        rows[:, 2] = np.rint(rates[src, dst] * 1e9)
        rows[:, 3] = np.rint(delays[src, dst] * 1e6)
        return cls._made(name, len(rates) - switches, switches, rows, names, False)

    def to_matrices(self) -> Tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Bandwidths in GB/s and latencies in microseconds, as `from_matrices` takes them.

        Parallel links count as one with the sum of their bandwidths and the least of their latencies;
        failed links are not there.

        >>> import tacos
        >>> bandwidth, latency = tacos.Topology("ring:3").to_matrices()
        >>> bandwidth
        array([[ 0., 50., 50.],
               [50.,  0., 50.],
               [50., 50.,  0.]])
        """
        nodes = self.num_npus + self.num_switches
        links = self.links
        works = ~links.failed
        ends = (links.src[works], links.dst[works])
        bandwidth = np.zeros((nodes, nodes))
        np.add.at(bandwidth, ends, links.bandwidth[works] / 1e9)
        latency = np.full((nodes, nodes), np.inf)
        np.minimum.at(latency, ends, links.latency[works] / 1e6)
        latency[np.isinf(latency)] = 0
        return bandwidth, latency

    @classmethod
    def from_networkx(cls, graph: Any, *, name: str = "networkx", latency: Sequence[str] = ()) -> Topology:
        """A network from a graph of networkx, directed or not, multigraph or not.

        Nodes with `kind="switch"` are switches. Edges have `bandwidth` (`"100Gbps"`) or `bandwidth_Bps`,
        `latency` (`"0.7us"`) or `latency_ps`; see docs/import.md for others. Undirected edges are links both
        ways.

        >>> import tacos, networkx
        >>> tacos.Topology.from_networkx(networkx.Graph([(0, 1, {"bandwidth": "25GBps", "latency": "1us"})]))
        <tacos.Topology networkx: 2 NPUs, 2 links>
        """
        networkx = need("networkx", "Topology.from_networkx")
        if not isinstance(graph, networkx.Graph):
            raise InputError(f"from_networkx takes a graph of networkx, not {type(graph).__name__}")
        try:
            text = json.dumps(_node_link_data(networkx, graph), default=_plain_number)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"the graph has attributes that are no numbers or texts: {error}") from None
        return cls.parse(text, name=name, format="networkx", latency=latency)

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph` of nodes with `kind` and edges with `id`, `bandwidth_Bps`, `latency_ps`.

        Failed links are not there. `from_networkx` takes it back.

        >>> import tacos
        >>> tacos.Topology("ring:4").to_networkx().number_of_edges()
        8
        """
        networkx = need("networkx", "Topology.to_networkx")
        graph = networkx.MultiDiGraph(name=self.name)
        names = self.node_names
        for node in range(self.num_npus + self.num_switches):
            kind = "npu" if node < self.num_npus else "switch"
            graph.add_node(node, kind=kind, **({"label": names[node]} if names else {}))
        links = self.links
        for link in np.flatnonzero(~links.failed).tolist():
            graph.add_edge(int(links.src[link]), int(links.dst[link]), id=link,
                           bandwidth_Bps=int(links.bandwidth[link]), latency_ps=int(links.latency[link]))
        return graph

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def num_npus(self) -> int:
        return self._core.num_npus

    @property
    def num_switches(self) -> int:
        return self._core.num_switches

    @property
    def num_links(self) -> int:
        """How many ids links have, those that failed among them."""
        return self._core.num_links

    @property
    def node_names(self) -> List[str]:
        """What people call the nodes, NPUs first; empty when they have no names."""
        return self._core.node_names

    @property
    def failed_npus(self) -> List[int]:
        return self._core.failed_npus

    @property
    def dimensions(self) -> List[Tuple[str, int]]:
        """(wiring, length) of the dimensions whose product it is, the first varying fastest; or none.

        >>> import tacos
        >>> tacos.Topology("torus:4x2").dimensions
        [('ring', 4), ('ring', 2)]
        """
        return self._core.dimensions

    @property
    def links(self) -> Links:
        """The links by id, as read-only columns."""
        if self._links is None:
            self._links = Links(**self._core.link_columns())
        return self._links

    def fail(self, *failures: str) -> Topology:
        """The network with something broken: `link:3-4`, `link:3>4`, `npu:5`, `slow:3-4=0.25`.

        >>> import tacos
        >>> tacos.Topology("ring:4").fail("link:0-1").name
        'ring:4 --fail link:0-1'
        """
        return self._of(self._core.fail(texts_of(failures, "fail")))

    def with_forwarding(self, forward: bool = True) -> Topology:
        """The same network, whose NPUs do or do not pass messages on without storing them."""
        return self._of(self._core.with_forwarding(flag_of(forward, "forward")))

    def cluster(self, boxes: int, fabric: str, *, nics: int = 0, nic_bw: Union[float, str, None] = None,
                latency: Sequence[str] = ()) -> Topology:
        """Copies of this box over a fabric: `switch`, `rail`, `leaf-spine:LxS` or `ring` (docs/import.md).

        >>> import tacos
        >>> tacos.Topology("a100:1").cluster(2, "switch", nics=4, nic_bw="200Gbps").num_npus
        16
        """
        rate = 0 if nic_bw is None else _units.bandwidth_of(nic_bw)
        return self._of(self._core.cluster(whole_of(boxes, "boxes", 1, 2**32 - 1), text_of(fabric, "fabric"),
                                           whole_of(nics, "nics", 0, 4096), rate, texts_of(latency, "latency")))

    def to_json(self) -> str:
        """The text of a topology file (docs/topology-format.md)."""
        return self._core.to_json()

    def save(self, path: Path) -> None:
        """Writes a topology file."""
        write_text(output_of(path), self.to_json())

    def to_svg(self) -> str:
        """A picture of it: the faster a link, the thicker; failed links are dashed.

        >>> import tacos
        >>> tacos.Topology("ring:4").to_svg()[:4]
        '<svg'
        """
        return _core.draw_topology(self._core)

    def plot(self, *, ax: Any = None) -> Any:
        """Draws it with matplotlib; returns the axes."""
        from . import _plots
        return _plots.plot_topology(self, ax)

    def _repr_html_(self) -> str:
        from . import _html
        return _html.topology(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topology) and self._core == other._core

    def __hash__(self) -> int:
        return hash((self.num_npus, self.num_switches, self.num_links))

    def __repr__(self) -> str:
        switches = f", {self.num_switches} switches" if self.num_switches else ""
        return f"<tacos.Topology {self.name}: {self.num_npus} NPUs{switches}, {self._core.num_working_links} links>"

    def __copy__(self) -> Topology:
        return self

    def __deepcopy__(self, _: Any) -> Topology:
        return self

    def __reduce__(self) -> Any:
        return (_restore, (self.to_json(), self.name, self.failed_npus))


class Links:
    """Columns over link ids: `src` and `dst` (nodes), `bandwidth` (bytes per second), `latency` and `gap`
    (picoseconds), `failed`."""

    __slots__ = ("src", "dst", "bandwidth", "latency", "gap", "failed")

    def __init__(self, src: npt.NDArray[np.uint32], dst: npt.NDArray[np.uint32], bandwidth: npt.NDArray[np.int64],
                 latency: npt.NDArray[np.int64], gap: npt.NDArray[np.int64], failed: npt.NDArray[np.bool_]) -> None:
        self.src = src
        self.dst = dst
        self.bandwidth = bandwidth
        self.latency = latency
        self.gap = gap
        self.failed = failed

    def __len__(self) -> int:
        return len(self.src)


def _tell(doubts: Sequence[str]) -> None:
    for doubt in doubts:
        _warnings.warn(doubt, stacklevel=4)


def _restore(text: str, name: str, failed_npus: List[int]) -> Topology:
    return Topology._of(Topology.parse(text, name=name)._core.with_failed_npus(failed_npus))


def _node_link_data(networkx: Any, graph: Any) -> Any:
    """Whose edges are called links, as they were before networkx 3.4."""
    try:
        return networkx.node_link_data(graph, edges="links")
    except TypeError:
        return networkx.node_link_data(graph)


def _plain_number(value: Any) -> Any:
    """Numbers of NumPy, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r}")


def _numbers(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """What is complex or a text would be a number to NumPy, if asked."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError("a matrix of bandwidths or latencies has numbers, in GB/s or microseconds")


def _matrices(bandwidth: npt.ArrayLike,
              latency: npt.ArrayLike) -> Tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Both as square matrices, checked."""
    rates, delays = _numbers(bandwidth), _numbers(latency)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1]:
        raise InputError(f"a matrix of bandwidths is square, not of shape {rates.shape}")
    if delays.ndim != 0 and delays.shape != rates.shape:
        raise InputError(f"latencies are one number or of the shape of the bandwidths, {rates.shape}, "
                         f"not {delays.shape}")
    for matrix, what in ((rates, "bandwidth"), (delays, "latency")):
        if not np.isfinite(matrix).all() or (matrix < 0).any():
            raise InputError(f"a {what} is a number that is not negative")
    if np.diagonal(rates).any():
        raise InputError("a link joins two nodes, so the diagonal of the bandwidths is 0")
    if rates.max(initial=0) > 1e9:
        raise InputError("bandwidths are in GB/s; one is more than 1e9 of them")
    if delays.max(initial=0) > 1e12:
        raise InputError("latencies are in microseconds; one is more than 1e12 of them")
    return rates, np.broadcast_to(delays, rates.shape)

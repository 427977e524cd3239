# SPDX-License-Identifier: MIT
"""What is asked for: a collective among some NPUs of a network."""

from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core, _units
from .errors import InputError
from .topology import Topology

#: A name such as `"all-reduce"` or `"broadcast:3"`, the path of a file, or what is in such a file
#: (docs/collective-format.md).
Collective = Union[str, "os.PathLike[str]", Mapping[str, Any]]
#: `"0-3,8,9"`, or NPUs one by one.
Group = Union[str, Sequence[int]]
Network = Union[Topology, str, "os.PathLike[str]"]


class Problem:
    """A collective on a network: what `synthesize`, `bound` and `compare` are asked about.

    `size` is the whole buffer, `"64MiB"` or a number of bytes. `group` are the NPUs that take part, `fail` is what is
    broken (as for `Topology.fail`), and without `relay` only NPUs that take part, and switches, carry data.

    >>> import tacos
    >>> tacos.Problem("mesh:4x4", "broadcast:5", size="1MiB", group="0-7")
    <tacos.Problem broadcast:5 of 1 MiB, 8 NPUs of mesh:4x4>
    """

    __slots__ = ("_task", "_topology", "_collective")

    def __init__(self, topology: Network, collective: Collective, *, size: Optional[_units.Size] = None,
                 group: Optional[Group] = None, fail: Sequence[str] = (), relay: bool = True) -> None:
        network = as_topology(topology)
        if fail:
            network = network.fail(*_texts(fail, "fail"))
        name, text = _collective_words(collective)
        self._task = _core.make_task(network._core, name, text, None if size is None else _units.size_text(size),
                                     _group_words(group), relay)
        self._topology = Topology._of(self._task.topology)
        self._collective = name

    @property
    def topology(self) -> Topology:
        """The network, what is left of it after failures, without relays where told so."""
        return self._topology

    @property
    def collective(self) -> str:
        return self._collective

    @property
    def size(self) -> int:
        """Of the whole buffer, in bytes."""
        return self._task.size

    @property
    def participants(self) -> List[int]:
        return self._task.participants

    def __repr__(self) -> str:
        return (f"<tacos.Problem {self.collective} of {_core.format_size(self.size)}, {len(self.participants)} NPUs "
                f"of {self.topology.name}>")


def as_topology(topology: Network) -> Topology:
    return topology if isinstance(topology, Topology) else Topology(topology)


def as_problem(topology: Union[Network, Problem], collective: Optional[Collective], keywords: Mapping[str, Any]) -> Problem:
    """What the first arguments of a call say together."""
    if isinstance(topology, Problem):
        said = [name for name, value in keywords.items()
                if not (value if name == "relay" else value is None or (name == "fail" and not value))]
        if collective is not None or said:
            raise InputError(f"a Problem says all of it; leave out {', '.join(said) or 'the collective'}")
        return topology
    if collective is None:
        raise InputError("say which collective, such as 'all-reduce'")
    return Problem(topology, collective, **keywords)


def _collective_words(collective: Collective) -> Tuple[str, Optional[str]]:
    if isinstance(collective, Mapping):
        return str(collective.get("name", "collective")), json.dumps(collective)
    return os.fspath(collective), None


def _group_words(group: Optional[Group]) -> Optional[str]:
    if group is None or isinstance(group, str):
        return group
    return ",".join(str(int(npu)) for npu in group)


def _texts(values: Sequence[str], what: str) -> List[str]:
    """A list of texts; a single one is the mistake that everybody makes."""
    if isinstance(values, str):
        return [values]
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{what} is a list of texts such as 'link:3-4'")
    return list(values)

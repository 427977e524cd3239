# SPDX-License-Identifier: MIT
"""What is asked for: a collective among some NPUs of a network."""

from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core, _units
from ._arguments import flag_of, path_of, text_of, texts_of, whole_of
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

    __slots__ = ("_task", "_topology", "_collective", "_words")

    def __init__(self, topology: Network, collective: Collective, *, size: Optional[_units.Size] = None,
                 group: Optional[Group] = None, fail: Sequence[str] = (), relay: bool = True) -> None:
        network = as_topology(topology)
        failures = texts_of(fail, "fail")
        if failures:
            network = network.fail(*failures)
        name, text = _collective_words(collective)
        buffer, npus = None if size is None else _units.size_text(size), _group_words(group)
        self._task = _core.make_task(network._core, path_of(name), text, buffer, npus, flag_of(relay, "relay"))
        self._topology = Topology._of(self._task.topology)
        self._collective = name
        self._words = (network, collective, buffer, npus, flag_of(relay, "relay"))

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

    def __reduce__(self) -> Any:
        return (_restore, self._words)

    def __repr__(self) -> str:
        return (f"<tacos.Problem {self.collective} of {_core.format_size(self.size)}, {len(self.participants)} NPUs "
                f"of {self.topology.name}>")


def as_topology(topology: Network) -> Topology:
    return topology if isinstance(topology, Topology) else Topology(topology)


def as_problem(topology: Union[Network, Problem], collective: Optional[Collective], keywords: Mapping[str, Any]) -> Problem:
    """What the first arguments of a call say together."""
    if isinstance(topology, Problem):
        said = [name for name, value in keywords.items()
                if not (value if name == "relay" else value is None or (name == "fail" and len(value) == 0))]
        if collective is not None or said:
            raise InputError(f"a Problem says all of it; leave out {', '.join(said) or 'the collective'}")
        return topology
    if collective is None:
        raise InputError("say which collective, such as 'all-reduce'")
    return Problem(topology, collective, **keywords)


def _collective_words(collective: Collective) -> Tuple[str, Optional[str]]:
    if isinstance(collective, Mapping):
        try:
            return text_of(collective.get("name", "collective"), "the name of a collective"), json.dumps(collective)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"a collective is made of lists, dicts, numbers and texts: {error}") from None
    if not isinstance(collective, (str, os.PathLike)):
        raise InputError(f"a collective is a name such as 'all-reduce', a file or a dict, not {collective!r}")
    return os.fspath(collective), None


def _group_words(group: Optional[Group]) -> Optional[str]:
    if group is None:
        return group
    if isinstance(group, str):
        return text_of(group, "group")
    try:
        return ",".join(str(whole_of(npu, "group", 0)) for npu in group)
    except TypeError:
        raise InputError(f"group is a text such as '0-3,8' or a list of NPUs, not {group!r}") from None


def _restore(topology: Topology, collective: Collective, size: Optional[str], group: Optional[str], relay: bool) -> Problem:
    return Problem(topology, collective, size=size, group=group, relay=relay)

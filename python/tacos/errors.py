# SPDX-License-Identifier: MIT
"""All that can go wrong, as one family of exceptions.

>>> import tacos
>>> try:
...     tacos.Topology("mash:4x4")
... except tacos.Error as error:
...     print(type(error).__name__, error)
InputError mash:4x4: unknown topology kind 'mash'; did you mean 'mesh'?
"""

from __future__ import annotations

import re
from typing import Optional, Sequence, Tuple

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


class Error(Exception):
    """Whatever tacos has to complain about."""


class InputError(Error, ValueError):
    """A topology, a collective, a size, a file or an argument that cannot be used."""


class InfeasibleError(Error):
    """No schedule exists. `pair` is (from, to) where data of one NPU cannot reach another."""

    pair: Optional[Tuple[int, int]] = None


class VerificationError(Error):
    """A schedule does not do what its collective asks; `violations` says what is wrong."""

    def __init__(self, message: str, violations: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.violations = list(violations)


class MissingError(Error, ImportError):
    """Something that is not installed is needed for this; the message says what."""


class CancelledError(Error):
    """The work was stopped from outside; after Ctrl-C there is a KeyboardInterrupt instead."""


class InternalError(Error, RuntimeError):
    """A mistake of tacos itself."""


def sentence(text: str) -> str:
    """The command line's words with Python's names: `--link-model` is the keyword `link_model`.

    >>> sentence("--group: NPU 3 is listed twice")
    'group: NPU 3 is listed twice'
    """
    return _OPTION.sub(lambda option: option.group(1).replace("-", "_"), text)

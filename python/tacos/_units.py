# SPDX-License-Identifier: MIT
"""Numbers with units, as arguments: a text with a unit, or a bare number in the unit of the argument."""

from __future__ import annotations

import operator
from typing import Union

from . import _core
from .errors import InputError

Size = Union[int, str]


def size_text(size: Size) -> str:
    """As the library reads it: `"64MiB"`, or a whole number of bytes."""
    if isinstance(size, str):
        return size
    try:
        return str(operator.index(size))
    except TypeError:
        raise InputError(f"a size is a text such as '64MiB' or a whole number of bytes, not {size!r}") from None


def bandwidth_of(value: Union[float, str]) -> int:
    """Bytes per second; a bare number is in GB/s."""
    return _core.parse_bandwidth(value if isinstance(value, str) else f"{_plain(value)}GBps")


def time_of(value: Union[float, str]) -> int:
    """Picoseconds; a bare number is in microseconds."""
    return _core.parse_time(value if isinstance(value, str) else f"{_plain(value)}us")


def _plain(value: float) -> str:
    """A number as the library reads it."""
    try:
        return format(float(value), ".12g")
    except (TypeError, ValueError):
        raise InputError(f"{value!r} is no number") from None

# SPDX-License-Identifier: MIT
"""Numbers with units, as arguments: a text with a unit, or a bare number in the unit of the argument."""

from __future__ import annotations

from typing import Tuple, Union

from . import _core
from ._arguments import number_of, text_of, whole_of
from .errors import InputError

Size = Union[int, str]


def size_text(size: Size) -> str:
    """As the library reads it: `"64MiB"`, or a whole number of bytes."""
    if isinstance(size, str):
        return text_of(size, "size")
    try:
        return str(whole_of(size, "size", 0))
    except InputError:
        raise InputError(f"a size is a text such as '64MiB' or a whole number of bytes, not {size!r}") from None


def size_range(sizes: Union[str, Tuple[Size, Size]]) -> Tuple[str, str]:
    """Both ends of `"1KiB..1GiB"`, or of a pair."""
    if isinstance(sizes, str):
        least, dots, most = text_of(sizes, "sizes").partition("..")
        if not dots:
            raise InputError(f"sizes: '{sizes}' is no range of sizes; write for example 1KiB..1GiB")
        return least, most
    try:
        first, last = sizes
    except (TypeError, ValueError):
        raise InputError("sizes is a range such as '1KiB..1GiB', or a pair") from None
    return size_text(first), size_text(last)


def bandwidth_of(value: Union[float, str]) -> int:
    """Bytes per second; a bare number is in GB/s."""
    return _core.parse_bandwidth(_with_unit(value, "bandwidth", "GBps"))


def time_text(value: Union[float, str], what: str) -> str:
    """As the library reads it; a bare number is in microseconds."""
    return _with_unit(value, what, "us")


def time_of(value: Union[float, str], what: str = "latency") -> int:
    """Picoseconds."""
    return _core.parse_time(time_text(value, what))


def _with_unit(value: Union[float, str], what: str, unit: str) -> str:
    if isinstance(value, str):
        return text_of(value, what)
    # Without an exponent, which the library does not read.
    number = number_of(value, what)
    return (f"{number:.0f}" if abs(number) >= 1e15 else f"{number:.12f}".rstrip("0").rstrip(".")) + unit

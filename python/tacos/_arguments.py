# SPDX-License-Identifier: MIT
"""Arguments as the extension module takes them; what cannot be used is told in a sentence."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, List, Optional, Sequence, Union

from .errors import InputError

Path = Union[str, "os.PathLike[str]"]


def text_of(value: Any, what: str) -> str:
    """A text that the library can read, which is in UTF-8."""
    if not isinstance(value, str):
        raise InputError(f"{what} is a text, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what}: {value!a} is not a text that can be written in UTF-8") from None
    return value


def printable(value: Any) -> str:
    """As it may be printed anywhere."""
    return str(value).encode(errors="backslashreplace").decode()


def listed(values: Any, what: str) -> List[Any]:
    """What can be gone through; a text is one thing."""
    try:
        return [values] if isinstance(values, str) else list(values)
    except TypeError:
        raise InputError(f"{what} is a list, not {values!r}") from None


def flag_of(value: Any, what: str) -> bool:
    try:
        return bool(value)
    except ValueError:
        raise InputError(f"{what} is True or False, not {value!r}") from None


def texts_of(values: Sequence[str], what: str) -> List[str]:
    """A list of texts; a single one is the mistake that everybody makes."""
    return [text_of(value, what) for value in listed(values, what)]


def whole_of(value: Any, what: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number, be it of Python or of NumPy."""
    try:
        number = operator.index(value)
    except (TypeError, ValueError):
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise InputError(f"{what}: '{printable(value)}' is not a whole number from {least} to {most}")
    return number


def number_of(value: Any, what: str) -> float:
    """A number that is one."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str) or not math.isfinite(number):
        raise InputError(f"{what}: {value!r} is no number")
    return number


def path_of(path: Any) -> bytes:
    """The name of a file, or what may be one, with the bytes that it has: names need not be texts in UTF-8."""
    try:
        name = os.fsencode(path)
    except (TypeError, UnicodeEncodeError):
        raise InputError(f"{path!r} is no name of a file; give a text or a pathlib.Path") from None
    if b"\0" in name:
        raise InputError(f"{name!r}: names of files have no NUL in them")
    return name


def output_of(path: Any) -> bytes:
    """The name of a file to write."""
    name = path_of(path)
    if name == b"-":
        raise InputError("'-' is standard output, of which Python has its own; give the name of a file")
    return name


def write_text(name: bytes, text: str) -> None:
    try:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{printable(os.fsdecode(name))}: cannot be written: {error.strerror}") from error


def threads_of(threads: Optional[int]) -> int:
    """All cores that this process may use, unless said; results never depend on it."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_of(threads, "threads", 1, 4096)


def effort_of(effort: int) -> int:
    return whole_of(effort, "effort", 1, 9)


def seed_of(seed: int) -> int:
    return whole_of(seed, "seed", 0, 2**64 - 1)

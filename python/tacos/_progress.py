# SPDX-License-Identifier: MIT
"""How far a long call is: by tqdm where it is installed, else a line on stderr; nothing for short calls."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from typing import Any, Callable, Iterator, Optional, Union

from .errors import InputError

#: `None` shows it to people, on a terminal or in a notebook, when a call takes longer than half a second; `True` and
#: `False` always and never; a function is called with the share of the work done, 0 to 1.
Progress = Union[None, bool, Callable[[float], None]]

_PATIENCE = 0.5


def _watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Line:
    """`synthesizing 42%`, over itself."""

    def __init__(self, what: str) -> None:
        self._what = what

    def show(self, share: float) -> None:
        print(f"\r{self._what} {share:4.0%}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r" + " " * (len(self._what) + 6) + "\r", end="", file=sys.stderr, flush=True)


class _Bar:
    """The same by tqdm."""

    def __init__(self, what: str) -> None:
        tqdm = importlib.import_module("tqdm.auto").tqdm
        self._bar: Any = tqdm(total=100, desc=what, leave=False, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}")

    def show(self, share: float) -> None:
        self._bar.n = 100 * share
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Shown:
    """What is called several times a second while a call runs."""

    def __init__(self, what: str, at_once: bool) -> None:
        self._what = what
        self._after = time.monotonic() + (0 if at_once else _PATIENCE)
        self._display: Union[None, _Line, _Bar] = None

    def __call__(self, share: float) -> None:
        if self._display is None:
            if time.monotonic() < self._after:
                return
            has_tqdm = importlib.util.find_spec("tqdm") is not None
            self._display = _Bar(self._what) if has_tqdm else _Line(self._what)
        self._display.show(share)

    def close(self) -> None:
        if self._display is not None:
            self._display.close()


@contextlib.contextmanager
def shown(what: str, progress: Progress) -> Iterator[Optional[Callable[[float], None]]]:
    """The listener for the extension module, while the work is done."""
    if callable(progress):
        yield progress
    elif progress is not None and not isinstance(progress, bool):
        raise InputError(f"progress is True, False, None or a function, not {progress!r}")
    elif progress is False or (progress is None and not _watched()):
        yield None
    else:
        display = _Shown(what, at_once=progress is True)
        try:
            yield display
        finally:
            display.close()

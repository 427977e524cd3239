# SPDX-License-Identifier: MIT
"""The viewer page: one HTML file, for any browser."""

from __future__ import annotations

import os
import pathlib
import tempfile
import webbrowser
from typing import TYPE_CHECKING, Optional, Sequence

from . import _core
from ._arguments import Path, flag_of, output_of, threads_of, write_text
from ._progress import Progress, shown

if TYPE_CHECKING:
    from .schedule import Schedule


def page(schedules: Sequence[Schedule], threads: Optional[int] = None, progress: Progress = None) -> str:
    """The page for one schedule, or for two side by side."""
    for schedule in schedules:
        schedule._check(progress)
    with shown("making the page", progress) as listener:
        return _core.view_page([schedule._bundle for schedule in schedules], threads_of(threads), listener)


def view(schedules: Sequence[Schedule], path: Optional[Path], open_browser: bool, threads: Optional[int],
         progress: Progress) -> str:
    opens = flag_of(open_browser, "open_browser")
    name = None if path is None else os.fsdecode(output_of(path))
    text = page(schedules, threads, progress)
    if name is None:
        handle, name = tempfile.mkstemp(prefix="tacos-", suffix=".html")
        os.close(handle)
    write_text(os.fsencode(name), text)
    if opens:
        webbrowser.open(pathlib.Path(name).absolute().as_uri())
    return name

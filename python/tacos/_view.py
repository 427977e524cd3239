# SPDX-License-Identifier: MIT
"""The viewer page: one HTML file, for any browser."""

from __future__ import annotations

import os
import pathlib
import tempfile
import webbrowser
from typing import TYPE_CHECKING

from . import _core
from ._progress import shown
from ._threads import threads_of

if TYPE_CHECKING:
    from .schedule import Schedule


def page(*schedules: Schedule) -> str:
    """The page for one schedule, or for two side by side."""
    for schedule in schedules:
        schedule._check(None)
    with shown("making the page", None) as listener:
        return _core.view_page([schedule._bundle for schedule in schedules], threads_of(None), listener)


def view(schedule: Schedule, open_browser: bool) -> str:
    text = page(schedule)
    handle, path = tempfile.mkstemp(prefix="tacos-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    if open_browser:
        webbrowser.open(pathlib.Path(path).as_uri())
    return path

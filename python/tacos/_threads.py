# SPDX-License-Identifier: MIT
"""How many threads a call uses; results never depend on it."""

from __future__ import annotations

import os
from typing import Optional

from .errors import InputError


def threads_of(threads: Optional[int]) -> int:
    """All cores that this process may use, unless said."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not 1 <= threads <= 4096:
        raise InputError(f"threads is a number from 1 to 4096, not {threads}")
    return threads

# SPDX-License-Identifier: MIT
"""Packages that only some calls need, imported when they do."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingError


def need(module: str, what: str) -> Any:
    """The module; or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        raise MissingError(f"{what} needs {package}; install it (pip install {package}, or on Debian "
                           f"apt install python3-{package})") from error

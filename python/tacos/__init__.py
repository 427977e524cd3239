# SPDX-License-Identifier: MIT
"""Synthesizes collective communication algorithms for any network (docs/python.md).

>>> import tacos
>>> t = tacos.Topology("mesh:4x4")
"""

from __future__ import annotations

from .errors import (CancelledError, Error, InfeasibleError, InputError, InternalError, MissingError,
                     VerificationError)
from .topology import Links, Topology

__all__ = [
    "CancelledError",
    "Error",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "Links",
    "MissingError",
    "Topology",
    "VerificationError",
]

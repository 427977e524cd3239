# SPDX-License-Identifier: MIT
"""Synthesizes collective communication algorithms for any network (docs/python.md).

>>> import tacos
>>> t = tacos.Topology("mesh:4x4")
>>> r = tacos.synthesize(t, "all-reduce", size="64MiB")
>>> r.verified, round(r.efficiency, 2), r.schedule
(True, 0.88, <tacos.Schedule all-reduce of 64 MiB on mesh:4x4: ... transfers, 950... us>)
"""

from __future__ import annotations

from ._core import baseline_names, collective_names, engine_names, export_formats, import_formats, topology_kinds
from .comparison import Comparison, Row, compare
from .errors import (CancelledError, Error, InfeasibleError, InputError, InternalError, MissingError,
                     VerificationError)
from .explanation import Explanation, Remedy
from .failing import Contingency, ContingencyPlan, Resilience, ResilienceRow, contingency, resilience
from .planning import Plan, PlanEntry, PlanPoint, plan
from .problem import Problem
from .repairing import Interruption, Repair, repair
from .schedule import Collective, Columns, Schedule, Transfer, VerifyReport, explain, export, verify, view
from .simulation import Simulation, simulate
from .synthesis import Bound, Limit, Result, Tried, bound, synthesize
from .topology import Links, Topology

__all__ = [
    "Bound",
    "CancelledError",
    "Collective",
    "Columns",
    "Comparison",
    "Contingency",
    "ContingencyPlan",
    "Error",
    "Explanation",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "Interruption",
    "Limit",
    "Links",
    "MissingError",
    "Plan",
    "PlanEntry",
    "PlanPoint",
    "Problem",
    "Remedy",
    "Repair",
    "Resilience",
    "ResilienceRow",
    "Result",
    "Row",
    "Schedule",
    "Simulation",
    "Topology",
    "Transfer",
    "Tried",
    "VerificationError",
    "VerifyReport",
    "baseline_names",
    "bound",
    "collective_names",
    "compare",
    "contingency",
    "engine_names",
    "explain",
    "export",
    "export_formats",
    "import_formats",
    "plan",
    "repair",
    "resilience",
    "simulate",
    "synthesize",
    "topology_kinds",
    "verify",
    "view",
]

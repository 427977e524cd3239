# SPDX-License-Identifier: MIT
"""What notebooks show: a table, and the network as a picture."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Iterable, Sequence, Tuple

from . import _core

if TYPE_CHECKING:
    from .comparison import Comparison
    from .schedule import Schedule
    from .synthesis import Result
    from .topology import Topology

#: A network of more links than this would be a blot, and a large one.
_MOST_LINKS = 4096
_SIDE_BY_SIDE = '<div style="display:flex;flex-wrap:wrap;gap:2em;align-items:center">'


def topology(network: Topology) -> str:
    links = network.links
    rows = [("NPUs", _core.format_count(network.num_npus)), ("switches", _core.format_count(network.num_switches)),
            ("links", _core.format_count(len(links)))]
    if links.failed.any():
        rows.append(("failed links", _core.format_count(int(links.failed.sum()))))
    works = ~links.failed
    if works.any():
        low, high = int(links.bandwidth[works].min()), int(links.bandwidth[works].max())
        rows.append(("bandwidth", _core.format_bandwidth(low) if low == high else
                     f"{_core.format_bandwidth(low)} to {_core.format_bandwidth(high)}"))
        low, high = int(links.latency[works].min()), int(links.latency[works].max())
        rows.append(("latency", _core.format_time(low) if low == high else
                     f"{_core.format_time(low)} to {_core.format_time(high)}"))
    return _beside(_head(network.name) + _pairs(rows), _picture(network))


def schedule(one: Schedule) -> str:
    return _beside(_head(f"{one.collective} on {one.topology.name}: {_core.format_time(one.time_ps)}") +
                   _pairs(_schedule_rows(one)), _picture(one.topology, one))


def result(one: Result) -> str:
    made = one.schedule
    head = (f"{made.collective} on {one.topology.name}: {_core.format_time(made.time_ps)}, {one.efficiency:.1%} of the "
            "bound, verified")
    bound = _core.format_time(round(one.bound.time_us * 1e6))
    rows = [*_schedule_rows(made), ("bound", f"{bound} ({one.bound.best.name}): {one.bound.because}"),
            ("took", f"{one.synthesis_seconds:.3f} s to synthesize, {one.verify_seconds:.3f} s to verify")]
    return _beside(_head(head) + _pairs(rows), _picture(one.topology, made))


def comparison(one: Comparison) -> str:
    head = ["algorithm", "size", "time", "algbw, GB/s", "busbw, GB/s", "of bound", "speed-up"]
    rows = [[row.algorithm + (" *" if row.forwarded else ""), _core.format_size(row.size),
             _core.format_time(round(row.time_us * 1e6)), f"{row.algbw_GBps:.2f}", f"{row.busbw_GBps:.2f}",
             f"{row.efficiency:.1%}", f"{row.speedup:.2f}"] for row in one.rows]
    note = "<p>* passes NPUs, as if they forwarded</p>" if any(row.forwarded for row in one.rows) else ""
    cells = "".join(f"<th>{escape(text)}</th>" for text in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return (_head(f"{one.problem.collective} on {one.problem.topology.name}") +
            f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>{note}")


def _schedule_rows(one: Schedule) -> Sequence[Tuple[str, str]]:
    network, collective = one.topology, one.collective
    return [("network", f"{network.num_npus} NPUs, {network._core.num_working_links} links, {one.link_model} model"),
            ("buffer", f"{_core.format_size(collective.size)} in {_core.format_count(collective.num_chunks)} chunks"),
            ("bandwidth", f"{one.algbw_GBps:.2f} GB/s algorithm, {one.busbw_GBps:.2f} GB/s bus"),
            ("engine", f"{one.engine}, seed {one.seed}"),
            ("schedule", f"{_core.format_count(len(one))} transfers, hash {one.hash}")]


def _head(text: str) -> str:
    return f"<p><b>{escape(text)}</b></p>"


def _pairs(rows: Iterable[Tuple[str, str]]) -> str:
    lines = "".join(f'<tr><th style="text-align:left">{escape(label)}</th>'
                    f'<td style="text-align:left">{escape(value)}</td></tr>' for label, value in rows)
    return f"<table>{lines}</table>"


def _beside(table: str, picture: str) -> str:
    return f"{_SIDE_BY_SIDE}<div>{table}</div><div>{picture}</div></div>" if picture else table


def _picture(network: Topology, one: "Schedule | None" = None) -> str:
    """As SVG, links coloured by how busy a schedule keeps them."""
    if len(network.links) > _MOST_LINKS:
        return ""
    small = one is not None and len(one) <= 1_000_000
    if one is not None and small:
        return _core.draw_schedule(one._bundle, False, None, None)
    return _core.draw_topology(network._core)

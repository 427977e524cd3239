# SPDX-License-Identifier: MIT
"""Pictures by matplotlib, of schedules, networks and comparisons. Imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict

import numpy as np

from . import _core
from ._arguments import whole_of
from ._optional import need
from .errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from .comparison import Comparison
    from .failing import ContingencyPlan, Resilience
    from .schedule import Schedule
    from .topology import Topology

#: Of more passages than this a timeline shows how busy links are, not each of them.
_MOST_BARS = 20_000
_MOST_ROWS = 256
_BINS = 400


def utilization(schedule: Schedule, bins: int) -> npt.NDArray[np.float64]:
    """The mean over the links that work, for each span of time."""
    whole_of(bins, "bins", 1, 1_000_000)
    works = ~schedule.topology.links.failed
    busy = _core.occupancy(schedule._bundle, bins).reshape(-1, bins)[works]
    return busy.mean(axis=0, dtype=np.float64) if works.any() else np.zeros(bins)


def plot_schedule(schedule: Schedule, kind: str, ax: Any, keywords: Dict[str, Any]) -> Any:
    if kind == "timeline":
        return _plot_timeline(schedule, _axes(ax), **keywords)
    if kind == "utilization":
        return _plot_utilization(schedule, _axes(ax), **keywords)
    raise InputError(f"unknown kind '{kind}'; known are timeline, utilization")


def plot_topology(topology: Topology, ax: Any) -> Any:
    """Nodes where the library puts them, links as arrows, the faster the thicker."""
    axes = _axes(ax)
    patches = need("matplotlib.patches", "Topology.plot")
    places = _core.places(topology._core).reshape(-1, 2)
    links = topology.links
    works = np.flatnonzero(~links.failed)
    fastest = links.bandwidth[works].max(initial=1)
    for link in np.arange(len(links)):
        width = 0.5 + 1.5 * links.bandwidth[link] / fastest
        axes.add_patch(patches.FancyArrowPatch(
            places[links.src[link]], places[links.dst[link]], arrowstyle="-|>", mutation_scale=7, linewidth=width,
            connectionstyle="arc3,rad=0.08", shrinkA=7, shrinkB=7, zorder=1,
            color="#d62728" if links.failed[link] else "#7f7f7f", linestyle=":" if links.failed[link] else "-"))
    npus = topology.num_npus
    axes.scatter(*places[:npus].T, s=160, color="#1f77b4", zorder=2, label="NPUs")
    if topology.num_switches:
        axes.scatter(*places[npus:].T, s=160, marker="s", color="#ff7f0e", zorder=2, label="switches")
    if len(places) <= 256:
        for node, place in enumerate(places):
            axes.annotate(str(node), place, ha="center", va="center", fontsize=7, color="white", zorder=3)
    axes.set_title(topology.name)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.margins(0.1)
    axes.set_axis_off()
    return axes


def plot_comparison(comparison: Comparison, ax: Any) -> Any:
    """Bars at one size, lines over several."""
    axes = _axes(ax)
    if len(comparison.sizes) == 1:
        rows = comparison.rows[::-1]
        colors = ["#1f77b4" if row.algorithm == "tacos" else "#b0b0b0" for row in rows]
        axes.barh([row.algorithm for row in rows], [row.busbw_GBps for row in rows], color=colors)
        ours = comparison["tacos"]
        axes.axvline(ours.busbw_GBps / ours.efficiency, color="black", linestyle="--", label="bound")
        axes.set_xlabel("bus bandwidth, GB/s")
    else:
        for name in dict.fromkeys(row.algorithm for row in comparison.rows):
            rows = sorted((row for row in comparison.rows if row.algorithm == name), key=lambda row: row.size)
            axes.plot([row.size for row in rows], [row.busbw_GBps for row in rows], marker="o", label=name,
                      linewidth=2.5 if name == "tacos" else 1)
        limits = sorted((row.size, row.busbw_GBps / row.efficiency) for row in comparison.rows
                        if row.algorithm == "tacos")
        axes.plot(*zip(*limits), color="black", linestyle="--", label="bound")
        axes.set_xscale("log", base=2)
        axes.set_xticks(comparison.sizes)
        axes.set_xticklabels([_core.format_size(size) for size in comparison.sizes], rotation=30)
        axes.set_ylabel("bus bandwidth, GB/s")
    axes.legend()
    axes.set_title(f"{comparison.problem.collective} on {comparison.problem.topology.name}")
    return axes


def plot_contingency(plan: ContingencyPlan, ax: Any) -> Any:
    """Bars, the worst failure first: one for those that are alike."""
    axes = _axes(ax)
    most = 24
    rows = sorted((row for row in plan.rows if row.fail == row.like), key=lambda row: -(row.slowdown or np.inf))[:most][::-1]
    alike = {row.fail: sum(other.like == row.fail for other in plan.rows) for row in rows}
    possible = [row.slowdown for row in rows if row.slowdown is not None]
    longest = max(possible, default=1.0)
    for place, row in enumerate(rows):
        axes.barh(place, 100 * ((row.slowdown or longest) - 1), color="#1f77b4" if row.slowdown else "none",
                  edgecolor="none" if row.slowdown else "#d62728", hatch="" if row.slowdown else "//")
        if row.slowdown is None:
            axes.annotate("no schedule exists", (0, place), va="center", fontsize=7, color="#d62728")
    axes.set_yticks(range(len(rows)))
    axes.set_yticklabels([row.fail + (f" and {alike[row.fail] - 1} alike" if alike[row.fail] > 1 else "") for row in rows],
                         fontsize=7)
    axes.set_xlabel("longer than with nothing broken, %")
    axes.set_title(f"{plan.collective} on {plan.network}")
    return axes


def plot_resilience(found: Resilience, ax: Any) -> Any:
    """Bandwidth against failed cables: the bound, the mean, the worst draw."""
    axes = _axes(ax)
    rows = [row for row in found.rows if row.draws]
    percents = [row.failed_percent for row in rows]
    for name, times, style in (("bound", [row.mean_bound_us for row in rows], "k--"),
                               ("mean", [row.mean_time_us for row in rows], "o-"),
                               ("worst", [row.worst_time_us for row in rows], "o-")):
        axes.plot(percents, [found.problem.size * 1e-3 / time if time else 0.0 for time in times], style, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cables that failed, %")
    axes.set_ylabel("algorithm bandwidth, GB/s")
    axes.legend()
    axes.set_title(f"{found.problem.collective} on {found.problem.topology.name}")
    return axes


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return need("matplotlib.pyplot", "plot()").subplots(layout="constrained")[1]


def _title(schedule: Schedule) -> str:
    return f"{schedule.collective} on {schedule.topology.name}, {_core.format_time(schedule.time_ps)}"


def _plot_timeline(schedule: Schedule, axes: Any) -> Any:
    """A row for each link that carries something, a bar for each transfer; or where they are too many, how busy
    links are."""
    if len(schedule) <= _MOST_BARS and len(schedule.topology.links) <= _MOST_ROWS:
        _draw_bars(schedule, axes)
    else:
        _draw_heat(schedule, axes)
    axes.set_xlabel("us")
    axes.set_title(_title(schedule))
    return axes


def _draw_bars(schedule: Schedule, axes: Any) -> None:
    collections = need("matplotlib.collections", "Schedule.plot")
    links, starts, ends = _core.passages(schedule._bundle)
    used, rows = np.unique(links, return_inverse=True)
    low, left, right = rows - 0.4, starts * 1e-6, ends * 1e-6
    corners = np.stack([np.stack([left, low], 1), np.stack([right, low], 1), np.stack([right, low + 0.8], 1),
                        np.stack([left, low + 0.8], 1)], axis=1)
    columns = schedule.columns
    ops = columns.op if columns.simple else np.repeat(columns.op, np.diff(columns.link_offsets).astype(np.int64))
    colors = np.array(["#1f77b4", "#ff7f0e"])[ops]
    axes.add_collection(collections.PolyCollection(corners, facecolors=colors, edgecolors="white", linewidths=0.3))
    axes.set_xlim(0, schedule.time_us)
    axes.set_ylim(len(used) - 0.5, -0.5)
    if len(used) <= 64:
        ends_of = schedule.topology.links
        axes.set_yticks(range(len(used)))
        axes.set_yticklabels([f"{ends_of.src[link]}>{ends_of.dst[link]}" for link in used], fontsize=6)
    axes.set_ylabel("link")
    if columns.op.any() and not columns.op.all():
        patches = need("matplotlib.patches", "Schedule.plot")
        axes.legend(handles=[patches.Patch(color="#1f77b4", label="copy"),
                             patches.Patch(color="#ff7f0e", label="reduce")], loc="lower right")


def _draw_heat(schedule: Schedule, axes: Any) -> None:
    busy = _core.occupancy(schedule._bundle, _BINS).reshape(-1, _BINS)
    groups = max(1, -(-len(busy) // _MOST_ROWS))
    if groups > 1:
        padded = np.full((-(-len(busy) // groups) * groups, _BINS), np.nan, dtype=busy.dtype)
        padded[:len(busy)] = busy
        busy = np.nanmean(padded.reshape(-1, groups, _BINS), axis=1)
    image = axes.imshow(busy, aspect="auto", vmin=0, vmax=1, cmap="viridis", interpolation="nearest",
                        extent=(0, schedule.time_us, len(busy) * groups, 0))
    axes.figure.colorbar(image, ax=axes, label="busy")
    axes.set_ylabel("link")


def _plot_utilization(schedule: Schedule, axes: Any, bins: int = 100) -> Any:
    """The mean over all links, against time."""
    share = utilization(schedule, bins)
    axes.stairs(100 * share, np.linspace(0, schedule.time_us, bins + 1), fill=True)
    axes.set_ylim(0, 100)
    axes.set_xlabel("us")
    axes.set_ylabel("links that are busy, %")
    axes.set_title(f"{_title(schedule)}: {share.mean():.0%} on average")
    return axes

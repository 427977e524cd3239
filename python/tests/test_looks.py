# SPDX-License-Identifier: MIT
"""Pictures and tables: that there is something in them, and that it is well-formed."""

import pathlib
import re
from xml.etree import ElementTree

import matplotlib
import pytest

import tacos

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures() -> object:
    yield
    pyplot.close("all")


def result(spec: str = "mesh:3x3", size: str = "1MiB") -> tacos.Result:
    return tacos.synthesize(spec, "all-reduce", size=size, effort=1)


@pytest.mark.parametrize("kind", ["timeline", "utilization"])
def test_schedules_are_drawn(kind: str) -> None:
    axes = result().schedule.plot(kind)
    assert "all-reduce on mesh:3x3" in axes.get_title()
    assert axes.collections or axes.patches
    axes.figure.canvas.draw()


def test_many_transfers_are_drawn_as_an_image() -> None:
    axes = result("torus:8x8", "64MiB").plot()
    assert axes.images or axes.collections
    axes.figure.canvas.draw()


def test_networks_are_drawn() -> None:
    for network in (tacos.Topology("dgx1"), tacos.Topology("switch:4").fail("link:0-4")):
        axes = network.plot()
        assert len(axes.patches) == network.num_links
        axes.figure.canvas.draw()


def test_comparisons_are_drawn() -> None:
    _, axes = pyplot.subplots()
    assert tacos.compare("ring:4", "all-gather", size="1MiB", effort=1).plot(ax=axes) is axes
    lines = tacos.compare("ring:4", "all-gather", sizes=["64KiB", "1MiB"], effort=1).plot()
    assert {"tacos", "bound"} <= {text.get_text() for text in lines.get_legend().get_texts()}


@pytest.mark.parametrize("shown", ["topology", "schedule", "result", "comparison"])
def test_notebooks_show_tables_and_pictures(shown: str) -> None:
    made = result()
    thing = {"topology": made.topology, "schedule": made.schedule, "result": made,
             "comparison": tacos.compare("ring:4", "all-gather", size="1MiB", effort=1)}[shown]
    html = thing._repr_html_()
    ElementTree.fromstring(f"<div>{html}</div>")
    assert "<table>" in html
    assert shown == "comparison" or re.search(r"<svg.*</svg>", html, re.S)


def test_names_from_outside_are_no_markup() -> None:
    network = tacos.Topology.from_links([(0, 1, 25, 1), (1, 0, 25, 1)], npus=2, name="<script>alert(1)</script>")
    assert "<script>" not in network._repr_html_()
    assert "<script>" not in tacos.synthesize(network, "all-gather", size="1KiB")._repr_html_()


def test_the_viewer_is_a_page() -> None:
    path = pathlib.Path(result().schedule.view(open_browser=False))
    try:
        assert "<html" in path.read_text(encoding="utf-8")[:2000]
    finally:
        path.unlink()

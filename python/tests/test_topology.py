# SPDX-License-Identifier: MIT
"""Networks from specs, arrays and graphs, and back."""

import networkx
import numpy as np
import pytest

import tacos


def test_spec_makes_a_network() -> None:
    mesh = tacos.Topology("mesh:4x4")
    assert (mesh.num_npus, mesh.num_switches, mesh.num_links) == (16, 0, 48)


def test_mistakes_are_told_in_the_words_of_the_command_line() -> None:
    with pytest.raises(tacos.InputError, match="did you mean 'mesh'"):
        tacos.Topology("mash:4x4")


def test_matrices_come_back() -> None:
    rng = np.random.default_rng(1)
    bandwidth = rng.integers(0, 3, (5, 5)) * 25.0
    np.fill_diagonal(bandwidth, 0)
    latency = np.where(bandwidth > 0, rng.integers(1, 4, (5, 5)) * 0.25, 0)
    rates, delays = tacos.Topology.from_matrices(bandwidth, latency).to_matrices()
    np.testing.assert_array_equal(rates, bandwidth)
    np.testing.assert_array_equal(delays, latency)


def test_graphs_come_back() -> None:
    box = tacos.Topology("dgx1")
    graph = box.to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph)
    again = tacos.Topology.from_networkx(graph)
    for mine, theirs in zip(box.to_matrices(), again.to_matrices()):
        np.testing.assert_array_equal(mine, theirs)

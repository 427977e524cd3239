# SPDX-License-Identifier: MIT
"""Schedules as arrays: right, shared, read-only, once."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacos


def listed(schedule: tacos.Schedule) -> list:
    """The columns as they are defined, transfer by transfer."""
    c = schedule.columns
    return [tacos.Transfer(int(c.start[i]), ("copy", "reduce")[c.op[i]],
                           tuple(c.links[int(c.link_offsets[i]):int(c.link_offsets[i + 1])].tolist()),
                           tuple(c.chunks[int(c.chunk_offsets[i]):int(c.chunk_offsets[i + 1])].tolist()))
            for i in range(len(c))]


@pytest.mark.parametrize("spec, collective", [("mesh:4x4", "all-reduce"), ("switch:6", "all-gather"),
                                              ("torus:4x4", "all-gather"), ("dgx2:1", "all-to-all"), ("ring:5", "gather")])
def test_columns_are_the_transfers(spec: str, collective: str) -> None:
    schedule = tacos.synthesize(spec, collective, size="1MiB", effort=1).schedule
    assert listed(schedule) == list(schedule)
    assert len(schedule) == len(schedule.columns)


def test_columns_are_made_once_and_share_memory() -> None:
    schedule = tacos.synthesize("mesh:4x4", "all-reduce", size="1MiB", effort=1).schedule
    columns = schedule.columns
    assert schedule.columns is columns
    for name in ("start", "op", "links", "chunks"):
        array = getattr(columns, name)
        assert not array.flags.owndata and array.flags.aligned and array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError):
            array.flags.writeable = True
    starts = columns.start
    before = starts.copy()
    del columns, schedule
    gc.collect()
    np.testing.assert_array_equal(starts, before)


def test_data_frame_has_a_row_for_each_transfer() -> None:
    schedule = tacos.synthesize("switch:4", "all-gather", size="1MiB", effort=1).schedule
    frame = schedule.to_dataframe()
    assert len(frame) == len(schedule)
    assert frame.end_us.max() == pytest.approx(schedule.time_us)
    assert (frame.dst < 4).all() and (frame.src < 4).all()


def test_utilization_is_that_of_the_simulator() -> None:
    for spec in ("mesh:3x3", "switch:4"):
        schedule = tacos.synthesize(spec, "all-gather", size="1MiB", effort=1).schedule
        assert schedule.utilization(7).mean() == pytest.approx(tacos.simulate(schedule).utilization, rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(npus=st.integers(2, 6), data=st.data(), collective=st.sampled_from(tacos.collective_names()))
def test_random_networks(npus: int, data: st.DataObject, collective: str) -> None:
    rate = st.sampled_from([0, 0, 12.5, 25, 50])
    bandwidth = np.array([[0 if i == j else data.draw(rate) for j in range(npus)] for i in range(npus)])
    topology = tacos.Topology.from_matrices(bandwidth, latency=0.7)
    try:
        made = tacos.synthesize(topology, collective, size=1 << 20, effort=1, threads=1)
    except tacos.InfeasibleError as error:
        src, dst = error.pair
        reached = np.linalg.matrix_power((bandwidth > 0) + np.eye(npus, dtype=bool), npus) > 0
        assert not reached[src, dst]
        return
    assert listed(made.schedule) == list(made.schedule)
    assert made.schedule.verify()
    assert made.bound.time_us <= made.time_us
    again = tacos.Topology.from_networkx(topology.to_networkx())
    assert tacos.synthesize(again, collective, size=1 << 20, effort=1).time_us == made.time_us


@pytest.mark.parametrize("spec, engine, chunks", [("mesh:32x32", "auto", None), ("switch:64", "ring", 256)])
def test_threads_do_not_change_columns(spec: str, engine: str, chunks: "int | None") -> None:
    """Of a million transfers, whose memory is taken by another thread; those through a switch have routes."""
    schedule = tacos.synthesize(spec, "all-gather", size="1GiB", effort=1, engine=engine, chunks=chunks).schedule
    assert len(schedule) > 1_000_000
    alone, together = (schedule._bundle.columns(threads) for threads in (1, 3))
    for name, column in alone.items():
        np.testing.assert_array_equal(together[name], column, err_msg=name)

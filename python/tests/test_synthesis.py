# SPDX-License-Identifier: MIT
"""What is synthesized, and what is said about it."""

import json
import pathlib

import numpy as np
import pytest
from program import said_by_program

import tacos


def test_in_short() -> None:
    t = tacos.Topology("mesh:4x4")
    r = tacos.synthesize(t, "all-reduce", size="64MiB")
    assert r.verified
    assert 0.8 < r.efficiency <= 1
    assert len(r.schedule) > 0


@pytest.mark.parametrize("options", [
    {"size": "64MiB"},
    {"size": "1MiB", "effort": 1, "link_model": "pipelined"},
    {"size": "1MiB", "chunks": 4, "engine": "matching", "seed": 7},
    {"size": "8MiB", "group": [0, 1, 2, 3, 4], "relay": False},
    {"size": "4MiB", "fail": ["link:0-1"]},
    {"size": "16KiB", "form": "gathered"},
])
def test_the_command_line_makes_the_same(options: dict) -> None:
    words = ["synth", "mesh:3x3", "all-reduce", "--json"]
    for name, value in options.items():
        if name == "relay":
            words += ["--no-relay"]
        elif name == "group":
            words += ["--group", ",".join(map(str, value))]
        elif name == "fail":
            words += [word for one in value for word in ("--fail", one)]
        else:
            words += ["--" + name.replace("_", "-"), str(value)]
    theirs = said_by_program(*words)
    ours = tacos.synthesize("mesh:3x3", "all-reduce", **options).to_dict()
    for key, value in ours.items():
        assert theirs[key] == pytest.approx(value), key


def test_threads_never_change_the_result() -> None:
    made = [tacos.synthesize("mesh:4x4", "all-gather", size="16MiB", threads=threads) for threads in (1, 4)]
    assert made[0].schedule.hash == made[1].schedule.hash
    assert made[0].schedule == made[1].schedule


def test_bound_is_that_of_the_result() -> None:
    r = tacos.synthesize("ring:6", "all-gather", size="6MiB")
    assert tacos.bound("ring:6", "all-gather", size="6MiB").time_us == pytest.approx(r.bound.time_us)


def test_custom_collectives_come_from_files_and_dicts(tmp_path: pathlib.Path) -> None:
    neighbours = {"name": "shift", "chunks": [{"bytes": 1000, "sources": [n], "destinations": [(n + 1) % 4]} for n in range(4)]}
    path = tmp_path / "shift.json"
    path.write_text(json.dumps(neighbours))
    by_file = tacos.synthesize("ring:4", path)
    by_dict = tacos.synthesize("ring:4", neighbours)
    assert by_file.schedule.hash == by_dict.schedule.hash
    assert by_dict.schedule.collective.kind == "custom"


def test_schedules_come_back_from_files(tmp_path: pathlib.Path) -> None:
    made = tacos.synthesize("mesh:3x3", "all-reduce", size="1MiB").schedule
    made.save(tmp_path / "made.tacos")
    read = tacos.Schedule.load(tmp_path / "made.tacos")
    assert read == made
    assert read.verify()
    for name in ("start", "op", "links", "chunks", "link_offsets", "chunk_offsets"):
        np.testing.assert_array_equal(getattr(read.columns, name), getattr(made.columns, name))
    made.save_trace(tmp_path / "trace.txt")
    assert len((tmp_path / "trace.txt").read_text().splitlines()) == made._bundle.num_moves


def test_compare_has_ours_first_and_says_who_is_left_out() -> None:
    c = tacos.compare("mesh:4x4", "all-reduce", size="64MiB", effort=1)
    assert c.rows[0].algorithm == "tacos"
    assert c.best_other is not None and c.best_other.speedup >= 1
    assert dict(c.left_out)["bruck"]
    assert all(row.schedule.verify() for row in c.rows[:3])
    with pytest.raises(KeyError, match="bruck"):
        c["bruck"]
    several = tacos.compare("ring:4", "all-gather", sizes=["64KiB", "1MiB"], effort=1)
    assert several.sizes == [65536, 1 << 20]
    assert len(several.to_dataframe()) == len(several)


def test_simulation_finds_the_critical_path() -> None:
    schedule = tacos.synthesize("mesh:3x3", "all-reduce", size="8MiB").schedule
    found = tacos.simulate(schedule, jitter=10, keep_schedule=True)
    assert 0.99 * schedule.time_us < found.time_us <= schedule.time_us
    assert found.critical_path[-1]["end_us"] == pytest.approx(found.time_us)
    assert found.schedule is not None and found.schedule.time_us == pytest.approx(found.time_us)
    assert (np.diff(found.jittered_us) >= 0).all() and len(found.jittered_us) == 32
    assert found.link_utilization().mean() == pytest.approx(found.utilization)
    assert tacos.simulate(schedule, size="16MiB").time_us > found.time_us


def test_repair_keeps_what_it_can() -> None:
    before = tacos.synthesize("mesh:4x4", "all-gather", size="16MiB")
    after = tacos.repair(before, fail=["link:5-6"], way="keep")
    assert after.verified and after.slowdown >= 1 and after.kept_transfers > 0
    whole = tacos.repair(after, restore=["link:5-6"])
    assert whole.topology == before.topology


def test_plan_serves_all_sizes(tmp_path: pathlib.Path) -> None:
    made = tacos.plan("ring:4", ["all-gather", "broadcast:2"], ("64KiB", 1 << 18), tmp_path / "plan", effort=1,
                      groups=[[0, 1, 2]])
    again = tacos.Plan.load(tmp_path / "plan")
    assert again.entries == made.entries
    entry = again.find("broadcast:2", "100KiB")
    assert entry.participants == [0, 1, 2]
    assert again.schedule(entry).verify()
    assert len(again.to_dataframe()) >= len(again)
    with pytest.raises(tacos.InputError, match="no all-reduce"):
        again.find("all-reduce", "64KiB")


def test_export_writes_what_others_read(tmp_path: pathlib.Path) -> None:
    schedule = tacos.synthesize("ring:4", "all-reduce", size="4MiB").schedule
    tacos.export(schedule, tmp_path / "ring.xml", "msccl")
    assert (tmp_path / "ring.xml").read_text() == schedule.to_text("msccl")
    with pytest.raises(tacos.InputError, match="did you mean 'msccl'"):
        schedule.to_text("mscl")

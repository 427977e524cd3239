# SPDX-License-Identifier: MIT
"""What failures cost, and what is left to do after one: the same as on the command line."""

import pathlib

import matplotlib
import pytest
from program import said_by_program

import tacos

matplotlib.use("Agg")


def made(collective: str = "all-gather") -> tacos.Result:
    return tacos.synthesize("mesh:4x4", collective, size="16MiB", effort=1)


@pytest.mark.parametrize("collective", ["all-gather", "all-reduce"])
@pytest.mark.parametrize("fail", ["link:5-6", "npu:6"])
def test_a_failure_while_it_runs(collective: str, fail: str, tmp_path: pathlib.Path) -> None:
    before = made(collective)
    before.schedule.save(tmp_path / "before.tacos")
    at = before.time_us / 2
    rest = tacos.repair(before, fail=[fail], at=f"{at:.3f}us")
    theirs = said_by_program("repair", tmp_path / "before.tacos", "--fail", fail, "--at", f"{at:.3f}us", "--json")
    for key, value in rest.to_dict().items():
        assert theirs[key] == pytest.approx(value), key
    assert rest.verified and rest.schedule.verify()
    assert rest.interruption is not None and rest.interruption.at_us == pytest.approx(at, abs=1e-3)
    assert rest.end_us > at and rest.interruption.begins_us <= at + 1e-3
    assert tacos.repair(before, fail=[fail], at=round(at, 3)).schedule == rest.schedule


def test_a_failure_after_the_end_is_none() -> None:
    before = made()
    with pytest.raises(tacos.InputError):
        tacos.repair(before, fail=["link:5-6"], at=2 * before.time_us)
    with pytest.raises(tacos.InputError, match="at goes with fail, not with restore"):
        tacos.repair(before, fail=["link:5-6"], restore=["link:5-6"], at=1)
    with pytest.raises(tacos.InputError, match="at goes with fail, not with plans"):
        tacos.repair(before, fail=["link:5-6"], plans="somewhere", at=1)


def test_answers_to_every_failure(tmp_path: pathlib.Path) -> None:
    answers = tacos.contingency("mesh:3x3", "all-reduce", tmp_path / "answers", size="9MiB", effort=1)
    theirs = said_by_program("contingency", "mesh:3x3", "all-reduce", "--size", "9MiB", "--effort", "1", "--tolerate", "1", "-o",
                             tmp_path / "theirs", "--json")
    ours = answers.to_dict()
    assert list(ours) == list(theirs) and ours["collective_time_us"] == pytest.approx(theirs["collective_time_us"])
    for mine, other in zip([ours["worst"], *ours["rows"]], [theirs["worst"], *theirs["rows"]]):
        assert (mine.pop("fail"), mine.pop("like")) == (other.pop("fail"), other.pop("like"))
        assert mine == pytest.approx(other)
    again = tacos.ContingencyPlan.load(tmp_path / "answers")
    assert again.rows == answers.rows and again.worst == answers.worst and not again.hopeless
    schedule = tacos.synthesize("mesh:3x3", "all-reduce", size="9MiB", effort=1)
    for row in answers.rows[::5]:
        repaired = tacos.repair(schedule, fail=[row.fail], plans=answers)
        assert repaired.time_us == pytest.approx(row.time_us) and repaired.schedule.verify()
    assert len(answers.to_dataframe()) == len(answers)
    assert len(answers.plot().patches) == len({row.like for row in answers.rows})
    with pytest.raises(KeyError):
        answers["link:0-8"]


def test_what_no_schedule_can_help(tmp_path: pathlib.Path) -> None:
    answers = tacos.contingency(tacos.Problem("mesh:3", "broadcast", size="1MiB"), tmp_path / "answers", effort=1)
    assert {row.fail for row in answers.hopeless} == {"link:0-1", "link:1-2", "npu:0", "npu:1"}
    assert answers["link:0-1"].slowdown is None
    answers.plot().figure.canvas.draw()


def test_how_bandwidth_falls() -> None:
    found = tacos.resilience("torus:4x4", "all-gather", size="16MiB", draws=3, seed=2)
    theirs = said_by_program("resilience", "torus:4x4", "all-gather", "--size", "16MiB", "--draws", "3", "--seed", "2", "--json")
    ours = found.to_dict()
    assert {name: ours[name] for name in ours if name != "rows"} == {name: theirs[name] for name in theirs if name != "rows"}
    for mine, other in zip(ours["rows"], theirs["rows"]):
        assert mine == pytest.approx(other)
    assert len(found.to_dataframe()) == len(found) == len(theirs["rows"])
    assert [line.get_label() for line in found.plot().lines] == ["bound", "mean", "worst"]


@pytest.mark.parametrize("call, words", [
    (lambda: tacos.contingency("ring:4", "all-gather"), "in which folder"),
    (lambda: tacos.contingency("ring:4", "all-gather", "x", tolerate=2), "tolerate"),
    (lambda: tacos.contingency("ring:4", None, "x"), "which collective"),
    (lambda: tacos.ContingencyPlan("nowhere"), "nowhere"),
    (lambda: tacos.resilience("ring:4", "all-gather", draws=0), "draws"),
    (lambda: tacos.resilience("ring:4", "all-gather", link_model="held"), "hold"),
    (lambda: tacos.repair(made(), fail=["link:5-6"], at="soon"), "soon"),
])
def test_mistakes(call: object, words: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tacos.InputError, match=words):
        call()

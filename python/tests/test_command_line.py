# SPDX-License-Identifier: MIT
"""Whatever the program can be told, Python can be told as well."""

import inspect
import pathlib
import re
from typing import Any, Callable, Dict, List, Set

import pytest
from program import run_program, said_by_program

import tacos

#: What is about words on a terminal, or files, for which Python has return values and methods.
ELSEWHERE = {"help", "json", "output", "trace", "plot", "version"}
#: What another object is told.
OF_NETWORKS = {"from", "latency"}
RENAMED = {"no-relay": "relay", "nic-bw": "nic_bw"}
#: By command: those who do it, and what is called otherwise there.
COMMANDS: Dict[str, Any] = {
    "synth": ([tacos.synthesize, tacos.Topology], {"from": "format"}),
    "bound": ([tacos.bound, tacos.Topology], {"from": "format"}),
    "verify": ([tacos.verify], {}),
    "simulate": ([tacos.simulate], {}),
    "compare": ([tacos.compare, tacos.Topology], {"from": "format"}),
    "explain": ([tacos.explain], {}),
    "export": ([tacos.export], {}),
    "plan": ([tacos.plan, tacos.Topology], {"from": "format", "group": "groups"}),
    "repair": ([tacos.repair], {}),
    "contingency": ([tacos.contingency, tacos.Topology], {"from": "format"}),
    "resilience": ([tacos.resilience, tacos.Topology], {"from": "format"}),
    "view": ([tacos.view], {}),
    "draw": ([tacos.Schedule.to_svg, tacos.Topology.fail, tacos.Topology], {"from": "format", "fail": "failures"}),
    "topology cluster": ([tacos.Topology.cluster, tacos.Topology.fail, tacos.Topology],
                         {"from": "format", "fail": "failures"}),
    "topology convert": ([tacos.Topology, tacos.Topology.fail], {"from": "format", "fail": "failures"}),
    "topology show": ([tacos.Topology, tacos.Topology.fail], {"from": "format", "fail": "failures"}),
    "topology list": ([tacos.topology_kinds], {}),
}


def options_of(command: str) -> Set[str]:
    return set(re.findall(r"^\s+(?:-\w,)?--([a-z-]+)", run_program(*command.split(), "--help"), re.M)) - ELSEWHERE


def keywords(functions: List[Callable[..., Any]]) -> Set[str]:
    found: Set[str] = set()
    for function in functions:
        try:
            found |= set(inspect.signature(function).parameters)
        except ValueError:
            pass
    return found


def commands_of(*words: str) -> List[str]:
    """All commands that the program lists."""
    listed = re.search(r"^(?:Subcommands|Commands):\n(.*?)(?:\n\n|\Z)", run_program(*words, "--help"), re.M | re.S)
    assert listed is not None
    return re.findall(r"^  ([a-z]+)", listed.group(1), re.M)


def test_every_command_has_a_counterpart() -> None:
    listed = {name for name in commands_of() if name != "topology"}
    listed |= {f"topology {name}" for name in commands_of("topology")}
    assert listed - set(COMMANDS) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_a_keyword(command: str) -> None:
    functions, renamed = COMMANDS[command]
    known = keywords(functions)
    names = {option: {**RENAMED, **renamed}.get(option, option).replace("-", "_") for option in options_of(command)}
    assert {option for option, name in names.items() if name not in known} == set()


def result() -> tacos.Result:
    return tacos.synthesize("mesh:3x3", "all-reduce", size="1MiB", effort=1)


def test_pictures_are_the_same(tmp_path: pathlib.Path) -> None:
    made = result().schedule
    made.save(tmp_path / "made.tacos")
    for words, mine in ((["--timeline"], made.to_svg(timeline=True)), ([], made.to_svg())):
        run_program("draw", tmp_path / "made.tacos", *words, "-o", tmp_path / "made.svg")
        assert (tmp_path / "made.svg").read_text() == mine
    run_program("draw", "mesh:3x3", "--fail", "link:0-1", "-o", tmp_path / "network.svg")
    assert (tmp_path / "network.svg").read_text() == tacos.Topology("mesh:3x3").fail("link:0-1").to_svg()


def test_pages_are_the_same(tmp_path: pathlib.Path) -> None:
    made, other = result().schedule, tacos.synthesize("mesh:3x3", "all-reduce", size="1MiB", engine="rs-ag").schedule
    made.save(tmp_path / "made.tacos")
    other.save(tmp_path / "other.tacos")
    run_program("view", tmp_path / "made.tacos", tmp_path / "other.tacos", "-o", tmp_path / "theirs.html")
    path = tacos.view(made, tmp_path / "other.tacos", path=tmp_path / "mine.html", open_browser=False)
    assert pathlib.Path(path) == tmp_path / "mine.html"
    assert (tmp_path / "mine.html").read_text() == (tmp_path / "theirs.html").read_text()


def test_explanations_are_the_same(tmp_path: pathlib.Path) -> None:
    made = result().schedule
    made.save(tmp_path / "made.tacos")
    theirs = said_by_program("explain", tmp_path / "made.tacos", "--json")
    why = tacos.explain(made)
    assert why.efficiency == pytest.approx(theirs["efficiency"])
    assert {f"{part}_us": gap for part, gap in why.gap_us.items()} == pytest.approx(theirs["gap"])
    assert (why.limiting_links, why.unused_limiting_links) == (theirs["limiting_links"], theirs["unused_limiting_links"])
    assert [one.what for one in why.faster_links + why.other_problems] == \
        [one["what"] for one in theirs["faster_links"] + theirs["other_problems"]]
    assert why.bound.bandwidth.because == theirs["limit"] and theirs["limit"] in str(why)


def test_sizes_may_be_a_range(tmp_path: pathlib.Path) -> None:
    found = tacos.compare("ring:4", "all-gather", sizes="1KiB..20KiB", effort=1)
    theirs = said_by_program("compare", "ring:4", "all-gather", "--sizes", "1KiB..20KiB", "--json")
    assert found.sizes == sorted({row["size_bytes"] for row in theirs["rows"]})
    with pytest.raises(tacos.InputError, match="is more than"):
        tacos.compare("ring:4", "all-gather", sizes="1MiB..1KiB")


def test_credits_are_for_those_who_can_say_them(tmp_path: pathlib.Path) -> None:
    made = result().schedule
    assert made.to_text("mscclpp", credits=True)
    with pytest.raises(tacos.InputError, match="leave credits out"):
        made.to_text("msccl", credits=True)
    with pytest.raises(tacos.InputError, match="leave credits out"):
        tacos.plan("ring:4", "all-gather", "1KiB..2KiB", tmp_path / "plan", format="msccl", credits=True, effort=1)


def test_files_do_where_schedules_do(tmp_path: pathlib.Path) -> None:
    made = result()
    made.schedule.save(tmp_path / "made.tacos")
    for some in (made, made.schedule, tmp_path / "made.tacos", str(tmp_path / "made.tacos")):
        assert tacos.verify(some) and tacos.simulate(some).time_us <= made.time_us
    with pytest.raises(tacos.InputError, match="no schedule"):
        tacos.verify(5)


@pytest.mark.parametrize("problem", [("mesh:3x3", "all-reduce"), ("ring:4", "all-gather"), ("mesh:3x3", "all-to-all")])
def test_certificates_are_the_same(problem: Any) -> None:
    theirs = said_by_program("bound", *problem, "--size", "1MiB", "--json")["bandwidth_certificate"]
    limit = tacos.bound(*problem, size="1MiB").bandwidth
    for name in ("receivers", "parts", "lengths"):
        if name in theirs:
            assert getattr(limit, name) == theirs[name]
    assert {"receivers", "parts", "lengths"} & set(theirs)

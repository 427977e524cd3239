# SPDX-License-Identifier: MIT
"""What nobody should do, and somebody will: wrong types and shapes, odd names, forks, threads, copies."""

import copy
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import warnings
from typing import Any, Callable, Dict

import networkx
import numpy as np
import pytest

import tacos


def ring() -> tacos.Schedule:
    return tacos.synthesize("ring:4", "all-gather", size="1MiB", effort=1).schedule


def graph(**attributes: Any) -> networkx.Graph:
    return networkx.Graph([(0, 1, attributes)])


WRONG: Dict[str, Callable[[], Any]] = {
    "a number as a network": lambda: tacos.Topology(5),
    "nothing as a network": lambda: tacos.synthesize(None, "all-gather"),
    "bytes that are no name": lambda: tacos.Topology("ring:4\0"),
    "a number as a collective": lambda: tacos.synthesize("ring:4", 5),
    "a set in a collective": lambda: tacos.synthesize("ring:4", {"chunks": {1}}),
    "a collective without end": lambda: tacos.synthesize("ring:4", endless()),
    "an engine that is a number": lambda: tacos.synthesize("ring:4", "all-gather", engine=5),
    "a form that is a number": lambda: tacos.synthesize("ring:4", "all-gather", form=5),
    "a link model that is a number": lambda: tacos.bound("ring:4", "all-gather", link_model=5),
    "an effort between two": lambda: tacos.synthesize("ring:4", "all-gather", effort=1.5),
    "an effort that is true": lambda: tacos.synthesize("ring:4", "all-gather", effort=True),
    "threads between two": lambda: tacos.synthesize("ring:4", "all-gather", threads=1.5),
    "a group of texts": lambda: tacos.synthesize("ring:4", "all-gather", group=["a"]),
    "a group between two": lambda: tacos.synthesize("ring:4", "all-gather", group=[0, 1.5]),
    "a group that is a number": lambda: tacos.synthesize("ring:4", "all-gather", group=3),
    "a negative group": lambda: tacos.synthesize("ring:4", "all-gather", group=[-1]),
    "a failure that is a number": lambda: tacos.synthesize("ring:4", "all-gather", fail=[5]),
    "failures that are a number": lambda: tacos.synthesize("ring:4", "all-gather", fail=5),
    "a text that cannot be written": lambda: tacos.synthesize("ring:4", "all-gather", engine="\ud800"),
    "a size that is not a number": lambda: tacos.synthesize("ring:4", "all-gather", size=float("nan")),
    "a size of more than there is": lambda: tacos.synthesize("ring:4", "all-gather", size=2**70),
    "a size in texts of more": lambda: tacos.synthesize("ring:4", "all-gather", size="99999999999TiB"),
    "a negative size": lambda: tacos.synthesize("ring:4", "all-gather", size=-1),
    "chunks of more than there is": lambda: tacos.synthesize("ring:4", "all-gather", chunks=2**62),
    "a network of more than there is": lambda: tacos.Topology("mesh:4000000000x4000000000"),
    "jitter that is not a number": lambda: tacos.simulate(ring(), jitter=float("nan")),
    "jitter that is a text": lambda: tacos.simulate(ring(), jitter="5"),
    "bins between two": lambda: ring().utilization(2.5),
    "a time that is not a number": lambda: tacos.repair(ring(), fail=["link:0-1"], at=float("nan")),
    "a negative time": lambda: tacos.repair(ring(), fail=["link:0-1"], at=-1),
    "a plan of numbers": lambda: tacos.plan("ring:4", [1], "1KiB..2KiB", "x"),
    "sizes that are a number": lambda: tacos.plan("ring:4", "all-gather", 5, "x"),
    "a file that is a number": lambda: ring().save(5),
    "a folder that is a number": lambda: tacos.Plan(5),
    "a format that is a number": lambda: ring().to_text(5),
    "no links": lambda: tacos.Topology.from_links([5], npus=2),
    "an end between two": lambda: tacos.Topology.from_links([(0, 1.5, 25, 1)], npus=2),
    "a bandwidth that is not a number": lambda: tacos.Topology.from_links([(0, 1, float("nan"), 1)], npus=2),
    "a bandwidth without end": lambda: tacos.Topology.from_links([(0, 1, float("inf"), 1)], npus=2),
    "a bandwidth of more than there is": lambda: tacos.Topology.from_links([(0, 1, 1e300, 1)], npus=2),
    "a latency of more than there is": lambda: tacos.Topology.from_links([(0, 1, 25, 1e300)], npus=2),
    "a negative latency": lambda: tacos.Topology.from_links([(0, 1, 25, -1)], npus=2),
    "NPUs of more than there is": lambda: tacos.Topology.from_links([], npus=2**40),
    "no NPUs": lambda: tacos.Topology.from_links([], npus=0),
    "NPUs in words": lambda: tacos.Topology.from_links([], npus="two"),
    "too few names": lambda: tacos.Topology.from_links([(0, 1, 25, 1)], npus=2, names=["a"]),
    "an empty matrix": lambda: tacos.Topology.from_matrices(np.zeros((0, 0))),
    "a vector": lambda: tacos.Topology.from_matrices(np.ones(3)),
    "a cube": lambda: tacos.Topology.from_matrices(np.ones((2, 2, 2))),
    "a ragged matrix": lambda: tacos.Topology.from_matrices([[0, 1], [1]]),
    "a complex matrix": lambda: tacos.Topology.from_matrices(np.array([[0, 1j], [1, 0]])),
    "a matrix of dates": lambda: tacos.Topology.from_matrices(np.zeros((2, 2), dtype="datetime64[s]")),
    "latencies that are not numbers": lambda: tacos.Topology.from_matrices([[0, 1], [1, 0]], [[0, np.nan], [1, 0]]),
    "latencies without end": lambda: tacos.Topology.from_matrices([[0, 1], [1, 0]], np.inf),
    "latencies of more than there is": lambda: tacos.Topology.from_matrices([[0, 1], [1, 0]], 1e18),
    "a bandwidth of nearly nothing": lambda: tacos.Topology.from_matrices([[0, 1e-12], [1, 0]]),
    "switches between two": lambda: tacos.Topology.from_matrices([[0, 1], [1, 0]], switches=0.5),
    "edges with a bandwidth that is not a number": lambda: tacos.Topology.from_networkx(graph(bandwidth=float("nan"))),
    "edges with a bandwidth that is a list": lambda: tacos.Topology.from_networkx(graph(bandwidth=[1])),
    "edges with a bandwidth that is an object": lambda: tacos.Topology.from_networkx(graph(bandwidth=object())),
    "edges with a negative bandwidth": lambda: tacos.Topology.from_networkx(graph(bandwidth_Bps=-5)),
    "no nodes": lambda: tacos.Topology.from_networkx(networkx.Graph()),
    "boxes in words": lambda: tacos.Topology("a100:1").cluster("two", "switch"),
    "a failure that is nothing": lambda: tacos.Topology("ring:4").fail(None),
}


def endless() -> Dict[str, Any]:
    one: Dict[str, Any] = {}
    one["chunks"] = one
    return one


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_input_errors(what: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(tacos.InputError) as caught:
            WRONG[what]()
    assert "incompatible" not in str(caught.value) and "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


class Odd:
    """What is nothing that anybody wants."""

    def __index__(self) -> int:
        raise ValueError("no")


ODD = [None, 5, -1, 1.5, float("nan"), 10**400, "", "\udcff", "\0", b"\xff", [], [None], {"a": 1}, Odd(), np.arange(2),
       np.array(3.5), True, lambda *_: None]


@pytest.mark.parametrize("name", ["synthesize", "bound", "simulate", "repair", "verify", "resilience", "export", "view",
                                  "Topology", "parse", "from_links", "from_matrices", "cluster", "Problem", "plan",
                                  "contingency"])
def test_no_argument_breaks_anything(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every argument of a call, one after the other, with all that is odd: it works, or an exception of the family says why
    not, in words that can be printed."""
    monkeypatch.chdir(tmp_path)
    small = {"topology": "ring:4", "collective": "all-gather", "size": "1KiB"}
    function, good = {
        "synthesize": (tacos.synthesize, {**small, "effort": 1}), "bound": (tacos.bound, small),
        "simulate": (tacos.simulate, {"schedule": ring()}), "repair": (tacos.repair, {"schedule": ring(), "fail": ["link:0-1"]}),
        "verify": (tacos.verify, {"schedule": ring()}), "resilience": (tacos.resilience, {**small, "draws": 1}),
        "export": (tacos.export, {"schedule": ring(), "path": "exported", "format": "dot"}),
        "view": (tacos.view, {"schedule": ring(), "path": "page.html", "open_browser": False}),
        "Topology": (tacos.Topology, {"spec": "ring:4"}),
        "parse": (tacos.Topology.parse, {"text": tacos.Topology("ring:4").to_json()}),
        "from_links": (tacos.Topology.from_links, {"links": [(0, 1, 25, 1), (1, 0, 25, 1)], "npus": 2}),
        "from_matrices": (tacos.Topology.from_matrices, {"bandwidth": [[0, 1], [1, 0]]}),
        "cluster": (tacos.Topology("a100:1").cluster, {"boxes": 2, "fabric": "switch", "nics": 4, "nic_bw": "200Gbps"}),
        "Problem": (tacos.Problem, small),
        "plan": (tacos.plan, {"topology": "ring:4", "collectives": "all-gather", "sizes": "1KiB..2KiB", "folder": "plan",
                              "effort": 1}),
        "contingency": (tacos.contingency, {**small, "folder": "answers", "effort": 1}),
    }[name]
    for parameter in inspect.signature(function).parameters:
        # Which opens a browser.
        for odd in ODD if parameter != "open_browser" else [np.arange(2)]:
            try:
                function(**{**good, parameter: odd})
            except tacos.Error as error:
                assert "incompatible function arguments" not in str(error)
                str(error).encode()


def test_attributes_that_are_missing_are_assumed_aloud() -> None:
    with pytest.warns(UserWarning):
        assert tacos.Topology.from_networkx(graph()).num_links == 2


def test_numbers_of_numpy_are_numbers() -> None:
    made = tacos.synthesize("ring:4", "all-gather", size=np.int64(1 << 20), effort=np.int8(1), seed=np.uint64(3),
                            group=np.arange(4), threads=np.int32(1))
    assert made.schedule.seed == 3
    links = np.array([[0, 1, 25.0, 1.0], [1, 0, 25.0, 1.0]])
    with pytest.raises(tacos.InputError, match="whole number"):
        tacos.Topology.from_links(links, npus=2)


@pytest.mark.parametrize("name", [b"caf\xe9", "mit Leerzeichen und Umlaut \u00e4".encode(), b"new\nline"])
def test_names_of_files_are_bytes(name: bytes, tmp_path: pathlib.Path) -> None:
    path = pathlib.Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
    schedule = ring()
    schedule.save(path.with_suffix(".tacos"))
    assert tacos.Schedule.load(path.with_suffix(".tacos")) == schedule
    schedule.topology.save(path.with_suffix(".json"))
    network = tacos.Topology(path.with_suffix(".json"))
    for text in (network.name, repr(network), network._repr_html_(), repr(tacos.synthesize(network, "all-gather"))):
        text.encode()
    assert pickle.loads(pickle.dumps(network)) == network
    assert len(tacos.plan(network, "all-gather", "1KiB..2KiB", path.with_suffix(".plan"), effort=1)) > 0
    with pytest.raises(tacos.InputError) as caught:
        tacos.Topology(path.with_suffix(".missing"))
    str(caught.value).encode()


def things() -> Dict[str, Any]:
    result = tacos.synthesize("mesh:3x3", "all-reduce", size="1MiB", effort=1)
    failed = tacos.Topology("mesh:3x3").fail("npu:4")
    return {
        "topology": tacos.Topology("dgx2:1"), "failed topology": failed, "result": result, "schedule": result.schedule,
        "columns": result.schedule.columns, "links": result.topology.links, "collective": result.schedule.collective,
        "bound": result.bound, "report": result.schedule.verify(),
        "problem": tacos.Problem(failed, "broadcast:2", size="2MiB", group=[0, 1, 2]),
        "comparison": tacos.compare("ring:4", "all-gather", size="1MiB", effort=1),
        "simulation": tacos.simulate(result, jitter=5, keep_schedule=True),
        "repair": tacos.repair(result, fail=["link:0-1"], at="5us"),
        "resilience": tacos.resilience("ring:4", "all-gather", size="1MiB", draws=1),
        "explanation": tacos.explain(result), "transfer": next(iter(result.schedule)),
    }


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy"])
def test_everything_can_be_copied(way: str) -> None:
    copied = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "copy": copy.copy, "deepcopy": copy.deepcopy}[way]
    for name, thing in things().items():
        again = copied(thing)
        assert type(again) is type(thing), name
        # Columns and links are known by what is in them.
        if "object at 0x" not in repr(thing):
            assert repr(again) == repr(thing), name
        if isinstance(thing, (tacos.Topology, tacos.Schedule)):
            assert again == thing and hash(again) == hash(thing)
    failed = copied(tacos.Topology("mesh:3x3").fail("npu:4"))
    assert failed.failed_npus == [4]
    assert tacos.synthesize(failed, "all-gather", size="1MiB", effort=1).verified


def test_a_schedule_that_came_by_post_can_be_used() -> None:
    sent = tacos.synthesize("mesh:4x4", "all-gather", size="16MiB", effort=1).schedule
    got = pickle.loads(pickle.dumps(sent))
    assert list(got) == list(sent) and got.verify()
    np.testing.assert_array_equal(got.columns.start, sent.columns.start)
    kept = tacos.repair(got, fail=["link:0-1"])
    walk = iter(got)
    del got
    assert kept.schedule.verify() and len(list(walk)) == len(sent)


def test_everything_says_what_it_is() -> None:
    for name, thing in things().items():
        text = repr(thing)
        assert text and "\n" not in text, name
    for name in tacos.__all__:
        thing = getattr(tacos, name)
        if inspect.isclass(thing) and "__repr__" not in vars(thing) and not issubclass(thing, (tuple, Exception)):
            assert issubclass(thing, (tacos.Result, tacos.Columns, tacos.Links)), name


def test_forks_go_on() -> None:
    """After calls that used threads, which a fork does not have."""
    code = """
import os, sys, tacos
before = tacos.synthesize("torus:8x8", "all-reduce", size="64MiB").schedule.hash
child = os.fork()
if child == 0:
    same = tacos.synthesize("torus:8x8", "all-reduce", size="64MiB").schedule.hash == before
    os._exit(7 if same else 8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "7\n"


def test_threads_share_what_does_not_change() -> None:
    result = tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB", effort=1)
    schedule = tacos.Schedule._of(result.schedule._bundle, verified=False)
    found, errors = [], []

    def work() -> None:
        try:
            found.append((len(schedule.columns), bool(schedule.verify()), tacos.simulate(schedule).time_us,
                          tacos.synthesize(schedule.topology, "all-reduce", size="64MiB", effort=1).schedule.hash))
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(set(found)) == 1 and found[0][3] == result.schedule.hash


def test_a_listener_that_is_no_function_is_told() -> None:
    with pytest.raises((tacos.InputError, TypeError)):
        tacos.synthesize("ring:4", "all-gather", progress="yes")

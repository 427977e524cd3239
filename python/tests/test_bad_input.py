# SPDX-License-Identifier: MIT
"""Whatever is wrong is told in one sentence, by an exception of the family."""

import pathlib
import struct
import zlib

import networkx
import numpy as np
import pytest

import tacos

WRONG = {
    "unknown topology": (lambda: tacos.Topology("mash:4x4"), "did you mean 'mesh'"),
    "missing file": (lambda: tacos.Topology("missing.json"), "missing.json"),
    "collective": (lambda: tacos.synthesize("ring:4", "all-redcue"), "did you mean 'all-reduce'"),
    "no collective": (lambda: tacos.synthesize("ring:4"), "say which collective"),
    "size": (lambda: tacos.synthesize("ring:4", "all-gather", size="64Mib"), "64Mib"),
    "size of a kind": (lambda: tacos.synthesize("ring:4", "all-gather", size=1.5), "whole number of bytes"),
    "size zero": (lambda: tacos.synthesize("ring:4", "all-gather", size=0), "0"),
    "engine": (lambda: tacos.synthesize("ring:4", "all-gather", engine="matchng"), "did you mean 'matching'"),
    "form": (lambda: tacos.synthesize("ring:4", "all-reduce", form="gatherd"), "did you mean 'gathered'"),
    "link model": (lambda: tacos.synthesize("ring:4", "all-gather", link_model="held"), "hold"),
    "effort": (lambda: tacos.synthesize("ring:4", "all-gather", effort=10), "from 1 to 9"),
    "threads": (lambda: tacos.synthesize("ring:4", "all-gather", threads=0), "from 1 to 4096"),
    "chunks": (lambda: tacos.synthesize("ring:4", "all-gather", chunks=0), "chunks"),
    "seed": (lambda: tacos.synthesize("ring:4", "all-gather", seed=-1), "seed"),
    "group": (lambda: tacos.synthesize("ring:4", "all-gather", group=[0, 9]), "9"),
    "group twice": (lambda: tacos.synthesize("ring:4", "all-gather", group="0,0"), "twice"),
    "root": (lambda: tacos.synthesize("ring:4", "broadcast:7"), "root 7 does not exist"),
    "failure": (lambda: tacos.synthesize("ring:4", "all-gather", fail=["link:0-2"]), "0-2"),
    "failed root": (lambda: tacos.synthesize("ring:4", "broadcast:1", fail=["npu:1"]), "root 1 has failed"),
    "failed member": (lambda: tacos.synthesize("ring:4", "all-gather", fail=["npu:1"], group="0,1"), "has failed"),
    "two sizes": (lambda: tacos.compare("ring:4", "all-gather", size=1, sizes=[1]), "leave one of them out"),
    "no sizes": (lambda: tacos.compare("ring:4", "all-gather", sizes=[]), "none"),
    "problem and more": (lambda: tacos.bound(tacos.Problem("ring:4", "all-gather"), size="1MiB"), "leave out size"),
    "range": (lambda: tacos.plan("ring:4", "all-gather", "1MiB", "x"), "no range of sizes"),
    "range backwards": (lambda: tacos.plan("ring:4", "all-gather", "1MiB..1KiB", "x"), "is more than"),
    "twice": (lambda: tacos.plan("ring:4", "all-gather,all-gather", "1KiB..1MiB", "x"), "twice"),
    "no plan": (lambda: tacos.Plan("nowhere"), "nowhere"),
    "no schedule": (lambda: tacos.Schedule("nowhere.tacos"), "nowhere.tacos"),
    "nothing happened": (lambda: tacos.repair(ring()), "say what has happened"),
    "way": (lambda: tacos.repair(ring(), fail=["link:0-1"], way="bset"), "did you mean 'best'"),
    "slow": (lambda: tacos.simulate(ring(), slow=["0-2=0.5"]), "0-2"),
    "jitter": (lambda: tacos.simulate(ring(), jitter=-1), "percent"),
    "format": (lambda: ring().to_text("mscl"), "did you mean 'msccl'"),
    "protocol": (lambda: ring().to_text("msccl", protocol="LL64"), "LL128"),
    "plot": (lambda: ring().plot("pie"), "known are timeline, utilization"),
    "standard output": (lambda: ring().save("-"), "standard output"),
    "not square": (lambda: tacos.Topology.from_matrices(np.ones((2, 3))), "square, not of shape (2, 3)"),
    "diagonal": (lambda: tacos.Topology.from_matrices(np.ones((2, 2))), "diagonal"),
    "negative": (lambda: tacos.Topology.from_matrices([[0, -1], [1, 0]]), "not negative"),
    "not finite": (lambda: tacos.Topology.from_matrices([[0, np.nan], [1, 0]]), "not negative"),
    "texts": (lambda: tacos.Topology.from_matrices([["a", "b"], ["c", "d"]]), "numbers"),
    "latencies": (lambda: tacos.Topology.from_matrices(np.eye(3)[::-1] - np.eye(3)[1] * 0, np.ones(2)), "shape"),
    "all switches": (lambda: tacos.Topology.from_matrices([[0, 1], [1, 0]], switches=2), "at least one NPU"),
    "link": (lambda: tacos.Topology.from_links([(0, 1, 25)], npus=2), "src, dst, bandwidth, latency"),
    "end": (lambda: tacos.Topology.from_links([(0, 7, 25, 1)], npus=2), "7"),
    "no graph": (lambda: tacos.Topology.from_networkx([(0, 1)]), "graph of networkx, not list"),
    "edge": (lambda: tacos.Topology.from_networkx(networkx.Graph([(0, 1, {"bandwidth": "fast"})])), "fast"),
}


def ring() -> tacos.Schedule:
    return tacos.synthesize("ring:4", "all-gather", size="1MiB", effort=1).schedule


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("what", WRONG)
def test_mistake(what: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, words = WRONG[what]
    with pytest.raises(tacos.InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "--" not in str(caught.value) and "\n" not in str(caught.value)
    assert isinstance(caught.value, tacos.Error) and isinstance(caught.value, ValueError)


def test_infeasible_says_which_pair() -> None:
    for call in (lambda: tacos.synthesize("ring:4", "all-gather", fail=["link:0-1", "link:2-3"]),
                 lambda: tacos.bound("ring:4", "all-gather", fail=["link:0-1", "link:2-3"]),
                 lambda: tacos.compare("ring:4", "all-gather", fail=["link:0-1", "link:2-3"]),
                 lambda: tacos.repair(ring(), fail=["link:0-1", "link:2-3"])):
        with pytest.raises(tacos.InfeasibleError, match="cannot reach") as caught:
            call()
        assert caught.value.pair == (0, 1)


def wrong(path: pathlib.Path) -> tacos.Schedule:
    """A file that is whole but whose links are slower than its schedule believes."""
    ring().save(path)
    data = path.read_bytes()
    out, at = bytearray(data[:8]), 8
    while at < len(data):
        tag, _, length = data[at:at + 4], *struct.unpack_from("<IQ", data, at + 4)
        payload = data[at + 16:at + 16 + length]
        at += 16 + length
        if tag == b"TOPO":
            payload = payload.replace(b'"latency_ps": 500000', b'"latency_ps": 900000')
        out += tag + struct.pack("<IQ", zlib.crc32(payload), len(payload)) + payload
    path.write_bytes(out)
    return tacos.Schedule.load(path)


def test_a_wrong_schedule_is_not_simulated_or_exported(tmp_path: pathlib.Path) -> None:
    schedule = wrong(tmp_path / "wrong.tacos")
    report = schedule.verify()
    assert not report and report.num_violations > 0 and "busy" in report.violations[0]
    for call in (lambda: tacos.simulate(schedule), lambda: schedule.to_text("msccl"),
                 lambda: tacos.export(schedule, tmp_path / "x", "dot")):
        with pytest.raises(tacos.VerificationError, match="not a correct all-gather") as caught:
            call()
        assert caught.value.violations == report.violations


def test_what_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(tacos.MissingError, match="python3-pandas"):
        ring().to_dataframe()

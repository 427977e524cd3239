# SPDX-License-Identifier: MIT
"""The backend of torch.distributed, on ranks of this machine."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

# Not just torch: this folder has its name.
pytest.importorskip("torch.distributed")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import tacos.torch  # noqa: E402

pytestmark = pytest.mark.skipif(not tacos.torch.native(), reason="the extension tacos._c10d is not built")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import soak  # noqa: E402
from ranks import Failed, raised, run_ranks, start  # noqa: E402

TRANSPORTS = pytest.mark.parametrize("transport", ["shm", "tcp"])


def test_random_collectives_are_those_of_the_oracle():
    differences, counted = soak.soak(48, 2304, [2, 4])
    assert differences == []
    assert any("by schedule" in what for what in counted)


def _killed(rank, size):
    start(rank, size)
    tensor = torch.ones(1000)
    dist.all_reduce(tensor)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return raised(lambda: [dist.all_reduce(tensor) for _ in range(1000)]), raised(dist.broadcast, tensor, 0)


@TRANSPORTS
def test_a_killed_rank_is_an_exception_at_the_others(transport):
    answers = run_ranks(_killed, 3, environment={"TACOS_TRANSPORT": transport}, silent=(1,))
    for rank in (0, 2):
        words, again = answers[rank]
        assert "rank 1" in words and again


def _killed_while_loading(rank, size):
    start(rank, size)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return raised(dist.all_reduce, torch.ones(10))


def test_a_rank_killed_before_its_first_collective_is_an_exception():
    answers = run_ranks(_killed_while_loading, 3, silent=(1,))
    for rank in (0, 2):
        assert "rank 1" in answers[rank], answers


def _mismatch(rank, size, what):
    start(rank, size)
    odd = rank == 1
    tensor = torch.ones(20 if odd and what == "size" else 10,
                        dtype=torch.float64 if odd and what == "type" else torch.float32)
    if what == "order" and odd:
        return raised(dist.broadcast, tensor, 0)
    if what == "contiguous" and odd:
        return raised(dist.all_reduce, torch.ones(4, 4).t()[1:])
    if what == "later":
        dist.all_reduce(torch.ones(10))
    return raised(dist.all_reduce, tensor if what != "later" or not odd else torch.ones(20))


@pytest.mark.parametrize("what, words", [
    ("size", "allreduce of 20 x Float"), ("type", "allreduce of 10 x Double"), ("order", "broadcast of 10 x Float"),
    ("contiguous", "call contiguous()"), ("later", "allreduce of 20 x Float")])
def test_calls_that_do_not_fit_are_exceptions_everywhere(what, words):
    answers = run_ranks(_mismatch, 3, what)
    assert all(words in answer for answer in answers), answers


def _locally_wrong(rank, size):
    """What all ranks get wrong alike is refused, and the group goes on."""
    start(rank, size)
    said = [
        raised(dist.all_reduce, torch.ones(4, 4).t()[1:]),
        raised(dist.all_reduce, torch.ones(4).to_sparse()),
        raised(dist.all_gather, [torch.ones(3) for _ in range(size)], torch.ones(4)),
        raised(dist.all_gather_into_tensor, torch.ones(4), torch.ones(4)),
        raised(dist.reduce_scatter_tensor, torch.ones(4), torch.ones(4)),
        raised(dist.all_to_all_single, torch.ones(size + 1), torch.ones(size + 1)),
        raised(dist.all_reduce, torch.ones(4), op=dist.ReduceOp.BAND),
        raised(dist.broadcast, torch.ones(1), size + 3),
    ]
    tensor = torch.ones(5)
    dist.all_reduce(tensor)
    return said, tensor.tolist()


def test_what_cannot_be_done_says_what_to_do():
    for said, result in run_ranks(_locally_wrong, 2):
        words = ["contiguous", "", "all must be alike", "must have 8", "must have 8", "rows cannot be dealt out",
                 "another type or operation", ""]
        assert all(said)
        assert all(word in one for word, one in zip(words, said)), said
        assert result == [2.0] * 5


def _started(rank, size):
    return raised(start, rank, size)


@pytest.mark.parametrize("environment, words", [
    ({"TACOS_PLAN": "/nonexistent/plan"}, "TACOS_PLAN"),
    ({"TACOS_TOPOLOGY": "mesh:3x3"}, "is for 9 NPUs, but there are 2 ranks"),
    ({"TACOS_TOPOLOGY": "mehs:1x2"}, "did you mean"),
    ({"TACOS_MAP": "/nonexistent/map"}, "TACOS_MAP"),
    ({"TACOS_TRANSPORT": "pigeon"}, "none of auto, shm and tcp")])
def test_a_wrong_environment_is_an_exception_everywhere(environment, words):
    answers = run_ranks(_started, 2, environment=environment)
    assert all(words in answer for answer in answers), answers


def _other_network(rank, size):
    os.environ["TACOS_TOPOLOGY"] = "ring:2" if rank else "fc:2"
    return raised(start, rank, size)


def test_ranks_with_other_networks_do_not_start():
    answers = run_ranks(_other_network, 2)
    assert all("alike for all ranks" in answer for answer in answers), answers


def _messages(rank, size):
    start(rank, size)
    small = torch.zeros(1)
    if rank == 0:
        senders = {dist.recv(small) for _ in range(size - 1)}
        wrong = raised(dist.recv, torch.zeros(3), 1, tag=5)
        first, second = torch.zeros(2), torch.zeros(2)
        # The other way round than they were sent.
        works = [dist.irecv(second, 1, tag=2), dist.irecv(first, 1, tag=1)]
        for work in works:
            work.wait()
        return sorted(senders), wrong, first.tolist(), second.tolist()
    dist.send(torch.tensor([float(rank)]), 0)
    if rank == 1:
        dist.send(torch.zeros(2), 0, tag=5)
        works = [dist.isend(torch.tensor([1.0, 1.0]), 0, tag=1), dist.isend(torch.tensor([2.0, 2.0]), 0, tag=2)]
        for work in works:
            work.wait()
    return None


def test_messages_have_tags_and_come_from_anybody():
    answer = run_ranks(_messages, 3)[0]
    assert answer[0] == [1, 2]
    assert "8 bytes where 12" in answer[1]
    assert answer[2:] == ([1.0, 1.0], [2.0, 2.0])


def _early_leavers(rank, size):
    """Ranks that are done leave while others go on."""
    start(rank, size)
    tensor = torch.full((50_000,), float(rank))
    dist.broadcast(tensor, 2)
    if rank == 0:
        dist.destroy_process_group()
        return tensor[0].item()
    other = torch.zeros(100_000)
    if rank == 1:
        time.sleep(0.3)
        dist.send(other + 7, 2)
    else:
        dist.recv(other, 1)
    words = raised(dist.barrier) if rank == 1 else ""
    return tensor[0].item(), other[-1].item(), words


@TRANSPORTS
def test_ranks_may_leave_when_they_are_done(transport):
    answers = run_ranks(_early_leavers, 3, environment={"TACOS_TRANSPORT": transport})
    assert answers[0] == 2.0
    assert answers[1][:2] == (2.0, 0.0) and answers[2][:2] == (2.0, 7.0)
    assert "has left the group" in answers[1][2] or "rank" in answers[1][2]


def _planned(rank, size):
    start(rank, size)
    tensor = torch.arange(1000.0) + rank
    dist.all_reduce(tensor)
    dist.broadcast(tensor, 1)
    outside = torch.ones(4_000_000)
    dist.all_reduce(outside)
    return tensor[:2].tolist(), tacos.torch.counts()


def test_schedules_come_from_a_plan(tmp_path):
    program = pathlib.Path(__file__).resolve().parents[3] / "build/release/bin/tacos"
    if not program.exists():
        pytest.skip("the program tacos is not built")
    subprocess.run([program, "plan", "mesh:2x2", "-o", tmp_path / "plan", "--collectives", "all-reduce", "--sizes",
                    "1KiB..64KiB", "--effort", "1"], check=True, capture_output=True)
    (tmp_path / "map").write_text("3 1 0 2\n")
    environment = {"TACOS_PLAN": str(tmp_path / "plan"), "TACOS_MAP": str(tmp_path / "map")}
    for result, counted in run_ranks(_planned, 4, environment=environment):
        assert result == [6.0, 10.0]
        assert counted["tacos:all_reduce by schedule"] == 1
        assert counted["tacos:all_reduce directly (no schedule for it)"] == 1
        assert counted["tacos:broadcast directly (no schedule for it)"] == 1


def _traced(rank, size):
    start(rank, size)
    with torch.profiler.profile() as profile:
        dist.all_reduce(torch.ones(256))
        dist.broadcast(torch.ones(3), 0)
    dist.destroy_process_group()
    return [event.key for event in profile.key_averages()]


def test_what_was_done_can_be_seen(tmp_path, capfd):
    environment = {"TACOS_TOPOLOGY": "mesh:2x2", "TACOS_TRACE": str(tmp_path / "trace"), "TACOS_VERBOSE": "1"}
    names = run_ranks(_traced, 4, environment=environment)
    assert capfd.readouterr().err.count("tacos: 1 tacos:all_reduce by schedule, 1 tacos:broadcast by schedule") == 1
    assert all("tacos:all_reduce" in of_rank for of_rank in names)
    for rank in range(4):
        events = json.loads((tmp_path / "trace" / f"rank{rank}.json").read_text())
        done = [event for event in events if event["ph"] == "X"]
        assert [event["name"] for event in done] == ["tacos:all_reduce", "tacos:broadcast"]
        assert done[0]["args"]["bytes"] == 1024 and done[0]["dur"] > 0 and done[0]["pid"] == rank


def train(model, rank, steps=8):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(rank)
    losses = []
    for _ in range(steps):
        inputs = torch.randn(8, 16, generator=data)
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 6))
    return losses


def make_model():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))


def _trained(rank, size, backend, hooked):
    torch.set_num_threads(1)
    dist.init_process_group(backend, rank=rank, world_size=size)
    model = torch.nn.parallel.DistributedDataParallel(make_model(), bucket_cap_mb=0.002)
    if hooked:
        group = dist.new_group(backend="tacos")
        model.register_comm_hook(group, tacos.torch.ddp_hook)
    losses = train(model, rank)
    return losses, tacos.torch.counts(group if hooked else None) if backend == "tacos" or hooked else {}


def test_data_parallel_training_is_that_of_gloo():
    theirs = run_ranks(_trained, 2, "gloo", False)
    for backend, hooked in (("tacos", False), ("gloo", True)):
        mine = run_ranks(_trained, 2, backend, hooked)
        assert [losses for losses, _ in mine] == [losses for losses, _ in theirs]
        assert mine[0][1]["tacos:all_reduce by schedule"] >= 8


def _callbacks(rank, size):
    start(rank, size)
    tensor = torch.full((4,), float(rank + 1))
    work = dist.all_reduce(tensor, async_op=True)
    doubled = work.get_future().then(lambda done: done.value()[0] * 2).wait()
    return doubled.tolist(), work.is_success(), work.result()[0].tolist()


def test_futures_have_the_tensors():
    for doubled, good, result in run_ranks(_callbacks, 2):
        assert doubled == [6.0] * 4 and good and result == [3.0] * 4


def _many(rank, size):
    """Much at once, in groups that overlap."""
    start(rank, size)
    left, right = dist.new_group([0, 1]), dist.new_group([1, 2])
    works, tensors = [], []
    for number in range(50):
        for group, members in ((None, (0, 1, 2)), (left, (0, 1)), (right, (1, 2))):
            if rank in members:
                tensors.append((torch.full((100,), float(rank + number)), sum(members) + number * len(members)))
                works.append(dist.all_reduce(tensors[-1][0], group=group, async_op=True))
    for work in works:
        work.wait()
    return all(tensor.eq(expected).all().item() for tensor, expected in tensors)


def test_groups_work_side_by_side():
    assert run_ranks(_many, 3) == [True] * 3


def _fallback(rank, size):
    from tacos.torch import fallback

    dist.Backend.register_backend("plain", fallback.create)
    dist.init_process_group("plain", rank=rank, world_size=size)
    model = torch.nn.parallel.DistributedDataParallel(make_model())
    return train(model, rank, 2)


def test_the_fallback_trains_as_well():
    assert len(run_ranks(_fallback, 2)[0]) == 2


def test_one_rank_is_a_group():
    assert run_ranks(_callbacks, 1) == [([2.0] * 4, True, [1.0] * 4)]


def test_errors_of_ranks_are_told():
    with pytest.raises(Failed):
        run_ranks(_missing, 1)


def _missing(rank, size):
    raise ValueError("on purpose")

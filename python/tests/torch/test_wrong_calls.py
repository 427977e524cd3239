# SPDX-License-Identifier: MIT
"""Ranks that die, leave, disagree, or ask for what cannot be: exceptions, and never a hang."""

import datetime
import os
import pathlib
import signal
import sys
import time

import pytest

pytest.importorskip("torch.distributed")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import tacos.torch  # noqa: E402

pytestmark = pytest.mark.skipif(not tacos.torch.native(), reason="the extension tacos._c10d is not built")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from ranks import raised, run_ranks, start  # noqa: E402

#: By name: what a rank calls, with tensors of so many elements.
CALLS = {
    "all_reduce": lambda rank, size, n: dist.all_reduce(torch.ones(n)),
    "all_gather": lambda rank, size, n: dist.all_gather([torch.zeros(n) for _ in range(size)], torch.ones(n)),
    "all_gather_into_tensor": lambda rank, size, n: dist.all_gather_into_tensor(torch.zeros(size * n), torch.ones(n)),
    "reduce_scatter": lambda rank, size, n: dist.reduce_scatter(torch.zeros(n), [torch.ones(n) for _ in range(size)]),
    "reduce_scatter_tensor": lambda rank, size, n: dist.reduce_scatter_tensor(torch.zeros(n), torch.ones(size * n)),
    "broadcast": lambda rank, size, n: dist.broadcast(torch.ones(n), 1),
    "reduce": lambda rank, size, n: dist.reduce(torch.ones(n), 0),
    "gather": lambda rank, size, n: dist.gather(torch.ones(n), [torch.zeros(n) for _ in range(size)] if rank == 0 else None, 0),
    "scatter": lambda rank, size, n: dist.scatter(torch.zeros(n), [torch.ones(n) for _ in range(size)] if rank == 1 else None, 1),
    "all_to_all": lambda rank, size, n: dist.all_to_all([torch.zeros(n) for _ in range(size)],
                                                        [torch.ones(n) for _ in range(size)]),
    "all_to_all_single": lambda rank, size, n: dist.all_to_all_single(torch.zeros(size * n), torch.ones(size * n)),
    "all_reduce_coalesced": lambda rank, size, n: dist.all_reduce_coalesced([torch.ones(n), torch.ones(3)]),
    "barrier": lambda rank, size, n: dist.barrier(),
    "recv": lambda rank, size, n: dist.recv(torch.zeros(n), 1),
    "recv from anybody": lambda rank, size, n: dist.recv(torch.zeros(n)),
}


def _dies(rank, size, call, warm):
    start(rank, size)
    if warm and "recv" not in call:
        CALLS[call](rank, size, 1000)
    if rank == 1:
        # While the others wait for it.
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)
    # Some ranks of rooted collectives need nobody; they learn of it when they do.
    words = raised(CALLS[call], rank, size, 1000) or raised(dist.barrier)
    return words, raised(dist.barrier)


@pytest.mark.parametrize("transport, warm", [("shm", True), ("tcp", False)])
@pytest.mark.parametrize("call", CALLS)
def test_a_rank_that_dies_is_an_exception_in_every_collective(call, transport, warm):
    answers = run_ranks(_dies, 3, call, warm, environment={"TACOS_TRANSPORT": transport}, silent=(1,))
    for rank in (0, 2):
        assert all(answers[rank]), (rank, answers)


def _empty(rank, size):
    start(rank, size)
    for name, call in CALLS.items():
        if "recv" not in name:
            call(rank, size, 0)
    if rank == 0:
        dist.send(torch.zeros(0), 1)
    elif rank == 1:
        dist.recv(torch.zeros(0), 0)
    tensor = torch.zeros(3, 0)
    dist.all_reduce(tensor)
    return tuple(tensor.shape)


def test_nothing_can_be_sent():
    assert run_ranks(_empty, 3) == [(3, 0)] * 3


def _odd_tensors(rank, size):
    start(rank, size)
    said = {
        "strides": raised(dist.all_reduce, torch.ones(4, 4).t()[1:]),
        "expanded output": raised(dist.all_reduce, torch.ones(1).expand(4)),
        "strides of messages": raised(dist.send, torch.ones(4, 4).t()[1:], (rank + 1) % size),
        "to itself": raised(dist.send, torch.ones(1), rank),
        "negative tag": raised(dist.send, torch.ones(1), (rank + 1) % size, tag=-1),
        "kept otherwise than expected": raised(
            dist.all_to_all_single, torch.zeros(4), torch.ones(4), [3, 1] if rank == 0 else [1, 3],
            [1, 3] if rank == 0 else [3, 1]),
        "parts of more than there is": raised(dist.all_to_all_single, torch.zeros(2), torch.ones(2), None, [2**62, 2**62]),
        "negative parts": raised(dist.all_to_all_single, torch.zeros(2), torch.ones(2), None, [3, -1]),
        "types of a list": raised(dist.all_gather, [torch.zeros(2), torch.zeros(2, dtype=torch.int32)], torch.ones(2)),
        "an operation": raised(dist.all_reduce, torch.ones(2, dtype=torch.bool), op=dist.ReduceOp.AVG),
    }
    gathered = [torch.zeros(4, 4).t() for _ in range(size)]
    dist.all_gather(gathered, torch.arange(16.0).reshape(4, 4) + rank)
    return said, [one.tolist() for one in gathered]


def test_odd_tensors_are_refused_and_the_group_goes_on():
    words = {"strides": "contiguous", "expanded output": "contiguous", "strides of messages": "contiguous",
             "negative tag": "negative", "kept otherwise than expected": "of itself",
             "parts of more than there is": "do not fit", "negative parts": "do not fit", "an operation": "not defined"}
    for said, gathered in run_ranks(_odd_tensors, 2):
        assert all(said.values()), said
        for name, word in words.items():
            assert word in said[name], (name, said[name])
        expected = torch.arange(16.0).reshape(4, 4)
        assert gathered == [(expected + rank).tolist() for rank in range(2)]


def _bad_output(rank, size):
    """What is found out only when results are dealt out."""
    start(rank, size)
    return raised(dist.all_gather, [torch.zeros(1).expand(4) for _ in range(size)], torch.ones(4)), raised(dist.barrier)


def test_what_cannot_be_written_is_an_exception():
    for words, later in run_ranks(_bad_output, 2):
        assert "single memory location" in words and later


def _late(rank, size, call):
    torch.set_num_threads(1)
    dist.init_process_group("tacos", rank=rank, world_size=size, timeout=datetime.timedelta(seconds=3))
    given_up = dist.distributed_c10d._get_default_store()
    while rank == 1 and not given_up.add("given up", 0):
        time.sleep(0.05)
    # Who comes late has been waited for, and may learn only later that the others have given up.
    words = raised(CALLS[call], rank, size, 10) or raised(dist.barrier)
    given_up.add("given up", 1)
    return words


@pytest.mark.parametrize("call", ["barrier", "all_reduce", "recv"])
def test_who_waits_for_too_long_is_told(call):
    answers = run_ranks(_late, 2, call)
    assert "did not end within 3 s" in answers[0] and answers[1], answers


def _other_orders(rank, size):
    torch.set_num_threads(1)
    dist.init_process_group("tacos", rank=rank, world_size=size, timeout=datetime.timedelta(seconds=60))
    groups = [[0, 1], [0, 1, 2]] if rank == 0 else [[0, 1, 2], [0, 1]]
    return raised(lambda: [dist.new_group(members) for members in groups])


def test_groups_made_in_different_orders_are_an_exception():
    answers = run_ranks(_other_orders, 3)
    assert "in the same order" in answers[0] and "in the same order" in answers[1], answers


def _again(rank, size, folder):
    """The same store for one group after the other, of the same members or not."""
    from tacos import _c10d

    sums = []
    store = dist.FileStore(os.path.join(folder, "store"), size)
    for turn, members in enumerate(([0, 1, 2], [0, 1, 2], [0, 1], [0, 1], [1, 2])):
        if rank in members:
            options = _c10d.Options()
            options.members = str(members)
            group = _c10d.create(store, members.index(rank), len(members), options)
            tensor = torch.full((100 * (turn + 1),), float(rank + turn))
            group.allreduce([tensor]).wait()
            sums.append(tensor[-1].item())
            del group
        # The next has other members, which must not come while these meet.
        store.add(f"done {turn}", 1)
        while store.add(f"done {turn}", 0) < size:
            time.sleep(0.01)
    return sums


def test_a_store_serves_one_group_after_the_other(tmp_path):
    assert run_ranks(_again, 3, str(tmp_path)) == [[3.0, 6.0, 5.0, 7.0], [3.0, 6.0, 5.0, 7.0, 11.0], [3.0, 6.0, 11.0]]


def _unfinished(rank, size, what):
    start(rank, size)
    pair = dist.new_group([0, 1])
    # The first has the store that making a group needs.
    dist.barrier()
    works = []
    if what == "reductions":
        works = [dist.all_reduce(torch.ones(1000), async_op=True) for _ in range(20)]
    elif what == "messages":
        works = [dist.irecv(torch.zeros(10), 1 - rank)]
    elif what == "one side":
        works = [dist.all_reduce(torch.ones(10), async_op=True)] if rank == 0 else []
    dist.destroy_process_group()
    del pair
    return [raised(work.wait) for work in works]


@pytest.mark.parametrize("what", ["reductions", "messages", "one side"])
def test_groups_may_be_destroyed_with_work_under_way(what):
    for said in run_ranks(_unfinished, 2, what):
        assert all(said) if what != "reductions" else not any(said), said


def _destroyed(rank, size):
    start(rank, size)
    group = dist.distributed_c10d._get_default_group()
    dist.all_reduce(torch.ones(3))
    tacos.torch._leave()
    # Those that somebody still has a hand on.
    return [raised(group.allreduce([torch.ones(3)]).wait), raised(group.recv([torch.ones(3)], 1 - rank, 0).wait)]


def test_a_group_that_was_left_says_so():
    for said in run_ranks(_destroyed, 2):
        assert all("was destroyed" in words for words in said), said


def _forked(rank, size):
    start(rank, size)
    dist.all_reduce(torch.ones(3))
    child = os.fork()
    if child == 0:
        words = raised(dist.all_reduce, torch.ones(3))
        tacos.torch._leave()
        os._exit(7 if "forked" in words else 8)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    return code, tensor.tolist()


def test_a_fork_has_no_part_in_it():
    assert run_ranks(_forked, 2) == [(7, [2.0] * 3)] * 2


class Sometimes(torch.nn.Module):
    """Of two layers, of which a step uses one."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)])

    def forward(self, inputs, which):
        return self.layers[which](inputs)


def _unused(rank, size, backend):
    torch.set_num_threads(1)
    dist.init_process_group(backend, rank=rank, world_size=size)
    model = torch.nn.parallel.DistributedDataParallel(Sometimes(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(6):
        loss = model(torch.full((4, 8), float(rank + step)), (step + rank) % 2 if step > 2 else step % 2).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 5))
    return losses


def test_parameters_may_be_left_out():
    assert run_ranks(_unused, 2, "tacos") == run_ranks(_unused, 2, "gloo")


def _callback_has_the_last_hand(rank, size):
    """The thread of a group cannot wait for its own end."""
    start(rank, size)
    pair = dist.new_group([0, 1])
    done = []
    held = [pair]

    def let_go(_):
        time.sleep(0.2)
        held.clear()
        done.append(1)

    pair.allreduce([torch.ones(3)]).get_future().add_done_callback(let_go)
    # The names that PyTorch has for it.
    dist.destroy_process_group(pair)
    del pair
    while not done:
        time.sleep(0.01)
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    return done, tensor.tolist()


def test_a_callback_may_have_the_last_hand_on_a_group():
    assert run_ranks(_callback_has_the_last_hand, 2) == [([1], [2.0] * 3)] * 2


def _waits_in_callback(rank, size):
    start(rank, size)
    said = []
    later = []

    def wait(_):
        said.append(raised(later[0].wait))

    first = dist.all_reduce(torch.ones(100_000), async_op=True)
    later.append(dist.all_reduce(torch.ones(100_000), async_op=True))
    first.get_future().add_done_callback(wait)
    later[0].wait()
    dist.barrier()
    return said


def test_who_waits_in_a_callback_is_told():
    for said in run_ranks(_waits_in_callback, 2):
        # Where the second was done before the callback was there, it waits for nothing.
        assert said in ([""], ["tacos: wait() inside a callback of the same group would wait forever; use then() instead"])


def _wrong_effort(rank, size):
    if rank == 1:
        os.environ["TACOS_EFFORT"] = "much"
    return raised(start, rank, size)


def test_a_wrong_effort_of_one_rank_is_told_to_all():
    assert all("TACOS_EFFORT" in words for words in run_ranks(_wrong_effort, 2))

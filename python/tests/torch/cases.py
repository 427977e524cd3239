# SPDX-License-Identifier: MIT
"""Random calls of collectives, each done by tacos and by the oracle, with the same inputs.

Values are small whole numbers, so that every order of adding gives the same bits.
"""

import dataclasses
import random

import torch
import torch.distributed as dist

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64,
         torch.int16, torch.bool, torch.complex64, torch.complex128]
CALLS = ["all_reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter", "reduce_scatter_tensor", "broadcast",
         "reduce", "gather", "scatter", "all_to_all", "all_to_all_single", "all_to_all_unequal", "all_reduce_coalesced",
         "barrier", "send"]
SHAPES = [(), (1,), (3,), (7, 5), (64,), (1000,), (33, 17), (4096,), (0,), (2, 3, 4), (20011,)]
REDUCES = {"all_reduce", "reduce_scatter", "reduce_scatter_tensor", "reduce", "all_reduce_coalesced"}


@dataclasses.dataclass
class Case:
    number: int
    call: str
    dtype: torch.dtype
    shape: tuple
    op: str
    root: int
    asynchronous: bool
    # Those of the group, by their rank in it.
    ranks: tuple = ()

    def __str__(self):
        return (f"case {self.number}: {self.call} {self.dtype} {self.shape} {self.op} root {self.root}"
                f"{' async' if self.asynchronous else ''}")


def operations(dtype):
    """Those that PyTorch has for the type."""
    if dtype.is_complex:
        return ["SUM", "AVG"]
    if dtype.is_floating_point:
        return ["SUM", "PRODUCT", "AVG", "MIN", "MAX"]
    if dtype == torch.bool:
        return ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]
    if dtype == torch.int16:
        return ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]
    return ["SUM", "PRODUCT", "AVG", "MIN", "MAX", "BAND", "BOR", "BXOR"]


def random_case(seed, number, ranks):
    choose = random.Random(f"{seed} {number}")
    dtype = choose.choice(TYPES)
    call = choose.choice(CALLS)
    return Case(number, call, dtype, choose.choice(SHAPES), choose.choice(operations(dtype)),
                choose.randrange(len(ranks)), choose.random() < 0.5, tuple(ranks))


def values(case, rank, label, shape=None):
    """What a rank gives; the same for tacos and the oracle."""
    shape = case.shape if shape is None else shape
    maker = torch.Generator().manual_seed(hash((case.number, rank, label)) % (1 << 62))
    low, high = (0, 2) if case.dtype in (torch.bool, torch.uint8) else (-1 if case.op == "PRODUCT" else -4, 3)
    if case.op == "PRODUCT" and case.dtype != torch.bool:
        low, high = 1, 3
    return torch.randint(low, high, shape, generator=maker).to(case.dtype)


def outputs(case, count, shape=None):
    return [torch.zeros(case.shape if shape is None else shape, dtype=case.dtype) for _ in range(count)]


def unequal_sizes(case, size):
    """By rank, and by the rank that gets it: rows."""
    choose = random.Random(f"sizes {case.number}")
    return [[choose.randrange(5) for _ in range(size)] for _ in range(size)]


def run(case, group, rank, size):
    """The results, once they are there."""
    op = getattr(dist.ReduceOp, case.op)
    how = {"group": group, "async_op": case.asynchronous}
    work, result = globals()[f"_{case.call}"](case, rank, size, op, how)
    if case.asynchronous and work is not None:
        # Either way of waiting.
        if case.number % 2 or not hasattr(work, "get_future"):
            work.wait()
        else:
            work.get_future().wait()
    return result


def _all_reduce(case, rank, size, op, how):
    tensor = values(case, rank, 0)
    return dist.all_reduce(tensor, op=op, **how), [tensor]


def _all_reduce_coalesced(case, rank, size, op, how):
    tensors = [values(case, rank, 0), values(case, rank, 1, (5,))]
    return dist.all_reduce_coalesced(tensors, op=op, **how), tensors


def _all_gather(case, rank, size, op, how):
    result = outputs(case, size)
    if case.number % 3 == 0 and len(case.shape) == 2:
        result = [torch.zeros(case.shape[::-1], dtype=case.dtype).t() for _ in range(size)]
    return dist.all_gather(result, values(case, rank, 0), **how), result


def _all_gather_into_tensor(case, rank, size, op, how):
    tensor = values(case, rank, 0, (max(1, len(case.shape)) * 3,))
    result = torch.zeros(size * tensor.numel(), dtype=case.dtype)
    return dist.all_gather_into_tensor(result, tensor, **how), [result]


def _reduce_scatter(case, rank, size, op, how):
    result = outputs(case, 1)[0]
    return dist.reduce_scatter(result, [values(case, rank, i) for i in range(size)], op=op, **how), [result]


def _reduce_scatter_tensor(case, rank, size, op, how):
    result = torch.zeros(11, dtype=case.dtype)
    return dist.reduce_scatter_tensor(result, values(case, rank, 0, (11 * size,)), op=op, **how), [result]


def _broadcast(case, rank, size, op, how):
    tensor = values(case, rank, 0)
    return dist.broadcast(tensor, case.ranks[case.root], **how), [tensor]


def _reduce(case, rank, size, op, how):
    tensor = values(case, rank, 0)
    work = dist.reduce(tensor, case.ranks[case.root], op=op, **how)
    return work, [tensor] if rank == case.root else []


def _gather(case, rank, size, op, how):
    result = outputs(case, size) if rank == case.root else None
    return dist.gather(values(case, rank, 0), result, dst=case.ranks[case.root], **how), result or []


def _scatter(case, rank, size, op, how):
    result = outputs(case, 1)[0]
    given = [values(case, rank, i) for i in range(size)] if rank == case.root else None
    return dist.scatter(result, given, src=case.ranks[case.root], **how), [result]


def _all_to_all(case, rank, size, op, how):
    result = outputs(case, size)
    return dist.all_to_all(result, [values(case, rank, i) for i in range(size)], **how), result


def _all_to_all_single(case, rank, size, op, how):
    result = torch.zeros((size * 3, 2), dtype=case.dtype)
    return dist.all_to_all_single(result, values(case, rank, 0, (size * 3, 2)), **how), [result]


def _all_to_all_unequal(case, rank, size, op, how):
    rows = unequal_sizes(case, size)
    sent, received = rows[rank], [rows[other][rank] for other in range(size)]
    result = torch.zeros((sum(received), 2), dtype=case.dtype)
    given = values(case, rank, 0, (sum(sent), 2))
    return dist.all_to_all_single(result, given, received, sent, **how), [result]


def _barrier(case, rank, size, op, how):
    return dist.barrier(**how), []


def _send(case, rank, size, op, how):
    """Round the ring, with another tag each time."""
    result = torch.zeros(case.shape, dtype=case.dtype)
    if size == 1:
        return None, [result]
    group, tag = how["group"], case.number
    ranks = case.ranks
    works = [dist.irecv(result, ranks[(rank - 1) % size], group, tag),
             dist.isend(values(case, rank, 0), ranks[(rank + 1) % size], group, tag)]
    for work in works:
        work.wait()
    return None, [result]


def same(one, other):
    """Bit for bit."""
    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(one, other))


def compare(seed, numbers, group, oracle, ranks):
    """Cases by both; how many, and what differed."""
    rank, size = ranks.index(dist.get_rank()), len(ranks)
    differences = []
    for number in numbers:
        case = random_case(seed, number, ranks)
        mine = run(case, group, rank, size)
        theirs = run(dataclasses.replace(case, asynchronous=False), oracle, rank, size) if case.call != "send" else None
        if case.call == "send":
            expected = values(case, (rank - 1) % size, 0) if size > 1 else mine[0]
            theirs = [expected]
        if not same(mine, theirs):
            differences.append(f"{case}: {[t.flatten()[:4].tolist() for t in mine]} and not "
                               f"{[t.flatten()[:4].tolist() for t in theirs]}")
        if case.call == "all_reduce":
            differences += all_equal(case, mine[0], oracle)
            differences += all_equal(case, rounded_sum(case, rank, group), oracle)
    return differences


def rounded_sum(case, rank, group):
    """Of numbers whose sum depends on the order of adding."""
    dtype = case.dtype if case.dtype.is_floating_point else torch.float32
    maker = torch.Generator().manual_seed(1000 * case.number + rank)
    tensor = torch.randn(case.shape, generator=maker).to(dtype)
    dist.all_reduce(tensor, group=group)
    return tensor


def all_equal(case, tensor, oracle):
    """Whether all ranks have the same bits."""
    parts = oracle._all(tensor)
    return [] if all(torch.equal(part, parts[0]) for part in parts) else [f"{case}: ranks differ"]

# SPDX-License-Identifier: MIT
"""The same collectives over gloo, in plain Python: where the extension is not built, and to compare it with.

Everything is made of one thing that gloo does for any type: an all_gather of bytes. So a call costs ranks times the
bytes, is done when it returns, and is right by reading it.
"""

from __future__ import annotations

import datetime
from typing import Any, Callable, List, Optional

import torch
import torch.distributed as dist

Tensors = List[torch.Tensor]


def _done(result: Tensors) -> Any:
    future: Any = torch.futures.Future()
    future.set_result(result)
    return torch._C._distributed_c10d._create_work_from_future(future)


def _op(options: Any) -> Any:
    op = options.reduceOp
    return getattr(op, "op", op)


def combine(parts: Tensors, op: Any) -> torch.Tensor:
    """The parts reduced in the order of ranks."""
    kinds = dist.ReduceOp.RedOpType if hasattr(dist.ReduceOp, "RedOpType") else dist.ReduceOp
    steps: List[Any] = [
        (kinds.SUM, torch.add), (kinds.AVG, torch.add), (kinds.PRODUCT, torch.mul), (kinds.MIN, torch.minimum),
        (kinds.MAX, torch.maximum), (kinds.BAND, torch.bitwise_and), (kinds.BOR, torch.bitwise_or),
        (kinds.BXOR, torch.bitwise_xor)]
    step: Optional[Callable[..., torch.Tensor]] = next((how for kind, how in steps if op == kind), None)
    if step is None:
        raise ValueError(f"tacos: {op} is not known; use sum, avg, product, min, max, band, bor or bxor")
    total = parts[0].clone()
    for part in parts[1:]:
        total = step(total, part).to(total.dtype)
    if op == kinds.AVG:
        whole = not (total.is_floating_point() or total.is_complex())
        total = torch.div(total, len(parts), rounding_mode="trunc" if whole else None).to(total.dtype)
    return total


class FallbackGroup(dist.ProcessGroup):  # type: ignore[misc]
    """A process group whose calls are done when they return."""

    def __init__(self, gloo: Any, rank: int, size: int) -> None:
        super().__init__(rank, size)
        self.gloo = gloo
        self._rank = rank
        self._size = size

    def getBackendName(self) -> str:
        return "tacos"

    def _all(self, tensor: torch.Tensor) -> Tensors:
        """What each rank gives; all give as much."""
        mine = tensor.detach().contiguous().reshape(-1)
        sent = mine.view(torch.uint8) if mine.numel() else torch.zeros(0, dtype=torch.uint8)
        # Nothing is something that gloo cannot carry.
        sent = torch.cat([sent, torch.zeros(1, dtype=torch.uint8)])
        got = [torch.empty_like(sent) for _ in range(self._size)]
        self.gloo.allgather([got], [sent]).wait()
        return [one[:-1].clone().view(tensor.dtype).reshape(tensor.shape) for one in got]

    def allreduce(self, tensors: Tensors, options: Any = dist.AllreduceOptions()) -> Any:
        tensor = tensors[0]
        tensor.detach().copy_(combine(self._all(tensor), _op(options)))
        return _done(tensors)

    def allreduce_coalesced(self, tensors: Tensors, options: Any) -> Any:
        for tensor in tensors:
            self.allreduce([tensor], options)
        return _done(tensors)

    def reduce(self, tensors: Tensors, options: Any) -> Any:
        total = combine(self._all(tensors[0]), _op(options))
        if self._rank == options.rootRank:
            tensors[0].detach().copy_(total)
        return _done(tensors)

    def broadcast(self, tensors: Tensors, options: Any = dist.BroadcastOptions()) -> Any:
        tensors[0].detach().copy_(self._all(tensors[0])[options.rootRank])
        return _done(tensors)

    def allgather(self, outputs: List[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        for output, part in zip(outputs[0], self._all(inputs[0])):
            output.detach().copy_(part.reshape(output.shape))
        return _done(outputs[0])

    def _allgather_base(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> Any:
        output.detach().view(-1).copy_(torch.cat([part.reshape(-1) for part in self._all(tensor)]))
        return _done([output])

    def gather(self, outputs: List[Tensors], inputs: Tensors, options: Any) -> Any:
        parts = self._all(inputs[0])
        if self._rank == options.rootRank:
            for output, part in zip(outputs[0], parts):
                output.detach().copy_(part)
        return _done(outputs[0] if outputs else [])

    def scatter(self, outputs: Tensors, inputs: List[Tensors], options: Any) -> Any:
        flat = torch.cat([one.reshape(-1) for one in inputs[0]]) if inputs else torch.zeros(
            outputs[0].numel() * self._size, dtype=outputs[0].dtype)
        whole = self._all(flat)[options.rootRank]
        outputs[0].detach().copy_(whole.chunk(self._size)[self._rank].reshape(outputs[0].shape)
                                  if whole.numel() else whole.reshape(outputs[0].shape))
        return _done(outputs)

    def reduce_scatter(self, outputs: Tensors, inputs: List[Tensors], options: Any) -> Any:
        flat = torch.cat([one.reshape(-1) for one in inputs[0]])
        return self._reduce_scatter_base(outputs[0], flat, options)

    def _reduce_scatter_base(self, output: torch.Tensor, tensor: torch.Tensor, options: Any) -> Any:
        total = combine(self._all(tensor.reshape(-1)), _op(options))
        count = output.numel()
        output.detach().copy_(total[self._rank * count:(self._rank + 1) * count].reshape(output.shape))
        return _done([output])

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        sizes = self._all(torch.tensor([one.numel() for one in inputs]))
        most = max(int(size.sum()) for size in sizes)
        flat = torch.cat([one.reshape(-1) for one in inputs])
        padded = torch.cat([flat, torch.zeros(most - flat.numel(), dtype=flat.dtype)])
        for rank, whole in enumerate(self._all(padded)):
            begin = int(sizes[rank][:self._rank].sum())
            part = whole[begin:begin + int(sizes[rank][self._rank])]
            outputs[rank].detach().copy_(part.reshape(outputs[rank].shape))
        return _done(outputs)

    def alltoall_base(self, output: torch.Tensor, tensor: torch.Tensor, output_splits: List[int],
                      input_splits: List[int], opts: Any = None) -> Any:
        def parts(one: torch.Tensor, splits: List[int]) -> Tensors:
            return list(one.split(splits)) if splits else list(one.chunk(self._size))

        self.alltoall(parts(output.detach(), output_splits), parts(tensor, input_splits))
        return _done([output])

    def send(self, tensors: Tensors, to: int, tag: int) -> Any:
        return self.gloo.send(tensors, to, tag)

    def recv(self, tensors: Tensors, source: int, tag: int) -> Any:
        return self.gloo.recv(tensors, source, tag)

    def recv_anysource(self, tensors: Tensors, tag: int) -> Any:
        return self.gloo.recv_anysource(tensors, tag)

    def barrier(self, opts: Any = None) -> Any:
        self._all(torch.zeros(1))
        return _done([])


def create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> FallbackGroup:
    """A fallback with a gloo of its own."""
    return FallbackGroup(dist.ProcessGroupGloo(store, rank, size, timeout=timeout), rank, size)

# SPDX-License-Identifier: MIT
"""A backend for torch.distributed: collectives by schedules of tacos, on CPU tensors.

    import torch.distributed as dist
    import tacos.torch

    dist.init_process_group("tacos")

Environment variables say which schedules (docs/pytorch.md): TACOS_PLAN, TACOS_MAP, TACOS_TOPOLOGY, TACOS_TRANSPORT,
TACOS_TRACE, TACOS_VERBOSE.
"""

import atexit
import datetime
import multiprocessing.util
import os
import warnings
from typing import Any, Dict, List, Optional

# Must be there before our own extension, which knows its classes.
import torch
import torch.distributed as dist

try:
    from tacos import _c10d
except ImportError as _error:
    _c10d = None  # type: ignore[assignment]
    _reason = str(_error)

__all__ = ["counts", "ddp_hook", "native", "register"]

# The NPUs of all ranks, once they are known.
_world: Optional[List[int]] = None
# The process that leaves its groups when it ends.
_leaves: Optional[int] = None


def native() -> bool:
    """Whether collectives are done by schedules; if not, the extension was not built, and gloo does them."""
    return _c10d is not None


def _options(ranks: List[int], world: int, timeout: datetime.timedelta, name: str) -> Any:
    """For a group of these ranks, of so many in all."""
    options = _c10d.Options()
    options.plan = os.environ.get("TACOS_PLAN", "")
    options.topology = os.environ.get("TACOS_TOPOLOGY", "")
    options.transport = os.environ.get("TACOS_TRANSPORT", "auto") or "auto"
    options.trace = os.environ.get("TACOS_TRACE", "")
    effort = os.environ.get("TACOS_EFFORT", "") or str(options.effort)
    if effort in map(str, range(1, 10)):
        options.effort = int(effort)
    else:
        # All ranks must learn of it, and so it is told when they meet.
        options.mistake = f"TACOS_EFFORT: '{effort}' is not a whole number from 1 to 9"
    options.verbose = os.environ.get("TACOS_VERBOSE", "") not in ("", "0")
    options.timeout_s = timeout.total_seconds()
    options.members = "all ranks" if len(ranks) == world else f"ranks {', '.join(map(str, ranks))}"
    mapped = os.environ.get("TACOS_MAP", "")
    options.world = 0 if mapped else world
    if len(ranks) == world:
        options.map = mapped
        return options
    if mapped and _world is None:
        raise ValueError("tacos: TACOS_MAP needs a group of all ranks before others; call dist.new_group(backend='tacos')")
    options.name = name
    options.npus = [_world[rank] for rank in ranks] if _world else ranks
    return options


def _create(parts: Any, _: Any = None) -> Any:
    """What torch.distributed calls for init_process_group and new_group."""
    global _world, _leaves
    timeout = parts.timeout
    if not isinstance(timeout, datetime.timedelta):
        timeout = datetime.timedelta(seconds=float(timeout))
    if _c10d is None:
        from tacos.torch import fallback

        warnings.warn(f"tacos: without schedules, as its extension is not there ({_reason}); gloo does the work")
        return fallback.create(parts.store, parts.group_rank, parts.group_size, timeout)
    # The first group of all knows no ranks yet.
    ranks = list(parts.global_ranks_in_group) or list(range(parts.group_size))
    world = dist.get_world_size() if dist.is_initialized() else len(ranks)
    options = _options(ranks, world, timeout, parts.group_id)
    group = _c10d.create(parts.store, parts.group_rank, parts.group_size, options)
    if len(ranks) == world:
        _world = _c10d.npus(group)
    if _leaves != os.getpid():
        # Processes of multiprocessing that were forked do not run what atexit has.
        multiprocessing.util.Finalize(None, _leave, exitpriority=0)
        _leaves = os.getpid()
    return group


def _leave() -> None:
    """Before Python ends: others shall know that this rank has left, and has not died."""
    if _c10d is not None:
        _c10d.leave_all()


def counts(group: Any = None) -> Dict[str, int]:
    """How often a group did what, and how: `{"tacos:all_reduce by schedule": 12}`; what no schedule was there for is
    done directly, and says why."""
    if group is None:
        group = dist.distributed_c10d._get_default_group()
    if _c10d is None:
        return {}
    return dict(_c10d.counts(_backend(group)))


def _backend(group: Any) -> Any:
    """Since 2.0 a process group has backends, one for each kind of device."""
    if hasattr(group, "_get_backend"):
        return group._get_backend(torch.device("cpu"))
    return group


# DistributedDataParallel looks at these annotations.
def ddp_hook(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel, for programs whose own groups keep another backend:

        group = dist.new_group(backend="tacos")
        model.register_comm_hook(group, tacos.torch.ddp_hook)

    Gradients are averaged over the group, or over the default one where it is None.
    """
    group = group if group is not None else dist.distributed_c10d._get_default_group()
    work = group.allreduce([bucket.buffer()], _average())
    return work.get_future().then(lambda done: done.value()[0])


def _average() -> Any:
    options = dist.AllreduceOptions()
    options.reduceOp = dist.ReduceOp.AVG
    return options


def register() -> None:
    """Makes "tacos" a backend of torch.distributed; importing this module does it."""
    if not hasattr(dist.Backend, "TACOS"):
        dist.Backend.register_backend("tacos", _create, extended_api=True, **_devices())


def _devices() -> Dict[str, Any]:
    """Since 2.0 a backend says what it works on."""
    new = int(torch.__version__.split(".")[0]) >= 2
    return {"devices": ["cpu"]} if new else {}


register()
atexit.register(_leave)

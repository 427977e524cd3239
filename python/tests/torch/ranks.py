# SPDX-License-Identifier: MIT
"""Starts ranks, and collects what they say."""

import multiprocessing
import os
import queue
import socket
import time
import traceback

# Whoever does not answer for so many seconds hangs: far longer than anything takes on a busy machine, and far shorter
# than a group of PyTorch waits unless told otherwise.
LIMIT = 300


def start(rank, size):
    """The group of all ranks, by tacos."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("tacos", rank=rank, world_size=size)


def raised(function, *arguments, **named):
    """The words of the exception; none where there is none."""
    try:
        function(*arguments, **named)
    except Exception as error:  # pylint: disable=broad-except
        return str(error) or type(error).__name__
    return ""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _work(function, rank, size, port, environment, arguments, answers, over):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
    os.environ.update(environment)
    try:
        answers.put((rank, function(rank, size, *arguments), None))
    except BaseException as error:  # pylint: disable=broad-except
        answers.put((rank, None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
    # The first has the store that the others may still need.
    over.wait(LIMIT)


class Failed(Exception):
    """By rank: what it raised."""

    def __init__(self, errors):
        super().__init__("\n".join(f"rank {rank}: {error}" for rank, error in sorted(errors.items())))
        self.errors = errors


def run_ranks(function, size, *arguments, environment=None, limit=LIMIT, silent=()):
    """What each rank returned. Those of `silent` end without an answer, as those that are killed do."""
    # A fork has torch already; nothing of it was used before.
    context = multiprocessing.get_context("fork")
    answers, over = context.Queue(), context.Event()
    port = free_port()
    ranks = [context.Process(target=_work, args=(function, rank, size, port, environment or {}, arguments, answers,
                                                  over))
             for rank in range(size)]
    for rank in ranks:
        rank.start()
    results, errors = {}, {}
    end = time.monotonic() + limit
    try:
        while len(results) + len(errors) < size - len(silent):
            try:
                rank, result, error = answers.get(timeout=0.5)
            except queue.Empty:
                missing = set(range(size)) - set(results) - set(errors) - set(silent)
                died = {rank: ranks[rank].exitcode for rank in missing if ranks[rank].exitcode is not None}
                if died or time.monotonic() > end:
                    raise AssertionError(f"ranks {sorted(missing)} did not answer within {limit} s; exit codes of those "
                                         f"that ended: {died}; of others: {errors}") from None
                continue
            (errors if error else results)[rank] = error or result
    finally:
        over.set()
        for rank in ranks:
            rank.join(8)
            if rank.is_alive():
                rank.kill()
                rank.join()
    if errors:
        raise Failed(errors)
    return [results.get(rank) for rank in range(size)]

# SPDX-License-Identifier: MIT
"""One rank of bench/torch/wires.py: DistributedDataParallel by both backends, step for step in turns."""

import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import tacos.torch


def make_model(width):
    torch.manual_seed(11)
    return torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(),
                               torch.nn.Linear(width, 1))


class Trainer:
    """A model, its data, and the losses so far."""

    def __init__(self, group, width, rank):
        self.group = group
        self.model = DistributedDataParallel(make_model(width), process_group=group)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.data = torch.Generator().manual_seed(rank)
        self.losses = []
        self.times = []

    def step(self):
        inputs = torch.randn(16, 64, generator=self.data)
        dist.barrier(group=self.group)
        begin = time.perf_counter()
        loss = (self.model(inputs) - inputs.sin().sum(1, keepdim=True)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        taken = time.perf_counter() - begin
        self.losses.append(loss.item())
        return taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--width", type=int, default=512)
    args = parser.parse_args()
    rank, size = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size)
    trainers = {name: Trainer(dist.new_group(backend=name), args.width, rank) for name in ("tacos", "gloo")}
    for step in range(args.steps + 2):
        for trainer in trainers.values():
            taken = torch.tensor([trainer.step()], dtype=torch.float64)
            dist.all_reduce(taken, op=dist.ReduceOp.MAX)
            # The first two make schedules and buckets.
            if step > 1:
                trainer.times.append(taken.item())
    parameters = sum(one.numel() for one in trainers["gloo"].model.parameters())
    differences = [abs(a - b) for a, b in zip(trainers["tacos"].losses, trainers["gloo"].losses)]
    apart = torch.tensor([max(differences)], dtype=torch.float64)
    dist.all_reduce(apart, op=dist.ReduceOp.MAX)
    if rank == 0:
        middle = {name: statistics.median(one.times) for name, one in trainers.items()}
        print(json.dumps({
            "ranks": size, "bytes": 4 * parameters, "steps": args.steps,
            "tacos_ms": middle["tacos"] * 1e3, "gloo_ms": middle["gloo"] * 1e3,
            "best_tacos_ms": min(trainers["tacos"].times) * 1e3, "best_gloo_ms": min(trainers["gloo"].times) * 1e3,
            "ratio": middle["gloo"] / middle["tacos"], "most_loss_difference": apart.item(),
            "losses": [round(loss, 6) for loss in trainers["tacos"].losses],
            "counts": tacos.torch.counts(trainers["tacos"].group)}), flush=True)


if __name__ == "__main__":
    main()

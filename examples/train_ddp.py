# SPDX-License-Identifier: MIT
"""Data-parallel training whose gradients are averaged by schedules of tacos (docs/pytorch.md).

    PYTHONPATH=build/python TACOS_VERBOSE=1 torchrun -r 1 -t 1 --nproc_per_node 4 examples/train_ddp.py
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import tacos.torch  # makes "tacos" a backend


def main():
    dist.init_process_group("tacos")
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(32, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    data = torch.Generator().manual_seed(dist.get_rank())
    for step in range(100):
        inputs = torch.randn(64, 32, generator=data)
        loss = (model(inputs) - inputs.sin().sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0 and step % 33 == 0:
            print(f"step {step:3}  loss {loss.item():.4f}")
    if dist.get_rank() == 0:
        print(tacos.torch.counts())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

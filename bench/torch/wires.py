#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data-parallel training over real wires: tacos beside gloo, in one run (docs/wires.md, docs/pytorch.md).

usage: bench/torch/wires.py [--topology mesh:3x3,bw=100GBps/50GBps] [--steps 10] [--width 512] [--fastest 50Mbit]

Builds the network with tools/testbed, trains the same small model with both backends in turns, step by step, and prints
one line of JSON: milliseconds for a step (median and least, of the slowest rank), their ratio, and by how much the losses
differ. Needs build/release/bin/tacos and build/python (tools/dev python), and a machine that does nothing else.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTBED = [sys.executable, str(ROOT / "tools" / "testbed")]
# Rank 0 beside the wires, for the rendezvous alone.
MASTER = "10.254.0.0"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topology", default="mesh:3x3,bw=100GBps/50GBps")
    parser.add_argument("--steps", default="10")
    parser.add_argument("--width", default="512")
    parser.add_argument("--fastest", default="50Mbit")
    parser.add_argument("--python", default="/usr/bin/python3", help="that which build/python is for")
    args = parser.parse_args()
    subprocess.run([*TESTBED, "up", args.topology, "--fastest", args.fastest], check=True, cwd=ROOT)
    try:
        settings = [f"PYTHONPATH={ROOT / 'build' / 'python'}", f"MASTER_ADDR={MASTER}", "MASTER_PORT=29500",
                    "GLOO_SOCKET_IFNAME=data", "TACOS_TRANSPORT=tcp", "OMP_NUM_THREADS=1",
                    f"TACOS_TOPOLOGY={ROOT / 'build' / 'testbed' / 'wires.json'}"]
        return subprocess.run([*TESTBED, "run", "--", "env", *settings, args.python, "-W", "ignore",
                               str(ROOT / "bench" / "torch" / "ddp_rank.py"), "--steps", args.steps, "--width",
                               args.width], check=False, cwd=ROOT).returncode
    finally:
        subprocess.run([*TESTBED, "down"], check=False, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""`pip install --no-build-isolation .` of a clean copy of the sources, without a network.

All is compiled, which takes minutes where no compiler cache has it: only when asked, by TACOS_TEST_INSTALL=1.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(os.environ.get("TACOS_TEST_INSTALL", "0") == "0",
                                reason="takes minutes; asked for by TACOS_TEST_INSTALL=1")

CODE = """
import importlib.metadata, pathlib, sys, tacos
print(pathlib.Path(tacos.__file__).parent)
print(tacos.synthesize("mesh:4x4", "all-reduce", size="64MiB"))
points = importlib.metadata.entry_points()
print([point.value for point in points.get("torch.distributed.backends", [])]
      if isinstance(points, dict) else [point.value for point in points.select(group="torch.distributed.backends")])
try:
    import tacos.torch
    print("backend:", tacos.torch.native())
except ImportError as error:
    print("no torch:", error)
"""


def clean_copy(to: pathlib.Path) -> None:
    """What is in the repository, as it is in the working tree, and nothing that was built."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def test_pip_installs_from_sources_without_a_network(tmp_path: pathlib.Path) -> None:
    clean_copy(tmp_path / "sources")
    unwanted = ("PYTHONPATH", "TACOS_BUILD_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment.update(PIP_NO_INDEX="1", CCACHE_BASEDIR=str(tmp_path), CCACHE_NOHASHDIR="1")
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(home)], check=True)
    subprocess.run([home / "bin" / "python", "-m", "pip", "install", "--no-build-isolation", "."],
                   cwd=tmp_path / "sources", env=environment, check=True)
    done = subprocess.run([home / "bin" / "python", "-c", CODE], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          check=True)
    print(done.stdout)
    where, result, points, *_ = done.stdout.splitlines()
    assert pathlib.Path(where).is_relative_to(home)
    assert "verified" in result and "tacos.torch:register" in points

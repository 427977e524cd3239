# SPDX-License-Identifier: MIT
"""Builds the package by CMake. TACOS_BUILD_DIR names a build that is there already, to be used again."""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_py):
    """All files of the package come out of `cmake --install`."""

    def run(self) -> None:
        build = pathlib.Path(os.environ.get("TACOS_BUILD_DIR") or ROOT / "build" / "wheel").resolve()
        configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DTACOS_PYTHON=ON",
                     f"-DTACOS_PYTHON_EXECUTABLE={sys.executable}"]
        if not (build / "CMakeCache.txt").exists():
            configure += ["-DCMAKE_BUILD_TYPE=Release", "-DTACOS_TESTS=OFF", "-DTACOS_BENCH=OFF", "-DTACOS_PCH=ON",
                          f"-DTACOS_PYTHON_DIR={build / 'python'}"]
            if "CMAKE_GENERATOR" not in os.environ and shutil.which("ninja"):
                configure += ["-G", "Ninja"]
        subprocess.run(configure, check=True)
        # Where nobody says how many, make would start all compilers at once.
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
        subprocess.run(["cmake", "--build", str(build), "--parallel", jobs, "--target", "tacos_python"], check=True)
        # What an older version left would be packed as well.
        shutil.rmtree(self.build_lib, ignore_errors=True)
        subprocess.run(["cmake", "--install", str(build), "--component", "python", "--prefix",
                        str(pathlib.Path(self.build_lib).resolve())], check=True)

    def get_outputs(self, include_bytecode: int = 1) -> list:
        return [str(path) for path in pathlib.Path(self.build_lib).rglob("*") if path.is_file()]


class BinaryDistribution(Distribution):
    """A wheel for this Python on this machine."""

    def has_ext_modules(self) -> bool:
        return True

    def has_pure_modules(self) -> bool:
        return True


# All that is made lies in build, like everything else that is.
(ROOT / "build").mkdir(exist_ok=True)
setup(cmdclass={"build_py": CMakeBuild}, distclass=BinaryDistribution,
      options={"build": {"build_base": "build/setuptools"}, "egg_info": {"egg_base": "build"}})

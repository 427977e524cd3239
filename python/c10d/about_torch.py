# SPDX-License-Identifier: MIT
"""What CMake must know of torch, as a list of CMake: its folder, where it has its CMake files, whether it has the strings
of C++11, and what modules define that share its pybind11."""

import pathlib

import torch
import torch.utils

#: Modules whose pybind11 was built otherwise do not see each other's classes.
_BUILD = ("COMPILER_TYPE", "STDLIB", "BUILD_ABI")

definitions = [f'PYBIND11_{name}="{value}"' for name in _BUILD if (value := getattr(torch._C, f"_PYBIND11_{name}", None))]
print(";".join([str(pathlib.Path(torch.__file__).parent), torch.utils.cmake_prefix_path,
                str(int(torch._C._GLIBCXX_USE_CXX11_ABI)), *definitions]))

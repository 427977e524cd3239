# SPDX-License-Identifier: MIT
"""The tests are of the package that was built, never of sources that happen to lie around."""

import pathlib

import tacos


def pytest_report_header() -> str:
    return f"tacos: {pathlib.Path(tacos.__file__).parent}"

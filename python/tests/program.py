# SPDX-License-Identifier: MIT
"""The program `tacos`, which says the same."""

import json
import os
import pathlib
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("TACOS_PROGRAM", ROOT / "build" / "release" / "bin" / "tacos"))


def run_program(*words: Any) -> str:
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=True).stdout


def said_by_program(*words: Any) -> Any:
    """The object that it prints."""
    return json.loads(run_program(*words))

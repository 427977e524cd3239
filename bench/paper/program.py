"""Runs the program and draws; what every section of the results needs."""

import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"


def shown(arguments):
    """A command as people type it."""
    return shlex.join(["tacos", *map(str, arguments)])


def run(*arguments, accept=()):
    """The standard output of the program, or nothing where it exits with a code that is accepted."""
    done = subprocess.run([BIN / "tacos", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode in accept:
        return None
    if done.returncode != 0:
        sys.exit(f"{shown(arguments)}: {done.stderr.strip()}")
    return done.stdout


def ask(*arguments, accept=()):
    """The JSON that the program prints; whatever makes a schedule has verified it."""
    text = run(*arguments, "--json", accept=accept)
    if text is None:
        return None
    answer = json.loads(text)
    for one in answer.get("rows", [answer]):
        if one.get("verified") is False:
            sys.exit(f"{shown(arguments)}: not verified")
    return answer


def draw(path, title, x, y, lines):
    """Lines of (name, points) as an SVG file."""
    plot = {"title": title, "x": x, "y": y, "lines": [{"name": name, "points": points} for name, points in lines]}
    done = subprocess.run([BIN / "draw_plot"], input=json.dumps(plot), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.strip()}")
    path.write_text(done.stdout, encoding="utf-8")


def table(head, rows):
    """In Markdown; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def size_name(count):
    """1024 as 1 KiB."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count >= unit:
            return f"{count // unit} {name}"
    return f"{count} B"


def number(value):
    """Three digits or a little more: 0.0123, 1.23, 12.3, 1,234."""
    if value == 0:
        return "0"
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"

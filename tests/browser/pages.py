# SPDX-License-Identifier: MIT
"""Schedules and their pages, made when a test first asks for them."""

import dataclasses
import json
import pathlib
import subprocess


@dataclasses.dataclass
class Line:
    """One of a trace."""
    start: int
    end: int
    src: int
    dst: int
    chunk: int
    op: str
    links: tuple[int, ...]


class Case:
    """A schedule with its report, its trace and its page."""

    def __init__(self, tacos: str, folder: pathlib.Path, name: str, arguments: list[str], traced: bool):
        self.tacos = tacos
        self.name = name
        self.file = folder / f"{name}.tacos"
        self.page = folder / f"{name}.html"
        self.trace_file = folder / f"{name}.trace"
        trace = ["--trace", str(self.trace_file)] if traced else []
        self.report = json.loads(self.run("synth", *arguments, "-o", str(self.file), "--json", *trace))
        self.run("view", str(self.file), "-o", str(self.page))

    def run(self, *arguments: str) -> str:
        return subprocess.run([self.tacos, *arguments], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def json(self, command: str) -> dict:
        return json.loads(self.run(command, str(self.file), "--json"))

    def trace(self) -> list[Line]:
        return [line_of(text) for text in self.trace_file.read_text().splitlines()]


def line_of(text: str) -> Line:
    start, end, src, dst, chunk, op, links = text.split()
    return Line(int(start), int(end), int(src), int(dst), int(chunk), op,
                tuple(int(link) for link in links.split(",")))


# What pages are looked at; the first word of each is its network.
NETWORKS = {
    "mesh": ["mesh:8x8", "all-reduce", "--size", "64MiB"],
    "torus": ["torus:4x4x4", "all-gather", "--size", "64MiB", "--chunks", "1"],
    "boxes": ["h100:4", "all-gather", "--size", "64MiB", "--chunks", "1", "--engine", "matching"],
    "dragonfly": ["dragonfly:4x5", "all-to-all", "--size", "16MiB"],
    "failed": ["mesh:5x5", "all-gather", "--size", "64MiB", "--chunks", "1", "--fail", "link:7-12", "--fail", "link:0-1"],
}


class Pages:
    def __init__(self, tacos: str, folder: pathlib.Path):
        self.tacos = tacos
        self.folder = folder
        self.made: dict[str, Case] = {}

    def case(self, name: str, arguments: list[str] | None = None, traced: bool = True) -> Case:
        if name not in self.made:
            self.made[name] = Case(self.tacos, self.folder, name, arguments or NETWORKS[name], traced)
        return self.made[name]

    def comparison(self, name: str, ours: Case, other: Case) -> pathlib.Path:
        """Both on one page."""
        page = self.folder / f"{name}.html"
        ours.run("view", str(ours.file), str(other.file), "-o", str(page))
        return page

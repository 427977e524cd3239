#!/usr/bin/env python3
"""Checks #include lines against the layers of docs/architecture.md, and a few house rules."""

import pathlib
import re
import sys

NOUNS = {"topology", "collective", "schedule", "program", "loop"}
# What each folder under src/ may include from src/ and include/tacos.
ALLOWED = {
    "base": {"base"},
    "topology": {"base", "topology"},
    "collective": {"base", "collective"},
    "schedule": {"base", "schedule", "columns"},
    "program": {"base", "collective", "program", "loop"},
    "bound": {"base", "bound"} | NOUNS,
    "verify": {"base", "verify"} | NOUNS,
    "draw": {"base", "draw", "export", "bundle"} | NOUNS,
    "simulate": {"base", "simulate", "replay"} | NOUNS,
    "export": {"base", "export", "bundle", "lower"} | NOUNS,
    "import": {"base", "import", "topology"},
    "replay": {"base", "replay"} | NOUNS,
    "lower": {"base", "lower"} | NOUNS,
    "synthesis": {"base", "synthesis", "synthesize", "task", "bound", "replay"} | NOUNS,
    "compare": {"base", "compare", "synthesize", "simulate", "verify", "bound", "bundle"} | NOUNS,
    "explain": {"base", "explain", "synthesize", "bound", "bundle"} | NOUNS,
    "plan": {"base", "plan", "synthesize", "simulate", "lower", "verify", "bound", "bundle", "export"} | NOUNS,
    "repair": {"base", "repair", "contingency", "resilience", "synthesize", "replay", "verify", "bound", "bundle", "export"} | NOUNS,
    "view": {"base", "view", "draw", "bound", "simulate", "bundle", "export"} | NOUNS,
    "execute": {"base", "execute", "program", "loop", "collective"},
    "serve": {"base", "serve", "execute", "program", "loop", "collective", "topology", "bundle", "plan", "lower", "verify", "synthesize"},
    "cli": None,
    "mpi": {"base", "cli", "mpi", "execute", "program", "serve"},
    "pmpi": {"base", "mpi", "pmpi", "execute", "collective", "serve"},
    "describe": {"base", "cli", "describe"},
}
# Folders of synthesis: engines share what is in common, and never include each other.
SHARED_BY_ENGINES = "common"
# Public headers that belong to base.
BASE_HEADERS = {"ids", "units", "error", "result", "chunk_table"}
THIRD_PARTY = {
    "oneapi/": {"base"},
    "tbb/": {"base"},
    "nlohmann/": {"base", "topology", "import", "export", "cli", "collective", "plan", "repair", "view"},
    "CLI/": {"cli", "describe"},
    "mpi.h": {"mpi", "pmpi"},
    "lemon/": {"bound"},
    "bliss/": {"topology"},
}
# Slow containers have no place in synthesis.
FORBIDDEN_IN_SYNTHESIS = re.compile(
    r"std::(unordered_map|unordered_set|map|set|shared_ptr)<|std::vector<std::vector<")

# A type that a header defines at the level of its namespace.
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)[^;]*?\{", re.M)

INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.M)
MAX_LINES = 500


def included_layer(path: str) -> str | None:
    """The layer that an #include "..." names, or None for something else."""
    if path.startswith("tacos/"):
        name = path.removeprefix("tacos/").removesuffix(".h")
        return "base" if name in BASE_HEADERS else name
    return path.split("/")[0] if "/" in path else None


def check(path: pathlib.Path, layer: str) -> list[str]:
    text = path.read_text(encoding="ascii")
    problems = []
    allowed = ALLOWED.get(layer, set())
    for kind, name in INCLUDE.findall(text):
        if kind == '"':
            other = included_layer(name)
            if allowed is not None and other is not None and other not in allowed:
                problems.append(f"{path}: {layer} must not include {name}")
        for prefix, where in THIRD_PARTY.items():
            if name.startswith(prefix) and layer not in where:
                problems.append(f"{path}: {name} may appear only in {', '.join(sorted(where))}")
    problems += check_engines(path, text)
    if layer == "synthesis" and FORBIDDEN_IN_SYNTHESIS.search(text):
        problems.append(f"{path}: slow container in synthesis (use flat arrays)")
    return problems


def check_house_rules(path: pathlib.Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    problems = []
    # tacos/mpi.h is C.
    if path.suffix != ".py" and not text.startswith(("// SPDX-License-Identifier: MIT\n", "/* SPDX-License-Identifier: MIT")):
        problems.append(f"{path}: the first line must be the SPDX line")
    if path.suffix == ".h" and "#pragma once" not in text:
        problems.append(f"{path}: no #pragma once")
    if text.count("\n") > MAX_LINES:
        problems.append(f"{path}: longer than {MAX_LINES} lines")
    return problems


def folder_in_synthesis(parts: tuple[str, ...]) -> str | None:
    """The folder below synthesis that a path is in; None for its own files and for other layers."""
    return parts[1] if len(parts) > 2 and parts[0] == "synthesis" else None


def check_engines(path: pathlib.Path, text: str) -> list[str]:
    """An engine, or what engines share, includes itself and what they share, and nothing else."""
    mine = folder_in_synthesis(path.parts[path.parts.index("src") + 1:])
    if mine is None:
        return []
    problems = []
    for _, name in INCLUDE.findall(text):
        parts = tuple(name.split("/"))
        if parts[0] == "synthesis" and folder_in_synthesis(parts) not in {mine, SHARED_BY_ENGINES}:
            problems.append(f"{path}: {mine} must not include {name}")
    return problems


def check_one_definition(headers: list[pathlib.Path]) -> list[str]:
    """No two headers may define a type of one name in one namespace: the linker would keep either."""
    seen: dict[tuple[str, str], pathlib.Path] = {}
    problems = []
    for path in headers:
        text = path.read_text(encoding="ascii")
        namespace = NAMESPACE.search(text)
        for name in TYPE.findall(text):
            other = seen.setdefault((namespace.group(1) if namespace else "", name), path)
            if other != path:
                problems.append(f"{path}: {name} is defined in {other} as well, in one namespace")
    return problems


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in {".h", ".cc"}:
            problems += check(path, path.relative_to(root / "src").parts[0])
    for path in sorted((root / "include" / "tacos").glob("*.h")):
        for kind, name in INCLUDE.findall(path.read_text(encoding="ascii")):
            if kind == "<" and "/" in name or kind == '"' and not name.startswith("tacos/"):
                problems.append(f"{path}: public headers include only the standard library and tacos/")
    for folder in ("src", "include", "python", "tests", "bench", "examples", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".cc", ".py"}:
                problems += check_house_rules(path)
    problems += check_one_definition(
        sorted((root / "include").rglob("*.h")) + sorted((root / "src").rglob("*.h")))
    for problem in problems:
        print(problem.replace(f"{root}/", ""), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""The package as users get it: examples in docstrings, types, a wheel, notebooks."""

import ast
import doctest
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys
import zipfile

import pytest

import tacos

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(tacos.__file__).parent
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = ["tacos", *(f"tacos.{module.name}" for module in pkgutil.iter_modules([str(PACKAGE)])
                      if module.name not in ("_core", "_c10d", "torch"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert found.failed == 0


def test_examples_in_the_documentation() -> None:
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False,
                             optionflags=OPTIONS)
    assert found.attempted > 10 and found.failed == 0


def test_all_that_is_public_is_documented() -> None:
    for name in tacos.__all__:
        thing = getattr(tacos, name)
        assert thing.__doc__ or not getattr(thing, "__module__", "").startswith("tacos."), name


def test_types() -> None:
    if subprocess.run(["mypy", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("mypy is not installed")
    done = subprocess.run(["mypy", "--cache-dir", str(ROOT / "build" / "mypy")], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_stub_has_what_the_module_has() -> None:
    from tacos import _core

    def public(names: "set[str]") -> "set[str]":
        return {name for name in names if not name.startswith("_")}

    def said(body: list) -> "set[str]":
        functions = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        return public(functions | {node.target.id for node in body if isinstance(node, ast.AnnAssign)})

    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    assert said(stub.body) == public(set(vars(_core)))
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            assert said(node.body) == public(set(vars(getattr(_core, node.name)))), node.name


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Made out of the build that is there, so that nothing is compiled again."""
    folder = tmp_path_factory.mktemp("wheel")
    environment = {**os.environ, "TACOS_BUILD_DIR": str(ROOT / "build" / "release")}
    environment.pop("PYTHONPATH", None)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w",
                    str(folder), str(ROOT)], env=environment, check=True)
    (made,) = folder.glob("*.whl")
    return made


def test_a_wheel_has_all_of_it_and_nothing_else(wheel: pathlib.Path) -> None:
    assert "py3-none-any" not in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tacos/__init__.py", "tacos/_core.pyi", "tacos/py.typed"} <= set(names)
    assert sum(name.startswith("tacos/_core.") and name.endswith(".so") for name in names) == 1
    assert sum(name.startswith("tacos/libtacos.so.") for name in names) == 1
    assert all(name.startswith(("tacos/", "tacos-")) and "__pycache__" not in name for name in names)


def test_a_wheel_works_in_an_empty_environment(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(home)], check=True)
    site = subprocess.run([home / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                          env=environment, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, str(wheel)],
                   env=environment, check=True)
    code = "import tacos; print(tacos.__file__); print(tacos.synthesize('ring:4', 'all-gather', size='1MiB').verified)"
    done = subprocess.run([home / "bin" / "python", "-c", code], cwd=tmp_path, env=environment, capture_output=True,
                          text=True, check=True)
    where, verified = done.stdout.split()
    assert pathlib.Path(where).is_relative_to(home) and verified == "True"


@pytest.mark.parametrize("name", ["your_cluster_in_ten_minutes", "what_a_dead_link_costs"])
def test_notebooks_run(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    nbconvert = pytest.importorskip("nbconvert.preprocessors")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(ROOT / "examples" / "notebooks" / f"{name}.ipynb", as_version=4)
    runner = nbconvert.ExecutePreprocessor(timeout=120, kernel_name="python3")
    runner.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)

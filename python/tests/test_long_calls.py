# SPDX-License-Identifier: MIT
"""Long calls: other threads run, progress is told, Ctrl-C stops them."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import tacos

LONG = ("mesh:64x64", "all-gather")
KEYWORDS = {"size": "1GiB", "effort": 9, "chunks": 8, "threads": 1}


def test_progress_is_told_and_never_goes_back() -> None:
    shares: list = []
    with pytest.raises(RuntimeError, match="enough"):
        def listen(share: float) -> None:
            shares.append(share)
            if len(shares) == 5:
                raise RuntimeError("enough")

        tacos.synthesize(*LONG, **KEYWORDS, progress=listen)
    assert len(shares) == 5 and sorted(shares) == shares and 0 <= shares[0] and shares[-1] < 1


def test_other_threads_run_meanwhile() -> None:
    steps = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal steps
        while not stop.wait(0.001):
            steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(RuntimeError):
            calls = iter(range(4))

            def listen(_: float) -> None:
                if next(calls) == 3:
                    raise RuntimeError

            tacos.synthesize(*LONG, **KEYWORDS, progress=listen)
    finally:
        stop.set()
        thread.join()
    assert steps > 10


@pytest.fixture(scope="module")
def large() -> tacos.Schedule:
    """Of five million transfers."""
    return tacos.synthesize("mesh:48x48", "all-gather", size="1GiB", effort=1).schedule


@pytest.mark.parametrize("write", ["save", "save_trace", "csv", "perfetto"])
def test_writing_stops_and_leaves_nothing_behind(write: str, large: tacos.Schedule, tmp_path: pathlib.Path) -> None:
    def stop(_: float) -> None:
        raise RuntimeError("enough")

    call = getattr(large, write, None)
    with pytest.raises(RuntimeError, match="enough"):
        if call is not None:
            call(tmp_path / "file", progress=stop, threads=1)
        else:
            large.export(tmp_path / "file", write, progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [
    'tacos.repair(large, fail=["link:0-1"])',
    'tacos.contingency("mesh:8x8", "all-gather", tempfile.mkdtemp() + "/answers", effort=9)',
    'tacos.resilience("mesh:16x16", "all-reduce", effort=9)',
    'tacos.explain(tacos.synthesize("mesh:8x8", "all-to-all", size="1KiB", effort=1))',
    'tacos.simulate(large, jitter=5)',
    'large.verify()',
    'large.view(open_browser=False, path=tempfile.mkdtemp() + "/page.html")',
    'large.to_svg(timeline=True)',
    'large.to_text("csv")',
    'large.ends(), large.utilization()',
    'list(large)',
    'tacos.bound("dragonfly:16x17", "all-reduce")',
    'tacos.synthesize("torus:16x16", "all-reduce", size="1GiB", effort=9)',
    'tacos.synthesize("mesh:48x48", "all-gather", size="1GiB", effort=9, chunks=8)',
    'tacos.synthesize("mesh:12x12", "all-to-all", size="1GiB", effort=9)',
    'tacos.compare("torus:16x16", "all-reduce", size="1GiB", effort=9)',
    'tacos.plan("mesh:8x8", "all-reduce", "1KiB..1GiB", tempfile.mkdtemp() + "/plan", effort=9)',
])
def test_ctrl_c_stops_it(call: str) -> None:
    make = "tacos.synthesize('mesh:32x32', 'all-gather', size='1GiB', effort=1).schedule" if "large" in call else "None"
    # What a shell starts in the background ignores Ctrl-C, and so would whatever that starts.
    code = "import signal, sys, tempfile, tacos\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" \
           f"large = {make}\nprint('ready', flush=True)\ntry:\n    while True:\n" \
           f"        {call}\nexcept KeyboardInterrupt:\n    print('interrupted')\n    sys.exit(7)\n"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        # A hang is what is looked for; how fast it is is in the ADR.
        try:
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert (child.returncode, out) == (7, "interrupted\n")


def test_a_line_of_progress_where_people_look(capsys: pytest.CaptureFixture[str],
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    from tacos import _progress
    monkeypatch.setattr(_progress.importlib.util, "find_spec", lambda name: None)
    with _progress.shown("working", True) as listener:
        listener(0.25)
    assert "working  25%" in capsys.readouterr().err
    with _progress.shown("working", False) as listener:
        assert listener is None


def test_tqdm_where_it_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    from tacos import _progress
    with _progress.shown("working", True) as listener:
        listener(0.25)
        assert "25%" in capsys.readouterr().err


def test_importing_starts_no_threads_and_nothing_else() -> None:
    code = ("import sys, os, tacos\n"
            "assert len(os.listdir('/proc/self/task')) == int(sys.argv[1])\n"
            "print([m for m in ('matplotlib', 'networkx', 'pandas', 'torch', 'tqdm', 'IPython') if m in sys.modules])")
    import_numpy = "import os, numpy; print(len(os.listdir('/proc/self/task')))"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    alone = subprocess.run([sys.executable, "-c", import_numpy], env=environment, capture_output=True, text=True,
                           check=True).stdout.strip()
    done = subprocess.run([sys.executable, "-c", code, alone], env=environment, capture_output=True, text=True,
                          check=True)
    assert done.stdout == "[]\n"

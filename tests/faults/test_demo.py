"""The demo at work: what it says, what it survives, and that nothing is left of it.

To start one takes longest, so the tests share one for as long as it runs, and each leaves it in order or ends it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.test_breaker_services import keeper_of, soon
from tests.faults.test_startup import ROOT, begin_demo, free_port, left_behind, run


class Demo:
    """A demo at work."""

    def __init__(self, var: Path, port: int) -> None:
        self.var, self.address = var, f"http://127.0.0.1:{port}"
        self.process = begin_demo(var, port)
        assert self.process.stdout is not None
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if "Ctrl-C stops everything" in line:
                return
        raise AssertionError(f"the demo ended: {self.said}")

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def end(self, signum: int) -> int:
        self.process.send_signal(signum)
        self.said += self.process.communicate(timeout=60)[0]
        return self.process.returncode


class Demos:
    """One demo after the other, in one folder."""

    def __init__(self, var: Path, port: int) -> None:
        self.var, self.port = var, port
        self._last: Demo | None = None

    def running(self) -> Demo:
        """The one that runs, else a new one on what the last one left."""
        if self._last is None or not self._last.runs:
            self._last = Demo(self.var, self.port)
        return self._last

    def end(self) -> None:
        if self._last is not None and self._last.runs:
            self._last.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def demos() -> Iterator[Demos]:
    if not (ROOT / "frontend" / "dist" / "app.js").exists():
        pytest.skip("the front-end is not built: run 'make setup'")
    made = Demos(Path(tempfile.mkdtemp(prefix="sm-")), free_port())
    yield made
    made.end()
    shutil.rmtree(made.var, ignore_errors=True)


def test_the_demo_says_where_it_is_answers_there_and_refuses_a_twin(demos: Demos) -> None:
    demo = demos.running()
    with urllib.request.urlopen(f"{demo.address}/sign-in/") as page:
        assert page.status == 200
    assert demo.address in demo.said
    assert re.search(r"annotator\s+\S+\s+password \S+", demo.said)
    twin = run(demo.var, "deploy/make.py", "demo", "--port", "1")
    assert twin.returncode == 2
    assert f"already running ({demo.address}/" in twin.stderr


def test_a_demo_whose_keeper_is_killed_starts_the_services_again(demos: Demos) -> None:
    demo = demos.running()
    killed = keeper_of(demo.var)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)

    assert soon(
        lambda: keeper_of(demo.var) not in {None, killed} and (demo.var / "run" / "keeper.json").exists()
    )
    assert projects(demo.var) == "1\n"
    assert demo.runs


def test_a_killed_demo_takes_everything_along_and_the_next_one_finds_its_data(demos: Demos) -> None:
    assert demos.running().end(signal.SIGKILL) == -signal.SIGKILL
    assert soon(lambda: left_behind(demos.var) == [])

    assert demos.running().runs
    assert projects(demos.var) == "1\n"


def test_ctrl_c_leaves_nothing_of_a_demo(demos: Demos) -> None:
    demo = demos.running()
    assert demo.end(signal.SIGINT) == 0
    assert "Stopped" in demo.said
    assert left_behind(demo.var) == []


def projects(var: Path) -> str:
    count = "from annotator.models import Project; print(Project.objects.count())"
    return run(var, "manage.py", "shell", "--no-imports", "-c", count).stdout

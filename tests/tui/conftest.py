"""A small workspace, an engine that only talks, and the app on both."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from judge_tui.judging.scorecard import FileStamp, Scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.matchup_desk import MatchupDesk
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.kept.rescue import Rescue
from judge_tui.tui.screens.compare import CompareScreen
from judge_tui.tui.session import Session

Opener = Callable[[], Session]
THREE = ("alpha", "beta", "gamma")

RUBRIC = """
task = "kv"
title = "KV cache"
version = 1
[[dimension]]
id = "correctness"
title = "Correctness"
key = "c"
weight = 3.0
description = "Whether decoding equals full recomputation."
checks = ["accuracy"]
  [dimension.levels]
  60 = "Wrong inside the contract."
  75 = "Right for equal lengths."
  85 = "Right for ragged batches."
  95 = "Right and argued."
[[dimension]]
id = "tests"
title = "Tests"
key = "t"
weight = 1.0
description = "What was tested."
checks = ["own_tests"]
  [dimension.levels]
  60 = "None."
  85 = "Every role."
[[cap]]
if = "accuracy fails"
dimension = "correctness"
max = 65
reason = "A wrong answer is wrong."
[[grade]]
letter = "A"
min = 90
[[grade]]
letter = "B"
min = 70
[[grade]]
letter = "F"
min = 0
"""

CODE = '''"""A cache."""

import numpy as np


class Cache:
    """Keys and values."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.keys = np.zeros(size)

    def update(self, at: int, key: float) -> None:
        # place one key
        self.keys[at] = key


def attend(query, cache):
    scores = query * cache.keys
    return scores.sum()
'''

#: A file with a tab, a long line and many functions; the number of that line.
LONG = CODE + "\t# a tab\n" + "x = '" + "long " * 80 + "'\n"
LONG_LINE = str(LONG.count("\n"))
LONG += "".join(f"\n\ndef f_{n}(x):\n    # {n}\n    y = x + {n}\n    return y\n" for n in range(60))


def make_workspace(root: Path, models: tuple[str, ...] = ("alpha", "beta")) -> Workspace:
    """A workspace with one task and a submission per model."""
    (root / "rubrics").mkdir(parents=True)
    (root / "scores").mkdir()
    (root / "rubrics" / "kv.toml").write_text(RUBRIC)
    for number, model in enumerate(models):
        folder = root / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        (folder / "kv_cache.py").write_text(CODE + f"\n\ndef extra_{number}():\n    return {number}\n")
        (folder / "helpers.py").write_text("def helper():\n    return 'cache'\n")
        (folder / "submission.toml").write_text(
            f'origin = "reconstruction"\nsource = "test"\nmodel = "{model.title()}"\n'
        )
    return Workspace.find(explicit=root)


ENGINE = """
import json, sys, time
request = json.loads(sys.stdin.readline())
def tell(**event):
    print(json.dumps(event), flush=True)
checks = [("accuracy", "Accuracy"), ("own_tests", "Own tests"), ("size", "Size")]
if request.get("checks"):
    checks = [c for c in checks if c[0] in request["checks"]]
fresh = request.get("fresh", False)
tell(type="planned", task=request["task"], checks=[
    dict(model=s["model"], check=c, title=t, establishes="that it holds")
    for s in request["submissions"] for c, t in checks])
tell(type="ready", backend="cpu", device="NumPy", sandbox="full", seed=7)
for s in request["submissions"]:
    for check, title in checks:
        tell(type="started", model=s["model"], task=request["task"], check=check)
        bad = check == "accuracy" and s["model"] == "beta"
        tell(type="finished", outcome=dict(
            model=s["model"], task=request["task"], check=check, verdict="fail" if bad else "pass",
            summary=("again: " if fresh else "")
            + ("rel err 0.032, limit 1e-05 \\x1b[31m" if bad else "all well"),
            seconds=0.25, seed=7, backend="cpu", device="NumPy", sandbox="full",
            evidence=[
                dict(quantity="rel err", measured=0.032, limit=1e-5, ok=False, file="kv_cache.py", line=15,
                     note="key misplaced"),
                dict(quantity="curve", curve=dict(x="step", y="err", points=[[1, 1e-7], [2, 1e-3]],
                     log_y=True)),
                dict(quantity="log", output="one\\x1b]0;title\\x07\\n[bold]two[/bold]"),
            ] if bad else []))
END
tell(type="done", seconds=1.0)
"""

DYING = "import sys; sys.stdin.readline(); sys.stderr.write('boom \\x1b[31m\\n'); sys.exit(3)"
HANGING = ENGINE.replace("END", "import subprocess; subprocess.Popen(['sleep', '600']); time.sleep(600)")


@pytest.fixture(autouse=True)
def slow_disks_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine fails no test that is not about one."""
    monkeypatch.setattr("judge_tui.tui.desk.autosave._PATIENCE_S", 60.0)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    return make_workspace(tmp_path / "ws")


@pytest.fixture
def three(tmp_path: Path, workspace: Workspace) -> Workspace:
    """A workspace of three submissions, the first with much code and the second unlike it."""
    made = make_workspace(tmp_path / "three", THREE)
    folder = made.root / "submissions"
    (folder / "alpha" / "kv" / "kv_cache.py").write_text(LONG)
    other = CODE.replace("scores = query * cache.keys", "scores = 2 * cache.keys").replace(".sum()", ".max()")
    (folder / "beta" / "kv" / "kv_cache.py").write_text(other)
    return made


def make_app(
    workspace: Workspace, models: tuple[str, ...] = ("alpha", "beta"), engine: str | None = ENGINE
) -> JudgeApp:
    """The app on a workspace; ``engine`` is the source of the program that plays it."""
    command = None if engine is None else (sys.executable, "-c", engine.replace("END", ""))
    submissions = [workspace.submission(model, "kv") for model in models]
    return JudgeApp(
        workspace, submissions, "anna", EngineOptions(command=command), clock=lambda _: "12:00:00"
    )


class Driver:
    """The app under test: keys in, state out."""

    def __init__(self, app: JudgeApp, pilot: Any) -> None:
        self.app, self.pilot = app, pilot

    @property
    def compare(self) -> CompareScreen:
        assert self.app.compare is not None
        return self.app.compare

    @property
    def matchup(self) -> MatchupDesk:
        """The matchup of all that is compared, which is open."""
        return self.compare.session.matchups[tuple(range(len(self.compare.session.submissions)))]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.until(lambda: not self.app.typing)

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait for a condition; the test's own time limit is generous."""
        for _ in range(600):
            if condition():
                await self.pilot.pause()
                return
            await self.pilot.pause(0.02)
        raise AssertionError("the condition never came true")

    async def settle(self) -> None:
        """Wait until code is coloured and checks are done."""
        compare = self.compare
        await self.until(lambda: all(pane.settled and pane.view.symbols for pane in compare.panes))
        await self.until(
            lambda: (
                len(compare.checks_pane.rows.keys)
                and not compare.runner.active
                and not compare.checks_pane.active
                and not compare.parts.checks.stale
            )
        )

    def messages(self) -> list[str]:
        """What is told in messages at the moment."""
        return [message.message for message in self.app._notifications]

    def text(self) -> str:
        """Everything on the screen, as text."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in lines)


@asynccontextmanager
async def running(app: JudgeApp, size: tuple[int, int] = (160, 45)) -> AsyncIterator[Driver]:
    """The app with a pilot; closed as the command closes it."""
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await pilot.pause()
        yield driver
    app.close_session()


def keep(path: Path, card: Scorecard, base: FileStamp | None) -> None:
    """Keep a card as a run does that ends then."""
    ended = Rescue(path)
    assert ended.keep(card, base)
    ended.close()


class Reports:
    """What was reported by saving threads."""

    def __init__(self) -> None:
        self.all: list[SaveReport] = []
        self._arrived = threading.Condition()

    def __call__(self, report: SaveReport) -> None:
        with self._arrived:
            self.all.append(report)
            self._arrived.notify_all()

    def wait_for(self, state: str) -> SaveReport:
        with self._arrived:
            assert self._arrived.wait_for(lambda: any(r.state == state for r in self.all), 20)
            return next(r for r in self.all if r.state == state)


@pytest.fixture
def reports() -> Reports:
    return Reports()


@pytest.fixture
def opened(workspace: Workspace, reports: Reports) -> Iterator[Opener]:
    sessions: list[Session] = []

    def open_session() -> Session:
        submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
        sessions.append(Session(workspace, submissions, "anna", reports))
        sessions[-1].save_restored()
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()


@pytest.fixture
def not_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open matchup does not look at its file by itself: what another window saves becomes a conflict."""
    monkeypatch.setattr("judge_tui.tui.screens.matchup._PROPOSE_S", 3600.0)

"""Home under test: the app without a comparison, what is judged there, and what it opens."""

from __future__ import annotations

import shutil
import sys

from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.screens.compare import CompareScreen
from judge_tui.tui.screens.home import HomeScreen

from .conftest import RUBRIC, Driver

__all__ = ["add_tasks", "home", "make_home", "opened", "ready", "score"]


def make_home(workspace: Workspace, engine: str | None = None) -> JudgeApp:
    command = None if engine is None else (sys.executable, "-c", engine.replace("END", ""))
    return JudgeApp(workspace, (), "anna", EngineOptions(command=command), clock=lambda _: "12:00:00")


def home(app: Driver) -> HomeScreen:
    assert app.app.home is not None
    return app.app.home


async def ready(app: Driver) -> HomeScreen:
    """Home, with everything read."""
    await app.until(lambda: app.app.home is not None and home(app).settled)
    return home(app)


async def opened(app: Driver) -> tuple[str, ...]:
    """The models of the comparison that is open."""
    await app.until(lambda: isinstance(app.app.screen, CompareScreen) and app.compare.is_mounted)
    return tuple(submission.model for submission in app.compare.session.submissions)


def score(workspace: Workspace, model: str, points: int | None, task: str = "kv") -> None:
    card, stamp = workspace.scorecard(task, model, "anna")
    rubric = workspace.rubric(task)
    for dimension in rubric.dimensions[: 1 if points is None else None]:
        card = card.with_score(dimension.id, 50 if points is None else points)
    card = card.judged_under(rubric, workspace.submission(model, task).digest)
    save_scorecard(workspace.scorecard_path(task, model, "anna"), card, stamp)


def add_tasks(workspace: Workspace, tasks: list[str], models: tuple[str, ...] = ("alpha", "beta")) -> None:
    for task in tasks:
        (workspace.root / "rubrics" / f"{task}.toml").write_text(RUBRIC.replace('"kv"', f'"{task}"'))
        for model in models:
            shutil.copytree(
                workspace.root / "submissions" / model / "kv", workspace.root / "submissions" / model / task
            )

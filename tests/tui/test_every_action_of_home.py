"""Every action of Home, pressed by its key."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.report import ReportScreen
from judge_tui.tui.screens.scores import ScoresScreen

from .at_home import add_tasks, home, make_home, ready
from .conftest import THREE, Driver, running
from .tour import MORE, OTHER, Step, focused, screen, told, tour


def cell(app: Driver) -> tuple[int, int]:
    return home(app).matrix.row, home(app).matrix.column


async def back_home(app: Driver) -> None:
    await app.until(lambda: app.compare.is_mounted)
    await app.press("q")
    await ready(app)


def readings(app: Driver) -> int:
    reading = home(app).reading
    assert reading is not None
    return reading.turn


def task_in_view(app: Driver) -> str:
    scores = app.app.screen
    assert isinstance(scores, ScoresScreen)
    return scores.of_task


def shape(app: Driver) -> str:
    """The shape of the report in view."""
    report = app.app.screen
    assert isinstance(report, ReportScreen)
    return report.shape


HOME_STEPS: Sequence[Step] = (
    ("matrix.model-down", cell, (1, 0)),
    ("matrix.model-up", cell, (0, 0)),
    ("matrix.task-to-the-right", cell, (0, 1)),
    ("matrix.task-to-the-left", cell, (0, 0)),
    ("matrix.last-model", cell, (2, 0)),
    ("matrix.first-model", cell, (0, 0)),
    ("matrix.last-task", cell, (0, 1)),
    ("matrix.first-task", cell, (0, 0)),
    ("matrix.page-down", cell, OTHER),
    ("matrix.page-up", cell, (0, 0)),
    ("matrix.mark", lambda a: len(home(a).board.marked), 1),
    ("matrix.take-all-marks-away", lambda a: len(home(a).board.marked), 0),
    ("home.sort-by", screen, "Picker"),
    ("down", "enter"),
    ("home.the-other-way-round", lambda a: home(a).board.order.down, OTHER),
    ("home.scores-as-bars", screen, "ScoresScreen"),
    ("scores.next-task", task_in_view, OTHER),
    ("scores.previous-task", task_in_view, OTHER),
    ("scores.back", screen, "HomeScreen"),
    ("home.filter", lambda a: len(home(a).query("#filter")), 1),
    ("filter.show-all-again", lambda a: len(home(a).query("#filter")), 0),
    ("slash", "a"),
    ("filter.keep-the-filter", focused, "matrix"),
    ("home.next-list", focused, "queue"),
    ("home.previous-list", focused, "matrix"),
    ("home.read-again", readings, MORE),
    ("home.help", screen, "HelpScreen"),
    ("escape",),
    ("home.report", screen, "ReportScreen"),
    ("report.next-shape", shape, "round"),
    ("report.previous-shape", shape, "head-to-head"),
    ("report.back", screen, "HomeScreen"),
    ("home.export-the-scoreboard", screen, "ExportPrompt"),
    ("export.write-it", told, MORE),
    ("matrix.compare", screen, "CompareScreen"),
    back_home,
    ("home.next-to-judge", screen, "CompareScreen"),
    back_home,
    ("home.quit", lambda a: a.app._exit, True),
)


async def test_the_keys_of_home(three: Workspace) -> None:
    add_tasks(three, ["flash_attention"], THREE)
    async with running(make_home(three)) as app:
        await ready(app)
        await tour(app, HOME_STEPS)

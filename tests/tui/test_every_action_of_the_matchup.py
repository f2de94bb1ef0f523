"""Every action of the matchup, pressed by its key."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.judging.matchup import Matchup, Matchups, save_matchups
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.matchup_desk import MatchupDesk

from .conftest import ENGINE, Driver, make_app, running
from .tour import MORE, Step, screen, told, tour


def desk(app: Driver) -> MatchupDesk:
    return app.matchup


def winner(app: Driver) -> str | None:
    return desk(app).matchup.winner


def criteria(app: Driver) -> list[str]:
    return [criterion.name for criterion in desk(app).matchup.criteria]


async def write_matchup(app: Driver) -> None:
    """Another window writes the matchup, and this one changes it too."""
    desk(app).flush()
    path = app.compare.session.workspace.matchups_path("kv", "anna")
    path.unlink()
    save_matchups(path, Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta"),)), None)
    await app.press("g", "A" if winner(app) != "alpha" else "t")
    await app.until(lambda: "press ! to settle" in app.text())


async def save_over(app: Driver) -> None:
    """Settle the conflict by saving over it, to the end: what is being saved is no more to be told."""
    await app.press("o")
    await app.until(lambda: not desk(app).unsaved)


MATCHUP_STEPS: Sequence[Step] = (
    ("s", "c", "6", "0", "t", "7", "0", "w", "c", "9", "0", "t", "7", "0", "escape", "M"),
    ("matchup.accept", winner, "beta"),
    ("matchup.undo", winner, None),
    ("matchup.redo", winner, "beta"),
    ("k", "k"),
    ("matchup.leave-it-open", winner, None),
    ("matchup.tie", winner, "tie"),
    ("matchup.a-is-ahead", winner, "alpha"),
    ("matchup.b-is-ahead", winner, "beta"),
    ("t",),
    ("j", "j"),
    ("matchup.edit", screen, "TextEditor"),
    ("escape",),
    ("matchup.add-a-line", screen, "CriterionEditor"),
    (*"Docs", "escape", "a", *"Tests", "escape"),
    ("matchup.line-further-up", criteria, ["Tests", "Docs"]),
    ("matchup.line-further-down", criteria, ["Docs", "Tests"]),
    ("matchup.remove-decline", criteria, ["Docs"]),
    ("G", "d"),
    ("matchup.propose-again-what-was-declined", lambda a: desk(a).matchup.declined, ()),
    ("matchup.accept-all-that-is-proposed", lambda a: len(criteria(a)), MORE),
    ("matchup.help", screen, "HelpScreen"),
    ("escape",),
    write_matchup,
    ("matchup.settle-a-conflict-of-two-windows", screen, "ConflictQuestion"),
    save_over,
    ("matchup.save-now", told, MORE),
    ("matchup.back", screen, "CompareScreen"),
)


async def test_the_keys_of_the_matchup(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=ENGINE)) as app:
        await app.settle()
        await tour(app, MATCHUP_STEPS)

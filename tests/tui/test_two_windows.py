"""What a judge is told where another window has changed the same: both versions, and what is not saved."""

from __future__ import annotations

import pytest

from judge_tui.judging.matchup import Matchup, Matchups, save_matchups
from judge_tui.judging.scorecard import load_scorecard, render_scorecard
from judge_tui.judging.versions import Differing
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.criterion_editor import CriterionEditor
from judge_tui.tui.screens.compare_saving import CompareSaving
from judge_tui.tui.screens.question import ConflictQuestion, LeaveQuestion
from judge_tui.tui.screens.text_editor import TextEditor

from .conftest import Driver, make_app, running

SAVED, UNSAVED = "saved as you type", "not saved: changed by another window"


def write_elsewhere(workspace: Workspace, comment: str) -> None:
    """Save a comment on the first card, as another window does."""
    path = workspace.scorecard_path("kv", "alpha", "anna")
    # its stamp is that of what it has read
    path.write_text(render_scorecard(load_scorecard(path).with_comment("correctness", comment)))


async def commented(app: Driver, text: str) -> None:
    await app.press("s", "c", "enter", *text)


async def test_an_open_editor_says_that_what_is_typed_is_not_saved(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await commented(app, "mine")
        assert isinstance(app.app.screen, TextEditor)
        await app.until(lambda: not app.compare.session.unsaved())
        assert SAVED in app.text()
        write_elsewhere(workspace, "theirs")
        await app.press("x")
        await app.until(lambda: UNSAVED in app.text())
        assert SAVED not in app.text()
        # nor does one that is opened then, but one of another card does
        await app.press("escape", "enter")
        assert UNSAVED in app.text()
        await app.press("escape", "w", "enter")
        assert SAVED in app.text()
        await app.press("escape", "!", "o")
        await app.until(lambda: not app.compare._conflicts)
        await app.press("w", "enter")
        assert SAVED in app.text()


async def test_the_question_shows_both_texts(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await commented(app, "mine")
        await app.until(lambda: not app.compare.session.unsaved())
        write_elsewhere(workspace, "the other\nline")
        await app.press("x", "escape")
        await app.until(lambda: bool(app.compare._conflicts))
        await app.press("!")
        lines = [line.strip("│ ") for line in app.text().split("\n")]
        at = lines.index("comment on Correctness:")
        assert [line.split() for line in lines[at + 1 : at + 3]] == [
            ["here", "minex"],
            ["there", "the", "other", "line"],
        ]


async def test_a_conflict_that_is_settled_asks_nothing_at_leaving_though_its_report_is_slow(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await commented(app, "mine")
        await app.until(lambda: not app.compare.session.unsaved())
        write_elsewhere(workspace, "theirs")
        await app.press("x", "escape")
        await app.until(lambda: bool(app.compare._conflicts))
        monkeypatch.setattr(CompareSaving, "on_save_reported", lambda screen, message: None)
        await app.press("!", "o")
        await app.until(lambda: not app.compare.session.unsaved())
        await app.press("q")
        assert not isinstance(app.app.screen, LeaveQuestion)


ALIKE = "It handles ragged batches and says so. " * 5


@pytest.mark.parametrize(
    ("differing", "width", "lines"),
    [
        (Differing("overall", "80", ""), 60, ["overall: 80 here, – there"]),
        (Differing("summary", "", "so", prose=True), 60, ["summary: only there", "  there  so"]),
        (Differing("summary", "a", "b", prose=True), 60, ["summary:", "  here   a", "  there  b"]),
        (
            Differing("summary", f"{ALIKE}Or not.", f"{ALIKE}Always.", prose=True),
            40,
            ["summary:", "  here   …says so. Or not.", "  there  …says so. Always."],
        ),
        (
            Differing("summary", "a" * 50, "b" * 50, prose=True),
            30,
            ["summary:", f"  here   {'a' * 20}…", f"  there  {'b' * 20}…"],
        ),
    ],
    ids=["value", "one side", "short", "differ late", "long"],
)
def test_texts_are_cut_to_what_fits_from_where_they_differ(
    differing: Differing, width: int, lines: list[str]
) -> None:
    question = ConflictQuestion("The card", "u", [differing])
    assert question.details(width, 20) == lines


def test_what_does_not_fit_is_counted() -> None:
    texts = [Differing(f"text {n}", "a", "b", prose=True) for n in range(4)]
    question = ConflictQuestion("The card", "u", texts)
    assert question.details(60, 8)[-1] == "and 2 more"
    assert len(question.details(60, 12)) == 12


async def test_an_editor_of_the_matchup_says_so_too(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("M", "A")
        app.matchup.flush()
        path = workspace.matchups_path("kv", "anna")
        path.unlink()
        save_matchups(path, Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta"),)), None)
        await app.press("a", *"Speed")
        assert isinstance(app.app.screen, CriterionEditor)
        await app.until(lambda: UNSAVED in app.text())

"""What a judge calls a submission as a whole is said by a key, shown, saved, and undone."""

from __future__ import annotations

from judge_tui.judging.card import CellVerdict
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.picker import Picker

from .conftest import Driver, make_app, running


async def asked(app: Driver, title: str) -> None:
    """Wait until something is to be picked."""
    await app.until(lambda: isinstance(app.app.screen, Picker) and title in app.text())


async def test_it_is_picked_with_the_note_that_shows_it_and_undone_at_once(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("j", "a", *"Stores the answer.", "escape", "s", "V")
        await asked(app, "as a whole")
        await app.press(*"hack", "enter")
        await asked(app, "The note that shows it")
        await app.press(*"stores", "enter")
        note = app.compare.session.cards[0].notes[0]
        assert app.compare.session.cards[0].verdict == CellVerdict("reward hack", note.id)
        await app.press("O")
        assert f"⚑ reward hack · {note.where}" in app.text()
        session = app.compare.session
        await app.until(lambda: not session.unsaved())
        saved = load_scorecard(workspace.scorecard_path("kv", "alpha", "anna"))
        assert saved.verdict == CellVerdict("reward hack", note.id)
        await app.press("u")
        assert app.compare.session.cards[0].verdict is None
        await app.press("ctrl+r", "V")
        await asked(app, "say nothing")
        await app.press(*"nothing", "enter")
        assert app.compare.session.cards[0].verdict is None


async def test_without_a_note_nothing_more_is_asked_and_escape_says_nothing(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "w", "V")
        await asked(app, "as a whole")
        assert "say nothing" not in app.text()
        await app.press("escape")
        assert app.compare.session.cards[1].verdict is None
        await app.press("V")
        await asked(app, "as a whole")
        await app.press(*"interesting", "enter")
        await app.until(lambda: not isinstance(app.app.screen, Picker))
        assert app.compare.session.cards[1].verdict == CellVerdict("interesting")
        assert app.compare.session.cards[0].verdict is None

"""A note that is being written while its file changes underneath: on its lines, or its judge is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.placing import placed_notes
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.note_editor import NoteEditor

from .conftest import Driver, make_app, running
from .test_note_places import F4, SIX, card_path, changed, code, settled

#: As long as one of the six: what stood in the fourth says what the third does.
SEVENTH = "def f0(x):\n    out = x * 0\n    return out\n\n\n"
__all__ = ["code"]


async def begun(app: Driver, line: str = "18", text: str = "") -> None:
    """Open the editor of a note on a line, with its first letters."""
    await settled(app)
    await app.press("A", "colon", *line, "enter", "a", "f4", *text)
    await app.until(lambda: isinstance(app.app.screen, NoteEditor))


async def ended(app: Driver, text: str = "broken") -> None:
    """Write the rest, and close the editor."""
    await app.press(*text, "escape")
    await app.until(lambda: app.app.screen is app.compare)
    await settled(app)


@pytest.mark.parametrize("first", ["", "is "])
async def test_lines_that_move_under_the_editor_keep_the_note(
    workspace: Workspace, code: Path, first: str
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await begun(app, text=first)
        await changed(app, code, SEVENTH + SIX)
        await ended(app)
        await app.until(
            lambda: app.compare.session.placed(0, app.compare.session.notes(0)[0]).note.lines == (23, 23)
        )
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.text, note.file, note.lines) == (f"{first}broken", "kv_cache.py", (23, 23))
    assert note.context is not None
    assert note.context.within == "f4"


@pytest.mark.parametrize("first", ["", "is "])
@pytest.mark.parametrize("name", ["cache.py", "deep/down/cache.py"])
async def test_a_file_that_is_renamed_under_the_editor_keeps_its_note(
    workspace: Workspace, code: Path, first: str, name: str
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await begun(app, text=first)
        to = code.parent / name
        to.parent.mkdir(parents=True, exist_ok=True)
        code.rename(to)
        to.write_text(SEVENTH + SIX)
        app.compare.parts.watching.disk_changed(frozenset({code, to}))
        await ended(app)
        await app.until(
            lambda: app.compare.session.placed(0, app.compare.session.notes(0)[0]).note.file == name
        )
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.text, note.file, note.lines) == (f"{first}broken", name, (23, 23))


async def test_a_new_file_of_the_old_name_does_not_get_the_note(workspace: Workspace, code: Path) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await begun(app)
        to = code.parent / "cache.py"
        code.rename(to)
        code.write_text(SEVENTH * 4)
        app.compare.parts.watching.disk_changed(frozenset({code, to}))
        await ended(app)
        session = app.compare.session
        await app.until(lambda: session.placed(0, session.notes(0)[0]).note.file == "cache.py")
        assert session.placed(0, session.notes(0)[0]).note.lines == (18, 18)


@pytest.mark.parametrize("first", ["", "is "])
async def test_a_note_whose_file_is_deleted_under_the_editor_is_marked_and_its_text_kept(
    workspace: Workspace, code: Path, first: str
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await begun(app, text=first)
        code.unlink()
        app.compare.parts.watching.disk_changed(frozenset({code}))
        await ended(app)
        session = app.compare.session
        await app.until(lambda: session.placed(0, session.notes(0)[0]).standing == "gone")
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.text, note.file, note.lines) == (f"{first}broken", "kv_cache.py", (18, 18))


@pytest.mark.parametrize(
    "now",
    [SIX.replace(F4, ""), SIX.replace("x * 4\n    return out", "x * 4\n    return -out")],
    ids=["deleted", "edited"],
)
async def test_a_note_whose_lines_go_under_the_editor_is_marked(
    workspace: Workspace, code: Path, now: str
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await begun(app)
        await changed(app, code, now)
        await ended(app)
        session = app.compare.session
        await app.until(lambda: session.placed(0, session.notes(0)[0]).standing != "there")
        assert session.notes(0)[0].text == "broken"


async def test_two_notes_that_begin_on_a_line_of_one_number_stay_apart(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        session = app.compare.session
        await begun(app)
        await ended(app, "fourth")
        await changed(app, code, SEVENTH + SIX)
        await begun(app)
        await ended(app, "third")
        await app.until(lambda: len(session.notes(0)) == 2)
        await settled(app)
        places = {note.text: session.placed(0, note).note.lines for note in session.notes(0)}
        assert places == {"fourth": (23, 23), "third": (18, 18)}
    saved = {note.text: note.lines for note in load_scorecard(card_path(workspace)).notes}
    assert saved == {"fourth": (23, 23), "third": (18, 18)}


async def test_an_old_note_that_is_written_on_while_its_file_is_renamed_goes_with_it(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await begun(app)
        await ended(app, "broken")
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.press("L", "e")
        await app.until(lambda: isinstance(app.app.screen, NoteEditor))
        to = code.parent / "cache.py"
        code.rename(to)
        to.write_text(SEVENTH + SIX)
        app.compare.parts.watching.disk_changed(frozenset({code, to}))
        await app.press(*"!", "escape", "escape")
        await settled(app)
        session = app.compare.session
        await app.until(lambda: session.placed(0, session.notes(0)[0]).note.file == "cache.py")
    # no more is written than what the judge has changed: where it is, follows from what stands around it
    card = load_scorecard(card_path(workspace))
    [placed] = placed_notes(card, workspace.submission("alpha", "kv")).values()
    assert (placed.note.text, placed.where) == ("broken!", "cache.py:23")

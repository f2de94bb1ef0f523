"""A note begins in its text: no letter chooses, and what is typed is kept to the character."""

from __future__ import annotations

import pytest
from textual.containers import Vertical
from textual.widgets import Input, TextArea

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.note_editor import NoteEditor

from .conftest import Driver, make_app, running
from .test_personal import configure
from .test_type_ahead import burst, send
from .tour import kind, severity

#: A zero-width joiner and non-joiner, two blanks that Python does not print, a sign of fonts for programmers.
JOINED = "نمی\u200cخواهم 👩\u200d💻 a\u00a0b \u3000 \ue0a0"


def written(app: Driver) -> list[tuple[str, str, str]]:
    return [(note.kind, note.severity, note.text) for note in app.compare.session.notes(0)]


@pytest.mark.parametrize("text", ["should be x+1", "weak", "bug?", "q", "1 of 3 is off", "3"])
async def test_a_note_begins_with_its_first_letter(workspace: Workspace, text: str) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await burst(app, f"a{text}\x1b")
        assert written(app) == [("question", "minor", text)]


async def test_kind_and_severity_are_chosen_within_the_text(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("a", *"so", "f4", *"me", "f8", *"thing", "escape")
        assert written(app) == [("bug", "critical", "something")]
        # what is good weighs nothing
        await app.press("a", "f2", "f7", *"good", "escape")
        assert written(app)[1:] == [("strength", "minor", "good")]


async def test_a_strength_has_no_severity_to_be_seen_and_keeps_the_one_on_its_card(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("a", "f4", "f8", *"clear", "f2")
        assert "severity   none: a strength" in app.text()
        assert "critical" not in app.text()
        # nothing can be chosen there: the keys lead from the text to the kind
        await app.press("shift+tab")
        assert app.app.screen.focused is app.app.screen.query_one("#kind")
        await app.press("escape", "L")
        assert "critical" not in app.text()
        await app.press("e", *" and", "escape")
        assert written(app) == [("strength", "critical", "clear and")]
        # the list goes on behind the editor
        await app.press("e", "f3")
        assert "▸f8 critical" in app.text()
        await app.press("escape")
        assert written(app) == [("weakness", "critical", "clear and")]


async def test_from_its_field_a_letter_leads_on_to_the_text(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("a", "tab")
        assert app.app.screen.focused is app.app.screen.query_one("#kind")
        await app.press("left", *"swbq 1", "escape")
        assert written(app) == [("bug", "minor", "swbq 1")]


async def test_letters_of_the_readers_own_choose_in_the_field_and_nowhere_else(workspace: Workspace) -> None:
    configure('[keys.note]\nbug = ["f4", "s"]\nmajor = "2"\n')
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert app.app.faults == ()
        await app.press("a", *"s2", "tab", "s")
        assert kind(app) == "bug"
        await app.press(*"s2", "shift+tab", "2")
        assert severity(app) == "major"
        await app.press("escape")
        assert written(app) == [("bug", "major", "s2s2")]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 12), (30, 8), (20, 6)])
async def test_kind_and_severity_are_in_sight_at_any_size(
    workspace: Workspace, width: int, height: int
) -> None:
    async with running(make_app(workspace), (width, height)) as app:
        await app.settle()
        await app.press("a", "f3")
        await send(app, "word " * 60)
        assert isinstance(app.app.screen, NoteEditor)
        for shown in ("▸", "weakness", "minor"):
            assert shown in app.text()
        area, box = app.app.screen.query_one(TextArea), app.app.screen.query_one(Vertical)
        assert area.region.y <= area.cursor_screen_offset.y < area.region.bottom < box.region.bottom <= height


@pytest.mark.parametrize("width", [30, 80])
async def test_the_keys_of_the_kinds_are_in_sight(workspace: Workspace, width: int) -> None:
    async with running(make_app(workspace), (width, 8)) as app:
        await app.settle()
        await app.press("a")
        for key in ("f2", "f3", "f4", "f5", "f6", "f7", "f8"):
            assert key in app.text()


async def test_what_joins_letters_is_typed_as_it_is_pasted(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await send(app, f"a{JOINED}")
        await app.press("escape")
        assert [text for _, _, text in written(app)] == [JOINED]
        # so does a line that is searched for
        await send(app, f"/{JOINED}")
        assert app.compare.query_one(Input).value == JOINED


async def test_what_turns_the_order_of_letters_round_is_typed_no_more_than_it_is_pasted(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await send(app, "aone\u202etwo\x85three")
        assert [text for _, _, text in written(app)] == ["onetwothree"]

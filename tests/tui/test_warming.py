"""What the first keys open is loaded ahead of them, and garbage is collected while nobody types."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui import garbage, warming
from judge_tui.tui.keys import type_ahead
from judge_tui.tui.screens.text_editor import TextEditor
from judge_tui.tui.textual_private.warm_styles import keep_parsed, parse_ahead

from .conftest import make_app, running


@pytest.fixture
def collector() -> Iterator[list[int]]:
    """The generations that are collected, in order; the collector is as it was in the end."""
    before, found = gc.get_threshold(), []

    def told(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            found.append(info["generation"])

    gc.callbacks.append(told)
    yield found
    gc.callbacks.remove(told)
    gc.set_threshold(*before)
    gc.unfreeze()


def test_garbage_is_collected_when_told_and_the_young_never_by_themselves(collector: list[int]) -> None:
    garbage.begin()
    kept = [[number] for number in range(500_000)]
    assert set(collector) <= {0}
    collector.clear()
    garbage.tidy(long=False)
    assert collector == [1]
    garbage.tidy(long=False)
    assert collector == [1]
    del kept


def test_everything_is_collected_once_that_is_due_and_there_is_time(
    collector: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    garbage.begin()
    monkeypatch.setattr(garbage._Since, "young", garbage._OLD)
    gc.collect(1)
    collector.clear()
    garbage.tidy(long=False)
    assert collector == []
    garbage.tidy(long=True)
    assert collector == [2]
    assert garbage._Since.young == 0


async def test_the_first_keys_find_their_screens_loaded_and_their_styles_parsed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    known = parse_ahead

    def told(app: object, kinds: list[type]) -> None:
        known(app, kinds)  # type: ignore[arg-type]
        parsed.extend(kind.__name__ for kind in kinds)

    monkeypatch.setattr(warming, "parse_ahead", told)
    async with running(make_app(workspace, engine=None)) as app:
        await app.until(lambda: "Input" in parsed)
        assert {"TextEditor", "NoteEditor", "TextArea", "EvidenceScreen"} <= set(parsed)
        before = len(app.app.stylesheet._parse_cache)
        await app.press("s", "enter")
        assert isinstance(app.app.screen, TextEditor)
        assert len(app.app.stylesheet._parse_cache) == before


async def test_a_dialog_is_drawn_when_all_of_it_is_there(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "enter")
        # once with all that is on it, and not before
        assert app.app.screen.changes > 0  # type: ignore[attr-defined]
        assert "saved as you type" in app.text()


def test_what_is_off_with_a_screen_is_told_by_the_key_that_needs_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "_FIRST", (("judge_tui.tui.there_is_none", ("A",)), ("gc", ("collect",))))
    app = make_app(workspace, engine=None)
    keep_parsed(app)
    warming._load(app)
    app.close_session()
    assert "judge_tui.tui.there_is_none" not in sys.modules


async def test_what_a_key_opens_is_drawn_in_one_frame(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type_ahead, "_HELD_S", 60.0)
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s")
        drawn: list[str] = []
        render = TextEditor._compositor_refresh

        def told(screen: TextEditor) -> None:
            before = screen.changes
            render(screen)
            if screen.changes > before:
                drawn.append("typing" if app.app.holds_drawing else "drawn")

        monkeypatch.setattr(TextEditor, "_compositor_refresh", told)
        await app.press("enter")
        assert "saved as you type" in app.text()
        assert "typing" not in drawn
        assert not app.app.holds_drawing


async def test_a_key_that_takes_long_keeps_no_frame_back(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type_ahead, "_HELD_S", 0.0)
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s")
        app.app._held_at = 0.0
        assert not app.app.holds_drawing
        await app.press("enter")
        assert "saved as you type" in app.text()

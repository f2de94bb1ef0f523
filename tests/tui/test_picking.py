"""Lists that are narrowed by typing, and the line that is asked for."""

from __future__ import annotations

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.line_prompt import LinePrompt
from judge_tui.tui.screens.picker import Picker

from .conftest import make_app, running
from .test_code import write


@pytest.mark.parametrize("opener", ["f", "o", "apostrophe"])
async def test_a_list_that_nothing_matches_says_so_and_enter_stays(workspace: Workspace, opener: str) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("b", opener)
        assert isinstance(app.app.screen, Picker)
        assert "nothing matches" not in app.text()
        await app.press(*"qqq", "enter")
        assert isinstance(app.app.screen, Picker)
        assert app.text().count("nothing matches") == 1
        await app.press("backspace", "backspace", "backspace", "enter")
        assert app.app.screen is app.compare


async def test_symbols_of_one_name_are_told_apart_by_what_they_stand_in_once_they_are_narrowed(
    workspace: Workspace,
) -> None:
    long = "L" * 70
    code = "".join(
        f"class {name}:\n    def forward(self):\n        pass\n\n\n" for name in ("A", "Norm", long)
    )
    write(workspace, code + "def forward():\n    def inner():\n        pass\n")
    async with running(make_app(workspace, engine=None), (100, 30)) as app:
        await app.until(lambda: len(app.compare.panes[0].view.symbols) == 8)
        await app.press("o")
        assert "  forward  method · line 7" in app.text()
        assert "Norm.forward" not in app.text()
        await app.press(*"forw")
        for shown in (" A.forward  method · line 2 ", " Norm.forward  method · line 7 "):
            assert shown in app.text()
        assert " forward  function · line 16 " in app.text()
        # the name itself is seen behind the longest class
        assert "…LLL" in app.text()
        assert "LLL.forward  method · line 12" in app.text()
        await app.press(*["backspace"] * 4)
        assert "Norm.forward" not in app.text()
        await app.press(*"norm.f", "enter")
        assert app.compare.panes[0].view.cursor == 6


async def test_bookmarks_show_file_and_line_beside_the_longest_code(workspace: Workspace) -> None:
    write(workspace, "a = 1\n" + "b = " + "c + " * 60 + "1\nd = 2\n")
    async with running(make_app(workspace, engine=None), (90, 30)) as app:
        await app.press("b", "j", "b", "apostrophe")
        for shown in ("a = 1  A · kv_cache.py:1 ", "b = c + c + ", "…  A · kv_cache.py:2 "):
            assert shown in app.text()


async def test_what_is_no_line_is_told_and_asked_for_again(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("colon", "q", "enter")
        assert isinstance(app.app.screen, LinePrompt)
        assert "q is no line: a number is wanted, +10, -10 or $ · esc closes" in app.text()
        await app.press("backspace", "7", "enter")
        assert (app.app.screen, view.cursor) == (app.compare, 6)
        await app.press("colon", "enter")
        assert (app.app.screen, view.cursor) == (app.compare, 6)

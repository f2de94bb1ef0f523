"""Files and symbols at the side of the code."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code import symbols
from judge_tui.tui.code.highlight import Highlight, read
from judge_tui.tui.code.source import Source
from judge_tui.tui.widgets import code_pane
from judge_tui.tui.widgets.code_pane import CodePane

from .conftest import CODE, make_app, running


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A parser that takes as long as this is not set."""
    may = threading.Event()
    may.set()

    def slow(name: str, source: Source) -> Highlight:
        assert may.wait(20)
        return read(name, source)

    monkeypatch.setattr(code_pane, "read", slow)
    yield may
    may.set()


def outlined(pane: CodePane) -> list[str]:
    """What the side says, row by row."""
    return [pane.sidebar.render_line(row).text.strip(" ·◇▸") for row in range(len(pane.sidebar.keys))]


@pytest.mark.parametrize("large", [False, True], ids=["small", "read beside the loop"])
async def test_a_file_is_shown_without_the_symbols_of_another_until_its_own_are_read(
    workspace: Workspace, parser: threading.Event, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(code_pane, "_AT_ONCE", 0)
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("f4")
        pane = app.compare.panes[0]
        assert outlined(pane)[-5:] == ["Cache", "__init__", "update", "attend", "extra_0"]
        files = outlined(pane)[:-7]
        parser.clear()
        await app.press("full_stop")
        await app.until(lambda: "def helper" in app.text())
        assert outlined(pane) == files
        parser.set()
        await app.until(lambda: pane.settled)
        assert outlined(pane) == [*files, "", "SYMBOLS", "helper"]


async def test_a_file_read_anew_under_its_outline_is_drawn_and_a_click_leads_to_its_own_lines(
    workspace: Workspace, parser: threading.Event
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("f4")
        pane = app.compare.panes[0]
        at = outlined(pane).index("extra_0")
        parser.clear()
        pane.reread()
        await app.pilot.pause()
        await app.pilot.click(pane.sidebar, offset=(4, at))
        assert pane.view.cursor == 0
        assert CODE.split("\n")[0] in app.text()
        parser.set()
        await app.until(lambda: pane.settled)
        await app.pilot.click(pane.sidebar, offset=(4, at))
        await app.until(lambda: pane.view.cursor == 22)


async def test_where_not_all_symbols_are_known_outline_picker_and_diff_say_so(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "_MOST", 3)
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("f4")
        assert outlined(app.compare.panes[0])[-4:] == ["FIRST 3 SYMBOLS", "Cache", "__init__", "update"]
        await app.press("o")
        assert "First 3 symbols of kv_cache.py" in app.text()
        for keys, told in (
            (("escape", "d"), "Put the cursor into a function or class."),
            (("G", "d"), "The cursor stands behind the first 3 symbols of the file; no others are known."),
        ):
            await app.press(*keys)
            await app.until(lambda told=told: told in [note.message for note in app.app._notifications])


async def test_a_function_without_a_match_among_known_symbols_is_told_as_that(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "_MOST", 1)
    (workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py").write_text(
        "def extra_1():\n    return 1\n"
    )
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("d")
        await app.until(lambda: app.app._notifications)
        [note] = app.app._notifications
        assert (
            note.message == "The files in view have nothing like extra_1 among the first 1 symbols of a file."
        )


@pytest.mark.parametrize(("many", "complete"), [(3, True), (4, False)])
def test_a_file_with_as_many_symbols_as_are_known_is_complete(
    many: int, complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "_MOST", 3)
    syntax = read("a.py", Source(b"def f():\n    pass\n" * many)).syntax
    assert syntax is not None
    assert (len(syntax.symbols), syntax.complete) == (3, complete)

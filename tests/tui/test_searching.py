"""What is searched for: nothing but what is typed, until it is dropped, and again on demand."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.widgets.code_view import CodeView
from textual.widgets import Input

from .conftest import THREE, Driver, make_app, running


def told(app: Driver) -> list[str]:
    return [note.message for note in app.app._notifications]


async def test_a_malformed_expression_has_no_hits_and_is_not_kept(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        views = [pane.view for pane in app.compare.panes]
        await app.press("slash", "ctrl+r", *"def ")
        await app.until(lambda: all(len(view.hits) == 4 for view in views))
        await app.press("left_parenthesis")
        await app.until(lambda: "missing )" in app.text())
        assert not any(view.hits for view in views)
        assert not any(pane.counts for pane in app.compare.panes)
        await app.press("enter")
        assert isinstance(app.app.focused, Input)
        assert "missing )" in app.text()
        assert views[0].cursor == 0
        await app.press("backspace", "enter")
        assert isinstance(app.app.focused, CodeView)
        await app.until(lambda: len(views[0].hits) == 4)


async def test_a_search_that_was_dropped_is_taken_up_by_the_next_match(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("n")
        assert told(app)[-1] == "nothing is searched for"
        await app.press("slash", *"self.", "enter")
        await app.until(lambda: view.cursor == 9 and len(view.hits) == 3)
        await app.press("escape")
        assert not view.hits
        await app.press("n")
        await app.until(lambda: view.cursor == 10)
        assert len(view.hits) == 3
        await app.press("escape", "g", "semicolon", "2", "N")
        await app.until(lambda: view.cursor == 10 and view.hit == 1)


async def test_what_is_typed_and_given_up_leaves_the_last_search_as_it_was(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("slash", *"self.", "enter")
        await app.until(lambda: view.cursor == 9)
        await app.press("slash", "ctrl+r", *"def (", "escape", "g", "n")
        await app.until(lambda: view.cursor == 9)
        assert len(view.hits) == 3
        await app.press("escape", "full_stop", "n")
        await app.until(lambda: "no match in this file; 3 in B; f opens others" in told(app))


async def test_the_search_box_says_whether_it_reads_an_expression(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("slash")
        assert "regex off (^r)" in app.text()
        await app.press("ctrl+r")
        assert "regex on (^r)" in app.text()


async def test_a_search_is_dropped_in_every_pane_from_one_without_a_hit(three: Workspace) -> None:
    async with running(make_app(three, THREE, engine=None)) as app:
        panes = app.compare.panes
        for text, found in (("f_59", (1, 0, 0)), ("nowhere", (0, 0, 0))):
            await app.press("2", "slash", *text, "enter")
            await app.until(lambda n=found: [pane.counts for pane in panes] == [f"{c} found" for c in n])
            await app.press("shift+down", "escape")
            # what is selected goes first
            assert panes[1].counts == "0 found"
            await app.press("escape")
            assert not any(pane.counts or pane.view.hits for pane in panes)
            assert "found" not in app.text()
            await app.press("n")
            await app.until(lambda n=found: [pane.counts for pane in panes] == [f"{c} found" for c in n])

"""What is searched for: nothing but what is typed, until it is dropped, and again on demand."""

from __future__ import annotations

import threading

from textual.widgets import Input

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.widgets.code_view import CodeView

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
            await app.press("B", "slash", *text, "enter")
            await app.until(lambda n=found: [pane.counts for pane in panes] == [f"{c} found" for c in n])
            await app.press("shift+down", "escape")
            # what is selected goes first
            assert panes[1].counts == "0 found"
            await app.press("escape")
            assert not any(pane.counts or pane.view.hits for pane in panes)
            assert "found" not in app.text()
            await app.press("n")
            await app.until(lambda n=found: [pane.counts for pane in panes] == [f"{c} found" for c in n])


def places(app: Driver) -> list[tuple[int, float, int]]:
    return [(pane.view.cursor, pane.view.scroll_offset.y, pane.view.left) for pane in app.compare.panes]


async def test_while_a_search_is_typed_its_pane_alone_shows_the_first_hit_from_where_it_began(
    three: Workspace,
) -> None:
    async with running(make_app(three, THREE, engine=None), (160, 30)) as app:
        compare = app.compare
        view = compare.panes[0].view
        await app.until(lambda: all(pane.settled and pane.view.symbols for pane in compare.panes))
        await app.press("y", "semicolon", "1", "2", "G")
        began, jumps = places(app), list(compare.parts.places.jumps._behind)
        await app.press("slash")
        assert places(app) == began
        await app.press(*"def f_3")
        await app.until(lambda: "def f_3(x)" in view.source.lines[view.cursor] and view.hit == 0)
        await app.press("9")
        await app.until(lambda: "def f_39(x)" in view.source.lines[view.cursor])
        assert view.scroll_offset.y <= view.cursor < view.scroll_offset.y + view.height
        assert places(app)[1:] == began[1:]
        # what does not stand below is found from the top, what stands nowhere is looked for where it began
        await app.press("ctrl+u", *'"""A')
        await app.until(lambda: view.cursor == 0)
        await app.press("z")
        await app.until(lambda: places(app) == began)
        await app.press("backspace", "escape")
        assert isinstance(app.app.focused, CodeView)
        assert places(app) == began
        assert compare.parts.places.jumps._behind == jumps


async def test_a_search_that_is_kept_stays_at_its_hit_and_is_one_jump(three: Workspace) -> None:
    async with running(make_app(three, THREE, engine=None), (160, 30)) as app:
        view = app.compare.panes[0].view
        await app.until(lambda: app.compare.panes[0].settled)
        await app.press("j", "j", "slash", *"def f_")
        await app.until(lambda: view.hit == 0 and len(view.hits) == 60)
        at = view.cursor, view.scroll_offset.y
        await app.press("enter")
        await app.until(lambda: (view.cursor, view.scroll_offset.y) == at)
        await app.press("n")
        assert view.hit == 1
        # one jump for the search, one for the step to the next
        await app.press("less_than_sign")
        assert view.cursor == at[0]
        await app.press("less_than_sign")
        assert view.cursor == 2
        await app.press("less_than_sign")
        assert told(app)[-1] == "No jump leads back from here."


async def test_enter_that_is_faster_than_the_search_goes_to_the_same_hit(three: Workspace) -> None:
    async with running(make_app(three, THREE, engine=None), (160, 30)) as app:
        view = app.compare.panes[0].view
        await app.until(lambda: app.compare.panes[0].settled)
        app.app.simulate_key("slash")
        await app.until(lambda: isinstance(app.app.focused, Input))
        for key in (*"def f_59", "enter"):
            app.app.simulate_key(key)
        await app.until(lambda: "def f_59(x)" in view.source.lines[view.cursor])
        await app.press("less_than_sign")
        assert view.cursor == 0


async def test_a_fold_that_a_search_looks_into_closes_again_when_that_is_given_up(three: Workspace) -> None:
    async with running(make_app(three, THREE, engine=None), (160, 30)) as app:
        view = app.compare.panes[0].view
        await app.until(lambda: bool(view.symbols))
        await app.press("underscore")
        folds = dict(view.folds)
        await app.press("slash", *"y = x + 59")
        await app.until(lambda: view.source.lines[view.cursor].strip() == "y = x + 59")
        assert len(view.folds) == len(folds) - 1
        await app.press("escape")
        assert (view.folds, view.cursor) == (folds, 0)


async def test_a_title_parts_hits_from_the_line(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        await app.press("slash", *"self.")
        await app.until(lambda: pane.view.hit == 0)
        assert f"1 of 3 found · 10/{len(pane.source)} " in pane.title_bar.render_line(0).text


async def test_a_narrow_title_keeps_hits_and_line_without_the_word_between(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (34, 24)) as app:
        pane = app.compare.panes[0]
        await app.press("slash", *"self.")
        await app.until(lambda: pane.view.hit == 0)
        assert pane.title_bar.render_line(0).text.endswith(f"1 of 3 · 10/{len(pane.source)} ")


async def test_a_search_waits_neither_for_syntax_nor_for_files_being_matched(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        panes = app.compare.panes
        read = threading.Event()
        for pane in panes:
            pane.submit(read.wait, lambda _: None)
        try:
            await app.press("slash", *"def ")
            await app.until(lambda: all(len(pane.view.hits) == 4 for pane in panes))
        finally:
            read.set()

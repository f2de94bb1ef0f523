"""Parts of a comparison made larger and smaller, by keys and with the mouse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.events import MouseDown, MouseMove, MouseUp

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.look.layout import Sizes
from judge_tui.tui.past import Past, PastComparisons

from .at_home import make_home, opened, ready
from .conftest import Driver, make_app, make_workspace, running


def widths(app: Driver) -> list[int]:
    """Columns of the code panes and of the rubric, as they are on the screen."""
    return [part.outer_size.width for part in (*app.compare.panes, app.compare.rubric_pane)]


def rows(app: Driver) -> int:
    return app.compare.checks_pane.outer_size.height


async def drag(app: Driver, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Press the left button, move in two steps, let go."""
    between = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
    places = [(MouseDown, start), (MouseMove, between), (MouseMove, end), (MouseUp, end)]
    for kind, at in places:
        await app.pilot._post_mouse_events([kind], offset=at, button=1)
        await app.pilot.pause()


async def test_keys_change_the_part_in_focus_and_one_sets_all_back(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        first, above = widths(app), rows(app)
        assert sum(first) == 160
        await app.press("X")
        assert widths(app) == [first[0] + 4, first[1] - 4, first[2]]
        await app.press("B", "X", "X")
        assert widths(app) == [first[0] - 4, first[1] + 4, first[2]]
        await app.press("s", "X")
        assert app.compare.session.card.score("correctness") is None
        assert widths(app)[2] == first[2] + 4
        assert sum(widths(app)) == 160
        await app.press("escape", "c", "5", "T")
        assert rows(app) == 4
        await app.press("X")
        assert rows(app) == 6
        await app.press("H")
        assert (widths(app), rows(app)) == (first, above)


async def test_sizes_come_back_with_the_part_and_with_the_room(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "X", "X", "escape", "X", "X")
        before = widths(app)
        await app.press("z")
        assert app.compare.panes[0].outer_size.width == 160
        await app.press("X")
        assert "Nothing can give way here" in {n.message.rstrip(".") for n in app.app._notifications}
        await app.press("z", "f2", "f2")
        assert widths(app) == before
        for size in ((80, 24), (40, 10), (160, 45)):
            await app.pilot.resize_terminal(*size)
            await app.until(lambda size=size: app.app.size == size)  # type: ignore[misc]
            await app.pilot.pause()
        assert widths(app) == before


@pytest.mark.parametrize("width", [81, 119, 121, 200, 203])
async def test_what_is_worked_out_is_what_is_on_the_screen(workspace: Workspace, width: int) -> None:
    async with running(make_app(workspace, ("alpha", "beta"), None), (width, 35)) as app:
        for key in ("f1", "escape", "X", "f2", "T", "f2", "H"):
            await app.press(key)
            now = app.compare.parts.layout.arrangement
            shown = [app.compare.panes[index].outer_size.width for index in now.panes]
            assert tuple(shown) == now.columns
            assert app.compare.rubric_pane.outer_size.width == now.rubric or not now.rubric


async def test_borders_are_dragged_with_the_mouse(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        compare = app.compare
        first = widths(app)
        await drag(app, (first[0], 10), (first[0] + 9, 12))
        assert widths(app) == [first[0] + 9, first[1] - 9, first[2]]
        at = compare.rubric_pane.region.x
        await drag(app, (at, 10), (at - 6, 3))
        assert widths(app)[2] == first[2] + 6
        top, height = compare.checks_pane.region.y, rows(app)
        await drag(app, (20, top), (30, top - 7))
        assert rows(app) == height + 7
        # what is let go stays, and code is no border
        await drag(app, (5, 10), (30, 10))
        assert widths(app)[2] == first[2] + 6
        assert app.app.mouse_captured is None
        assert app.app.focused is compare.panes[0].view


async def test_a_border_whose_button_was_let_go_unseen_follows_no_more(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        first = widths(app)
        await app.pilot._post_mouse_events([MouseDown], offset=(first[0], 10), button=1)
        await app.pilot._post_mouse_events([MouseMove], offset=(first[0] + 4, 10), button=1)
        await app.pilot.pause()
        assert widths(app)[0] == first[0] + 4
        for button in (0, 1):
            await app.pilot._post_mouse_events([MouseMove], offset=(first[0] + 20, 10), button=button)
            await app.pilot.pause()
            assert widths(app)[0] == first[0] + 4
        assert app.app.mouse_captured is None


async def test_code_in_focus_is_in_view_when_the_terminal_becomes_narrow(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (120, 30)) as app:
        compare = app.compare
        await app.press("f2", "f2")
        assert compare.parts.layout.wishes.rubric
        await app.pilot.resize_terminal(40, 10)
        await app.until(lambda: app.app.size == (40, 10))
        assert app.app.focused is compare.panes[0].view
        assert compare.panes[0].view.size.width > 30
        assert not compare.rubric_pane.display
        # the rubric comes where it is asked for, and has the focus then
        for key in ("s", "f2"):
            await app.press(key)
            assert app.app.focused is compare.rubric_pane.lines
            assert compare.rubric_pane.lines.size.width > 30
            await app.press("escape" if key == "s" else "f2")
            assert app.app.focused is compare.panes[0].view
            assert compare.panes[0].view.size.width > 30
            assert not compare.rubric_pane.display


async def test_a_rubric_made_narrow_shows_the_scores_of_all_three(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    async with running(make_app(three, ("alpha", "beta", "gamma"), None), (120, 40)) as app:
        for score in ("61", "72", "83"):
            await app.press("s", "c", *score, "escape", "tab")
        at = app.compare.rubric_pane.region.x
        await drag(app, (at, 10), (118, 10))
        assert app.compare.rubric_pane.region.x > at
        lines = app.compare.rubric_pane.lines
        head, row = (lines.render_line(y).text for y in (0, 1))
        assert head.split() == ["A", "B", "C"]
        assert row.split()[-3:] == ["61", "72", "83"]


async def test_scrolling_lays_nothing_out(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(make_app(workspace, engine=None), (120, 18)) as app:
        await app.until(lambda: all(pane.settled for pane in app.compare.panes))
        await app.press("X")
        laid_out: list[object] = []
        monkeypatch.setattr(
            type(app.compare), "_refresh_layout", lambda self, *_, **__: laid_out.append(self)
        )
        await app.press("ctrl+e", "ctrl+e", "ctrl+y", "j", "j")
        assert app.compare.panes[0].view.cursor > 2
        assert laid_out == []


async def test_a_comparison_is_resumed_with_its_sizes(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("enter")
        await opened(app)
        await app.press("X", "X", "c", "X")
        sizes = app.compare.parts.layout.wishes.sizes
        assert sizes.checks == 2
        await app.press("q")
        await app.until(lambda: app.app.screen is app.app.home)
    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("enter")
        await opened(app)
        await app.until(lambda: app.compare.parts.layout.wishes.sizes == sizes)


async def test_a_comparison_that_is_started_anew_has_its_sizes(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        before = widths(app)
        await app.press("X", "X", "c", "X", "q")
        sizes = app.compare.parts.layout.wishes.sizes
        await app.until(lambda: app.app._exit)
    for change in ("", "H"):
        async with running(make_app(workspace, engine=None)) as app:
            assert (app.compare.parts.layout.wishes.sizes, widths(app) == before) == (sizes, False)
            # where the reader was is Home's to resume
            await app.press(*change, "q")
            await app.until(lambda: app.app._exit)
    async with running(make_app(workspace, engine=None)) as app:
        assert (app.compare.parts.layout.wishes.sizes, widths(app)) == (Sizes(), before)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        3,
        [],
        {"rubric": 1},
        {"rubric": "9", "checks": 0, "shares": []},
        {"rubric": 1.5, "checks": 0, "shares": []},
        {"rubric": True, "checks": 0, "shares": []},
        {"rubric": 0, "checks": 10**9, "shares": []},
        {"rubric": 0, "checks": 0, "shares": [1000]},
        {"rubric": 0, "checks": 0, "shares": [1000, 0]},
        {"rubric": 0, "checks": 0, "shares": [1000, -5]},
        {"rubric": 0, "checks": 0, "shares": ["a", "b"]},
    ],
)
def test_sizes_that_are_none_cost_the_sizes_only(workspace: Workspace, tmp_path: Path, odd: object) -> None:
    past = PastComparisons(workspace.root, "anna")
    kept = Past("kv", ("alpha", "beta"), 1.0, {"alpha": ("a.py", 3)}, "alpha", Sizes(4, -2, (1200, 800)))
    past.keep(kept)
    assert past.read() == (kept,)
    [file] = (tmp_path / "state" / "judge-tui" / "past").glob("*.json")
    [raw] = json.loads(file.read_text())
    file.write_text(json.dumps([raw | {"sizes": odd}]))
    [read] = past.read()
    assert read.sizes == Sizes()
    assert read.places == kept.places

"""What the mouse does to the code, and to the line of keys."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.widgets.code_view import CodeView
from textual import events

from .conftest import Driver, make_app, running
from .test_code import write


async def drag(app: Driver, view: CodeView, *rows: int) -> None:
    """Press on a row of the view, move over others with the button held, and release on the last."""
    x, y = view.region.offset
    steps: list[tuple[type[events.MouseEvent], int]] = [(events.MouseDown, rows[0])]
    steps += [(events.MouseMove, row) for row in rows[1:]]
    for kind, row in (*steps, (events.MouseUp, rows[-1])):
        await app.pilot._post_mouse_events([kind], offset=(x + 10, y + row), button=1)
        await app.pilot.pause()


async def test_dragging_over_lines_selects_them_and_a_click_drops_the_selection(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[1].view
        await drag(app, view, 5, 6, 9, 8)
        assert (view.selection, view.anchor, app.app.focused) == ((5, 8), 5, view)
        await drag(app, view, 10, 4)
        assert (view.selection, view.cursor) == ((4, 10), 4)
        await app.pilot.click(view, (10, 12))
        assert (view.cursor, view.anchor) == (12, None)
        await app.pilot.click(view, (10, 14), shift=True)
        assert view.selection == (12, 14)
        await app.pilot.hover(view, (10, 2))
        assert view.selection == (12, 14)


async def test_dragging_past_the_edge_scrolls_and_within_it_does_not(workspace: Workspace) -> None:
    write(workspace, "".join(f"x{n} = {n}\n" for n in range(200)))
    async with running(make_app(workspace, engine=None), (120, 30)) as app:
        view = app.compare.panes[0].view
        last = view.size.height - 1
        await drag(app, view, 2, last)
        assert (view.selection, view.scroll_offset.y) == ((2, last), 0)
        await drag(app, view, 2, last + 1, last + 2)
        assert view.scroll_offset.y > 1
        assert view.cursor == last + view.scroll_offset.y


async def test_copied_lines_are_selected_no_longer(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("v", "j", "j", "Y")
        assert app.app.clipboard.count("\n") == 3
        assert (view.anchor, view.cursor) == (None, 2)
        assert "selected" not in app.text()
        for again in ("v", "escape"):
            await app.press("v", "j")
            assert view.anchor is not None
            await app.press(again)
            assert view.anchor is None

"""What the mouse does to the code, and to the line of keys."""

from __future__ import annotations

from textual import events

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.help import HelpScreen
from judge_tui.tui.screens.notes_list import NotesList
from judge_tui.tui.widgets.code_view import CodeView
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.search_bar import SearchBar

from .conftest import Driver, make_app, running
from .test_code import write
from .test_personal import configure


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
        assert (view.selection, view.selected_from, app.app.focused) == ((5, 8), 5, view)
        await drag(app, view, 10, 4)
        assert (view.selection, view.cursor) == ((4, 10), 4)
        await app.pilot.click(view, (10, 12))
        assert (view.cursor, view.selected_from) == (12, None)
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


async def test_a_drag_that_is_held_past_the_edge_scrolls_on_until_it_is_let_go(workspace: Workspace) -> None:
    write(workspace, "".join(f"x{n} = {n}\n" for n in range(60)))
    async with running(make_app(workspace, engine=None), (120, 30)) as app:
        view = app.compare.panes[0].view
        x, y = view.region.offset
        last = view.size.height - 1

        async def post(kind: type[events.MouseEvent], row: int) -> None:
            await app.pilot._post_mouse_events([kind], offset=(x + 10, y + row), button=1)
            await app.pilot.pause()

        await post(events.MouseDown, 2)
        await post(events.MouseMove, last + 2)
        await app.until(lambda: view.cursor == 59)
        assert view.selection == (2, 59)
        await post(events.MouseMove, last)
        assert view._drags_on is None
        await post(events.MouseMove, -1)
        await app.until(lambda: view.scroll_offset.y < 30)
        await post(events.MouseUp, -1)
        at = view.cursor
        assert (view._drags_on, app.app.mouse_captured) == (None, None)
        await app.pilot.pause(0.3)
        assert view.cursor == at > 0


async def test_copied_lines_are_selected_no_longer(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.press("v", "j", "j", "Y")
        assert app.app.clipboard.count("\n") == 3
        assert (view.selected_from, view.cursor) == (None, 2)
        assert "selected" not in app.text()
        for again in ("v", "escape"):
            await app.press("v", "j")
            assert view.selected_from is not None
            await app.press(again)
            assert view.selected_from is None


async def click_hint(app: Driver, text: str, letter: int = 0) -> None:
    """Click on a letter of what the line of keys shows."""
    line = app.app.screen.query_one(KeyHints)
    shown = line.render_line(0).text
    assert text in shown
    await app.pilot.click(line, (shown.index(text) + letter, 0))
    await app.until(lambda: not app.app.typing)


async def test_a_click_on_a_hint_presses_its_key(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (120, 30)) as app:
        await click_hint(app, "? help", 3)
        assert isinstance(app.app.screen, HelpScreen)
        await click_hint(app, "esc back")
        await click_hint(app, "L notes")
        assert isinstance(app.app.screen, NotesList)
        await app.press("escape")
        await click_hint(app, "/ search")
        assert app.app.screen.query_one(SearchBar).regex is False
        await click_hint(app, "^r regular", 1)
        assert app.app.screen.query_one(SearchBar).regex is True
        await click_hint(app, "n/N next")
        assert app.compare.parts.search.query[0] == ""
        await click_hint(app, "esc drop")
        assert not app.app.screen.query(SearchBar)


async def test_of_several_keys_the_one_under_the_mouse_is_pressed(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (120, 30)) as app:
        await app.press("f5")
        await click_hint(app, "A/B pane", 2)
        assert app.compare.panes.at == 1
        await click_hint(app, "A/B pane", 5)
        assert app.compare.panes.at == 0
        await app.press("s")
        await click_hint(app, "ct dimension", 1)
        assert app.compare.session.row == 1
        await click_hint(app, "ct dimension", 0)
        assert app.compare.session.row == 0
        await click_hint(app, "ct dimension", 5)
        assert app.compare.session.row == 0
        assert app.compare.session.card.score("correctness") is None


async def test_a_clicked_hint_takes_the_count_and_the_reader_s_own_keys(workspace: Workspace) -> None:
    configure('[keys.everywhere]\nhelp = ["f10"]\nnotes = "%"\n')
    write(workspace, "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(30)))
    async with running(make_app(workspace, engine=None), (120, 30)) as app:
        await click_hint(app, "% notes")
        assert isinstance(app.app.screen, NotesList)
        await app.press("escape")
        await click_hint(app, "f10 help")
        assert isinstance(app.app.screen, HelpScreen)
        await app.press("escape")
        app.compare.key_hints.tell((("G", "line"),))
        await app.press("5")
        await click_hint(app, "G line")
        assert app.compare.panes[0].view.cursor == 4


async def test_a_button_that_was_let_go_unseen_selects_no_more(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        x, y = view.content_region.offset
        press = app.pilot._post_mouse_events
        await press([events.MouseDown], offset=(x + 10, y + 2), button=1)
        await press([events.MouseMove], offset=(x + 10, y + 4), button=1)
        assert view.selection == (2, 4)
        await press([events.MouseMove], offset=(x + 10, y + 9), button=0)
        assert (view.selection, app.app.mouse_captured) == ((2, 4), None)

"""Folds and wrapped lines: which rows a file has, and what they show."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code.display_rows import fold_marker

from .conftest import make_app, running
from .test_code import LONG, shown, write


async def test_a_block_folds_and_opens_and_says_how_many_lines_it_hides(workspace: Workspace) -> None:
    write(workspace, LONG)
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("j", "minus")
        assert [row.split() for row in shown(view)[:3]] == [
            ["1", "def", "first():"],
            ["2", "▸", "if", "True:", "⋯", "1", "line"],
            ["4", "return", "2"],
        ]
        await app.press("j")
        assert view.cursor == 3
        await app.press("k", "minus")
        assert shown(view)[2].split() == ["3", "return", "1"]


async def test_a_fold_closes_round_the_cursor_and_all_functions_at_once(workspace: Workspace) -> None:
    write(workspace, LONG)
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("j", "j", "j", "minus")
        assert (view.folds, view.cursor) == ({0: 3}, 0)
        await app.press("minus", "underscore")
        assert view.folds == {0: 3, 6: 7}
        await app.press("underscore")
        assert view.folds == {}


async def test_a_jump_opens_the_fold_that_hides_its_line(workspace: Workspace) -> None:
    write(workspace, LONG)
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("underscore", "slash", *"return 3", "enter")
        await app.until(lambda: view.cursor == 7)
        assert view.folds == {0: 3}


async def test_what_has_no_syntax_tree_says_that_it_cannot_fold(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("j", "minus")
        assert app.compare.panes[0].view.folds == {}
        assert [note.message for note in app.app._notifications] == ["Nothing to fold here."]


async def test_a_long_line_goes_on_in_the_next_row_when_lines_wrap(workspace: Workspace) -> None:
    write(workspace, "x = 1\ny = '" + "ab" * 400 + "c'\nz = 2\n")
    async with running(make_app(workspace)) as app:
        await app.until(lambda: app.compare.panes[0].settled)
        view = app.compare.panes[0].view
        await app.press("w")
        rows = shown(view)
        height = len(view.rows) - 2
        assert height == -(-806 // view.room)
        assert rows[1].split()[:3] == ["2", "y", "="]
        assert not rows[2][:6].strip()
        assert "".join(row[6:] for row in rows[1 : 1 + height]) == view.source.lines[1]
        await app.press("j", "j")
        assert view.cursor == 2
        await app.press("w")
        assert shown(view)[2].split() == ["3", "z", "=", "2"]


async def test_pages_go_through_a_wrapped_line_that_is_taller_than_the_screen(workspace: Workspace) -> None:
    write(workspace, "x" * 50_000 + "\nlast\n")
    async with running(make_app(workspace)) as app:
        await app.until(lambda: app.compare.panes[0].settled)
        view = app.compare.panes[0].view
        await app.press("w")
        tops = []
        for _ in range(4):
            await app.press("ctrl+d")
            tops.append(view.scroll_offset.y)
        assert tops == sorted(set(tops))
        assert view.cursor == 0
        await app.press("j")
        assert "last" in "\n".join(shown(view))
        await app.press("ctrl+u", "ctrl+u")
        assert view.cursor == 0


async def test_a_wrapped_fold_shows_its_whole_line_and_its_marker_once_at_the_end(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        room = app.compare.panes[0].view.room
    marker = fold_marker(2)
    # the marker fits behind the text, does not, or the text ends with its row
    widths = room + 9, 2 * room - len(marker), 2 * room - 3, 2 * room, room - 2
    text = "".join(f"def {'k' * (width - 7)}():\n    x = 1\n    return x\n\n\n" for width in widths)
    write(workspace, text)
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("w", "underscore")
        rows = [(row[:6], row[6:]) for row in shown(view)]
        for number, width in enumerate(widths):
            line, first = 5 * number, view.rows.row_of(5 * number)
            own = rows[first : view.rows.row_of(line + 3)]
            assert "".join(part for _, part in own) == view.source.lines[line] + marker
            assert len(own[-1][1]) <= room
            assert [gutter.strip() for gutter, _ in own] == [f"{line + 1} ▸", *[""] * (len(own) - 1)]
            assert len(own) == (
                1 if width + len(marker) <= room else 3 if width > 2 * room - len(marker) else 2
            )

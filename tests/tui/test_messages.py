"""Where messages stand, and for how long."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.widgets._toast import Toast

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.look.harmless import _read_in
from judge_tui.tui.screens.notes_list import NotesList

from .conftest import Driver, make_app
from .test_code import write


@asynccontextmanager
async def running(workspace: Workspace, size: tuple[int, int] = (120, 30)) -> AsyncIterator[Driver]:
    """The app as it is, messages included."""
    app = make_app(workspace, engine=None)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        yield Driver(app, pilot)
    app.close_session()


async def toast(app: Driver, rows: int = 1) -> Toast:
    def stands() -> bool:
        toasts = app.app.screen.query(Toast)
        return bool(toasts) and toasts.last().region.height == rows == app.compare.key_hints.region.height

    await app.until(stands)
    return app.app.screen.query(Toast).last()


async def test_a_message_has_the_line_of_the_keys_from_edge_to_edge(workspace: Workspace) -> None:
    write(workspace, ("x" * 300 + "\n") * 50, "beta")
    async with running(workspace) as app:
        await app.press("f2", "f3")
        before = app.text().split("\n")[:-1]
        app.compare.notify("well", timeout=60)
        shown = await toast(app)
        assert (shown.region.x, shown.region.right, shown.region.y) == (0, 120, 29)
        assert app.text().split("\n")[:-1] == before
        assert "well" in app.text().split("\n")[-1]


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_a_long_message_makes_room_for_itself_and_gives_it_back(
    workspace: Workspace, size: tuple[int, int]
) -> None:
    write(workspace, "".join(f"line_{n} = {n}\n" for n in range(90)))
    async with running(workspace, size) as app:
        await app.press("5", "0", "G")
        hints, body = app.compare.key_hints, app.compare.query_one("#body")
        height = body.region.height
        app.compare.notify("many words " * (size[0] // 8), severity="error", timeout=60)
        shown = await toast(app, 2)
        assert shown.region == hints.region
        assert body.region.height == height - 1
        # the line that is read is in view still
        assert "line_49" in app.text()
        app.app.clear_notifications()
        await app.until(lambda: hints.region.height == 1)
        assert body.region.height == height
        assert "? help" in app.text().split("\n")[-1]


async def test_several_messages_stand_below_each_other_and_none_covers_another(workspace: Workspace) -> None:
    async with running(workspace) as app:
        for word in ("first", "second", "third"):
            app.compare.notify(f"the {word}", severity="warning", timeout=60)
        await app.until(lambda: app.compare.key_hints.region.height == 3)
        assert [line.split()[-1] for line in app.text().split("\n")[-3:]] == ["first", "second", "third"]


async def test_more_messages_than_half_a_screen_holds_show_the_last_ones(workspace: Workspace) -> None:
    async with running(workspace, (80, 24)) as app:
        for number in range(30):
            app.compare.notify(f"number {number}", severity="warning", timeout=60)
        await app.until(lambda: "number 29" in app.text())
        assert app.compare.key_hints.region.height == 12


async def test_a_message_leaves_the_search_line_free(workspace: Workspace) -> None:
    async with running(workspace) as app:
        app.compare.notify("well", timeout=60)
        await toast(app)
        await app.press("slash", *"keys")
        await app.until(lambda: "A 4  B 4  regex off (^r)" in app.text().split("\n")[-2])
        assert "well" in app.text().split("\n")[-1]


async def test_a_list_that_fills_the_screen_gives_way_as_well(workspace: Workspace) -> None:
    async with running(workspace, (80, 24)) as app:
        await app.press("a", *"why", "escape", "L")
        assert isinstance(app.app.screen, NotesList)
        app.app.notify("many words " * 10, severity="warning", timeout=60)
        await app.until(lambda: app.app.screen.query_one("KeyHints").region.height == 2)
        assert app.app.screen.query(Toast).last().region.y == 22


def test_a_message_stays_for_as_long_as_it_takes_to_be_read() -> None:
    told = {
        ("well", 2): 2,
        ("x" * 35, 2): 2.75,
        # an echo of a key stays one, and gives way to the next
        ("x" * 200, 2): 3,
        ("x" * 200, 5): 11,
        ("x" * 20, 10): 10,
    }
    kept = [_read_in(message, wanted) for message, wanted in told]
    assert kept == list(told.values())

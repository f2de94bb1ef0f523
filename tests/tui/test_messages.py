"""Where messages stand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.widgets._toast import Toast

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.compare import CompareScreen

from .conftest import Driver, make_app
from .test_code import write


@asynccontextmanager
async def running(workspace: Workspace) -> AsyncIterator[Driver]:
    """The app as it is, messages included."""
    app = make_app(workspace, engine=None)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.pause()
        yield Driver(app, pilot)
    app.close_session()


async def toast(app: Driver) -> Toast:
    await app.until(lambda: app.app.screen.query(Toast) and app.app.screen.query_one(Toast).region.height > 2)
    return app.app.screen.query_one(Toast)


async def test_a_message_reaches_the_right_edge(workspace: Workspace) -> None:
    write(workspace, ("x" * 300 + "\n") * 50, "beta")
    async with running(workspace) as app:
        await app.press("f2", "f3")
        app.compare.notify("well", timeout=60)
        shown = await toast(app)
        assert shown.region.right == 120
        rows = app.text().split("\n")[shown.region.y : shown.region.bottom]
        assert not any(row.rstrip().endswith("x") for row in rows)


async def test_a_message_leaves_the_search_box_free(workspace: Workspace) -> None:
    async with running(workspace) as app:
        app.compare.notify("well", timeout=60)
        above = (await toast(app)).region.bottom
        await app.press("slash", *"keys")
        await app.until(lambda: "A 4  B 4  regex off (^r)" in app.text().split("\n")[-2])
        assert (await toast(app)).region.bottom == above - 1
        await app.press("enter")
        assert isinstance(app.app.screen, CompareScreen)
        await app.until(lambda: app.app.screen.query_one(Toast).region.bottom == above)

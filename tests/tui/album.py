"""Pictures of the app: one start gives many states, and each state the sizes that are promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.widgets import Input, TextArea

from .conftest import Driver

__all__ = ["SIZES", "Album"]

SIZES = ((80, 24), (120, 35), (200, 60))
#: Turns in which a picture must come to rest.
_TURNS = 50


class Album:
    """Compares what is on the screen with the pictures that are kept.

    Args:
        snapshot: Syrupy's fixture.
        folder: Where pictures go that differ.
        sizes: Columns and rows of the pictures that are taken.
    """

    def __init__(
        self, snapshot: SnapshotAssertion, folder: Path, sizes: tuple[tuple[int, int], ...] = SIZES
    ) -> None:
        self._sizes = sizes
        self._snapshot = snapshot.use_extension(SVGImageExtension)
        self._folder = folder
        self.differing: list[str] = []

    async def keep(self, app: Driver, state: str, sizes: tuple[tuple[int, int], ...] = ()) -> None:
        """Take the pictures of a state, at the album's sizes or others, and note which differ."""
        for width, height in sizes or SIZES:
            await app.pilot.resize_terminal(width, height)
            await app.until(lambda size=(width, height): app.app.size == size)
            if not sizes and (width, height) not in self._sizes:
                # what a picture shows hangs on the sizes that the screen had before
                await app.pilot.pause()
                continue
            svg = await self._at_rest(app)
            # a screen that shows a traceback is no picture to keep
            assert app.app._exception is None
            name = f"{state}-{width}x{height}"
            if self._snapshot(name=name) != svg:
                self.differing.append(name)
                (self._folder / f"{name}.svg").write_text(svg)

    async def _at_rest(self, app: Driver) -> str:
        for widget in app.app.screen.query("TextArea, Input"):
            # a cursor that blinks is there in some pictures only
            assert isinstance(widget, TextArea | Input)
            widget.cursor_blink = False
            widget._cursor_visible = True
            if isinstance(widget, TextArea):
                # a line that was drawn while the cursor was out looks the same to it
                widget._line_cache.clear()
            widget.refresh()
        before = ""
        for _ in range(_TURNS):
            await app.pilot.pause()
            now = app.app.export_screenshot()
            if now == before:
                return now
            before = now
        raise AssertionError("the screen never came to rest")

    def close(self) -> None:
        """Fail with the states that look another way than they did."""
        assert not self.differing, (
            f"look another way: {', '.join(self.differing)}; as they are now: {self._folder}; "
            "look at them, then run pytest with --snapshot-update"
        )


def still(app: Driver) -> None:
    """Have the sign of running checks stand still."""
    pane: Any = app.compare.checks_pane
    pane.spin = lambda: None
    pane.spinner = "◐"
    # it may have turned already, and nothing new be told of the checks
    pane.retitle()
    pane.rows.refresh()

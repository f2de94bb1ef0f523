"""A curve as large as the terminal: as a picture where the terminal takes them, in dots elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from rich.color import Color as RichColor
from rich.style import Style
from textual.binding import Binding

from judge_tui.checks.verdict import Curve
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.bars import plain_characters
from judge_tui.tui.look.bitmap import drawn
from judge_tui.tui.look.graphics import erased, told
from judge_tui.tui.look.plots import Plane, plot
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.textual_private.answers import Graphics, asked_for_graphics, write_beside
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["PlotScreen"]

#: Rows around the drawing: what the axes say, their line and their values, and points that are left out.
_AROUND = 5
#: Columns beside it: the values of the upright axis.
_BESIDE = 12
_PLAIN = Graphics()


class _Lines(Rows):
    shows_cursor = False
    lines: Sequence[str] = ()

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        return [(self.lines[key], tones.by_name["primary"])] if isinstance(key, int) else []


class PlotScreen(Sheet[None]):
    """Shows a curve until it is left.

    Args:
        curve: What is drawn.
        title: What it is of.
    """

    BINDINGS: ClassVar = [Binding("escape,q,v", "close", "back")]

    BINDINGS = named("plot", BINDINGS)
    title_of_keys = "A curve"
    rows: _Lines
    #: How this terminal takes pictures; asked once.
    graphics: ClassVar[Graphics | None] = None

    def __init__(self, curve: Curve, title: str) -> None:
        super().__init__()
        self._plane, self._title = Plane(curve), title
        self.rows = _Lines()
        self._in_view = False

    def on_mount(self) -> None:
        self.query_one(Bar).tell([(f" {self._title} ", "strong", 0)])
        self.hint(((key_for(self, "close"), "back"),))
        self._fill()
        self.rows.focus()
        # the curve stands in dots until the terminal has answered
        self.run_worker(self._ask(), exclusive=True)

    async def _ask(self) -> None:
        if PlotScreen.graphics is None and plain_characters():
            # a console without dots has no pictures, and old ones write down what they are asked
            PlotScreen.graphics = _PLAIN
        elif PlotScreen.graphics is None:
            PlotScreen.graphics = await asked_for_graphics(self.app)
            # as a few others do
            self.app.refresh(repaint=True, layout=True)
        self._fill()

    @property
    def _protocol(self) -> str:
        return (PlotScreen.graphics or _PLAIN).protocol

    @property
    def _room(self) -> tuple[int, int]:
        """Columns and rows of the drawing."""
        size = self.rows.scrollable_content_region.size or self.size
        width, height = max(size.width - _BESIDE, 10), max(size.height - _AROUND, 3)
        graphics = PlotScreen.graphics or _PLAIN
        return graphics.within(width, height) if graphics.protocol else (width, height)

    def _fill(self) -> None:
        width, height = self._room
        pictured = bool(self._protocol) and bool(self._plane.points)
        self.rows.lines = [f" {line}" for line in plot(self._plane.curve, width, height, drawn=not pictured)]
        self.rows.show(range(len(self.rows.lines)))
        if pictured:
            # behind the frame that leaves its place free
            self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        graphics = PlotScreen.graphics
        if graphics is None or not graphics.protocol or not self.is_current:
            return
        (width, height), (across, down) = self._room, graphics.cell
        plane, tones = self._plane, tones_of(self.app)
        bitmap = drawn(
            plane.shares,
            [plane.across.at(value) for value in plane.across.ticks(8)],
            [plane.up.at(value) for value in plane.up.ticks(8)],
            (width * across, height * down),
            (_rgb(tones.raised, ground=True), _rgb(tones.faint), _rgb(tones.by_name["primary"])),
            graphics.cell,
        )
        # behind the values of the upright axis, below what it says
        region = self.rows.region
        left = region.x + 1 + max(map(len, plane.labels(height))) + 2
        picture = told(bitmap, graphics.protocol, (width, height))
        write_beside(self.app, f"\x1b7\x1b[{region.y + 2};{left + 1}H{picture}\x1b8")
        self._in_view = True

    def _erase(self) -> None:
        if self._in_view:
            self._in_view = False
            write_beside(self.app, erased(self._protocol))

    def on_resize(self) -> None:
        self._erase()
        self._fill()

    def on_screen_suspend(self) -> None:
        self._erase()

    def on_screen_resume(self) -> None:
        if self.rows.is_mounted:
            self._fill()

    def on_unmount(self) -> None:
        self._erase()


def _rgb(style: Style, *, ground: bool = False) -> tuple[int, int, int]:
    """A tone's colour in red, green and blue; where it is the terminal's own, as it usually is."""
    colour = (style.bgcolor if ground else style.color) or RichColor.default()
    return tuple(colour.get_truecolor(foreground=not ground))  # type: ignore[return-value]

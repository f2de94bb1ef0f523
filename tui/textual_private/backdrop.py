"""What lies behind a dialog: drawn once for each change of it, and dimmed.

Reaches for ``_context.visible_screen_stack``: Textual's own dialogs look there for what lies below them, and
nothing public sets it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual._context import visible_screen_stack
from textual.color import Color
from textual.screen import Screen
from textual.strip import Strip

from judge_tui.tui.textual_private.covered import CoveredScreen

__all__ = ["Backdrop"]


class Backdrop:
    """The lines of the screens below a dialog, under a ground that lets them through.

    Textual draws all of them anew, and dims each segment by itself, whenever a part of the dialog is drawn.
    """

    def __init__(self) -> None:
        self._seen: Hashable = None
        self._ground: Color | None = None
        self._dimmed: dict[Style, Style] = {}
        self._lines: Sequence[Strip] = ()

    def lines(self, below: Sequence[Screen[object]], ground: Color) -> Sequence[Strip]:
        """One strip per line.

        Args:
            below: The screens under the dialog, the nearest last.
            ground: The dialog's background.
        """
        seen = tuple(map(_state, below)), ground
        if seen != self._seen:
            if ground != self._ground:
                self._ground, self._dimmed = ground, {}
            # where a dialog of Textual's own looks for what lies below itself
            visible_screen_stack.set(list(below[:-1]))
            drawn = below[-1]._compositor.render_strips() if below else ()
            self._lines = [Strip(map(self._dim, strip), strip.cell_length) for strip in drawn]
            self._seen = seen
        return self._lines

    def _dim(self, segment: Segment) -> Segment:
        text, style, control = segment
        if control:
            return segment
        style = style or Style()
        dimmed = self._dimmed.get(style)
        if dimmed is None:
            dimmed = self._dimmed[style] = self._under_ground(style.clear_meta_and_links())
        return Segment(text, dimmed)

    def _under_ground(self, style: Style) -> Style:
        ground = self._ground
        front, back = (
            None if color is None or ground is None else (Color.from_rich_color(color) + ground).rich_color
            for color in (style.color, style.bgcolor)
        )
        return style + Style.from_color(front, back)


def _state(screen: Screen[object]) -> Hashable:
    """Changes whenever the screen does; never twice the same where that cannot be known."""
    return (screen, screen.changes, screen.size) if isinstance(screen, CoveredScreen) else object()

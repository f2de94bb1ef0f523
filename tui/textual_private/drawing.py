"""Drawing at once, and what all that is drawn goes through.

Reaches for what a widget and an app keep of their drawing: nothing public draws at once, or says what all
output goes through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import App
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widget import Widget

__all__ = ["collect_changed", "draw_now", "line_filters", "own_colors_through"]


def draw_now(screen: Screen[object]) -> None:
    """Draw what has changed on a screen; Textual would wait for the next beat of its clock, up to 16 ms."""
    if screen._dirty_widgets or screen._repaint_required or screen._scroll_required:
        with screen._context():
            screen._on_timer_update()


def collect_changed(screen: Screen[object]) -> None:
    """Tell a screen now which widgets have changed; each would tell it a turn of its own loop later."""
    for widget in screen.walk_children(Widget):
        # where places change as well, the screen has to hear that first
        if widget._repaint_required and not (widget._layout_required or widget._scroll_required):
            widget._repaint_required = False
            if widget.display:
                screen._dirty_widgets.add(widget)


def own_colors_through(app: App[Any]) -> None:
    """Let the reader's own sixteen colours through, where the theme is of these.

    Textual looks at the theme when it changes, and not at the first one.
    """
    app._refresh_truecolor_filter(app.ansi_theme)


def line_filters(app: App[object]) -> Sequence[LineFilter]:
    """What changes the colours of every line, as a terminal without any wants it."""
    return [line_filter for line_filter in app._filters if line_filter.enabled]

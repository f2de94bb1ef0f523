"""The present theme as Rich styles, for widgets that draw their own lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct
from rich.style import Style
from textual.app import App
from textual.color import Color

from judge_tui.tui.look.palette import VERDICTS

__all__ = ["Tones", "tones_of"]


class Tones(Struct, frozen=True):
    """Styles by purpose; each has a foreground only unless its name says background.

    Attributes:
        text: Ordinary text.
        muted: Secondary text.
        faint: Rules, line numbers.
        strong: Headings.
        by_name: ``primary``, ``success``, ``warning``, ``error``, ``accent``, ``secondary``, ``muted``.
        ground: Background of panes.
        raised: Background of bars and of the rubric.
        cursor: Background of the cursor's row.
        cursor_blurred: The same in a pane without the focus.
        selected: Background of a selection.
        hit: Search hit.
        alert: What deceives a reader.
        dark: Whether the theme is dark.
    """

    text: Style
    muted: Style
    faint: Style
    strong: Style
    by_name: Mapping[str, Style]
    ground: Style
    raised: Style
    cursor: Style
    cursor_blurred: Style
    selected: Style
    hit: Style
    alert: Style
    dark: bool

    def verdict(self, verdict: str) -> Style:
        """Foreground for a verdict."""
        return self.by_name[VERDICTS.get(verdict, ("", "muted"))[1]]


def tones_of(app: App[object]) -> Tones:
    """The tones of the app's present theme."""
    variables = app.theme_variables
    names = (
        "foreground",
        "background",
        "surface",
        "panel",
        "primary",
        "secondary",
        "success",
        "warning",
        "error",
        "accent",
    )
    return _tones(tuple(variables[name] for name in names), app.current_theme.dark, app.no_color)


@lru_cache(maxsize=8)
def _tones(colors: tuple[str, ...], dark: bool, plain: bool) -> Tones:
    fore, back, surface, _, primary, secondary, success, warning, error, accent = map(Color.parse, colors)

    def on(color: Color) -> Style:
        return Style(bgcolor=color.rich_color)

    def ink(color: Color, *, bold: bool | None = None) -> Style:
        return Style(color=color.rich_color, bold=bold)

    muted = fore.blend(back, 0.42)
    named = {
        "primary": primary,
        "secondary": secondary,
        "success": success,
        "warning": warning,
        "error": error,
        "accent": accent,
        "muted": muted,
    }
    if plain:
        # without a colour the cursor, a selection and a hit are told by what a terminal can do besides
        reverse, strong = Style(reverse=True), Style(bold=True)
        bold = ("primary", "accent", "error", "warning")
        return Tones(
            text=ink(fore),
            muted=ink(muted),
            faint=ink(muted),
            strong=ink(fore, bold=True),
            by_name={name: ink(color, bold=name in bold or None) for name, color in named.items()},
            ground=on(back),
            raised=on(back),
            cursor=reverse,
            cursor_blurred=strong,
            selected=reverse,
            hit=Style(reverse=True, bold=True, underline=True),
            alert=Style(reverse=True, bold=True),
            dark=dark,
        )
    return Tones(
        text=ink(fore),
        muted=ink(muted),
        faint=ink(fore.blend(back, 0.66)),
        strong=ink(fore, bold=True),
        by_name={name: ink(color) for name, color in named.items()},
        ground=on(back),
        raised=on(surface),
        cursor=on(back.blend(primary, 0.22)),
        cursor_blurred=on(back.blend(fore, 0.07)),
        selected=on(back.blend(secondary, 0.40)),
        hit=Style(color=back.rich_color, bgcolor=accent.rich_color),
        alert=Style(color=back.rich_color, bgcolor=error.rich_color, bold=True),
        dark=dark,
    )

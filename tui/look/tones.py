"""The present theme as Rich styles, for widgets that draw their own lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct
from rich.style import Style
from textual.app import App
from textual.color import Color

from judge_tui.tui.look.contrast import READ, legible, tinted
from judge_tui.tui.look.palette import VERDICTS

__all__ = ["Tones", "tones_of", "tones_under"]

_NAMES = (
    *("foreground", "background", "surface", "panel"),
    *("primary", "secondary", "success", "warning", "error", "accent"),
)
#: How far secondary text stands out at least, so that it is more than what is faint.
_MUTED = 5.5
#: How far the cursor's row of a list stands out from the others, with the focus and without.
_POINTED, _POINTED_BLURRED = 1.4, 1.2


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
        cursor: Background of the cursor's row in code.
        cursor_blurred: The same in a pane without the focus.
        pointed: Background of the cursor's row in what is raised: lists, the rubric, tables.
        pointed_blurred: The same in a pane without the focus.
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
    pointed: Style
    pointed_blurred: Style
    selected: Style
    hit: Style
    alert: Style
    dark: bool

    def verdict(self, verdict: str) -> Style:
        """Foreground for a verdict."""
        return self.by_name[VERDICTS.get(verdict, ("", "muted"))[1]]


def tones_of(app: App[object]) -> Tones:
    """The tones of the app's present theme."""
    return tones_under(app.theme_variables, dark=app.current_theme.dark, plain=app.no_color)


def tones_under(variables: Mapping[str, str], *, dark: bool, plain: bool = False) -> Tones:
    """The tones of a theme.

    Args:
        variables: Its colours by Textual's names.
        dark: Whether it is dark.
        plain: Whether the terminal is to have no colour.
    """
    return _tones(tuple(variables[name] for name in _NAMES), dark, plain)


@lru_cache(maxsize=8)
def _tones(colors: tuple[str, ...], dark: bool, plain: bool) -> Tones:
    fore, back, surface, panel, *named = map(Color.parse, colors)
    # the reader's own sixteen colours can be neither mixed nor measured
    own = back.ansi is not None
    cursor, blurred = tinted(back, named[0], 1.25), tinted(back, fore, 1.12)
    pointed, pointed_blurred = tinted(surface, named[0], _POINTED), tinted(surface, fore, _POINTED_BLURRED)
    selected = tinted(back, named[1], 1.45)
    grounds = (back, surface, panel, cursor, blurred, pointed, pointed_blurred, selected)

    def ink(color: Color, least: float = READ, *, bold: bool | None = None) -> Style:
        found = color if own else legible(color, grounds, least)
        return Style(color=found.rich_color, bold=bold)

    def on(color: Color) -> Style:
        return Style(bgcolor=color.rich_color)

    muted = ink(fore if own else fore.blend(back, 0.25), _MUTED)
    faint = ink(fore if own else fore.blend(back, 0.6))
    names = _NAMES[4:]
    if plain or own:
        # without a colour the cursor, a selection and a hit are told by what a terminal can do besides
        reverse, strong = Style(reverse=True), Style(bold=True)
        bold = ("primary", "accent", "error", "warning")
        inks = {name: ink(color, bold=name in bold or None) for name, color in zip(names, named, strict=True)}
        return Tones(
            text=ink(fore),
            muted=muted,
            faint=muted if plain else faint,
            strong=ink(fore, bold=True),
            by_name=inks | {"muted": muted},
            ground=on(back),
            raised=on(back),
            cursor=reverse,
            cursor_blurred=strong,
            pointed=reverse,
            pointed_blurred=strong,
            selected=reverse,
            hit=Style(reverse=True, bold=True, underline=True),
            alert=Style(reverse=True, bold=True),
            dark=dark,
        )
    accent, error = named[5], named[4]
    return Tones(
        text=ink(fore),
        muted=muted,
        faint=faint,
        strong=ink(fore, bold=True),
        by_name={name: ink(color) for name, color in zip(names, named, strict=True)} | {"muted": muted},
        ground=on(back),
        raised=on(surface),
        cursor=on(cursor),
        cursor_blurred=on(blurred),
        pointed=on(pointed),
        pointed_blurred=on(pointed_blurred),
        selected=on(selected),
        hit=Style(color=legible(back, (accent,)).rich_color, bgcolor=accent.rich_color),
        alert=Style(color=legible(back, (error,)).rich_color, bgcolor=error.rich_color, bold=True),
        dark=dark,
    )

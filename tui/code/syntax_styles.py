"""The styles of syntax, which come from Pygments.

Pygments is imported in :func:`syntax_styles` only, which runs beside the first highlight.
"""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style
from textual.color import Color

from judge_tui.tui.code.grammars import STYLES
from judge_tui.tui.look.contrast import legible
from judge_tui.tui.look.tones import Tones

__all__ = ["syntax_styles"]

_BOLD, _PROSE = ("keyword", "function", "type"), ("comment", "doc")
_TOKENS = {
    "keyword": "Keyword",
    "function": "Name.Function",
    "type": "Name.Class",
    "string": "Literal.String",
    "escape": "Literal.String.Escape",
    "number": "Literal.Number",
    "constant": "Keyword.Constant",
    "comment": "Comment",
    # prose, like a comment: some styles would print a page of docstring in the red of strings
    "doc": "Comment",
    "decorator": "Name.Decorator",
    "builtin": "Name.Builtin",
    "call": "Name.Function",
    "self": "Name.Builtin.Pseudo",
    "operator": "Operator",
    "label": "Name.Label",
}


#: The same of the reader's own sixteen colours, on a dark ground and on a light one, on which green, yellow
#: and cyan are hardly seen as most terminals have them.
_OF_16 = {
    "keyword": ("bright_blue", "blue"),
    "function": ("bright_cyan", ""),
    "type": ("bright_cyan", ""),
    "string": ("bright_green", "red"),
    "escape": ("bright_yellow", "magenta"),
    "number": ("bright_magenta", "blue"),
    "constant": ("bright_magenta", "blue"),
    "decorator": ("bright_yellow", "magenta"),
    "builtin": ("bright_blue", "blue"),
    "label": ("bright_yellow", "magenta"),
}


def syntax_styles(tones: Tones) -> tuple[Style, ...]:
    """One style per entry of :data:`STYLES`, foregrounds only, legible on what code is drawn on."""
    grounds = (tones.ground, tones.cursor, tones.cursor_blurred, tones.selected)
    known = [ground.bgcolor for ground in grounds if ground.bgcolor and ground.bgcolor.triplet]
    return _styles(tones.dark, tuple(map(Color.from_rich_color, known))) if known else _own(tones.dark)


@lru_cache(maxsize=2)
def _own(dark: bool) -> tuple[Style, ...]:
    named = ((name, _OF_16.get(name, ("", ""))[0 if dark else 1]) for name in STYLES)
    return tuple(
        Style(color=color or None, italic=name in _PROSE or None, bold=name in _BOLD or None)
        for name, color in named
    )


@lru_cache(maxsize=4)
def _styles(dark: bool, grounds: tuple[Color, ...]) -> tuple[Style, ...]:
    from pygments.styles import get_style_by_name
    from pygments.token import string_to_tokentype

    style = get_style_by_name("nord-darker" if dark else "xcode")
    styles: list[Style] = []
    for name in STYLES:
        if not name:
            styles.append(Style.null())
            continue
        found = style.style_for_token(string_to_tokentype(f"Token.{_TOKENS[name]}"))
        color = legible(Color.parse(f"#{found['color']}"), grounds).rich_color if found["color"] else None
        bold = name in _BOLD and bool(found["bold"])
        styles.append(Style(color=color, italic=name in _PROSE or None, bold=bold or None))
    return tuple(styles)
